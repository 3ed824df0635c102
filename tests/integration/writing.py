"""What the tests of exporters stand on: the loop of loop.py, a number that a node reads from a file, and what a database has of it."""

import http.client
import http.server
import itertools
import os
import subprocess
import threading
import time
import urllib.parse

import loop

# Numbers whose text a careless conversion would change.
NUMBERS = ["0.1", "71.4", "123456789", "-3.25", "0.000001", "1e+06"]


OUTAGE = float(os.environ.get("BINNACLE_OUTAGE_SECONDS", "0"))
PAUSE = 2  # seconds that a server which throttles asks for: more than the first pauses between our own attempts


class Front(http.server.ThreadingHTTPServer):
    """Stands before a server, as a gateway does, and answers 429 to requests while it is told to put them off."""

    def __init__(self, server):
        to, target = urllib.parse.urlsplit(server.url), self
        self.url = ""
        self.pause = None
        self.refused = []  # of each request that was put off, when it came and when its answer began

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):  # noqa: N802
                came, pause = time.monotonic(), target.pause
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if pause is not None:
                    target.refused.append((came, time.monotonic()))
                    self.say(429, {"Retry-After": pause}, b"too many readings\n")
                    return
                connection = http.client.HTTPConnection(to.hostname, to.port, timeout=60)
                connection.request("POST", to.path, body, {name: value for name, value in self.headers.items() if name.lower() != "host"})
                answer = connection.getresponse()
                text = answer.read()
                self.say(answer.status, {name: value for name, value in answer.getheaders()
                                         if name.lower() not in ("content-length", "transfer-encoding", "connection", "date", "server")}, text)
                connection.close()

            def say(self, status, headers, text):
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                if status != 204:
                    self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                if status != 204:
                    self.wfile.write(text)

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://localhost:{self.server_port}{to.path}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def put_off(self, pause):
        """Requests from now on, with this Retry-After; None: no longer."""
        self.pause = pause

    def stop(self):
        self.shutdown()
        self.server_close()


class Writing(loop.Loop):
    protocol = "remote-write"  # what the settings begin with
    of_node = "node"  # the label by which the database knows the node

    def begin_writing(self, server, *more):
        self.begin(loop.policy(loop.rule("dontschedule", 500)), f"--{self.protocol}", server.url, f"--{self.protocol}-interval", "1s", *more)

    def start_textfile(self, value):
        """The agent of node cool now reads one number from a file, and nothing else."""
        self.texts = self.trial.folder / "textfile"
        self.texts.mkdir()
        self.say(value)
        self.trial.end("cool")
        self.trial.start_agent("cool", "--sources", "textfile", "--textfile-directory", self.texts)

    def say(self, value):
        new = self.texts / "new"
        new.write_text(f"my_number {value}\n")
        os.replace(new, self.texts / "mine.prom")

    def number(self, name, **labels):
        """A number of the aggregator's own /metrics about this protocol."""
        family = f"binnacle_{self.protocol.replace('-', '_')}_{name}"
        for line in self.trial.ask("ops", "/metrics")[1].splitlines():
            if line.startswith(family) and all(f'{k}="{v}"' in line for k, v in labels.items()):
                return float(line.rsplit(" ", 1)[1])
        return 0.0

    def waiting(self):
        return self.number("waiting_bytes")

    def stored(self, server):
        """What the database has of the number: [(time, value)]."""
        return [(at, float(text)) for at, text in server.values(f'my_number{{{self.of_node}="cool"}}', "1h")]

    def check_numbers(self, server):
        """Each number arrives with its digits, in order, and each reading once."""
        self.start_textfile(NUMBERS[0])
        for text in NUMBERS:
            self.say(text)
            self.trial.wait_for(f"{text} in the database", lambda text=text: any(value == float(text) for _, value in self.stored(server)))
        stored = self.stored(server)
        self.assertEqual([value for value, _ in itertools.groupby(value for _, value in stored)], [float(text) for text in NUMBERS],
                         "each number, in order, and nothing in between")
        self.assertTrue(all(a < b for (a, _), (b, _) in itertools.pairwise(stored)), "each reading once")

    def check_day(self, server, speech, keeps=None):
        """A day of values, pushed in a moment into the real server, comes back with the last digit. `speech`: what sender-day calls the protocol.
        `keeps`: how many digits a server keeps of a number with a fraction, if these are fewer than we send."""
        folder = self.trial.folder / "day"
        folder.mkdir()
        end = int(time.time()) // 60 * 60
        subprocess.run([self.trial.build / "tests/integration/sender-day", speech, str(end), folder], check=True, timeout=60)
        headers = dict(line.split(": ", 1) for line in (folder / "headers").read_text().splitlines())
        to = urllib.parse.urlsplit(server.url)
        connection = http.client.HTTPConnection(to.hostname, to.port, timeout=60)
        left = (folder / "bodies").read_bytes()
        while left:
            size = 4 + int.from_bytes(left[:4], "little")
            connection.request("POST", to.path, left[4:size], headers)
            answer = connection.getresponse()
            self.assertIn(answer.status, (200, 204), answer.read())
            answer.read()
            left = left[size:]
        connection.close()
        wanted = {}
        for line in (folder / "values").read_text().splitlines():
            family, node, at_ms, digits = line.split()
            wanted.setdefault((family, node), []).append((int(at_ms) / 1000, float(digits)))
        self.assertEqual(len(wanted), 10)
        for (family, node), values in wanted.items():
            self.assertEqual(len(values), 24 * 60)
            selector = f'{family}{{{self.of_node}="{node}"}}'
            stored = self.trial.wait_for("the day", lambda selector=selector, values=values: len(
                found := server.values(selector, f"{86400 + int(time.time()) - end}s")) == len(values) and found)
            stored = [(at, float(text)) for at, text in stored]
            if keeps is not None and not all(value.is_integer() for _, value in values):
                self.assertEqual([at for at, _ in stored], [at for at, _ in values], selector)
                for (_, kept), (_, sent) in zip(stored, values):
                    self.assertLessEqual(abs(kept - sent), abs(sent) * 10 ** (1 - keeps), selector)
            else:
                self.assertEqual(stored, values, selector)

    def say_and_let_wait(self, value):
        """Says it, and returns when a round with it waits for the server, which takes nothing now."""
        self.say(value)
        self.trial.wait_for("the aggregator to know it", lambda: [item for item in self.trial.metric("my_number", "cool") if item["value"] == str(value)])
        for _ in range(2):  # of two rounds that end from now on, the second has begun from now on
            before = self.waiting()
            self.trial.wait_for("another round", lambda before=before: self.waiting() > before)

    def check_away(self, server, warning):
        """A server that was away gets what it missed. BINNACLE_OUTAGE_SECONDS says how long it is away at least; no time is enough for the test."""
        self.start_textfile(0)
        self.trial.wait_for("the first number", lambda: self.stored(server))
        server.end()
        self.trial.wait_for("the warning", lambda: warning in self.trial.cli("status").stdout)
        begun, values = time.monotonic(), []
        while len(values) < 3 or time.monotonic() - begun < OUTAGE:
            values.append(len(values) + 1)
            self.say_and_let_wait(values[-1])
        self.assertEqual(self.passing(), ["cool", "warm"], "decisions do not wait for a database")
        server.start()
        self.check_healed(server, values, warning)

    def check_throttled(self, server, front, warning):
        """A server that puts requests off (`front` stands before it) is left alone as long as it asks for, and has everything afterwards."""
        self.start_textfile(0)
        self.trial.wait_for("the first number", lambda: self.stored(server))
        front.put_off(f"{PAUSE}")
        self.trial.wait_for("the warning", lambda: f"{warning}the server answers 429 (too many readings)" in self.trial.cli("status").stdout)
        values = [1, 2, 3]
        for value in values:
            self.say_and_let_wait(value)
        self.trial.wait_for("three requests that were put off", lambda: len(front.refused) >= 3)
        self.assertEqual(self.passing(), ["cool", "warm"], "decisions do not wait for a database")
        front.put_off(None)
        self.check_healed(server, values, warning)
        for (_, answered), (asked, _) in itertools.pairwise(front.refused):
            self.assertGreaterEqual(asked - answered, PAUSE, "the server asked for this pause")
        self.assertEqual(self.number("retries_total"), len(front.refused))

    def check_healed(self, server, values, warning):
        """The server takes requests again: these values are there, and nothing was lost."""
        self.trial.wait_for("nothing waits", lambda: self.waiting() == 0)
        self.trial.wait_for("no warning", lambda: warning not in self.trial.cli("status").stdout)
        self.assertEqual(self.number("samples_total", outcome="dropped"), 0)
        self.assertEqual(self.number("samples_total", outcome="refused"), 0)
        # A database may take a moment between taking a value and showing it.
        self.trial.wait_for("what it missed", lambda: set(values) <= {value for _, value in self.stored(server)})
