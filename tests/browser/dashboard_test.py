"""`binnacle dashboard` in a real Chromium, before the real programs: what it shows is what the API says.

python3 tests/browser/dashboard_test.py --build build    (scripts/test --browser installs what it takes and runs it)
"""

import collections
import http.client
import json
import pathlib
import signal
import sys
import unittest
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

sys.path.insert(0, str(ROOT / "tests/integration"))
import chromium  # noqa: E402
import prometheus  # noqa: E402
from ops_front import Ops  # noqa: E402
from trial import Trial, pod, run_tests  # noqa: E402

BUILD = None
FLEET = 5000
MORTAL = 2000
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


class Keyboard:
    """Of a test with a page."""

    def press(self, *keys):
        for key in keys:
            ActionChains(self.page.driver).send_keys(key).perform()

    def tab_back(self):
        ActionChains(self.page.driver).key_down(Keys.SHIFT).send_keys(Keys.TAB).key_up(Keys.SHIFT).perform()

    def tab_to(self, selector, most=40):
        """Goes on by Tab until the focus is at what `selector` chooses. Whatever is on the way must show that it has the focus."""
        for _ in range(most):
            self.press(Keys.TAB)
            if self.page.run("return document.activeElement.matches(arguments[0])", selector):
                self.assertTrue(self.page.run("return document.activeElement.matches(':focus-visible')"))
                return
        self.fail(f"Tab does not lead to {selector}")

    def said(self):
        """What a screen reader hears of the map: the node and its value."""
        return self.page.run("return document.querySelector('main .sr[role=status]')?.textContent ?? ''")

    def at_tile(self, name):
        """Whether the keyboard is in a map, at this node."""
        return self.page.run("return document.activeElement.matches('canvas.tiles:focus-visible')") and self.said().startswith(name + ": ")


class ThreeAgents(Keyboard, unittest.TestCase):
    """Three agents whose one metric a file says, so that the numbers are known to the digit."""

    spare = []  # nodes that have a certificate, and no agent yet

    def setUp(self):
        self.trial = Trial(BUILD)
        self.addCleanup(self.trial.stop)
        aggregators, dashboards = self.flags()
        self.nodes = {"alpha": 41, "beta-2": 52, "gamma": 7}
        self.trial.make_certificates([*self.nodes, *self.spare])
        self.trial.write_policy(POLICY)
        self.trial.start_aggregator(*aggregators)
        for node, value in self.nodes.items():
            self.say(node, value)
            self.trial.start_agent(node, "--sources", "textfile", "--textfile-directory", self.trial.folder / node)
        self.trial.wait_for("the values", lambda: len(self.trial.metric(METRIC)) == 3)
        self.dashboard = chromium.Dashboard(self.trial, "dashboard", *dashboards)
        self.page = self.browser()
        self.page.open(self.dashboard.link)
        self.page.wait("the fleet", lambda: self.page.text(".stat dd").split()[:1] == ["3"] and "all connected" in self.page.text(".stats"))

    def flags(self):
        """More words for the aggregator, and for the dashboard."""
        return (), ()

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

    def stream(self, metric):
        """The stream of another page that shows `metric`: (its answer, its connection)."""
        other = http.client.HTTPConnection(self.dashboard.origin.removeprefix("http://"), timeout=60)
        self.addCleanup(other.close)
        key = self.page.run("return sessionStorage.getItem('key')")
        other.request("GET", f"/live?topic=fleet&metric=os_cpus&metric={metric}", headers={"Authorization": "Bearer " + key})
        answer = other.getresponse()
        if answer.status != 200:
            other.close()
        return answer, other

    def show_metric(self, name):
        self.page.run("const s = document.querySelector('#colour'); s.value = 'other'; s.dispatchEvent(new Event('change'))")
        field = self.page.find("#metric")
        field.clear()
        field.send_keys(name + Keys.ENTER)

    def rows(self):
        """The fleet's table as {node: [cells]}."""
        return {row[0]: row[1:] for row in self.page.run(
            "return [...document.querySelectorAll('main tbody tr')].map(r => [...r.cells].map(c => c.innerText.trim()))")}

    def clean(self, page=None):
        self.assertEqual((page or self.page).log(), [])


class Small(ThreeAgents):
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
        def shown():
            return dict(page.run("return [...document.querySelectorAll('.series tbody tr')].map(r => [r.querySelector('.family').innerText, r.cells[1].innerText])"))
        # Series of the agent about itself may come while this looks: both are read anew until they are of one time.
        page.wait("every series of the API", lambda: sorted(shown()) == sorted({s["family"] for s in self.api("/api/v1/nodes/alpha")["series"]}))
        self.assertEqual(shown()[METRIC], "61")
        self.clean()

    def test_absence_is_shown_with_its_reason_and_never_as_a_number(self):
        page = self.page
        self.trial.end("gamma", signal.SIGKILL)
        page.wait("the node to be missed", lambda: "1 not connected" in page.text(".stats"))
        page.find("main .controls button").click()
        page.wait("no number", lambda: self.rows()["gamma"][1] == "–")
        page.wait("the reason", lambda: page.run("return document.querySelector('main td.absent').title") == "the agent is not connected")
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
        with self.trial.scheduler() as scheduler:
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

    def test_hostile_names_of_nodes_are_text_on_every_page(self):
        # "beta-2" is told under names that no aggregator lets in, as a broken or hostile one might tell them.
        for i, shown in enumerate((HOSTILE, "__proto__", "constructor", "../../etc/passwd?#%00", "n" * 253)):
            with self.subTest(shown[:20]):
                ops = Ops(self.trial, names={"beta-2": shown})
                self.addCleanup(ops.stop)
                page = self.page
                page.open("about:blank")
                name = f"hostile-{i}"
                page.open(chromium.Dashboard(self.trial, name, "--aggregator", f"http://127.0.0.1:{ops.server_port}").link)
                page.wait("the fleet", lambda: "all connected" in page.text(".stats"))
                page.wait("the list of the highest", lambda: shown in page.run("return [...document.querySelectorAll('.detail a')].map(a => a.textContent)"))
                page.find("main .controls button").click()
                page.wait("the table", lambda: page.run("return [...document.querySelectorAll('main tbody th')].map(t => t.textContent)").count(shown) == 1)
                page.run("[...document.querySelectorAll('main tbody th a')].find(a => a.textContent === arguments[0]).click()", shown)
                page.wait("the node", lambda: page.run("return document.querySelector('main h1').textContent") == shown and "52" in page.text(".series"))
                self.trial.write_policy(POLICY.replace("60", "45"))
                page.go("#/policies")
                page.wait("who violates", lambda: page.run("return [...document.querySelectorAll('.concern .names a')].map(a => a.textContent)") == [shown])
                with self.trial.scheduler() as scheduler:
                    scheduler.call("filter", pod("web", policy="probe"), ["alpha", "beta-2"])
                page.go("#/decisions/web")
                page.wait("the candidates", lambda: shown in page.run("return [...document.querySelectorAll('.decisions td, .decisions th')].map(t => t.textContent)"))
                self.assertEqual(page.run("return document.querySelectorAll('main img, main b, main script').length"), 0)
                self.assertFalse(page.run("return window.owned === 1"))
                self.assertNotEqual(page.driver.title, "owned")
                self.clean()
                page.open("about:blank")
                self.trial.end(name)
                self.trial.write_policy(POLICY)

    def test_an_address_of_no_page_shows_the_fleet(self):
        for where in ("#/constructor", "#/toString", "#/__proto__", "#/nothing/of/the/kind", "#"):
            with self.subTest(where):
                self.page.go("#/health")
                self.page.wait("another page", lambda: self.page.text("h1") == "Health")
                self.page.go(where)
                self.page.wait("the fleet", lambda: "all connected" in self.page.text(".stats"))
        self.clean()

    def test_a_metric_too_many_is_refused_and_the_page_goes_on(self):
        page = self.page
        others = [self.stream(f"m{i}") for i in range(4)]
        self.assertEqual([answer.status for answer, _ in others], [200] * 4)
        self.show_metric("m9")
        page.wait("the refusal", lambda: "m9 is not shown: the open pages show 4 metrics already: m0, m1, m2, m3" in page.text(".note[role=status]"))
        page.find("main .controls button").click()
        self.say("alpha", 47)
        page.wait("the page to go on", lambda: self.rows()["alpha"][1] == "47")
        self.assertEqual(page.text("#link-state"), "Live")
        self.assertFalse(page.find("#banner").is_displayed())
        # One of them goes: now there is room, and then there is none.
        answer, other = others.pop()
        answer.close()
        other.close()

        def shown():
            if "not shown" in page.text(".note[role=status]"):  # the other's stream has not ended yet
                self.show_metric("m9")
            return page.run("return document.querySelector('#colour').value") == "metric:m9"
        page.wait("the metric", shown)
        answer, other = self.stream("m3")
        self.assertEqual(answer.status, 429)
        # Another colour is chosen: nobody is asked for the metric any longer.
        page.run("const s = document.querySelector('#colour'); s.value = 'policy:*'; s.dispatchEvent(new Event('change'))")
        page.wait("room for another", lambda: self.stream("m3")[0].status == 200)
        self.assertEqual([line for line in page.log() if "429" not in line], [])

    def test_what_can_be_typed_is_suggested(self):
        page = self.page
        page.wait("the names of our metrics", lambda: page.run("return document.querySelectorAll('#metric-list option').length") > 50)
        self.assertIn("rapl_power_watts", page.run("return [...document.querySelectorAll('#metric-list option')].map(o => o.value)"))
        self.assertEqual(page.run("return document.querySelector('#search').list.options.length"), 0)
        page.find("#search").send_keys("a")
        self.assertEqual(page.run("return [...document.querySelector('#search').list.options].map(o => o.value)"), ["alpha", "beta-2", "gamma"])
        page.find("#search").send_keys("mm")
        self.assertEqual(page.run("return [...document.querySelector('#search').list.options].map(o => o.value)"), ["gamma"])
        self.clean()

    def test_nodes_are_grouped_by_labels_of_their_objects(self):
        rack = "example.com/rack"
        labels = {"/api/v1/nodelabels": {"keys": [{"key": rack, "nodes": 2, "values": 2}, {"key": "kubernetes.io/hostname", "nodes": 5000}], "omitted": False},
                  "/api/v1/nodelabels?key=" + rack: {"key": rack, "values": [{"value": "r1", "nodes": ["alpha"]}, {"value": HOSTILE, "nodes": ["beta-2"]}], "omitted": 0}}
        ops = Ops(self.trial, labels)
        self.addCleanup(ops.stop)
        page = self.page
        page.open("about:blank")
        page.open(chromium.Dashboard(self.trial, "labelled", "--aggregator", f"http://127.0.0.1:{ops.server_port}").link)
        offered = "return [...document.querySelector('#group').options].map(o => o.value).filter(v => v.startsWith('label:'))"
        page.wait("the label", lambda: page.run(offered) == ["label:" + rack])  # nobody groups by the name of a host
        page.run("const s = document.querySelector('#group'); s.value = arguments[0]; s.dispatchEvent(new Event('change'))", "label:" + rack)
        groups = "return [...document.querySelectorAll('.group h2')].map(g => [g.firstChild.textContent.trim(), g.querySelector('.muted').textContent.split(' ')[0]])"
        page.wait("the groups", lambda: sorted(page.run(groups)) == sorted([["r1", "1"], [HOSTILE, "1"], ["without this label", "1"]]))
        page.go("#/health")
        page.wait("another page", lambda: page.run("return document.querySelector('.group') === null"))
        page.go("#/fleet")
        page.wait("the same groups", lambda: len(page.run(groups)) == 3)
        self.assertFalse(page.run("return window.owned === 1"))
        self.clean()

    def test_the_policies_page_says_what_its_pictures_do_not_show(self):
        page = self.page
        # Eight metrics that no node has come first, and the aggregator lists no more by itself.
        rules = "".join(f"      - {{metricname: nobody_has_{i}, operator: GreaterThan, target: 1}}\n" for i in range(8))
        self.trial.write_policy(POLICY.replace("      - {metricname", rules + "      - {metricname").replace("target: 60", "target: 60, window: 10s"))
        page.go("#/policies")
        note = f"return [...document.querySelectorAll('figure')].find(f => f.innerText.includes('{METRIC}'))?.querySelector('p').innerText"
        page.wait("the ninth metric", lambda: "only when it is asked for" in (page.run(note) or ""))
        self.assertNotIn("No node has a value", page.run(note))
        page.run("[...document.querySelectorAll('figure button')].at(-1).click()")
        page.wait("its values", lambda: page.run(note) == "Shown are the newest values; the policy compares avg 10s of them.")
        self.assertIn("No node has a value.", page.text("figure"))  # the first one
        self.clean()

    def test_the_keyboard_is_enough(self):
        page = self.page
        page.run("document.activeElement.blur()")
        # Tab from the top: the skip link, the brand, the pages, the search, the controls, and the map.
        reached = []
        for _ in range(14):
            ActionChains(page.driver).send_keys(Keys.TAB).perform()
            reached.append(page.run("const e = document.activeElement; return e.id || e.className || e.hash"))
            if reached[-1] == "tiles":
                break
        self.assertEqual(reached, ["skip", "brand", "#/fleet", "#/policies", "#/decisions", "#/health", "search", "colour", "group", "quiet", "tiles"])
        # The map: arrows move, a reader hears what is there, Enter opens.
        ActionChains(page.driver).send_keys(Keys.ARROW_RIGHT).perform()
        page.wait("the node to be said", lambda: page.run("return document.querySelector('main .sr[role=status]').textContent") == "beta-2: 52")
        ActionChains(page.driver).send_keys(Keys.ENTER).perform()
        page.wait("the node", lambda: page.text("h1") == "beta-2")
        # "/" searches from everywhere.
        ActionChains(page.driver).send_keys("/").send_keys("gam").send_keys(Keys.ENTER).perform()
        page.wait("the node", lambda: page.text("h1") == "gamma")
        self.clean()

    def updates(self, times):
        """Waits until the page has been drawn anew so often."""
        for _ in range(times):
            before = self.page.run("return document.body.dataset.version")
            value = self.nodes["gamma"] = self.nodes["gamma"] + 1
            self.say("gamma", value)
            self.page.wait("a newer version", lambda before=before: self.page.run("return document.body.dataset.version") != before)

    def test_every_page_can_be_used_by_keyboard_while_it_changes(self):
        page = self.page
        # The table instead of the map, and from it to a node: the place in it stays while values change.
        self.tab_to("main .controls button")
        self.press(Keys.ENTER)
        page.wait("the table", lambda: len(self.rows()) == 3)
        self.tab_to("main tbody a[href='#/node/beta-2']")
        self.updates(2)
        self.assertEqual(page.run("return document.activeElement.hash"), "#/node/beta-2")
        self.press(Keys.ENTER)
        page.wait("the node", lambda: page.text("h1") == "beta-2" and "52" in page.text(".series"))
        # On a node's page: a rule is chosen and keeps the focus while ages change; then a series is chosen.
        self.tab_to("main button.rule")
        self.press(Keys.SPACE)
        age = page.text("main button.rule")
        page.wait("another age", lambda: page.text("main button.rule") not in ("", age))
        self.assertTrue(page.run("return document.activeElement.matches('main button.rule')"))
        self.tab_to("main input[type=search]")
        self.press("rack")
        page.wait("the filtered series", lambda: page.run("return [...document.querySelectorAll('.series tbody tr')].filter(r => !r.hidden).length") == 1)
        self.tab_to("main button.pick")
        self.press(Keys.ENTER)
        page.wait("its plot", lambda: page.run("return document.activeElement.getAttribute('aria-pressed')") == "true")
        # Decisions: found by typing, opened by Enter.
        with self.trial.scheduler() as scheduler:
            scheduler.call("filter", pod("web", policy="probe"), ["alpha", "beta-2", "gamma"])
        page.run("document.querySelector('.brand').focus()")
        self.tab_to("nav a[href='#/decisions']")
        self.press(Keys.ENTER)
        page.wait("the page", lambda: page.text("h1") == "Decisions" and "web" in page.text(".decisions"))
        self.tab_to("#pod")
        self.press("web", Keys.ENTER)
        page.wait("the search", lambda: page.run("return location.hash") == "#/decisions/web" and "newest first" in page.text())
        page.wait("the candidates", lambda: page.run("return document.querySelector('.decisions details').open") and "gamma" in page.text(".decisions table"))
        self.tab_to(".decisions summary")
        self.press(Keys.ENTER)
        page.wait("it closed", lambda: not page.run("return document.querySelector('.decisions details').open"))
        # Policies: a node that violates is reached by its link.
        self.say("alpha", 61)
        page.run("document.querySelector('.brand').focus()")
        self.tab_to("nav a[href='#/policies']")
        self.press(Keys.ENTER)
        page.wait("who violates", lambda: page.run("return [...document.querySelectorAll('.concern .names a')].map(a => a.textContent)") == ["alpha"])
        self.tab_to(".concern .names a")
        self.updates(2)
        self.assertEqual(page.run("return document.activeElement.textContent"), "alpha")
        self.press(Keys.ENTER)
        page.wait("the node", lambda: page.text("h1") == "alpha")
        # Health: the page goes on while somebody is in one of its tables.
        page.run("document.querySelector('.brand').focus()")
        self.tab_to("nav a[href='#/health']")
        self.press(Keys.ENTER)
        page.wait("the page", lambda: page.text("h1") == "Health" and "questions asked" in page.text())
        self.tab_to("main [role=region]")
        region = page.run("return document.activeElement.getAttribute('aria-label')")
        asked = page.text()
        page.wait("newer numbers", lambda: page.text() != asked)
        self.assertEqual(page.run("return document.activeElement.getAttribute('aria-label')"), region)
        self.clean()

    @unittest.skipUnless(chromium.AXE.exists(), "axe-core is not in the cache: scripts/bootstrap --browser brings it where there is npm")
    def test_axe_finds_nothing_on_any_page_light_or_dark(self):
        page = self.page
        self.say("alpha", 61)
        with self.trial.scheduler() as scheduler:
            scheduler.call("filter", pod("web", policy="probe"), ["alpha", "beta-2", "gamma"])
        self.trial.end("gamma", signal.SIGKILL)
        page.wait("a fleet with something to say", lambda: "1 not connected" in page.text(".stats") and "1\nnode" in page.text(".stat.violating"))
        ready = {"#/fleet": ".detail li", "#/policies": ".concern", "#/decisions/web": ".decisions table", "#/health": ".findings li", "#/node/alpha": ".series tbody tr"}
        for dark in (False, True):
            for width in (1380, 390):
                page.look(width, 900, dark)
                for where, sign in ready.items():
                    with self.subTest(where, dark=dark, width=width):
                        page.go(where)
                        page.wait("the page", lambda sign=sign: page.run("return document.querySelector('main ' + arguments[0]) !== null", sign))
                        self.assertEqual(page.violations(), [])

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
            fetch(arguments[0] + "/families", {headers: {Authorization: "Bearer x"}}).then(a => done("answered " + a.status), e => done("refused"))""", self.dashboard.origin)
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


@unittest.skipIf(prometheus.program() is None, "no Prometheus: scripts/bootstrap --prometheus brings Debian's")
class Past(ThreeAgents):
    """History from a real Prometheus that the aggregator writes to."""

    def flags(self):
        self.server = prometheus.Prometheus(self.trial)
        self.server.start()
        return ("--remote-write", self.server.url, "--remote-write-interval", "1s"), ("--history", self.server.base)

    def drawn(self, canvas):
        """What a chart holds: (the query, its range in seconds, {line: [(seconds, value)]})."""
        query, when, sets = self.page.run("""
            const canvas = document.querySelector(arguments[0]), sets = Chart.getChart(canvas).data.datasets;
            return [canvas.dataset.query, canvas.dataset.range, sets.map(s => [s.label, s.data.filter(p => !Number.isNaN(p.y)).map(p => [p.x, p.y])])]""", canvas)
        start, end, step = (int(word) / 1000 for word in when.split())
        return query, (start, end, step), {name: [(round(end + x), y) for x, y in points] for name, points in sets}

    def told(self, query, when):
        """What Prometheus itself says to that: {line: [(seconds, value)]}."""
        start, end, step = when
        words = urllib.parse.urlencode({"query": query, "start": start, "end": end, "step": step})
        found = json.loads(self.server.get("/api/v1/query_range?" + words))["data"]["result"]
        return {one["metric"].get("line", ""): [(round(at), float(value)) for at, value in one["values"]] for one in found}

    def until_it_is_what_prometheus_says(self, canvas, newest):
        """`newest`: the last value of each line, so that the chart is of now."""
        def equal():
            query, when, lines = self.drawn(canvas)
            return query and {name: points[-1][1] for name, points in lines.items() if points} == newest and lines == self.told(query, when)
        self.page.wait("the chart to be what Prometheus says", equal, 120)

    def span(self, words):
        [button] = [b for b in self.page.driver.find_elements("css selector", ".spans button") if b.text == words]
        button.click()
        self.assertEqual(button.get_attribute("aria-pressed"), "true")

    def test_charts_show_what_prometheus_answers(self):
        page = self.page
        page.go("#/node/alpha")
        page.wait("the spans", lambda: page.text(".spans") == "Live\n15 min\n1 h\n6 h\n24 h\n7 days")
        self.span("15 min")
        chart = "canvas[aria-label^='The chosen series']"
        page.wait("a series of the database", lambda: "From your database: a value every 5 s" in page.text())
        self.until_it_is_what_prometheus_says(chart, {"": 41})
        self.say("alpha", 47)
        self.until_it_is_what_prometheus_says(chart, {"": 47})
        # One of its series, in place of the rule's number.
        page.run("[...document.querySelectorAll('.series button.pick')].find(b => b.textContent.includes(arguments[0])).click()", METRIC)
        page.wait("the series' labels in the question", lambda: 'what="one"' in self.drawn(chart)[0])
        self.until_it_is_what_prometheus_says(chart, {"": 47})
        if chromium.AXE.exists():
            self.assertEqual(page.violations(), [])
        # A rule with a window, as the rule compares it.
        self.trial.write_policy(POLICY.replace("target: 60", "target: 60, window: 5s, statistic: max"))
        page.wait("the rule", lambda: "max 5s" in page.text("button.rule"))
        page.find("button.rule").click()
        page.wait("the window in the question", lambda: self.drawn(chart)[0].startswith("max_over_time("))
        self.until_it_is_what_prometheus_says(chart, {"": 47})
        self.trial.write_policy(POLICY)

        # The fleet's: the lowest, the median and the highest of three nodes.
        page.go("#/policies")
        chart = "canvas[aria-label^='The lowest, median and highest']"
        page.wait("the fleet's series", lambda: "From your database" in page.text())
        self.until_it_is_what_prometheus_says(chart, {"lowest": 7, "median": 47, "highest": 52})
        for words, step in (("1 h", 15), ("6 h", 90), ("24 h", 360), ("7 days", 2520)):
            self.span(words)
            page.wait(f"the span {words}", lambda step=step: page.run("return document.querySelector(arguments[0]).dataset.range", chart).endswith(f" {step}000")
                      or "no value of it in this time" in page.text())
        if chromium.AXE.exists():
            self.assertEqual(page.violations(), [])
        page.look(390, 844)
        page.wait("charts of a phone's width", lambda: page.run("return document.documentElement.scrollWidth") <= 390)
        page.look(1380, 900)

        # What the page itself has seen, by its button; and when the database is away.
        self.span("15 min")
        page.wait("the database's", lambda: "From your database" in page.text())
        self.span("Live")
        page.wait("the page's own", lambda: "The chart shows what this page has seen." in page.text() and page.run("return document.querySelector(arguments[0]).dataset.query", chart) == "")
        self.assertEqual(page.run("return Chart.getChart(arguments[0]).data.datasets.map(s => s.data[s.data.length - 1].y)", page.find(chart)), [7, 47, 52])
        self.trial.end("prometheus")
        self.span("1 h")
        page.wait("the reason", lambda: f"No history: cannot ask {self.server.base} for history" in page.text() and "The chart shows what this page has seen." in page.text())
        self.assertFalse(page.find("#banner").is_displayed())
        self.server.start()
        page.wait("its return", lambda: "No history" not in page.text())
        self.assertEqual([line for line in page.log() if "502" not in line], [])


class Crowd(Keyboard, unittest.TestCase):
    """Five thousand agents; two fifths of them, the last, are a process of their own."""

    WATTS = POLICY.replace(METRIC, "rapl_power_watts")  # everybody has more than its 60

    def setUp(self):
        trial = self.trial = Trial(BUILD)
        self.addCleanup(trial.stop)
        trial.make_certificates([], more=["--fleet", f"sim:{FLEET}"])
        agents = [BUILD / "tests/wan/binnacle-fleet", "--pki", trial.pki, "--port", trial.ports["ingest"]]
        self.fleets = {"many": [*agents, "--nodes", FLEET - MORTAL], "mortal": [*agents, "--first", FLEET - MORTAL, "--nodes", MORTAL]}
        trial.write_policy(self.WATTS)
        trial.start_aggregator("--log-level", "warning")
        for name, command in self.fleets.items():
            trial.start(name, *command)
        trial.wait_for("the values", lambda: len(trial.metric("rapl_power_watts")) == FLEET, 900)
        page = self.page = chromium.Browser()
        self.addCleanup(page.close)
        page.open(chromium.Dashboard(trial).link)
        page.wait("the fleet", lambda: page.text(".stat dd").split()[:1] == [f"{FLEET:,}"] and "all connected" in page.text(".stats"), 120)

    def told(self, path):
        status, text = self.trial.ask("ops", path)
        self.assertEqual(status, 200, text)
        return json.loads(text)

    def states(self):
        """By the API: how many nodes are in each state but pass, by the worst of their verdicts, and how many are not connected."""
        nodes = self.told(f"/api/v1/nodes?limit={FLEET}")["nodes"]
        found = collections.Counter(worst(node) for node in nodes)
        return {state: found[state] for state in ("violating", "missing", "held", "frozen") if found[state]}, sum(not node["connected"] for node in nodes)

    def shown(self):
        """The same by the page."""
        tiles = self.page.run("return [...document.querySelectorAll('.stat')].map(s => [s.className, s.querySelector('dt').innerText, s.querySelector('dd').innerText])")
        number = lambda text: int(text.split()[0].replace(",", ""))  # noqa: E731
        states = {kind.split()[1]: number(text) for kind, _, text in tiles if kind.split()[1:] and kind.split()[1] != "warn"}
        [nodes] = [text for _, name, text in tiles if name == "Nodes"]
        return states, 0 if "all connected" in nodes else number(nodes.splitlines()[-1])

    def test_five_thousand_nodes(self):
        trial, page = self.trial, self.page
        # Every tile is drawn: as many colours as there are watts, and nothing of the canvas's middle is empty.
        drawn = page.wait("the tiles", lambda: page.run("""
            const c = document.querySelector('canvas.tiles'), p = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
            let filled = 0;
            for (let i = 3; i < p.length; i += 4) filled += p[i] > 0;
            return filled / (p.length / 4) > 0.5 && filled"""))
        self.assertGreater(drawn, FLEET * 100)
        page.wait("the API's counts", lambda: self.states() == self.shown() == ({"violating": FLEET}, 0))
        # The policy moves for all of them at once.
        trial.write_policy(self.WATTS.replace("60", "100000"))
        page.wait("nobody to violate it", lambda: self.states() == self.shown() == ({}, 0))
        # All agents die, and come back.
        for name in self.fleets:
            trial.end(name, signal.SIGKILL)
        page.wait("all to be missed", lambda: self.shown()[1] == FLEET, 300)
        page.wait("the page to go on", lambda: page.text("#link-state") == "Live" and not page.find("#banner").is_displayed())
        for name, command in self.fleets.items():
            trial.start(name, *command)
        page.wait("all to be back", lambda: "all connected" in page.text(".stats"), 600)
        page.wait("their watts", lambda: page.run("return [...document.querySelectorAll('.stat')].find(s => s.innerText.startsWith('Power'))?.innerText.includes('of ')") is False, 120)
        # Names are put in order at each letter and each answer. localeCompare() would make a collator for each pair of names.
        page.run("window.compared = 0; String.prototype.localeCompare = function () { ++window.compared; return 0; }")
        page.find("#search").send_keys("sim-4321")
        page.find("main .controls button").click()
        page.wait("the search", lambda: page.run("return [...document.querySelectorAll('main tbody th')].map(t => t.innerText).join()") == "sim-4321")
        page.find("#search").send_keys(Keys.ENTER)
        page.wait("the node", lambda: page.text("h1") == "sim-4321" and "rapl_power_watts" in page.text(".series"))
        self.assertEqual(page.run("return window.compared"), 0)
        # They go on: a second version arrives and is drawn, and no script has failed.
        before = page.run("return document.body.dataset.version")
        page.wait("a newer version", lambda: page.run("return document.body.dataset.version") != before)
        self.assertEqual(page.log(), [])

    def newer(self, times):
        for _ in range(times):
            before = self.page.run("return document.body.dataset.version")
            self.page.wait("a newer version", lambda before=before: self.page.run("return document.body.dataset.version") != before, 120)

    def test_the_keyboard_reaches_every_one_of_five_thousand_nodes(self):
        page, last = self.page, f"sim-{FLEET - 1}"
        edges = "const r = document.querySelector('canvas.tiles').getBoundingClientRect(); return [r.top - document.querySelector('.bar').getBoundingClientRect().bottom, innerHeight - r.bottom]"
        self.tab_to("canvas.tiles")
        page.wait("the first node", lambda: self.at_tile("sim-0"))
        self.press(Keys.END)
        page.wait("the last node", lambda: self.at_tile(last))
        self.assertGreater(page.run(edges)[1], 0, "it is in the window")
        self.press(Keys.HOME)
        page.wait("the first node", lambda: self.at_tile("sim-0"))
        self.assertGreater(page.run(edges)[0], 0, "it is below the bar")
        self.press(*[Keys.ARROW_DOWN] * 3, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
        name = page.wait("another node", lambda: (name := self.said().split(":")[0]) not in ("", "sim-0", last) and name)
        self.newer(2)
        self.assertTrue(self.at_tile(name), "its place is kept while values change")
        self.press(Keys.ENTER)
        page.wait("the node", lambda: page.text("h1") == name and "rapl_power_watts" in page.text(".series"))
        # Back by the page's own link, and by the browser: to the tile.
        self.tab_to(".crumbs a")
        self.press(Keys.ENTER)
        page.wait("the map, where it was", lambda: self.at_tile(name))
        self.press(Keys.ENTER)
        page.wait("the node", lambda: page.text("h1") == name)
        page.driver.back()
        page.wait("the map, where it was", lambda: self.at_tile(name))
        # Out of the map by Tab, to both sides: to the node's link beside it, which stays while values change.
        self.press(Keys.TAB)
        self.newer(2)
        self.assertEqual(page.run("return document.activeElement.matches('.detail a:focus-visible') && document.activeElement.textContent"), name)
        self.tab_back()
        page.wait("the map, where it was left", lambda: self.at_tile(name))
        self.tab_back()
        self.assertTrue(page.run("return document.activeElement.matches('main .controls button')"))
        # The table, a node of it, and back to its row.
        self.press(Keys.ENTER)
        page.wait("the table", lambda: page.run("return document.querySelectorAll('main tbody tr').length") == 500)
        self.tab_to("main tbody a")
        name = page.run("return document.activeElement.textContent")
        self.press(Keys.ENTER)
        page.wait("the node", lambda: page.text("h1") == name and "rapl_power_watts" in page.text(".series"))
        self.tab_to(".crumbs a")
        self.press(Keys.ENTER)
        page.wait("the row", lambda: page.run("return document.activeElement.matches('main tbody a:focus-visible') && document.activeElement.textContent") == name)
        # The other pages.
        for where, title in (("policies", "Policies"), ("decisions", "Decisions"), ("health", "Health")):
            page.run("document.querySelector('.brand').focus()")
            self.tab_to(f"nav a[href='#/{where}']")
            self.press(Keys.ENTER)
            page.wait(title, lambda title=title: page.text("h1") == title)
        self.assertEqual(page.log(), [])

    def test_agents_die_while_policies_change(self):
        trial, page = self.trial, self.page
        rule_of = {}  # of each policy, as the API tells it

        def change(name, target, key="GreaterThan"):
            text = self.WATTS.replace("name: probe", f"name: {name}").replace("GreaterThan, target: 60", f"{key}, target: {target}")
            trial.write_policy(text.replace("dontschedule:\n", "dontschedule:\n      onMissing: Reject\n"), f"{name}.yaml")
            rule_of[name] = f"rapl_power_watts {key} {target}"
            trial.wait_for(f"{rule_of[name]} of {name}", in_force)

        def in_force():
            return {p["name"]: p["strategies"][0]["rules"] for p in self.told("/api/v1/policies")["policies"]} == {name: [rule] for name, rule in rule_of.items()}

        (trial.policies / "policy.yaml").unlink()
        change("hot", 60)
        change("never", 100000)
        trial.end("mortal", signal.SIGKILL)
        for target in (100000, 61, 90000, 62):  # everybody passes and violates in turn, while two thousand are found to be gone
            change("hot", target)
        change("brief", 60)
        trial.start("mortal-again", *self.fleets["mortal"])
        for target in (80000, 63):  # and while they come back
            change("hot", target)
        (trial.policies / "brief.yaml").unlink()
        del rule_of["brief"]
        trial.wait_for("the brief policy to go", in_force)
        page.wait("all to be back, and to violate", lambda: self.states() == self.shown() == ({"violating": FLEET}, 0), 600)
        change("hot", 1, "LessThan")  # nobody
        trial.end("mortal-again", signal.SIGKILL)
        change("never", 100001)

        def settled():
            states, away = self.states()
            return away == MORTAL and states.get("missing") == MORTAL and self.shown() == (states, away)
        page.wait("the dead to be missed", settled, 300)
        self.assertEqual(self.shown(), ({"missing": MORTAL}, MORTAL))

        # Some of the living and of the dead by name: verdict and absence of each.
        page.find("main .controls button").click()
        for part in ("sim-12", "sim-3210", "sim-48", "sim-2999", "sim-3000"):
            field = page.find("#search")
            field.clear()
            field.send_keys(part)
            told = {node["name"]: node for node in self.told(f"/api/v1/nodes?limit={FLEET}")["nodes"] if part in node["name"]}
            rows = page.wait(f"the rows of {part}", lambda told=told: {row[0]: row[1:] for row in page.run(
                "return [...document.querySelectorAll('main tbody tr')].map(r => [...r.cells].map(c => c.innerText.trim()))")}.keys() == told.keys() and page.run(
                "return [...document.querySelectorAll('main tbody tr')].map(r => [...r.cells].map(c => c.innerText.trim()))"))
            watts = page.run("return [...document.querySelectorAll('main thead th')].map(t => t.innerText.trim())").index("RAPL power")
            for name, verdict, *cells in rows:
                self.assertEqual(verdict, {"pass": "✓ pass", "missing": "? missing"}[worst(told[name])], name)
                self.assertEqual(cells[watts - 2] == "–", "absent" in told[name]["values"]["rapl_power_watts"], name)

        # Policies: both say whom they lack.
        page.find("#search").clear()
        page.go("#/policies")
        cards = "return [...document.querySelectorAll('.policy')].map(p => ['h2', '.rules', '.concern .badge', '.concern .muted'].map(what => p.querySelector(what)?.innerText.trim()))"
        page.wait("the policies", lambda: page.run(cards) == [[name, rule_of[name], "? missing", f"dontschedule: {MORTAL:,} nodes"] for name in ("hot", "never")])
        self.assertEqual(page.log(), [])


def worst(node):
    """As the page means it: the worst of a node's verdicts."""
    order = ["pass", "frozen", "held", "missing", "violating"]
    return max((v["state"] for v in node["verdicts"] if "state" in v), key=order.index, default=None)


if __name__ == "__main__":
    run_tests(__doc__, missing=chromium.missing())
