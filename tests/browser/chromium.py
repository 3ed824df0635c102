"""Debian's Chromium, driven by its own chromedriver with Selenium, for the dashboard's tests and pictures."""

import json
import os
import pathlib
import shutil
import subprocess
import time

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By

DRIVER = "/usr/bin/chromedriver"
AXE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "binnacle/browser/node_modules/axe-core/axe.min.js"
WAIT = 60


class Dashboard:
    """`binnacle dashboard` of a trial, and its first link."""

    def __init__(self, trial, name="dashboard", *more):
        self.trial = trial
        self.name = name
        command = [trial.build / "cli/binnacle", "dashboard", "-o", "json", *more]
        environment = [f"{key}={value}" for key, value in trial.cli_environment().items()]
        trial.start(name, "env", *environment, *command)
        trial.wait_for("the dashboard's link", lambda: '"link"' in trial.log(name))
        self.link = json.loads(trial.log(name).splitlines()[0])["link"]
        self.origin = self.link.split("/#")[0]


class Browser:
    """One Chromium of its own profile."""

    def __init__(self, width=1380, height=900, dark=False, scale=1):
        options = Options()
        for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--disable-background-networking",
                     f"--window-size={width},{height}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(service=Service(DRIVER), options=options)
        self.driver.set_page_load_timeout(WAIT)
        self.driver.set_script_timeout(WAIT)
        self.look(width, height, dark, scale)

    def look(self, width, height, dark=False, scale=1):
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": width < 600})

    def close(self):
        self.driver.quit()

    def open(self, address):
        self.driver.get(address)

    def go(self, page):
        self.run("location.hash = arguments[0]", page)

    def run(self, script, *words):
        return self.driver.execute_script(script, *words)

    def text(self, selector="main"):
        return self.run("return document.querySelector(arguments[0])?.innerText ?? ''", selector)

    def find(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def wait(self, what, ready, seconds=WAIT):
        """The first true value of ready(); what Selenium throws meanwhile (an element that is just replaced) is tried again."""
        deadline = time.monotonic() + seconds
        last = None
        while time.monotonic() < deadline:
            try:
                last = ready()
                if last:
                    return last
            except Exception as why:  # pylint: disable=broad-except
                last = why
            time.sleep(0.05)
        raise AssertionError(f"waited {seconds} s in vain for {what}; last: {last!r}\nthe page says:\n{self.text('body')[:3000]}\nits log: {self.log()}")

    def violations(self):
        """What axe finds on the page as it is now: [(rule, what it asks for, [elements])]."""
        self.run(AXE.read_text() + "; window.axe = axe;")
        found = self.driver.execute_async_script("const done = arguments[arguments.length - 1]; axe.run(document).then(done, e => done(String(e)));")
        if isinstance(found, str) or not found["passes"]:
            raise AssertionError(f"axe has not looked: {found}")
        return [(v["id"], v["help"], [node["html"][:200] + " " + " ".join(str(one["message"]) for one in node["any"]) for node in v["nodes"][:4]]) for v in found["violations"]]

    def log(self):
        """What the browser complained of, scripts that failed and things that the page's policy forbids among it."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]


def missing():
    """Why these tests cannot run here; empty: they can."""
    if shutil.which("chromium") is None or not os.path.exists(DRIVER):
        return "Chromium or its driver is missing: scripts/bootstrap --browser"
    return "" if subprocess.run([DRIVER, "--version"], capture_output=True, check=False).returncode == 0 else f"{DRIVER} does not run"
