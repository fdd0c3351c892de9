import { GrpoError } from '../../errors.js';
import type { CallFormat } from '../types.js';
import { createHermesFormat, type JsonFormatOptions } from './hermes.js';
import { createLlamaJsonFormat } from './llama-json.js';
import { createQwenXmlFormat } from './qwen-xml.js';

export {
  createTagFormat,
  correctiveLine,
  lastCodeBlock,
  tagTools,
  type TagTool,
  type TagFormatOptions,
} from './tags.js';
export { createHermesFormat, type JsonFormatOptions } from './hermes.js';
export { detectCallFormat, type TemplateCalls } from './detect.js';
export { toolPrompt, writeCall } from './describe.js';
export { createQwenXmlFormat } from './qwen-xml.js';
export { createLlamaJsonFormat } from './llama-json.js';

/** Formats that any set of tools can be called in. */
export const CALL_FORMATS = {
  hermes: createHermesFormat,
  'qwen-xml': createQwenXmlFormat,
  'llama-json': createLlamaJsonFormat,
} as const;

export type CallFormatName = keyof typeof CALL_FORMATS;

/** How an environment's calls are written: 'auto' takes the form of the chat template. */
export type CallFormatChoice = 'auto' | 'tags' | CallFormatName;

/**
 * A call format by its name.
 *
 * @throws INVALID_ARGUMENT where there is no such format
 */
export function createCallFormat(name: CallFormatName, options: JsonFormatOptions): CallFormat {
  if (!Object.hasOwn(CALL_FORMATS, name)) {
    const known = Object.keys(CALL_FORMATS).join(', ');
    throw new GrpoError(
      'INVALID_ARGUMENT',
      'createCallFormat',
      `there is no call format '${name}': use one of ${known}`,
    );
  }
  return CALL_FORMATS[name](options);
}
