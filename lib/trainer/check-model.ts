import { resolveTrainConfig } from '../config/index.js';
import type { TrainInput } from '../config/index.js';
import type { SessionRow } from '../policy/types.js';
import { loadTrained } from './load-trained.js';
import { selfCheck } from './self-check.js';
import type { SelfCheck } from './self-check.js';

const SAMPLES = 2;
const NEW_TOKENS = 32;
/** A prompt for folders without a chat template; every vocabulary has these. */
const PLAIN_PROMPT = [4, 5, 6, 7];

/**
 * Measures whether a model, or a model with an adapter, can be trained here. Nothing of it is changed on disk.
 *
 * @throws {GrpoError} what `Policy.load` throws
 */
export async function checkModel(
  input: Pick<TrainInput, 'model' | 'adapter' | 'device' | 'dtype'>,
): Promise<SelfCheck[]> {
  const config = resolveTrainConfig(input);
  const policy = await loadTrained(config, undefined, {});
  try {
    const { tokenizer } = policy;
    const prompt = tokenizer?.hasChatTemplate
      ? tokenizer.applyChatTemplate([{ role: 'user', content: 'Count to ten.' }], { addGenerationPrompt: true }).ids
      : PLAIN_PROMPT;
    const rows: SessionRow[] = [];
    for (let seed = 1; seed <= SAMPLES; seed++) {
      const session = await policy.open(prompt);
      await session.generate({ maxNewTokens: NEW_TOKENS, seed, stopIds: [] });
      rows.push(session.row());
      session.close();
    }
    const dtype = policy.description?.dtype ?? 'float32';
    const reload = (checkpoint: string) => loadTrained(config, checkpoint, {});
    return await selfCheck({ policy, reload, rows, train: 'lora', dtype });
  } finally {
    await policy.close();
  }
}
