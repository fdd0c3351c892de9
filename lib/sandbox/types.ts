export type SandboxBackend = 'bubblewrap' | 'container' | 'pyodide' | 'process';

export interface SandboxOptions {
  /** @default 'auto' = bubblewrap, else container, else an error that names the package to install */
  backend?: 'auto' | SandboxBackend;
  /** The interpreter. @default 'python3' */
  python?: string;
  /** Of a container, by name or by 'auto'; it must be on the machine already. @default 'python:3.12-slim' */
  image?: string;
  /** What runs a container. @default the first of docker and podman that works */
  engine?: 'docker' | 'podman';
  /**
   * Of backend 'pyodide': one process runs many programs, a hundred times faster. Python's memory and files are put back
   * after each; a program that broke out into the JavaScript around it could reach later ones.
   *
   * @default false
   */
  reuse?: boolean;
  /** Allows backend 'process'. @default false */
  allowUnsandboxed?: boolean;
}

export interface RunOptions {
  code: string;
  /** relative path -> content */
  files?: Record<string, string | Uint8Array>;
  stdin?: string;
  /** @default 10000 */
  timeoutMs?: number;
  /** @default 512 */
  memoryMb?: number;
  /** Of stdout and stderr each. @default 65536 */
  outputBytes?: number;
  signal?: AbortSignal;
}

/** 'infra': the sandbox itself failed; the program is not to blame. */
export type RunStatus = 'ok' | 'error' | 'timeout' | 'memory' | 'output' | 'infra';

export interface RunResult {
  status: RunStatus;
  /** null where the program was killed. */
  exitCode: number | null;
  stdout: string;
  stderr: string;
  wallMs: number;
}

export type TestStyle = 'unittest' | 'pytest' | 'check' | 'assert';

export interface TestOptions {
  solution: string;
  test: string;
  /** The record's stub, for calibration. */
  codePrompt?: string;
  entryPoint?: string;
  style?: 'auto' | TestStyle;
  timeoutMs?: number;
  memoryMb?: number;
  files?: Record<string, string | Uint8Array>;
  signal?: AbortSignal;
}

export interface TestResult {
  status: 'pass' | 'fail' | 'timeout' | 'infra';
  testsRun: number;
  /** Tests that there are, and those that passed; left out where that is not known. */
  testsFound?: number;
  testsPassed?: number;
  failures: { name: string; message: string }[];
  wallMs: number;
}

/** Runs untrusted Python programs, each in its own empty folder. */
export interface SandboxLike {
  readonly backend: SandboxBackend;
  run(options: RunOptions): Promise<RunResult>;
  test(options: TestOptions): Promise<TestResult>;
  close(): Promise<void>;
}
