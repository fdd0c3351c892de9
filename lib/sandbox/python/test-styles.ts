/** Python source, sixth part of the supervisor: the four styles of tests. */
export const TEST_STYLES_SOURCE = String.raw`
class Stop(Exception):
    """Ends a test run that cannot go on; its message is the failure."""


def load(source, path, names):
    linecache.cache[path] = (len(source), None, source.splitlines(True), path)
    exec(compile(source, path, 'exec', dont_inherit=True), names)


def make_module(name):
    module = types.ModuleType(name)
    module.__dict__.update(__file__=name + '.py', __builtins__=builtins)
    return module


def load_solution(source, report):
    # One module under two names: benchmarks call it __test__, tests written as files import solution.
    module = make_module('__test__')
    sys.modules['__test__'] = sys.modules['solution'] = module
    try:
        load(source, 'solution.py', module.__dict__)
    except BaseException as error:
        report('fail', 'solution', describe(error))
        return None
    return module


def test_names(module, keep):
    """What the tests see: the solution's names, without those that would hide a builtin from the tests."""
    hidden = set(vars(builtins)) - {keep} if keep else set()
    return {key: value for key, value in vars(module).items() if key not in hidden or key.startswith('__')}


def run_check(job, plan, module, report):
    names = test_names(module, job.get('entryPoint'))
    before = names.get('check')
    try:
        load(job['test'], 'test.py', names)
        if not plan['calls']:
            if job['entryPoint'] not in names:
                raise Stop('the solution does not define ' + job['entryPoint'])
            if names.get('check') is before:
                raise Stop('the tests define no function check')
            names['check'](names[job['entryPoint']])
    except Stop as error:
        report('fail', 'check', error)
    except BaseException as error:
        report('fail', 'check', describe(error))
    else:
        report('pass', 'check')


def run_assert(job, plan, module, report):
    names, count = test_names(module, job.get('entryPoint')), 0
    names.update(__name__='__test__')
    for node in ast.parse(job['test']).body:
        is_assert = isinstance(node, ast.Assert)
        count += is_assert
        label = 'assert %d' % count if is_assert else 'test code'
        try:
            exec(compile(ast.Module([node], []), 'test.py', 'exec', dont_inherit=True), names)
        except BaseException as error:
            report('fail', label, describe(error))
            if not is_assert:
                return
        else:
            if is_assert:
                report('pass', label)


def run_unittest(job, plan, module, report, loader, make_suite, recorder):
    try:
        load(job['test'], 'test.py', module.__dict__)
    except BaseException as error:
        report('fail', 'test code', describe(error))
        return
    wanted = []
    for name in plan['expected']:
        owner = name.split('.')[0]
        if owner not in wanted:
            wanted.append(owner)
    suite = make_suite(loader.loadTestsFromTestCase(getattr(module, name)) for name in wanted)
    try:
        suite.run(recorder)
    except BaseException as error:
        report('fail', 'tests', describe(error))


def empty_when_read():
    """pytest has read the tests when it comes to the solution, which could take its answers from the file."""
    rewrite = sys.modules.get('_pytest.assertion.rewrite')
    read = getattr(rewrite, '_rewrite_test', None)
    if read is None:
        return  # another pytest than those known

    def read_once(path, *rest):
        found = read(path, *rest)
        os.chmod(path, 0o600)
        os.truncate(path, 0)  # not removed: pytest compares the file with the module
        return found

    rewrite._rewrite_test = read_once


class PytestPlugin:
    """Reports from inside pytest. The machinery is remembered after pytest set itself up, before it imports any test."""

    def __init__(self, report, make_guard, shorten):
        kept = {}

        def short(node):
            return node.split('::', 1)[-1].split('[')[0].replace('::', '.')

        def message(entry):
            crash = getattr(entry.longrepr, 'reprcrash', None)
            if crash is not None:
                return shorten(crash.message)
            # Tests that could not be read: the error itself stands below pytest's own way to it, in lines with an E.
            text = str(entry.longrepr)
            told = [line[4:] for line in text.split('\n') if line.startswith('E   ')]
            return shorten('\n'.join(told) or text)

        def hooks():
            # One list of calls for each hook: a plugin that registers itself later shows here.
            return {name: [id(each.function) for each in hook.get_hookimpls()]
                    for name, hook in vars(kept['manager'].hook).items() if not name.startswith('_')}

        def finished(entry):
            if hooks() != kept['hooks']:
                report('fail', short(entry.nodeid), 'a plugin was registered while the tests ran')
            elif entry.failed:
                report('fail', short(entry.nodeid), message(entry))
            elif entry.skipped:
                report('skip', short(entry.nodeid), 'skipped')
            elif entry.when == 'call':
                report('pass', short(entry.nodeid))

        def read(entry):
            if entry.failed:
                report('fail', 'test code', message(entry))

        def configured(config):
            kept['manager'] = config.pluginmanager
            empty_when_read()

        def before():
            kept['hooks'] = hooks()
            kept['guard'] = make_guard()

        def compare():
            change = kept['guard'].change()
            if change:
                report('fail', 'solution', 'replaced ' + change)

        # pytest looks at the names of parameters: each hook needs its own.
        self.pytest_runtest_logreport = lambda report: finished(report)
        self.pytest_collectreport = lambda report: read(report)
        self.pytest_configure = lambda config: configured(config)
        self.pytest_collection = before
        self.pytest_collection_finish = compare
        self.pytest_sessionfinish = compare


def run_pytest(job, source, report, plugin, main):
    with open('solution.py', 'w', encoding='utf-8', errors='surrogatepass') as handle:
        handle.write(source)
    text = job['test']
    if not re.search(r'^\s*(from|import)\s+solution\b', text, re.M):
        text = 'from solution import *\n' + text
    with open('test_solution.py', 'w', encoding='utf-8', errors='surrogatepass') as handle:
        handle.write(text)
    os.chmod('test_solution.py', 0o444)
    try:
        code = main(['-q', '--noconftest', '-c', os.devnull, '--rootdir', os.getcwd(), '-p', 'no:cacheprovider',
                     '-p', 'no:faulthandler', 'test_solution.py'], plugins=[plugin])
    except BaseException as error:
        report('fail', 'tests', describe(error))
        return
    if int(code) == 5:
        report('fail', 'tests', 'pytest found no tests')
    elif int(code) != 0:
        report('exit', 'tests', 'pytest ended with exit code %d' % int(code))


def run_functions(job, source, report, guard):
    """Stands in for pytest where it is missing: plain test functions without parameters."""
    module = load_solution(source, report)
    if module is None:
        return
    change = guard.change()
    if change:
        report('fail', 'solution', 'replaced ' + change)
        return
    tests = make_module('test_solution')
    if not re.search(r'^\s*(from|import)\s+solution\b', job['test'], re.M):
        tests.__dict__.update({key: value for key, value in vars(module).items() if not key.startswith('_')})
    try:
        load(job['test'], 'test_solution.py', tests.__dict__)
    except BaseException as error:
        report('fail', 'test code', describe(error))
        return
    for name, value in list(vars(tests).items()):
        if name.startswith('test_') and isinstance(value, types.FunctionType) and value.__module__ == 'test_solution':
            try:
                value()
            except BaseException as error:
                report('fail', name, describe(error))
            else:
                report('pass', name)


def run_tests(folder, job, plan, descriptor, key):
    os.chdir(folder)
    sys.argv = ['test']
    sys.modules['__main__'] = make_module('__main__')  # not the supervisor
    sys.path.insert(0, folder)
    source = compose(job)
    report, end = make_reporter(descriptor, key)
    del key
    loader, recorder, suite = unittest.TestLoader(), Recorder(report), unittest.TestSuite
    reseed()
    style = plan['style']
    if style == 'pytest' and plan['pytest']:
        os.environ['PYTEST_DISABLE_PLUGIN_AUTOLOAD'] = '1'
        import pytest
        run_pytest(job, source, report, PytestPlugin(report, Guard, shorten), pytest.main)
        end()
    guard = Guard()
    if style == 'pytest':
        run_functions(job, source, report, guard)
    else:
        module = load_solution(source, report)
        if module is None:
            end()
        change = guard.change()
        if change:
            report('fail', 'solution', 'replaced ' + change)
            end()
        if style == 'unittest':
            run_unittest(job, plan, module, report, loader, suite, recorder)
        else:
            {'check': run_check, 'assert': run_assert}[style](job, plan, module, report)
    change = guard.change()
    if change:
        report('fail', 'solution', 'replaced ' + change)
    end()
`;
