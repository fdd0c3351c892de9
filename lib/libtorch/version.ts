/** The one libtorch release that the core is compiled and tested against; see docs/libtorch.md. */
export const LIBTORCH_VERSION = '2.13.0';

/** Which wheel of the release is wanted. */
export type LibtorchVariant = 'cpu';
