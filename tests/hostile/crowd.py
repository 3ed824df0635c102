"""An attacker without credentials: connections to a port of loopback that say nothing, or too little, and are kept open as long as the server lets them.

    crowd.py PORT [--many N] [--rate N] [--say nothing|noise|hello|half-hello|request|session] [--networks N] [--first N]

At most N are held at a time, those that the server closed being replaced, and at most `rate` are made in a second. Goes on until SIGTERM, and prints
"made N closed N" then: how many were made, and how many of them the server closed.
"""

import argparse
import resource
import select
import signal
import socket
import ssl
import sys
import time


def client_hello():
    """The first bytes of a TLS client."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.set_alpn_protocols(["binnacle/1"])
    out = ssl.MemoryBIO()
    try:
        context.wrap_bio(ssl.MemoryBIO(), out, server_hostname="localhost").do_handshake()
    except ssl.SSLWantReadError:
        pass
    return out.read()


def words(say):
    hello = client_hello()
    return {"nothing": b"", "noise": b"\x00" * 64, "hello": hello, "half-hello": hello[:40], "session": b"",
            "request": b"GET /livez HTTP/1.1\r\nHost: a\r\n"}[say]


GONE = select.EPOLLRDHUP | select.EPOLLHUP | select.EPOLLERR


class Crowd:
    def __init__(self, options):
        self.options = options
        self.words = words(options.say)
        self.held = {}
        self.shaking = set()  # of these, whose handshake goes on: one slow answer must not keep the others waiting
        self.poll = select.epoll()
        self.made = self.closed = 0
        self.over = False
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self.context.check_hostname, self.context.verify_mode = False, ssl.CERT_NONE

    def connect(self):
        one = socket.socket()
        # 127.0.1.66, 127.0.2.66, ...: each a /24 of its own. Network 0 is that of those who behave, who have 127.0.0.1.
        one.bind((f"127.0.{self.options.first + self.made % self.options.networks}.66", 0))
        one.settimeout(5)
        try:
            one.connect(("127.0.0.1", self.options.port))
            self.made += 1
            one.sendall(self.words)
            one.settimeout(0)
            if self.options.say == "session":
                one = self.context.wrap_socket(one, server_hostname="localhost", do_handshake_on_connect=False)
        except OSError:  # refused or reset: the server's right
            self.closed += 1
            one.close()
            return
        number = one.fileno()
        self.held[number] = one
        self.poll.register(number, GONE)
        if self.options.say == "session":
            self.shaking.add(number)
            self.shake(number)

    def shake(self, number):
        """A step of a handshake."""
        try:
            self.held[number].do_handshake()
        except ssl.SSLWantReadError:
            self.poll.modify(number, GONE | select.EPOLLIN)
            return
        except ssl.SSLWantWriteError:
            self.poll.modify(number, GONE | select.EPOLLOUT)
            return
        except OSError:
            self.let_go(number)
            return
        self.shaking.discard(number)
        self.poll.modify(number, GONE)

    def let_go(self, number):
        self.shaking.discard(number)
        self.poll.unregister(number)
        self.held.pop(number).close()
        self.closed += 1

    def look_at_events(self):
        for number, what in self.poll.poll(0):
            if what & GONE or number not in self.shaking:
                self.let_go(number)
            else:
                self.shake(number)

    def end(self, *_):
        self.over = True

    def run(self):
        began = time.monotonic()
        while not self.over:
            self.look_at_events()
            if len(self.held) >= self.options.many or self.made >= (time.monotonic() - began) * self.options.rate + 1:
                time.sleep(0.001)
                continue
            self.connect()
        self.look_at_events()
        print(f"made {self.made} closed {self.closed}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("port", type=int)
    parser.add_argument("--many", type=int, default=1000)
    parser.add_argument("--rate", type=float, default=500)
    parser.add_argument("--say", default="nothing", choices=["nothing", "noise", "hello", "half-hello", "request", "session"])
    parser.add_argument("--networks", type=int, default=1)
    parser.add_argument("--first", type=int, default=1, help="number of the first network")
    options = parser.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if hard < options.many + 50:
        sys.exit(f"crowd.py: {options.many} connections need more open files than the {hard} allowed here")
    crowd = Crowd(options)
    signal.signal(signal.SIGTERM, crowd.end)
    crowd.run()


if __name__ == "__main__":
    main()
