"""An attacker without credentials: connections to a port of loopback that say nothing, or too little, and are kept open as long as the server lets them.

    crowd.py PORT [--many N] [--rate N] [--say nothing|noise|hello|half-hello|long-hello|request|session|drip-head|drip-body|large-body|pipeline|deaf|stuff|sip] [--tls]
        [--path PATH] [--cert FILE --key FILE] [--networks N] [--first N]

At most N are held at a time, those that the server closed being replaced, and at most `rate` are made in a second. Whoever drips sends another byte every
1.5 s. Whoever pipelines sends request after request, and throws the answers away. The deaf ask for PATH and never read an answer;
who stuffs does so until nobody takes another request; who sips takes a byte every
1.5 s. With --tls what is said comes after a handshake, with --cert after one that shows a certificate. Goes on until SIGTERM.
Prints "made N closed N" each second and at the end: how many were made, and how many of them the server closed.
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


def long_hello():
    """64 KiB whose 6,500 key shares OpenSSL would look for among 16,300 groups (RFC 8446 4.2.7, 4.2.8), in records of 16 KiB."""
    number = lambda value: value.to_bytes(2, "big")  # noqa: E731  (one word for many calls)
    behind_its_size = lambda text: number(len(text)) + text  # noqa: E731
    groups = b"\x99\x99" * 16_300 + b"\x10\x00\x00\x1d"
    shares = (b"\x10\x00" + behind_its_size(b"a")) * 6_500
    extensions = {10: behind_its_size(groups), 13: behind_its_size(b"\x04\x03"), 43: b"\x02\x03\x04", 51: behind_its_size(shares)}
    body = b"\x03\x03" + bytes(32) + b"\0" + behind_its_size(b"\x13\x01") + b"\1\0"
    body += behind_its_size(b"".join(number(which) + behind_its_size(text) for which, text in extensions.items()))
    hello = b"\1" + len(body).to_bytes(3, "big") + body
    return b"".join(b"\x16\x03\x01" + behind_its_size(hello[at : at + 16384]) for at in range(0, len(hello), 16384))


def words(say, path):
    hello = client_hello()
    # Again and again: where only so many lists are made at a time, the next may be.
    ask = f"GET {path} HTTP/1.1\r\nHost: a\r\n\r\n".encode() * 50
    begun = b"GET /livez HTTP/1.1\r\nHost: a\r\n"
    announced = begun + b"Content-Length: 1000000\r\n\r\n"
    return {"nothing": b"", "noise": b"\x00" * 64, "hello": hello, "half-hello": hello[:40], "long-hello": long_hello(), "session": b"", "request": begun,
            "drip-head": begun + b"X: ", "drip-body": announced, "large-body": announced + b"x" * 990_000,
            "pipeline": (begun + b"\r\n") * 2000, "deaf": ask, "stuff": ask * 400, "sip": ask}[say]


GONE = select.EPOLLRDHUP | select.EPOLLHUP | select.EPOLLERR
DRIP_EVERY = 1.5


class Crowd:
    def __init__(self, options):
        self.options = options
        self.words = words(options.say, options.path)
        self.pipelines = options.say == "pipeline"
        self.held = {}
        self.shaking = set()  # of these, whose handshake goes on: one slow answer must not keep the others waiting
        self.unsaid = {}  # of these, what the socket did not take yet
        self.next_drip = self.next_report = time.monotonic()
        self.poll = select.epoll()
        self.made = self.closed = 0
        self.over = False
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self.context.check_hostname, self.context.verify_mode = False, ssl.CERT_NONE
        if options.cert:
            self.context.load_cert_chain(options.cert, options.key)

    def connect(self):
        one = socket.socket()
        if self.options.say in ("deaf", "stuff", "sip"):
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        # 127.0.1.66, 127.0.2.66, ...: each a /24 of its own. Network 0 is that of those who behave, who have 127.0.0.1.
        one.bind((f"127.0.{self.options.first + self.made % self.options.networks}.66", 0))
        one.settimeout(5)
        try:
            one.connect(("127.0.0.1", self.options.port))
            self.made += 1
            one.settimeout(0)
            if self.options.tls:
                one = self.context.wrap_socket(one, server_hostname="localhost", do_handshake_on_connect=False)
        except OSError:  # refused or reset: the server's right
            self.closed += 1
            one.close()
            return
        number = one.fileno()
        self.held[number] = one
        self.poll.register(number, GONE)
        if self.options.tls:
            self.shaking.add(number)
            self.shake(number)
        else:
            self.say(number, self.words)

    def say(self, number, what):
        try:
            sent = self.held[number].send(what) if what else 0
        except (BlockingIOError, ssl.SSLWantWriteError, ssl.SSLWantReadError):
            sent = 0
        except OSError:
            self.let_go(number)
            return
        rest = what[sent:] or (self.words if self.pipelines else b"")
        if rest:
            self.unsaid[number] = rest
        else:
            self.unsaid.pop(number, None)
        self.poll.modify(number, GONE | (select.EPOLLOUT if rest else 0) | (select.EPOLLIN if self.pipelines else 0))

    def hear(self, number):
        """Reads what has come, and forgets it."""
        try:
            while self.held[number].recv(1 << 16):
                pass
        except (BlockingIOError, ssl.SSLWantReadError):
            return
        except OSError:
            pass
        self.let_go(number)

    def drip(self):
        if time.monotonic() < self.next_drip:
            return
        self.next_drip = time.monotonic() + DRIP_EVERY
        for number in list(self.held):
            if number in self.shaking or number in self.unsaid:
                continue
            if self.options.say.startswith("drip"):
                self.say(number, b"x")
            elif self.options.say == "sip":
                self.sip(number)

    def sip(self, number):
        try:
            self.held[number].recv(1)
        except (BlockingIOError, ssl.SSLWantReadError):
            pass
        except OSError:
            self.let_go(number)

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
        self.say(number, self.words)

    def let_go(self, number):
        self.shaking.discard(number)
        self.unsaid.pop(number, None)
        self.poll.unregister(number)
        self.held.pop(number).close()
        self.closed += 1

    def look_at_events(self):
        for number, what in self.poll.poll(0):
            if number not in self.held:
                continue
            if number in self.shaking and not what & GONE:
                self.shake(number)
            elif what & GONE:
                self.let_go(number)
            else:
                if what & select.EPOLLIN:
                    self.hear(number)
                if what & select.EPOLLOUT and number in self.held:
                    self.say(number, self.unsaid[number])

    def end(self, *_):
        self.over = True

    def run(self):
        began = time.monotonic()
        while not self.over:
            self.look_at_events()
            self.drip()
            if time.monotonic() >= self.next_report:
                self.next_report += 1
                self.report()
            if len(self.held) >= self.options.many or self.made >= (time.monotonic() - began) * self.options.rate + 1:
                time.sleep(0.001)
                continue
            self.connect()
        self.look_at_events()
        self.report()

    def report(self):
        print(f"made {self.made} closed {self.closed}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("port", type=int)
    parser.add_argument("--many", type=int, default=1000)
    parser.add_argument("--rate", type=float, default=500)
    parser.add_argument("--say", default="nothing", choices=["nothing", "noise", "hello", "half-hello", "long-hello", "request", "session", "drip-head", "drip-body", "large-body", "pipeline", "deaf", "stuff", "sip"])
    parser.add_argument("--tls", action="store_true")
    parser.add_argument("--path", default="/metrics")
    parser.add_argument("--cert")
    parser.add_argument("--key")
    parser.add_argument("--networks", type=int, default=1)
    parser.add_argument("--first", type=int, default=1, help="number of the first network")
    options = parser.parse_args()
    options.tls = options.tls or options.say == "session" or options.cert is not None
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if hard < options.many + 50:
        sys.exit(f"crowd.py: {options.many} connections need more open files than the {hard} allowed here")
    crowd = Crowd(options)
    signal.signal(signal.SIGTERM, crowd.end)
    crowd.run()


if __name__ == "__main__":
    main()
