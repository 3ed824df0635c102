"""The schema of the programs' settings in charts/binnacle/values.schema.json, made of what they print about each with --print-config.

  python3 tests/chart/settings_forms.py build agent          prints it, for agent.settings; aggregator: for aggregator.settings
"""

import json
import pathlib
import re
import subprocess
import sys

# Settings that the chart gives the programs itself, by other values or because its mounts, ports and probes hang on them.
OWN = {
    "agent": {"node-name", "cluster", "aggregator", "server-name", "cert", "key", "ca", "sys-root", "proc-root", "textfile-directory", "listen",
              "listen-cert", "listen-key", "listen-ca", "token-file", "probe", "output", "ipmi-socket", "ipmi-helper", "ipmi-config",
              "bmc-device", "bmc-host", "bmc-protocol", "bmc-credentials-file", "scrape-file"},
    "aggregator": {"address", "ingest-port", "extender-port", "metrics-port", "ops-port", "health-port", "cert", "key", "agents-ca", "agents-account", "agents-audience", "clients-ca",
                   "unsafe", "policies", "aliases", "policy-poll", "kube-config", "kube-context", "cluster", "replica-id", "replicas"},
}
# What is narrower here than for the program, which takes any text.
NARROWER = {
    "label-namespaces": {"type": "array", "items": {"type": "string", "pattern": "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$"}},
    "sources": {"type": "array", "items": {"enum": ["rapl", "os", "pmu", "bmc", "textfile", "scrape", "path", "rdt"]}},
}
DURATION = {"type": "string", "pattern": "^([0-9]+(\\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$"}


def schema_of(form):
    """Of a form as --print-config words it; what a pattern cannot hold (the bounds of a duration) is left to the program."""
    if found := re.fullmatch(r"(a number|an integer) from (\S+) to (\S+)", form):
        kind, least, most = found.groups()
        return {"type": "number" if kind == "a number" else "integer", "minimum": json.loads(least), "maximum": json.loads(most)}
    if form.startswith("a duration such as"):
        return DURATION
    if form.startswith("one of "):
        return {"enum": form.removeprefix("one of ").split(", ")}
    return {"true or false": {"type": "boolean"}, "a text": {"type": "string"}, "a list of texts": {"type": "array", "items": {"type": "string"}}}[form]


def settings_schema(build, name):
    """{setting: schema} of a program's settings that values may give."""
    printed = subprocess.run([build / name / f"binnacle-{name}", "--print-config"], capture_output=True, text=True, timeout=60, check=True).stdout
    forms = re.findall(r"^# (.*)\n([a-z0-9-]+):", printed, re.M)
    return {key: NARROWER.get(key) or schema_of(form) for form, key in forms if key not in OWN[name]}


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    print(json.dumps(settings_schema(pathlib.Path(sys.argv[1]), sys.argv[2]), indent=2, ensure_ascii=False))
