const rotate = (value: number, bits: number) => (value << bits) | (value >>> (32 - bits));

const finish = (value: number) => {
  let hash = value;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
};

/** 32-bit MurmurHash3 of a text. Source: Appleby 2011, the public-domain MurmurHash3_x86_32. */
function murmur(text: string, seed: number): number {
  const bytes = new TextEncoder().encode(text);
  const scramble = (block: number) => Math.imul(rotate(Math.imul(block, 0xcc9e2d51), 15), 0x1b873593);
  const view = new DataView(bytes.buffer);
  const whole = bytes.length - (bytes.length % 4);
  let hash = seed | 0;
  for (let offset = 0; offset < whole; offset += 4) {
    hash ^= scramble(view.getInt32(offset, true));
    hash = Math.imul(rotate(hash, 13), 5) + 0xe6546b64;
  }
  let tail = 0;
  for (let offset = bytes.length - 1; offset >= whole; offset--) tail = (tail << 8) | (bytes[offset] as number);
  if (whole < bytes.length) hash ^= scramble(tail);
  return finish(hash ^ bytes.length);
}

/**
 * A 53-bit seed from any parts (seed, step, task, sample, turn): the same parts always give the same seed.
 *
 * @example
 * deriveSeed(42, 'train', 3, 'mbpp/7', 0, 1);
 */
export function deriveSeed(...parts: (string | number)[]): number {
  const text = JSON.stringify(parts);
  return (murmur(text, 0x9747b28c) & 0x1fffff) * 2 ** 32 + murmur(text, 0x3c6ef372);
}

/** Uniform numbers in [0, 1) from a seed. Source: Vigna 2015, splitmix, in its 32-bit form. */
export function randomNumbers(seed: number): () => number {
  let state = (seed ^ Math.floor(seed / 2 ** 32)) | 0;
  return () => {
    state = (state + 0x9e3779b9) | 0;
    let hash = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    hash = Math.imul(hash ^ (hash >>> 15), 0x735a2d97);
    return ((hash ^ (hash >>> 15)) >>> 0) / 2 ** 32;
  };
}

/** A shuffled copy (Fisher-Yates) that depends on the seed only. */
export function shuffled<T>(values: readonly T[], seed: number): T[] {
  const random = randomNumbers(seed);
  const copy = [...values];
  for (let index = copy.length - 1; index > 0; index--) {
    const other = Math.floor(random() * (index + 1));
    [copy[index], copy[other]] = [copy[other] as T, copy[index] as T];
  }
  return copy;
}
