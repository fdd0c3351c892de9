// A model before and after training, on tasks it has not seen. Run it: node examples/evaluate-adapter.js ADAPTER
import { evaluate } from 'grpo-native';

const { trained } = await evaluate({
  model: 'embedded:demo',
  adapter: process.argv[2] ?? 'my-adapter', // as examples/own-loop.js leaves it; or runs/NAME/best
  environment: 'demo',
  maxNewTokens: 64,
  temperature: 0.8,
});

// The table is printed by now; the records hold more.
const after = trained.find(({ mode }) => mode === 'multi-tool');
console.log(`searches where needed ${after?.search_rate_needed}, elsewhere ${after?.search_rate_unneeded}`);
