import { DARK, LIGHT } from '../charts/theme.js';
import type { ChartTheme } from '../charts/theme.js';
import { choice } from './dom.js';

type Wish = 'auto' | 'light' | 'dark';
const KEY = 'grpo-report-theme';
const system = matchMedia('(prefers-color-scheme: dark)');
const listeners: (() => void)[] = [];

// A page from a file may have no storage.
function stored(): Wish {
  try {
    const value = localStorage.getItem(KEY);
    return value === 'light' || value === 'dark' ? value : 'auto';
  } catch {
    return 'auto';
  }
}

let wish = stored();

const isDark = () => wish === 'dark' || (wish === 'auto' && system.matches);

function apply(): void {
  document.documentElement.dataset['theme'] = isDark() ? 'dark' : 'light';
  for (const listener of listeners) listener();
}

apply();
system.addEventListener('change', apply);

/** Colours of the charts now. */
export const chartTheme = (): ChartTheme => (isDark() ? DARK : LIGHT);

/** Calls back when the colours change. */
export const onTheme = (listener: () => void): void => void listeners.push(listener);

/** The switch of light and dark. */
export const themeSwitch = (): HTMLElement =>
  choice<Wish>(
    'colours',
    [
      ['auto', 'auto'],
      ['light', 'light'],
      ['dark', 'dark'],
    ],
    wish,
    (value) => {
      wish = value;
      try {
        localStorage.setItem(KEY, value);
      } catch {
        // Kept for this visit only.
      }
      apply();
    },
  );
