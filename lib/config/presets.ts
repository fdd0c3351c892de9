import type { TrainInput } from './schema.js';

const DECIDING = ['preset', 'model', 'adapter', 'tasks', 'environment', 'resume'] as const;

/** The preset `demo` where nothing says what to train. */
export function orDemo(given: TrainInput): TrainInput {
  return DECIDING.every((key) => given[key] === undefined) ? { ...given, preset: 'demo' } : given;
}

/** Named sets of values; the configuration file and flags override them. */
export const PRESETS: Record<NonNullable<TrainInput['preset']>, TrainInput> = {
  // A tiny model learns when to search: minutes on a laptop's processor.
  demo: {
    model: 'embedded:demo',
    environment: 'demo',
    steps: 40,
    temperature: 0.8,
    promptsPerStep: 16,
    groupSize: 8,
    maxTurns: 4,
    maxNewTokens: 64,
    maxSubmissions: 1,
    searchCost: 0.05,
    lora: { rank: 16, alpha: 32, targetModules: ['q_proj', 'v_proj'] },
    optimizer: { learningRate: 2e-3 },
    schedule: 'linear',
    evalEvery: 5,
    // What is learned ends in equal rewards and sure choices: nothing to warn of.
    alarms: { entropyMin: 0, constantMax: 1 },
  },
  // The multi-tool tutorial: 3 epochs over 100 tasks at 4 tasks a step.
  tutorial: {
    lora: { rank: 16, alpha: 32, dropout: 0.05, targetModules: ['q_proj', 'v_proj'] },
    groupSize: 4,
    loss: { klCoefficient: 0.05 },
    temperature: 0.7,
    topP: 0.95,
    maxTurns: 5,
    maxNewTokens: 1024,
    optimizer: { learningRate: 5e-6, maxGradNorm: 1 },
    promptsPerStep: 4,
    taskLimit: 100,
    steps: 75,
    maxSubmissions: 0,
  },
  // The defaults of TRL's GRPOTrainer where they differ from ours.
  trl: {
    loss: { clipLow: 0.2, clipHigh: 0.2 },
    optimizer: { learningRate: 1e-6 },
    schedule: 'linear',
    constantGroups: 'keep',
  },
};
