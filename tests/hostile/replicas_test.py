"""Another replica that lies, dawdles or never ends, when one asks it for its state.

Run by meson (suite hostile), or by hand: python3 tests/hostile/replicas_test.py --build build [TestName]
"""

import pathlib
import re

from attacked import PATIENCE, ROOMIER, Hostile
from hostile_peer import ANSWERS, HostilePeer
from trial import run_tests


class LyingReplica(Hostile):
    """A replica that starts asks another one for its state. That one has the same certificate, and says anything."""

    def test_whatever_it_says_a_replica_begins_without_it_in_bounded_time_and_memory(self):
        peer = HostilePeer(self.trial.pki / "aggregator.crt", self.trial.pki / "aggregator.key")
        self.addCleanup(peer.stop)
        self.trial.start_package("good", 40)
        self.trial.start_agent("good", "--sys-root", self.trial.sysroot("good"))
        for peer.answer in ANSWERS:
            name, asked = "replica-" + peer.answer.replace(" ", "-"), peer.asked
            self.trial.start_aggregator("--state-from", f"localhost:{peer.port}", name=name)
            self.wait_for("the agent's watts", lambda: len(self.trial.metric("rapl_power_watts")) == 1)
            self.assertGreater(peer.asked, asked, peer.answer)
            self.assertIn(f"127.0.0.1:{peer.port}: ", self.trial.log(name), peer.answer)
            status = pathlib.Path(f"/proc/{self.trial.processes[name].pid}/status").read_text()
            most = int(re.search(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE)[1]) >> 10
            print(f"\n    {peer.answer}: {most} MiB at most", end="", flush=True)
            # A snapshot may have 256 MiB. A text that grows beyond has room for 512 while its 256 are copied, and meson has malloc write to all of it (MALLOC_PERTURB_).
            self.assertLess(most, 900 * ROOMIER, peer.answer)
            self.assertEqual(self.trial.end(name, seconds=PATIENCE), 0)


if __name__ == "__main__":
    run_tests(__doc__, "attacked")
