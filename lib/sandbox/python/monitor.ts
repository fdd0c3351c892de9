/** Python source, second part of the supervisor: watches one program from outside and ends it. */
export const MONITOR_SOURCE = String.raw`
PAGE = resource.getpagesize()
POLL_SECONDS = 0.025


class Watch:
    """Collects what a child process prints and stops at the first limit that it crosses."""

    def __init__(self, limits, mounts, ignored):
        self.limits, self.mounts, self.ignored = limits, mounts, ignored
        self.deadline = time.monotonic() + limits['timeoutMs'] / 1000
        self.base = 0
        self.exit_status = None
        self.reason = None
        self.child = None

    def memory_bytes(self):
        """Private memory of all processes in sight beyond what they were born with, and their temporary files."""
        total = 0
        for name in os.listdir('/proc'):
            if not name.isdigit() or int(name) in self.ignored:
                continue
            try:
                with open('/proc/%s/statm' % name) as handle:
                    fields = handle.read().split()
            except OSError:
                continue  # ended between the two looks
            total += max(0, (int(fields[1]) - int(fields[2])) * PAGE - self.base)
        for path in self.mounts:
            stats = os.statvfs(path)
            total += (stats.f_blocks - stats.f_bfree) * stats.f_frsize
        return total

    def reap(self):
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == self.child:
                self.exit_status = status

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

    def follow(self, child, streams, feed):
        """Until the child ends or a limit is crossed. feed: (fd, bytes) for its standard input."""
        self.child = child
        wake_read, wake_write = os.pipe()
        os.set_blocking(wake_read, False)
        os.set_blocking(wake_write, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
        for stream in streams:
            os.set_blocking(stream['fd'], False)
            stream['open'] = True
        feed_fd, feed_data = feed
        os.set_blocking(feed_fd, False)
        if not feed_data:
            os.close(feed_fd)
            feed_fd = None
        self.reap()
        next_look = time.monotonic()
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
            wanted = [stream['fd'] for stream in streams if stream['open']] + [wake_read]
            writers = [feed_fd] if feed_fd is not None else []
            ready, writable, _ = select.select(wanted, writers, [], max(0, min(self.deadline, next_look) - now))
            if wake_read in ready:
                try:
                    os.read(wake_read, 4096)
                except BlockingIOError:
                    pass
                self.reap()
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
        for stream in streams:
            while self.reason != 'output' and stream['open'] and self.take(stream):
                pass
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for handle in [wake_read, wake_write] + [stream['fd'] for stream in streams]:
            os.close(handle)
        if feed_fd is not None:
            os.close(feed_fd)

    def verdict(self):
        """(status, exit code) of a finished run."""
        if self.reason is not None:
            return self.reason, None
        if os.WIFEXITED(self.exit_status):
            code = os.WEXITSTATUS(self.exit_status)
            return ('ok' if code == 0 else 'error'), code
        number = os.WTERMSIG(self.exit_status)
        return {MEMORY_SIGNAL: 'memory', signal.SIGXCPU: 'timeout'}.get(number, 'error'), None


def private_bytes():
    with open('/proc/self/statm') as handle:
        fields = handle.read().split()
    return (int(fields[1]) - int(fields[2])) * PAGE


def stream(fd, cap):
    return {'fd': fd, 'cap': cap, 'data': bytearray()}
`;
