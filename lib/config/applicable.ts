import { GrpoError } from '../errors.js';

type Given = Record<string, unknown>;

const at = (given: Given, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>(
      (node, name) => (typeof node === 'object' && node !== null ? (node as Given)[name] : undefined),
      given,
    );

interface Rule {
  keys: string[];
  applies: (given: Given) => boolean;
  needs: string;
}

const policyOf = (given: Given) => at(given, 'loss.policy') ?? 'clip';
const hasKl = (given: Given) => Number(at(given, 'loss.klCoefficient') ?? 0) > 0;

const RULES: Rule[] = [
  {
    keys: ['loss.cispoMax', 'loss.cispoRelative'],
    applies: (g) => policyOf(g) === 'cispo',
    needs: 'loss.policy cispo',
  },
  {
    keys: ['loss.sapoTemperaturePositive', 'loss.sapoTemperatureNegative'],
    applies: (g) => policyOf(g) === 'sapo',
    needs: 'loss.policy sapo',
  },
  {
    keys: ['loss.clipLow', 'loss.clipHigh'],
    applies: (g) => policyOf(g) === 'clip' || at(g, 'loss.cispoRelative') === true,
    needs: 'loss.policy clip, or cispo with loss.cispoRelative',
  },
  { keys: ['loss.clipRatioMax'], applies: (g) => policyOf(g) === 'clip', needs: 'loss.policy clip' },
  {
    keys: ['loss.horizon'],
    applies: (g) => at(g, 'loss.aggregation') === 'constant',
    needs: 'loss.aggregation constant',
  },
  { keys: ['loss.kl', 'loss.klImportanceCorrected'], applies: hasKl, needs: 'loss.klCoefficient above 0' },
  {
    keys: ['reference'],
    applies: (g) => hasKl(g) || at(g, 'reference') === 'start',
    needs: 'loss.klCoefficient above 0',
  },
  {
    keys: ['loss.correction.level', 'loss.correction.low', 'loss.correction.high'],
    applies: (g) => at(g, 'loss.correction.kind') !== undefined,
    needs: 'loss.correction.kind',
  },
  {
    keys: ['loss.correction.low'],
    applies: (g) => at(g, 'loss.correction.kind') !== 'truncate',
    needs: 'loss.correction.kind mask',
  },
  {
    keys: ['advantage.epsilon'],
    applies: (g) => at(g, 'advantage.scale') !== 'none',
    needs: 'advantage.scale group or batch',
  },
  {
    keys: ['lora.rank', 'lora.alpha', 'lora.dropout', 'lora.targetModules', 'lora.rankStabilised'],
    applies: (g) => at(g, 'adapter') === undefined,
    needs: 'a run without adapter (an adapter brings its own LoRA configuration)',
  },
  {
    keys: ['resume'],
    applies: (g) => at(g, 'resume') !== true || at(g, 'output') !== undefined,
    needs: 'output, the file whose episodes are kept',
  },
  { keys: ['override'], applies: (g) => at(g, 'resume') !== undefined, needs: 'resume' },
  {
    keys: ['lora.rank', 'lora.alpha', 'lora.dropout', 'lora.targetModules', 'lora.rankStabilised', 'adapter'],
    applies: (g) => at(g, 'train') !== 'full',
    needs: 'train lora',
  },
  {
    keys: ['allowUnsandboxed'],
    applies: (g) =>
      at(g, 'allowUnsandboxed') === false || ['auto', 'process', undefined].includes(at(g, 'sandbox') as string),
    needs: 'sandbox auto or process',
  },
  {
    keys: ['sandboxImage', 'sandboxEngine'],
    applies: (g) => ['auto', 'container', undefined].includes(at(g, 'sandbox') as string),
    needs: 'sandbox container, or auto',
  },
];

const NEEDED: { when: (given: Given) => boolean; key: string; message: string }[] = [
  {
    when: (g) => at(g, 'loss.aggregation') === 'constant' && at(g, 'loss.horizon') === undefined,
    key: 'loss.horizon',
    message: 'loss.aggregation constant needs loss.horizon, the number of tokens a row is divided by',
  },
  {
    when: (g) =>
      policyOf(g) === 'cispo' && at(g, 'loss.cispoMax') === undefined && at(g, 'loss.cispoRelative') !== true,
    key: 'loss.cispoMax',
    message: 'loss.policy cispo needs loss.cispoMax (absolute cap) or loss.cispoRelative',
  },
  {
    when: (g) => at(g, 'loss.cispoMax') !== undefined && at(g, 'loss.cispoRelative') === true,
    key: 'loss.cispoMax',
    message: 'loss.cispoMax does not apply with loss.cispoRelative; leave one of them out',
  },
];

/**
 * Refuses keys that were given and would do nothing, before defaults are filled in.
 *
 * @throws {GrpoError} INVALID_CONFIG names the key and what it needs
 */
export function checkApplicable(given: Given, operation: string): void {
  for (const rule of RULES) {
    const key = rule.keys.find((path) => at(given, path) !== undefined);
    if (key !== undefined && !rule.applies(given)) {
      throw new GrpoError('INVALID_CONFIG', operation, `${key} does not apply here: it needs ${rule.needs}`);
    }
  }
  for (const { when, message } of NEEDED) {
    if (when(given)) throw new GrpoError('INVALID_CONFIG', operation, message);
  }
}
