#!/usr/bin/env python3
"""How long a clean build of everything takes, without a compiler cache: wall time, CPU seconds, and the ten longest compiler runs.

    tests/bench/build_time.py                 every target that scripts/test builds, in a folder of its own that is removed afterwards
    tests/bench/build_time.py --jobs 2        with so many compilers at once (default: one for each CPU)
    tests/bench/build_time.py -- -Dunity=off  further words are for meson setup

Run it on a machine that does nothing else: the wall time means nothing beside other work, the CPU seconds a little more.
"""

import argparse
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


def spent():
    """CPU seconds of all children that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def first_line(command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.partition("\n")[0]


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return "unknown processor"


def longest(log, most):
    """(seconds, output) of ninja's log: a line for each output with begin and end in ms. Its first line names the format."""
    runs = {}
    for line in log.read_text().splitlines()[1:]:
        begin, end, _, output, _ = line.split("\t")
        runs[output] = (int(end) - int(begin)) / 1000
    return sorted(((seconds, output) for output, seconds in runs.items()), reverse=True)[:most]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("words", nargs="*", help="for meson setup")
    asked = parser.parse_args()
    environment = dict(os.environ, CCACHE_DISABLE="1")
    with tempfile.TemporaryDirectory(prefix="build-time-", dir=ROOT) as folder:
        build = pathlib.Path(folder)
        began, cpu = time.monotonic(), spent()
        subprocess.run(["meson", "setup", build, *asked.words], cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)
        configured, cpu_configured = time.monotonic(), spent()
        subprocess.run(["ninja", "-C", build, f"-j{asked.jobs}", "--quiet"], env=environment, check=True)
        built, cpu_built = time.monotonic(), spent()
        runs = longest(build / ".ninja_log", 10)
    print(f"{processor()}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}; {first_line(['c++', '--version'])}; commit "
          f"{first_line(['git', '-C', str(ROOT), 'describe', '--always', '--dirty'])}")
    print(f"configuring  {configured - began:7.1f} s   {cpu_configured - cpu:7.1f} s of CPU")
    print(f"building     {built - configured:7.1f} s   {cpu_built - cpu_configured:7.1f} s of CPU, {asked.jobs} at once")
    print(f"together     {(built - began) / 60:7.1f} min {cpu_built - cpu:7.1f} s of CPU")
    print("longest:")
    for seconds, output in runs:
        print(f"  {seconds:6.1f} s  {output}")


if __name__ == "__main__":
    sys.exit(main())
