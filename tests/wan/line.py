"""A long, thin line in user space: TCP connections to one address go on to others with a delay, at a rate, or not at all.

The kernel here has no netem. What a proxy cannot do, losing packets and segments that nobody acknowledges, is site.py's with nftables.
"""

import asyncio
import contextlib
import socket
import threading
import time

PIECE = 1400  # bytes: what one segment carries
WAITING = 16 << 10  # bytes that may wait on the line in one direction of a connection, as in a router's buffer; then its sender waits


class Line:
    """Listens on `listen` and dials the ports `to` on loopback in turn, or what `choose` says for the first bytes (a ClientHello), in a thread of its
    own. delay and rate can be changed at any time and hold for both directions, the rate (bytes per second) for all connections together."""

    def __init__(self, to, listen="127.0.0.1", delay=0.0, rate=None, choose=None):
        self.to, self.delay, self.rate, self.choose = list(to), delay, rate, choose
        self.accepted = 0
        self.bytes = {"up": 0, "down": 0}
        self._free_at = {"up": 0.0, "down": 0.0}
        self._writers = set()
        self._loop = asyncio.new_event_loop()
        ready = threading.Event()

        async def begin():
            # Little may wait in kernels: they are not part of the line.
            door = socket.create_server((listen, 0), backlog=4096)
            door.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 10)
            self._server = await asyncio.start_server(self._connection, sock=door, limit=4 << 10)
            self.port = self._server.sockets[0].getsockname()[1]
            ready.set()

        def run():
            self._loop.run_until_complete(begin())
            self._loop.run_forever()

        self._thread = threading.Thread(target=run, daemon=True)
        self._thread.start()
        ready.wait()

    def stop(self):
        async def end():
            self._server.close()
            self._cut_all()
            tasks = [t for t in asyncio.all_tasks() if t is not asyncio.current_task()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

        asyncio.run_coroutine_threadsafe(end(), self._loop).result(30)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(30)
        self._loop.close()

    def reset(self):
        """Ends every connection at once, as a load balancer that restarts."""
        done = threading.Event()
        self._loop.call_soon_threadsafe(lambda: (self._cut_all(), done.set()))
        done.wait(30)

    def _cut_all(self):
        for writer in self._writers:
            writer.transport.abort()

    async def _connection(self, reader, writer):
        with contextlib.suppress(asyncio.CancelledError):  # stop()
            await self._serve(reader, writer)

    async def _serve(self, reader, writer):
        self.accepted += 1
        self._writers.add(writer)
        other = None
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            first = await reader.read(PIECE) if self.choose else b""
            port = self.choose(first) if self.choose else self.to[self.accepted % len(self.to)]
            if port is not None:
                back, other = await asyncio.open_connection("127.0.0.1", port)
                self._writers.add(other)
                other.write(first)
                await asyncio.gather(self._carry("up", reader, other), self._carry("down", back, writer))
        for one in (writer, other):
            if one is not None:
                self._writers.discard(one)
                one.transport.abort()

    async def _carry(self, way, reader, writer):
        """One direction: what comes is due after the delay, and as the rate lets it through."""
        waiting = asyncio.Queue(WAITING // PIECE)

        async def take():
            while True:
                piece = await reader.read(PIECE)
                await waiting.put((time.monotonic() + self.delay, piece))
                if not piece:
                    return

        async def give():
            while True:
                due, piece = await waiting.get()
                if self.rate:
                    # A thread that woke late makes up for half a second of it.
                    self._free_at[way] = max(self._free_at[way], time.monotonic() - 0.5) + len(piece) / self.rate
                    due = max(due, self._free_at[way] + self.delay)
                await asyncio.sleep(max(0.0, due - time.monotonic()))
                if not piece:
                    writer.write_eof()
                    return
                self.bytes[way] += len(piece)
                writer.write(piece)
                await writer.drain()

        await asyncio.gather(take(), give())


def server_name(hello):
    """The name (SNI) in a TLS ClientHello, None without one: what a router that passes TLS through chooses by. RFC 8446, 4.1.2; RFC 6066, 3."""
    try:
        at = 5 + 4 + 2 + 32  # record, handshake, version, random
        at += 1 + hello[at]  # session
        at += 2 + int.from_bytes(hello[at:at + 2], "big")  # cipher suites
        at += 1 + hello[at]  # compression
        at += 2
        while at + 4 <= len(hello):
            kind, size = int.from_bytes(hello[at:at + 2], "big"), int.from_bytes(hello[at + 2:at + 4], "big")
            if kind == 0:
                return hello[at + 9:at + 4 + size].decode()
            at += 4 + size
    except IndexError:
        pass
    return None
