"""WAO's objects in a real API server: a template and NodeConfigs name nodes' models, the aggregator asks the model server for curves, and what is wrong
with an object becomes an event on it and a sentence of the status.

Run by scripts/test --cluster, or by hand: python3 tests/cluster/wao_test.py --build build
"""

import base64
import http.server
import json
import ssl
import threading
import time
import unittest

from support.control_plane import ROOT, ControlPlane
from trial import Trial, decimal, run_tests

BUILD = ROOT / "build"
GROUP = "node.waok8s.github.io"
NODES = ["templated", "named", "labelled", "guarded", "secretless", "provided"]


def definition(kind):
    """The CRD as far as it matters here: any spec, a status of its own."""
    plural = kind.lower() + "s"
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": f"{plural}.{GROUP}"},
            "spec": {"group": GROUP, "scope": "Namespaced", "names": {"kind": kind, "plural": plural, "singular": kind.lower()},
                     "versions": [{"name": "v1beta1", "served": True, "storage": True, "subresources": {"status": {}}, "schema": {
                         "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}}


class Models(http.server.ThreadingHTTPServer):
    """A model server of the V2 protocol whose models say 100 W and 1 W for each percent of load."""

    class Door(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            rows = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["inputs"][0]["data"]
            self.server.asked.append((self.path, rows[0]))
            text = json.dumps({"model_name": "m", "outputs": [{"name": "predict", "shape": [len(rows), 1], "datatype": "FP64",
                                                               "data": [100 + row[0] for row in rows]}]}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_):
            pass

    def __init__(self):
        super().__init__(("127.0.0.1", 0), self.Door)
        self.asked = []
        threading.Thread(target=self.serve_forever, daemon=True).start()


class GuardedModels(Models):
    """The same behind TLS, for those who give the password."""

    class Door(Models.Door):
        def do_POST(self):
            self.server.given.add(self.headers.get("Authorization"))
            if self.headers.get("Authorization") == self.server.wanted:
                super().do_POST()
                return
            text = f"you said {self.headers.get('Authorization')}".encode()
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="models"')
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

    def __init__(self, pki, wanted):
        super().__init__()
        self.wanted, self.given = wanted, set()
        security = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        security.load_cert_chain(pki / "aggregator.crt", pki / "aggregator.key")
        self.socket = security.wrap_socket(self.socket, server_side=True)


class Mlmm(http.server.ThreadingHTTPServer):
    """What WAO's mlmm adds to a BMC behind TLS: the resource that says where the model of the first system is."""

    class Door(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            self.server.asked.append(self.path)
            answer = self.server.answers.get(self.path)
            allowed = self.headers.get("Authorization") == self.server.wanted
            text = json.dumps(answer if allowed else {"error": {"message": f"you said {self.headers.get('Authorization')}"}}).encode()
            self.send_response((200 if answer else 404) if allowed else 401)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_):
            pass

    def __init__(self, pki, wanted, model):
        super().__init__(("127.0.0.1", 0), self.Door)
        systems = "/redfish/v1/Systems"
        self.wanted, self.asked = wanted, []
        self.answers = {systems: {"Members": [{"@odata.id": f"{systems}/System.1"}, {"@odata.id": f"{systems}/System.2"}]},
                        f"{systems}/System.1/MachineLearningModel": {"PowerConsumptionModel": model}}
        security = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        security.load_cert_chain(pki / "aggregator.crt", pki / "aggregator.key")
        self.socket = security.wrap_socket(self.socket, server_side=True)
        threading.Thread(target=self.serve_forever, daemon=True).start()


def basic(user, password):
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


class Wao(unittest.TestCase):
    def setUp(self):
        self.plane, self.trial, self.models = ControlPlane(), Trial(BUILD), Models()
        self.trial.make_certificates(NODES)
        self.guarded = GuardedModels(self.trial.pki, basic("pc", "0pen-sesame"))
        self.mlmm = Mlmm(self.trial.pki, basic("bmc", "l3t-me-in"), {
            "Name": "provided", "Url": f"http://127.0.0.1:{self.models.server_port}", "Type": "V2InferenceProtocol", "Version": "v0.1.0"})
        for server in (self.models, self.guarded, self.mlmm):
            self.addCleanup(server.server_close)
            self.addCleanup(server.shutdown)
        self.addCleanup(self.plane.stop)
        self.addCleanup(self.trial.stop)

    def guarded_predictor(self, secret):
        endpoint = f"https://127.0.0.1:{self.guarded.server_port}/v2/models/guarded"
        return {"powerConsumption": {"type": "V2InferenceProtocol", "endpoint": endpoint, "basicAuthSecret": {"name": secret}}}

    def write_secret(self, password, user="pc"):
        self.plane.apply({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": user, "namespace": "default"},
                          "stringData": {"username": user, "password": password}})

    def predictor(self, model, host="127.0.0.1"):
        return {"powerConsumption": {"type": "V2InferenceProtocol", "endpoint": f"http://{host}:{self.models.server_port}/v2/models/{model}"}}

    def config(self, name, **spec):
        fake = {"inletTemp": {"type": "Fake", "endpoint": ""}, "deltaP": {"type": "Fake", "endpoint": ""}}
        return {"apiVersion": f"{GROUP}/v1beta1", "kind": "NodeConfig", "metadata": {"name": name, "namespace": "default"},
                "spec": {"metricsCollector": fake, **spec}}

    def template(self, name, selector, predictor):
        collectors = {"inletTemp": {"type": "Fake", "endpoint": ""}, "deltaP": {"type": "DifferentialPressureAPI", "endpoint": "http://192.0.2.1"}}
        return {"apiVersion": f"{GROUP}/v1beta1", "kind": "NodeConfigTemplate", "metadata": {"name": name, "namespace": "default"},
                "spec": {"nodeSelector": {"matchLabels": selector}, "template": {"metricsCollector": collectors, "predictor": predictor}}}

    def begin(self, *settings):
        plane, trial = self.plane, self.trial
        plane.begin()
        plane.install_crd()
        plane.apply(definition("NodeConfig"), definition("NodeConfigTemplate"))
        plane.until_established(*(f"{kind}.{GROUP}" for kind in ("nodeconfigs", "nodeconfigtemplates")))
        plane.add_node("templated", kind="r650")
        plane.add_node("named", kind="r650")
        for node in ("labelled", "guarded", "secretless", "provided"):
            plane.add_node(node)
        self.write_secret("w0rn-out")
        self.write_secret("l3t-me-in", "bmc")
        provider = {"type": "Redfish", "endpoint": f"https://127.0.0.1:{self.mlmm.server_port}", "basicAuthSecret": {"name": "bmc"}}
        plane.kubectl("label", "node", "labelled", "tensorflow/host=127.0.0.1", "tensorflow/port=8500", "tensorflow/name=m",
                      "ambient/min=10", "ambient/max=40", "cpu1/min=20", "cpu1/max=90", "cpu2/min=20", "cpu2/max=20")
        # The address that a template may ask for stands in the status.
        status = {"status": {"addresses": [{"type": "InternalIP", "address": "127.0.0.1"}]}}
        code, text = plane.request("PATCH", "/api/v1/nodes/templated/status", status, "application/merge-patch+json")
        self.assertEqual(code, 200, text)
        plane.apply(self.template("r650", {"kind": "r650"}, self.predictor("of-{{ .Hostname }}", "{{ .IPv4.Address }}")),
                    self.template("too-clever", {"kind": "none"}, self.predictor("{{ upper .Hostname }}")),
                    self.config("first", nodeName="named", predictor=self.predictor("by-object")),
                    self.config("second", nodeName="named", predictor=self.predictor("never")),
                    self.config("guarded", nodeName="guarded", predictor=self.guarded_predictor("pc")),
                    self.config("secretless", nodeName="secretless", predictor=self.guarded_predictor("none")),
                    self.config("provided", nodeName="provided", predictor={"powerConsumptionEndpointProvider": provider,
                                                                            "powerConsumption": {"type": "", "endpoint": ""}}),
                    {"apiVersion": "telemetry.intel.com/v1alpha1", "kind": "TASPolicy", "metadata": {"name": "fewer-watts", "namespace": "default"},
                     "spec": {"strategies": {"minimizepower": {}}}})
        trial.start_aggregator("--kube-config", plane.kubeconfig, *settings)
        for node in NODES:
            (trial.folder / node).mkdir()
            trial.start_agent(node, "--sources", "os,textfile", "--textfile-directory", trial.folder / node)

    def power(self, node):
        status, text = self.trial.ask("ops", f"/api/v1/power/{node}")
        return json.loads(text) if status == 200 else {"model": None}

    def server_of(self, node):
        model = self.power(node)["model"]
        return model.get("server", "") if model else ""

    def warnings(self):
        return "\n".join(json.loads(self.trial.ask("ops", "/api/v1/status")[1]).get("warnings", []))

    def events_on(self, kind, name):
        items = json.loads(self.plane.request("GET", "/apis/events.k8s.io/v1/events")[1])["items"]
        return [item["note"] for item in items if (item.get("regarding", {}).get("kind"), item["regarding"].get("name")) == (kind, name)]

    def until(self, what, ready, seconds=120):
        return self.trial.wait_for(what, lambda: time.sleep(0.3) or ready(), seconds)

    def test_without_model_servers_each_object_that_names_a_model_is_said_to_be_unasked(self):
        self.begin()
        words = "its model is not asked, because model-servers lists no server"
        for kind, name in (("NodeConfig", "first"), ("NodeConfig", "guarded"), ("NodeConfigTemplate", "r650")):
            with self.subTest(name):
                self.until(f"an event on {name}", lambda: any(words in note for note in self.events_on(kind, name)))
        self.until("the sentence", lambda: words in self.warnings())
        said = next(line for line in self.warnings().splitlines() if words in line)
        self.assertTrue(said.startswith("NodeConfig default/first"), said)
        self.assertEqual(self.warnings().count(words), 1)
        self.assertEqual((self.models.asked, self.guarded.given, self.mlmm.asked), ([], set(), []))
        self.assertIn(words, json.dumps(self.power("named")))

    def test_waos_objects_name_nodes_models_and_what_is_wrong_with_them_is_said_on_them(self):
        self.begin("--model-servers", ",".join(f"127.0.0.1:{server.server_port}" for server in (self.models, self.guarded, self.mlmm)),
                   "--model-servers-ca", self.trial.pki / "server-ca.crt", "--model-servers-secrets", "default")
        base = f"http://127.0.0.1:{self.models.server_port}/v2/models"
        self.until("the template's model, with the node's name and address in it", lambda: self.server_of("templated") == f"{base}/of-templated/infer")
        self.until("the NodeConfig's model, before the template's", lambda: self.server_of("named") == f"{base}/by-object/infer")
        self.until("the model that the provider names", lambda: self.server_of("provided") == f"{base}/provided/versions/v0.1.0/infer")
        self.assertEqual(self.mlmm.asked, ["/redfish/v1/Systems", "/redfish/v1/Systems/System.1/MachineLearningModel"])
        self.assertEqual(self.events_on("NodeConfig", "provided"), [])
        curve = {point["load"]: point["watts"] for point in self.power("named")["model"]["curve"]}
        self.assertEqual((curve[0.0], curve[0.5], curve[1.0]), (100, 150, 200))
        asked = dict(self.models.asked)
        self.assertEqual(asked["/v2/models/by-object/infer"], [0, 16, 8])  # idle; 15.5 °C and 7.5 Pa, as WAO's type Fake has it, rounded
        self.assertEqual(asked["/v2/models/of-templated/infer"], [0, 16, 5])  # nobody brings delta_p
        self.assertNotIn("/v2/models/never/infer", asked)

        for kind, name, words in (("NodeConfig", "second", "NodeConfig default/first is for the node named, too"),
                                  ("NodeConfigTemplate", "too-clever", "is not filled in"),
                                  ("NodeConfigTemplate", "r650", "nobody brings delta_p of its node, so that 5 Pa stand for it"),
                                  ("NodeConfig", "secretless", "there is no Secret default/none: create it with the keys username and password"),
                                  ("Node", "labelled", "the labels cpu2/min and cpu2/max are equal")):
            with self.subTest(name):
                self.until(f"an event on {name}", lambda: any(words in note for note in self.events_on(kind, name)))
                self.until(f"{name} in the status", lambda: words in self.warnings())
        self.assertEqual(self.events_on("NodeConfig", "first"), [])
        with self.subTest("and kubectl describe shows it"):
            self.assertIn("too, and goes before it", self.plane.kubectl("describe", f"nodeconfig.{GROUP}/second", "-n", "default"))

        with self.subTest("a wrong password is said, and is nowhere in what is said"):
            self.until("the refusal", lambda: "it does not accept the user name and password of the Secret default/pc" in self.warnings())
            self.assertIn(basic("pc", "w0rn-out"), self.guarded.given)
        with self.subTest("the right one brings the model"):
            self.write_secret("0pen-sesame")
            self.until("the model behind the password", lambda: self.server_of("guarded").endswith("/v2/models/guarded/infer"))
        self.assertEqual(self.guarded.given, {basic("pc", "w0rn-out"), basic("pc", "0pen-sesame")})
        everywhere = "\n".join([self.trial.log("aggregator"), self.warnings(), *(json.dumps(self.power(node)) for node in NODES),
                                self.plane.request("GET", "/apis/events.k8s.io/v1/events")[1]])
        for user, password in (("pc", "w0rn-out"), ("pc", "0pen-sesame"), ("bmc", "l3t-me-in")):
            self.assertNotIn(password, everywhere)
            self.assertNotIn(basic(user, password), everywhere)

        with self.subTest("what is mended is not said any more"):
            self.plane.kubectl("delete", f"nodeconfig.{GROUP}/first", "-n", "default")
            self.until("the second object's model", lambda: self.server_of("named") == f"{base}/never/infer")
            folder = self.trial.folder / "templated"
            (folder / "pressure.new").write_text("# TYPE delta_p gauge\ndelta_p 3.2\n")
            (folder / "pressure.new").rename(folder / "pressure.prom")
            self.until("the template's model to be told the pressure", lambda: ("/v2/models/of-templated/infer", [0, 16, 3]) in self.models.asked)
            self.assertEqual([(item["describedObject"]["name"], decimal(item["value"])) for item in self.trial.metric("delta_p")], [("templated", 3.2)])
            self.until("the end of the sentences", lambda: "default/first is for the node" not in self.warnings() and "delta_p" not in self.warnings(), 180)


class Spread(unittest.TestCase):
    """The annotation podspread-rate, with the real Deployment controller and the real kube-scheduler. All that kube-scheduler weighs by itself draws the
    pods to zone a, so that no pod would go elsewhere unasked."""

    def setUp(self):
        self.plane, self.trial = ControlPlane(), Trial(BUILD)
        self.addCleanup(self.plane.stop)
        self.addCleanup(self.trial.stop)

    def begin(self):
        plane, trial = self.plane, self.trial
        plane.begin()
        plane.start_controller_manager("--controllers=*,-node-lifecycle-controller,-taint-eviction-controller")  # no kubelet says that nodes are well
        plane.install_crd()
        for node in ("a1", "a2", "b1", "c1"):
            plane.add_node(node, **{"topology.kubernetes.io/zone": node[0]})
            taints = [] if node[0] == "a" else [{"key": "far", "effect": "PreferNoSchedule"}]
            code, text = plane.request("PATCH", f"/api/v1/nodes/{node}", {"spec": {"taints": taints}}, "application/merge-patch+json")
            self.assertEqual(code, 200, text)
        trial.make_certificates([])
        trial.start_aggregator("--kube-config", plane.aggregators_kubeconfig(writes=True))
        pki = trial.pki
        said = trial.cli("scheduler-config", "-o", "json", "--kubernetes", plane.version(), "--url", f"https://localhost:{trial.ports['extender']}",
                         "--ca-file", pki / "server-ca.crt", "--cert-file", pki / "client-scheduler.crt", "--key-file", pki / "client-scheduler.key",
                         "--timeout", "30s", "--required")
        self.assertEqual(said.returncode, 0, said.stderr)
        plane.start_scheduler(json.loads(said.stdout))

    def deploy(self, name, replicas, rate=None):
        near = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "preference": {"matchExpressions": [
            {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["a"]}]}}]}}
        notes = {"waok8s.github.io/podspread-rate": rate} if rate else {}
        self.plane.apply({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": "default", "annotations": notes}, "spec": {
            "replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": {"metadata": {"labels": {"app": name}}, "spec": {
                "schedulerName": "binnacle-scheduler", "affinity": near, "containers": [
                    {"name": "app", "image": "app", "resources": {"limits": {"telemetry/scheduling": "0"}}}]}}}})

    def pods(self, name):
        return [p for p in json.loads(self.plane.request("GET", f"/api/v1/namespaces/default/pods?labelSelector=app%3D{name}")[1])["items"]
                if p["spec"].get("nodeName")]

    def zones(self, name, replicas):
        self.plane.wait_for(f"{replicas} pods of {name} with a node", lambda: time.sleep(0.2) or len(self.pods(name)) == replicas, 120)
        return "".join(sorted(p["spec"]["nodeName"][0] for p in self.pods(name)))

    def test_the_first_pods_of_a_deployment_go_to_different_zones(self):
        self.begin()
        self.deploy("unasked", 6)
        self.assertEqual(self.zones("unasked", 6), "aaaaaa")
        self.deploy("half", 6, "0.5")  # the annotation is the Deployment's alone; six pods come at once
        self.assertEqual(self.zones("half", 6), "aaaabc")
        self.deploy("all", 6, "1")
        self.assertEqual(self.zones("all", 6), "aabbcc")
        with self.subTest("and more replicas mean more that are spread"):
            self.deploy("half", 12, "0.5")
            self.assertEqual(self.zones("half", 12), "aaaaaaaaaabc")  # six were spread or placed already: all others may go anywhere
        with self.subTest("and binnacle why says what was spread"):
            texts = []
            for p in self.pods("all"):
                said = self.trial.cli("why", f"default/{p['metadata']['name']}")
                self.assertEqual(said.returncode, 0, said.stderr)
                texts.append(said.stdout)
            self.assertTrue(any("refused: spread" in text and "by zone: " in text for text in texts), "\n".join(texts))


if __name__ == "__main__":
    run_tests()
