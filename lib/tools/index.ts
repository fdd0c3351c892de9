export { defineTool } from './define-tool.js';
export { buildDocumentation, openDocumentation, shippedDocumentation } from './documentation/open.js';
export type { BuiltDocumentation } from './documentation/open.js';
export { DocumentationIndex } from './documentation/search.js';
export type { Documentation, DocumentationHit } from './documentation/search.js';
export { executeTool } from './execute.js';
export { searchTool } from './search.js';
export { submitTool } from './submit.js';
export type { CodeOutcome } from './submit.js';
