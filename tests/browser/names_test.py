"""Names as nobody should give them, in `binnacle dashboard` in a real Chromium: on every page, wide and narrow, they are text, have room, and run nothing.

python3 tests/browser/names_test.py --build build    (scripts/test --browser installs what it takes and runs it)
"""


import dashboard_test  # first: it finds trial.py
import chromium
from dashboard_test import METRIC, Ops
from trial import pod, run_tests

SCRIPT = "<img src=x onerror=\"window.owned=1;document.title='owned'\"><script>window.owned=1</script>';alert(1)//"
BACKWARDS = "\u202egpj.edon\u2066\u200f\u05d0\u05d1"  # overrides, isolates and marks of direction that never end
LONG = "n" * 253
LONG_WORDS = "-".join(["rack"] * 50)
MARKS = "no" + "\u0301\u0323\u0489" * 40 + "de"  # forty marks on one letter
WIDE = "\u7bc0\u70b9\u6a5f\u68b0" * 30 + "\U0001f525" * 10
CONTROLS = "a\x01\x1b[31m\x07\x7f\u0085\u2028b\r\nc\tend"
NAMES = [SCRIPT, BACKWARDS, LONG, MARKS, WIDE, CONTROLS, LONG_WORDS]
PAGES = {"#/fleet": ".detail li", "#/policies": ".concern", "#/decisions": ".decisions details", "#/health": ".card", "#/node/": ".series tbody tr"}


class Names(dashboard_test.ThreeAgents):
    def shown_as(self, turn):
        """Each thing that has a name, with another of the NAMES at each turn."""
        given = [NAMES[(i + turn) % len(NAMES)] for i in range(len(NAMES))]
        alpha, beta, gamma, policy, metric, pod_name, label = given
        rule = METRIC + " GreaterThan 60"
        return {"alpha": alpha, "beta-2": beta, "gamma": gamma, "probe": policy, "default/probe": "default/" + policy, METRIC: metric, rule: metric + " GreaterThan 60",
                "web-1": pod_name}, label

    def test_every_page_has_room_for_them_and_runs_nothing(self):
        self.say("alpha", 61)
        with self.trial.scheduler() as scheduler:
            scheduler.call("filter", pod("web-1", policy="probe"), ["alpha", "beta-2", "gamma"])
        for turn in range(0, len(NAMES), 2):  # each thing has had four of the seven
            names, label = self.shown_as(turn)
            labels = {"/api/v1/nodelabels": {"keys": [{"key": label, "nodes": 2, "values": 2}], "omitted": False}}
            ops = Ops(self.trial, labels, names)
            self.addCleanup(ops.stop)
            page = self.page
            page.open("about:blank")
            page.open(chromium.Dashboard(self.trial, f"turn-{turn}", "--aggregator", f"http://127.0.0.1:{ops.server_port}").link)
            page.wait("the fleet", lambda: "all connected" in page.text(".stats"))
            for width in (1280, 320):
                page.look(width, 900)
                for where, sign in PAGES.items():
                    with self.subTest(where, turn=turn, width=width):
                        self.look_at(where, sign, names, width)
            self.trial.end(f"turn-{turn}")

    def look_at(self, where, sign, names, width):
        page = self.page
        if where == "#/node/":
            page.run("location.hash = '#/node/' + encodeURIComponent(arguments[0])", names["alpha"])
        else:
            page.go(where)
        page.wait("the page", lambda: page.run("return document.querySelector('main ' + arguments[0]) !== null", sign))
        if where == "#/decisions":
            page.run("document.querySelector('.decisions details').open = true")
        self.assertLessEqual(page.run("return document.documentElement.scrollWidth"), width, f"{page.run(WIDEST, width)} wide")
        if where in ("#/fleet", "#/node/", "#/decisions"):
            page.wait("the name as text", lambda: page.run("return document.querySelector('main').textContent.includes(arguments[0])", names["alpha"]))
        self.assertEqual(page.run("return document.querySelectorAll('main img, main script').length"), 0)
        self.assertFalse(page.run("return window.owned === 1"))
        self.assertNotEqual(page.driver.title, "owned")
        if width == 320 and chromium.AXE.exists():
            self.assertEqual(page.violations(), [])
        self.clean()


# What may make a page too wide: elements that end beyond it and do not scroll by themselves.
WIDEST = """
    return [...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > arguments[0] + 1 && !e.closest('.scroll'))
        .slice(-5).map(e => e.outerHTML.slice(0, 160))"""


if __name__ == "__main__":
    run_tests(__doc__, "dashboard_test", missing=chromium.missing())
