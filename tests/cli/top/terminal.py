"""A terminal for tests: a program in a pty, and what its screen shows (Debian's python3-pyte)."""

import contextlib
import fcntl
import os
import pty
import signal
import struct
import termios
import time

try:
    import pyte
except ImportError:
    pyte = None

WAIT = 60  # seconds: a busy machine is slow, not wrong


def missing():
    """Why these tests cannot run here; empty: they can."""
    return "" if pyte else "python3-pyte is missing: scripts/bootstrap installs it"


class Terminal:
    """`command` in a terminal of its own. Its type is one that pyte understands whole, with a mouse."""

    def __init__(self, command, width=80, height=24, environment=None, kind="screen-256color", locale="C.UTF-8"):
        self.screen = pyte.Screen(width, height)
        self.stream = pyte.ByteStream(self.screen)
        self.raw = b""
        self.status = None
        variables = {k: v for k, v in os.environ.items() if not k.startswith("LC_") and k not in ("NO_COLOR", "LANG")}
        variables.update(TERM=kind, LC_ALL=locale, **(environment or {}))
        self.process, self.fd = pty.fork()
        if self.process == 0:
            signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup ignores it, and a program inherits that
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
            os.execve(command[0], [str(word) for word in command], variables)
        os.set_blocking(self.fd, False)
        self.modes = None

    def close(self):
        if self.status is None:
            os.kill(self.process, signal.SIGKILL)
            os.waitpid(self.process, 0)
            self.status = -signal.SIGKILL
        os.close(self.fd)

    def read(self):
        """Takes what the program has written."""
        with contextlib.suppress(BlockingIOError, OSError):  # OSError: it has ended
            while True:
                data = os.read(self.fd, 1 << 16)
                if not data:
                    return
                self.raw += data
                self.stream.feed(data)

    def lines(self):
        self.read()
        return [line.rstrip() for line in self.screen.display]

    def text(self):
        return "\n".join(self.lines())

    def line(self, start):
        """The first line that begins with this; empty: none does."""
        return next((line for line in self.lines() if line.startswith(start)), "")

    def press(self, keys):
        os.write(self.fd, keys.encode() if isinstance(keys, str) else keys)

    def click(self, x, y):
        """X10's report of a press and a release, which screen's description of its mouse has."""
        place = bytes([33 + x, 33 + y])
        self.press(b"\x1b[M " + place + b"\x1b[M#" + place)

    def resize(self, width, height):
        self.screen.resize(height, width)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))

    def wait(self, what, ready):
        deadline = time.monotonic() + WAIT
        while time.monotonic() < deadline:
            self.read()
            value = ready()
            if value:
                return value
            time.sleep(0.02)
        raise AssertionError(f"waited {WAIT} s in vain for {what}; the screen shows:\n" + self.text())

    def wait_for(self, *texts):
        self.wait(" and ".join(map(repr, texts)), lambda: all(text in self.text() for text in texts))

    def ended(self):
        """The exit status, once there is one."""
        def over():
            self.read()
            if self.status is None:
                process, status = os.waitpid(self.process, os.WNOHANG)
                if process:
                    self.status = os.waitstatus_to_exitcode(status)
            return self.status is not None
        self.wait("the program's end", over)
        self.read()
        return self.status

    def settings(self):
        """termios(3) of the terminal, as the program has set it."""
        return termios.tcgetattr(self.fd)
