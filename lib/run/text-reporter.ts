import { coloursFor } from '../terminal/colours.js';
import type { LineStream } from '../terminal/live.js';
import { ProgressLine } from '../terminal/progress.js';
import { jsonReporter, quietReporter } from './reporter.js';
import type { Reporter } from './reporter.js';

/** One calm line for everything that happened; on a terminal also a live line about what is under way. */
export function textReporter(output: LineStream = process.stdout): Reporter {
  const progress = new ProgressLine(output);
  const { bold, cyan, dim, yellow } = coloursFor(output);
  /** The first words of a line stand out. */
  const headed = (text: string, paint: (text: string) => string) => text.replace(/^.*?(?= {2}|$)/, paint);
  const finished = (line: string) => {
    progress.clear();
    progress.print(line);
  };
  return {
    ...quietReporter,
    message: (text) => progress.print(text),
    warning: (text) => progress.print(`${yellow('warning:')} ${text.trim().replace(/\s*\n\s*/g, ' ')}`),
    run: (folder) => finished(dim(`run folder ${folder}`)),
    step: (_metrics, text) => finished(headed(text, bold)),
    evaluation: (_record, text) => finished(headed(text, cyan)),
    closing: (text) => finished(`\n${text}`),
    progress: (work) => progress.show(work),
    idle: () => progress.clear(),
  };
}

/** The reporter that a configuration asks for. */
export function reporterFor(options: { quiet: boolean; json: boolean }): Reporter {
  if (options.quiet) return quietReporter;
  return options.json ? jsonReporter((text) => void process.stdout.write(text)) : textReporter();
}
