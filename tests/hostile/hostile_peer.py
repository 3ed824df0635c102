"""Another replica that lies, dawdles or never ends, for a replica that asks for its state (--state-from). It has the certificate that all replicas share; who has not gets
no further than the handshake.
"""

import itertools
import os
import socket
import ssl
import struct
import threading
import time

OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n"


def whole(body):
    yield OK + b"Content-Length: %d\r\n\r\n" % len(body) + body


def chunks(piece):
    yield OK + b"Transfer-Encoding: chunked\r\n\r\n"
    while True:
        yield b"%x\r\n" % len(piece) + piece + b"\r\n"


def slowly(text):
    for byte in text:
        yield bytes([byte])
        time.sleep(0.5)


def packed(*words):
    """A message of Cap'n Proto in one segment, packed without saving anything."""
    text = struct.pack("<II", 0, len(words)) + b"".join(struct.pack("<Q", word % 2**64) for word in words)
    return b"".join(b"\xff" + text[at:at + 8] + b"\0" for at in range(0, len(text), 8))


def struct_at(offset, data, pointers):
    return (offset % 2**30) << 2 | data << 32 | pointers << 48


def list_at(offset, size, count):
    return (offset % 2**30) << 2 | 1 | size << 32 | count << 35


def head_of_snapshot(nodes):
    """Its root: three words of data, five pointers, of which the fourth is the list of nodes (no data, four pointers each)."""
    return [struct_at(0, 3, 5), 2 | nodes << 32, 0, time.time_ns(), 0, 0, 0, list_at(1, 7, 4 * nodes), 0]


def same_words_in_all_nodes(nodes, words):
    """Each node's words are the same list: a small message that is a large state."""
    out = head_of_snapshot(nodes) + [nodes << 2 | 4 << 48]
    for node in range(nodes):
        out += [0, list_at(4 * (nodes - node) - 2, 5, words), 0, 0]
    return packed(*out, *[1] * words)


def labels_that_are_their_own_node():
    """A node whose labels are the list of nodes."""
    return packed(*head_of_snapshot(1), 1 << 2 | 4 << 48, 0, 0, list_at(-4, 7, 4), 0)


ANSWERS = {
    "garbled": lambda: whole(os.urandom(1 << 20)),
    "text": lambda: whole(b'{"nodes": [{"name": 7}, null, [[[[]]]]]}'),
    "empty": lambda: whole(b""),
    "a pointer to itself": lambda: whole(packed(2)),
    "a circle": lambda: whole(labels_that_are_their_own_node()),
    "one list many times": lambda: whole(same_words_in_all_nodes(20_000, 50_000)),
    "unpacks to a gigabyte": lambda: whole(b"\0\xff" * (1 << 19)),
    "announced far too large": lambda: iter([OK + b"Content-Length: 10000000000\r\n\r\n"]),
    "endless": lambda: chunks(bytes(1 << 16)),
    "endless head": lambda: itertools.chain([OK], itertools.repeat(b"X: y\r\n" * 1000)),
    "endless interim answers": lambda: itertools.repeat(b"HTTP/1.1 100 Continue\r\n\r\n" * 1000),
    "slow": lambda: slowly(OK + b"Content-Length: 1000000\r\n\r\n" + b"x" * 1000),
    "elsewhere": lambda: iter([b"HTTP/1.1 302 Found\r\nLocation: https://127.0.0.1:1/replicas/v1/state\r\nContent-Length: 0\r\n\r\n"]),
    "silent": lambda: iter([]),
}


class HostilePeer:
    """Answers every request with one of ANSWERS, and then says no more until the other side goes."""

    def __init__(self, certificate, key):
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate, key)
        self.answer = "silent"
        self.asked = 0
        self.door = socket.create_server(("127.0.0.1", 0))
        self.port = self.door.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                plain, _ = self.door.accept()
            except OSError:
                return
            threading.Thread(target=self.talk, args=(plain,), daemon=True).start()

    def talk(self, plain):
        try:
            with plain, self.context.wrap_socket(plain, server_side=True) as peer:
                if not peer.recv(1 << 16).startswith(b"GET /replicas/v1/state "):
                    return
                self.asked += 1
                for piece in ANSWERS[self.answer]():
                    peer.sendall(piece)
                peer.recv(1)
        except OSError:
            pass  # the other side has enough

    def stop(self):
        self.door.close()
