import type { BenchResult } from './bench.js';

const number = (value: number) => value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0);
const megabytes = (bytes: number) => `${number(bytes / 1e6)} MB`;

/** What `bench` found, as lines of at most 80 columns where names are short. */
export function benchText(result: BenchResult): string {
  const { version, commit, node, processor, processors, policy, sandbox, docs } = result;
  const lines = [
    `grpo-native ${version}${commit === null ? '' : ` (${commit})`}, Node.js ${node}`,
    `${processor}, ${processors} processors`,
  ];
  if (policy) {
    const size = `${number(policy.parameters / 1e6)} M parameters`;
    lines.push(
      '',
      `${policy.model}: ${size}, ${policy.dtype} on ${policy.device}, loaded in ${number(policy.loadSeconds)} s`,
    );
    lines.push(`${''.padEnd(24)}${'tok/s'.padStart(10)}${'tok/cpu-s'.padStart(12)}`);
    for (const { name, tokensPerSecond, tokensPerProcessorSecond, peakBytes } of policy.speeds) {
      const peak = peakBytes === undefined ? '' : `   peak ${megabytes(peakBytes)}`;
      const perProcessor = number(tokensPerProcessorSecond).padStart(12);
      lines.push(`${name.padEnd(24)}${number(tokensPerSecond).padStart(10)}${perProcessor}${peak}`);
    }
  }
  if (sandbox) {
    lines.push('');
    if ('unavailable' in sandbox) lines.push(`sandbox: not measured: ${sandbox.unavailable}`);
    else {
      const { backend, programsPerSecond, width, singleMs, processorMs } = sandbox;
      lines.push(
        `sandbox, ${backend}: ${number(programsPerSecond)} programs/s (${width} at once), ${number(singleMs)} ms one by one, ` +
          `${number(processorMs)} ms of processor time each`,
      );
    }
  }
  if (docs) lines.push('', `documentation search: ${number(docs.searchMs)} ms a query, ${docs.symbols} symbols`);
  return lines.join('\n');
}
