"""The chart's certificates and tokens, rendered for a matrix of values: who holds what, whom it trusts, and what a new one does to pods that run.

Run by scripts/check chart, or by hand: python3 tests/chart/certificates_test.py --helm HELM [TestName]
"""

import base64
import contextlib
import pathlib
import re
import shlex
import subprocess
import tempfile

import matrix
import yaml
from matrix import BY_CERTIFICATE, BY_SHARED, CERT_MANAGER, EXISTING, HELM, NODES, RENDERED, Renderings
from rendered import CHART, HELM_FLAGS, Refused

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

    def test_the_notes_say_how_to_deny_again_what_a_rollback_accepts(self):
        def notes(*serials):
            return HELM.notes({"certificates": NODES["certificates"] | {"deniedSerials": list(serials)}})
        self.assertNotIn("helm rollback", notes())
        serials = ["0A1b", "serial=12:34", "12"]
        said = notes(*serials)
        self.assertIn('A "helm rollback" to a release that did not deny them makes it accept them again', said)
        words = shlex.split(next(line for line in said.splitlines() if "deniedSerials={" in line))
        self.assertEqual(words[:6], ["helm", "-n", "binnacle", "upgrade", "binnacle", "CHART"])
        # The command's own words deny the same.
        rendered = HELM.run("template", "binnacle", CHART, *HELM_FLAGS, "--set", "certificates.nodes={n}", "--show-only", "templates/aggregator/denied-serials.yaml", *words[-2:])
        self.assertEqual(rendered.returncode, 0, rendered.stderr)
        listed = yaml.safe_load(rendered.stdout)["data"]["serials"].splitlines()
        self.assertEqual([line for line in listed if not line.startswith("#")], serials)

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
                    for which, secrets in (("tls", {"binnacle-agent", "my-agent"} if name == "binnacle-agent" else {"binnacle-client", "my-client"}),
                                           ("scheduler", {"binnacle-scheduler-client", "my-client", "my-scheduler"})):
                        if f"{which}.crt" in files:
                            self.assertEqual(files[f"{which}.crt"], (files[f"{which}.key"][0], "tls.crt"))
                            self.assertEqual(files[f"{which}.key"][1], "tls.key")
                            self.assertIn(files[f"{which}.crt"][0], secrets)
                    self.assertFalse(name == "binnacle-scheduler" and "tls.crt" in files)
        self.for_each(check)

    def test_the_scheduler_s_certificate_is_its_own_and_opens_the_extender_alone(self):
        def callers(objects):
            settings = yaml.safe_load(objects.one("ConfigMap", "binnacle-aggregator")["data"]["aggregator.yaml"])
            return [settings.get(f"{face}-callers") for face in ("extender", "metrics", "ops")]

        def shown(objects):
            volumes = objects.one("Deployment", "binnacle-scheduler")["spec"]["template"]["spec"]["volumes"]
            return objects.secrets_of(self.only(v for v in volumes if v["name"] == "pki"))["scheduler.crt"][0]

        def subjects(objects, *secrets):
            said = [subprocess.run(["openssl", "x509", "-noout", "-subject"], input=objects.secret(s)["tls.crt"], capture_output=True, timeout=20, check=True).stdout.decode() for s in secrets]
            return [line.split("=")[-1].strip() for line in said]
        made = HELM.template(NODES)
        self.assertEqual((shown(made), callers(made)), ("binnacle-scheduler-client", [["binnacle-scheduler"], ["binnacle-caller"], ["binnacle-caller"]]))
        self.assertEqual(subjects(made, "binnacle-scheduler-client", "binnacle-client"), ["binnacle-scheduler", "binnacle-caller"])
        own = HELM.template(NODES | {"aggregator": {"settings": {"ops-callers": ["me"]}}})
        self.assertEqual(callers(own), [["binnacle-scheduler"], ["binnacle-caller"], ["me"]])
        asked = HELM.template(CERT_MANAGER)
        self.assertEqual((shown(asked), callers(asked)), ("binnacle-scheduler-client", [["binnacle-scheduler"], ["binnacle-caller"], ["binnacle-caller"]]))
        together = HELM.template(CERT_MANAGER | {"certificates": CERT_MANAGER["certificates"] | {"separateCallers": False}})
        self.assertEqual(callers(together), [["binnacle-caller"]] * 3)
        self.assertEqual(asked.one("Certificate", "binnacle-scheduler-client")["spec"]["dnsNames"], ["binnacle-scheduler"])
        given = EXISTING["certificates"]
        self.assertEqual((shown(HELM.template({"certificates": given})), callers(HELM.template({"certificates": given}))), ("my-client", [None] * 3))
        self.assertEqual(shown(HELM.template({"certificates": given | {"existing": given["existing"] | {"scheduler": "my-scheduler"}}})), "my-scheduler")
        for shared in (HELM.template({"certificates": NODES["certificates"] | {"separateCallers": False}}), HELM.template(NODES | {"scheduler": {"enabled": False}})):
            self.assertEqual(callers(shared), [None] * 3)
            self.assertNotIn("binnacle-scheduler-client", [o["metadata"]["name"] for o in shared.of("Secret")])

    def test_no_authority_s_key_is_written_anywhere(self):
        for values in (NODES, NODES | BY_CERTIFICATE):
            objects = HELM.template(values)
            signs, keys = set(), set()
            for text in self.pem_texts(objects.all):
                for certificate in re.findall("-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----", text):
                    said = subprocess.run(["openssl", "x509", "-noout", "-pubkey", "-ext", "basicConstraints"], input=certificate, capture_output=True, text=True, timeout=20, check=True).stdout
                    if "CA:TRUE" in said:
                        signs.add(said[said.index("-----BEGIN"):].split("X509v3")[0].strip())
                for key in re.findall("-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]+-----END [A-Z ]*PRIVATE KEY-----", text):
                    keys.add(subprocess.run(["openssl", "pkey", "-pubout"], input=key, capture_output=True, text=True, timeout=20, check=True).stdout.strip())
            self.assertEqual((len(signs), len(keys)), (3, 4) if "agent" in values else (2, 3))
            self.assertEqual(signs & keys, set())

    def pem_texts(self, value):
        """Every text of a rendering, and what it is in base64."""
        if isinstance(value, dict):
            value = list(value.values())
        if isinstance(value, list):
            for inner in value:
                yield from self.pem_texts(inner)
        elif isinstance(value, str):
            yield value
            with contextlib.suppress(ValueError):
                yield base64.b64decode(value, validate=True).decode()

    def test_cert_manager_signs_by_issuers_of_our_namespaces_and_the_notes_warn_of_others(self):
        """A ClusterIssuer signs what a tenant asks for in a namespace of his own, with any name."""
        def certificates(values):
            return {o["metadata"]["name"]: (o["metadata"]["namespace"], o["spec"]["issuerRef"]["kind"]) for o in HELM.template(values).of("Certificate")}

        def warned_of(values):
            lines = HELM.notes(values).split("WARNING: a ClusterIssuer", 1)
            return re.findall(r"certManager\.(\w+)Issuer\.kind", lines[1]) if lines[1:] else []

        def by_cluster_issuer(*names):
            own = CERT_MANAGER["certificates"]["certManager"]
            changed = {f"{name}Issuer": own[f"{name}Issuer"] | {"kind": "ClusterIssuer"} for name in names}
            return {"certificates": CERT_MANAGER["certificates"] | {"certManager": own | changed}}
        self.assertEqual(certificates(CERT_MANAGER | BY_SHARED), {
            "binnacle-server": ("binnacle", "Issuer"), "binnacle-client": ("binnacle", "Issuer"), "binnacle-scheduler-client": ("binnacle", "Issuer"),
            "binnacle-agent": ("binnacle-agents", "Issuer")})
        self.assertEqual(warned_of(CERT_MANAGER | BY_SHARED), [])
        self.assertEqual(warned_of(NODES), [])
        for names in (["server"], ["client"], ["server", "client", "agent"]):
            self.assertEqual(warned_of(by_cluster_issuer(*names) | BY_SHARED), names)
        self.assertEqual(warned_of(by_cluster_issuer("agent")), [], "agents with tokens have no certificate")

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
            for which in ("server", "agent", "client", "scheduler-client"):
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
            for caller in ("client", "scheduler-client"):
                self.assertTrue(verified("server-clients-ca.crt", f"{caller}-tls.crt", "-purpose", "sslclient"))
            self.assertFalse(verified("server-clients-ca.crt", "agent-tls.crt"))
            bundle = objects.of("APIService")[0]["spec"]["caBundle"]
            self.assertEqual(bundle, objects.one("Secret", "binnacle-server")["data"]["ca.crt"])



if __name__ == "__main__":
    matrix.run(__doc__)
