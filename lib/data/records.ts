import { z } from 'zod';
import { problemOfFiles, PROGRAM_NAMES, TEST_NAMES } from '../sandbox/files.js';
import { memorySchema, timeoutSchema } from '../sandbox/jobs.js';
import type { CodeTask } from './types.js';
import { mbppPrompt, mbppTarget } from './mbpp.js';

/** A benchmark's record shape: how to know it, and how it becomes a task. */
export interface RecordShape {
  name: string;
  /** Keys that a record of this shape has, and no record of an earlier shape in the list. */
  keys: string[];
  /** All keys that it reads; undefined for all there are. */
  reads?: string[];
  toTask: (record: unknown, index: number) => CodeTask;
}

const text = z.string().min(1);
const id = z.union([z.string().min(1), z.number().int()]);

const bigCodeBench = z.object({
  task_id: text,
  instruct_prompt: text,
  code_prompt: text,
  canonical_solution: text,
  test: text,
  entry_point: text,
});

const humanEval = z.object({ task_id: text, prompt: text, entry_point: text, canonical_solution: text, test: text });

const testInfo = z.array(z.object({ function_declaration: text, function_name: text }));
const kodCode = z.object({
  question_id: id.optional(),
  question: text,
  solution: text,
  test: text,
  test_info: z.union([testInfo, z.string().transform((value) => testInfo.parse(JSON.parse(value)))]).optional(),
  gpt_difficulty: z.string().nullish(),
  gpt_pass_percentage: z.number().min(0).max(1).nullish(),
});

const mbpp = z
  .object({
    task_id: id,
    prompt: text.optional(),
    text: text.optional(),
    code: text,
    test_list: z.array(text).min(1),
    test_imports: z.array(z.string()).optional(),
    test_setup_code: z.string().optional(),
  })
  .refine((record) => (record.prompt ?? record.text) !== undefined, { message: 'needs prompt or text' });

const plain = z.looseObject({
  id: id.optional(),
  prompt: text,
  test: text,
  style: z.enum(['auto', 'unittest', 'pytest', 'check', 'assert']).optional(),
  entryPoint: text.optional(),
  codePrompt: z.string().optional(),
  solution: text.optional(),
  timeoutMs: timeoutSchema.optional(),
  memoryMb: memorySchema.optional(),
  files: z
    .record(z.string(), z.string())
    .superRefine((files, context) => {
      // They lie beside programs and beside tests.
      const message = problemOfFiles(files, [...PROGRAM_NAMES, ...TEST_NAMES]);
      if (message !== undefined) context.addIssue({ code: 'custom', message });
    })
    .optional(),
});

/** Shapes in the order in which they are tried. */
export const RECORD_SHAPES: RecordShape[] = [
  {
    name: 'BigCodeBench',
    reads: Object.keys(bigCodeBench.shape),
    keys: ['instruct_prompt', 'code_prompt', 'canonical_solution', 'test', 'entry_point'],
    toTask: (record) => {
      const { task_id, instruct_prompt, code_prompt, canonical_solution, test, entry_point } =
        bigCodeBench.parse(record);
      return {
        id: task_id,
        prompt: instruct_prompt,
        test,
        style: 'unittest',
        codePrompt: code_prompt,
        entryPoint: entry_point,
        solution: `${code_prompt.replace(/\n*$/, '\n')}${canonical_solution}`,
      };
    },
  },
  {
    name: 'HumanEval',
    reads: Object.keys(humanEval.shape),
    keys: ['prompt', 'entry_point', 'canonical_solution', 'test'],
    toTask: (record) => {
      const { task_id, prompt, entry_point, canonical_solution, test } = humanEval.parse(record);
      return {
        id: task_id,
        prompt: `Complete this function:\n\n\`\`\`\n${prompt.trim()}\n\`\`\`\n\nYour code must have the whole function.`,
        test,
        style: 'check',
        codePrompt: prompt,
        entryPoint: entry_point,
        solution: prompt + canonical_solution,
      };
    },
  },
  {
    name: 'KodCode',
    reads: Object.keys(kodCode.shape),
    keys: ['question', 'solution', 'test'],
    toTask: (record, index) => {
      const {
        question_id,
        question,
        solution,
        test,
        test_info = [],
        gpt_difficulty,
        gpt_pass_percentage,
      } = kodCode.parse(record);
      const declarations = test_info.map(({ function_declaration }) => `\`${function_declaration}\``);
      const hint = declarations.length === 0 ? '' : `\n\nYour code must define ${declarations.join(' and ')}.`;
      return {
        id: String(question_id ?? `KodCode/${index}`),
        prompt: `${question.trim()}${hint}`,
        test,
        style: 'pytest',
        ...(test_info.length > 0 ? { entryPoint: test_info[0]!.function_name } : {}),
        solution,
        ...difficultyOf(gpt_difficulty, gpt_pass_percentage),
      };
    },
  },
  {
    name: 'MBPP',
    keys: ['code', 'test_list'],
    toTask: (record) => {
      const {
        task_id,
        prompt,
        text: question,
        code,
        test_list,
        test_imports = [],
        test_setup_code,
      } = mbpp.parse(record);
      const target = mbppTarget(code, test_list);
      const setup = [...test_imports, test_setup_code ?? ''].filter((line) => line.trim() !== '');
      return {
        id: `MBPP/${task_id}`,
        prompt: mbppPrompt(prompt ?? question!, test_list, target),
        test: `${[...setup, ...test_list].join('\n')}\n`,
        style: 'assert',
        ...(target === undefined ? {} : { entryPoint: target.name }),
        solution: code,
      };
    },
  },
  {
    name: 'plain',
    keys: ['prompt', 'test'],
    toTask: (record, index) => {
      const task = plain.parse(record);
      return { ...task, id: String(task.id ?? index), prompt: task.prompt, test: task.test };
    },
  },
];

/** The record's own difficulty, else the one that its pass percentage says: two thirds and more easy, under one third hard. */
function difficultyOf(
  difficulty: string | null | undefined,
  passed: number | null | undefined,
): { difficulty?: string; passPercentage?: number } {
  const share = typeof passed === 'number' ? { passPercentage: passed } : {};
  if (typeof difficulty === 'string') return { difficulty: difficulty.toLowerCase(), ...share };
  if (typeof passed !== 'number') return {};
  return { difficulty: passed >= 2 / 3 ? 'easy' : passed < 1 / 3 ? 'hard' : 'medium', ...share };
}
