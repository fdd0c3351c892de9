/** Why a module cannot be imported, in one line, and what helps. */
export function importFailure(error: unknown): string {
  const { message, code } = error instanceof Error ? (error as NodeJS.ErrnoException) : { message: String(error) };
  const line = message.split('\n')[0] as string;
  if (code !== 'ERR_UNKNOWN_FILE_EXTENSION' || !/\.[cm]?tsx?\b/.test(line)) return line;
  return `this Node.js (${process.version}) reads no TypeScript; compile it, or install tsx and set NODE_OPTIONS='--import tsx'`;
}
