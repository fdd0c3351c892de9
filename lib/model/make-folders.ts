import { mkdir, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (status) => status.isDirectory(),
    () => false,
  );

/**
 * Makes a folder and the ones above it that are missing. Node's own recursive mkdir never returns where a file system
 * answers ENOENT below a folder that exists, as /proc does.
 *
 * @throws the error of the file system
 */
export async function makeFolders(path: string): Promise<void> {
  const target = resolve(path);
  try {
    await mkdir(target);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && (await isFolder(target))) return;
    const above = dirname(target);
    if (code !== 'ENOENT' || above === target || (await isFolder(above))) throw error;
    await makeFolders(above);
    await mkdir(target).catch(async (late: NodeJS.ErrnoException) => {
      if (late.code !== 'EEXIST' || !(await isFolder(target))) throw late;
    });
  }
}
