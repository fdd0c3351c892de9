import { setTimeout as sleep } from 'node:timers/promises';
import { startWork } from './working-policy.js';

// Run by leaving.test.ts: works, and leaves in the way that the first argument names.
async function main(way: string): Promise<void> {
  const policy = await startWork();
  process.stdout.write('ready\n');
  await sleep(50);
  switch (way) {
    case 'close':
      await policy.close();
      process.exitCode = 3;
      break;
    case 'exit':
      process.exit(7);
      break;
    case 'throw':
      setImmediate(() => {
        throw new Error('thrown on purpose');
      });
      break;
    case 'handled SIGINT':
      process.once('SIGINT', () => process.exit(130));
      break;
    case 'exit listener':
      process.once('exit', () => (process.exitCode = 9));
      process.exit(7);
      break;
    default:
  }
}

void main(process.argv[2] ?? '');
