"""Requests that come byte by byte or are large, and answers that nobody reads: they take neither the places nor the memory of others.

Run by meson (suite hostile), or by hand: python3 tests/hostile/slow_test.py --build build [TestName]
"""

import os
import pathlib
import re
import socket
import time

from attacked import PATIENCE, ROOMIER, Hostile, Watch
from trial import free_port, run_tests


class SlowRequests(Hostile):
    """64 connections whose body came byte by byte once took an agent's health, and 600 with large bodies 600 MiB of the aggregator, all without credentials."""

    def begin(self, *more, under=()):
        super().begin(*more, under=under)
        self.listen, self.health_port = free_port(), free_port()
        self.trial.start_agent("late", "--health", f"127.0.0.1:{self.health_port}", scrape=self.listen)
        self.wait_for("the second agent", lambda: self.counted("binnacle_sessions") == 2)

    def test_requests_that_drip_keep_nobody_out_at_any_port(self):
        # With a low limit of open files each port has few places. Each crowd has a network of its own, as in SilentConnections (silent_test.py).
        self.begin(under=["prlimit", "--nofile=1024:1024"])
        ports = self.trial.ports
        doors = ((self.listen, ()), (self.health_port, ()), (ports["health"], ()), (ports["ops"], ["--tls"]), (ports["metrics"], ["--tls"]), (ports["extender"], ["--tls"]))
        for say in ("drip-body", "drip-head"):
            with self.subTest(say=say):
                watches = {"agents_listen": self.watch_health(self.listen), "agents_health": self.watch_health(self.health_port), "livez": self.watch_health(),
                           "filter": self.watch_filter()}
                crowds = [self.crowd(port, *flags, many=600, rate=100, say=say, first=first) for first, (port, flags) in enumerate(doors, start=1)]
                for crowd in crowds:
                    self.wait_for(f"{crowd} to have tried", lambda: self.made(crowd) > 600)
                self.asked_again(*watches.values(), times=30)
                self.assert_served(**watches)
                self.assertEqual(self.trial.ask("ops", "/api/v1/status")[0], 200)
                self.assertEqual(self.trial.ask("metrics", "/apis/custom.metrics.k8s.io/v1beta2")[0], 200)
                for crowd in crowds:
                    self.end_crowd(crowd)
        self.assertEqual(self.counted("binnacle_sessions"), 2)

    def memory(self, name):
        """MiB that the program has."""
        process = self.trial.processes[name].pid
        return int(re.search(r"VmRSS:\s+(\d+) kB", pathlib.Path(f"/proc/{process}/status").read_text())[1]) / 1024

    def test_large_bodies_of_strangers_take_no_memory(self):
        self.begin()
        before = {name: self.memory(name) for name in ("aggregator", "late")}
        watches = {"livez": self.watch_health(), "agents_health": self.watch_health(self.health_port)}
        crowds = [self.crowd(port, many=600, rate=300, say="large-body", first=first)
                  for first, port in enumerate((self.trial.ports["health"], self.health_port, self.listen), start=1)]
        grown = dict.fromkeys(before, 0.0)

        def tried():
            for name, had in before.items():
                grown[name] = max(grown[name], self.memory(name) - had)
            return all(self.made(crowd) > 1200 for crowd in crowds)

        self.wait_for("the crowds to have tried", tried)
        self.asked_again(*watches.values())
        self.assert_served(**watches)
        print(f"\n    grown by {', '.join(f'{name} {mib:.1f} MiB' for name, mib in grown.items())}", end="")
        # 622 and 61 once.
        self.assertLess(grown["aggregator"], 150)
        self.assertLess(grown["late"], 40)
        for crowd in crowds:
            self.end_crowd(crowd)


class UnreadAnswers(Hostile):
    """Whoever asks for much and reads nothing once had it lie in the kernel's memory, up to 4 MiB for each connection, and for two minutes."""

    LINES = 4900  # of some 200 bytes
    NODE = "/api/v1/nodes/late"

    def begin_with(self, lines, listen):
        folder = self.trial.folder / "text"
        folder.mkdir()
        (folder / "much.prom").write_text("".join(f'crowd_metric{{number="{n}",what="{"x" * 150}"}} {n}\n' for n in range(lines)))
        self.begin()
        self.trial.start_agent("late", "--sources", "textfile", "--textfile-directory", folder, scrape=listen)
        self.wait_for("its many values", lambda: self.trial.ask("ops", self.NODE)[1].count('"what":') == lines)

    @staticmethod
    def memory(process):
        """MiB that a program has in memory."""
        return int(re.search(r"^VmRSS:\s+(\d+) kB", pathlib.Path(f"/proc/{process.pid}/status").read_text(), re.MULTILINE)[1]) >> 10

    def watch_all_of(self, mark, ask):
        """Of an answer with thousands of these every one has to come."""

        def look():
            if ask().count(mark) != self.LINES:
                raise RuntimeError("a part is missing")

        watch = Watch(look)
        self.addCleanup(watch.stop)
        return watch

    def test_a_slow_reader_gets_its_whole_answer_also_when_it_has_said_its_last(self):
        listen = free_port()
        self.begin_with(300, listen)  # as much as the kernel takes at once
        for ends in (False, True):
            with socket.socket() as reader:
                reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                reader.settimeout(PATIENCE)
                reader.connect(("127.0.0.1", listen))
                reader.sendall(b"GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                if ends:
                    reader.shutdown(socket.SHUT_WR)
                time.sleep(3)  # longer than the server reads on from who has its answer
                answer = b""
                while piece := reader.recv(1 << 16):
                    answer += piece
            head, _, body = answer.partition(b"\r\n\r\n")
            self.assertEqual(len(body), int(re.search(rb"Content-Length: (\d+)", head)[1]))
            self.assertEqual(body.count(b"what="), 300)

    @staticmethod
    def in_sockets():
        """MiB that this machine's kernel has in TCP's queues. They are no program's, but its container pays for them."""
        return int(re.search(r"^TCP: .* mem (\d+)", pathlib.Path("/proc/net/sockstat").read_text(), re.MULTILINE)[1]) * os.sysconf("SC_PAGE_SIZE") >> 20

    def test_requests_without_end_whose_answers_nobody_reads_fill_no_kernel_memory(self):
        self.begin()
        before = self.in_sockets()
        crowds = [self.crowd(self.trial.ports["health"], many=600, rate=600, say="stuff", first=first, path="/livez") for first in (1, 2, 3)]
        self.wait_for("three crowds", lambda: min(self.made(crowd) for crowd in crowds) >= 600)
        health, scheduler = self.watch_health(), self.watch_filter()
        self.asked_again(health, scheduler)
        during = self.in_sockets()
        print(f"\n    in sockets: {before} MiB before, {during} MiB under attack", end="")
        # 512 connections of some 200 KiB, both ends included; and there is more than Binnacle on this machine. Where a face had 4,096 places it was 550 MiB.
        self.assertLess(during - before, 256)
        self.assert_served(livez=health, filter=scheduler)

    def test_they_wait_in_bounded_memory_and_give_way_to_those_who_read(self):
        listen, pki = free_port(), self.trial.pki
        self.begin_with(self.LINES, listen)
        programs = {name: self.trial.processes[name] for name in ("aggregator", "late")}
        before = {name: self.memory(process) for name, process in programs.items()}
        certificate = {"path": self.NODE, "cert": pki / "client-cli.crt", "key": pki / "client-cli.key"}
        for first, say in enumerate(("deaf", "sip"), start=1):
            self.crowd(self.trial.ports["ops"], many=300, rate=100, say=say, first=first, **certificate)
            self.crowd(listen, many=50, rate=50, say=say, first=first)
        dropped = lambda: self.counted("binnacle_http_dropped_total", server="ops", reason="slow")  # noqa: E731  (one word for two looks)
        self.wait_for("the crowds at both ports to lose answers", lambda: dropped() > 100 and self.scraped(listen, "slow") > 50)
        health, scheduler = self.watch_health(), self.watch_filter()
        node = self.watch_all_of('"what":', lambda: self.trial.ask("ops", self.NODE)[1])
        agent = self.watch_all_of("what=", lambda: self.scrape(listen))
        then = dropped(), self.scraped(listen, "slow")
        self.asked_again(health, scheduler, node, agent)
        self.wait_for("more answers to be lost", lambda: dropped() > then[0] and self.scraped(listen, "slow") > then[1])
        self.assert_served(livez=health, filter=scheduler, node=node, agent=agent)
        for name, process in programs.items():
            print(f"\n    {name}: {before[name]} MiB before, {self.memory(process)} MiB under attack", end="")
        # 64 and 16 MiB of answers; and 600 connections, each with a buffer of 64 KiB for requests, and one for what is encrypted.
        self.assertLess(self.memory(programs["aggregator"]) - before["aggregator"], 256 * ROOMIER)
        self.assertLess(self.memory(programs["late"]) - before["late"], 64 * ROOMIER)
        self.wait_for("the agents' sessions", lambda: self.counted("binnacle_sessions") == 2)


if __name__ == "__main__":
    run_tests(__doc__, "attacked")
