import { defineTool } from './define-tool.js';
import type { Tool } from '../environments/types.js';
import type { Documentation, DocumentationHit } from './documentation/search.js';

const TEXT_CHARACTERS = 600;

/** The tool that looks Python documentation up; its answer has the best symbols, so many as `hits` says. */
export function searchTool(documentation: () => Promise<Documentation>, hits = 3): Tool {
  return defineTool({
    name: 'search',
    description: 'Searches the Python documentation by name or by what a function does.',
    parameters: { type: 'object', properties: { query: { type: 'string', minLength: 1 } }, required: ['query'] },
    maxTokens: 512,
    keep: 'start',
    run: async (args) => {
      const query = String(args['query']);
      let index: Documentation;
      try {
        index = await documentation();
      } catch (error) {
        return { text: '', invalid: `documentation: ${(error as Error).message}` };
      }
      const found = index.search(query, hits);
      if (found.length === 0) return `Nothing was found for: ${query}`;
      return found.map(describe).join('\n\n');
    },
  });
}

function describe(hit: DocumentationHit): string {
  const text = hit.text.length > TEXT_CHARACTERS ? `${hit.text.slice(0, TEXT_CHARACTERS).trimEnd()} …` : hit.text;
  return [hit.signature === '' ? `module ${hit.name}` : hit.signature, text].filter((line) => line !== '').join('\n');
}
