"""Requests of HTTP that two readers may understand differently.

Run by meson (suite hostile), or by hand: python3 tests/hostile/requests_test.py --build build [TestName]
"""

import functools
import json
import re
import socket
import ssl

from attacked import PATIENCE, Hostile
from trial import pod, run_tests


class OddRequests(Hostile):
    """Requests that two readers may understand differently. The last one on each connection asks to close it: if a body was taken for a request, or a request for
    a body, there is an answer more or less."""

    LAST = b"GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
    CHUNKED = b"Transfer-Encoding: chunked\r\n"

    @staticmethod
    def request(line=b"GET /livez HTTP/1.1", head=b""):
        return line + b"\r\nHost: a\r\n" + head + b"\r\n"

    @staticmethod
    def said(connection, what):
        """All that the server says until it closes."""
        out = b""
        with connection:
            try:
                connection.sendall(what)
                while piece := connection.recv(1 << 16):
                    out += piece
            except ConnectionResetError:  # it did not read all of what was sent
                pass
        return out

    def expect(self, connect, last, answers, requests):
        """Each request, on a connection of its own with `last` behind it, is answered so."""
        for request in requests:
            said = self.said(connect(), request + last)
            self.assertEqual([int(status) for status in re.findall(rb"HTTP/1\.1 (\d+) ", said)], answers, request[:300])

    def plain(self):
        return socket.create_connection(("127.0.0.1", self.trial.ports["health"]), timeout=PATIENCE)

    def scheduler(self):
        context = ssl.create_default_context(cafile=str(self.trial.pki / "server-ca.crt"))
        context.load_cert_chain(self.trial.pki / "client-scheduler.crt", self.trial.pki / "client-scheduler.key")
        return context.wrap_socket(socket.create_connection(("127.0.0.1", self.trial.ports["extender"]), timeout=PATIENCE), server_hostname="localhost")

    def test_a_request_without_a_body_is_answered_once_or_refused_and_the_connection_closed(self):
        self.trial.start_aggregator()
        get, chunked, inner = self.request, self.CHUNKED, self.LAST  # `inner`: in a body, where nobody may answer it
        expect = functools.partial(self.expect, self.plain, self.LAST)
        expect([200, 200], [
            get(b"HEAD /livez HTTP/1.1"), get(b"GET http://elsewhere/livez HTTP/1.1"), get(head=b"Content-Length: 0\r\n"), get(head=b"Content-Length: 0, 0\r\n"),
            get(head=b"X: a\r\n folded\r\n"), get(b"GET /livez HTTP/1.0", b"Connection: keep-alive\r\n"), get(head=b"Connection: Upgrade\r\nUpgrade: websocket\r\n"),
            get(head=b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n")])
        expect([404, 200], [get(b"HEAD /nothing HTTP/1.1"), get(b"GET /nothing/../livez HTTP/1.1"), get(b"GET //livez HTTP/1.1"), get(b"GET /livez%2f HTTP/1.1")])
        expect([405, 200], [get(method + b" /livez HTTP/1.1") for method in (b"OPTIONS", b"TRACE", b"DELETE", b"POST", b"get", b"X" * 3000)])
        # A body is not read: what comes behind the request is no request.
        expect([200], [
            get(head=b"Content-Length: %d\r\n" % len(inner)) + inner, get(head=chunked) + b"%x\r\n" % len(inner) + inner + b"\r\n0\r\n\r\n",
            get(head=b"Transfer-Encoding:\r\n chunked\r\n") + b"0\r\n\r\n", get(head=b"Expect: 100-continue\r\nContent-Length: 5\r\n"),
            get(b"GET /livez HTTP/1.0"), get(head=b"Connection: x, Close\r\n")])
        expect([405], [get(b"POST /livez HTTP/1.1", b"Content-Length: %d\r\n" % len(inner)) + inner])
        expect([400], [
            get(b"OPTIONS * HTTP/1.1"), get(b"CONNECT a:443 HTTP/1.1"), get(b"GET a:80 HTTP/1.1"), get(b"GET /livez"), get(b"GET\t/livez HTTP/1.1"),
            get(b"GET  /livez HTTP/1.1"), get(b"GET /li\rvez HTTP/1.1"), get(b"GET /livez%00 HTTP/1.1"), b"\r\n" + get(), b"\n" + get()])
        expect([400], [get(head=line + b"\r\n") for line in (
            b"Host: a", b"host: b",
            b": x", b"xyz", b"X: a\nY: b", b"X: a\rY: b", b"X: a\0b", b"Content-Length : 0", b"Transfer-Encoding : chunked",
            b"Content-Length: 3\r\nTransfer-Encoding: chunked", b"Transfer-Encoding: chunked\r\nContent-Length: 3", b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
            b"Content-Length:", b"Content-Length: +0", b"Content-Length: -1", b"Content-Length: 0x0", b"Content-Length: 0\r\nContent-Length: 5", b"Content-Length: " + b"9" * 30)])
        expect([400], [b"GET /livez HTTP/1.1\r\n folded\r\nHost: a\r\n\r\n"])
        expect([417], [get(head=b"Expect: 200-ok\r\n")])
        expect([431], [get(head=b"X: y\r\n" * 20_000)])
        expect([501], [get(b"GET /livez HTTP/1.0", chunked), *[get(head=b"Transfer-Encoding: " + coding + b"\r\n") for coding in (b"", b"identity", b"xchunked", b"gzip, chunked")]])
        expect([505], [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", get(b"GET /livez HTTP/2.0"), get(b"GET /livez HTTP/1.2"), get(b"GET /livez HTTP/9.9")])
        head_only = rb"^HTTP/1\.1 200 OK\r\n([\w-]+: [^\r\n]+\r\n)+\r\nHTTP/1\.1 200 OK\r\n"
        self.assertRegex(self.said(self.plain(), get(b"HEAD /livez HTTP/1.1") + self.LAST), head_only)
        self.livez()

    def test_a_request_with_a_body_ends_where_its_body_ends_or_is_refused_and_the_connection_closed(self):
        self.trial.start_aggregator()
        body = json.dumps({"Pod": pod("web"), "Nodes": None, "NodeNames": ["good"]}).encode()
        size, long_one = b"%x" % len(body), b"Content-Length: %d\r\n" % len(body)
        post = lambda head, line=b"POST /scheduler/filter HTTP/1.1": self.request(line, b"Content-Type: application/json\r\n" + head)  # noqa: E731  (one word for many lines)
        chunks = lambda before, after=b"\r\n0\r\n\r\n": post(self.CHUNKED) + before + body + after  # noqa: E731
        last = self.LAST.replace(b"/livez", b"/nothing")
        expect = functools.partial(self.expect, self.scheduler, last)
        good = [
            post(long_one) + body, post(b"Expect: 100-continue\r\n" + long_one) + body, chunks(size + b"\r\n"), chunks(b"0" * 30 + size + b"\r\n"),
            chunks(size + b';a=b;c="d\\"e"\r\n', b"\r\n0;x\r\n\r\n"), chunks(size + b"\r\n", b"\r\n00\r\n\r\n"), chunks(size + b"\r\n", b"\r\n0\r\nX: y\r\nExpect: 100-continue\r\n\r\n"),
            # What follows the object within the body is not read, and is no request.
            post(b"Content-Length: %d\r\n" % (len(body) + len(last))) + body + last]
        expect([200, 404], good)
        expect([400], [chunks(before) for before in (
            size + b";a\nb\r\n", size + b";" + b"y" * 100_000 + b"\r\n", size + b" \r\n", size + b"\n", b"-1\r\n", b"0x" + size + b"\r\n", b"10000000000000001\r\n", b"\r\n")])
        expect([400], [chunks(size + b"\r\n", after) for after in (
            b"\n0\r\n\r\n", b"XX0\r\n\r\n", b"\r\n0\r\nxyz\r\n\r\n", b"\r\n0\r\nContent-Length: 1000\r\n\r\n", b"\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n",
            b"\r\n0\r\n" + b"X: y\r\n" * 20_000 + b"\r\n")])
        expect([400], [post(b"Content-Length: 5\r\n" + self.CHUNKED) + size + b"\r\n" + body + b"\r\n0\r\n\r\n"])
        expect([404], [post(b"Expect: 100-continue\r\n" + long_one, b"POST /scheduler/nothing HTTP/1.1") + body])
        expect([405], [post(long_one, b"GET /scheduler/filter HTTP/1.1") + body])
        expect([413], [post(b"Content-Length: 999999999999\r\n")])
        expect([415], [post(b"Content-Encoding: gzip\r\n" + long_one) + body])
        expect([200, 404], good[:1])


if __name__ == "__main__":
    run_tests(__doc__, "attacked")
