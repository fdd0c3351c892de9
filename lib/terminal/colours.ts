import pc from 'picocolors';

/** What colours depend on: a stream and the environment. */
export interface ColourStream {
  isTTY?: boolean;
}

/**
 * Whether a stream takes colours: `NO_COLOR` (not empty) forbids them, `FORCE_COLOR` (not empty, not 0 or false) asks for
 * them, else a terminal takes them unless `TERM` is dumb.
 */
export function takesColours(stream: ColourStream, env: NodeJS.ProcessEnv = process.env): boolean {
  if (env['NO_COLOR']) return false;
  const forced = env['FORCE_COLOR'];
  if (forced) return forced !== '0' && forced !== 'false';
  return stream.isTTY === true && env['TERM'] !== 'dumb';
}

/** Functions that colour text for a stream, and leave it as it is where the stream takes no colours. */
export const coloursFor = (stream: ColourStream, env?: NodeJS.ProcessEnv) => pc.createColors(takesColours(stream, env));
