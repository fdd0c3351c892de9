import { h } from './dom.js';

/** A column of a table: how a row is sorted and shown in it. */
export interface Column<Row> {
  name: string;
  value: (row: Row) => string | number | null;
  show?: (row: Row) => Node | string;
}

const compare = (a: string | number | null, b: string | number | null): number => {
  // What is missing comes last, whichever way.
  if (a === null || b === null) return 0;
  return typeof a === 'number' && typeof b === 'number'
    ? a - b
    : String(a).localeCompare(String(b), 'en', { numeric: true });
};

/** Rows from which on a filter is of use. */
const MANY_ROWS = 12;
/** Rows shown before the rest is asked for. */
const FIRST_ROWS = 40;

/** A table that is sorted by a click on a column's name. */
export class SortableTable<Row> {
  readonly element: HTMLElement;
  readonly #columns: Column<Row>[];
  readonly #body = h('tbody', {});
  readonly #heads: HTMLElement[];
  readonly #filter: HTMLInputElement;
  readonly #more: HTMLButtonElement;
  #rows: Row[] = [];
  #by = 0;
  #down = false;
  #most = FIRST_ROWS;
  #search = '';

  constructor(columns: Column<Row>[]) {
    this.#columns = columns;
    this.#heads = columns.map((column, index) =>
      h('th', { scope: 'col' }, h('button', { type: 'button', click: () => this.#sortBy(index) }, column.name)),
    );
    this.#more = h('button', { type: 'button', class: 'more', click: () => this.#showAll() }, '');
    const search = h('input', { class: 'filter', type: 'search', placeholder: 'filter', 'aria-label': 'filter rows' });
    search.addEventListener('input', () => {
      this.#search = search.value.toLowerCase();
      this.#draw();
    });
    const table = h('table', {}, h('thead', {}, h('tr', {}, ...this.#heads)), this.#body);
    this.#filter = search;
    this.element = h('div', {}, search, h('div', { class: 'wide', tabindex: 0 }, table), this.#more);
  }

  set rows(rows: Row[]) {
    this.#rows = rows;
    this.#filter.hidden = rows.length < MANY_ROWS;
    this.#draw();
  }

  #sortBy(index: number): void {
    this.#down =
      this.#by === index ? !this.#down : typeof this.#columns[index]!.value(this.#rows[0] as Row) !== 'string';
    this.#by = index;
    this.#draw();
  }

  #showAll(): void {
    this.#most = Infinity;
    this.#draw();
  }

  #draw(): void {
    const { value } = this.#columns[this.#by] as Column<Row>;
    const missing = (row: Row) => (value(row) === null ? 1 : 0);
    const found = this.#rows
      .filter((row) => this.#search === '' || String(this.#columns[0]!.value(row)).toLowerCase().includes(this.#search))
      .sort((a, b) => missing(a) - missing(b) || compare(value(a), value(b)) * (this.#down ? -1 : 1));
    this.#heads.forEach((head, index) => {
      const order = this.#down ? 'descending' : 'ascending';
      head.setAttribute('aria-sort', index === this.#by ? order : 'none');
    });
    this.#body.replaceChildren(
      ...found
        .slice(0, this.#most)
        .map((row) =>
          h(
            'tr',
            {},
            ...this.#columns.map((column) => h('td', {}, column.show?.(row) ?? String(column.value(row) ?? '–'))),
          ),
        ),
    );
    this.#more.hidden = found.length <= this.#most;
    this.#more.textContent = `show all ${found.length} rows`;
  }
}
