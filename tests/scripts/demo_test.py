"""scripts/demo.py: whatever this machine's package counter says, the demo runs, with it or with simulated packages."""

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


if __name__ == "__main__":
    unittest.main(verbosity=2)
