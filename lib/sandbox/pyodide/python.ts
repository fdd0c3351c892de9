import { JUDGE_SOURCE } from '../python/judge.js';
import { PROGRAM_SOURCE } from '../python/program.js';
import { TESTS_SOURCE } from '../python/supervisor.js';
import { TEST_PLAN_SOURCE } from '../python/test-plan.js';

/** What the supervisor imports in its first part. */
const IMPORTS_SOURCE = 'import json, os, re, signal, struct, sys';

const START_SOURCE = String.raw`
# Ways from Python to the JavaScript around it. Not all of them: see the page on the sandbox.
import pyodide.code, pyodide.ffi


def close_ways_out():
    for name in list(sys.modules):
        if name.split('.')[0] in ('js', 'pyodide', 'pyodide_js', '_pyodide', '_pyodide_core'):
            del sys.modules[name]
    sys.meta_path[:] = [finder for finder in sys.meta_path if 'yodide' not in str(type(finder).__module__)]
    for name in ('pyodide', 'js'):
        globals().pop(name, None)


class Over(BaseException):
    """A program's end, where its process is kept."""


def keep_process():
    """From now on begin() returns a program's exit code instead of ending the process."""
    global leave

    def leave(code):
        raise Over(code)

    write, _, text, number = make_reporter.__defaults__
    make_reporter.__defaults__ = (write, leave, text, number)


def end_for_memory():
    os.write(REPORT, b'memory\n')
    os._exit(1)


def begin(text):
    """Becomes the program. Its files are in memory and end with this process."""
    global REPORT
    job = json.loads(text)
    close_ways_out()
    REPORT = os.open('/dev/report', os.O_WRONLY)
    folder = '/tmp/program'
    os.environ.clear()
    os.environ.update(job['environment'], PWD=folder)
    fill_folder(folder, job['files'])
    sys.path[:] = [path for path in sys.path if path]
    try:
        if job['kind'] == 'run':
            run_program(folder, job['code'])
        else:
            run_tests(folder, job, job['plan'], REPORT, bytes.fromhex(job.pop('key')))
    except Over as over:
        return over.args[0]
`;

const JUDGE_LOOP_SOURCE = String.raw`
class Ended:
    """What a process came to, in the form that judge() asks for."""

    def __init__(self, ended, limits):
        self.ended, self.limits = ended, limits

    def verdict(self):
        return self.ended['status'], self.ended['exitCode']


def imported(source):
    """Top-level names of modules that a source imports outside of try."""
    try:
        waiting = [ast.parse(source)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()  # running it tells what is wrong
    found = set()
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            found.update(alias.name.split('.')[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found.add((node.module or '').split('.')[0])
        if not isinstance(node, ast.Try):
            waiting += ast.iter_child_nodes(node)
    return found


def lacking(job, packages):
    sources = [job.get(name) or '' for name in ('code', 'solution', 'test')]
    own = {path.split('/')[0].split('.')[0] for path in job['files']}
    names = set().union(*(imported(source) for source in sources)) - own - {'pytest', 'solution'}
    return sorted(name for name in names if (name in packages or name in sys.stdlib_module_names)
                  and importlib.util.find_spec(name) is None)


def answer(text):
    request = json.loads(text)
    job = request['job']
    if request['ask'] == 'plan':
        names = lacking(job, request['packages'])
        if names:
            return json.dumps({'infra': 'Python in WebAssembly (pyodide) has no module ' + ', '.join(names)})
        if job['kind'] == 'run':
            return json.dumps({'plan': None})
        try:
            return json.dumps({'plan': plan_tests(job)})
        except Unusable as error:
            return json.dumps({'infra': str(error)})
    data = base64.b64decode(request['report'])
    watch = Ended(request['ended'], job['limits'])
    return json.dumps(judge(job, request['plan'], watch, data, bytes.fromhex(request['key'])))
`;

/** Python for a process that runs one program. */
export const PROGRAM_PYTHON = [IMPORTS_SOURCE, PROGRAM_SOURCE, TEST_PLAN_SOURCE, TESTS_SOURCE, START_SOURCE].join('\n');

/** Python for the process that reads tests and judges; it never runs anything. */
export const JUDGE_PYTHON = [IMPORTS_SOURCE, PROGRAM_SOURCE, TEST_PLAN_SOURCE, JUDGE_SOURCE, JUDGE_LOOP_SOURCE].join(
  '\n',
);
