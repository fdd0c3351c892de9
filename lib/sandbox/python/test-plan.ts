/**
 * Python source, fourth part of the supervisor: which tests a test source holds, found by the watching process before
 * the solution runs anywhere.
 */
export const TEST_PLAN_SOURCE = String.raw`
import ast, importlib.util


def last_name(node):
    if isinstance(node, ast.Call):
        node = node.func
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, 'id', '')


def excused(node):
    """Skipped or expected to fail by its own decorator: it need not pass."""
    names = [last_name(decorator) for decorator in node.decorator_list]
    return any(name in ('skip', 'skipIf', 'skipUnless', 'skipif', 'xfail', 'expectedFailure') for name in names)


FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def test_case_classes(tree):
    known = set()
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            bases = [last_name(base) for base in node.bases]
            if any(base.endswith('TestCase') or base in known for base in bases):
                known.add(node.name)
    return known


def methods(node):
    if excused(node):
        return []
    return ['%s.%s' % (node.name, item.name) for item in node.body
            if isinstance(item, FUNCTIONS) and item.name.startswith('test') and not excused(item)]


def choose_style(tree, cases):
    functions = {node.name for node in tree.body if isinstance(node, FUNCTIONS)}
    if 'check' in functions:
        return 'check'
    if cases:
        return 'unittest'
    modules = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules.update(alias.name.split('.')[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            modules.add((node.module or '').split('.')[0])
    if 'pytest' in modules or 'solution' in modules or any(name.startswith('test_') for name in functions):
        return 'pytest'
    return 'assert'


def simple_tests_only(tree):
    """Can a loop over plain functions stand in for pytest?"""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names = [alias.name for alias in node.names] + [getattr(node, 'module', None) or '']
            if any(name.split('.')[0] == 'pytest' for name in names):
                return False
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name.startswith('Test'):
            return False
        if isinstance(node, ast.AsyncFunctionDef) and node.name.startswith('test_'):
            return False
        if isinstance(node, ast.FunctionDef) and node.name.startswith('test_'):
            values = node.args
            if values.args or values.kwonlyargs or values.vararg or values.kwarg or node.decorator_list:
                return False
    return True


def pytest_names(tree, cases):
    names = []
    for node in tree.body:
        if isinstance(node, FUNCTIONS) and node.name.startswith('test_') and not excused(node):
            names.append(node.name)
        elif isinstance(node, ast.ClassDef) and (node.name in cases or node.name.startswith('Test')):
            names += methods(node)
    return names


class Unusable(Exception):
    """The tests cannot be run here; the solution is not to blame."""


def plan_tests(job):
    """{ style, expected, pytest }: the ids of which each must be reported as passed."""
    try:
        tree = ast.parse(job['test'])
    except (SyntaxError, ValueError) as error:
        raise Unusable('the test source does not compile: %s' % error)
    cases = test_case_classes(tree)
    style = job['style'] if job['style'] != 'auto' else choose_style(tree, cases)
    plan = {'style': style, 'expected': [], 'pytest': False, 'calls': False}
    if style == 'check':
        plan['calls'] = any(isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
                            and last_name(node.value) == 'check' for node in tree.body)
        if not job.get('entryPoint') and not plan['calls']:
            raise Unusable("tests of style 'check' need entryPoint, the name of the function that they call")
        plan['expected'] = ['check']
    elif style == 'assert':
        count = sum(isinstance(node, ast.Assert) for node in tree.body)
        plan['expected'] = ['assert %d' % (index + 1) for index in range(count)]
    elif style == 'unittest':
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and node.name in cases:
                plan['expected'] += methods(node)
    else:
        plan['pytest'] = importlib.util.find_spec('pytest') is not None
        if not plan['pytest'] and not simple_tests_only(tree):
            raise Unusable('these tests need pytest, which this Python does not have: '
                           'install it with python3 -m pip install pytest')
        plan['expected'] = pytest_names(tree, cases)
    return plan


def compiles(source):
    try:
        ast.parse(source)
        return True
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def defines(source, name):
    if not compiles(source):
        return False
    for node in ast.parse(source).body:
        if isinstance(node, FUNCTIONS + (ast.ClassDef,)) and node.name == name:
            return True
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(getattr(target, 'id', None) == name for target in targets):
                return True
    return False


def compose(job):
    """The solution as it is judged: calibrated by the record's stub, or the stub completed."""
    stub, solution = job.get('codePrompt') or '', job['solution']
    if not stub:
        return solution
    calibrated = stub + '\n    pass\n' + solution
    name = job.get('entryPoint')
    if name is None:
        # Without a name to look for, an indented solution is a body that completes the stub.
        whole = compiles(solution) and any(isinstance(node, FUNCTIONS + (ast.ClassDef,)) for node in ast.parse(solution).body)
    else:
        whole = defines(solution, name)
    if whole:
        return calibrated if compiles(calibrated) else solution
    completed = stub + solution
    return completed if compiles(completed) or not compiles(calibrated) else calibrated
`;
