"""`binnacle dashboard` in many windows of one real Chromium, which makes six connections to one server for all of them together.

python3 tests/browser/windows_test.py --build build    (scripts/test --browser installs what it takes and runs it)
"""

import json
import urllib.request


import dashboard_test  # first: it finds trial.py
import chromium
from trial import run_tests

WINDOWS = 8
STREAMS = 3  # as page/live.js has it
# A window that has asked and been answered has no stream, or had none for a while.
HAS_ASKED = "return performance.getEntriesByType('resource').some(e => e.name.includes('/changes?'))"
FORGET = "performance.clearResourceTimings()"
HELD = "const done = arguments[0]; navigator.locks.query().then(all => done(all.held.length))"


class Windows(dashboard_test.ThreeAgents):
    def new_link(self):
        key = self.page.run("return sessionStorage.getItem('key')")
        asked = urllib.request.Request(self.dashboard.origin + "/link", b"", {"Authorization": "Bearer " + key})
        with urllib.request.urlopen(asked, timeout=60) as answer:
            return json.load(answer)["link"]

    def to(self, window):
        self.page.driver.switch_to.window(window)

    def in_each(self, windows, what, ready):
        """Waits in one window after the other until ready()."""
        for window in windows:
            self.to(window)
            self.page.wait(f"{what} in window {windows.index(window) + 1} of {len(windows)}", ready)

    def shown(self, value):
        return lambda: self.rows().get("alpha", [])[1:2] == [str(value)]

    def test_eight_windows_show_every_change_and_go_on_when_some_are_closed(self):
        page = self.page
        windows = [page.driver.current_window_handle]
        page.find("main .controls button").click()  # as a table
        while len(windows) < WINDOWS:
            link = self.new_link()
            page.driver.switch_to.new_window("window")
            windows.append(page.driver.current_window_handle)
            page.open(link)
            page.wait("the fleet", lambda: page.text(".stat dd").split()[:1] == ["3"])
            page.find("main .controls button").click()
            self.assertFalse(page.run("return document.hidden"))
        self.in_each(windows, "the value", self.shown(41))

        # Three windows stream, from the first on; the others ask.
        asks = []
        for window in windows:
            self.to(window)
            page.run(FORGET)
        self.say("alpha", 42)
        for window in windows:
            self.to(window)
            page.wait("the changed value", self.shown(42))
            if page.run(HAS_ASKED):
                asks.append(window)
        self.assertEqual(len(asks), WINDOWS - STREAMS)
        self.assertEqual(page.driver.execute_async_script(HELD), STREAMS)

        # A window that asks shows another part, for which it needs another topic.
        page.go("#/node/alpha")
        page.wait("the node", lambda: "42" in page.text(".series"))
        page.go("#/fleet")
        page.wait("the table", self.shown(42))

        # The windows that stream are closed, one after another. Another window takes the place at once, and all go on.
        value = 42
        for closed in [w for w in windows if w not in asks]:
            self.to(closed)
            page.driver.close()
            windows.remove(closed)
            self.to(windows[0])
            page.wait("the place to be taken", lambda: page.driver.execute_async_script(HELD) == STREAMS, 20)
            value += 1
            self.say("alpha", value)
            self.in_each(windows, "the changed value", self.shown(value))
        for window in windows:
            self.to(window)
            page.run(FORGET)
        value += 1
        self.say("alpha", value)
        self.in_each(windows, "the changed value", self.shown(value))
        still = []
        for window in windows:
            self.to(window)
            still.append(page.run(HAS_ASKED))
        self.assertEqual(still.count(False), STREAMS)

        # The command ends, and every window says so.
        self.trial.end("dashboard")
        self.in_each(windows, "the loss", lambda: "Not connected" in page.text("#link-state"))


if __name__ == "__main__":
    run_tests(__doc__, "dashboard_test", missing=chromium.missing())
