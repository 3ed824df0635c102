"""What the chart makes of values: a wrong one is refused with its path, every one is known to the schema and explained in the README.

Run by scripts/check chart, or by hand: python3 tests/chart/values_test.py --helm HELM --build build [TestName]
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import unittest

import yaml
from rendered import CHART, ROOT, Helm, Refused
from settings_forms import OWN, durations, schema_of, settings_schema
from values_md import table

HELM = None
BUILD = ROOT / "build"
SCHEMA = json.loads((CHART / "values.schema.json").read_text())
VALUES = yaml.safe_load((CHART / "values.yaml").read_text())
# A wrong value, and what helm must say: its path, and what would be right.
WRONG = [
    ({"agnet": {}}, "additional properties 'agnet' not allowed"),
    ({"agent": {"mod": "hardened"}}, "at '/agent': additional properties 'mod' not allowed"),
    ({"agent": {"mode": "root"}}, "at '/agent/mode': value must be one of 'hardened', 'privileged'"),
    ({"agent": {"settings": {"perod": "1s"}}}, "at '/agent/settings': additional properties 'perod' not allowed"),
    ({"agent": {"settings": {"cert": "/x"}}}, "at '/agent/settings': additional properties 'cert' not allowed"),
    ({"agent": {"aggregators": ["binnacle"]}}, "at '/agent/aggregators/0'"),
    ({"agent": {"textfileDirectory": "metrics"}}, "at '/agent/textfileDirectory'"),
    ({"agent": {"maxUnavailable": 0}}, "at '/agent/maxUnavailable'"),
    ({"agent": {"hostProc": "yes"}}, "at '/agent/hostProc': got string, want boolean"),
    ({"agent": {"seccomp": {"type": "Unconfined"}}}, "at '/agent/seccomp/type': value must be one of 'RuntimeDefault', 'Localhost'"),
    ({"agent": {"ipmi": {"access": "mknod"}}}, "at '/agent/ipmi/access'"),
    ({"agent": {"namespace": {"name": "Big"}}}, "at '/agent/namespace/name'"),
    ({"agent": {"resources": {"limits": {"memory": "64 MB"}}}}, "at '/agent/resources/limits/memory'"),
    ({"agent": {"resources": {"limit": {}}}}, "at '/agent/resources': additional properties 'limit' not allowed"),
    ({"agent": {"tolerations": [{"operator": "exists"}]}}, "at '/agent/tolerations/0/operator'"),
    ({"aggregator": {"replicas": 0}}, "at '/aggregator/replicas': minimum: got 0, want 1"),
    ({"aggregator": {"replicas": "2"}}, "at '/aggregator/replicas': got string, want integer"),
    ({"aggregator": {"ingest": {"type": "ExternalName"}}}, "at '/aggregator/ingest/type'"),
    ({"aggregator": {"settings": {"kubeconfig": "x"}}}, "at '/aggregator/settings': additional properties 'kubeconfig' not allowed"),
    ({"aggregator": {"settings": {"label-namespaces": ["Big"]}}}, "at '/aggregator/settings/label-namespaces/0'"),
    ({"certificates": {"mode": "none"}}, "at '/certificates/mode': value must be one of 'generated', 'existing', 'certManager'"),
    ({"certificates": {"deniedSerials": ["0x12"]}}, "at '/certificates/deniedSerials/0'"),
    ({"certificates": {"deniedSerials": [12]}}, "at '/certificates/deniedSerials/0': got number, want string"),
    ({"certificates": {"separateCallers": "yes"}}, "at '/certificates/separateCallers': got string, want boolean"),
    ({"certificates": {"generated": {"days": 0}}}, "at '/certificates/generated/days'"),
    ({"certificates": {"existing": {"serverCA": "/etc/ca.crt"}}}, "at '/certificates/existing/serverCA'"),
    ({"certificates": {"certManager": {"agentIssuer": {"kind": "Vault"}}}}, "at '/certificates/certManager/agentIssuer/kind'"),
    ({"customMetrics": {"enabled": 1}}, "at '/customMetrics/enabled': got number, want boolean"),
    ({"image": {"pullPolicy": "Sometimes"}}, "at '/image/pullPolicy'"),
    ({"image": {"registry": ""}}, "at '/image/registry'"),
    ({"image": {"digests": {"agent": "latest"}}}, "at '/image/digests/agent'"),
    ({"descheduler": {"interval": "60"}}, "at '/descheduler/interval'"),
    ({"scheduler": {"weight": 0}}, "at '/scheduler/weight': minimum: got 0, want 1"),
    ({"scheduler": {"timeout": "0.5"}}, "at '/scheduler/timeout'"),
    ({"priorityClass": {"name": "Very High"}}, "at '/priorityClass/name'"),
    ({"priorityClass": {"value": 2000000000}}, "at '/priorityClass/value'"),
    ({"monitoring": {"interval": "30"}}, "at '/monitoring/interval'"),
    ({"networkPolicy": False}, "at '/networkPolicy': got boolean, want object"),
    ({"openshift": {"ingestHost": "https://x"}}, "at '/openshift/ingestHost'"),
    ({"openshift": {"scc": True}}, "at '/openshift': additional properties 'scc' not allowed"),
    ({"agent": {"settings": {"period": 5}}}, "at '/agent/settings/period': got number, want string"),
    ({"agent": {"settings": {"period": "5"}}}, "at '/agent/settings/period': '5' does not match pattern"),
    ({"agent": {"settings": {"uplink-budget": "500"}}}, "at '/agent/settings/uplink-budget': got string, want number"),
    ({"agent": {"settings": {"uplink-budget": -1}}}, "at '/agent/settings/uplink-budget': minimum: got -1"),
    ({"agent": {"settings": {"sources": ["rapl", "rappl"]}}}, "at '/agent/settings/sources/1': value must be one of 'rapl'"),
    ({"agent": {"settings": {"log-level": "verbose"}}}, "at '/agent/settings/log-level': value must be one of 'debug'"),
    ({"agent": {"aggregators": ["a:99999"]}}, "at '/agent/aggregators/0'"),
    ({"agent": {"serverName": "a b"}}, "at '/agent/serverName'"),
    ({"agent": {"maxUnavailable": "110%"}}, "at '/agent/maxUnavailable'"),
    ({"agent": {"ipmi": {"deviceResource": "ipmi"}}}, "at '/agent/ipmi/deviceResource'"),
    ({"agent": {"ipmi": None}}, "at '/agent': missing property 'ipmi'"),
    ({"agent": None}, "missing property 'agent'"),
    ({"agent": {"seccomp": {"type": "Localhost", "localhostProfile": "/abs.json"}}}, "at '/agent/seccomp/localhostProfile'"),
    ({"aggregator": {"extraNames": ["https://x"]}}, "at '/aggregator/extraNames/0'"),
    ({"aggregator": {"extraNames": ["a:9110"]}}, "at '/aggregator/extraNames/0'"),
    ({"aggregator": {"aliases": [{"name": "heat"}]}}, "at '/aggregator/aliases/0': missing property 'family'"),
    ({"aggregator": {"aliases": [{"name": "heat", "family": "x", "rule": "average"}]}}, "at '/aggregator/aliases/0/rule': value must be one of 'sole'"),
    ({"aggregator": {"settings": {"score": "random"}}}, "at '/aggregator/settings/score': value must be one of 'value', 'rank'"),
    ({"certificates": {"nodes": ["Node1"]}}, "at '/certificates/nodes/0'"),
    ({"clusterDomain": "cluster local"}, "at '/clusterDomain'"),
    ({"image": {"tag": "a:b"}}, "at '/image/tag'"),
    ({"image": {"registry": "https://registry.example.com"}}, "at '/image/registry'"),
    ({"scheduler": {"name": "My Scheduler"}}, "at '/scheduler/name'"),
    ({"monitoring": {"interval": "0s"}}, "at '/monitoring/interval'"),
    # What only the templates can know.
    ({"scheduler": {"name": "default-scheduler"}}, "scheduler.name: default-scheduler is the cluster's own"),
    ({"certificates": {"mode": "existing"}}, "certificates.existing."),
    ({"certificates": {"mode": "certManager"}}, "certificates.certManager.trustSecret: name the secret"),
    ({"agent": {"ipmi": {"enabled": True, "access": "devicePlugin"}}}, "agent.ipmi.deviceResource: name the device plug-in's resource"),
    ({"agent": {"seccomp": {"type": "Localhost"}}}, "agent.seccomp.localhostProfile: name the file"),
    ({"agent": {"settings": {"period": "1ms"}}}, "agent.settings.period: 1ms is out of bounds: give a duration, from 20ms to 1h"),
    ({"agent": {"settings": {"period": "1h1ms"}}}, "agent.settings.period: 1h1ms is out of bounds"),
    ({"agent": {"settings": {"period": "0.0199s"}}}, "agent.settings.period: 0.0199s is out of bounds"),
    ({"agent": {"settings": {"rapl-period": "19ms"}}}, "agent.settings.rapl-period: 19ms is out of bounds: give a duration, 0s, or from 20ms to 1m"),
    ({"agent": {"settings": {"rapl-least-period": "0s"}}}, "agent.settings.rapl-least-period: 0s is out of bounds"),
    ({"aggregator": {"remoteWrite": {"url": "prometheus:9090"}}}, "at '/aggregator/remoteWrite/url'"),
    ({"aggregator": {"remoteWrite": {"url": "https://me:secret@prometheus/w"}}}, "at '/aggregator/remoteWrite/url'"),
    ({"aggregator": {"remoteWrite": {"url": "https://prometheus/w", "files": ["token"]}}}, "aggregator.remoteWrite.files: name the secret"),
    ({"aggregator": {"remoteWrite": {"secret": "writer"}}}, "aggregator.remoteWrite: give the url of the receiver"),
    ({"aggregator": {"otlp": {"url": "collector:4318"}}}, "at '/aggregator/otlp/url'"),
    ({"aggregator": {"otlp": {"user": "me"}}}, "aggregator.otlp: give the url of the receiver"),
    ({"aggregator": {"otlp": {"headers": {"X-Scope-OrgID": "a"}}}}, "aggregator.otlp: give the url of the receiver"),
    ({"aggregator": {"otlp": {"url": "https://collector/v1/metrics", "headers": {"X A": "a"}}}}, "at '/aggregator/otlp/headers'"),
    ({"aggregator": {"otlp": {"url": "https://collector/v1/metrics", "headers": {"X-A": "a\r\nX-B: b"}}}}, "at '/aggregator/otlp/headers/X-A'"),
    ({"aggregator": {"settings": {"remote-write-version": 1.0}}}, "at '/aggregator/settings/remote-write-version'"),
    ({"aggregator": {"modelServers": ["models"]}}, "at '/aggregator/modelServers/0'"),
    ({"aggregator": {"modelServersCa": "my-models"}}, "aggregator.modelServersCa: name the servers, too"),
    ({"aggregator": {"modelServersSecrets": {"namespace": "a.b"}}}, "at '/aggregator/modelServersSecrets/namespace'"),
    ({"aggregator": {"modelServersSecrets": {"namespace": "a", "names": ["a/b"]}}}, "at '/aggregator/modelServersSecrets/names/0'"),
    ({"aggregator": {"modelServersSecrets": {"namespace": "wao-system"}}}, "aggregator.modelServersSecrets: name the servers, too"),
    ({"aggregator": {"modelServersSecrets": {"names": ["pc"]}}}, "aggregator.modelServersSecrets.names: name their namespace, too"),
    *(({"aggregator": {"modelServers": ["m:1"], "modelServersSecrets": {"namespace": namespace}}},
       f"aggregator.modelServersSecrets.names: {namespace} has other Secrets") for namespace in ("binnacle", "binnacle-agents", "kube-system")),
    ({"aggregator": {"settings": {"drain": "5m1ns"}}}, "aggregator.settings.drain: 5m1ns is out of bounds: give a duration, from 0s to 5m"),
]
# Durations that are just within their bounds.
RIGHT = [
    {"agent": {"settings": {"period": "20ms", "rapl-period": "0s", "os-period": "0.02s", "bmc-period": "100000us", "os-drive-period": "23h60m"}}},
    {"agent": {"settings": {"period": "1h", "rapl-period": "60000ms", "rapl-least-period": "50000000ns"}}},
    {"aggregator": {"settings": {"drain": "0s", "forget-after": "8760h"}}},
    {"aggregator": {"settings": {"drain": "4m59.5s500ms"}}},
]


class Schema(unittest.TestCase):
    def test_a_wrong_value_is_refused_with_its_path(self):
        for values, words in WRONG:
            with self.subTest(words):
                with self.assertRaises(Refused) as refused:
                    HELM.template(values)
                self.assertIn(words, str(refused.exception))

    def test_durations_within_their_bounds_are_taken(self):
        for values in RIGHT:
            with self.subTest(values):
                HELM.template(values)

    def test_bounds_of_durations_are_those_that_the_programs_print(self):
        self.assertEqual((CHART / "durations.yaml").read_text(), durations(BUILD), "python3 tests/chart/settings_forms.py build durations prints them")

    def test_it_knows_every_value_and_no_other(self):
        def walk(values, schema, path):
            if schema.get("type") != "object" or "properties" not in schema:
                return
            self.assertIs(schema.get("additionalProperties"), False, path)
            if not path.endswith(".settings"):
                self.assertEqual(set(values), set(schema["properties"]) - {"global"}, path)
            for key, inner in schema["properties"].items():
                if isinstance(values.get(key), dict):
                    walk(values[key], inner, f"{path}.{key}")
        walk(VALUES, SCHEMA, "values")

    def test_settings_are_those_of_the_programs_in_the_form_that_they_print(self):
        for name in ("agent", "aggregator"):
            self.assertEqual(SCHEMA["properties"][name]["properties"]["settings"]["properties"], settings_schema(BUILD, name),
                             f"python3 tests/chart/settings_forms.py build {name} prints them")

    def test_settings_that_the_chart_gives_itself_are_the_programs(self):
        for name, own in OWN.items():
            printed = subprocess.run([BUILD / name / f"binnacle-{name}", "--print-config"], capture_output=True, text=True, timeout=60, check=True).stdout
            self.assertLessEqual(own, set(re.findall(r"^([a-z0-9-]+):", printed, re.M)))

    def test_the_forms_of_settings_are_all_known(self):
        self.assertEqual(schema_of("an integer from 1 to 64"), {"type": "integer", "minimum": 1, "maximum": 64})
        with self.assertRaises(KeyError):
            schema_of("a colour")


class Readme(unittest.TestCase):
    def test_its_table_is_what_values_yaml_says(self):
        self.assertIn(table(), (CHART / "README.md").read_text(), "python3 tests/chart/values_md.py prints the table")

    def test_every_value_is_explained(self):
        for line in table().splitlines()[2:]:
            self.assertTrue(line.split("|")[3].strip(), line)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--helm", required=True)
    parser.add_argument("--build", type=pathlib.Path, default=BUILD)
    arguments, rest = parser.parse_known_args()
    HELM, BUILD = Helm(arguments.helm), arguments.build.resolve()
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
