import type { Argv } from 'yargs';
import { flagOptions, generateSchema, readFlags } from '../../lib/config/index.js';
import type { GenerateInput } from '../../lib/config/index.js';
import type { EpisodeTurn, Message } from '../../lib/environments/types.js';
import { printLine } from '../../lib/terminal/live.js';
import { ProgressLine } from '../../lib/terminal/progress.js';
import { onInterrupt } from '../interrupt.js';

export const command = 'generate';
export const describe = 'show one task turn by turn, tools on';

export function builder(yargs: Argv): Argv {
  return yargs
    .options(flagOptions(generateSchema))
    .example('$0 generate --model MODEL --tasks tasks.jsonl --task mbpp/2', 'one task of a file');
}

const print = (head: string, text: string) => printLine(process.stdout, `--- ${head}\n${text}\n`);

function printTurn(turn: EpisodeTurn, next: Message[]): void {
  const seconds = (turn.generateMs / 1000).toFixed(1);
  print(`assistant (${turn.tokens} tokens, ${seconds} s, ${turn.finishReason})`, turn.text);
  if (next.length > 0) for (const message of next) print(message.role, message.content);
  else for (const observation of turn.observations) print('observation', observation);
}

export async function handler(args: Record<string, unknown>): Promise<void> {
  const input = readFlags(generateSchema, args) as GenerateInput;
  const { generate } = await import('../../lib/evaluate/index.js');
  const interruption = onInterrupt(() => 'stopping');
  const progress = new ProgressLine(process.stderr);
  const work = (label: string) => {
    if (process.stderr.isTTY) progress.show({ label });
  };
  const shown = input.json
    ? {}
    : {
        onPrompt: (messages: Message[]) => {
          messages.forEach(({ role, content }) => print(role, content));
          work('the assistant writes');
        },
        onTurn: (turn: EpisodeTurn, next: Message[]) => {
          printTurn(turn, next);
          work(`after ${++turns} ${turns === 1 ? 'turn' : 'turns'}`);
        },
      };
  let turns = 0;
  work('loading');
  try {
    const episode = await generate(input, { signal: interruption.stop, ...shown });
    progress.clear();
    const { state, finish, invalid, reward, figures } = episode;
    if (input.json) {
      const { task, outcome } = state;
      const facts = { task: task.id, finish, invalid, reward, figures, outcome, turns: state.turns };
      process.stdout.write(`${JSON.stringify(facts, undefined, 2)}\n`);
    } else {
      const parts = Object.entries(reward?.parts ?? {}).map(([name, value]) => `${name} ${value}`);
      print(`end: ${finish}`, invalid ?? `reward ${reward?.value ?? 'none'} (${parts.join(', ')})`);
    }
    process.exitCode = interruption.exitCode() ?? (invalid === undefined ? 0 : 1);
  } finally {
    progress.clear();
    interruption.dispose();
  }
}
