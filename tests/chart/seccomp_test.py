"""The agent under the chart's seccomp profile (charts/binnacle/seccomp): it reads, streams and is asked as without, and what it never does is refused.

Run by scripts/check chart, or by hand: python3 tests/chart/seccomp_test.py --build build [TestName]
"""

import http.server
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.request

import yaml
from rendered import CHART, ROOT

sys.path.insert(0, str(ROOT / "scripts"))
from trial import EVERY_SOURCE, Trial, free_port, run_tests  # noqa: E402  (the path comes first)

BUILD = ROOT / "build"
PROFILE = CHART / "seccomp/binnacle-agent.json"
UNDER = ["/usr/bin/python3", ROOT / "tests/chart/under_seccomp.py", PROFILE]  # the module is Debian's
# What the agent never does, and any user may.
REFUSED = ["os.mkdir('new')", "os.symlink('a', 'b')", "os.chmod('.', 0o700)", "os.mkfifo('pipe')", "os.setpriority(os.PRIO_PROCESS, 0, 19)",
           "open('a', 'w'); os.rename('a', 'b')", "open('a', 'w'); os.remove('a')", "open('a', 'w'); os.link('a', 'b')", "os.chown('.', -1, -1)"]


class Exporter(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"exported 1\n")

    def log_message(self, *_):
        pass


class Seccomp(unittest.TestCase):
    def setUp(self):
        self.trial = Trial(BUILD)
        self.addCleanup(self.trial.stop)

    def start_agent(self, name, exporter, under=()):
        """The port of its /metrics."""
        text = self.trial.folder / name
        text.mkdir()
        (text / "a.prom").write_text("number 1\n")
        port, begin = free_port(), self.trial.start
        self.trial.start = lambda name, *command: begin(name, *under, *command)
        self.trial.start_agent(name, "--textfile-directory", text, "--scrape", f"http://127.0.0.1:{exporter}/", "--path",
                               f"peer=127.0.0.1:{self.trial.ports['health']}", "--sources", EVERY_SOURCE, "--pmu-pods", scrape=port)
        self.trial.start = begin
        return port

    def test_the_agent_reads_and_streams_under_it_what_it_does_without(self):
        exporter = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Exporter)
        self.addCleanup(exporter.server_close)
        self.addCleanup(exporter.shutdown)
        threading.Thread(target=exporter.serve_forever, daemon=True).start()
        self.trial.make_certificates(["plain", "held"])
        self.trial.start_aggregator()
        ports = [self.start_agent("plain", exporter.server_port), self.start_agent("held", exporter.server_port, UNDER)]

        def names(port):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
                    return set(re.findall(r"^([a-z_0-9:]+)", answer.read().decode(), re.M))
            except OSError:
                return set()

        def alike():
            plain, held = map(names, ports)
            return {"number", "exported", "path_loss_ratio"} <= plain == held
        self.trial.wait_for("the same metrics of both", alike, 120)
        self.trial.wait_for("both at the aggregator", lambda: len(self.trial.metric("number")) == 2, 60)
        works = [set(re.findall(r"source ([a-z-]+) works$", self.trial.log(name), re.M)) for name in ("plain", "held")]
        self.assertEqual(*works)
        self.assertNotIn("Operation not permitted", self.trial.log("held"))

        def doctor(*under):
            done = subprocess.run([*under, BUILD / "cli/binnacle", "doctor", "aggregator", "sensors", "kernel", "clocks", "-o", "json"],
                                  env=os.environ | self.trial.cli_environment(), capture_output=True, text=True, timeout=120, check=False)
            return [(f["check"], f["grade"]) for f in json.loads(done.stdout)["findings"]]
        self.assertEqual(doctor(), doctor(*UNDER))

    def test_it_refuses_what_the_agent_never_does(self):
        for statement in REFUSED:
            with self.subTest(statement), tempfile.TemporaryDirectory() as folder:
                command = ["/usr/bin/python3", "-c", f"import os; {statement}"]
                self.assertEqual(subprocess.run(command, cwd=folder, timeout=60, check=False).returncode, 0)
            with self.subTest(f"{statement} under it"), tempfile.TemporaryDirectory() as folder:
                said = subprocess.run([*UNDER, *command], cwd=folder, capture_output=True, text=True, timeout=60, check=False)
                self.assertIn("PermissionError", said.stderr)

    def test_the_operator_s_object_is_the_same_profile(self):
        theirs = yaml.safe_load((PROFILE.parent / "seccomp-profile.yaml").read_text())["spec"]
        for rule in theirs["syscalls"]:
            if "errnoRet" in rule:
                rule["errnoRet"] = int(rule["errnoRet"])  # the operator has it as a text
        self.assertEqual(theirs, json.loads(PROFILE.read_text()))


if __name__ == "__main__":
    run_tests(__doc__)
