export { Sandbox } from './sandbox.js';
export type * from './types.js';
