/** Colours and letters of the charts; the page has a light and a dark one, the picture the light one. */
export interface ChartTheme {
  text: string;
  muted: string;
  line: string;
  background: string;
  fontFamily: string;
  /** Size of axis labels, px. */
  fontSize: number;
  /** Every name means the same thing in all charts. */
  colors: Record<ChartColor, string>;
}

export type ChartColor = 'blue' | 'orange' | 'green' | 'purple' | 'red' | 'teal' | 'pink' | 'grey' | 'lightBlue';

const SYSTEM_FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';

export const LIGHT: ChartTheme = {
  text: '#1d2433',
  muted: '#5b6577',
  line: '#e3e7ee',
  background: '#ffffff',
  fontFamily: SYSTEM_FONT,
  fontSize: 12,
  colors: {
    blue: '#2563c9',
    orange: '#d9730d',
    green: '#178a5b',
    purple: '#7b4fc9',
    red: '#cc3344',
    teal: '#0f8a9d',
    pink: '#c2458b',
    grey: '#9aa4b2',
    lightBlue: '#86aee8',
  },
};

export const DARK: ChartTheme = {
  text: '#e7eaf0',
  muted: '#9aa4b6',
  line: '#2b3342',
  background: '#171b24',
  fontFamily: SYSTEM_FONT,
  fontSize: 12,
  colors: {
    blue: '#6ea2ff',
    orange: '#f2a14b',
    green: '#4cc490',
    purple: '#b294f5',
    red: '#ff7a85',
    teal: '#4fc3d4',
    pink: '#ee85bd',
    grey: '#7a8597',
    lightBlue: '#45679e',
  },
};

/** Colours of curves that have none of their own, in order. */
export const SERIES_COLORS: readonly ChartColor[] = [
  'blue',
  'orange',
  'green',
  'purple',
  'red',
  'teal',
  'pink',
  'grey',
];
