"""scripts/progress: at a terminal a step says how long it takes; elsewhere it is a plain line on standard error, and scripts end as they always did."""

import os
import pathlib
import pty
import re
import subprocess
import tempfile
import unittest

HELPER = pathlib.Path(__file__).resolve().parents[2] / "scripts/progress"
SCRIPT = f"""
set -eu
. {HELPER}
progress demo 3
step "until it may go on" sh -c 'until [ -e go ]; do sleep 0.05; done'
echo between
status=0
step "fails" sh -c 'exit 3' || status=$?
echo "status $status"
step "ends it" sh -c 'exit 4'
echo "not reached"
"""


class Progress(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.times = self.folder / "build-progress"

    def at_a_terminal(self, wanted):
        """What the script writes, and its status; it may go on once it has written what `wanted` matches."""
        process, terminal = pty.fork()
        if process == 0:
            os.chdir(self.folder)
            os.environ["TERM"] = "xterm"
            os.execvp("sh", ["sh", "-c", SCRIPT])
        said = b""
        while True:
            try:
                said += os.read(terminal, 4096)
            except OSError:  # it has ended
                break
            if re.search(wanted, said):
                (self.folder / "go").touch()
        os.close(terminal)
        (self.folder / "go").unlink()
        return said.decode(), os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])

    def test_without_a_terminal_each_step_is_a_plain_line_beside_the_output(self):
        (self.folder / "go").touch()
        said = subprocess.run(["sh", "-c", SCRIPT], cwd=self.folder, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((said.stdout, said.returncode), ("between\nstatus 3\n", 4))
        self.assertEqual(said.stderr, "demo: 1 of 3: until it may go on\ndemo: 2 of 3: fails\ndemo: 3 of 3: ends it\n")
        self.assertFalse(self.times.exists())

    def test_at_a_terminal_a_line_counts_and_goes_and_the_next_run_knows_how_long(self):
        # On a busy machine the first count may say 2 s or more.
        said, status = self.at_a_terminal(rb"demo: 1 of 3: until it may go on: \d+ s")
        self.assertEqual(status, 4)
        self.assertIn("\r\x1b[Kbetween\r\n", said)
        self.assertIn("\r\x1b[Kstatus 3\r\n", said)
        self.assertNotIn("not reached", said)
        # A step that failed has no time that means anything.
        self.assertEqual([f.name for f in self.times.iterdir()], ["demo-until_it_may_go_on"])
        (self.times / "demo-until_it_may_go_on").write_text("7200\n")
        said, _ = self.at_a_terminal(b" left")
        self.assertRegex(said, r"until it may go on: \d+ s, about 119 min \d+ s left")
        (self.times / "demo-until_it_may_go_on").write_text("0\n")
        said, _ = self.at_a_terminal(b"last time")
        self.assertRegex(said, r"until it may go on: \d+ s, last time it took 0 s")


if __name__ == "__main__":
    unittest.main(verbosity=2)
