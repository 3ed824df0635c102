"""scripts/demo.py: whatever this machine's package counter says, the demo runs, with it or with simulated packages."""

import contextlib
import io
import pathlib
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import demo  # noqa: E402  (the path comes first)


class Counter(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.counter = pathlib.Path(folder.name) / "energy_uj"

    def moves(self, watts):
        """A thread that lets the counter move until the test ends."""
        over, begun = threading.Event(), time.monotonic()

        def write():
            new = self.counter.with_suffix(".new")
            new.write_text(str(10**12 + round((time.monotonic() - begun) * watts * 1e6)))
            new.rename(self.counter)

        def move():
            while not over.wait(0.01):
                write()

        write()
        mover = threading.Thread(target=move)
        mover.start()
        self.addCleanup(mover.join)
        self.addCleanup(over.set)

    def assert_not_used(self, why):
        watts, said = demo.own_watts(self.counter)
        self.assertEqual(watts, 0)
        self.assertIn(why, said)

    def test_one_that_counts_is_used(self):
        self.moves(40)
        watts, why_not = demo.own_watts(self.counter)
        self.assertGreater(watts, 1)  # how near to 40 W is the matter of a busy machine
        self.assertEqual(why_not, "")

    def test_one_that_stands_still_is_not_used(self):
        self.counter.write_text("1000")
        self.assert_not_used("says 0.0 W, too little")

    def test_one_that_runs_backwards_is_not_used(self):
        self.moves(-40)
        self.assert_not_used("goes backwards")

    def test_one_in_nanojoules_is_not_used(self):
        self.moves(40_000)
        self.assert_not_used("cannot be")

    def test_one_that_is_no_number_or_cannot_be_read_is_not_used(self):
        self.counter.write_text("no data\n")
        self.assert_not_used("cannot be used")
        self.counter.unlink()
        self.counter.mkdir()
        self.assert_not_used("cannot be used")

    def test_a_machine_without_one_has_none(self):
        self.assertEqual(demo.own_watts(None), (0, "no RAPL on this machine"))


class RealNode(unittest.TestCase):
    def test_the_hot_node_passes_the_limit_by_watts_that_an_agent_believes(self):
        for own in (0, 15, 60, 219, 500, demo.MOST_WATTS):
            limit, hot = demo.limit_and_heat(own)
            self.assertGreater(limit, max(demo.NODES.values()))
            self.assertGreater(hot, 1.2 * limit)
            self.assertLess(hot, 4 * 205)

    def keeps_real(self, wait_for):
        """Its answer, and what it ended and started."""
        trial = demo.Demo.__new__(demo.Demo)
        done = []
        trial.processes, trial.folder, trial.wait_for = {}, pathlib.Path("/none"), wait_for
        trial.end = lambda name: done.append(f"end {name}")
        trial.start_package = lambda node, watts: done.append(f"package {node} {watts:.0f}")
        trial.start_agent = lambda node, *flags, scrape: done.append(f"agent {node} {' '.join(map(str, flags))} {scrape}")
        with contextlib.redirect_stdout(io.StringIO()):
            return trial.keeps_real(9103), done

    def test_one_whose_agent_has_watts_stays(self):
        self.assertEqual(self.keeps_real(lambda *_, **__: True), (True, []))

    def test_one_whose_agent_withholds_them_gets_a_simulated_package(self):
        def in_vain(what, *_, **__):
            raise demo.Failure(what)

        self.assertEqual(self.keeps_real(in_vain), (False, ["end node7", "package node7 22", "agent node7 --sys-root /none/node7/sys 9103"]))


if __name__ == "__main__":
    unittest.main(verbosity=2)
