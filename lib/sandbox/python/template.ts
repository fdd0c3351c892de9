/**
 * Python source, ninth part of the supervisor: the process that is copied for each program.
 *
 * A warm sandbox has four kinds of process. The supervisor speaks to the outside and watches. An anchor, for each program,
 * holds its user and process namespaces and shares the supervisor's memory, so that it costs next to nothing. The template
 * has imported the packages and never sees a job, so that a copy of it holds nothing of other programs. Its copy, made
 * ahead of need, enters the anchor's namespaces, waits for its job and becomes the program: the only copy of memory there is.
 */
export const TEMPLATE_SOURCE = String.raw`
class Template:
    """The template as the supervisor sees it."""

    def __init__(self, config):
        self.config = config
        self.connection, far = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
        if os.fork() == 0:
            try:
                self.connection.close()
                serve_copies(config, far)
            finally:
                os._exit(1)
        far.close()
        self.news = self.connection.fileno()
        self.base = int(self.receive())
        self.anchors = Anchors()
        self.ended = {}
        self.spare = None
        self.prepare()

    def receive(self):
        told = self.connection.recv(1024)
        if not told:
            raise OSError('the process with the packages ended')
        return told.decode('utf-8', 'replace')

    def hear(self):
        kind, _, rest = self.receive().partition(' ')
        if kind == 'copy':
            self.spare.pid = int(rest)
        elif kind == 'end':
            pid, status = rest.split()
            self.ended[int(pid)] = int(status)
        else:
            raise OSError('no copy was made: ' + rest)

    def prepare(self):
        """Asks for a copy; take() waits for it."""
        start = Start()
        # Only now may the anchor's namespaces be opened: it shares this memory, which no program may ever read.
        prctl(PR_SET_DUMPABLE, 1)
        start.anchor = self.anchors.make()
        users, user, group = self.config['users'], os.geteuid(), os.getegid()
        if users:
            user = group = users[0] + 1 + int.from_bytes(os.urandom(8), 'big') % (users[1] - users[0] - 1)
        map_user(start.anchor, user, group, not users)
        start.theirs += [os.open('/proc/%d/ns/%s' % (start.anchor, kind), os.O_RDONLY) for kind in ('user', 'pid')]
        prctl(PR_SET_DUMPABLE, 0)
        rights = struct.pack('=%di' % len(start.theirs), *start.theirs)
        self.connection.sendmsg([b'c'], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, rights)])
        start.let_go()
        start.pid = None
        self.spare = start

    def take(self):
        while self.spare.pid is None:
            self.hear()
        start, self.spare = self.spare, None
        return start

    def status_of(self, start):
        """Its exit status; None while it runs."""
        self.hear()
        return self.ended.get(start.pid)

    def end(self, start, running):
        """Ends all processes of the program's namespace and waits for them."""
        os.kill(start.anchor, signal.SIGKILL)
        os.waitpid(start.anchor, 0)
        while start.pid not in self.ended:
            self.hear()
        del self.ended[start.pid]


# What these do in a child of os.fork: new locks, where nobody holds one, and a seed, which copies get here.
FORK_AWARE = ('threading', 'random', 'logging', 'concurrent.futures.thread', 'asyncio.events')


def is_known(hook):
    return getattr(hook, '__module__', None) in FORK_AWARE or isinstance(getattr(hook, '__self__', None), type(threading.Lock()))


def preload_watched(config):
    """Imports; True when a module wants to be told of forks that this file knows nothing of."""
    strangers, register = [], os.register_at_fork

    def watched(**hooks):
        strangers.extend(hook for hook in hooks.values() if not is_known(hook))
        register(**hooks)

    os.register_at_fork = watched
    try:
        preload(config)
    finally:
        os.register_at_fork = register
    return bool(strangers)


def make_copier(needs_hooks):
    """os.fork, without the hooks that touch many pages of memory for nothing in a process with one thread."""
    if needs_hooks or threading.active_count() > 1:
        return os.fork
    # PyDLL: the lock of the interpreter stays held, and so is held in the copy. What C libraries do at a fork happens.
    fork = ctypes.PyDLL(None, use_errno=True).fork

    def copy():
        pid = fork()
        if pid < 0:
            raise OSError(ctypes.get_errno(), 'fork')
        if pid == 0:
            random.seed()
        return pid

    return copy


def serve_copies(config, connection):
    """In the template."""
    copy = make_copier(preload_watched(config))
    children = Children()
    gc.collect()
    gc.freeze()
    connection.send(b'%d' % private_bytes())
    while True:
        ready, _, _ = select.select([connection, children.fd], [], [])
        if children.fd in ready:
            for pid, status in children.ended():
                connection.send(b'end %d %d' % (pid, status))
        if connection not in ready:
            continue
        request, messages, _, _ = connection.recvmsg(1, _socket.CMSG_SPACE(64))
        if not request:
            os._exit(0)
        data = messages[0][2]
        handles = struct.unpack('=%di' % (len(data) // 4), data)
        try:
            set_namespace(handles[6])  # of the children to come, not of this process
            pid = copy()
            if pid == 0:
                enter_program(config, handles)
            connection.send(b'copy %d' % pid)
        except BaseException as error:
            connection.send(('error %s: %s' % (type(error).__name__, error)).encode()[:1000])
        for handle in handles:
            os.close(handle)
`;
