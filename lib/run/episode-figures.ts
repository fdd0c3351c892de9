import type { EpisodeTurn } from '../environments/types.js';
import type { Episode } from '../rollout/index.js';
import { meanOrNull, passRate } from './statistics.js';

/** What the episodes of a step or an evaluation have given so far, while others still run. */
export class EpisodeFigures {
  readonly #started = performance.now();
  readonly #valid: Episode[] = [];
  #tokens = 0;

  turn({ tokens }: EpisodeTurn): void {
    this.#tokens += tokens;
  }

  finished(episode: Episode): void {
    if (episode.invalid === undefined) this.#valid.push(episode);
  }

  /** Speed, mean reward and pass rate so far, as far as there is any. */
  facts(): string[] {
    const seconds = (performance.now() - this.#started) / 1000;
    const reward = meanOrNull(this.#valid.flatMap(({ reward: given }) => given?.value ?? []));
    const rate = this.#valid.length === 0 ? null : passRate(this.#valid);
    return [
      ...(this.#tokens > 0 ? [`${(this.#tokens / seconds).toFixed(0)} tok/s`] : []),
      ...(rate === null ? [] : [`pass ${(100 * rate).toFixed(0)}%`]),
      ...(reward === null ? [] : [`reward ${reward.toFixed(2)}`]),
    ];
  }
}
