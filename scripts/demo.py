"""The demo's director: starts the real programs, plays kube-scheduler's part, and says what one sees."""

import argparse
import http.client
import json
import os
import pathlib
import select
import signal
import sys
import time

from trial import ROOT, Failure, Trial, free_port, pod

NODES = {"node7": 22.0, "node8": 24.0, "node9": 19.0}  # watts at rest, like the three machines of the OpenShift demo
REAL = "node7"  # reads this machine's own package, if there is one that may be read
HOT = "node8"
HOT_WATTS = 85.0
METRIC = "collectd_package_0_power_power"


def policy(limit):
    return f"""\
apiVersion: telemetry.intel.com/v1alpha1
kind: TASPolicy
metadata:
  name: power-policy
  namespace: default
spec:
  strategies:
    dontschedule:
      rules:
      - metricname: {METRIC}
        operator: GreaterThan
        target: {limit}
    scheduleonmetric:
      rules:
      - metricname: {METRIC}
        operator: LessThan
    deschedule:
      rules:
      - metricname: {METRIC}
        operator: GreaterThan
        target: {limit + 3}
"""


def energy_counter():
    """Of this machine's package 0; None where the kernel shows none. Source: Documentation/power/powercap/powercap.rst."""
    for zone in sorted(pathlib.Path("/sys/class/powercap").glob("intel-rapl:[0-9]*")):
        try:
            if (zone / "name").read_text().strip() == "package-0":
                return zone / "energy_uj"
        except OSError:
            pass
    return None


def watts_of(counter):
    """Over a second; the counter wraps within hours, so the second try holds."""
    for _ in range(2):
        before, began = int(counter.read_text()), time.monotonic()
        time.sleep(1)
        used, took = int(counter.read_text()) - before, time.monotonic() - began
        if used >= 0:
            return used / 1e6 / took
    raise Failure(f"{counter} goes backwards")


MOST_WATTS = 1000  # of a package


def own_watts(counter):
    """This machine's, and why they are not used: then they are 0. The agent believes such a counter as little."""
    if counter is None:
        return 0, "no RAPL on this machine"
    if not os.access(counter, os.R_OK):
        return 0, "only root may read this machine's RAPL (try sudo scripts/demo)"
    try:
        watts = watts_of(counter)
    except (OSError, ValueError, Failure) as problem:
        return 0, f"this machine's RAPL cannot be used ({problem})"
    if watts < 1:
        return 0, f"this machine's RAPL says {watts:.1f} W, too little to show"
    if watts > MOST_WATTS:
        return 0, f"this machine's RAPL says {watts:.0f} W for one package, which cannot be"
    return watts, ""


def limit_and_heat(own):
    """The policy's limit, above what this machine takes now, so that it may run pods, unless it gets busy; and the watts of the hot node, which pass it. A
    simulated package has a TDP of 205 W: more than four times that, an agent does not believe."""
    limit = min(max(30, round(own * 1.5)), 600)
    return limit, max(HOT_WATTS, min(2.5 * limit, 800))


COLOUR = sys.stdout.isatty() and "NO_COLOR" not in os.environ


def paint(text, code):
    return f"\033[{code}m{text}\033[0m" if COLOUR else text


class Steps:
    """Says which step of how many begins, and how long the rest took last time (kept in build-progress/, as scripts/progress does)."""

    COUNT = 6
    TIMES = ROOT / "build-progress/demo-steps"

    def __init__(self):
        self.began = []
        try:
            self.last = [float(line) for line in self.TIMES.read_text().split()]
        except (OSError, ValueError):
            self.last = []

    def next(self, text):
        self.began.append(time.monotonic())
        number = len(self.began)
        rest = sum(self.last[number - 1:]) if len(self.last) == self.COUNT else 0
        step(f"{number} of {self.COUNT}. {text}" + (f" (about {rest:.0f} s to the end)" if rest >= 2 else ""))

    def end(self):
        took = [after - before for before, after in zip(self.began, [*self.began[1:], time.monotonic()])]
        self.TIMES.parent.mkdir(exist_ok=True)
        self.TIMES.write_text(" ".join(f"{seconds:.1f}" for seconds in took) + "\n")


def step(text):
    print("\n" + paint(text, "1"), flush=True)


def say(text):
    print("  " + text, flush=True)


class Demo(Trial):
    origin = key = ""  # of the dashboard

    def run(self, keep_up, opened=False):
        self.steps = Steps()
        own, why_not = own_watts(energy_counter())
        real = own > 0
        self.at_rest = dict(NODES, **({REAL: own} if real else {}))
        self.limit, self.hot_watts = limit_and_heat(own)

        self.steps.next("Certificates for a day's trial (scripts/pki)")
        self.make_certificates(NODES)
        say("one for each node, one for the aggregator, one for the scheduler, one for you")

        self.steps.next("The aggregator, with the OpenShift demo's power policy, old metric name and all")
        self.write_policy(policy(self.limit), "power-policy.yaml")
        say(f"dontschedule where {METRIC} > {self.limit} W, prefer the lowest, deschedule above {self.limit + 3} W")
        self.start_aggregator()

        self.steps.next("Three agents")
        if real:
            say(f"{REAL} reads this machine's own RAPL; the others have simulated packages, whose energy counters advance as real ones do")
        else:
            say(f"{why_not}: three simulated packages, whose energy counters advance as real ones do")
        simulated = [node for node in NODES if not (real and node == REAL)]
        scrapes = {node: free_port(9103 + number) for number, node in enumerate(NODES)}
        for node, watts in self.at_rest.items():
            if node in simulated:
                self.start_simulated(node, scrapes[node])
            else:
                self.start_agent(node, scrape=scrapes[node])
            say(f"{node}: {watts:.0f} W at rest, its own /metrics on http://127.0.0.1:{scrapes[node]}/metrics")
        if real and not self.keeps_real(scrapes[REAL]):
            simulated = list(NODES)
        self.wait_for("the first watts of every node", lambda: len(self.metric(METRIC)) == len(NODES))
        say("(ten seconds, so that the ten-second mean which the old name stands for is a whole one)")
        time.sleep(10)

        self.steps.next("kube-scheduler asks: where may pod default/tasdemo run, and where best?")
        scheduler = self.scheduler()
        answer, took = scheduler.call("filter", pod("tasdemo"), list(NODES))
        self.show(answer, took)
        ranking, took = scheduler.call("prioritize", pod("tasdemo"), answer["NodeNames"])
        scores = ", ".join(f"{row['Host']} {row['Score']}" for row in sorted(ranking, key=lambda row: -row["Score"]))
        say(f"prioritize: {scores}   (answered in {took:.2f} ms)")
        self.show_cli("why", "tasdemo")
        # What a real package takes meanwhile is its own affair: only the others' outcome is known.
        assert set(simulated) <= set(answer["NodeNames"]), answer
        score = {row["Host"]: row["Score"] for row in ranking}
        assert score[min(simulated, key=NODES.get)] == max(score[node] for node in simulated), ranking
        self.heat_one(scheduler, simulated)
        self.wait_for("status, filter and why to agree", lambda: self.agrees(scheduler))

        self.steps.next("The fleet at a glance")
        self.show_cli("status")
        self.show_cli("top", "--once")
        self.steps.end()
        if keep_up:
            self.stay_up(opened)
        step("Done: the loop is closed.")

    def start_simulated(self, node, scrape):
        self.start_package(node, NODES[node])
        self.start_agent(node, "--sys-root", self.sysroot(node), scrape=scrape)

    def keeps_real(self, scrape):
        """Whether the agent believes this machine's package. It knows more reasons not to than own_watts(); then REAL has a simulated package, too."""
        try:
            self.wait_for(f"the first watts of {REAL}", lambda: any(item["describedObject"]["name"] == REAL for item in self.metric(METRIC)), seconds=20)
            return True
        except Failure:
            self.check_alive()
        self.end(REAL)
        self.start_simulated(REAL, scrape)
        say(f"{REAL}'s agent does not use this machine's RAPL (binnacle-agent --probe says why): {REAL} has a simulated package of {NODES[REAL]:.0f} W, too")
        return False

    def heat_one(self, scheduler, simulated):
        self.steps.next(f"{HOT} gets hot: {NODES[HOT]:.0f} W -> {self.hot_watts:.0f} W")
        self.heat(HOT, self.hot_watts)
        heated = time.perf_counter()

        def refused():
            answer, took = scheduler.call("filter", pod("tasdemo"), list(NODES))
            return (answer, took) if HOT not in answer["NodeNames"] else None

        answer, took = self.wait_for(f"{HOT} to be refused", refused)
        delay = (time.perf_counter() - heated) * 1000
        self.show(answer, took)
        say(paint(f"from the change of watts to the scheduler's refusal: {delay:.0f} ms", "1;32"))
        rising = 10 * (self.limit - NODES[HOT]) / (self.hot_watts - NODES[HOT])
        say(f"(of it, about {rising:.0f} s until the ten-second mean passed {self.limit} W)")
        self.show_cli("why", "tasdemo")
        assert set(answer["NodeNames"]) >= set(simulated) - {HOT}, answer
        assert HOT in answer["FailedAndUnresolvableNodes"], answer

    def agrees(self, scheduler):
        """Whether status counts as violating, and why lists as refused, what filter refuses."""
        answer, _ = scheduler.call("filter", pod("tasdemo"), list(NODES))
        refused = sorted(answer["FailedAndUnresolvableNodes"])
        status, why = (json.loads(self.cli(*words, "-o", "json").stdout) for words in (["status"], ["why", "tasdemo"]))
        counted = {s["strategy"]: s["violating"] for s in status["policies"]["strategies"] if s["policy"] == "default/power-policy"}
        told = next(d for d in why["decisions"] if d["verb"] == "filter")
        return counted["dontschedule"] == len(refused) and sorted(n["node"] for n in told["nodes"] if n["verdict"] == "refused") == refused

    def stay_up(self, opened):
        step("It stays up. In another terminal:")
        curl = f"curl --cacert {self.pki}/server-ca.crt --cert {self.pki}/client-cli.crt --key {self.pki}/client-cli.key"
        say("export " + " ".join(f"{key}={value}" for key, value in self.cli_environment().items()))
        for words in ("top", "dashboard", "why tasdemo"):
            say(f"{self.build}/cli/binnacle {words}")
        say(f"echo {self.hot_watts:.0f} > {self.sysroot('node9')}/watts         # heat another node")
        say(f"{curl} https://localhost:{self.ports['metrics']}/apis/custom.metrics.k8s.io/v1beta2/nodes/%2A/rapl_power_watts")
        say(f"{curl} https://localhost:{self.ports['ops']}/metrics")
        say(f"edit {self.policies}/power-policy.yaml            # read again within a second")
        say("Ctrl-C ends everything.")
        self.start_dashboard(opened)
        asks = sys.stdin.isatty()
        step("The dashboard, for one page, within ten minutes" + ("; Enter prints another link:" if asks else ":"))
        say(paint(self.new_link(), "1;36"))
        while True:
            self.check_alive()
            if not asks:
                time.sleep(0.5)
            elif select.select([sys.stdin], [], [], 0.5)[0]:
                asks = sys.stdin.readline() != ""  # an end of input: nobody will ask
                if asks:
                    say(paint(self.new_link(), "1;36"))

    def start_dashboard(self, opened):
        """One that runs until the demo ends; `opened`: in this desktop's browser, where there is one."""
        environment = [f"{key}={value}" for key, value in self.cli_environment().items()]
        self.start("dashboard", "env", *environment, self.build / "cli/binnacle", "dashboard", "-o", "json", *(["--open"] if opened else []))
        self.wait_for("the dashboard", lambda: '"link"' in self.log("dashboard"))
        *complaints, told = self.log("dashboard").strip().splitlines()
        for line in complaints:
            say(line)
        origin, link = json.loads(told)["link"].split("/#link=")
        # The demo is a page like others: it makes links for as long as it runs.
        self.origin = origin.removeprefix("http://")
        self.key = self.asked("/open", json.dumps({"link": link}))["key"]

    def asked(self, path, body=""):
        connection = http.client.HTTPConnection(self.origin, timeout=30)
        connection.request("POST", path, body, {"Authorization": f"Bearer {self.key}"})
        return json.loads(connection.getresponse().read())

    def new_link(self):
        return self.asked("/link")["link"]

    def show(self, answer, took):
        for name in NODES:
            reason = (answer["FailedAndUnresolvableNodes"] or {}).get(name)
            say(f"{name}  " + (paint("refused: " + reason, "31") if reason else paint("may run here", "32")))
        say(f"(filter answered in {took:.2f} ms)")

    def show_cli(self, *words):
        say(paint(f"$ binnacle {' '.join(words)}", "36"))
        done = self.cli(*words)
        for line in (done.stdout + done.stderr).splitlines():
            say("  " + line)
        if done.returncode != 0:
            raise Failure(f"binnacle {' '.join(words)} ended with status {done.returncode}")


def main():
    parser = argparse.ArgumentParser(prog="scripts/demo", description="The whole loop on this machine.")
    parser.add_argument("--once", action="store_true", help="assert the outcome and end")
    parser.add_argument("--open", action="store_true", help="also open the dashboard in this desktop's browser")
    arguments = parser.parse_args()
    if arguments.once and arguments.open:
        parser.error("--once ends before there is a dashboard to open")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    demo = Demo(usual_ports=True)
    try:
        demo.run(keep_up=not arguments.once, opened=arguments.open)
    except KeyboardInterrupt:
        print()
    except Failure as why:
        raise SystemExit(f"demo: {why}") from None
    finally:
        demo.stop()


if __name__ == "__main__":
    main()
