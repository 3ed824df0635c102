"""Makes the pictures in docs/ from runs of the real programs, while a node heats up, as `binnacle dashboard` shows it: demo.webp is what scripts/demo
leads to, dashboard.webp a fleet of simulated nodes.

python3 tests/browser/pictures.py --build build [--out docs] [--all]    --all: also the other pages, dark and on a phone, for a look
"""

import argparse
import base64
import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

import chromium  # noqa: E402
from demo import METRIC, Demo  # noqa: E402
from trial import Trial, pod  # noqa: E402

NODES = 600
REAL = {"rack07-n01": 24, "rack07-n02": 27, "rack07-n03": 22}


def picture(page, file, where, width=1380, height=860, dark=False):
    page.look(width, height, dark)
    page.go(where)
    page.run("document.querySelector('#main').blur(); scrollTo(0, 0)")
    time.sleep(4)
    shot = page.driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "webp", "quality": 85})
    file.write_bytes(base64.b64decode(shot["data"]))


class PicturedDemo(Demo):
    """scripts/demo, and what one sees who then heats another node, as it says that one may."""

    def __init__(self, build, out):
        super().__init__(build)
        self.out = out

    def stay_up(self, opened):
        self.start_dashboard(opened)
        page = chromium.Browser(1380, 860)
        page.open(self.new_link())
        page.go("#/node/node9")
        page.wait("the node", lambda: METRIC in page.text(".rule"))
        time.sleep(20)
        self.heat("node9", self.hot_watts)
        page.wait("the violation", lambda: "violating" in page.text(".verdicts"))
        time.sleep(6)
        picture(page, self.out / "demo.webp", "#/node/node9")
        page.close()


def rule(metric, target):
    return f"      - {{metricname: {metric}, operator: GreaterThan, target: {target}}}\n"


def policy(name, rules, mode="", prefer="rapl_power_watts"):
    text = f"apiVersion: telemetry.intel.com/v1alpha1\nkind: TASPolicy\nmetadata: {{name: {name}, namespace: default}}\nspec:\n"
    return (text + mode + "  strategies:\n    dontschedule:\n      rules:\n" + "".join(rules)
            + f"    scheduleonmetric:\n      rules:\n      - {{metricname: {prefer}, operator: LessThan}}\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "docs")
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    demo = PicturedDemo(options.build.resolve(), options.out)
    try:
        demo.run(keep_up=True)
    finally:
        demo.stop()
    fleet(options)


def fleet(options):
    trial = Trial(options.build.resolve())
    try:
        trial.make_certificates(REAL, more=["--fleet", f"sim:{NODES}"])
        trial.write_policy(policy("power", [rule("rapl_power_watts", 220)]), "power.yaml")
        trial.start_aggregator("--log-level", "warning")
        for node, watts in REAL.items():
            trial.start_package(node, watts)
            trial.start_agent(node, "--sys-root", trial.sysroot(node), "--sources", "rapl,os")
        trial.start("fleet", trial.build / "tests/wan/binnacle-fleet", "--pki", trial.pki, "--nodes", NODES, "--port", trial.ports["ingest"])
        trial.wait_for("the values", lambda: len(trial.metric("rapl_power_watts")) == NODES + len(REAL), 300)
        page = chromium.Browser(1380, 860)
        page.open(chromium.Dashboard(trial).link)
        page.wait("the fleet", lambda: "603" in page.text(".stat dd"))
        trial.heat("rack07-n02", 190)
        page.wait("the violation", lambda: "rack07-n02" in page.text(".detail"), 120)
        page.wait("an answer to the scheduler", lambda: trial.scheduler().call("filter", pod("web-7f9c4", "power"), [*REAL, *[f"sim-{i}" for i in range(20)]]))
        time.sleep(15)

        def shot(name, where, *how, **look):
            picture(page, options.out / f"{name}.webp", where, *how, **look)

        shot("dashboard", "#/fleet")
        if options.all:
            for dark in (False, True):
                tone = "dark" if dark else "light"
                for name, where in (("fleet", "#/fleet"), ("node", "#/node/rack07-n02"), ("policies", "#/policies"), ("decisions", "#/decisions/web"), ("health", "#/health")):
                    shot(f"{name}-{tone}", where, dark=dark)
                    shot(f"{name}-{tone}-phone", where, 390, 844, dark)
        page.close()
    finally:
        trial.stop()


if __name__ == "__main__":
    main()
