"""Runs pods that the API server stores as processes, as a kubelet does with its runtime: volumes, tokens, environment and command line are what the
stored pod says, the root is read-only, there is no capability. By bubblewrap; the programs are the built ones, not images.

A pod has the machine's network here, so a caller may add flags for ports, and names of services lead where it says. hostPath is a folder for each
node, but for /sys and /proc.
"""

import base64
import json
import pathlib
import re
import shutil
import ssl
import subprocess
import urllib.request


class Kubelet:
    def __init__(self, plane, programs, names):
        """`programs`: the file for each program's name in a command or an image; `names`: lines of /etc/hosts, {name: address}."""
        self.plane, self.programs = plane, programs
        self.folder = plane.folder / "kubelet"
        self.folder.mkdir()
        self.hosts = self.folder / "hosts"
        self.hosts.write_text("127.0.0.1 localhost\n" + "".join(f"{address} {name}\n" for name, address in names.items()))

    def start(self, namespace, name, container=None, more=()):
        """Starts one container of a pod, by default the first, with more arguments. The process and its log have the pod's name."""
        self.plane.start(name, *self.command(namespace, name, container, more))

    def is_ready(self, namespace, name, ports):
        """Whether its first container answers all probes; `ports`: where its named ports really are. As a kubelet asks: without a certificate, and
        without looking at the server's."""
        container = self.get(f"/api/v1/namespaces/{namespace}/pods/{name}")["spec"]["containers"][0]
        probes = [container[probe]["httpGet"] for probe in ("livenessProbe", "readinessProbe") if probe in container]
        assert probes, f"{name} has no probes"
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        for p in probes:
            url = f"{p.get('scheme', 'HTTP').lower()}://127.0.0.1:{ports[p['port']]}{p['path']}"
            try:
                urllib.request.urlopen(url, timeout=30, context=context if url.startswith("https") else None).close()
            except OSError:
                return False
        return True

    def run(self, namespace, name):
        """A pod that ends by itself: (exit status, what it said)."""
        done = subprocess.run(self.command(namespace, name), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=300, check=False)
        return done.returncode, done.stdout

    def command(self, namespace, name, container=None, more=()):
        pod = self.get(f"/api/v1/namespaces/{namespace}/pods/{name}")
        spec = pod["spec"]
        c = next(c for c in spec["containers"] if container in (None, c["name"]))
        variables = {e["name"]: e.get("value") or self.field(pod, e["valueFrom"]["fieldRef"]["fieldPath"]) for e in c.get("env", [])}
        # Source: kubernetes.io, "Define a Command and Arguments": an unknown variable stays as it is written.
        words = [re.sub(r"\$\(([A-Z_a-z0-9]+)\)", lambda m: variables.get(m[1], m[0]), w) for w in [*c.get("command", []), *c.get("args", [])]]
        if "command" not in c:
            words.insert(0, c["image"].split("/")[-1].split(":")[0])  # the entry point of our images
        words[0] = str(self.programs[words[0].split("/")[-1]])
        variables |= {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": str(self.plane.port)}
        user = str(c["securityContext"].get("runAsUser", spec["securityContext"].get("runAsUser", 0)))
        return ["bwrap", "--die-with-parent", "--unshare-user", "--unshare-ipc", "--unshare-uts", "--uid", user, "--gid", user, "--cap-drop", "ALL",
                "--clearenv", *(w for n, v in variables.items() for w in ("--setenv", n, v)),
                "--ro-bind", "/usr", "/usr", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64", "--symlink", "/run", "/var/run",
                "--proc", "/proc", "--dev", "/dev", "--ro-bind", "/etc/ssl", "/etc/ssl", "--ro-bind", "/etc/nsswitch.conf", "/etc/nsswitch.conf",
                "--ro-bind", self.hosts, "/etc/hosts", "--ro-bind", words[0], words[0],
                *self.mounts(pod, c), "--remount-ro", "/", "--", *words, *more]

    def mounts(self, pod, container):
        volumes = {v["name"]: v for v in pod["spec"].get("volumes", [])}
        for m in container.get("volumeMounts", []):
            path = self.volume(pod, volumes[m["name"]]) / m.get("subPath", "")
            yield from ("--ro-bind" if m.get("readOnly") else "--bind", path, m["mountPath"].replace("/var/run/", "/run/"))

    def volume(self, pod, volume):
        """The folder of a volume, filled."""
        if host := volume.get("hostPath"):
            if host["path"] in ("/sys", "/proc"):
                return pathlib.Path(host["path"])
            return self.disk(pod["spec"]["nodeName"], host["path"])
        folder = self.folder / pod["metadata"]["name"] / volume["name"]
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for path, data in self.files(pod, volume):
            (folder / path).write_bytes(data)
            (folder / path).chmod(next(s["defaultMode"] for s in volume.values() if "defaultMode" in s))
        return folder

    def disk(self, node, path):
        """A folder of a node's own."""
        folder = self.folder / node / path.lstrip("/")
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def files(self, pod, volume):
        kind, = set(volume) - {"name"}
        source = volume[kind]
        if kind == "projected":
            for part in source["sources"]:
                yield from self.files(pod, part)
        elif kind == "downwardAPI":
            for item in source["items"]:
                yield item["path"], self.field(pod, item["fieldRef"]["fieldPath"]).encode()
        elif kind == "serviceAccountToken":
            yield source["path"], self.token(pod, source).encode()
        elif kind in ("secret", "configMap"):
            resource, name = ("secrets", source.get("secretName", source.get("name"))) if kind == "secret" else ("configmaps", source["name"])
            data = self.get(f"/api/v1/namespaces/{pod['metadata']['namespace']}/{resource}/{name}").get("data", {})
            # A key that is asked for and not there keeps the pod from starting.
            for item in source.get("items") or [{"key": key, "path": key} for key in data]:
                text = data[item["key"]]
                yield item["path"], base64.b64decode(text) if kind == "secret" else text.encode()
        elif kind != "emptyDir":
            raise AssertionError(f"a volume of kind {kind}")

    def token(self, pod, source):
        meta = pod["metadata"]
        code, text = self.plane.request("POST", f"/api/v1/namespaces/{meta['namespace']}/serviceaccounts/{pod['spec']['serviceAccountName']}/token", {
            "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {
                "audiences": [source["audience"]] if "audience" in source else [], "expirationSeconds": source["expirationSeconds"],
                "boundObjectRef": {"apiVersion": "v1", "kind": "Pod", "name": meta["name"], "uid": meta["uid"]}}})
        assert code == 201, text
        return json.loads(text)["status"]["token"]

    @staticmethod
    def field(pod, path):
        if path == "status.hostIP":
            return "127.0.0.1"
        value = pod
        for word in path.split("."):
            value = value[word]
        return value

    def get(self, path):
        code, text = self.plane.request("GET", path)
        assert code == 200, text
        return json.loads(text)
