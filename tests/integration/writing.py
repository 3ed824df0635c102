"""What the tests of exporters stand on: the loop of loop.py, a number that a node reads from a file, and what a database has of it."""

import itertools
import os

import loop

# Numbers whose text a careless conversion would change.
NUMBERS = ["0.1", "71.4", "123456789", "-3.25", "0.000001", "1e+06"]


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
        return [(at, float(text)) for at, text in server.values(f'my_number{{{self.of_node}="cool"}}')]

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

    def check_away(self, server, warning):
        """A server that was away gets what it missed."""
        self.start_textfile(0)
        self.trial.wait_for("the first number", lambda: self.stored(server))
        self.trial.end("prometheus")
        self.trial.wait_for("the warning", lambda: warning in self.trial.cli("status").stdout)
        for value in (1, 2, 3):
            self.say(value)
            self.trial.wait_for("the aggregator to know it", lambda value=value: [
                item for item in self.trial.metric("my_number", "cool") if item["value"] == str(value)])
            for _ in range(2):  # of two rounds that end from now on, the second has begun from now on
                before = self.waiting()
                self.trial.wait_for("another round", lambda before=before: self.waiting() > before)
        self.assertEqual(self.passing(), ["cool", "warm"], "decisions do not wait for a database")
        server.start()
        self.trial.wait_for("nothing waits", lambda: self.waiting() == 0)
        self.trial.wait_for("no warning", lambda: warning not in self.trial.cli("status").stdout)
        self.assertEqual(self.number("samples_total", outcome="dropped"), 0)
        self.assertEqual(self.number("samples_total", outcome="refused"), 0)
        self.assertLessEqual({1.0, 2.0, 3.0}, {value for _, value in self.stored(server)}, "what it missed")
