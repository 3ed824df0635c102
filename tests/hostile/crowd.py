"""An attacker without credentials: connections to a port of loopback that say nothing, or too little, and are kept open as long as the server lets them.

    crowd.py PORT [--many N] [--rate N] [--seconds S] [--say nothing|noise|hello|half-hello|request|session] [--networks N] [--first N]

At most N are held at a time, those that the server closed being replaced, and at most `rate` are made in a second. Prints "made N closed N": how many
were made, and how many of them the server closed. It says "full" first, as soon as N are, or were, held.
"""

import argparse
import resource
import select
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
            "request": b"POST /scheduler/filter HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nx"}[say]


class Crowd:
    def __init__(self, options):
        self.options = options
        self.words = words(options.say)
        self.held = {}
        self.poll = select.poll()
        self.made = self.closed = 0
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self.context.check_hostname, self.context.verify_mode = False, ssl.CERT_NONE

    def connect(self):
        one = socket.socket()
        # 127.0.1.1, 127.0.2.1, ...: each a /24 of its own. Network 0 has the address of those who behave.
        one.bind((f"127.0.{self.options.first + self.made % self.options.networks}.1", 0))
        one.settimeout(5)
        try:
            one.connect(("127.0.0.1", self.options.port))
            self.made += 1
            if self.options.say == "session":
                one = self.context.wrap_socket(one, server_hostname="localhost")
            one.sendall(self.words)
        except OSError:  # refused or reset: the server's right
            self.closed += 1
            one.close()
            return
        one.settimeout(0)
        self.held[one.fileno()] = one
        self.poll.register(one, select.POLLRDHUP | select.POLLHUP | select.POLLERR)

    def let_go_of_closed(self):
        for number, _ in self.poll.poll(0):
            self.poll.unregister(number)
            self.held.pop(number).close()
            self.closed += 1

    def run(self):
        began = time.monotonic()
        full = False
        while (now := time.monotonic()) < began + self.options.seconds:
            self.let_go_of_closed()
            if not full and self.made >= self.options.many:
                full = True
                print("full", flush=True)
            if len(self.held) >= self.options.many or self.made >= (now - began) * self.options.rate + 1:
                time.sleep(0.001)
                continue
            self.connect()
        self.let_go_of_closed()
        print(f"made {self.made} closed {self.closed}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("port", type=int)
    parser.add_argument("--many", type=int, default=1000)
    parser.add_argument("--rate", type=float, default=1e6)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--say", default="nothing", choices=["nothing", "noise", "hello", "half-hello", "request", "session"])
    parser.add_argument("--networks", type=int, default=1)
    parser.add_argument("--first", type=int, default=1, help="number of the first network")
    options = parser.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if hard < options.many + 50:
        sys.exit(f"crowd.py: {options.many} connections need more open files than the {hard} allowed here")
    Crowd(options).run()


if __name__ == "__main__":
    main()
