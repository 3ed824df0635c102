"""What the tests of exporters stand on: the loop of loop.py, a number that a node reads from a file, and what a database has of it."""

import http.client
import itertools
import os
import subprocess
import time
import urllib.parse

import loop

# Numbers whose text a careless conversion would change.
NUMBERS = ["0.1", "71.4", "123456789", "-3.25", "0.000001", "1e+06"]


OUTAGE = float(os.environ.get("BINNACLE_OUTAGE_SECONDS", "0"))


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

    def check_day(self, server, speech):
        """A day of values, pushed in a moment into the real server, comes back with the last digit. `speech`: what sender-day calls the protocol."""
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
            self.assertEqual([(at, float(text)) for at, text in stored], values, selector)

    def check_away(self, server, warning):
        """A server that was away gets what it missed. BINNACLE_OUTAGE_SECONDS says how long it is away at least; no time is enough for the test."""
        self.start_textfile(0)
        self.trial.wait_for("the first number", lambda: self.stored(server))
        self.trial.end("prometheus")
        self.trial.wait_for("the warning", lambda: warning in self.trial.cli("status").stdout)
        begun, values = time.monotonic(), []
        while len(values) < 3 or time.monotonic() - begun < OUTAGE:
            values.append(len(values) + 1)
            self.say(values[-1])
            self.trial.wait_for("the aggregator to know it", lambda: [
                item for item in self.trial.metric("my_number", "cool") if item["value"] == str(values[-1])])
            for _ in range(2):  # of two rounds that end from now on, the second has begun from now on
                before = self.waiting()
                self.trial.wait_for("another round", lambda before=before: self.waiting() > before)
        self.assertEqual(self.passing(), ["cool", "warm"], "decisions do not wait for a database")
        server.start()
        self.trial.wait_for("nothing waits", lambda: self.waiting() == 0)
        self.trial.wait_for("no warning", lambda: warning not in self.trial.cli("status").stdout)
        self.assertEqual(self.number("samples_total", outcome="dropped"), 0)
        self.assertEqual(self.number("samples_total", outcome="refused"), 0)
        self.assertLessEqual(set(values), {value for _, value in self.stored(server)}, "what it missed")
