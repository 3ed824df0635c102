"""Modes of the agent's container switched by helm upgrades that fail between: what one mode sets must not stay under the next.

Helm compares a manifest with that of the last release that went through, so it leaves in place what a failed upgrade set and the next manifest
does not name. There is no kubelet here: an upgrade that waits for pods fails in time. Run by scripts/test --cluster, or by hand:
python3 tests/cluster/chart_modes_test.py [TestName]
"""

import itertools
import json
import subprocess
import unittest

from support import releases
from support.control_plane import ROOT
from support.releases import CHART, helm, there
from trial import run_tests

BUILD = ROOT / "build"
PLANE = HELM = None
# Secrets that nobody opens here: making certificates at each step is what takes time.
ALWAYS = ("agent.namespace.create=false", "certificates.mode=existing", *(f"certificates.existing.{name}=none" for name in ("server", "agent", "client")))
IPMI = ("agent.ipmi.enabled=true",)
MODES = {
    "hardened": (),
    "privileged": ("agent.mode=privileged",),
    "a seccomp profile of ours": ("agent.seccomp.type=Localhost", "agent.seccomp.localhostProfile=binnacle-agent.json"),
    "an SELinux type": ("agent.selinuxType=binnacle_agent_t",),
}
SIDECARS = {
    "a privileged sidecar": (*IPMI, "agent.ipmi.access=privileged"),
    "a sidecar with a device": (*IPMI, "agent.ipmi.access=devicePlugin", "agent.ipmi.deviceResource=example.com/ipmi"),
}


def setUpModule():
    global PLANE, HELM
    PLANE, HELM = releases.begin_plane()
    # Made once, and kept: no controller here finishes a namespace's end.
    PLANE.kubectl("create", "namespace", "binnacle-agents")


def flags(settings):
    return ["--set-file", f"certificates.existing.serverCA={PLANE.pki}/ca.crt", *(word for setting in (*ALWAYS, *settings) for word in ("--set", setting))]


def contexts():
    """The security context of each container of the agents' pods, as it is stored."""
    containers = there("daemonset", "binnacle-agent", "binnacle-agents")["spec"]["template"]["spec"]["containers"]
    return {c["name"]: c["securityContext"] for c in containers}


def upgrade(settings):
    helm("upgrade", "--install", "binnacle", CHART, "--create-namespace", *flags(settings))


def upgrade_in_vain(settings):
    """Stored, and failed: no pod becomes ready."""
    done = subprocess.run([HELM.program, "upgrade", "binnacle", CHART, "--wait", "--timeout", "1s", *flags(settings), "--kubeconfig", PLANE.kubeconfig,
                           "--namespace", "binnacle"], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode != 0, "nothing runs here, and helm says that it does"
    last = json.loads(helm("history", "binnacle", "--max", "1", "-o", "json"))[-1]
    assert last["status"] == "failed", last


class AfterAFailedUpgrade(unittest.TestCase):
    @staticmethod
    def fresh(settings):
        """What a first installation with these settings gives."""
        upgrade(settings)
        found = contexts()
        helm("uninstall", "binnacle")
        return found

    def switched(self, modes):
        wanted = {name: self.fresh(settings) for name, settings in modes.items()}
        self.assertEqual(len({json.dumps(w, sort_keys=True) for w in wanted.values()}), len(modes), "modes that set the same show nothing")
        for first, second in itertools.permutations(modes, 2):
            with self.subTest(f"{first}, {second} in vain, {first}"):
                upgrade(modes[first])
                upgrade_in_vain(modes[second])
                self.assertEqual(contexts(), wanted[second])
                upgrade(modes[first])
                self.assertEqual(contexts(), wanted[first])
        helm("uninstall", "binnacle")

    def test_the_agent_s_container_has_what_its_mode_sets_and_nothing_else(self):
        self.switched(MODES)

    def test_so_has_the_sidecar(self):
        self.switched(SIDECARS)

    def test_a_rollback_takes_the_sidecar_away_that_a_failed_upgrade_brought(self):
        # As the chart's README says: another upgrade would leave it.
        upgrade(MODES["hardened"])
        upgrade_in_vain(SIDECARS["a privileged sidecar"])
        self.assertIn("ipmi", contexts())
        helm("rollback", "binnacle")
        self.assertEqual(list(contexts()), ["agent"])
        helm("uninstall", "binnacle")


if __name__ == "__main__":
    run_tests(__doc__)
