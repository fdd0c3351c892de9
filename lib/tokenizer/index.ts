export type { Tokenizer } from './types.js';
