"""The IPMI sidecar in a real pod: what a node without the device gets; and with a device, a BMC's readings, while the sidecar is killed and its BMC hangs.

The device is simulated as in the other tests: this machine has no /dev/ipmi0, and none can be made without a driver. OpenIPMI's simulator runs in the pod's
own network, and a preloaded library leads the sidecar's /dev/ipmi0 there (../support/bmc/ipmi_device_shim.cpp).

Run by scripts/test --kubelet, or by hand: python3 tests/kubelet/ipmi_test.py [TestName]
"""

import json
import pathlib
import shutil
import signal
import unittest

import namespaces
import releases
from nodes import ROOT
from trial import run_tests

BUILD = ROOT / "build"
LAB = None
FOLDER = "/var/lib/bmc"  # on the node
INLET = "host_inlet_temperature_celsius"


def setUpModule():
    global LAB
    LAB = releases.begin("--set", "agent.ipmi.enabled=true", "--set", "aggregator.replicas=1", names=("n1",))


def agent():
    pods = releases.agents(LAB)
    return pods[0] if len(pods) == 1 and releases.is_ready(pods[0]) else None


def inlet(celsius):
    return releases.metric(LAB, INLET) == {"n1": str(celsius)}


def warm(celsius):
    values = LAB.disk("n1", FOLDER) / "values"
    (values / "new").write_text(f"{celsius}\n")
    (values / "new").rename(values / "inlet_temp")


class Sidecar(unittest.TestCase):
    def test_1_without_a_device_the_pod_is_ready_and_its_agent_says_what_is_missing(self):
        if pathlib.Path("/dev/ipmi0").exists():
            self.skipTest("this machine has /dev/ipmi0")
        pod = LAB.wait_for("the agent", agent, 120)
        self.assertEqual([c["name"] for c in pod["status"]["containerStatuses"]], ["agent", "ipmi"])
        LAB.wait_for("values of the others", lambda: "n1" in releases.metric(LAB, "os_load1"), 120)
        self.assertEqual(releases.metric(LAB, INLET), {})
        where = (pod["metadata"]["name"], "-n", "binnacle-agents", "-c")
        LAB.wait_for("the reason in the agent's log", lambda: "/dev/ipmi0" in LAB.kubectl("logs", *where, "agent"), 120)
        self.assertEqual(sum(releases.restarts(LAB).values()), 0)

    def test_2_a_device_s_readings_arrive(self):
        folder = LAB.disk("n1", FOLDER)
        folder.mkdir()
        shutil.copy(BUILD / "tests/support/binnacle-ipmi-device-shim.so", folder / "shim.so")
        LAB.kubectl("patch", "daemonset", "binnacle-agent", "-n", "binnacle-agents", "--type=json", "-p", json.dumps([
            {"op": "add", "path": "/spec/template/spec/volumes/-", "value": {"name": "bmc", "hostPath": {"path": FOLDER, "type": "Directory"}}},
            {"op": "add", "path": "/spec/template/spec/containers/1/volumeMounts/-", "value": {"name": "bmc", "mountPath": FOLDER}},
            {"op": "add", "path": "/spec/template/spec/containers/1/env", "value": [
                {"name": "LD_PRELOAD", "value": f"{FOLDER}/shim.so"}, {"name": "BINNACLE_IPMI_SHIM", "value": f"{FOLDER}/shim"}]}]))
        pod = LAB.wait_for("the new pod", lambda: (p := agent()) and any(v["name"] == "bmc" for v in p["spec"]["volumes"]) and p, 180)
        # In the network of the pod, whose loopback the library connects to.
        _, inside = releases.process(LAB, pod)
        LAB.start("bmc", "nsenter", "-t", LAB.first_process("n1"), "-m", "-p", "--", "nsenter", "-t", inside, "-n", "--",
                  BUILD / "tests/support/binnacle-sim-bmc", "--root", FOLDER)
        LAB.wait_for("the BMC", lambda: "ready" in LAB.log("bmc"), 60)
        LAB.wait_for("the inlet's temperature", lambda: inlet(23), 180)
        warm(44)
        LAB.wait_for("the warmer inlet", lambda: inlet(44), 120)
        # The agent reads these by a socket in a folder that it may not write, and does not see what the sidecar keeps.
        node, number = releases.process(LAB, pod)
        self.assertEqual(LAB.on_node(node, "ls", f"/proc/{number}/root/run/binnacle").split(), ["ipmi.sock"])
        options = {line.split()[1]: line.split()[3].split(",") for line in LAB.on_node(node, "cat", f"/proc/{number}/mounts").splitlines()}
        self.assertIn("ro", options["/run/binnacle"])
        _, sidecar = releases.process(LAB, pod, "ipmi")
        self.assertIn("sdr-_dev_ipmi0", LAB.on_node(node, "ls", f"/proc/{sidecar}/root/var/cache/binnacle-ipmi").split())

    def test_3_a_sidecar_that_is_killed_comes_back_and_its_agent_goes_on(self):
        before = agent()
        releases.signal(LAB, before, "SIGKILL", "ipmi")

        def restarted():
            pod = agent()
            return pod and releases.container(pod, "ipmi")["restartCount"] == 1 and pod
        pod = LAB.wait_for("its restart", restarted, 180)
        self.assertEqual(pod["metadata"]["uid"], before["metadata"]["uid"])
        self.assertEqual(releases.container(pod, "agent")["restartCount"], 0)
        warm(31)
        LAB.wait_for("its readings", lambda: inlet(31), 180)

    def test_4_a_bmc_that_hangs_holds_up_nothing_else(self):
        simulator = int(next(line for line in LAB.on_node("n1", "ps", "-eo", "pid,comm").splitlines() if "ipmi_sim" in line).split()[0])
        LAB.on_node("n1", "kill", f"-{int(signal.SIGSTOP)}", str(simulator))
        releases.give_number(LAB, "n1", "beside", 7)
        LAB.wait_for("a value of another source", lambda: releases.metric(LAB, "beside") == {"n1": "7"}, 120)
        self.assertIsNotNone(agent())
        LAB.on_node("n1", "kill", f"-{int(signal.SIGCONT)}", str(simulator))
        warm(35)
        LAB.wait_for("its readings", lambda: inlet(35), 300)

    def test_5_agent_and_sidecar_end_in_order_and_within_their_grace_period(self):
        for name, (status, took, grace) in releases.ends(releases.last_state(LAB, agent())).items():
            with self.subTest(name):
                self.assertEqual(status, 0)
                self.assertLessEqual(took, grace)


if __name__ == "__main__":
    namespaces.enter_tests()
    run_tests(__doc__)
