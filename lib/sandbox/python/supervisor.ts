import { ISOLATION_SOURCE } from './isolation.js';
import { JUDGE_SOURCE } from './judge.js';
import { MONITOR_SOURCE } from './monitor.js';
import { PROGRAM_SOURCE } from './program.js';
import { START_SOURCE } from './start.js';
import { TEMPLATE_SOURCE } from './template.js';
import { TEST_PLAN_SOURCE } from './test-plan.js';
import { TEST_STYLES_SOURCE } from './test-styles.js';
import { VERDICT_SOURCE } from './verdict.js';

const SERVE_SOURCE = String.raw`
import marshal, re, random, site

REPORT_BYTES = 4 << 20


def read_exactly(handle, size):
    data = bytearray()
    while len(data) < size:
        chunk = os.read(handle, min(1 << 20, size - len(data)))
        if not chunk:
            return None
        data += chunk
    return data


def read_frame(handle):
    head = read_exactly(handle, 4)
    if head is None:
        return None
    body = read_exactly(handle, struct.unpack('>I', head)[0])
    return None if body is None else json.loads(body)


def write_frame(handle, value):
    body = json.dumps(value).encode()
    data = memoryview(struct.pack('>I', len(body)) + body)
    while data:
        data = data[os.write(handle, data):]


def infra(job, message):
    if job['kind'] == 'test':
        return {'status': 'infra', 'testsRun': 0, 'failures': [{'name': 'sandbox', 'message': message}]}
    return {'status': 'infra', 'exitCode': None, 'stdout': '', 'stderr': message}


def handle(config, job, source):
    """Runs one job to its end and gives the answer. source: starts programs."""
    began = time.monotonic()
    plan, key, limits = None, os.urandom(32), job['limits']
    sent = {'kind': job['kind'], 'folder': job['folder'], 'files': job['files'], 'limits': limits}
    if job['kind'] == 'test':
        try:
            plan = plan_tests(job)
        except Unusable as error:
            return dict(infra(job, str(error)), wallMs=0)
        sent.update({name: job[name] for name in ('solution', 'test', 'codePrompt', 'entryPoint')})
        sent.update(plan=plan, key=key.hex())
    else:
        sent['code'] = job['code']
    start = source.take()
    mounts = start.temporary_folders if config['warm'] else lambda: config['mounts']
    watch = Watch(limits, mounts, config['isolated'], source.base)
    # Before the program begins: meanwhile this process, whose memory the program's anchor shares, can be looked into.
    source.prepare()
    start.send_job(sent)
    if config['warm']:
        watch.ours.update((start.anchor, source.spare.anchor))
    if plan is None:
        os.close(start.ours['report'])
        streams = [stream(start.ours['out'], limits['outputBytes']), stream(start.ours['err'], limits['outputBytes'])]
    else:
        os.close(start.ours['out'])
        os.close(start.ours['err'])
        streams = [stream(start.ours['report'], REPORT_BYTES)]
    feed = (job.get('stdin') or '').encode('utf-8', 'surrogatepass')

    def hear():
        watch.exit_status = source.status_of(start)

    watch.follow(streams, (start.ours['in'], feed), source.news, hear)
    source.end(start, watch.exit_status is None)
    watch.finish(streams)
    started, said = start.end(config['warm'])
    if not started and watch.reason is None:
        answer = infra(job, 'the program could not be started in the sandbox: ' + said)
    elif plan is None:
        status, code = watch.verdict()
        texts = [bytes(item['data']).decode('utf-8', 'replace') for item in streams]
        answer = {'status': status, 'exitCode': code, 'stdout': texts[0], 'stderr': texts[1]}
    else:
        answer = judge(job, plan, watch, streams[0]['data'], key)
    answer['wallMs'] = (time.monotonic() - began) * 1000
    return answer


def prepare(config):
    sys.dont_write_bytecode = True
    config['filter'] = SystemCallFilter() if config['isolated'] else None
    # Started with the base of a virtual environment, Python shows packages that the environment does not have.
    sys.path[:] = [path for path in sys.path
                   if path and (not path.endswith('-packages') or path in (config['packages'] or [path]))]
    for path in config['sites']:
        site.addsitedir(path)


def preload(config):
    if config['preloadTests']:
        load_tests(config)
    for name in config['preload']:
        try:
            __import__(name)
        except ImportError:
            pass  # the user's Python need not have it


def serve(config):
    incoming, outgoing = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.close(null)
    if config['mountProc']:
        # A proc that is partly covered, as bubblewrap's is for root, may not be mounted again in an inner namespace.
        mount('proc', '/proc', 'proc', 2 | 4 | 8)
        drop_capabilities((5, 6, 7))  # what is left: kill, setgid, setuid
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    prepare(config)
    if config['warm']:
        leave_rights_outside(config['users'])
        # The change of rights has unset what bubblewrap set: to end with it.
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        source = Template(config)
        write_frame(outgoing, {'ready': True})
        while True:
            job = read_frame(incoming)
            if job is None:
                os._exit(0)
            write_frame(outgoing, handle(config, job, source))
    prctl(PR_SET_DUMPABLE, 0)
    if not config['isolated']:
        # No namespace ends the program with this process: it has to be done by hand.
        prctl(PR_SET_SUBREAPER, 1)
        prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        signal.signal(signal.SIGTERM, lambda *_: (kill_descendants(), os._exit(143)))
    write_frame(outgoing, {'ready': True})
    job = read_frame(incoming)
    if job is not None:
        write_frame(outgoing, handle(config, job, Direct(config)))
    os._exit(0)


serve(json.loads(sys.argv[1]))
`;

/** The whole Python program that starts, watches and judges untrusted programs; run with `python3 -c`. */
export const SUPERVISOR_SOURCE = [
  ISOLATION_SOURCE,
  MONITOR_SOURCE,
  PROGRAM_SOURCE,
  TEST_PLAN_SOURCE,
  JUDGE_SOURCE,
  START_SOURCE,
  TEMPLATE_SOURCE,
  SERVE_SOURCE,
].join('\n');

/** What runs the tests beside the solution: loaded by the template, or by a program that is a test. */
export const TESTS_SOURCE = [VERDICT_SOURCE, TEST_STYLES_SOURCE].join('\n');
