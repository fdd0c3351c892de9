export { objectSource, withChoices } from './environment-source.js';
export type { EnvironmentSource } from './environment-source.js';
export { checkAdapter, loadPolicy } from './load-policy.js';
export { resolveEnvironment } from './resolve-environment.js';
export type { EnvironmentRequest } from './resolve-environment.js';
