#!/usr/bin/env python3
"""How long a clean build of everything takes, without a compiler cache: wall time, CPU seconds, and the ten longest compiler runs.

    tests/bench/build_time.py                 every target that scripts/test builds, in a folder of its own that is removed afterwards
    tests/bench/build_time.py --jobs 2        with so many compilers at once (default: one for each CPU)
    tests/bench/build_time.py --against HEAD~9            the same of another commit before it, and what has changed
    tests/bench/build_time.py --target agent/binnacle-agent   one target and what it needs
    tests/bench/build_time.py -- -Dunity=off  further words are for meson setup

Run it on a machine that does nothing else: the wall time means nothing beside other work, the CPU seconds a little more.
"""

import argparse
import contextlib
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


def measured(tree, words, jobs, targets):
    """One clean build of a source tree: CPU and wall seconds of configuring and of building, and the longest compiler runs."""
    environment = dict(os.environ, CCACHE_DISABLE="1")
    with tempfile.TemporaryDirectory(prefix="build-time-", dir=ROOT) as folder:
        build = pathlib.Path(folder)
        began, cpu = time.monotonic(), spent()
        subprocess.run(["meson", "setup", build, *words], cwd=tree, env=environment, check=True, stdout=subprocess.DEVNULL)
        configured, cpu_configured = time.monotonic(), spent()
        if not targets:  # everything; older commits have their benchmarks in "all"
            targets = ["all", *(["benchmarks"] if "build benchmarks: phony" in (build / "build.ninja").read_text() else [])]
        subprocess.run(["ninja", "-C", build, f"-j{jobs}", "--quiet", *targets], env=environment, check=True)
        built, cpu_built = time.monotonic(), spent()
        return {"configuring": (configured - began, cpu_configured - cpu), "building": (built - configured, cpu_built - cpu_configured),
                "together": (built - began, cpu_built - cpu), "longest": longest(build / ".ninja_log", 10)}


@contextlib.contextmanager
def tree_of(commit):
    """The source tree of another commit, as git archive gives it. A worktree would be kept in the repository if this program is killed."""
    with tempfile.TemporaryDirectory(prefix="build-time-", dir=ROOT) as folder:
        archive = subprocess.Popen(["git", "-C", ROOT, "archive", commit], stdout=subprocess.PIPE)
        subprocess.run(["tar", "-x", "-C", folder], stdin=archive.stdout, check=True)
        if archive.wait() != 0:
            sys.exit(f"build_time: git cannot give the files of {commit}")
        yield pathlib.Path(folder)


def show(what, jobs):
    for step in ("configuring", "building", "together"):
        wall, cpu = what[step]
        print(f"{step:12} {wall:7.1f} s   {cpu:7.1f} s of CPU{f', {jobs} at once' if step == 'building' else ''}")
    print("longest:")
    for seconds, output in what["longest"]:
        print(f"  {seconds:6.1f} s  {output}")


def described(commit=None):
    return first_line(["git", "-C", str(ROOT), "describe", "--always", *([commit] if commit else ["--dirty"])])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--against", metavar="COMMIT", help="builds that commit first, with the same words and jobs")
    parser.add_argument("--target", action="append", default=[], help="only this target of ninja; may be given several times")
    parser.add_argument("words", nargs="*", help="for meson setup")
    asked = parser.parse_args()
    before = None
    if asked.against:
        with tree_of(asked.against) as tree:
            before = measured(tree, asked.words, asked.jobs, asked.target)
    now = measured(ROOT, asked.words, asked.jobs, asked.target)
    print(f"{processor()}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}; {first_line(['c++', '--version'])}")
    if before:
        print(f"before: commit {described(asked.against)}")
        show(before, asked.jobs)
    print(f"{'after: ' if before else ''}commit {described()}")
    show(now, asked.jobs)
    if before:
        print("together, before and after:")
        for name, i in (("wall time", 0), ("CPU", 1)):
            first, second = before["together"][i], now["together"][i]
            print(f"  {name:10} {first:7.1f} s   {second:7.1f} s   {100 * (second - first) / first:+.0f} %")


if __name__ == "__main__":
    sys.exit(main())
