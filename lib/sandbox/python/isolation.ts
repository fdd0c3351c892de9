/**
 * Python source, first part of the supervisor: limits, system-call filter and namespaces of one program.
 *
 * It is kept as text, not as a file, so that the sandbox needs nothing from the host's disk. Works on Python 3.8 and later.
 */
export const ISOLATION_SOURCE = String.raw`
# _signal is signal without the enums, whose making took longer than all else in a supervisor.
import _signal, _socket, ctypes, errno, json, os, resource, select, signal, struct, sys, time

LIBC = ctypes.CDLL(None, use_errno=True)
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 4, 22, 36, 38
NEW_NS, NEW_CGROUP, NEW_UTS, NEW_IPC, NEW_USER, NEW_PID, NEW_NET = (
    0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000)
CLONE_VM, CLONE_FILES = 0x100, 0x400
NEW_ANY = NEW_NS | NEW_CGROUP | NEW_UTS | NEW_IPC | NEW_USER | NEW_PID | NEW_NET
INSIDE_ID = 1000
MEMORY_SIGNAL = 63  # a real-time signal that says: the program ended with an uncaught MemoryError


def end_for_memory():
    os.kill(os.getpid(), MEMORY_SIGNAL)


def prctl(option, *values):
    words = [ctypes.c_ulong(value) for value in values] + [ctypes.c_ulong(0)] * (4 - len(values))
    if LIBC.prctl(ctypes.c_int(option), *words) != 0:
        code = ctypes.get_errno()
        raise OSError(code, 'prctl %d: %s' % (option, os.strerror(code)))


# (x86_64, aarch64) numbers of the calls that a program has no business with; None = not on that machine.
# memfd_create, shmget, msgget and mq_open make memory that no limit counts.
DENIED_CALLS = {
    'mount': (165, 40), 'umount2': (166, 39), 'pivot_root': (155, 41), 'chroot': (161, 51), 'ptrace': (101, 117),
    'process_vm_readv': (310, 270), 'process_vm_writev': (311, 271), 'add_key': (248, 217),
    'request_key': (249, 218), 'keyctl': (250, 219), 'bpf': (321, 280), 'perf_event_open': (298, 241),
    'userfaultfd': (323, 282), 'io_uring_setup': (425, 425), 'io_uring_enter': (426, 426),
    'io_uring_register': (427, 427), 'unshare': (272, 97), 'setns': (308, 268), 'kexec_load': (246, 104),
    'init_module': (175, 105), 'finit_module': (313, 273), 'delete_module': (176, 106), 'shmget': (29, 194),
    'memfd_create': (319, 279), 'memfd_secret': (447, 447), 'open_by_handle_at': (304, 265),
    'name_to_handle_at': (303, 264), 'move_mount': (429, 429), 'open_tree': (428, 428), 'fsopen': (430, 430),
    'fsconfig': (431, 431), 'fsmount': (432, 432), 'fspick': (433, 433), 'mount_setattr': (442, 442),
    'swapon': (167, 224), 'swapoff': (168, 225), 'reboot': (169, 142), 'acct': (163, 89), 'quotactl': (179, 60),
    'syslog': (103, 116), 'personality': (135, 92), 'process_madvise': (440, 440), 'pidfd_getfd': (438, 438),
    'kcmp': (312, 272), 'msgget': (68, 186), 'mq_open': (240, 180),
}
MACHINES = {'x86_64': (0xC000003E, 0, 56, 435), 'aarch64': (0xC00000B7, 1, 220, 435)}


def filter_program(machine):
    """The BPF program as (code, jump if true, jump if false, value) rows."""
    arch, column, clone, clone3 = MACHINES[machine]
    load = lambda offset: (0x20, 0, 0, offset)
    give = lambda value: (0x06, 0, 0, value)
    allow, refuse, unknown = give(0x7FFF0000), give(0x00050000 | errno.EPERM), give(0x00050000 | errno.ENOSYS)
    rows = [load(4), (0x15, 1, 0, arch), refuse, load(0)]
    if machine == 'x86_64':
        rows += [(0x35, 0, 1, 0x40000000), refuse]
    for numbers in DENIED_CALLS.values():
        rows += [(0x15, 0, 1, numbers[column]), refuse]
    # clone3 hides its flags in memory: with ENOSYS the C library takes clone, whose flags can be read here.
    rows += [(0x15, 0, 1, clone3), unknown]
    rows += [(0x15, 0, 3, clone), load(16), (0x45, 0, 1, NEW_ANY), refuse, allow]
    return rows


class FilterProgram(ctypes.Structure):
    _fields_ = [('length', ctypes.c_ushort), ('rows', ctypes.c_void_p)]


class SystemCallFilter:
    """Built once, before any program is there; installed in each."""

    def __init__(self):
        machine = os.uname().machine
        if machine not in MACHINES:
            raise OSError(errno.ENOSYS, 'no system-call filter for ' + machine)
        rows = filter_program(machine)
        packed = b''.join(struct.pack('=HBBI', *row) for row in rows)
        self.buffer = ctypes.create_string_buffer(packed, len(packed))
        self.program = FilterProgram(len(rows), ctypes.cast(self.buffer, ctypes.c_void_p))

    def install(self):
        prctl(PR_SET_SECCOMP, 2, ctypes.addressof(self.program))


def drop_capabilities(keep=()):
    """Only the numbers in keep stay; the rest is gone for good (no_new_privs is set)."""
    mask = 0
    for number in keep:
        mask |= 1 << number
    low, high = mask & 0xFFFFFFFF, mask >> 32
    header = struct.pack('=II', 0x20080522, 0)
    data = struct.pack('=6I', low, low, 0, high, high, 0)
    if LIBC.capset(header, data) != 0:
        code = ctypes.get_errno()
        raise OSError(code, 'capset: ' + os.strerror(code))


def unshare(flags):
    if LIBC.unshare(ctypes.c_int(flags)) != 0:
        code = ctypes.get_errno()
        raise OSError(code, 'unshare: ' + os.strerror(code))


def mount(source, target, kind, flags, data=''):
    if LIBC.mount(source.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags), data.encode()) != 0:
        code = ctypes.get_errno()
        raise OSError(code, 'mount %s: %s' % (target, os.strerror(code)))


def write_file(path, text):
    handle = os.open(path, os.O_WRONLY)
    try:
        os.write(handle, text.encode())
    finally:
        os.close(handle)


def become_user(number):
    """To a user id that nobody uses. From root, every capability goes with it."""
    os.setgroups([])
    os.setresgid(number, number, number)
    os.setresuid(number, number, number)
    # A change of user id makes /proc/self unreadable for the process itself.
    prctl(PR_SET_DUMPABLE, 1)


def map_user(process, user, group, deny):
    """Inside its user namespace the process is INSIDE_ID, outside it is the user."""
    if deny:
        write_file('/proc/%s/setgroups' % process, 'deny')
    write_file('/proc/%s/gid_map' % process, '%d %d 1' % (INSIDE_ID, group))
    write_file('/proc/%s/uid_map' % process, '%d %d 1' % (INSIDE_ID, user))


def enter_user_namespace():
    user, group = os.geteuid(), os.getegid()
    unshare(NEW_USER)
    map_user('self', user, group, True)


def set_namespace(handle):
    if LIBC.setns(ctypes.c_int(handle), ctypes.c_int(0)) != 0:
        code = ctypes.get_errno()
        raise OSError(code, 'setns: ' + os.strerror(code))


class Anchors:
    """Makes first processes of new user and process namespaces: they share the memory and descriptors of this one and only wait.

    When one is killed, the kernel ends all processes of its namespace.
    """

    def __init__(self, size=16384):
        self.signals = _signal.valid_signals()
        self.stack = ctypes.create_string_buffer(size)
        top = (ctypes.addressof(self.stack) + size - 256) & ~63
        # All of them write the same few words to the stack, and none ever returns.
        self.arguments = (ctypes.cast(LIBC.pause, ctypes.c_void_p), ctypes.c_void_p(top),
                          ctypes.c_int(CLONE_VM | CLONE_FILES | NEW_USER | NEW_PID | signal.SIGCHLD), ctypes.c_void_p(None))

    def make(self):
        before = _signal.pthread_sigmask(_signal.SIG_SETMASK, self.signals)
        # Ignored there, so that orphans are gone at their end; a handler would run in this memory.
        handler = _signal.signal(_signal.SIGCHLD, _signal.SIG_IGN)
        try:
            pid = LIBC.clone(*self.arguments)
            code = ctypes.get_errno()
        finally:
            _signal.signal(_signal.SIGCHLD, handler)
            _signal.pthread_sigmask(_signal.SIG_SETMASK, before)
        if pid < 0:
            raise OSError(code, 'clone: ' + os.strerror(code))
        return pid


def leave_rights_outside(users):
    """Moves this process to a user namespace of its own: what rights it needs, it has only in there."""
    if not users:
        enter_user_namespace()
        return
    low, high = users
    helper_read, helper_write = os.pipe()
    helper = os.fork()
    if helper == 0:
        # Stays outside, where the right to map other users is.
        status = 1
        try:
            if os.read(helper_read, 1) == b'g':
                for name in ('gid_map', 'uid_map'):
                    write_file('/proc/%d/%s' % (os.getppid(), name), '%d %d %d' % (low, low, high - low))
                status = 0
        finally:
            os._exit(status)
    unshare(NEW_USER)
    os.write(helper_write, b'g')
    if os.waitpid(helper, 0)[1] != 0:
        raise OSError(errno.EPERM, 'the users of the sandbox could not be mapped')
    for handle in (helper_read, helper_write):
        os.close(handle)
    become_user(low)


def lower(kind, value):
    hard = resource.getrlimit(kind)[1]
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(kind, (value, value))


def own_address_space():
    """Bytes of address space that this process has mapped."""
    with open('/proc/self/statm') as handle:
        return int(handle.read().split()[0]) * resource.getpagesize()


def set_limits(limits):
    lower(resource.RLIMIT_CORE, 0)
    lower(resource.RLIMIT_FSIZE, limits['fileBytes'])
    lower(resource.RLIMIT_NOFILE, 256)
    lower(resource.RLIMIT_MEMLOCK, 1 << 20)
    lower(resource.RLIMIT_MSGQUEUE, 0)
    lower(resource.RLIMIT_CPU, limits['timeoutMs'] // 1000 + 2)
    if limits.get('processes'):
        lower(resource.RLIMIT_NPROC, limits['processes'])
    # What the interpreter has mapped already is not the program's.
    lower(resource.RLIMIT_AS, own_address_space() + limits['memoryMb'] * 1048576)


def close_range(first, last):
    if LIBC.syscall(ctypes.c_long(436), ctypes.c_uint(first), ctypes.c_uint(last), ctypes.c_uint(0)) != 0:
        raise OSError(ctypes.get_errno(), 'close_range')


def close_descriptors(keep):
    """All above 2 but those in keep."""
    edges = [2] + sorted(keep) + [1 << 32]
    try:
        for low, high in zip(edges, edges[1:]):
            if high - low > 1:
                close_range(low + 1, high - 1)
        return
    except OSError:
        pass  # before Linux 5.9, or refused by an older container engine
    for name in os.listdir('/proc/self/fd'):
        if int(name) > 2 and int(name) not in keep:
            try:
                os.close(int(name))
            except OSError:
                pass  # the descriptor of the listing itself
`;
