"""How long the kubelet and kube-scheduler wait while 20,000 silent connections stand at the faces. Prints times, checks nothing.

    crowded.py [--build DIR]... [--rounds N] [--seconds N] [--busy | --pipeline]

In each round each build gets three phases: calm, a crowd of 5,000 silent connections at each of the four faces, and with --busy that crowd and a flood of TLS
hellos at the ops port, which keeps the faces loop busy. With --pipeline there is one crowd instead: 1,500 connections at the port of health, all full of
requests. So two builds are compared on the same machine in the same minutes: --build old --build new. A line for each phase: what /livez took on a new
connection each time (median, p99, longest), the same of the filter on one connection, and the machine's load.
"""

import argparse
import os
import pathlib
import time

import attacked

FACES = ("health", "ops", "metrics", "extender")


class Phases(attacked.Hostile):
    def look(self, what, seconds):
        health, scheduler = self.watch_health(), self.watch_filter()
        accepted, began = self.counted("binnacle_http_connections_total"), time.monotonic()
        time.sleep(seconds)
        accepted = (self.counted("binnacle_http_connections_total") - accepted) / (time.monotonic() - began)
        health.stop()
        scheduler.stop()
        print(f"{what}\n  livez  {self.words(health)}\n  filter {self.words(scheduler)}\n  {accepted:.0f} connections/s accepted, load {os.getloadavg()[0]:.1f}", flush=True)

    @staticmethod
    def words(watch):
        return f"{attacked.milliseconds(watch.took) if watch.took else 'no answer'}, {len(watch.failed)} without answer"

    def run_phases(self, name, seconds, busy, pipeline):
        self.begin()
        self.look(f"{name}: calm", seconds)
        if pipeline:
            crowd = self.crowd(self.trial.ports["health"], many=1500, rate=1000, say="pipeline")
            self.wait_for("the crowd to be there", lambda: self.made(crowd) >= 1500)
            self.look(f"{name}: 1,500 that pipeline", seconds)
            return
        for first, face in enumerate(FACES, start=1):
            self.crowd(self.trial.ports[face], many=5000, rate=2000, first=first)
        self.wait_for("the crowds to be there", lambda: self.counted("binnacle_http_connections_total") > 25_000)
        self.look(f"{name}: 20,000 silent", seconds)
        if busy:
            self.crowd(self.trial.ports["ops"], many=2000, rate=2000, first=len(FACES) + 1, say="hello")
            time.sleep(2)
            self.look(f"{name}: 20,000 silent, and hellos", seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, action="append")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=10)
    crowds = parser.add_mutually_exclusive_group()
    crowds.add_argument("--busy", action="store_true")
    crowds.add_argument("--pipeline", action="store_true")
    options = parser.parse_args()
    for _ in range(options.rounds):
        for build in options.build or [attacked.BUILD]:
            attacked.BUILD = build.resolve()
            phases = Phases()
            phases.setUp()
            try:
                phases.run_phases(build.name, options.seconds, options.busy, options.pipeline)
            finally:
                phases.doCleanups()


if __name__ == "__main__":
    main()
