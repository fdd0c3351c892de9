/** Environments that a configuration can name; another name is the path of a module. */
export const BUILT_IN_ENVIRONMENTS: readonly string[] = ['code-agent', 'demo'];
