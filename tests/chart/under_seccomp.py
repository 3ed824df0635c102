"""Runs a command under a seccomp profile as container runtimes read it (OCI runtime specification, linux.seccomp):
/usr/bin/python3 tests/chart/under_seccomp.py PROFILE.json COMMAND...

By libseccomp, as the runtimes do it; no_new_privs comes with it.
"""

import errno
import json
import os
import sys

import seccomp  # Debian's python3-seccomp

COMPARE = {"SCMP_CMP_EQ": seccomp.EQ, "SCMP_CMP_MASKED_EQ": seccomp.MASKED_EQ}


def action(rule):
    return seccomp.ALLOW if rule["action"] == "SCMP_ACT_ALLOW" else seccomp.ERRNO(rule.get("errnoRet", errno.EPERM))


def load(profile):
    found = seccomp.SyscallFilter(action({"action": profile["defaultAction"]}))
    for rule in profile["syscalls"]:
        arguments = [seccomp.Arg(a["index"], COMPARE[a["op"]], a["value"], *([a["valueTwo"]] if "valueTwo" in a else [])) for a in rule.get("args", [])]
        for name in rule["names"]:
            found.add_rule(action(rule), name, *arguments)
    found.load()


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    with open(sys.argv[1]) as file:
        load(json.load(file))
    os.execvp(sys.argv[2], sys.argv[2:])
