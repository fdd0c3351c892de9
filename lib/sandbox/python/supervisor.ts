import { ISOLATION_SOURCE } from './isolation.js';
import { MONITOR_SOURCE } from './monitor.js';
import { PROGRAM_SOURCE } from './program.js';
import { TEST_PLAN_SOURCE } from './test-plan.js';
import { TEST_STYLES_SOURCE } from './test-styles.js';
import { VERDICT_SOURCE } from './verdict.js';

const SERVE_SOURCE = String.raw`
import re, random, site

INFRA_CODE = 120
REPORT_BYTES = 4 << 20


def read_exactly(handle, size):
    data = b''
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
    data = struct.pack('>I', len(body)) + body
    while data:
        data = data[os.write(handle, data):]


def infra(job, message):
    if job['kind'] == 'test':
        return {'status': 'infra', 'testsRun': 0, 'failures': [{'name': 'sandbox', 'message': message}]}
    return {'status': 'infra', 'exitCode': None, 'stdout': '', 'stderr': message}


def enter_program(config, job, plan, pipes, key):
    """In the child: gives up every right, then becomes the program. Never returns."""
    folder, limits = job['folder'], job['limits']
    os.environ['PWD'] = folder
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    attach_streams(pipes['in'], pipes['out'], pipes['err'])
    ready, report = os.dup2(pipes['ready'], 200, False), None
    if pipes.get('report') is not None:
        report = os.dup2(pipes['report'], 201, False)
    close_descriptors({200, 201})
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    if config['isolated']:
        if job['user'] is not None and not config['warm']:
            become_user(job['user'])
            enter_user_namespace()
        drop_capabilities()
    prctl(PR_SET_DUMPABLE, 1)
    fill_folder(folder, job['files'])
    set_limits(limits)
    if config['isolated']:
        config['filter'].install()
    os.write(ready, b'k')
    os.close(ready)
    if job['kind'] == 'run':
        run_program(folder, job['code'])
    else:
        run_tests(folder, job, plan, report, key)


def start_child(config, job, plan, pipes, key):
    child = os.fork()
    if child == 0:
        try:
            enter_program(config, job, plan, pipes, key)
        except BaseException as error:
            try:
                os.write(2, ('%s: %s' % (type(error).__name__, error)).encode())
            finally:
                os._exit(INFRA_CODE)
    return child


def start_apart(config, job, plan, pipes, key, relay):
    """Like start_child, with a first process of a new process namespace in between. Nothing outlives that process."""
    first = os.fork()
    if first != 0:
        return first
    try:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        mount('none', '/', '', 0x4000 | 0x40000)  # recursive, private
        for path in config['mounts']:
            mount('tmpfs', path, 'tmpfs', 2 | 4, 'mode=1777,nr_inodes=20000,size=%d' % config['diskBytes'])
        mount('proc', '/proc', 'proc', 2 | 4 | 8)
        child = start_child(config, job, plan, pipes, key)
        close_descriptors({relay})
        while True:
            pid, status = os.waitpid(-1, 0)
            if pid == child:
                os.write(relay, struct.pack('=i', status))
                os._exit(0)
    except BaseException as error:
        os.write(pipes['err'], ('%s: %s' % (type(error).__name__, error)).encode())
        os._exit(INFRA_CODE)


def handle(config, job):
    """Runs one job to its end and gives the answer."""
    began = time.monotonic()
    plan = None
    if job['kind'] == 'test':
        try:
            plan = plan_tests(job)
        except Unusable as error:
            answer = infra(job, str(error))
            answer['wallMs'] = (time.monotonic() - began) * 1000
            return answer
    limits, key = job['limits'], os.urandom(32)
    job['user'] = random.SystemRandom().randrange(*config['users']) if config['users'] else None
    ends = {name: os.pipe() for name in ('in', 'out', 'err', 'ready')}
    pipes = {name: pair[0 if name == 'in' else 1] for name, pair in ends.items()}
    null = None
    if plan is not None:
        ends['report'] = os.pipe()
        pipes['report'] = ends['report'][1]
        null = os.open(os.devnull, os.O_WRONLY)
        pipes['out'] = pipes['err'] = null
    watch = Watch(limits, config['mounts'], config['isolated'])
    watch.base = private_bytes()
    if config['warm']:
        if job['user'] is not None:
            become_user(job['user'])
        enter_user_namespace(NEW_NS | NEW_PID | NEW_IPC)
    prctl(PR_SET_DUMPABLE, 0)
    if not config['isolated']:
        # No namespace ends the program with this process: it has to be done by hand.
        prctl(PR_SET_SUBREAPER, 1)
        prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        signal.signal(signal.SIGTERM, lambda *_: (kill_descendants(), os._exit(143)))
    relay = os.pipe()
    if config['warm']:
        child = start_apart(config, job, plan, pipes, key, relay[1])
    else:
        child = start_child(config, job, plan, pipes, key)
    os.close(relay[1])
    for name, pair in ends.items():
        os.close(pair[0] if name == 'in' else pair[1])
    if null is not None:
        os.close(null)
    if plan is None:
        streams = [stream(ends['out'][0], limits['outputBytes']), stream(ends['err'][0], limits['outputBytes'])]
    else:
        os.close(ends['out'][0])
        os.close(ends['err'][0])
        streams = [stream(ends['report'][0], REPORT_BYTES)]
    feed = (job.get('stdin') or '').encode('utf-8', 'surrogatepass')
    watch.follow(child, streams, (ends['in'][1], feed))
    if not config['isolated']:
        kill_descendants()
    if config['warm']:
        if watch.exit_status is None:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        told = os.read(relay[0], 4)
        watch.exit_status = struct.unpack('=i', told)[0] if told else 0
    started = os.read(ends['ready'][0], 1) == b'k'
    os.close(ends['ready'][0])
    wall = (time.monotonic() - began) * 1000
    if not started and watch.reason is None:
        said = bytes(streams[-1]['data']).decode('utf-8', 'replace') if plan is None else ''
        answer = infra(job, 'the program could not be started in the sandbox: ' + said)
    elif plan is None:
        status, code = watch.verdict()
        texts = [bytes(item['data']).decode('utf-8', 'replace') for item in streams]
        answer = {'status': status, 'exitCode': code, 'stdout': texts[0], 'stderr': texts[1]}
    else:
        answer = judge(job, plan, watch, streams[0]['data'], key)
    answer['wallMs'] = wall
    return answer


def prepare(config):
    sys.dont_write_bytecode = True
    config['filter'] = SystemCallFilter() if config['isolated'] else None
    sys.path[:] = [path for path in sys.path if path]
    for path in config['sites']:
        site.addsitedir(path)
    for name in config['preload']:
        try:
            __import__(name)
        except ImportError:
            pass  # the user's Python need not have it
    gc.collect()
    gc.freeze()


def handle_apart(config, job, outgoing):
    """A fresh fork for each job; this process stays as it was."""
    carrier = os.fork()
    if carrier == 0:
        try:
            write_frame(outgoing, handle(config, job))
            os._exit(0)
        except BaseException as error:
            os.write(2, ('%s: %s' % (type(error).__name__, error)).encode())
            os._exit(1)
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == carrier:
            return status == 0


def serve(config):
    incoming, outgoing = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.close(null)
    if config['mountProc']:
        # A proc that is partly covered, as bubblewrap's is for root, may not be mounted again in an inner namespace.
        mount('proc', '/proc', 'proc', 2 | 4 | 8)
        prctl(PR_SET_NO_NEW_PRIVS, 1)
        drop_capabilities((5, 6, 7))  # what is left: kill, setgid, setuid
    prepare(config)
    write_frame(outgoing, {'ready': True, 'pytest': importlib.util.find_spec('pytest') is not None})
    if config['warm']:
        while True:
            job = read_frame(incoming)
            if job is None or not handle_apart(config, job, outgoing):
                os._exit(0)
    job = read_frame(incoming)
    if job is not None:
        write_frame(outgoing, handle(config, job))
    os._exit(0)


serve(json.loads(sys.argv[1]))
`;

/** The whole Python program that starts, watches and judges untrusted programs; run with `python3 -c`. */
export const SUPERVISOR_SOURCE = [
  ISOLATION_SOURCE,
  MONITOR_SOURCE,
  PROGRAM_SOURCE,
  TEST_PLAN_SOURCE,
  VERDICT_SOURCE,
  TEST_STYLES_SOURCE,
  SERVE_SOURCE,
].join('\n');
