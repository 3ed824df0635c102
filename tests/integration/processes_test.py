"""Programs that a script started end with it, whatever ends it; but those that are to outlive it."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"
SCRIPT = """
import pathlib, sys, tempfile, time
sys.path.insert(0, sys.argv[1])
from trial import Processes
started = Processes(pathlib.Path(tempfile.mkdtemp(prefix="binnacle-processes-")), outlive=sys.argv[2] == "outlive")
program = started.start("deaf", "sh", "-c", "trap '' TERM; while :; do sleep 0.1; done" if sys.argv[2] == "deaf" else "exec sleep 600")
print(program.pid, started.folder, flush=True)
while sys.argv[2] != "outlive":
    time.sleep(1)
"""


def lives(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


class Ends(unittest.TestCase):
    def begin(self, kind):
        script = subprocess.Popen([sys.executable, "-c", SCRIPT, SCRIPTS, kind], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(script.wait)
        self.addCleanup(script.stdout.close)
        pid, folder = script.stdout.readline().split()
        self.assertTrue(lives(int(pid)))
        return script, int(pid), pathlib.Path(folder)

    def until_gone(self, pid):
        deadline = time.monotonic() + 60
        while lives(pid) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertFalse(lives(pid))

    def test_signals_that_end_a_script_end_its_programs_and_remove_its_folder(self):
        for number, kind in ((signal.SIGTERM, "gentle"), (signal.SIGINT, "gentle"), (signal.SIGTERM, "deaf")):
            with self.subTest(number=number, kind=kind):
                script, pid, folder = self.begin(kind)
                script.send_signal(number)
                script.wait(60)
                self.assertFalse(lives(pid))
                self.assertFalse(folder.exists())

    def test_a_script_that_is_killed_leaves_no_program(self):
        script, pid, folder = self.begin("deaf")
        script.kill()
        self.until_gone(pid)
        shutil.rmtree(folder)

    def test_what_is_to_stay_stays(self):
        script, pid, folder = self.begin("outlive")
        script.wait(60)
        self.assertTrue(lives(pid))
        os.kill(pid, signal.SIGTERM)
        self.until_gone(pid)
        shutil.rmtree(folder)


if __name__ == "__main__":
    unittest.main(verbosity=2)
