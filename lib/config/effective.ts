import type { TrainConfig } from './schema.js';

/** The loss with the defaults that apply to its form; docs/losses.md lists them. */
function effectiveLoss(loss: TrainConfig['loss']): Record<string, unknown> {
  const policy = loss.policy ?? 'clip';
  const clips = policy === 'clip' || loss.cispoRelative === true;
  const { correction, ...given } = loss;
  const corrected = { level: 'token', ...(correction?.kind === 'mask' ? { low: 0 } : {}), high: 2, ...correction };
  return {
    policy,
    ratio: 'token',
    aggregation: 'token-mean',
    ...(clips ? { clipLow: 0.2, clipHigh: 0.28 } : {}),
    ...(policy === 'sapo' ? { sapoTemperaturePositive: 1, sapoTemperatureNegative: 1.05 } : {}),
    klCoefficient: 0,
    ...((loss.klCoefficient ?? 0) > 0 ? { kl: 'k3', klImportanceCorrected: false } : {}),
    entropyCoefficient: 0,
    ...given,
    ...(correction?.kind ? { correction: corrected } : {}),
  };
}

/** A configuration with every default that applies filled in, as `config.json` of a run shows it. */
export function effectiveConfig(config: TrainConfig): Record<string, unknown> {
  const fresh = { rank: 16, alpha: 32, dropout: 0, targetModules: ['q_proj', 'v_proj'], ...config.lora };
  const hasLora = config.train === 'lora' && config.adapter === undefined;
  // An adapter brings its own LoRA configuration; undefined leaves the key out of the file.
  return { ...config, lora: hasLora ? fresh : undefined, loss: effectiveLoss(config.loss) };
}
