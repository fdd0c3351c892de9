import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import ts from 'typescript';
import { diagnostics } from './compile.js';

const file = join(import.meta.dirname, 'own-environment.ts');

test('what users write has the types of their own arguments and tasks', () => {
  assert.equal(diagnostics([file]), []);
});

test('it does so without a cast, an assertion or any', () => {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.ES2022, true);
  const shortcuts = [ts.SyntaxKind.AsExpression, ts.SyntaxKind.NonNullExpression, ts.SyntaxKind.AnyKeyword];
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (shortcuts.includes(node.kind)) found.push(node.getText());
    node.forEachChild(visit);
  };
  visit(source);
  assert.equal(found, []);
});

test.run();
