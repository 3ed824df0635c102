"""The chart's certificates and tokens, rendered for a matrix of values: who holds what, whom it trusts, and what a new one does to pods that run.

Run by scripts/check chart, or by hand: python3 tests/chart/certificates_test.py --helm HELM [TestName]
"""

import pathlib
import subprocess
import tempfile

import matrix
import yaml
from matrix import BY_CERTIFICATE, BY_SHARED, CERT_MANAGER, EXISTING, HELM, NODES, RENDERED, Renderings
from rendered import Refused

# What agents may dial besides the services.
DIALLED = {"aggregator": {"extraNames": ["192.0.2.7", "far.example.com", "2001:db8::7"]}}


class Certificates(Renderings):
    def test_agents_speak_by_their_own_token_or_by_the_certificate_that_all_share(self):
        def check(objects):
            agent = yaml.safe_load(objects.one("ConfigMap", "binnacle-agent")["data"]["agent.yaml"])
            aggregator = yaml.safe_load(objects.one("ConfigMap", "binnacle-aggregator")["data"]["aggregator.yaml"])
            volumes = {v["name"]: v for v in objects.one("DaemonSet", "binnacle-agent")["spec"]["template"]["spec"]["volumes"]}
            self.assertEqual("token" in volumes, "token-file" in agent)
            self.assertEqual("token-file" in agent, "cert" not in agent)
            self.assertEqual("token-file" in agent, "agents-account" in aggregator)
            if "token" in volumes:
                self.assertEqual(volumes["token"]["projected"]["sources"], [{"serviceAccountToken": {"audience": "binnacle", "expirationSeconds": 3600, "path": "token"}}])
                self.assertEqual(aggregator["agents-account"], "binnacle-agents/binnacle-agent")
            else:
                self.assertIn("agents-ca", aggregator)
        self.for_each(check)

    def test_one_certificate_for_all_nodes_is_for_trials_unless_somebody_says_otherwise(self):
        for values in (EXISTING, CERT_MANAGER):
            with self.assertRaises(Refused) as refused:
                HELM.template(values | BY_CERTIFICATE)
            self.assertIn("agent.identity: one certificate for all nodes", str(refused.exception))
            HELM.template(values | BY_SHARED)
        HELM.template(NODES | BY_CERTIFICATE)

    def test_api_services_check_the_certificate(self):
        def check(objects):
            for o in objects.of("APIService"):
                self.assertNotIn("insecureSkipTLSVerify", o["spec"])
                self.assertTrue(o["spec"].get("caBundle") or "cert-manager.io/inject-ca-from" in o["metadata"].get("annotations", {}))
                self.assertEqual(o["metadata"]["name"], o["spec"]["version"] + "." + o["spec"]["group"])
        self.for_each(check)

    def test_a_denied_serial_number_reaches_the_aggregator_that_runs_and_restarts_nothing(self):
        def rendered(*serials):
            objects = HELM.template({"certificates": NODES["certificates"] | {"mode": "existing", "existing": EXISTING["certificates"]["existing"], "deniedSerials": list(serials)}})
            deployment = objects.one("Deployment", "binnacle-aggregator")["spec"]["template"]
            mount = self.only(m for m in deployment["spec"]["containers"][0]["volumeMounts"] if m["name"] == "denied")
            self.assertNotIn("subPath", mount)
            volume = self.only(v for v in deployment["spec"]["volumes"] if v["name"] == "denied")
            listed = objects.one("ConfigMap", volume["configMap"]["name"])["data"]
            setting = yaml.safe_load(objects.one("ConfigMap", "binnacle-aggregator")["data"]["aggregator.yaml"])["denied-serials"]
            self.assertEqual(setting, mount["mountPath"] + "/" + self.only(listed))
            return deployment, [line for line in self.only(listed.values()).splitlines() if not line.startswith("#")]
        (before, none), (after, two) = rendered(), rendered("0A1b", "serial=12:34")
        self.assertEqual((none, two), ([], ["0A1b", "serial=12:34"]))
        self.assertEqual(before, after)

    def test_replaced_certificates_reach_pods_that_run(self):
        def check(objects):
            for name, _, _, spec in objects.pods():
                secrets = {v["name"] for v in spec.get("volumes", []) if "secret" in v or "projected" in v}
                for c in spec["containers"]:
                    # The kubelet renews a folder, and never a file that was mounted by subPath.
                    self.assertEqual([m for m in c["volumeMounts"] if m["name"] in secrets and "subPath" in m], [], name)
        self.for_each(check)

        def templates():
            """Without a cluster to look into the chart makes new certificates each time."""
            made = HELM.template(NODES)
            return made.secret("binnacle-server"), {o["metadata"]["name"]: o["spec"]["template"] for o in made.of("Deployment") + made.of("DaemonSet")}
        (one, before), (other, after) = templates(), templates()
        self.assertNotEqual(one, other)
        # kube-scheduler makes its pool of authorities once, so that a new one starts it anew.
        self.assertEqual([name for name in before if before[name] != after[name]], ["binnacle-scheduler"])

    def test_the_scheduler_is_started_anew_for_a_new_authority_that_the_chart_knows_and_for_that_alone(self):
        def checksum(**values):
            annotations = HELM.template(values).one("Deployment", "binnacle-scheduler")["spec"]["template"]["metadata"]["annotations"]
            return annotations.get("checksum/server-ca")

        def existing(ca):
            return {"mode": "existing", "existing": EXISTING["certificates"]["existing"] | {"serverCA": f"-----BEGIN CERTIFICATE-----\n{ca}"}}
        self.assertEqual(checksum(certificates=existing("a")), checksum(certificates=existing("a"), cluster="x"))
        self.assertNotEqual(checksum(certificates=existing("a")), checksum(certificates=existing("b")))
        self.assertIsNone(checksum(**CERT_MANAGER))

    def test_the_authority_that_everybody_trusts_is_that_of_the_server(self):
        def authority(objects, secret):
            """Whose certificate a secret's ca.crt is."""
            for certificate in objects.of("Certificate"):  # Source: cert-manager's documentation, "Certificate resource", ca.crt
                if certificate["spec"]["secretName"] == secret:
                    return certificate["spec"]["issuerRef"]["name"]
            return {"my-server": "a", "my-client": "a", "my-agent": "a", "my-ca": "a"}.get(secret) or objects.secret(secret)["ca.crt"]

        def check(objects):
            server = self.only(v for v in objects.one("Deployment", "binnacle-aggregator")["spec"]["template"]["spec"]["volumes"] if v["name"] == "pki")
            wanted = authority(objects, server["secret"]["secretName"])
            trusted = {}
            for name, _, _, spec in objects.pods():
                if name == "binnacle-aggregator" or name == "binnacle-descheduler":
                    continue
                files = objects.secrets_of(self.only(v for v in spec["volumes"] if v["name"] == "pki"))
                trusted[name] = files["ca.crt"]
            for monitor in objects.of("ServiceMonitor"):
                ca = monitor["spec"]["endpoints"][0]["tlsConfig"]["ca"]["secret"]
                trusted["ServiceMonitor"] = ca["name"], ca["key"]
            self.assertGreater(len(trusted), 2)
            for name, (secret, key) in trusted.items():
                self.assertEqual((key, authority(objects, secret)), ("ca.crt", wanted), name)
        self.for_each(check)

    def test_who_shows_a_certificate_has_certificate_and_key_of_one_secret(self):
        def check(objects):
            for name, _, _, spec in objects.pods():
                for volume in spec.get("volumes", []):
                    files = objects.secrets_of(volume)
                    if "tls.crt" in files:
                        secret = {"binnacle-agent": {"binnacle-agent", "my-agent"}}.get(name, {"binnacle-client", "my-client"})
                        self.assertEqual(files["tls.crt"][0], files["tls.key"][0])
                        self.assertIn(files["tls.crt"][0], secret)
        self.for_each(check)

    def test_cert_manager_is_asked_for_addresses_as_such(self):
        certificate = HELM.template(CERT_MANAGER | DIALLED).one("Certificate", "binnacle-server")["spec"]
        self.assertEqual(certificate["ipAddresses"], ["192.0.2.7", "2001:db8::7"])
        self.assertIn("far.example.com", certificate["dnsNames"])
        self.assertEqual([name for name in certificate["dnsNames"] if ":" in name or name[0].isdigit()], [])
        self.assertNotIn("ipAddresses", RENDERED["cert-manager"].one("Certificate", "binnacle-server")["spec"])

    def only(self, things):
        found = list(things)
        self.assertEqual(len(found), 1, found)
        return found[0]

    def test_secrets_of_others_are_not_the_chart_s_to_write(self):
        for name in ("existing secrets", "cert-manager", "agents by a certificate of yours", "agents by cert-manager's certificate"):
            self.assertEqual([o["metadata"]["name"] for o in RENDERED[name].of("Secret")], [], name)

    def test_a_generated_certificate_is_for_its_names_and_by_its_authority(self):
        objects = HELM.template(NODES | BY_CERTIFICATE | DIALLED)
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            for which in ("server", "agent", "client"):
                for key, value in objects.secret(f"binnacle-{which}").items():
                    (folder / f"{which}-{key}").write_bytes(value)

            def verified(ca, certificate, *more):
                said = subprocess.run(["openssl", "verify", "-CAfile", folder / ca, *more, folder / certificate], capture_output=True, text=True, timeout=20)
                return said.returncode == 0
            looked_for = yaml.safe_load(objects.one("ConfigMap", "binnacle-agent")["data"]["agent.yaml"])["server-name"]
            for name in (looked_for, "binnacle.binnacle.svc", "localhost", "far.example.com"):
                self.assertTrue(verified("agent-ca.crt", "server-tls.crt", "-purpose", "sslserver", "-verify_hostname", name), name)
            for address in ("192.0.2.7", "2001:db8::7", "127.0.0.1"):
                self.assertTrue(verified("agent-ca.crt", "server-tls.crt", "-purpose", "sslserver", "-verify_ip", address), address)
            for node in ("node1", "node2"):
                self.assertTrue(verified("server-agents-ca.crt", "agent-tls.crt", "-purpose", "sslclient", "-verify_hostname", node))
            self.assertTrue(verified("server-clients-ca.crt", "client-tls.crt", "-purpose", "sslclient"))
            self.assertFalse(verified("server-clients-ca.crt", "agent-tls.crt"))
            bundle = objects.of("APIService")[0]["spec"]["caBundle"]
            self.assertEqual(bundle, objects.one("Secret", "binnacle-server")["data"]["ca.crt"])



if __name__ == "__main__":
    matrix.run(__doc__)
