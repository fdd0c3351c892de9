/** Python source, second part of the supervisor: watches one program from outside and ends it. */
export const MONITOR_SOURCE = String.raw`
FILE_OVERHEAD = 4096
PAGE = resource.getpagesize()
POLL_SECONDS = 0.025
SHARED_BYTES = 64 << 20  # below it, what a process shares is libraries


def descendants():
    """Processes below this one, whatever session they put themselves in; for use without a process namespace."""
    parents = {}
    for name in os.listdir('/proc'):
        if name.isdigit():
            try:
                with open('/proc/%s/stat' % name) as handle:
                    parents[int(name)] = int(handle.read().rpartition(')')[2].split()[1])
            except OSError:
                continue  # ended between the two looks
    found, wanted = set(), {os.getpid()}
    while wanted:
        wanted = {pid for pid, parent in parents.items() if parent in wanted} - found
        found |= wanted
    return found


def kill_descendants():
    """Orphans come back to this process (it is their subreaper), so that repeating finds them all."""
    while True:
        found = descendants()
        for pid in found:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        try:
            while os.waitpid(-1, os.WNOHANG)[0] != 0:
                pass
        except ChildProcessError:
            if not descendants():
                return
        time.sleep(0.001)


def shared_memory(name):
    """This process's part of shared memory that no file backs."""
    for path, field in (('smaps_rollup', 'Pss_Shmem:'), ('status', 'RssShmem:')):
        try:
            with open('/proc/%s/%s' % (name, path)) as handle:
                for line in handle:
                    if line.startswith(field):
                        return int(line.split()[1]) * 1024
        except OSError:
            continue  # not ours to read, or ended
    return 0


class Children:
    """What became of the children of this process; fd becomes readable when there may be news."""

    def __init__(self):
        self.fd, wake = os.pipe()
        os.set_blocking(self.fd, False)
        os.set_blocking(wake, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)

    def ended(self):
        """[(process id, exit status)] since the last time."""
        try:
            os.read(self.fd, 4096)
        except BlockingIOError:
            pass
        found = []
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return found
            if pid == 0:
                return found
            found.append((pid, status))


def out_of_memory_kills():
    """Processes that the kernel killed because the group of this one, where it shows, used all its memory."""
    try:
        with open('/sys/fs/cgroup/memory.events') as handle:
            return sum(int(line.split()[1]) for line in handle if line.startswith('oom_kill '))
    except OSError:
        return 0  # no such group in sight


class Watch:
    """Collects what a child process prints and stops at the first limit that it crosses."""

    def __init__(self, limits, mounts, isolated, base):
        """mounts: gives the temporary folders, as paths or descriptors; base: private bytes of a new-born program."""
        self.limits, self.mounts, self.isolated, self.base = limits, mounts, isolated, base
        self.deadline = time.monotonic() + limits['timeoutMs'] / 1000
        self.exit_status = None
        self.reason = None
        self.kills = out_of_memory_kills()
        self.ours = {1}  # no processes of the program

    def memory_bytes(self):
        """Private memory of all processes in sight beyond what they were born with, and their temporary files."""
        total = 0
        if self.isolated:
            processes = [name for name in os.listdir('/proc') if name.isdigit() and int(name) not in self.ours]
        else:
            processes = descendants()
        for name in processes:
            try:
                with open('/proc/%s/statm' % name) as handle:
                    fields = handle.read().split()
            except OSError:
                continue  # ended between the two looks
            total += max(0, (int(fields[1]) - int(fields[2])) * PAGE - self.base)
            if int(fields[2]) * PAGE > SHARED_BYTES:
                total += shared_memory(name)
        for path in self.mounts():
            stats = os.statvfs(path)
            total += (stats.f_blocks - stats.f_bfree) * stats.f_frsize
            # Even an empty file takes memory; where the limit on their number is not ours it is the host's memory.
            total += (stats.f_files - stats.f_ffree) * FILE_OVERHEAD
        return total

    def take(self, stream):
        """Reads once; False at the end of the stream or when nothing is there."""
        try:
            chunk = os.read(stream['fd'], 65536)
        except BlockingIOError:
            return False
        if not chunk:
            stream['open'] = False
            return False
        room = stream['cap'] - len(stream['data'])
        stream['data'] += chunk[:room]
        if len(chunk) > room:
            self.reason = 'output'
            return False
        return True

    def follow(self, streams, feed, news, hear):
        """Until the program ends or a limit is crossed.

        feed: (fd, bytes) for its standard input; news: a descriptor, and hear() reads from it what may be the end.
        """
        for stream in streams:
            os.set_blocking(stream['fd'], False)
            stream['open'] = True
        feed_fd, feed_data = feed[0], memoryview(feed[1])
        os.set_blocking(feed_fd, False)
        if not feed_data:
            os.close(feed_fd)
            feed_fd = None
        next_look = time.monotonic() + POLL_SECONDS
        while self.exit_status is None and self.reason is None:
            now = time.monotonic()
            if now >= self.deadline:
                self.reason = 'timeout'
                break
            if now >= next_look:
                if self.memory_bytes() > self.limits['memoryMb'] * 1048576:
                    self.reason = 'memory'
                    break
                next_look = now + POLL_SECONDS
            wanted = [stream['fd'] for stream in streams if stream['open']] + [news]
            writers = [feed_fd] if feed_fd is not None else []
            ready, writable, _ = select.select(wanted, writers, [], max(0, min(self.deadline, next_look) - now))
            if news in ready:
                hear()
            for stream in streams:
                if stream['fd'] in ready:
                    self.take(stream)
            if writable:
                try:
                    feed_data = feed_data[os.write(feed_fd, feed_data[:65536]):]
                except OSError:
                    feed_data = b''  # the program closed its standard input
                if not feed_data:
                    os.close(feed_fd)
                    feed_fd = None
        if feed_fd is not None:
            os.close(feed_fd)

    def finish(self, streams):
        """Reads what is left, when nobody writes any more."""
        for stream in streams:
            while self.reason != 'output' and stream['open'] and self.take(stream):
                pass
            os.close(stream['fd'])

    def verdict(self):
        """(status, exit code) of a finished run."""
        if self.reason is not None:
            return self.reason, None
        if os.WIFEXITED(self.exit_status):
            code = os.WEXITSTATUS(self.exit_status)
            return ('ok' if code == 0 else 'error'), code
        number = os.WTERMSIG(self.exit_status)
        if number == signal.SIGKILL and out_of_memory_kills() > self.kills:
            return 'memory', None
        return {MEMORY_SIGNAL: 'memory', signal.SIGXCPU: 'timeout'}.get(number, 'error'), None


def private_bytes():
    with open('/proc/self/statm') as handle:
        fields = handle.read().split()
    return (int(fields[1]) - int(fields[2])) * PAGE


def stream(fd, cap):
    return {'fd': fd, 'cap': cap, 'data': bytearray()}
`;
