"""The tests on machines that this one is not: unit tests and the agent's component tests run with the /sys and /proc of each machine of
tests/data/machines, and unit and component tests in other surroundings (time zone, language, umask, user, network). What fails here and passes at home asks the machine.

    tests/machines/machines_test.py --build build [--full] [NAME...]     NAME: a machine or one of the surroundings, as it is printed

Needs root, for mount and network namespaces of its own. --full: the slow tests, too."""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
MACHINES = HERE.parent / "data/machines"
A_USER = "65534"
PATIENCE = 10  # times the limit of `meson test`: the machine may be busy
# Component tests that take longer than a quarter of a minute: with --full only.
SLOW = {"ipmi-helper", "ipmi-helper-in-band", "ipmi-helper-lan", "agent-bmc-program", "ingest", "callers", "kube_component"}


def surroundings(folder):
    """name: (arguments of `inside`, environment that is set, variables that are taken away)"""
    return {
        "odd-time-zone": ([], {"TZ": "Asia/Kathmandu"}, []),
        "german": ([], {"LC_ALL": "de_DE.UTF-8", "LANG": "de_DE.UTF-8", "LANGUAGE": "de", "LOCPATH": german_locale(folder)}, []),
        "no-locale": ([], {}, ["LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ", "HOME", "USER", "LOGNAME", "TERM"]),
        "umask-077": (["-k", "077"], {}, []),
        "ordinary-user": (["-u", A_USER], {"HOME": "/nonexistent", "USER": "nobody"}, []),
        "container-root": (["-c"], {}, []),
        "no-ipv6": (["-n", "ipv4"], {}, []),
        "ports-taken": (["-n", "busy"], {}, []),
        "collectd": (["-n", "collectd"], {}, []),
    }


def german_locale(folder):
    """A folder with de_DE.UTF-8 in it; an empty one, where this system has no sources of locales."""
    made = pathlib.Path(folder) / "locale"
    made.mkdir(exist_ok=True)
    command = ["localedef", "-i", "de_DE", "-f", "UTF-8", str(made / "de_DE.UTF-8")]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        problem = done.stderr.strip().splitlines()[-1] if done.returncode > 1 else ""
    except FileNotFoundError:
        problem = "there is no localedef"
    if problem:
        print(f"machines: no German locale could be made ({problem}): LANG alone is set")
    return str(made)


def tests_of(build):
    """Meson's own list: programs, arguments, environments and time limits as `meson test` has them."""
    asked = subprocess.run(["meson", "introspect", "--tests", build], capture_output=True, text=True, check=True)
    return json.loads(asked.stdout)


def run(build, test, arguments, environment, without, folder):
    """How it ended, what it printed and what it skipped."""
    env = {**os.environ, **test["env"], **environment, "TMPDIR": folder}
    for name in without:
        env.pop(name, None)
    command = [str(HERE / "inside"), *arguments, *test["cmd"]]
    try:
        done = subprocess.run(command, env=env, cwd=test["workdir"] or build, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=test["timeout"] * PATIENCE, check=False)
        status, text = done.returncode, done.stdout
    except subprocess.TimeoutExpired as late:
        status, text = "timeout", late.stdout or b""
    text = text.decode(errors="replace")
    skipped = re.findall(r"MESSAGE: (skipped:.*)", text)
    if status == 77:
        skipped, status = [f"skipped: {test['name']} as a whole"], 0
    return status, text, skipped


def may_run(test, arguments):
    """Whether these surroundings let the user reach the program: a checkout or a Python in root's home is out of a user's reach."""
    program = test["cmd"][0]
    return "-u" not in arguments or subprocess.run([HERE / "inside", *arguments, "test", "-x", program], check=False).returncode == 0


def run_all(build, name, tests, arguments, environment, without):
    """Whether all passed on this machine, or in these surroundings; prints a line, and the end of what failed."""
    failed, skipped = [], []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool, tempfile.TemporaryDirectory(prefix="binnacle-machines-") as folder:
        os.chmod(folder, 0o755)

        def one(test):
            if not may_run(test, arguments):
                return test["name"], 0, "", [f"skipped: {test['name']}: this user cannot reach {test['cmd'][0]}"]
            own = tempfile.mkdtemp(dir=folder)
            os.chmod(own, 0o777)
            return test["name"], *run(build, test, arguments, environment, without, own)

        for test, status, text, without_these in pool.map(one, tests):
            skipped += without_these
            if status != 0:
                failed.append((test, status, text))
    print(f"{'FAIL' if failed else 'ok  '}  {name}: {len(tests) - len(failed)} of {len(tests)} tests passed", flush=True)
    for why in sorted(set(skipped)):
        print(f"        {why}")
    for test, status, text in failed:
        print(f"      {test} ended with {status}:")
        print("\n".join("        " + line for line in text.splitlines()[-30:]))
    return not failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("machines: namespaces with another /sys need root: run it as root")
    build = pathlib.Path(args.build).resolve()
    every = tests_of(build)
    unit = [t for t in every if any(s.endswith("unit") for s in t["suite"])]
    component = [t for t in every if any(s.endswith("component") for s in t["suite"]) and (args.full or t["name"] not in SLOW)]
    # Of the programs, the agent alone looks at a machine's hardware.
    looking = unit + [t for t in component if t["name"].startswith("agent")]

    right = True
    with tempfile.TemporaryDirectory(prefix="binnacle-trees-") as folder:
        os.chmod(folder, 0o755)
        places = surroundings(folder)
        known = [f.stem for f in sorted(MACHINES.glob("*.yaml"))]
        for name in args.names:
            if name not in known and name not in places:
                sys.exit(f"machines: there is no {name}; there are: {' '.join([*known, *places])}")
        for name in known:
            if args.names and name not in args.names:
                continue
            root = f"{folder}/{name}"
            subprocess.run([build / "tests/support/binnacle-sim-machine", MACHINES / f"{name}.yaml", root], check=True)
            right = run_all(build, name, looking, ["-m", root], {}, []) and right
        for name, place in places.items():
            if not args.names or name in args.names:
                right = run_all(build, name, unit + component, *place) and right
    sys.exit(0 if right else 1)


if __name__ == "__main__":
    main()
