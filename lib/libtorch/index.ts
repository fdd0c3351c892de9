export { cacheFolder, libtorchCacheFolder } from './cache-folder.js';
export { ensureLibtorch, type FetchOptions } from './fetch.js';
export { findLibtorch, type FoundLibtorch } from './find.js';
export { withLock } from './lock.js';
export { cpuLibraries, inspectTorchFolder, type TorchFolder } from './torch-folder.js';
export { LIBTORCH_VERSION, type LibtorchVariant } from './version.js';
