import { GrpoError } from '../errors.js';

const DATA_FILE = /\.(parquet|jsonl)$/i;
/** `train-00000-of-00003.parquet` belongs to the split train. */
const SHARD = /-\d+-of-\d+$/;

const splitOf = (path: string): string => path.replace(DATA_FILE, '').split('/').at(-1)!.replace(SHARD, '');
const folderOf = (path: string): string => path.split('/').slice(0, -1).join('/');

/** Compares texts with their numbers by value: v0.1.4 < v0.1.10. */
const byVersion = new Intl.Collator('en', { numeric: true }).compare;

/**
 * The files of one split among all files of a data set: Parquet before JSONL, the split that was named, else the only one,
 * else `train`, else the newest of versions such as v0.1.4.
 *
 * @param split name of a split (`test`), of a folder with it (`full/test`), or of a file
 * @throws INVALID_TASKS that names the splits
 */
export function chooseFiles(paths: readonly string[], split: string | undefined, id = 'the data set'): string[] {
  const data = paths.filter((path) => DATA_FILE.test(path)).sort(byVersion);
  const parquet = data.filter((path) => /\.parquet$/i.test(path));
  const files = parquet.length > 0 ? parquet : data;
  if (files.length === 0) throw new GrpoError('INVALID_TASKS', 'tasks', `${id} has neither Parquet nor JSONL files`);
  const keyOf = (path: string): string => [folderOf(path), splitOf(path)].filter((part) => part !== '').join('/');
  const keys = [...new Set(files.map(keyOf))];
  const named = keys.map((key) => ({ key, name: key.split('/').at(-1)! }));
  const matches = (wanted: string) => {
    const exact = named.filter(({ key }) => key === wanted || key === `data/${wanted}`);
    return exact.length > 0 ? exact : named.filter(({ key, name }) => name === wanted || key.endsWith(`/${wanted}`));
  };
  const refuse = (why: string): never => {
    const splits = keys.map((key) => key.replace(/^data\//, '')).join(', ');
    throw new GrpoError('INVALID_TASKS', 'tasks', `${id} ${why}: name one with ${id}:SPLIT; it has ${splits}`);
  };
  const filesOf = (key: string) => files.filter((path) => keyOf(path) === key);
  if (split !== undefined) {
    const file = data.find((path) => path === split);
    if (file !== undefined) return [file];
    const found = matches(split);
    if (found.length === 1) return filesOf(found[0]!.key);
    return refuse(found.length === 0 ? `has no split ${split}` : `has the split ${split} several times`);
  }
  if (keys.length === 1) return filesOf(keys[0]!);
  const train = matches('train');
  if (train.length === 1) return filesOf(train[0]!.key);
  if (named.every(({ name }) => /^v\d/.test(name))) {
    return filesOf(named.sort((a, b) => byVersion(a.name, b.name)).at(-1)!.key);
  }
  return refuse('has several splits');
}
