"""The chart as helm renders it, and ways to look things up in it."""

import base64
import pathlib
import shutil
import subprocess
import tempfile

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHART = ROOT / "charts" / "binnacle"
# The chart's floor; helm itself would claim to be a cluster of long ago.
FLOOR = "1.30.0"
HELM_FLAGS = ["--kube-version", FLOOR]
CLUSTER_WIDE = {"Namespace", "PriorityClass", "ClusterRole", "ClusterRoleBinding", "APIService", "SecurityContextConstraints",
                "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"}


class Helm:
    def __init__(self, program):
        self.program = program

    def run(self, *arguments):
        return subprocess.run([self.program, *map(str, arguments)], capture_output=True, text=True, timeout=120)

    def template(self, values=None, files=(), kubernetes=FLOOR, chart=CHART):
        """Rendered as release "binnacle" in namespace "binnacle"; raises with helm's words if it refuses."""
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            yaml.safe_dump({"certificates": {"nodes": ["node1", "node2"]}} if values is None else values, file)
            file.flush()
            named = [flag for one in (*files, file.name) for flag in ("-f", one)]
            said = self.run("template", "binnacle", chart, "-n", "binnacle", "--include-crds", "--kube-version", kubernetes, *named)
        if said.returncode:
            raise Refused(said.stderr)
        return Objects(yaml.safe_load_all(said.stdout))

    def notes(self, values):
        """What helm says after an installation. It leaves that out where there is no cluster, so a copy of the chart has it in an object."""
        with tempfile.TemporaryDirectory() as folder:
            chart = pathlib.Path(shutil.copytree(CHART, pathlib.Path(folder) / "binnacle"))
            (chart / "templates/NOTES.txt").rename(chart / "notes.txt")
            (chart / "templates/notes.yaml").write_text(
                'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: notes}\ndata: {said: {{ tpl (.Files.Get "notes.txt") . | toJson }}}\n')
            return self.template(values, chart=chart).one("ConfigMap", "notes")["data"]["said"]


class Refused(Exception):
    """Helm's or the schema's words."""


def without_nulls(value):
    """A field that is null is one that is not there, for the API server."""
    if isinstance(value, dict):
        return {key: without_nulls(inner) for key, inner in value.items() if inner is not None}
    return [without_nulls(inner) for inner in value] if isinstance(value, list) else value


class Objects:
    def __init__(self, documents):
        self.all = [without_nulls(d) for d in documents if d]

    def of(self, kind):
        return [o for o in self.all if o["kind"] == kind]

    def one(self, kind, name):
        found = [o for o in self.of(kind) if o["metadata"]["name"] == name]
        assert len(found) == 1, f"{len(found)} objects {kind} {name}"
        return found[0]

    def pods(self):
        """(name, namespace, labels, pod spec) of every workload and pod."""
        for o in self.all:
            meta = o["metadata"]
            if o["kind"] in ("DaemonSet", "Deployment"):
                template = o["spec"]["template"]
                yield meta["name"], meta["namespace"], template["metadata"]["labels"], template["spec"]
            elif o["kind"] == "Pod":
                yield meta["name"], meta["namespace"], meta["labels"], o["spec"]

    @staticmethod
    def secrets_of(volume):
        """{path: (secret, key)} of the files in a volume that come from secrets; a secret that is mounted whole is {"*": (secret, "*")}."""
        if "secret" in volume:
            return {"*": (volume["secret"]["secretName"], "*")}
        sources = [s["secret"] for s in volume.get("projected", {}).get("sources", []) if "secret" in s]
        return {i["path"]: (s["name"], i["key"]) for s in sources for i in s["items"]}

    def secret(self, name):
        return {key: base64.b64decode(value) for key, value in self.one("Secret", name)["data"].items()}
