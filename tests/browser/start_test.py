"""What `binnacle dashboard`'s page says in a real Chromium when it cannot start: files that do not come or do not run, no JavaScript, no answers.

python3 tests/browser/start_test.py --build build    (scripts/test --browser installs what it takes and runs it)
"""

import contextlib
import http.client
import http.server
import json
import mimetypes
import threading
import urllib.request

from selenium.common.exceptions import TimeoutException

import dashboard_test  # first: it finds trial.py
import chromium
from trial import run_tests

START = (dashboard_test.ROOT / "cli/dashboard/page/start.js").read_bytes()
STATIC = "Its scripts have not come, or this browser cannot run them."


class Front(http.server.ThreadingHTTPServer):
    """Passes a browser's questions on to the dashboard. `broken`: what a path gets instead, as (status, text), None: never an answer, or an Event: its
    answer once that is set."""

    daemon_threads = True

    def __init__(self, origin):
        self.broken = {}
        self.ended = threading.Event()
        to = origin.removeprefix("http://")

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):  # noqa: N802
                path = self.path.split("?")[0]
                if path not in self.server.broken:
                    return self.pass_on()
                instead = self.server.broken[path]
                if instead is None:
                    return self.server.ended.wait(120)
                if isinstance(instead, threading.Event):
                    instead.wait(120)
                    return self.pass_on()
                status, text = instead
                self.send_response(status)
                self.send_header("Content-Type", mimetypes.guess_type(path)[0] or "text/html")
                self.send_header("Cache-Control", "no-store")
                self.end_headers()
                self.wfile.write(text)

            def pass_on(self):
                asked = http.client.HTTPConnection(to, timeout=60)
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                asked.request(self.command, self.path, body, {"Host": to, "Authorization": self.headers.get("Authorization") or ""})
                answer = asked.getresponse()
                self.send_response(answer.status)
                for name, value in answer.getheaders():
                    if name.lower() not in ("connection", "content-length", "transfer-encoding"):  # the end of the connection is the end of the answer
                        self.send_header(name, value)
                self.end_headers()
                with contextlib.suppress(OSError):  # one of them has gone
                    while piece := answer.read1(65536):
                        self.wfile.write(piece)
                asked.close()

            do_POST = do_GET

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def stop(self):
        self.ended.set()
        self.shutdown()
        self.server_close()


class Start(dashboard_test.ThreeAgents):
    def setUp(self):
        super().setUp()
        key = self.page.run("return sessionStorage.getItem('key')")
        asked = urllib.request.Request(self.dashboard.origin + "/link", b"", {"Authorization": "Bearer " + key})
        with urllib.request.urlopen(asked, timeout=60) as answer:
            self.secret = json.load(answer)["link"].split("#")[1]
        self.front = Front(self.dashboard.origin)
        self.addCleanup(self.front.stop)
        self.address = f"http://127.0.0.1:{self.front.server_port}/"

    def open_with(self, broken):
        """A page with a link of its own, and with `broken` files."""
        self.front.broken = broken
        self.page.open("about:blank")
        self.page.open(self.address + "#" + self.secret)

    def test_a_file_that_does_not_come_or_run_is_named_with_what_may_help(self):
        page = self.page
        for broken, reason in (
                ({"/app.js": (404, b"{}")}, "The browser did not get /app.js, or a file that it needs."),
                ({"/tiles.js": (404, b"{}")}, "The browser did not get /app.js, or a file that it needs."),
                ({"/chart.min.js": (404, b"{}")}, "The browser did not get /chart.min.js."),
                ({"/chart.min.js": (200, b"let = of the future")}, "It stopped: Unexpected identifier 'the' (http://"),
                ({"/app.js": (200, b"delete navigator.locks.query.that.is.missing;")}, "It stopped: Cannot read properties"),
                ({"/start.js": (200, b"delete Navigator.prototype.locks; " + START)}, "It stopped: this browser lacks navigator.locks ("),
                ({"/open": (404, b"no JSON")}, "is not the command `binnacle dashboard` (HTTP status 404)"),
                ({"/open": None}, "It stopped: the command `binnacle dashboard` does not answer ("),
                ({"/start.js": (404, b""), "/app.js": (404, b"")}, STATIC)):
            with self.subTest(broken=broken):
                self.open_with(broken)
                page.wait("the reason", lambda reason=reason: reason in page.text("body") and "This page has not started" in page.text("body"))
                self.assertIn("Not started", page.text("#link-state"))
                self.assertIn("start it again and open the link that it prints", page.text("body"))
                if chromium.AXE.exists():
                    self.assertEqual(page.violations(), [])

    def test_a_script_that_never_comes_is_waited_for_in_words(self):
        self.page.driver.set_page_load_timeout(5)
        with contextlib.suppress(TimeoutException):  # the browser goes on waiting
            self.open_with({"/app.js": None})
        self.page.wait("the words", lambda: STATIC in self.page.text("body"))

    def test_without_javascript_the_page_says_so(self):
        page = self.page
        page.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
        self.open_with({})

        def said():
            tree = page.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
            return " ".join(node["name"]["value"] for node in tree if not node["ignored"] and node["role"]["value"] == "StaticText")
        page.wait("the words", lambda: "JavaScript is switched off here, and the page needs it." in said() and "Not started" in said())

    def test_a_command_that_gives_no_answer_is_named(self):
        page = self.page
        self.open_with({"/live": None, "/changes": None})
        page.wait("the words", lambda: "Is the command `binnacle dashboard` still running" in page.text("#banner"))
        self.front.ended.set()  # their connections break off
        self.front.broken = {}
        page.wait("the fleet", lambda: "all connected" in page.text(".stats") and not page.find("#banner").is_displayed())

    def test_whoever_goes_to_another_page_before_the_answer_gets_that_page(self):
        page = self.page
        answers = threading.Event()
        self.addCleanup(answers.set)
        self.open_with({"/open": answers})
        page.wait("the question", lambda: "has not answered yet" in page.text("#why"))
        page.go("#/node/alpha")
        answers.set()
        page.wait("the node", lambda: page.text("h1") == "alpha")
        self.assertEqual(page.run("return location.hash"), "#/node/alpha")

    def test_a_link_that_was_not_traded_is_good_for_the_next_try(self):
        page = self.page
        self.open_with({"/open": None})
        page.wait("the reason", lambda: "does not answer" in page.text("#why"))
        self.front.broken = {}
        page.driver.refresh()
        page.wait("the fleet", lambda: "all connected" in page.text(".stats"))


if __name__ == "__main__":
    run_tests(__doc__, "dashboard_test", missing=chromium.missing())
