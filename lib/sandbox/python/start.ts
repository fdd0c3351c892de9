/** Python source, eighth part of the supervisor: from a new process to the program in it. */
export const START_SOURCE = String.raw`
INFRA_CODE = 120
NAMES = ('in', 'out', 'err', 'report', 'control')


class Start:
    """The supervisor's side of one program: its pipes, and the connection on which it gets its job."""

    def __init__(self):
        ends = {name: os.pipe() for name in NAMES[:-1]}
        self.ours = {name: pair[1 if name == 'in' else 0] for name, pair in ends.items()}
        theirs = {name: pair[0 if name == 'in' else 1] for name, pair in ends.items()}
        self.control, far = _socket.socketpair()
        theirs['control'] = far.detach()
        self.theirs = [theirs[name] for name in NAMES]
        self.first = b''
        self.folders = None

    def let_go(self):
        """The program's ends belong to the program now."""
        for handle in self.theirs:
            os.close(handle)

    def send_job(self, job):
        body = marshal.dumps(job)
        try:
            self.control.sendall(struct.pack('>I', len(body)) + body)
        except OSError:
            pass  # it ended early; what it wrote tells why

    def temporary_folders(self):
        """Descriptors of the program's own temporary folders, which no path of this process leads to."""
        if self.folders is None:
            self.folders = []
            self.first, messages, _, _ = self.control.recvmsg(1, _socket.CMSG_SPACE(16))
            for level, kind, data in messages:
                if level == _socket.SOL_SOCKET and kind == _socket.SCM_RIGHTS:
                    self.folders += struct.unpack('=%di' % (len(data) // 4), data[:len(data) // 4 * 4])
        return self.folders

    def end(self, warm):
        """(True when the program was started, what went wrong otherwise). All its processes are gone."""
        if warm:
            for handle in self.temporary_folders():
                os.close(handle)
        data = self.first
        while True:
            chunk = self.control.recv(65536)
            if not chunk:
                break
            data += chunk
        self.control.close()
        if warm and data[:1] == b'm':
            data = data[1:]  # what came with the folders
        return data == b'k', data.decode('utf-8', 'replace')


def enter_namespaces(config, handles, control):
    """To the user namespace of the anchor, with fresh temporary folders that the supervisor can look at."""
    set_namespace(handles[5])
    if config['users']:
        os.setgroups([])
        os.setresgid(INSIDE_ID, INSIDE_ID, INSIDE_ID)
        os.setresuid(INSIDE_ID, INSIDE_ID, INSIDE_ID)
    unshare(NEW_NS | NEW_IPC)
    mount('none', '/', '', 0x4000 | 0x40000)  # recursive, private
    for path in config['mounts']:
        mount('tmpfs', path, 'tmpfs', 2 | 4, 'mode=1777,nr_inodes=20000,size=%d' % config['diskBytes'])
    mount('proc', '/proc', 'proc', 2 | 4 | 8)
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM, 0, control)
    folders = [os.open(path, os.O_RDONLY) for path in config['mounts']]
    rights = struct.pack('=%di' % len(folders), *folders)
    connection.sendmsg([b'm'], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, rights)])
    connection.detach()


def read_job(control):
    """What send_job sent, from one copy of this Python to another; None at the end."""
    head = read_exactly(control, 4)
    body = head and read_exactly(control, struct.unpack('>I', head)[0])
    return marshal.loads(body) if body else None


def enter_program(config, handles, user=None):
    """In the child: gives up every right, waits for its job, then becomes the program. Never returns."""
    control = handles[4]
    try:
        _signal.set_wakeup_fd(-1)
        for number in (_signal.SIGCHLD, _signal.SIGTERM):
            _signal.signal(number, _signal.SIG_DFL)
        _signal.signal(_signal.SIGINT, _signal.default_int_handler)
        _signal.signal(_signal.SIGPIPE, _signal.SIG_IGN)
        control = os.dup2(control, 200, False)
        report = os.dup2(handles[3], 201, False)
        attach_streams(*handles[:3])
        if config['warm']:
            enter_namespaces(config, handles, control)
        close_descriptors({control, report})
        prctl(PR_SET_NO_NEW_PRIVS, 1)
        if config['isolated']:
            if user is not None:
                become_user(user)
                enter_user_namespace()
            drop_capabilities()
        prctl(PR_SET_DUMPABLE, 1)
        if config['isolated']:
            config['filter'].install()
        job = read_job(control)
        if job is None:
            os._exit(INFRA_CODE)  # the supervisor ended before a job came
        if job['kind'] == 'run':
            os.close(report)
        else:
            load_tests(config)
            if speaks_of_mocks(job):
                import unittest.mock
            null = os.open(os.devnull, os.O_WRONLY)
            attach_streams(0, null, null)
            os.close(null)
        folder = job['folder']
        os.environ['PWD'] = folder
        fill_folder(folder, job.pop('files'))
        set_limits(job['limits'])
        os.write(control, b'k')
        os.close(control)
    except BaseException as error:
        try:
            os.write(control, ('%s: %s' % (type(error).__name__, error)).encode())
        finally:
            os._exit(INFRA_CODE)
    if job['kind'] == 'run':
        run_program(folder, job['code'])
    else:
        run_tests(folder, job, job['plan'], report, bytes.fromhex(job.pop('key')))


def speaks_of_mocks(job):
    """unittest.mock brings asyncio with it: only where it is used it has to be there before the solution."""
    return any('mock' in (job.get(name) or '') for name in ('test', 'solution', 'codePrompt'))


def load_tests(config):
    """What runs tests takes long to load, and plain programs do not need it."""
    if 'run_tests' not in globals():
        exec(compile(config['tests'], '<tests>', 'exec'), globals())


class Direct:
    """Starts programs as children of this process, without namespaces of their own."""

    def __init__(self, config):
        self.config, self.base = config, private_bytes()
        self.children = Children()
        self.news = self.children.fd

    def take(self):
        start = Start()
        user = random.SystemRandom().randrange(*self.config['users']) if self.config['users'] else None
        start.pid = os.fork()
        if start.pid == 0:
            enter_program(self.config, start.theirs, user)
        start.let_go()
        return start

    def prepare(self):
        pass

    def status_of(self, start):
        """Its exit status; None while it runs."""
        return dict(self.children.ended()).get(start.pid)

    def end(self, start, running):
        """Ends all that is left. Gives the exit status of a program that was not running any more."""
        if not self.config['isolated']:
            kill_descendants()
        elif running:
            os.kill(start.pid, signal.SIGKILL)
            os.waitpid(start.pid, 0)
`;
