"""What single pages of `binnacle dashboard` show, in a real Chromium: bands and bars of policies, who is held or frozen, edits, margins of decisions, what is
unwell, tiles without a value.

python3 tests/browser/pages_test.py --build build    (scripts/test --browser installs what it takes and runs it)
"""

import http.server
import json
import os
import signal
import threading
import unittest.mock

from selenium.webdriver.common.keys import Keys

import dashboard_test  # first: it finds trial.py
import chromium
from dashboard_test import METRIC, POLICY, Ops
from trial import free_ports, pod, run_tests

BAND = POLICY.replace("target: 60", 'target: 60, clearBelow: "45"')
STRICT = POLICY.replace("    dontschedule:\n", "    dontschedule:\n      onMissing: Reject\n") + f"""\
    deschedule:
      maxNodes: 1
      rules:
      - {{metricname: {METRIC}, operator: GreaterThan, target: 60}}
"""
DRY = f"""\
apiVersion: telemetry.intel.com/v1alpha1
kind: TASPolicy
metadata: {{name: dry, namespace: default}}
spec:
  mode: DryRun
  strategies:
    deschedule:
      rules:
      - {{metricname: {METRIC}, operator: GreaterThan, target: 60}}
"""
MARKS = "return Chart.getChart(document.querySelector(arguments[0])).options.plugins.marks.marks.map(m => [m.at, m.clear, m.text])"
SPREAD = f"canvas[aria-label='How {METRIC} is spread over the fleet']"
CHOSEN = "canvas[aria-label^='The chosen series']"
POD = "4f2c9d1e-8a3b-4c57-9e06-b1d2f3a45678"
SHADED = "Shaded: a violation lasts until a value is below 45."
# How opaque a chart is where its x axis has a value, at a height where no line of its grid is.
SHADE = """
    const chart = Chart.getChart(document.querySelector(arguments[0])), ratio = chart.currentDevicePixelRatio, area = chart.chartArea;
    const at = value => chart.ctx.getImageData(chart.scales.x.getPixelForValue(value) * ratio, (area.top + 0.4 * (area.bottom - area.top)) * ratio, 1, 1).data[3];
    return arguments[1].map(at)"""


class Pages(dashboard_test.ThreeAgents):
    spare = ["delta"]

    def policies(self):
        return {p["name"]: p for p in self.api("/api/v1/policies")["policies"]}

    def strategy(self, policy, name):
        return next((s for s in self.policies()[policy]["strategies"] if s["strategy"] == name), {}) if policy in self.policies() else {}

    def names(self, policy, strategy, state):
        return self.strategy(policy, strategy).get(state, {"nodes": []})["nodes"]

    def api_server(self, allowed):
        """The pods that an API server tells whoever asks for those of node alpha, and a kubeconfig for it. `allowed`: {"yes": True} or not."""
        pods = [{"metadata": {"namespace": "shop", "name": "web-1", "uid": POD}}]

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):  # noqa: N802
                is_right = self.path.startswith("/api/v1/pods?fieldSelector=spec.nodeName%3Dalpha&")
                text = json.dumps({"kind": "PodList", "items": pods if is_right else []}).encode()
                self.send_response(200 if allowed["yes"] else 403)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        file = self.trial.folder / "kubeconfig"
        file.write_text(json.dumps({
            "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{server.server_port}"}}], "users": [{"name": "u", "user": {}}],
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}], "current-context": "x"}))
        return file

    def test_pods_have_their_names_where_the_kubeconfig_may_read_them(self):
        page = self.page
        (self.trial.folder / "alpha/pods.prom").write_text(f'# TYPE rack_pod_watts gauge\nrack_pod_watts{{pod_uid="{POD}"}} 12\n')
        labels = "return [...document.querySelectorAll('.series .labels')].find(l => l.title === 'pod_uid=' + arguments[0])?.innerText"
        page.go("#/node/alpha")
        page.wait("the UID, and why", lambda: page.run(labels, POD) == f"pod_uid={POD}" and "Pods are shown by their UIDs: no kubeconfig is given" in page.text())

        allowed = {"yes": False}
        with unittest.mock.patch.dict(os.environ, KUBECONFIG=str(self.api_server(allowed))):
            other = chromium.Dashboard(self.trial, "with-pods")
        page.open("about:blank")
        page.open(other.link)
        page.go("#/node/alpha")
        page.wait("the missing right", lambda: "may not be read by this user (HTTP status 403): use a kubeconfig of a user who may get it" in page.text())
        self.assertEqual(page.run(labels, POD), f"pod_uid={POD}")
        allowed["yes"] = True
        page.wait("the name", lambda: page.run(labels, POD) == "pod=shop/web-1")
        self.assertNotIn("Pods are shown", page.text())
        page.find("input[aria-label='Filter series']").send_keys("shop/web")
        self.assertEqual(page.run("return [...document.querySelectorAll('.series tbody tr')].filter(r => !r.hidden).length"), 1)
        self.clean()

    def test_the_band_and_the_bars_of_a_policy(self):
        page = self.page
        self.trial.write_policy(BAND)
        self.say("alpha", 61)
        page.go("#/policies")
        page.wait("the band in words", lambda: SHADED in page.text("figure"))
        page.wait("target and band", lambda: page.run(MARKS, SPREAD) == [[60, 45, "GreaterThan 60"]])
        # Every node is in one bar, and who is beyond the target in one of another colour.
        sums = "return Chart.getChart(document.querySelector(arguments[0])).data.datasets.map(set => set.data.reduce((sum, bar) => sum + bar.y, 0))"
        page.wait("all nodes in the bars", lambda: page.run(sums, SPREAD) == [2, 1])
        # 7, 52 and 61 have bars; between 45 and 60 there is shade where there is no bar, and elsewhere none.
        self.assertEqual([value > 0 for value in page.run(SHADE, SPREAD, [20, 35, 48, 57])], [False, False, True, True])
        self.assertEqual(page.run(MARKS, "canvas[aria-label^='The lowest, median and highest']"), [[60, 45, "GreaterThan 60"]])
        # In the band a violation lasts, as the picture says.
        self.say("alpha", 50)
        page.wait("the value in the band", lambda: page.run(sums, SPREAD) == [3, 0])
        self.assertEqual(self.names("probe", "dontschedule", "violating"), ["alpha"])
        page.go("#/node/alpha")
        page.wait("the band on the node's page", lambda: page.run(MARKS, CHOSEN) == [[60, 45, "probe: GreaterThan 60"]] and f"probe: {SHADED}" in page.text())
        # Without a band nothing is shaded.
        self.trial.write_policy(POLICY)
        page.wait("no band", lambda: page.run(MARKS, CHOSEN) == [[60, None, "probe: GreaterThan 60"]] and "Shaded" not in page.text())
        page.go("#/policies")
        page.wait("no band", lambda: page.run(MARKS, SPREAD) == [[60, None, "GreaterThan 60"]] and page.run(sums, SPREAD) == [3, 0])
        self.assertEqual(page.run(SHADE, SPREAD, [20, 35, 48, 57]), [0, 0, 0, 0])
        self.clean()

    def concerns(self):
        """{(policy, strategy, badge's words): [nodes]} of the page, and of the API."""
        rows = self.page.run("""return [...document.querySelectorAll('section.policy')].flatMap(card => [...card.querySelectorAll('.concern')].map(c =>
            [card.querySelector('h2').innerText, c.querySelector('.muted').innerText.trim(), c.querySelector('.badge').innerText.slice(2), [...c.querySelectorAll('.names a')].map(a => a.innerText)]))""")
        shown = {(policy, words.split(":")[0], state): nodes for policy, words, state, nodes in rows}
        told = {}
        for policy in self.api("/api/v1/policies")["policies"]:
            for s in policy["strategies"]:
                for state in ("violating", "held", "frozen", "missing"):
                    if state in s:
                        told[(policy["name"], s["strategy"], f"({state})" if policy["mode"] == "DryRun" else state)] = s[state]["nodes"]
        return shown, told

    def test_who_violates_is_held_frozen_or_missing_and_what_a_dry_run_would_do(self):
        page = self.page
        self.trial.write_policy(STRICT)
        self.trial.write_policy(DRY, "dry.yaml")
        self.say("alpha", 61)
        self.trial.wait_for("the first label", lambda: self.names("probe", "deschedule", "violating") == ["alpha"])
        self.say("beta-2", 70)  # for which maxNodes leaves no label
        self.trial.wait_for("the second to be held", lambda: self.names("probe", "deschedule", "held") == ["beta-2"])
        page.go("#/policies")
        first = {("probe", "dontschedule", "violating"): ["alpha", "beta-2"], ("probe", "deschedule", "violating"): ["alpha"], ("probe", "deschedule", "held"): ["beta-2"],
                 ("dry", "deschedule", "(violating)"): ["alpha", "beta-2"]}
        page.wait("the page and the API to say so", lambda: self.concerns() == (first, first))
        dry = "return [...document.querySelectorAll('section.policy')].find(card => card.querySelector('h2').innerText === 'dry').innerText"
        page.wait("what the dry run would give", lambda: "would give dry=violating to 2 nodes" in page.run(dry))
        self.assertIn("DryRun", page.run(dry))
        # The labelled node dies: its label stays, and it takes no pods.
        self.trial.end("alpha", signal.SIGKILL)
        then = {("probe", "dontschedule", "violating"): ["beta-2"], ("probe", "dontschedule", "missing"): ["alpha"], ("probe", "deschedule", "frozen"): ["alpha"],
                ("probe", "deschedule", "held"): ["beta-2"], ("dry", "deschedule", "(violating)"): ["beta-2"], ("dry", "deschedule", "(frozen)"): ["alpha"]}
        page.wait("the page and the API to say so", lambda: self.concerns() == (then, then))
        page.wait("a condition in words", lambda: "Frozen" in page.text(".policy .note") or "Frozen" in page.text())
        self.clean()

    def test_edits_are_listed_from_when_the_page_was_opened(self):
        page = self.page
        edits = """return [...document.querySelectorAll('.edits > li')].map(e => [e.querySelector('strong').innerText, e.querySelector('p').innerText,
            [...e.querySelectorAll('del code')].map(c => c.innerText), [...e.querySelectorAll('ins code')].map(c => c.innerText)])"""
        page.go("#/policies")
        page.wait("that nothing is known yet", lambda: "None since" in page.text() and "What was before is not known here." in page.text())
        rule = f"dontschedule: {METRIC} GreaterThan "
        before = self.policies()["probe"]["revision"]
        self.trial.write_policy(POLICY.replace("60", "45"))
        [[policy, words, gone, come]] = page.wait("the edit", lambda: page.run(edits))
        after = self.policies()["probe"]["revision"]
        self.assertEqual((policy, gone, come), ("default/probe", [rule + "60"], [rule + "45"]))
        self.assertIn("edited at ", words)
        self.assertTrue(words.endswith(f"revision {before} → revision {after}"), words)
        # Edits while another page is shown are seen afterwards, and the newest is above.
        page.go("#/health")
        page.wait("another page", lambda: page.text("h1") == "Health")
        self.trial.write_policy(DRY, "dry.yaml")
        self.trial.wait_for("the policy", lambda: "dry" in self.policies())
        page.go("#/policies")
        page.wait("both", lambda: [one[0] for one in page.run(edits)] == ["default/dry", "default/probe"])
        self.assertIn(" added ", page.run(edits)[0][1])
        (self.trial.policies / "dry.yaml").unlink()
        page.wait("its end", lambda: [one[0] for one in page.run(edits)] == ["default/dry", "default/dry", "default/probe"])
        self.assertIn(" removed ", page.run(edits)[0][1])
        self.assertEqual(page.run(edits)[0][2], ["mode: DryRun", f"deschedule: {METRIC} GreaterThan 60"])
        if chromium.AXE.exists():
            self.assertEqual(page.violations(), [])
        self.clean()

    def test_a_decision_says_what_would_have_to_change_and_draws_the_margins(self):
        page = self.page
        self.say("alpha", 61)
        self.say("beta-2", 70)
        self.trial.wait_for("who violates", lambda: self.names("probe", "dontschedule", "violating") == ["alpha", "beta-2"])
        with self.trial.scheduler() as scheduler:
            scheduler.call("filter", pod("web", policy="probe"), ["alpha", "beta-2", "gamma"])
        page.go("#/decisions/web")
        page.wait("what would have to change", lambda: f"Nearest to passing is alpha: {METRIC} would have to fall by 1, or the target 60 to move as far." in page.text())
        [decision] = self.api("/api/v1/decisions?pod=web")["decisions"]
        margins = {n["node"]: n["values"][0]["margin"] for n in decision["nodes"]}
        self.assertEqual(margins, {"alpha": 1, "beta-2": 10, "gamma": -53})
        bars = {node: (kind, float(width.rstrip("%")), side) for node, kind, width, side in page.run("""
            return [...document.querySelectorAll('.decisions tbody tr')].map(r => { const bar = r.querySelector('.margin span');
                return [r.cells[0].innerText, bar.className, bar.style.width, bar.style.left ? 'right of the target' : 'left of it']; })""")}
        self.assertEqual({node: (kind, side) for node, (kind, _, side) in bars.items()},
                         {"alpha": ("over", "right of the target"), "beta-2": ("over", "right of the target"), "gamma": ("under", "left of it")})
        for node, (_, width, _) in bars.items():  # the longest takes its half
            self.assertAlmostEqual(width, abs(margins[node]) / 53 * 50, places=2)
        self.clean()

    def test_a_node_has_the_labels_of_its_object(self):
        path = "/api/v1/nodes/alpha"
        ops = Ops(self.trial, {path: dict(self.api(path), objectLabels={"example.com/rack": "r1", "odd": dashboard_test.HOSTILE})})
        self.addCleanup(ops.stop)
        page = self.page
        card = "return [...document.querySelectorAll('main section')].filter(s => !s.hidden).find(s => s.querySelector('h2')?.innerText === 'Labels of the Node object')?.innerText ?? ''"
        page.go("#/node/alpha")
        page.wait("the node", lambda: "41" in page.text(".series"))
        self.assertEqual(page.run(card), "")  # there is no API server
        page.open("about:blank")
        page.open(chromium.Dashboard(self.trial, "labelled", "--aggregator", f"http://127.0.0.1:{ops.server_port}").link)
        page.wait("the fleet", lambda: "all connected" in page.text(".stats"))
        page.go("#/node/alpha")
        page.wait("the labels", lambda: "example.com/rack=r1" in page.run(card) and "odd=<img" in page.run(card))
        self.assertFalse(page.run("return window.owned === 1"))
        self.clean()

    def test_the_keyboard_keeps_its_place_in_the_maps_of_groups(self):
        page = self.page
        page.run("const s = document.querySelector('#group'); s.value = 'prefix'; s.dispatchEvent(new Event('change'))")
        page.wait("three maps, which are one stop of Tab", lambda: page.run("return [...document.querySelectorAll('canvas.tiles')].map(c => c.tabIndex)") == [0, -1, -1])
        self.tab_to("canvas.tiles")
        page.wait("the first", lambda: self.at_tile("alpha"))
        for key, name in ((Keys.ARROW_DOWN, "beta-2"), (Keys.PAGE_DOWN, "gamma"), (Keys.ARROW_RIGHT, "gamma"), (Keys.PAGE_UP, "beta-2"), (Keys.PAGE_DOWN, "gamma")):
            self.press(key)
            page.wait(name, lambda name=name: self.at_tile(name))
        self.press(Keys.TAB)
        self.tab_back()
        page.wait("the map that was left", lambda: self.at_tile("gamma"))
        # A new group: all maps are made anew, and another one is before it.
        (self.trial.folder / "delta").mkdir()
        self.trial.start_agent("delta", "--sources", "textfile", "--textfile-directory", self.trial.folder / "delta")
        page.wait("four maps", lambda: page.run("return document.querySelectorAll('canvas.tiles').length") == 4)
        page.wait("the same node", lambda: self.at_tile("gamma"))
        # In one map it is another tile's place now.
        page.run("const s = document.querySelector('#group'); s.value = ''; s.dispatchEvent(new Event('change'))")
        self.tab_to("canvas.tiles")
        self.press(Keys.END, Keys.ENTER)
        page.wait("the node", lambda: page.text("h1") == "gamma")
        self.clean()

    def test_a_series_has_its_targets_and_what_is_old_looks_old(self):
        page = self.page
        self.trial.write_policy(POLICY.replace("name: probe", "name: mean").replace("target: 60", "target: 45, window: 30s"), "mean.yaml")
        page.go("#/node/alpha")
        row = "return [...document.querySelectorAll('.series tbody tr')].map(r => [...r.cells].map(c => c.innerText)).find(r => r[0].startsWith(arguments[0]))"
        page.wait("the targets", lambda: "probe: GreaterThan 60" in page.run(row, METRIC)[4] and "mean: GreaterThan 45 (avg 30s)" in page.run(row, METRIC)[4])
        self.assertFalse(page.run("return document.querySelector('.series .stale') !== null"))
        # Nobody tells how the node is: its values stay, and their ages go on.
        self.trial.end("aggregator", signal.SIGKILL)
        page.wait("the note", lambda: "cannot reach" in page.text(".note.bad") and " old." in page.text(".note.bad"))
        self.assertTrue(page.run("return document.querySelector('.series .stale') !== null"))
        age = lambda: float(page.run(row, METRIC)[2].split()[0]) * {"ms": 0.001, "s": 1, "min": 60}[page.run(row, METRIC)[2].split()[1]]  # noqa: E731
        before = age()
        page.wait("an older value", lambda: age() > before + 2)
        self.trial.start_aggregator()
        page.wait("its return", lambda: page.text(".note.bad") == "" and not page.run("return document.querySelector('.series .stale') !== null"))

    def test_another_page_needs_no_other_stream(self):
        page = self.page
        for where in ("#/policies", "#/node/alpha", "#/decisions", "#/fleet", "#/health"):
            page.go(where)
            page.wait("the page", lambda: page.run("return document.querySelector('main h1') !== null"))
        page.wait("one stream", lambda: "This dashboard: 1 stream to pages" in page.text())
        page.go("#/node/beta-2")
        page.wait("the node", lambda: "52" in page.text(".series"))
        page.go("#/node/alpha")
        page.wait("the other node", lambda: "41" in page.text(".series"))
        self.clean()

    def health(self, title):
        return self.page.run("return [...document.querySelectorAll('main section')].find(s => s.querySelector('h2').innerText.startsWith(arguments[0]))?.innerText ?? ''", title)

    def test_what_is_unwell_is_said_with_its_remedy(self):
        page = self.page
        nowhere = self.trial.folder / "nowhere"
        self.trial.start_agent("delta", "--sources", "textfile", "--textfile-directory", nowhere)
        page.go("#/health")
        page.wait("the source that fails", lambda: f"{nowhere}: No such file or directory: make the folder, or set textfile-directory" in self.health("Sources that fail"))
        self.assertIn("delta", self.health("Sources that fail"))
        self.assertIn("Every agent is linked to every replica that answers.", self.health("Links of agents"))
        status = self.api("/api/v1/status")
        [one] = [p for p in status["sourceProblems"]["first"] if p["node"] == "delta"]
        self.assertIn(one["message"], self.health("Sources that fail"))
        # The trial's certificates last a day: too short.
        [certificate] = status["certificates"]
        row = page.run("""const row = [...document.querySelectorAll('main tbody tr')].find(r => r.cells[0].innerText === arguments[0]);
            return [row.cells[1].innerText, row.querySelector('.badge.held') !== null]""", certificate["file"])
        self.assertEqual(row, [f"{round(certificate['secondsLeft'] / 3600)} h", True])
        # The doctor's own look at the cluster, of which this trial has none.
        page.wait("the doctor", lambda: "Checked again every minute" in self.health("What the doctor finds in the cluster"))
        found = self.health("What the doctor finds in the cluster")
        self.assertIn("certificates, kubernetes, pods, rights, clocks", found)
        self.assertIn("unchecked", found)
        nowhere.mkdir()
        page.wait("that it is mended", lambda: "delta" not in self.health("Sources that fail"), 120)
        self.clean()

    def test_the_page_goes_on_while_one_of_two_replicas_is_away(self):
        page = self.page
        ports = free_ports()
        self.trial.start_aggregator("--replica-id", "second", name="second", ports=ports)
        page.open("about:blank")
        page.open(chromium.Dashboard(self.trial, "two", "--aggregator", f"https://localhost:{ports['ops']}", "--aggregator", f"https://localhost:{self.trial.ports['ops']}").link)
        page.wait("the fleet", lambda: "all connected" in page.text(".stats"))
        page.go("#/health")
        page.wait("both", lambda: self.health("Replicas").count("✓ answers") == 2 and "second" in self.health("Replicas"))
        # No agent knows the second one.
        page.wait("the links that lack", lambda: f"3 agents\nwithout a link to https://localhost:{ports['ops']}" in self.health("Links of agents"))
        self.assertEqual([name for name in self.nodes if name not in self.health("Links of agents")], [])
        # Nor does it know what fails: the other one does.
        self.trial.start_agent("delta", "--sources", "textfile", "--textfile-directory", self.trial.folder / "nowhere")
        page.wait("what the other replica tells", lambda: "delta" in self.health("Sources that fail"))
        self.trial.end("second", signal.SIGKILL)
        page.wait("that one is away", lambda: self.health("Replicas").count("✓ answers") == 1 and "✕ away" in self.health("Replicas"))
        self.assertIn(f"cannot reach https://localhost:{ports['ops']}", self.health("What the doctor says"))
        page.wait("it below every page", lambda: f"https://localhost:{ports['ops']} away" in page.text("#foot-words"))
        page.go("#/fleet")
        page.find("main .controls button").click()
        self.say("alpha", 44)
        page.wait("the page to go on", lambda: self.rows()["alpha"][1] == "44")
        self.assertEqual(page.text("#link-state"), "Live")
        self.assertFalse(page.find("#banner").is_displayed())
        self.trial.start_aggregator("--replica-id", "second", name="second", ports=ports)
        page.go("#/health")
        page.wait("its return", lambda: self.health("Replicas").count("✓ answers") == 2)
        self.clean()

    def test_watts_per_core_and_the_hatched_tiles_of_nodes_without_a_value(self):
        page = self.page
        folder = self.trial.folder / "delta"
        folder.mkdir()
        (folder / "power.prom").write_text("# TYPE rack_power_watts gauge\nrack_power_watts 130\n")
        self.trial.start_agent("delta", "--sources", "textfile,os", "--textfile-directory", folder)
        self.trial.write_policy(POLICY.replace("name: probe", "name: watts").replace(METRIC, "rack_power_watts").replace("60", "200"), "watts.yaml")
        offered = "return [...document.querySelector('#colour').options].map(o => o.value)"
        page.wait("watts per core to be offered", lambda: "ratio:cores" in page.run(offered))
        page.run("const s = document.querySelector('#colour'); s.value = 'ratio:cores'; s.dispatchEvent(new Event('change'))")

        def per_core():
            told = {n["name"]: n["values"] for n in self.api("/api/v1/nodes?metric=os_cpus")["nodes"]}
            return {name: f"{round(v['rack_power_watts']['value'] / v['os_cpus']['value'], 4):g} W" for name, v in told.items()
                    if "value" in v["rack_power_watts"] and "value" in v["os_cpus"]}
        highest = "return Object.fromEntries([...document.querySelectorAll('.detail .value')].map(v => [v.parentElement.querySelector('a').innerText, v.innerText]))"
        page.wait("the quotient of what the API says, of one node", lambda: len(told := per_core()) == 1 and page.run(highest) == told)
        # Below the words a tile has one colour, or the lines of one without a value.
        colours = """
            const c = document.querySelector('canvas.tiles'), ratio = c.width / c.getBoundingClientRect().width;
            return [0, 1, 2, 3].map(i => {
                const data = c.getContext('2d').getImageData((i * 154 + 40) * ratio, 50 * ratio, 60 * ratio, 4 * ratio).data, seen = new Set();
                for (let at = 0; at < data.length; at += 4) seen.add(data.slice(at, at + 4).join());
                return seen.size;
            })"""
        page.wait("alpha, beta-2 and gamma hatched, delta not", lambda: [n > 2 for n in page.run(colours)] == [True, True, False, True])
        self.assertEqual(page.run(colours)[2], 1)
        self.assertIn("no value", page.text(".legend"))
        page.run("const s = document.querySelector('#colour'); s.value = arguments[0]; s.dispatchEvent(new Event('change'))", "metric:" + METRIC)
        page.wait("the others' values, and delta hatched", lambda: [n > 2 for n in page.run(colours)] == [False, False, True, False])
        self.clean()


if __name__ == "__main__":
    run_tests(__doc__, "dashboard_test", missing=chromium.missing())
