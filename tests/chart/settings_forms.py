"""The schema of the programs' settings in charts/binnacle/values.schema.json, made of what they print about each with --print-config.

  python3 tests/chart/settings_forms.py build agent          prints it, for agent.settings; aggregator: for aggregator.settings
  python3 tests/chart/settings_forms.py build durations      prints charts/binnacle/durations.yaml, the bounds that a schema cannot hold
"""

import json
import pathlib
import re
import subprocess
import sys

# Settings that the chart gives the programs itself, by other values or because its mounts, ports and probes hang on them.
OWN = {
    "agent": {"node-name", "cluster", "aggregator", "server-name", "cert", "key", "ca", "sys-root", "proc-root", "proc-net", "textfile-directory", "listen", "health",
              "listen-cert", "listen-key", "listen-ca", "listen-denied-serials", "token-file", "probe", "report", "output", "ipmi-socket", "ipmi-helper", "ipmi-config",
              "bmc-device", "bmc-host", "bmc-protocol", "bmc-credentials-file", "scrape-file"},
    "aggregator": {"address", "ingest-port", "extender-port", "metrics-port", "ops-port", "health-port", "cert", "key", "agents-ca", "agents-account", "agents-audience", "clients-ca", "denied-serials",
                   "unsafe", "policies", "aliases", "policy-poll", "kube-config", "kube-context", "cluster", "replica-id", "replicas", "state", "state-from",
                   "remote-write", "remote-write-ca", "remote-write-cert", "remote-write-key", "remote-write-token", "remote-write-user", "remote-write-headers", "remote-write-headers-file",
                   "otlp", "otlp-ca", "otlp-cert", "otlp-key", "otlp-token", "otlp-user", "otlp-headers", "otlp-headers-file",
                   "model-servers", "model-servers-ca", "model-servers-secrets"},
}
# What is narrower here than for the program, which takes any text.
NARROWER = {
    "label-namespaces": {"type": "array", "items": {"type": "string", "pattern": "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$"}},
}
DURATION = {"type": "string", "pattern": "^([0-9]+(\\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$"}


def schema_of(form):
    """The JSON schema of a form as --print-config words it. A pattern cannot hold a duration's bounds: durations() has them."""
    if found := re.fullmatch(r"(a number|an integer) from (\S+) to (\S+)", form):
        kind, least, most = found.groups()
        return {"type": "number" if kind == "a number" else "integer", "minimum": json.loads(least), "maximum": json.loads(most)}
    if form.startswith("a duration such as"):
        return DURATION
    if form.startswith("one of "):
        return {"enum": form.removeprefix("one of ").split(", ")}
    return {"true or false": {"type": "boolean"}, "a text": {"type": "string"}, "a list of texts": {"type": "array", "items": {"type": "string"}}}[form]


def printed_config(build, name):
    return subprocess.run([build / name / f"binnacle-{name}", "--print-config"], capture_output=True, text=True, timeout=60, check=True).stdout


def forms(build, name):
    """{setting: form} of a program's settings that values may give."""
    return {key: form for form, key in re.findall(r"^# (.*)\n([a-z0-9-]+):", printed_config(build, name), re.M) if key not in OWN[name]}


def known_sources(build):
    """What an agent's `sources` may name, in the words of its help."""
    return re.search(r"^# what to read: (.*)\n.*\nsources:", printed_config(build, "agent"), re.M)[1].split(", ")


def settings_schema(build, name):
    """{setting: schema} of them."""
    narrower = NARROWER if name != "agent" else NARROWER | {"sources": {"type": "array", "items": {"enum": known_sources(build)}}}
    return {key: narrower.get(key) or schema_of(form) for key, form in forms(build, name).items()}


def durations(build):
    """charts/binnacle/durations.yaml: the bounds of each program's durations, in its own words."""
    lines = ["# Made by tests/chart/settings_forms.py of what the programs print. The templates refuse what is out of these bounds.\n"]
    for name in OWN:
        lines.append(f"{name}:\n")
        for key, form in forms(build, name).items():
            if bounds := re.fullmatch(r"a duration such as .*?((?:0s, or )?from \S+ to \S+)", form):
                lines.append(f"  {key}: {bounds[1]}\n")
    return "".join(lines)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    if sys.argv[2] == "durations":
        print(durations(pathlib.Path(sys.argv[1])), end="")
        sys.exit()
    print(json.dumps(settings_schema(pathlib.Path(sys.argv[1]), sys.argv[2]), indent=2, ensure_ascii=False))
