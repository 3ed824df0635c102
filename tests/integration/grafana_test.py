"""The chart's Grafana dashboard: each panel's query, run by a real Prometheus that scraped the real programs, returns what it should.

Prometheus scrapes as the chart's monitors make it scrape, and takes remote write from the same aggregator: a query must not count a series twice.
It also has a node of another cluster, whose name is that of one of ours.

Run by meson (suite integration), or by hand: python3 tests/integration/grafana_test.py --build build
"""

import http.server
import json
import pathlib
import shutil
import threading

import loop
from loop import METRIC, policy, rule
from prometheus import Prometheus, missing
from trial import ROOT, decimal, free_port, pod, run_tests

BOARD = pathlib.Path(ROOT) / "charts/binnacle/dashboards/binnacle.json"
RELEASE, AGENTS = "binnacle", "binnacle-agents"  # namespaces
OWNER = "team-a"  # the policies' namespace: not the one that Prometheus puts on what it scrapes
# One policy for each thing that a policy may say of a node. my_number ends on one of the nodes.
POLICIES = {
    "power": rule("dontschedule", 600),  # far from what either node draws, as the simulated meters are read by a busy machine
    "lacks": rule("dontschedule", 100, "my_number", "      onMissing: Reject\n"),
    "evicts": rule("deschedule", 10, more="      maxNodes: 1\n"),
    "freezes": rule("deschedule", 100, "my_number"),
    "trial": rule("dontschedule", 10),
}
NODES = {"cool": 40, "warm": 800, "lame": 50}  # watts of each; lame's meter stops and its text file goes
HERE, THERE = "west", "east"  # clusters
THEIRS = 111  # watts of the other cluster's node "cool"
ALL = ".*"  # what a variable is in a query when "All" is chosen
ABOUT = 0.05  # two readings of one simulated meter differ by less


def labels_of(one):
    return {name: text for name, text in one["metric"].items() if name != "__name__"}


def number(one):
    return float(one["value"][1])


def filled(expr, cluster=HERE, node=ALL):
    """An expression of the dashboard with its variables in it, as Grafana asks it."""
    return expr.replace("$cluster", cluster).replace("$namespace", ALL).replace("$node", node)


class Grafana(loop.Loop):
    def setUp(self):
        super().setUp()
        self.trial.make_certificates(NODES)
        self.pages = {node: free_port() for node in NODES}
        self.server = Prometheus(self.trial, scrape=self.scrapes(self.other_cluster()))
        self.server.start()
        self.nobody = f"localhost:{free_port()}"  # a replica that is away
        for name, text in POLICIES.items():
            self.write(name, text, "  mode: DryRun\n" if name == "trial" else "")
        self.trial.start_aggregator("--cluster", HERE, "--remote-write", self.server.url, "--remote-write-interval", "1s", "--otlp", self.collector(), "--otlp-interval", "1s")
        for node, watts in NODES.items():
            self.text(node).mkdir(parents=True)
            (self.text(node) / "mine.prom").write_text("my_number 7\n")
            self.trial.start_package(node, watts, "--sensors")
            self.trial.start_agent(node, "--cluster", HERE, "--sys-root", self.trial.sysroot(node), "--aggregator", self.nobody, "--textfile-directory", self.text(node),
                                   "--rapl-least-period", "1s", "--inlet-sensors", "SYSTIN", scrape=self.pages[node])
        self.until("watts of all nodes", lambda: len(self.trial.metric("host_power_watts")) == len(NODES))

    def serve(self, more):
        """The port of a small server whose handler has these methods."""
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

        for name, what in more.items():
            setattr(Handler, name, what)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return server.server_port

    def other_cluster(self):
        """The port of a page as an agent has it."""
        def page(handler):
            text = f"# TYPE host_power_watts gauge\nhost_power_watts {THEIRS}\n".encode()
            handler.send_response(200)
            handler.send_header("Content-Type", "text/plain; version=0.0.4")
            handler.send_header("Content-Length", str(len(text)))
            handler.end_headers()
            handler.wfile.write(text)
        return self.serve({"do_GET": page})

    def collector(self):
        """The URL of something that takes OTLP, so that there is something to count; tests/cluster/databases/otlp_test.py has real servers."""
        def take(handler):
            handler.rfile.read(int(handler.headers["Content-Length"]))
            handler.send_response(200)
            handler.send_header("Content-Length", "0")  # an ExportMetricsServiceResponse without a partial success
            handler.end_headers()
        return f"http://127.0.0.1:{self.serve({'do_POST': take})}/v1/metrics"

    def write(self, name, text, extra=""):
        self.trial.write_policy(policy(text, name, extra).replace("namespace: default", f"namespace: {OWNER}"), f"{name}.yaml")

    def text(self, node):
        return self.trial.folder / node / "textfile"

    def scrapes(self, others):
        """As the operator renders the chart's PodMonitor and ServiceMonitor: its labels on each target, and honorLabels off."""
        pki = self.trial.pki
        agents = [{"targets": [f"localhost:{port}"], "labels": {"namespace": AGENTS, "pod": f"binnacle-agent-{node}", "node": node, "container": "agent", "cluster": HERE}}
                  for node, port in self.pages.items()]
        agents.append({"targets": [f"localhost:{others}"], "labels": {"namespace": AGENTS, "pod": "binnacle-agent-cool", "node": "cool", "container": "agent", "cluster": THERE}})
        return [{"job_name": f"{AGENTS}/binnacle-agent", "static_configs": agents},
                {"job_name": "binnacle", "scheme": "https",
                 "tls_config": {"ca_file": str(pki / "server-ca.crt"), "cert_file": str(pki / "client-cli.crt"), "key_file": str(pki / "client-cli.key")},
                 "static_configs": [{"targets": [f"localhost:{self.trial.ports['ops']}"],
                                     "labels": {"namespace": RELEASE, "pod": "binnacle-0", "service": "binnacle", "endpoint": "ops", "cluster": HERE}}]}]

    def until(self, what, ready):
        return self.trial.wait_for(what, ready)

    # What the aggregator says

    def api(self, path):
        return json.loads(self.trial.ask("ops", path)[1])

    def own(self, family):
        """A family of the aggregator's own /metrics: {its labels' text: number}."""
        found = {}
        for line in self.trial.ask("ops", "/metrics")[1].splitlines():
            name, _, text = line.rpartition(" ")
            if name.split("{")[0] == family:
                found[name.removeprefix(family)] = float(text)
        return found

    def watts(self):
        return {item["describedObject"]["name"]: decimal(item["value"]) for item in self.trial.metric("host_power_watts")}

    def states(self):
        """{(owner/policy, strategy, state): [nodes]} of what policies do not pass."""
        return {(f"{p['namespace']}/{p['name']}", s["strategy"], state): s[state]["nodes"]
                for p in self.api("/api/v1/policies")["policies"] for s in p["strategies"]
                for state in ("violating", "missing", "held", "frozen") if state in s}

    # Checks: each takes the result of a query and says whether it is right. What is measured goes on, so a check is tried again until it is.

    def close(self, wanted):
        return lambda result: len(result) == 1 and abs(number(result[0]) - wanted()) <= ABOUT * wanted()

    @staticmethod
    def equal(wanted, *names):
        """The numbers by their labels `names`, and no other labels."""
        return lambda result: {tuple(labels_of(one)[name] for name in names): number(one) for one in result} == wanted() and all(
            set(labels_of(one)) == set(names) for one in result)

    @staticmethod
    def rows(wanted, *names):
        return lambda result: sorted(tuple(labels_of(one)[name] for name in names) for one in result) == sorted(wanted()) and all(
            set(labels_of(one)) == set(names) for one in result)

    def rates(self, family, label, *moving):
        """Rates by `label` of a counter of the aggregator: each of its series is there, those of `moving` rise, and none that the aggregator has at zero."""
        def right(result):
            counted = {text.split(f'{label}="')[1].split('"')[0]: value for text, value in self.own(family).items()}
            rising = {labels_of(one)[label] for one in result if number(one) > 0}
            return {labels_of(one)[label] for one in result} <= set(counted) and set(moving) <= rising <= {name for name, value in counted.items() if value > 0}
        return right

    @staticmethod
    def within(low, high, *series):
        """All numbers lie between, and the series are these, by their one label."""
        return lambda result: sorted(next(iter(labels_of(one).values()), "") for one in result) == sorted(series or [""]) and all(
            low <= number(one) <= high for one in result)

    def by_node(self, wanted):
        return lambda result: {labels_of(one)["node"] for one in result} == set(wanted()) and all(
            abs(number(one) - wanted()[labels_of(one)["node"]]) <= ABOUT * wanted()[labels_of(one)["node"]] for one in result)

    def wanted(self):
        """For each panel by its title the checks of its queries, in order."""
        watts = self.watts
        inlets = lambda: {i["describedObject"]["name"]: decimal(i["value"]) for i in self.trial.metric("host_inlet_temperature_celsius")}
        utilization = lambda: [decimal(i["value"]) for i in self.trial.metric("os_cpu_utilization_ratio")]
        pods = ("binnacle-0",)

        def own(family, label):
            return self.equal(lambda: {(text.split('"')[1],): value for text, value in self.own(family).items()}, label)

        def share():
            takes, limits = self.own("binnacle_policy_cost"), self.own("binnacle_policy_budget")
            return {(text.split('"')[1],): takes[text] / limits[text] for text in takes}
        return {
            "Power of the fleet": [self.close(lambda: sum(watts().values()))],
            "Nodes with a power figure": [self.equal(lambda: {(): 2}), self.equal(lambda: {(): 3})],
            "The twenty nodes that draw most": [self.by_node(watts)],
            "Power over the fleet": [self.close(lambda: max(watts().values())), self.within(min(watts().values()) / 2, max(watts().values()) * 2),
                                     self.close(lambda: sum(watts().values()) / 2), self.close(lambda: min(watts().values()))],
            "CPU utilization over the fleet": [self.within(0, 1), lambda result: len(result) == 1 and len(utilization()) == 3 and 0 <= number(result[0]) <= 1],
            "The twenty nodes with the warmest air": [lambda result: len(inlets()) > 0 and self.by_node(inlets)(result)],
            "Nodes that policies do not pass": [self.equal(
                lambda: {(*key[0].split("/"), *key[1:]): len(nodes) for key, nodes in self.states().items()}, "owner", "policy", "strategy", "state")],
            "Which nodes these are": [self.rows(
                lambda: [(*key[0].split("/"), *key[1:], node) for key, nodes in self.states().items() for node in nodes],
                "owner", "policy", "strategy", "state", "node")],
            "Policies in force": [self.rows(lambda: [(p["namespace"], p["name"], p["mode"]) for p in self.api("/api/v1/policies")["policies"]], "owner", "policy", "mode")],
            "Conditions of policies": [own("binnacle_policy_conditions", "condition")],
            "Share of their budget that policies take": [self.equal(share, "resource")],
            "Candidates answered a second": [self.rates("binnacle_decisions_total", "verdict", "passed", "refused")],
            "Scheduler calls a second": [lambda result: [labels_of(one) for one in result if number(one) > 0] == [{"verb": "filter", "outcome": "decided"}]],
            "Age of the data that decisions used": [self.within(0, 60), self.within(0, 60)],
            "Time to answer kube-scheduler": [lambda result: {labels_of(one)["verb"] for one in result} == {"filter", "prioritize", "preempt"} and all(
                0 < number(one) < 60 for one in result if labels_of(one)["verb"] == "filter")],
            "Nodes by replica": [self.equal(lambda: {("binnacle-0", "connected"): 3, ("binnacle-0", "disconnected"): 0}, "pod", "state")],
            "Nodes without a link to a replica": [self.rows(lambda: [(node, self.nobody) for node in NODES], "node", "aggregator")],
            "Sources that do not work any more": [self.rows(lambda: [("lame", "textfile")], "node", "source")],
            "Series without a value": [lambda result: any(number(one) > 0 for one in result) and all(set(labels_of(one)) == {"source", "reason"} for one in result)],
            "Stuck sensors": [lambda result: "rapl" in {labels_of(one)["source"] for one in result} and all(number(one) == 0 for one in result)],
            "Links lost a minute": [lambda result: len(result) == 1 and number(result[0]) > 0],
            "Refused sessions a second": [lambda result: len(result) > 0 and self.rates("binnacle_sessions_refused_total", "reason")(result)],
            "What full buffers drop a second": [lambda result: len(result) > 0 and self.rates("binnacle_dropped_total", "buffer")(result)],
            "Time until certificates expire": [lambda result: {labels_of(one)["file"] for one in result} == {c["file"] for c in self.api("/api/v1/status")["certificates"]}
                                               and all(0 < number(one) <= 86400 for one in result)],
            "Readings a second": [self.rates(f"binnacle_{name}_samples_total", "outcome", "sent") for name in ("remote_write", "otlp")],
            "Requests sent again a second": [self.within(0, 10, *pods)] * 2,
            "Size of what waits": [self.within(0, 192 << 20, *pods)] * 2,
            "Age of the oldest that waits": [self.within(0, 3600, *pods)] * 2,
            "Memory of the aggregator": [lambda result: len(result) == 1 and labels_of(result[0]) == {"pod": "binnacle-0"} and number(result[0]) > 1 << 20],
            "CPU of the aggregator": [self.within(0, 16, *pods)],
        }

    def test_each_panel_s_query_returns_what_the_aggregator_says(self):
        # A source fails, all that a policy can say of a node is said, and the scheduler asks.
        up = lambda: {number(one) for one in self.server.query('binnacle_agent_source_up{node="lame",source="textfile"}')}  # scraped and written: twice
        self.until("the source to be up", lambda: up() == {1})
        self.until("each node's number", lambda: len(self.trial.metric("my_number")) == len(NODES))
        self.trial.end("powercap-lame")
        shutil.rmtree(self.text("lame"))
        self.until("the source to fail", lambda: up() == {0})
        said = {(f"{OWNER}/power", "dontschedule", "violating"): ["warm"], (f"{OWNER}/lacks", "dontschedule", "missing"): ["lame"],
                (f"{OWNER}/freezes", "deschedule", "frozen"): ["lame"], (f"{OWNER}/trial", "dontschedule", "violating"): ["cool", "warm"]}
        self.until("each state", lambda: said.items() <= self.states().items())
        self.until("a held node", lambda: {state for name, _, state in self.states() if name == f"{OWNER}/evicts"} >= {"violating", "held"})

        checks = self.wanted()
        panels = [panel for panel in json.loads(BOARD.read_text())["panels"] if panel["type"] != "row"]
        self.assertEqual([panel["title"] for panel in panels], list(checks), "each panel has its check, and each check its panel")
        with self.trial.scheduler() as scheduler:
            for panel in panels:
                self.assertEqual(len(panel["targets"]), len(checks[panel["title"]]), panel["title"])
                for target, right in zip(panel["targets"], checks[panel["title"]]):
                    last = []

                    def returns(target=target, right=right, last=last):
                        scheduler.call("filter", pod("web", "power", OWNER), ["cool", "warm"])
                        last[:] = self.server.query(filled(target["expr"]))
                        return {one["metric"].pop("cluster", HERE) for one in last} <= {HERE} and right(last)
                    with self.subTest(panel["title"], query=target["refId"]):
                        try:
                            self.until(f"{panel['title']!r}", returns)
                        except Exception as why:
                            raise AssertionError(f"{target['expr']}\nreturned {json.dumps(last)[:2000]}") from why
        self.check_two_clusters()
        self.check_what_changed()

    def check_two_clusters(self):
        """Nodes of one name in two clusters are two nodes, and the variables choose among them."""
        of = {panel["title"]: panel["targets"][0]["expr"] for panel in json.loads(BOARD.read_text())["panels"] if panel["type"] != "row"}

        def until_power(wanted, **chosen):
            self.until(f"the power of {chosen}", lambda: self.close(wanted)(self.server.query(filled(of["Power of the fleet"], **chosen))))
        until_power(lambda: sum(self.watts().values()) + THEIRS, cluster=ALL)
        until_power(lambda: THEIRS, cluster=THERE)
        until_power(lambda: self.watts()["cool"], node="cool")
        until_power(lambda: self.watts()["cool"] + THEIRS, cluster=ALL, node="cool")
        self.until("both nodes of the name", lambda: {(labels_of(one)["cluster"], labels_of(one)["node"]) for one in self.server.query(
            filled(of["The twenty nodes that draw most"], cluster=ALL))} == {(HERE, node) for node in self.watts()} | {(THERE, "cool")})

    def check_what_changed(self):
        """The annotations: an edit, a new policy and one that is gone, each for as long as it says, which is shorter here."""
        notes = {note["name"]: note["expr"].replace("2m", "20s") for note in json.loads(BOARD.read_text())["annotations"]["list"]}
        self.assertEqual(list(notes), ["Policies edited", "Policies new", "Policies gone"])

        def until_said(name, *policies):
            self.until(f"{name}: {policies}", lambda: sorted((labels_of(one)["owner"], labels_of(one)["policy"]) for one in self.server.query(
                filled(notes[name]))) == [(OWNER, one) for one in policies])
        for name in notes:
            until_said(name)
        self.write("power", rule("dontschedule", 601))
        until_said("Policies edited", "power")
        self.write("later", rule("dontschedule", 602))
        until_said("Policies new", "later")
        (self.trial.policies / "later.yaml").unlink()
        until_said("Policies gone", "later")
        for name in notes:
            until_said(name)


if __name__ == "__main__":
    run_tests(holder="loop", missing=missing())
