"""A trial installation on loopback: certificates, an aggregator, agents, simulated packages.

The demo and the integration tests stand on it. Only the Python standard library. Ends every process that it started, by its id, and
removes its folder.
"""

import argparse
import atexit
import http.client
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
# How many times as long as usual what is waited for may take: on a machine that is emulated, for example.
PATIENCE = float(os.environ.get("BINNACLE_PATIENCE", "1"))
FACES = {"ingest": 9110, "extender": 9001, "metrics": 6443, "ops": 9102, "health": 8081}


class Failure(Exception):
    """What was waited for did not come; the text ends with the programs' last words."""


claims = []


def claimed(port):
    """Whether the port is this process's from now on. The claim is an abstract Unix socket: other trials in this network namespace see it, and it ends with
    the process."""
    claim = socket.socket(socket.AF_UNIX)
    try:
        claim.bind(f"\0binnacle-trial-port-{port}")
    except OSError:
        claim.close()
        return False
    claims.append(claim)
    return True


def free_port(wanted=0):
    """`wanted` if nobody has it, else one that no trial was given, below the range that the kernel gives to other programs by itself (ip_local_port_range):
    it is still free when a program of ours binds it a moment later."""
    for port in ([wanted] if wanted else []) + random.sample(range(20_000, 32_000), 100):
        if not claimed(port):
            continue
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
    raise Failure("no free port on loopback")


def free_ports():
    """A port for each face of one more replica."""
    return {face: free_port() for face in FACES}


def decimal(quantity):
    """The number of a Kubernetes quantity without a binary suffix: 88100m is 88.1. A small number may come in u or n."""
    scale = {"n": 1e-9, "u": 1e-6, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}.get(quantity[-1])
    return float(quantity[:-1]) * scale if scale else float(quantity)


def pod(name, policy="power-policy", namespace="default"):
    """A pod as kube-scheduler sends it."""
    return {
        "metadata": {"name": name, "namespace": namespace, "uid": f"uid-{name}", "labels": {"app": name, "telemetry-policy": policy}},
        "spec": {"containers": [{"name": name, "image": "nginx", "resources": {"limits": {"telemetry/scheduling": "1"}}}]},
        "status": {},
    }


class Caller:
    """One keep-alive TLS connection with a client certificate. Its timeout is for what hangs, not for a machine that is busy."""

    def __init__(self, port, pki, who, timeout=30):
        context = ssl.create_default_context(cafile=str(pki / "server-ca.crt"))
        context.load_cert_chain(pki / f"client-{who}.crt", pki / f"client-{who}.key")
        self.connection = http.client.HTTPSConnection("localhost", port, context=context, timeout=timeout)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def request(self, method, path, body=None, headers=None):
        """(status, text, milliseconds)"""
        began = time.perf_counter()
        self.connection.request(method, path, body, headers or {})
        answer = self.connection.getresponse()
        text = answer.read().decode()
        return answer.status, text, (time.perf_counter() - began) * 1000


class Scheduler(Caller):
    """kube-scheduler's side of the extender: nodeCacheCapable, its JSON."""

    def call(self, verb, for_pod, nodes):
        """(decoded answer, milliseconds)"""
        body = json.dumps({"Pod": for_pod, "Nodes": None, "NodeNames": nodes})
        status, text, took = self.request("POST", f"/scheduler/{verb}", body, {"Content-Type": "application/json"})
        if status != 200:
            raise Failure(f"{verb} answered {status}: {text}")
        return json.loads(text), took


def run_tests(about=None, holder="__main__", missing=None):
    """The main part of a file of tests: `--build DIR` becomes the BUILD of module `holder`, the rest is unittest's. `missing`: why they cannot run here, and
    the remedy; they are skipped then."""
    if missing:
        print("skipped:", missing)
        sys.exit(77)  # meson's status for that
    parser = argparse.ArgumentParser(description=about, add_help=about is not None)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    arguments, rest = parser.parse_known_args()
    sys.modules[holder].BUILD = arguments.build.resolve()
    unittest.main(module="__main__", argv=[sys.argv[0], *rest], verbosity=2)


def terminated(number, _):
    """Ends a script as Ctrl-C does: unittest takes no other exception for the end of everything."""
    raise KeyboardInterrupt(f"signal {number}")


class Processes:
    """Programs that were started together, with their logs, below one folder. stop() ends them by their ids; so does the end of the script,
    whatever ends it, unless they are to outlive it."""

    def __init__(self, folder, outlive=False):
        self.folder = folder
        self.logs = folder / "logs"
        self.logs.mkdir(exist_ok=True)
        self.processes = {}
        self.outlive = outlive
        if outlive:
            return
        atexit.register(self.stop)
        if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, terminated)

    def start(self, name, *command):
        # A session of its own: Ctrl-C is for the script, which then ends them in order. And the kernel ends them if the script is killed; if that
        # was before the kernel was asked for it, the program does not begin.
        tied = [] if self.outlive else ["setpriv", "--pdeathsig", "KILL", "--", "sh", "-c", '[ "$PPID" = "$0" ] && exec "$@"', str(os.getpid())]
        with open(self.logs / f"{name}.log", "ab") as log:
            process = subprocess.Popen([*tied, *[str(word) for word in command]], stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                                       start_new_session=True)
        self.processes[name] = process
        return process

    def end(self, name, number=signal.SIGTERM, seconds=60):
        """Ends one program; its exit status."""
        process = self.processes.pop(name)
        if process.poll() is None:
            process.send_signal(number)
        return process.wait(seconds)

    def log(self, name):
        return (self.logs / f"{name}.log").read_text(errors="replace")

    def check_alive(self):
        for name, process in self.processes.items():
            if process.poll() is not None:
                raise Failure(f"{name} ended with status {process.returncode}; its log ends:\n{self.log(name)[-2000:]}")

    def wait_for(self, what, ready, seconds=60.0):
        """The first true value of ready()."""
        seconds *= PATIENCE
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self.check_alive()
            value = ready()
            if value:
                return value
            time.sleep(0.02 * PATIENCE)
        words = "\n".join(f"--- {name}\n{self.log(name)[-800:]}" for name in self.processes)
        raise Failure(f"waited {seconds:.0f} s in vain for {what}\n{words}")

    def stop(self):
        for process in self.processes.values():
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + 10
        for process in self.processes.values():
            try:
                process.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
        atexit.unregister(self.stop)


EVERY_SOURCE = "rapl,os,pmu,bmc,textfile,scrape,path,rdt"


class Trial(Processes):
    def __init__(self, build=ROOT / "build", usual_ports=False):
        super().__init__(pathlib.Path(tempfile.mkdtemp(prefix="binnacle-trial-")))
        self.build = pathlib.Path(build)
        self.pki = self.folder / "pki"
        self.policies = self.folder / "policies"
        self.policies.mkdir()
        self.ports = {face: free_port(port if usual_ports else 0) for face, port in FACES.items()}

    # The parts

    def make_certificates(self, nodes, server_names=(), more=()):
        """For these nodes; the aggregator's also has `server_names`. More flags are scripts/pki's."""
        subprocess.run([ROOT / "scripts/pki", self.pki, "--days", "1", "--server", ",".join(["aggregator", *server_names]), "--client", "scheduler",
                        "--client", "cli", *[word for node in nodes for word in ("--node", node)], *more], check=True, stdout=subprocess.DEVNULL)

    def write_policy(self, text, name="policy.yaml"):
        (self.policies / name).write_text(text)

    def start_aggregator(self, *more, address="127.0.0.1", under=(), drain="100ms", name="aggregator", ports=None):
        """`under`: a command that runs it, ["env", "NAME=value"]. `name`, `ports`: of another replica than the first."""
        ports = ports or self.ports
        self.start(name, *under, self.build / "aggregator/binnacle-aggregator", "--address", address,
                   "--policies", self.policies, "--policy-poll", "200ms", "--drain", drain, "--cert", self.pki / "aggregator.crt",
                   "--key", self.pki / "aggregator.key", "--agents-ca", self.pki / "agents-ca.crt", "--clients-ca", self.pki / "clients-ca.crt",
                   *[word for face, port in ports.items() for word in (f"--{face}-port", port)], *more)
        self.wait_for("the aggregator", lambda: self.aggregator_lives(ports, address or "127.0.0.1"))

    @staticmethod
    def aggregator_lives(ports, address):
        connection = http.client.HTTPConnection(address, ports["health"], timeout=15)
        try:
            connection.request("GET", "/livez")
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()

    def sysroot(self, node):
        return self.folder / node / "sys"

    def start_package(self, node, watts, *more):
        """A simulated powercap tree whose energy advances; heat() changes its watts, or stops a counter ("psys stop"). "--sensors" adds hwmon, thermal zones and resctrl."""
        self.sysroot(node).mkdir(parents=True, exist_ok=True)
        self.start(f"powercap-{node}", self.build / "tests/support/binnacle-sim-powercap", "--root", self.sysroot(node), "--watts", round(watts), *more)
        self.wait_for(f"the package of {node}", lambda: "ready" in self.log(f"powercap-{node}"))

    def heat(self, node, watts):
        (self.sysroot(node) / "watts").write_text(f"{watts}\n")

    def start_bmc(self, node, in_band=False):
        """A simulated BMC (OpenIPMI's ipmi_sim); the flags that make an agent read it, over the network or as the BMC of its own machine. warm()
        changes a sensor."""
        folder = self.folder / node / "bmc"
        folder.mkdir(parents=True, exist_ok=True)
        self.start(f"bmc-{node}", self.build / "tests/support/binnacle-sim-bmc", "--root", folder)
        address = self.wait_for(f"the BMC of {node}", lambda: [line[6:] for line in self.log(f"bmc-{node}").splitlines() if line.startswith("ready ")])[0]
        settings = folder / "ipmi.yaml"
        # ipmi_sim lets only administrators use DCMI, and wants the workaround.
        settings.write_text(f"privilege: admin\nworkarounds: [opensesspriv]\ncache-folder: {folder / 'cache'}\n")
        if in_band:
            # The agent gives its helper nothing of its own environment, so what makes a file the device comes in between.
            helper = folder / "binnacle-ipmi"
            helper.write_text(f'#!/bin/sh\nexec env $(cat {folder}/in-band.env) {self.build.absolute()}/agent/ipmi/binnacle-ipmi "$@"\n')
            helper.chmod(0o755)
            return ["--bmc-device", folder / "ipmi0", "--ipmi-helper", helper, "--ipmi-config", settings]
        return ["--bmc-host", address, "--bmc-credentials-file", folder / "bmc", "--ipmi-config", settings]

    def warm(self, node, sensor, value):
        (self.folder / node / "bmc" / "values" / sensor).write_text(f"{value}\n")

    def start_agent(self, node, *more, certificate=None, token_file=None, scrape=0, name=None, under=(), host="localhost"):
        """`host`: where it looks for aggregators. `scrape`: the port of its own /metrics; 0: any, None: it has none. `under`: a command that runs it."""
        who = certificate or node
        identity = ["--token-file", token_file] if token_file else ["--cert", self.pki / f"node-{who}.crt", "--key", self.pki / f"node-{who}.key"]
        # Where the caller names no BMC, there is none: this machine's own would be both nodes' meter.
        bmc = [] if {"--bmc-device", "--bmc-host"} & set(more) else ["--bmc-device", self.folder / "no-ipmi"]
        self.start(name or node, *under, self.build / "agent/binnacle-agent", "--node-name", node, "--aggregator", f"{host}:{self.ports['ingest']}",
                   *identity, "--ca", self.pki / "server-ca.crt",
                   "--listen", "" if scrape is None else f"127.0.0.1:{scrape or free_port()}", *bmc, *more)

    # What users ask

    def scheduler(self, ports=None):
        return Scheduler((ports or self.ports)["extender"], self.pki, "scheduler")

    def ask(self, face, path, ports=None):
        """(status, text) of a GET with the CLI's certificate."""
        with Caller((ports or self.ports)[face], self.pki, "cli") as caller:
            status, text, _ = caller.request("GET", path)
        return status, text

    def metric(self, name, node="%2A", ports=None):
        """The items of the custom metrics API, [] when there are none."""
        status, text = self.ask("metrics", f"/apis/custom.metrics.k8s.io/v1beta2/nodes/{node}/{name}", ports)
        return json.loads(text)["items"] if status == 200 else []

    def cli_environment(self):
        return {"BINNACLE_AGGREGATOR": f"https://localhost:{self.ports['ops']}", "BINNACLE_CA": str(self.pki / "server-ca.crt"),
                "BINNACLE_CERT": str(self.pki / "client-cli.crt"), "BINNACLE_KEY": str(self.pki / "client-cli.key")}

    def cli(self, *words):
        """The finished `binnacle` command."""
        return subprocess.run([self.build / "cli/binnacle", *words], env=dict(os.environ, **self.cli_environment()), capture_output=True,
                              text=True, timeout=60, check=False)
