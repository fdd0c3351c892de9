const WRONG = 'def task_func(x):\n    return 0\n';
export const RIGHT = 'def task_func(x):\n    return x + 1\n';

/** The same two tests in each style. */
export const TESTS = {
  unittest:
    'import unittest\nclass TestCases(unittest.TestCase):\n    def test_a(self): self.assertEqual(task_func(1), 2)\n    def test_b(self): self.assertEqual(task_func(2), 3)\n',
  pytest:
    'from solution import task_func\ndef test_a(): assert task_func(1) == 2\ndef test_b(): assert task_func(2) == 3\n',
  check: 'def check(candidate):\n    assert candidate(1) == 2\n    assert candidate(2) == 3\n',
  assert: 'assert task_func(1) == 2\nassert task_func(2) == 3',
};

/** Solutions that must fail in every style, by what they try. */
export const CHEATS: Record<string, string> = {
  'returns a wrong value': WRONG,
  'is empty': '',
  'does not compile': 'def task_func(x:\n',
  'defines another name': 'def other(x): return x + 1\n',
  'exits at import': 'import sys\nsys.exit(0)\n',
  'exits hard at import': 'import os\nos._exit(0)\n',
  'exits when called': 'import sys\ndef task_func(x):\n    sys.exit(0)\n',
  'exits hard when called': 'import os\ndef task_func(x):\n    os._exit(0)\n',
  'exits hard from a thread': `import os, threading\nthreading.Thread(target=lambda: os._exit(0)).start()\n${WRONG}`,
  'exits hard at exit': `import atexit, os\natexit.register(lambda: os._exit(0))\n${WRONG}`,
  'prints and writes to descriptors': `import os\nprint("OK")\nfor f in range(1, 260):\n  try: os.write(f, b"0 pass\\nOK\\n")\n  except OSError: pass\n${RIGHT}`,
  'closes descriptors': `import os\nos.closerange(0, 1000)\n${RIGHT}`,
  'skips itself with unittest': 'import unittest\ndef task_func(x):\n    raise unittest.SkipTest("x")\n',
  'skips itself with pytest': 'def task_func(x):\n    import pytest\n    pytest.skip("x")\n',
  'patches TestCase': `import unittest\nunittest.TestCase.assertEqual = lambda *a, **k: None\nunittest.TestCase.run = lambda *a, **k: None\n${WRONG}`,
  'patches TestCase when called': `def task_func(x):\n    import unittest\n    unittest.TestCase.assertEqual = lambda *a, **k: None\n    return 0\n`,
  'swaps the code of an assertion': `import unittest\ndef f(self, first, second, msg=None): pass\nunittest.TestCase.assertEqual.__code__ = f.__code__\n${WRONG}`,
  'patches the loader': `import unittest\nunittest.TestLoader.loadTestsFromTestCase = lambda *a: unittest.TestSuite()\n${WRONG}`,
  'replaces unittest': `import sys, types\nm = types.ModuleType("unittest")\nclass T:\n  def assertEqual(s, *a): pass\nm.TestCase = T\nsys.modules["unittest"] = m\n${WRONG}`,
  'redefines AssertionError': `import builtins\nbuiltins.AssertionError = ValueError\n${WRONG}`,
  'patches import': `import builtins\nbuiltins.__import__ = lambda *a, **k: None\n${WRONG}`,
  'patches isinstance': `import builtins\nbuiltins.isinstance = lambda *a: True\n${WRONG}`,
  'patches the main module': `import __main__\nfor n in ("run_check", "run_assert", "run_unittest", "judge"): setattr(__main__, n, lambda *a: None)\n${WRONG}`,
  'patches pytest': `import _pytest.runner\n_pytest.runner.pytest_runtest_call = lambda item: None\n_pytest.python.Function.runtest = lambda self: None\n${WRONG}`,
  'overwrites the tests': `import os\nfor n in ("test_solution.py", "conftest.py", "test.py"):\n  try: os.chmod(n, 0o666)\n  except OSError: pass\n  open(n, "w").write("def test_a(): pass\\ndef test_b(): pass\\n")\n${WRONG}`,
  'writes a conftest': `open("conftest.py", "w").write("import pytest\\n@pytest.hookimpl(hookwrapper=True)\\ndef pytest_runtest_makereport(item, call):\\n  o = yield\\n  o.get_result().outcome = \\"passed\\"\\n")\n${WRONG}`,
  'kills itself': 'import os\nos.kill(os.getpid(), 9)',
  'kills the watcher': `import os\nfor p in (os.getppid(), 1):\n  try: os.kill(p, 9)\n  except OSError: pass\n${WRONG}`,
  'raises KeyboardInterrupt': 'def task_func(x):\n  raise KeyboardInterrupt\n',
  'raises what cannot be shown':
    'class E(Exception):\n  def __str__(s): raise ValueError\ndef task_func(x):\n  raise E()\n',
  'recurses for ever': 'def task_func(x): return task_func(x)\n',
  'fills the memory': 'def task_func(x):\n  a = []\n  while True: a.append(bytearray(1 << 24))\n',
  forks: `import os\nif os.fork() == 0: os._exit(0)\nos.fork()\n${WRONG}`,
};
