/** The whole environment of a program: nothing is inherited. */
export function cleanEnvironment(home: string, libraryFolder?: string): Record<string, string> {
  const path = '/usr/local/bin:/usr/bin:/bin';
  return {
    PATH: libraryFolder ? `/python/bin:${path}` : path,
    HOME: home,
    TMPDIR: home,
    USER: 'sandbox',
    LOGNAME: 'sandbox',
    LANG: 'C.UTF-8',
    PYTHONHASHSEED: '0',
    PYTHONDONTWRITEBYTECODE: '1',
    PYTHONNOUSERSITE: '1',
    MPLBACKEND: 'Agg',
    // More threads only make address space: a program has a share of a core.
    OMP_NUM_THREADS: '1',
    OPENBLAS_NUM_THREADS: '1',
    MKL_NUM_THREADS: '1',
    // A heap for each thread takes 64 MB of address space, and eight threads all that a program has.
    MALLOC_ARENA_MAX: '1',
    ...(libraryFolder ? { LD_LIBRARY_PATH: libraryFolder } : {}),
  };
}
