import type { Task } from '../environments/types.js';
import type { TestStyle } from '../sandbox/types.js';

/** A programming task whose solutions are judged by tests. */
export interface CodeTask extends Task {
  /** Source of the tests; never shown. */
  test: string;
  /** How the tests are run. @default 'auto' */
  style?: TestStyle | 'auto';
  /** The record's stub: imports, helpers, signature and docstring. */
  codePrompt?: string;
  /** Name of the function that the tests call. */
  entryPoint?: string;
  /** The reference solution, whole. */
  solution?: string;
  /** easy, medium or hard. */
  difficulty?: string;
  /** Share of the attempts of the record's author model that passed, 0..1. */
  passPercentage?: number;
  /** Of all its tests. */
  timeoutMs?: number;
  memoryMb?: number;
  /** Lie beside every program that the agent runs, and beside its tests: relative path -> content. */
  files?: Record<string, string | Uint8Array>;
}
