/** Content of the files beside a program: relative path -> text or bytes. */
export type Files = Record<string, string | Uint8Array>;

/** Names that the sandbox itself gives to files. */
export const PROGRAM_NAMES = ['main.py'];
export const TEST_NAMES = ['solution.py', 'test_solution.py'];

export const FILE_BYTES = 64 * 2 ** 20;
const ALL_FILES_BYTES = 2 * FILE_BYTES;
const NAME_BYTES = 255;
const PATH_BYTES = 4000;

const megabytes = (bytes: number): string => `${Math.ceil(bytes / 2 ** 20)} MB`;
const isName = (path: string): boolean => Buffer.from(path).toString() === path && !path.includes('\0');

function problemOfPath(path: string, reserved: readonly string[], all: Files): string | undefined {
  const parts = path.split('/');
  if (!isName(path)) return 'is no name of a file: it holds a zero byte or half of a character';
  if (parts.some((part) => part === '' || part === '.' || part === '..')) {
    return 'must be a relative path without "." and ".." that stays in the program\'s folder';
  }
  if (reserved.includes(path)) return 'is the name of the program itself; choose another one';
  if (parts.some((part) => Buffer.byteLength(part) > NAME_BYTES) || Buffer.byteLength(path) > PATH_BYTES) {
    return `is too long: a name may have ${NAME_BYTES} bytes, a path ${PATH_BYTES}`;
  }
  const folders = parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
  const folder = folders.find((name) => Object.hasOwn(all, name) || reserved.includes(name));
  return folder === undefined ? undefined : `needs the folder "${folder}", which is a file`;
}

/**
 * Why these files can't lie beside a program; undefined where they can.
 *
 * @param reserved names that the program and its tests have
 */
export function problemOfFiles(files: Files, reserved: readonly string[]): string | undefined {
  let total = 0;
  for (const [path, data] of Object.entries(files)) {
    const shown = path.length > 80 ? `${path.slice(0, 80)}…` : path;
    const problem = problemOfPath(path, reserved, files);
    if (problem !== undefined) return `${JSON.stringify(shown)} ${problem}`;
    const bytes = Buffer.byteLength(data);
    if (bytes > FILE_BYTES) {
      return `${JSON.stringify(shown)} has ${megabytes(bytes)}, and a file may have ${megabytes(FILE_BYTES)}`;
    }
    total += bytes;
  }
  if (total <= ALL_FILES_BYTES) return undefined;
  return `they have ${megabytes(total)}, and all together may have ${megabytes(ALL_FILES_BYTES)}`;
}
