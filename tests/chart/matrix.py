"""The values for which the chart is rendered, and what the tests of the renderings stand on."""

import argparse
import pathlib
import sys
import unittest

from rendered import CHART, ROOT, Helm, Refused

HELM = Helm(None)  # run() names the program
BUILD = ROOT / "build"
RENDERED = {}  # the objects of each rendering of the matrix and of each preset: run() makes them
DIGEST = "sha256:" + 64 * "a"
NODES = {"certificates": {"nodes": ["node1", "node2"]}}
EXISTING = {"certificates": {"mode": "existing", "existing": {
    "server": "my-server", "agent": "my-agent", "client": "my-client", "serverCA": "-----BEGIN CERTIFICATE-----\n"}}}
CERT_MANAGER = {"certificates": {"mode": "certManager", "nodes": ["node1"], "certManager": {
    "serverIssuer": {"name": "a"}, "agentIssuer": {"name": "b"}, "clientIssuer": {"name": "c"}, "trustSecret": "my-trust", "agentTrustSecret": "my-ca"}}}
BY_CERTIFICATE = {"agent": {"identity": "certificate"}}
BY_SHARED = {"agent": {"identity": "certificate", "sharedCertificate": True}}
ALIASES = [{"name": "machine_kw", "family": "host_power_watts", "scale": 0.001, "window": "1m"},
           {"name": "first_socket", "family": "rapl_power_watts", "selector": {"package": "0"}, "rule": "sole"}]
MATRIX = {
    "defaults": NODES,
    "privileged": NODES | {"agent": {"mode": "privileged", "textfileDirectory": "/var/lib/metrics"}},
    "ipmi": NODES | {"agent": {"ipmi": {"enabled": True}}},
    "ipmi by a device plug-in": NODES | {"agent": {"ipmi": {"enabled": True, "access": "devicePlugin", "deviceResource": "example.com/ipmi"}}},
    "existing secrets": EXISTING,
    "cert-manager": CERT_MANAGER | {"monitoring": {"monitors": True}},
    "agents by certificate": NODES | BY_CERTIFICATE,
    "agents by a certificate of yours": EXISTING | BY_SHARED,
    "agents by cert-manager's certificate": CERT_MANAGER | BY_SHARED,
    "everything optional": NODES | {"monitoring": {"monitors": True, "rules": True, "dashboards": True, "labels": {"release": "p"}},
                                    "openshift": {"enabled": True}, "image": {"pullSecrets": ["pull"], "digests": {"agent": DIGEST}}, "cluster": "edge", "descheduler": {"enabled": True},
                                    "aggregator": {"settings": {"label-namespaces": ["ops", "power"]}, "aliases": ALIASES,
                                                   "remoteWrite": {"url": "https://prometheus.example:9090/api/v1/write", "secret": "my-writer", "files": ["ca.crt", "token", "headers"], "headers": {"X-Scope-OrgID": "team-a"}},
                                                   "otlp": {"url": "https://collector.example:4318/v1/metrics", "secret": "my-sender", "files": ["ca.crt", "tls.crt", "tls.key"]},
                                                   "modelServers": ["models.example:8443"], "modelServersCa": "my-models",
                                                   "modelServersSecrets": {"namespace": "wao-system", "names": ["pc"]}}},
    "nothing optional": NODES | {"aggregator": {"replicas": 1}, "customMetrics": {"enabled": False}, "scheduler": {"enabled": False},
                                 "priorityClass": {"create": False}, "networkPolicy": {"enabled": False}, "agent": {"namespace": {"create": False}}},
    "far agents": NODES | {"agent": {"aggregators": ["binnacle.example.com:9110"], "serverName": "x"}, "aggregator": {"ingest": {"type": "NodePort", "nodePort": 30110}}},
    "far agents by a router": NODES | {"agent": {"aggregators": ["binnacle.apps.example.com:443"]}, "openshift": {"ingestHost": "binnacle.apps.example.com"}},
}


def render():
    for name, values in MATRIX.items():
        RENDERED[name] = HELM.template(values)
    for preset in sorted((CHART / "presets").glob("*.yaml")):
        RENDERED[preset.name] = HELM.template(files=[preset])


class Renderings(unittest.TestCase):
    def for_each(self, check):
        """For every rendering of the matrix and every preset."""
        for name, objects in RENDERED.items():
            with self.subTest(name):
                check(objects)


def run(about):
    """The main part of a file of tests."""
    global BUILD
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--helm", required=True)
    parser.add_argument("--build", type=pathlib.Path, default=BUILD)
    arguments, rest = parser.parse_known_args()
    HELM.program, BUILD = arguments.helm, arguments.build.resolve()
    try:
        render()
    except Refused as why:
        sys.exit(f"the chart does not render: {why}")
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
