"""`binnacle dashboard` in a real Chromium, before the real programs: what it shows is what the API says.

python3 tests/browser/dashboard_test.py --build build    (scripts/test --browser installs what it takes and runs it)
"""

import json
import pathlib
import signal
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

import chromium  # noqa: E402
from trial import Trial, pod, run_tests  # noqa: E402

BUILD = None
FLEET = 5000
METRIC = "rack_probe_units"
HOSTILE = "<img src=x onerror=\"window.owned=1;document.title='owned'\">&amp;'\"\u202e"
POLICY = f"""\
apiVersion: telemetry.intel.com/v1alpha1
kind: TASPolicy
metadata: {{name: probe, namespace: default}}
spec:
  strategies:
    dontschedule:
      rules:
      - {{metricname: {METRIC}, operator: GreaterThan, target: 60}}
"""


class Small(unittest.TestCase):
    """Three agents whose one metric a file says, so that the numbers are known to the digit."""

    def setUp(self):
        self.trial = Trial(BUILD)
        self.addCleanup(self.trial.stop)
        self.nodes = {"alpha": 41, "beta-2": 52, "gamma": 7}
        self.trial.make_certificates(self.nodes)
        self.trial.write_policy(POLICY)
        self.trial.start_aggregator()
        for node, value in self.nodes.items():
            self.say(node, value)
            self.trial.start_agent(node, "--sources", "textfile", "--textfile-directory", self.trial.folder / node)
        self.trial.wait_for("the values", lambda: len(self.trial.metric(METRIC)) == 3)
        self.dashboard = chromium.Dashboard(self.trial)
        self.page = self.browser()
        self.page.open(self.dashboard.link)
        self.page.wait("the fleet", lambda: "3" in self.page.text(".stat dd") and "all connected" in self.page.text(".stats"))

    def browser(self, **how):
        page = chromium.Browser(**how)
        self.addCleanup(page.close)
        return page

    def say(self, node, value, label="one"):
        folder = self.trial.folder / node
        folder.mkdir(exist_ok=True)
        new = folder / "probe.new"
        escaped = label.replace("\\", "\\\\").replace('"', '\\"')
        new.write_text(f'# TYPE {METRIC} gauge\n{METRIC}{{what="{escaped}"}} {value}\n')
        new.rename(folder / "probe.prom")

    def api(self, path):
        status, text = self.trial.ask("ops", path)
        self.assertEqual(status, 200, text)
        return json.loads(text)

    def rows(self):
        """The fleet's table as {node: [cells]}."""
        return {row[0]: row[1:] for row in self.page.run(
            "return [...document.querySelectorAll('main tbody tr')].map(r => [...r.cells].map(c => c.innerText.trim()))")}

    def clean(self, page=None):
        self.assertEqual((page or self.page).log(), [])

    def test_what_is_shown_is_what_the_api_says_under_change(self):
        page = self.page
        page.find("main .controls button").click()  # as a table
        page.wait("the values", lambda: {n: r[1] for n, r in self.rows().items()} == {"alpha": "41", "beta-2": "52", "gamma": "7"})
        self.assertEqual({r[0] for r in self.rows().values()}, {"✓ pass"})
        self.say("alpha", 61)
        page.wait("the new value and verdict", lambda: self.rows()["alpha"][:2] == ["✕ violating", "61"])
        told = {n["name"]: n for n in self.api("/api/v1/nodes")["nodes"]}
        self.assertEqual(told["alpha"]["values"][METRIC]["value"], 61)
        self.assertEqual(told["alpha"]["verdicts"][0]["state"], "violating")
        self.assertIn("1\nnode", page.text(".stat.violating"))

        # The policy moves: who violates it moves with it, in the fleet and on the policies' page.
        self.trial.write_policy(POLICY.replace("60", "45"))
        page.wait("the new target's verdicts", lambda: {n: r[0] for n, r in self.rows().items()} == {"alpha": "✕ violating", "beta-2": "✕ violating", "gamma": "✓ pass"})
        page.go("#/policies")
        page.wait("the policy", lambda: f"{METRIC} GreaterThan 45" in page.text() and "2 nodes" in page.text(".concern"))
        self.assertEqual(page.run("return [...document.querySelectorAll('.concern .names a')].map(a => a.innerText)"), ["alpha", "beta-2"])

        # A node: every series that the API has, with its value.
        page.go("#/node/alpha")
        page.wait("the node", lambda: "61" in page.text(".series"))
        shown = page.run("return [...document.querySelectorAll('.series tbody tr')].map(r => [r.querySelector('.family').innerText, r.cells[1].innerText])")
        series = self.api("/api/v1/nodes/alpha")["series"]
        self.assertEqual([s[0] for s in shown], [s["family"] for s in series])
        self.assertEqual(dict(shown)[METRIC], "61")
        self.clean()

    def test_absence_is_shown_with_its_reason_and_never_as_a_number(self):
        page = self.page
        self.trial.end("gamma", signal.SIGKILL)
        page.wait("the node to be missed", lambda: "1 not connected" in page.text(".stats"))
        page.find("main .controls button").click()
        page.wait("no number", lambda: self.rows()["gamma"][1] == "–")
        self.assertEqual(page.run("return document.querySelector('main td.absent').title"), "the agent is not connected")
        page.go("#/node/gamma")
        page.wait("the reason", lambda: "the agent is not connected" in page.text(".series"))
        self.assertIn("not connected", page.text(".title"))

        # So is the absence of everything.
        self.trial.end("aggregator", signal.SIGKILL)
        page.wait("the banner", lambda: "cannot reach" in page.text("#banner") and "old" in page.text("#banner"))
        self.trial.start_aggregator()
        page.wait("the aggregator's return", lambda: not page.find("#banner").is_displayed() and "Live" in page.text("#link-state"))

    def test_hostile_names_are_text(self):
        page = self.page
        self.say("alpha", 41, HOSTILE.replace("\u202e", ""))
        scheduler = self.trial.scheduler()
        scheduler.call("filter", pod(HOSTILE, policy="probe"), ["alpha", HOSTILE])
        page.go("#/decisions")
        page.wait("the decision", lambda: "onerror" in page.text(".decisions"))
        page.find(".decisions summary").click()
        page.wait("the candidates", lambda: "onerror" in page.text(".decisions table"))
        self.assertIn(HOSTILE, page.run("return document.querySelector('.decisions strong').textContent"))
        page.go("#/node/alpha")
        page.wait("the label", lambda: "onerror" in page.text(".series"))
        page.go("#/node/" + "%3Cimg%20src%3Dx%20onerror%3D%22window.owned%3D1%22%3E")
        page.wait("an unknown node", lambda: "no agent named" in page.text())
        self.assertIn("<img src=x", page.text("h1"))
        page.find("#search").send_keys("<b>nobody</b>" + Keys.ENTER)
        self.assertEqual(page.run("return document.querySelectorAll('main img, main b, main script').length"), 0)
        self.assertFalse(page.run("return window.owned === 1"))
        self.assertNotEqual(page.driver.title, "owned")
        self.clean()

    def test_the_keyboard_is_enough(self):
        page = self.page
        page.run("document.activeElement.blur()")
        # Tab from the top: the skip link, the brand, the pages, the search, the controls, and the map.
        reached = []
        for _ in range(14):
            ActionChains(page.driver).send_keys(Keys.TAB).perform()
            reached.append(page.run("const e = document.activeElement; return e.id || e.className || e.innerText"))
            if reached[-1] == "tiles":
                break
        self.assertEqual(reached, ["skip", "brand", "Fleet", "Policies", "Decisions", page.text("nav a[href='#/health']"), "search", "colour", "group", "quiet", "tiles"])
        # The map: arrows move, a reader hears what is there, Enter opens.
        ActionChains(page.driver).send_keys(Keys.ARROW_RIGHT).perform()
        page.wait("the node to be said", lambda: page.run("return document.querySelector('main [role=status]').textContent") == "beta-2: 52")
        ActionChains(page.driver).send_keys(Keys.ENTER).perform()
        page.wait("the node", lambda: page.text("h1") == "beta-2")
        # "/" searches from everywhere.
        ActionChains(page.driver).send_keys("/").send_keys("gam").send_keys(Keys.ENTER).perform()
        page.wait("the node", lambda: page.text("h1") == "gamma")
        self.clean()

    def test_a_page_can_be_read_without_seeing_it(self):
        for where in ("#/fleet", "#/policies", "#/decisions", "#/health", "#/node/alpha"):
            with self.subTest(where):
                self.page.go(where)
                self.page.wait("the page", lambda: self.page.run("return document.querySelectorAll('main h1').length === 1"))
                nameless = self.page.run("""
                    const named = e => e.getAttribute('aria-label') || e.labels?.length || e.innerText?.trim() || e.getAttribute('title');
                    return [...document.querySelectorAll('a, button, input, select, canvas:not([aria-hidden])')].filter(e => !named(e)).map(e => e.outerHTML)""")
                self.assertEqual(nameless, [])
                self.assertEqual(self.page.run("return [...document.querySelectorAll('table')].filter(t => !t.caption || !t.tHead && !t.querySelector('th')).length"), 0)
                self.assertEqual(self.page.run("return document.documentElement.lang"), "en")

    def test_a_phone_has_no_sideways_scrolling(self):
        page = self.page
        page.look(390, 844)
        for where in ("#/fleet", "#/policies", "#/decisions", "#/health", "#/node/alpha"):
            page.go(where)
            page.wait("the page", lambda: page.run("return document.querySelector('main h1') !== null"))
            with self.subTest(where):
                self.assertLessEqual(page.run("return document.documentElement.scrollWidth"), 390)

    def test_a_link_opens_one_page_and_another_origin_gets_nothing(self):
        other = self.browser()
        other.open(self.dashboard.link)
        other.wait("the refusal", lambda: "was used before" in other.text())
        other.open(self.dashboard.origin + "/")
        other.wait("the refusal", lambda: "no key" in other.text())
        # The open page makes a link for another one.
        self.page.find("#share").click()
        link = self.page.wait("a link", lambda: self.page.text("#share-link"))
        other.open("about:blank")
        other.open(link)
        other.wait("the fleet", lambda: "all connected" in other.text(".stats"))
        self.assertNotIn("link=", other.driver.current_url)
        # A page of another origin, as far as a browser lets it ask at all.
        stranger = self.browser()
        stranger.open(f"http://localhost:{self.trial.ports['health']}/livez")
        said = stranger.driver.execute_async_script("""
            const done = arguments[arguments.length - 1];
            fetch(arguments[0] + "/catalogue", {headers: {Authorization: "Bearer x"}}).then(a => done("answered " + a.status), e => done("refused"))""", self.dashboard.origin)
        self.assertEqual(said, "refused")
        self.clean()

    def test_a_page_that_nobody_sees_holds_no_connection_and_comes_back(self):
        page = self.page
        first = page.driver.current_window_handle
        page.find("#share").click()
        link = page.wait("a link", lambda: page.text("#share-link"))
        page.driver.switch_to.new_window("tab")
        page.open(link)
        page.wait("the fleet", lambda: "all connected" in page.text(".stats"))
        page.go("#/health")
        page.wait("the first page's stream to end", lambda: "This dashboard: 1 stream to pages" in page.text())
        page.driver.switch_to.window(first)
        self.say("alpha", 44)
        page.find("main .controls button").click()
        page.wait("the first page to go on", lambda: self.rows()["alpha"][1] == "44")
        self.clean()


class Crowd(unittest.TestCase):
    """Five thousand agents."""

    def test_five_thousand_nodes(self):
        trial = Trial(BUILD)
        self.addCleanup(trial.stop)
        trial.make_certificates([], more=["--fleet", f"sim:{FLEET}"])
        trial.write_policy(POLICY.replace(METRIC, "rapl_power_watts"))
        trial.start_aggregator("--log-level", "warning")
        trial.start("fleet", BUILD / "tests/wan/binnacle-fleet", "--pki", trial.pki, "--nodes", FLEET, "--port", trial.ports["ingest"])
        trial.wait_for("all agents", lambda: f"streaming={FLEET} " in trial.log("fleet"), 600)
        trial.wait_for("the values", lambda: len(trial.metric("rapl_power_watts")) == FLEET, 300)
        page = chromium.Browser()
        self.addCleanup(page.close)
        page.open(chromium.Dashboard(trial).link)
        page.wait("the fleet", lambda: "5,000" in page.text(".stat dd") and "all connected" in page.text(".stats"), 120)
        # Every tile is drawn: as many colours as there are watts, and nothing of the canvas's middle is empty.
        drawn = page.wait("the tiles", lambda: page.run("""
            const c = document.querySelector('canvas.tiles'), p = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
            let filled = 0;
            for (let i = 3; i < p.length; i += 4) filled += p[i] > 0;
            return filled / (p.length / 4) > 0.5 && filled"""))
        self.assertGreater(drawn, FLEET * 100)
        states = {}
        _, text = trial.ask("ops", "/api/v1/policies")
        for s in json.loads(text)["policies"][0]["strategies"]:
            states = {state: s[state]["count"] for state in ("violating", "missing") if state in s}
        shown = page.text(".stats").replace(",", "")
        for count in states.values():
            self.assertIn(str(count), shown)
        page.find("#search").send_keys("sim-4321")
        page.find("main .controls button").click()
        page.wait("the search", lambda: page.run("return [...document.querySelectorAll('main tbody th')].map(t => t.innerText).join()") == "sim-4321")
        page.find("#search").send_keys(Keys.ENTER)
        page.wait("the node", lambda: page.text("h1") == "sim-4321" and "rapl_power_watts" in page.text(".series"))
        # They go on: a second version arrives and is drawn, and no script has failed.
        before = page.run("return document.body.dataset.version")
        page.wait("a newer version", lambda: page.run("return document.body.dataset.version") != before)
        self.assertEqual(page.log(), [])


if __name__ == "__main__":
    why = chromium.missing()
    if why:
        print(why)
        sys.exit(77)  # Meson: skipped
    run_tests(__doc__)
