import { printLine } from '../lib/terminal/live.js';

/**
 * Opens an address in the browser. A machine without a display, or without a browser, is no fault: the address is printed
 * anyway.
 */
export async function openBrowser(address: string): Promise<void> {
  const hasDisplay = ['DISPLAY', 'WAYLAND_DISPLAY', 'WSL_DISTRO_NAME'].some((name) => process.env[name]);
  const manual = () => printLine(process.stderr, `no browser could be opened here: open ${address} yourself`);
  if (!hasDisplay) return manual();
  try {
    const { default: open } = await import('open');
    const child = await open(address);
    child.on('error', manual);
    child.on('exit', (code) => (code === 0 || code === null ? undefined : manual()));
  } catch {
    manual();
  }
}
