"""The demo's director: starts the real programs, plays kube-scheduler's part, and says what one sees.

Only the Python standard library. Ends every process it started, by its id, and removes its folder.
"""

import argparse
import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
NODES = {"node7": 22.0, "node8": 24.0, "node9": 19.0}  # watts at rest, like the three machines of the OpenShift demo
HOT = "node8"
HOT_WATTS = 85.0
LIMIT = 30

POLICY = f"""\
apiVersion: telemetry.intel.com/v1alpha1
kind: TASPolicy
metadata:
  name: power-policy
  namespace: default
spec:
  strategies:
    dontschedule:
      rules:
      - metricname: collectd_package_0_power_power
        operator: GreaterThan
        target: {LIMIT}
    scheduleonmetric:
      rules:
      - metricname: collectd_package_0_power_power
        operator: LessThan
    deschedule:
      rules:
      - metricname: collectd_package_0_power_power
        operator: GreaterThan
        target: {LIMIT + 3}
"""

COLOUR = sys.stdout.isatty() and "NO_COLOR" not in os.environ


def paint(text, code):
    return f"\033[{code}m{text}\033[0m" if COLOUR else text


def step(text):
    print("\n" + paint(text, "1"), flush=True)


def say(text):
    print("  " + text, flush=True)


def free_port(wanted):
    """The usual port if nobody has it, else any."""
    for port in (wanted, 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
                return probe.getsockname()[1]
            except OSError:
                continue
    raise SystemExit("demo: no free port on loopback")


class Scheduler:
    """kube-scheduler's side of the extender: its JSON, its keep-alive TLS connection, its certificate."""

    def __init__(self, port, pki):
        context = ssl.create_default_context(cafile=str(pki / "server-ca.crt"))
        context.load_cert_chain(pki / "client-scheduler.crt", pki / "client-scheduler.key")
        self.connection = http.client.HTTPSConnection("localhost", port, context=context, timeout=5)

    def call(self, verb, pod, nodes):
        body = {"Pod": pod, "Nodes": None, "NodeNames": nodes}
        began = time.perf_counter()
        self.connection.request("POST", f"/scheduler/{verb}", json.dumps(body), {"Content-Type": "application/json"})
        answer = self.connection.getresponse()
        text = answer.read()
        took = (time.perf_counter() - began) * 1000
        if answer.status != 200:
            raise SystemExit(f"demo: {verb} answered {answer.status}: {text.decode(errors='replace')}")
        return json.loads(text), took


def pod(name):
    return {
        "metadata": {"name": name, "namespace": "default", "uid": "demo-0001", "labels": {"app": "demo", "telemetry-policy": "power-policy"}},
        "spec": {"containers": [{"name": name, "image": "nginx", "resources": {"limits": {"telemetry/scheduling": "1"}}}]},
        "status": {},
    }


class Demo:
    def __init__(self, keep_up):
        self.keep_up = keep_up
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="binnacle-demo-"))
        self.processes = []
        self.logs = self.folder / "logs"
        self.pki = self.folder / "pki"
        self.policies = self.folder / "policies"
        for path in (self.logs, self.policies):
            path.mkdir()

    def start(self, name, *command):
        log = open(self.logs / f"{name}.log", "wb")
        process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
        self.processes.append((name, process))
        return process

    def check_alive(self):
        for name, process in self.processes:
            if process.poll() is not None:
                tail = (self.logs / f"{name}.log").read_text(errors="replace")[-2000:]
                raise SystemExit(f"demo: {name} ended with status {process.returncode}; its log ends:\n{tail}")

    def wait_for(self, what, ready, seconds=20.0):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self.check_alive()
            value = ready()
            if value:
                return value
            time.sleep(0.02)
        for name, _ in self.processes:
            tail = (self.logs / f"{name}.log").read_text(errors="replace")[-600:]
            print(f"--- {name}\n{tail}")
        raise SystemExit(f"demo: waited {seconds:.0f} s in vain for {what}")

    def run(self):
        ports = {key: free_port(port) for key, port in
                 {"ingest": 9110, "extender": 9001, "metrics": 6443, "ops": 9102, "health": 8081}.items()}
        real = any(pathlib.Path("/sys/class/powercap").glob("intel-rapl:*/energy_uj"))

        step("1. Certificates for an hour's trial (scripts/pki)")
        subprocess.run([ROOT / "scripts/pki", self.pki, "--days", "1", "--server", "aggregator", "--client", "scheduler", "--client", "cli",
                        *[word for node in NODES for word in ("--node", node)]], check=True, stdout=subprocess.DEVNULL)
        say("one certificate per node, one for the aggregator, one for the scheduler, one for you")

        step("2. The aggregator, with the OpenShift demo's power policy as it is")
        (self.policies / "power-policy.yaml").write_text(POLICY)
        say(f"dontschedule when collectd_package_0_power_power > {LIMIT} W, prefer the lowest, deschedule above {LIMIT + 3} W")
        self.start("aggregator", BUILD / "aggregator/binnacle-aggregator", "--address", "127.0.0.1",
                   "--policies", self.policies, "--cert", self.pki / "aggregator.crt", "--key", self.pki / "aggregator.key",
                   "--agents-ca", self.pki / "agents-ca.crt", "--clients-ca", self.pki / "clients-ca.crt",
                   *[word for key, port in ports.items() for word in (f"--{key}-port", port)])
        self.wait_for("the aggregator", lambda: self.get_health(ports["health"]))

        step("3. Three agents")
        sysroots = {}
        for node, watts in NODES.items():
            sysroot = self.folder / node / "sys"
            sysroot.mkdir(parents=True)
            sysroots[node] = sysroot
            if not real:
                self.start(f"powercap-{node}", BUILD / "tests/support/binnacle-sim-powercap", "--root", sysroot, "--watts", watts)
        if real:
            say("this machine has RAPL: every agent reads the real package; the heat below is left to you (stress-ng)")
        else:
            say("this machine has no RAPL: three simulated packages, whose energy counters advance as real ones do")
        for number, node in enumerate(NODES):
            scrape = free_port(9103 + number)
            self.start(node, BUILD / "agent/binnacle-agent", "--node-name", node, "--aggregator", f"localhost:{ports['ingest']}",
                       "--cert", self.pki / f"node-{node}.crt", "--key", self.pki / f"node-{node}.key", "--ca", self.pki / "server-ca.crt",
                       "--listen", f"127.0.0.1:{scrape}", *([] if real else ["--sys-root", sysroots[node]]))
            say(f"{node}: " + (f"{NODES[node]:.0f} W at rest, " if not real else "") + f"its own /metrics on http://127.0.0.1:{scrape}/metrics")

        scheduler = Scheduler(ports["extender"], self.pki)
        names = list(NODES)
        self.wait_for("the first watts of every node", lambda: self.fresh(ports))

        step("4. kube-scheduler asks: where may pod default/tasdemo run, and where best?")
        answer, took = scheduler.call("filter", pod("tasdemo"), names)
        self.show(answer, took)
        ranking, took = scheduler.call("prioritize", pod("tasdemo"), answer["NodeNames"])
        say("prioritize: " + ", ".join(f"{row['Host']} {row['Score']}" for row in sorted(ranking, key=lambda row: -row["Score"])) + f"   ({took:.2f} ms)")
        self.cli(ports, "why", "tasdemo")
        if not real:
            assert sorted(answer["NodeNames"]) == sorted(names), answer
            best = max(ranking, key=lambda row: row["Score"])
            assert best["Host"] == min(NODES, key=NODES.get), ranking

            step(f"5. {HOT} gets hot: {NODES[HOT]:.0f} W -> {HOT_WATTS:.0f} W")
            (sysroots[HOT] / "watts").write_text(f"{HOT_WATTS}\n")
            heated = time.perf_counter()

            def refused():
                reply, took = scheduler.call("filter", pod("tasdemo"), names)
                return (reply, took) if HOT not in reply["NodeNames"] else None

            answer, took = self.wait_for(f"{HOT} to be refused", refused)
            delay = (time.perf_counter() - heated) * 1000
            self.show(answer, took)
            say(paint(f"from the change of watts to the scheduler's refusal: {delay:.0f} ms", "1;32")
                + " (the rule's old collectd name stands for a 10 s mean, which must first pass the limit)")
            self.cli(ports, "why", "tasdemo")
            assert sorted(answer["NodeNames"]) == sorted(set(names) - {HOT}), answer
            assert HOT in answer["FailedAndUnresolvableNodes"], answer

        step("6. The whole fleet at a glance")
        self.cli(ports, "status")
        self.cli(ports, "top", "--once")

        environment = (f"export BINNACLE_AGGREGATOR=https://localhost:{ports['ops']} BINNACLE_CA={self.pki}/server-ca.crt "
                       f"BINNACLE_CERT={self.pki}/client-cli.crt BINNACLE_KEY={self.pki}/client-cli.key")
        if self.keep_up:
            step("It stays up. In another terminal:")
            curl = f"curl --cacert {self.pki}/server-ca.crt --cert {self.pki}/client-cli.crt --key {self.pki}/client-cli.key"
            for line in (environment, f"{BUILD}/cli/binnacle top", f"{BUILD}/cli/binnacle why tasdemo",
                         *([] if real else [f"echo 85 > {sysroots['node7']}/watts      # heat another node"]),
                         f"{curl} https://localhost:{ports['metrics']}/apis/custom.metrics.k8s.io/v1beta2/nodes/%2A/rapl_power_watts",
                         f"{curl} https://localhost:{ports['ops']}/metrics",
                         f"edit {self.policies}/power-policy.yaml   # read again within a second"):
                say(line)
            say("Ctrl-C ends everything.")
            while True:
                self.check_alive()
                time.sleep(0.5)
        step("Demo done: the loop is closed.")

    def get_health(self, port):
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=1)
            connection.request("GET", "/livez")
            return connection.getresponse().status == 200
        except OSError:
            return False

    def fresh(self, ports):
        """Every node has a value of the policy's metric in the custom metrics API."""
        context = ssl.create_default_context(cafile=str(self.pki / "server-ca.crt"))
        context.load_cert_chain(self.pki / "client-cli.crt", self.pki / "client-cli.key")
        connection = http.client.HTTPSConnection("localhost", ports["metrics"], context=context, timeout=2)
        connection.request("GET", "/apis/custom.metrics.k8s.io/v1beta2/nodes/%2A/collectd_package_0_power_power")
        answer = connection.getresponse()
        text = answer.read()
        return answer.status == 200 and len(json.loads(text)["items"]) == len(NODES)

    def show(self, answer, took):
        for name in NODES:
            reason = (answer["FailedAndUnresolvableNodes"] or {}).get(name)
            say(f"{name}  " + (paint("refused: " + reason, "31") if reason else paint("may run here", "32")))
        say(f"filter answered in {took:.2f} ms")

    def cli(self, ports, *words):
        environment = dict(os.environ, BINNACLE_AGGREGATOR=f"https://localhost:{ports['ops']}", BINNACLE_CA=str(self.pki / "server-ca.crt"),
                           BINNACLE_CERT=str(self.pki / "client-cli.crt"), BINNACLE_KEY=str(self.pki / "client-cli.key"))
        print(paint(f"  $ binnacle {' '.join(words)}", "36"), flush=True)
        result = subprocess.run([BUILD / "cli/binnacle", *words], env=environment, capture_output=True, text=True, timeout=20)
        for line in (result.stdout + result.stderr).splitlines():
            say("  " + line)
        if result.returncode != 0:
            raise SystemExit(f"demo: binnacle {' '.join(words)} ended with status {result.returncode}")

    def stop(self):
        for _, process in reversed(self.processes):
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + 10
        for _, process in self.processes:
            try:
                process.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(prog="scripts/demo", description="The whole loop on this machine.")
    parser.add_argument("--once", action="store_true", help="assert the outcome and end")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    demo = Demo(keep_up=not arguments.once)
    try:
        demo.run()
    except KeyboardInterrupt:
        print()
    finally:
        demo.stop()


if __name__ == "__main__":
    main()
