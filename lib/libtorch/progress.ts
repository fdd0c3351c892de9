import { Presets, SingleBar } from 'cli-progress';

/** A progress bar on stderr; silent where stderr is no terminal. */
export interface Progress {
  update: (done: number, total: number) => void;
  stop: () => void;
}

/** @param unit 'MB' shows bytes as megabytes, 'files' shows plain counts */
export function startProgress(label: string, unit: 'MB' | 'files'): Progress {
  const scale = unit === 'MB' ? 1e6 : 1;
  const bar = new SingleBar(
    {
      format: `${label} {bar} {percentage}% | {value}/{total} ${unit} | {eta_formatted}`,
      stream: process.stderr,
      hideCursor: true,
      clearOnComplete: true,
    },
    Presets.shades_classic,
  );
  let started = false;
  return {
    update(done, total) {
      if (!process.stderr.isTTY || !Number.isFinite(total)) return;
      if (!started) bar.start(Math.ceil(total / scale), 0);
      started = true;
      bar.update(Math.floor(done / scale));
    },
    stop() {
      if (started) bar.stop();
    },
  };
}
