"""The whole loop with several replicas behind one name, as a headless Service has one: each has an address of its own.

Run by meson (suite integration), or by hand: python3 tests/integration/loop_replicas_test.py --build build [TestName]
"""

import os
import re
import subprocess
import unittest

import loop
from loop import METRIC, policy, rule
from trial import run_tests

NAME = "replicas.test"
MOUNTS = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--user", "--map-root-user"])]


class Replicas(loop.Loop):
    def setUp(self):
        if subprocess.run([*MOUNTS, "true"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
            raise unittest.SkipTest("takes namespaces of mounts, for an /etc/hosts of the agent's own")
        super().setUp()
        self.hosts = self.trial.folder / "hosts"
        self.trial.make_certificates(["cool"], [NAME])

    def resolves_to(self, numbers):
        self.hosts.write_text("127.0.0.1 localhost\n" + "".join(f"127.0.0.{number} {NAME}\n" for number in numbers))

    def met(self):
        return set(re.findall(r"connected to replica (\S+)", self.trial.log("cool")))

    # The third became ready without agents after half a minute, and answered with empty lists.
    def test_a_replica_that_is_added_is_met_though_the_others_do_not_count_it(self):
        self.trial.write_policy(policy(rule("dontschedule", 100)))
        for number in (1, 2, 3):
            self.trial.start_aggregator("--replicas", "2", "--replica-id", f"r{number}", address=f"127.0.0.{number}", name=f"r{number}")
        self.resolves_to([1, 2])
        self.trial.start_package("cool", 40)
        within = [*MOUNTS, "--", "sh", "-c", 'mount --bind "$0" /etc/hosts && exec "$@"', self.hosts]
        self.trial.start_agent("cool", "--sys-root", self.trial.sysroot("cool"), host=NAME, under=within)
        self.trial.wait_for("two links", lambda: self.met() == {"r1", "r2"})
        self.resolves_to([1, 2, 3])
        self.trial.wait_for("the third", lambda: self.met() == {"r1", "r2", "r3"})
        # The second went, as its pod does: no link is missed.
        self.resolves_to([1, 3])
        self.assertEqual(self.trial.end("r2"), 0)
        self.trial.wait_for("values at the first", lambda: len(self.trial.metric(METRIC)) == 1)


if __name__ == "__main__":
    run_tests(holder="loop")
