"""`binnacle top` as somebody sits before it: the real program in a terminal, the real aggregator, real agents.

python3 tests/cli/top/top_test.py --build build
"""

import os
import pathlib
import re
import signal
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "scripts"))
from trial import Trial, free_port, run_tests  # noqa: E402  (the path comes first)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tests/integration"))
import terminal  # noqa: E402
from ops_front import Ops  # noqa: E402

BUILD = None
METRIC = "rack_probe_units"
DOWN, NEXT, END = "\x1bOB", "\x1b[6~", "\x1b[4~"
POLICY = f"""\
apiVersion: telemetry.intel.com/v1alpha1
kind: TASPolicy
metadata: {{name: probe, namespace: default}}
spec:
  strategies:
    dontschedule:
      rules:
      - {{metricname: {METRIC}, operator: GreaterThan, target: 60}}
"""


class Sitting(unittest.TestCase):
    def setUp(self):
        self.trial = Trial(BUILD)
        self.addCleanup(self.trial.stop)

    def top(self, *words, width=80, height=24, **how):
        environment = {**self.trial.cli_environment(), **how.pop("environment", {})}
        t = terminal.Terminal([self.trial.build / "cli/binnacle", "top", *words], width, height, environment, **how)
        self.addCleanup(t.close)
        return t


class ThreeAgents(Sitting):
    """Their one metric a file says, so that the numbers are known to the digit."""

    def setUp(self):
        super().setUp()
        self.nodes = {"alpha-1": 41, "alpha-2": 52, "beta-1": 7}
        self.trial.make_certificates(self.nodes)
        self.trial.write_policy(POLICY)
        self.trial.start_aggregator()
        for node, value in self.nodes.items():
            self.say(node, value)
            self.trial.start_agent(node, "--sources", "textfile", "--textfile-directory", self.trial.folder / node)
        self.trial.wait_for("the values", lambda: len(self.trial.metric(METRIC)) == 3)

    def say(self, node, value):
        folder = self.trial.folder / node
        folder.mkdir(exist_ok=True)
        new = folder / "probe.new"
        new.write_text(f"# TYPE {METRIC} gauge\n{METRIC} {value}\n")
        new.rename(folder / "probe.prom")


class Small(ThreeAgents):
    def order(self, t):
        """The names of the rows, from the top."""
        return [line.split()[0] for line in t.lines() if re.match(r"(alpha|beta)\S* ", line) and ":" not in line.split()[0]]

    def test_keys_change_what_is_shown(self):
        t = self.top("--metric", METRIC)
        t.wait_for("3 of 3 nodes up", "by rack_probe_units")
        t.wait("the order by value", lambda: self.order(t) == ["alpha-2", "alpha-1", "beta-1"])
        self.assertRegex(t.line("alpha-2"), r"^alpha-2 +52 .* pass")
        t.press("r")
        t.wait("the other order", lambda: self.order(t) == ["beta-1", "alpha-1", "alpha-2"])
        t.press("1")
        t.wait("the order by name", lambda: self.order(t) == ["alpha-1", "alpha-2", "beta-1"])
        header = next(i for i, line in enumerate(t.lines()) if line.startswith("NODE"))
        at = t.lines()[header].index("rack_probe")
        t.click(at, header)
        t.wait("the click's order", lambda: self.order(t) == ["alpha-2", "alpha-1", "beta-1"])
        t.click(at, header)
        t.wait("the second click's order", lambda: self.order(t) == ["beta-1", "alpha-1", "alpha-2"])
        # A filter, as it is typed.
        t.press("/alpha")
        t.wait("two nodes", lambda: self.order(t) == ["alpha-1", "alpha-2"])
        t.press("-2")
        t.wait("one node", lambda: self.order(t) == ["alpha-2"] and t.lines()[23] == "/alpha-2")
        t.press("\x1b")
        t.wait("all nodes", lambda: len(self.order(t)) == 3)
        # Groups: the third kind is by the name up to its last part. What has no sum has a mean.
        t.press("g" + DOWN + DOWN + DOWN)
        t.wait_for("One row for each", "name, up to its last part")
        t.press("\r")
        t.wait_for("GROUP", "rack_probe_units m", "alpha (2)", "beta (1)")
        self.assertRegex(t.line("alpha (2)"), r"^alpha \(2\) +46\.5 ")
        t.press("1")
        t.wait_for("by GROUP")
        t.press("\r")
        t.wait("the group's nodes", lambda: sorted(self.order(t)) == ["alpha-1", "alpha-2"])
        t.press("\x1b")
        t.wait_for("beta (1)")
        t.press("\x1b")
        t.wait("all nodes", lambda: len(self.order(t)) == 3)
        # A verdict, when it comes, and why. Who watches the policy sees its rule.
        self.say("beta-1", 99)
        t.wait("the verdict", lambda: re.search(r"99 .* violating", t.line("beta-1")) and "1 violating" in t.lines()[0])
        t.press("p" + DOWN + "\r")
        t.wait_for("policy default/probe", "\ndontschedule: rack_probe_units GreaterThan 60", "beta-1: dontschedule: rack_probe_units GreaterThan 60")
        t.wait("the worst to be first", lambda: self.order(t)[0] == "beta-1")
        # Columns.
        t.press("c")
        t.wait_for("[x] TREND")
        t.press(DOWN + DOWN)
        t.press(" ")
        t.wait_for("[ ] TREND")
        t.press("\x1b")
        t.wait("the column to go", lambda: t.line("NODE") and "TREND" not in t.line("NODE"))
        t.press("?")
        t.wait_for("filter as you type", "any key goes back")
        t.press("x")
        t.wait("the nodes", lambda: len(self.order(t)) == 3)
        t.press("q")
        self.assertEqual(t.ended(), 0)

    def test_labels_of_node_objects_group_filter_and_watch_one_rack(self):
        rack = "example.com/rack"
        labels = {"/api/v1/nodelabels": {"keys": [{"key": rack, "nodes": 3, "values": 2}], "omitted": False},
                  "/api/v1/nodelabels?key=" + rack: {"key": rack, "values": [{"value": "r1", "nodes": ["alpha-1"]}, {"value": "r7", "nodes": ["alpha-2", "beta-1"]}], "omitted": 0}}
        ops = Ops(self.trial, labels)
        self.addCleanup(ops.stop)
        t = self.top("--metric", METRIC, "--aggregator", f"http://127.0.0.1:{ops.server_port}")
        t.wait("the nodes", lambda: len(self.order(t)) == 3)
        self.assertEqual([path for path in ops.asked if "nodelabels" in path], [])  # nobody looks at a label
        t.press("g")
        t.wait_for("label " + rack)
        t.press(END + "\r")
        t.wait_for("r1 (1)", "r7 (2)", "by group " + rack)
        self.assertRegex(t.line("r7 (2)"), r"^r7 \(2\) +29\.5 ")  # the mean of 52 and 7
        t.press("1" + DOWN + "\r")
        t.wait("the rack's nodes", lambda: sorted(self.order(t)) == ["alpha-2", "beta-1"] and f"only {rack}=r7" in t.text())
        t.press("\x1b")
        t.wait_for("r7 (2)")
        t.press("\x1b")
        t.wait("all nodes", lambda: len(self.order(t)) == 3)
        t.press("/rack=r7 !beta")
        t.wait("the filter", lambda: self.order(t) == ["alpha-2"])
        t.press("\x03")
        self.assertEqual(t.ended(), 0)

    def test_a_terminal_is_drawn_in_its_size(self):
        t = self.top("--metric", METRIC, width=120, height=30)
        t.wait("the last line", lambda: "q quit" in t.lines()[29])
        t.wait_for("WHY")
        t.resize(50, 12)
        t.wait("the last line", lambda: "? help" in t.lines()[11] and t.line("alpha-1"))
        t.resize(25, 5)
        t.wait("one sentence", lambda: t.text().strip() == "too small: 30x8 needed")
        t.resize(80, 24)
        t.wait("the whole page", lambda: "q quit" in t.lines()[23] and len(self.order(t)) == 3)

    def test_whatever_ends_it_the_terminal_is_as_before(self):
        for name, end in {"q": "q", "Ctrl-C": "\x03", "SIGTERM": signal.SIGTERM, "SIGHUP": signal.SIGHUP, "SIGQUIT": signal.SIGQUIT}.items():
            with self.subTest(name):
                t = self.top(kind="xterm-256color")
                before = t.settings()
                t.wait("the page", lambda: b"q quit" in t.raw)
                self.assertNotEqual(t.settings()[3], before[3])
                self.assertIn(b"\x1b[?1049h", t.raw)  # the second screen
                t.press(end) if isinstance(end, str) else os.kill(t.process, end)
                self.assertEqual(t.ended(), 0)
                self.assertEqual(t.settings()[3], before[3])
                self.assertLess(t.raw.rindex(b"\x1b[?1049h"), t.raw.rindex(b"\x1b[?1049l"))
                self.assertLess(t.raw.rindex(b"1000h"), t.raw.rindex(b"1000l"))  # the mouse
                self.assertLess(t.raw.rindex(b"\x1b[?25l"), t.raw.rindex(b"\x1b[?25h"))  # the cursor

    def test_a_terminal_of_ascii_gets_ascii_and_no_color_gets_none(self):
        t = self.top("--metric", METRIC, locale="C", environment={"NO_COLOR": "1"})
        t.wait("the rows", lambda: len(self.order(t)) == 3)
        t.press("/x\x1b")
        t.wait("a trend", lambda: re.search(r"alpha-1 .*__", t.line("alpha-1")))
        self.assertEqual([byte for byte in t.raw if byte >= 0x80], [])
        self.assertNotRegex(t.raw.decode(), r"\x1b\[(?:[0-9]+;)*[34][0-8](?:;[0-9]+)*m")
        coloured = self.top()
        coloured.wait("colours", lambda: re.search(rb"\x1b\[[0-9;]*38;5;36", coloured.raw))

    def test_it_says_what_a_terminal_lacks(self):
        for kind in ("no-such-terminal", "dumb"):
            t = self.top(kind=kind)
            self.assertEqual(t.ended(), 1)
            self.assertIn(f'a terminal of type "{kind}"', t.text().replace("\n", ""))

    def test_a_replica_that_is_away_is_named_and_the_other_one_shown(self):
        gone = f"https://localhost:{free_port()}"
        both = {"BINNACLE_AGGREGATOR": f"{gone},{self.trial.cli_environment()['BINNACLE_AGGREGATOR']}"}
        t = self.top("--metric", METRIC, environment=both, width=160)
        t.wait_for(f"{gone} is away: cannot reach {gone}", "3 of 3 nodes up")
        self.assertEqual(len(self.order(t)), 3)
        # Then nobody is there: the newest values stay, with how old they are.
        self.assertEqual(self.trial.end("aggregator"), 0)
        t.wait_for("what is shown is")
        self.assertEqual(len(self.order(t)), 3)
        self.trial.start_aggregator()
        t.wait("the aggregator's return", lambda: "what is shown" not in t.text() and "3 of 3 nodes up" in t.text())


class Hostile(Sitting):
    def test_a_source_that_says_what_a_terminal_obeys_is_text(self):
        """The node's own words reach the screen by the reason why a file cannot be read."""
        self.trial.make_certificates(["alpha"])
        folder = self.trial.folder / "alpha"
        folder.mkdir()
        (folder / "x\x1b]0;owned\x07\x1b[2J.prom").write_text("what is this\n")
        self.trial.start_aggregator()
        self.trial.start_agent("alpha", "--sources", "textfile", "--textfile-directory", folder)
        t = self.top(width=200)
        t.wait_for("alpha (in part)", "owned")
        self.assertNotIn(b"\x1b]0;", t.raw)
        self.assertNotEqual(t.screen.title, "owned")


class Names(ThreeAgents):
    """The three agents, told under names as nobody should give them."""

    NAMES = {
        "backwards": "\u202egpj.edon\u2066\u200f\u05d0\u05d1",  # overrides, isolates and marks of direction that never end
        "long": "n" * 253,
        "marks": "no\u0301\u0323" + "de\u0308" * 20,  # a terminal's cell holds four marks: of more, curses drops the rest
        "wide": "\u7bc0\u70b9\u6a5f\u68b0" * 30,
        "controls": "a\x01\x1b[31m\x07\x7f\u0085\u2028b\r\nc\tend",
        "markup": "<script>window.owned=1</script>';--",
        "picture": "\U0001f525rack\u200d\U0001f525",
        "pile": "n" + "\u0301" * 120,
        "pile on a wide one": "\u7bc0" + "\u0301\u0323" * 60,
        "marks without a letter": "\u0301" * 120,
        "flags": "\U0001f1e9\U0001f1ea\U0001f1e9x",
        "hands": "\U0001f44b\U0001f3fd\u2764\ufe0f",
        "unseen": "a\u00ad\u034f\u3164\U000e0041b\ufe0f",
    }

    def ends(self, t, words):
        """For each of the words, in three rows one below the other: the column of the screen at which it ends. A wide character has two columns, a
        mark has none."""
        out = []
        for y, word in enumerate(words, 3):
            cells = [t.screen.buffer[y][x].data for x in range(80)]
            out += [x + len(word) for x in range(1, 79 - len(word)) if cells[x - 1] == " " and "".join(cells[x:x + len(word) + 1]) == word + " "][:1]
        return out

    def test_columns_stay_below_each_other_whatever_the_names_are(self):
        ends = []  # seconds from q to the end
        for what, name in self.NAMES.items():
            for where, shown in (("node", {"alpha-2": name}), ("policy", {"probe": name, "default/probe": "default/" + name})):
                with self.subTest(what, of=where):
                    ops = Ops(self.trial, names=shown)
                    self.addCleanup(ops.stop)
                    t = self.top("--metric", METRIC, environment={"BINNACLE_AGGREGATOR": f"http://127.0.0.1:{ops.server_port}"})
                    t.wait("the values, highest first", lambda t=t: len(self.ends(t, ["52", "41", "7"])) == 3)
                    self.assertEqual(len(set(self.ends(t, ["52", "41", "7"]))), 1, t.text())
                    self.assertIn("3 of 3 nodes up", t.text())
                    for bad in ("\x07", "\x1b[31m", "\u202e", "\u2066", "\u2028"):
                        self.assertNotIn(bad.encode(), t.raw)
                    t.press("q")
                    pressed = time.monotonic()
                    self.assertEqual(t.ended(), 0)
                    ends.append(time.monotonic() - pressed)
        # The deadlines of its calls, five seconds, do not hold the terminal. The fastest counts: a busy machine is slow at times.
        self.assertLess(min(ends), 2)


class Fleet(Sitting):
    NODES = int(os.environ.get("BINNACLE_TOP_NODES", "1000"))  # 5000 take minutes to connect

    def test_thousands_of_nodes_are_scrolled_and_filtered(self):
        self.trial.make_certificates([], more=["--fleet", f"sim:{self.NODES}"])
        self.trial.start_aggregator("--log-level", "warning")
        self.trial.start("fleet", self.trial.build / "tests/wan/binnacle-fleet", "--port", self.trial.ports["ingest"], "--pki", self.trial.pki, "--nodes", self.NODES)
        self.trial.wait_for("all agents", lambda: f"streaming={self.NODES} " in self.trial.log("fleet"), 600)
        t = self.top()
        t.wait(f"all {self.NODES}", lambda: f"{self.NODES} of {self.NODES} nodes up" in t.text())
        t.press("1")
        t.wait_for("by NODE", "sim-0 ", "sim-10 ")
        t.press(NEXT)
        t.wait("the next page", lambda: not t.line("sim-0 ") and f"20-38 of {self.NODES} nodes" in t.text())
        t.press(END)
        t.wait_for(f"-{self.NODES} of {self.NODES} nodes", "sim-999")
        t.press(f"/sim-{self.NODES - 7}")
        t.wait_for("1-1 of 1 node")
        t.press("\x1b")
        t.wait_for(f"of {self.NODES} nodes")
        t.press("q")
        self.assertEqual(t.ended(), 0)


if __name__ == "__main__":
    run_tests(__doc__, missing=terminal.missing())
