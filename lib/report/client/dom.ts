type Child = Node | string | number | null | undefined | false;
type Attributes = Record<string, string | number | boolean | undefined | ((event: Event) => void)>;

/** Makes an element. Children that are strings become text: nothing of a run is ever read as markup. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (typeof value === 'function') element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== false).map(asNode));
  return element;
}

const asNode = (child: Exclude<Child, null | undefined | false>): Node | string =>
  child instanceof Node ? child : String(child);

/** Buttons of which one is pressed. */
export function choice<T extends string>(
  label: string,
  options: readonly (readonly [T, string])[],
  chosen: T,
  choose: (value: T) => void,
): HTMLElement {
  const buttons = options.map(([value, text]) =>
    h('button', { type: 'button', 'data-value': value, 'aria-pressed': String(value === chosen) }, text),
  );
  const group = h('div', { class: 'choice', role: 'group', 'aria-label': label }, ...buttons);
  group.addEventListener('click', (event) => {
    const button = (event.target as Element).closest('button');
    if (!button) return;
    for (const other of buttons) other.setAttribute('aria-pressed', String(other === button));
    choose(button.dataset['value'] as T);
  });
  return group;
}
