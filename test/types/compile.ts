import { basename, join } from 'node:path';
import * as assert from 'uvu/assert';
import ts from 'typescript';

const ROOT = join(import.meta.dirname, '../..');

/** What the compiler says about files that import `grpo-native`, under the options of this package: `file:line: message`. */
export function diagnostics(files: string[], changed: ts.CompilerOptions = {}): string[] {
  const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => assert.unreachable() };
  const { options } = ts.getParsedCommandLineOfConfigFile(join(ROOT, 'tsconfig.json'), changed, host)!;
  const program = ts.createProgram(files, options);
  return files
    .flatMap((file) => ts.getPreEmitDiagnostics(program, program.getSourceFile(file)))
    .map(({ file, start, messageText }) => {
      const line = file === undefined ? 0 : file.getLineAndCharacterOfPosition(start ?? 0).line + 1;
      return `${basename(file?.fileName ?? '')}:${line}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
    });
}
