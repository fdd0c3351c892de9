/** One file that a wheel index page offers. */
export interface WheelLink {
  /** File name, decoded. */
  name: string;
  url: string;
  /** Lower-case hex, as the link's fragment says; undefined when it says none. */
  sha256: string | undefined;
}

/** Reads a wheel index page (PEP 503): every link with its file name and SHA-256. */
export function parseWheelIndex(html: string, pageUrl: string): WheelLink[] {
  const links: WheelLink[] = [];
  for (const match of html.matchAll(/<a\s[^>]*?href\s*=\s*(?:"([^"]*)"|'([^']*)')/gi)) {
    const href = (match[1] ?? match[2] ?? '').replaceAll('&amp;', '&');
    if (!URL.canParse(href, pageUrl)) continue;
    const url = new URL(href, pageUrl);
    const name = decodeURIComponent(url.pathname.slice(url.pathname.lastIndexOf('/') + 1));
    const sha256 = /(?:^#|&)sha256=([0-9a-fA-F]{64})/.exec(url.hash)?.[1]?.toLowerCase();
    url.hash = '';
    if (name.endsWith('.whl')) links.push({ name, url: url.href, sha256 });
  }
  return links;
}

/**
 * Picks the wheel of one version and platform. The libraries are the same for every Python, so the first one does.
 *
 * @param version with local part, e.g. '2.13.0+cpu'
 */
export function chooseWheel(links: WheelLink[], version: string, machine: string): WheelLink | undefined {
  return links
    .filter(({ name }) => {
      const parts = name.slice(0, -'.whl'.length).split('-');
      const platform = parts.at(-1) ?? '';
      return parts[0] === 'torch' && parts[1] === version && platform.includes('linux') && platform.endsWith(machine);
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1))[0];
}
