import { benchSchema } from './bench-schema.js';
import { configKeys } from './keys.js';
import type { ConfigKey } from './keys.js';
import { PRESETS } from './presets.js';
import { sftSchema } from './sft-schema.js';
import { evaluateSchema, generateSchema, trainSchema } from './schema.js';
import type { ConfigSchema } from './schema.js';

const cell = (text: string) => text.replaceAll('|', '\\|');

function values(key: ConfigKey): string {
  if (key.choices) return key.choices.map((choice) => `\`${choice}\``).join(', ');
  return [key.type === 'numbers' ? 'numbers' : key.type, key.range, key.unit].filter(Boolean).join(', ');
}

function table(schema: ConfigSchema): string {
  const rows = configKeys(schema).map(
    (key) => `| \`${key.path}\` | ${cell(values(key))} | ${cell(key.defaultText)} | ${cell(key.description)} |`,
  );
  return ['| key | values | default | meaning |', '| --- | --- | --- | --- |', ...rows].join('\n');
}

/** The text of `docs/configuration.md`, from the schemas. */
export function configurationPage(): string {
  const presets = Object.entries(PRESETS).map(
    ([name, values]) => `\`--preset ${name}\`:\n\n\`\`\`json\n${JSON.stringify(values, undefined, 2)}\n\`\`\`\n`,
  );
  return `# Configuration

This page is made from the schema in \`lib/config/schema.ts\` by \`npx tsx test/config/write-docs.ts\`; a test fails when it is stale.

Every option of a command is also a key of its configuration object. On the command line a key is written in kebab case with
dots for nesting: \`loss.klCoefficient\` is \`--loss.kl-coefficient 0.05\`, \`promptsPerStep\` is \`--prompts-per-step 4\`. Lists take
commas: \`--lora.target-modules q_proj,v_proj\`. Flags override the file, the file overrides the preset.

A configuration file is JSON, YAML or a module with a default export: \`grpo-native train my-run.yaml\`.

Unknown keys, and keys that would do nothing beside the others, are errors (code \`INVALID_CONFIG\`, exit code 2).

## train

${table(trainSchema)}

## Presets

${presets.join('\n')}
## sft

${table(sftSchema)}

## eval

${table(evaluateSchema)}

## generate

${table(generateSchema)}

## bench

${table(benchSchema)}
`;
}
