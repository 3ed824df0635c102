"""A control plane and real nodes on one machine: kubelet, containerd, runc, kube-proxy and CNI plug-ins, each node in namespaces of its own.

A script that uses it has called namespaces.enter(): it is process 1 of its own processes, network and mounts, and all ends with it. Every node
is a link of one bridge; pods have routed addresses; CoreDNS answers beside the control plane.
"""

import json
import os
import pathlib
import subprocess
import sys

import namespaces

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cluster"))
from support.control_plane import IS_OLD, KUBERNETES, ROOT, ControlPlane, program  # noqa: E402  (the path comes first)
from trial import PATIENCE, Failure  # noqa: E402

BRIDGE = "10.89.0.1"
PODS = "10.244.{}.0/24"
# Of versions 2 and 1.6.
CONTAINERD = """version = 3
[plugins.'io.containerd.cri.v1.images'.pinned_images]
  sandbox = 'localhost/pause:latest'
[plugins.'io.containerd.cri.v1.runtime']
  restrict_oom_score_adj = true
  [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
    runtime_type = 'io.containerd.runc.v2'
    [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
      BinaryName = '{runc}'
      SystemdCgroup = false
  [plugins.'io.containerd.cri.v1.runtime'.cni]
    bin_dirs = ['{plugins}']
    conf_dir = '{networks}'
"""
OLD_CONTAINERD = """version = 2
[plugins.'io.containerd.grpc.v1.cri']
  sandbox_image = 'localhost/pause:latest'
  restrict_oom_score_adj = true
  [plugins.'io.containerd.grpc.v1.cri'.containerd.runtimes.runc]
    runtime_type = 'io.containerd.runc.v2'
    [plugins.'io.containerd.grpc.v1.cri'.containerd.runtimes.runc.options]
      BinaryName = '{runc}'
      SystemdCgroup = false
  [plugins.'io.containerd.grpc.v1.cri'.cni]
    bin_dir = '{plugins}'
    conf_dir = '{networks}'
"""
SYSCTLS = {"vm/overcommit_memory": "1", "vm/panic_on_oom": "0", "kernel/panic": "10", "kernel/panic_on_oops": "1"}  # as kubelet wants them


def run(*words):
    subprocess.run([str(word) for word in words], check=True)


def prepared():
    """The folder with what build makes."""
    done = subprocess.run([HERE / "build"], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise Failure("tests/kubelet/build failed")
    return pathlib.Path(done.stdout.strip())


class Nodes(ControlPlane):
    """begin(names) gives nodes that are Ready; what ControlPlane asks works as it does there."""

    def __init__(self, folder):
        self.cache = prepared()
        # The old minor runs with what was there in its time: Debian 12's containerd, of the series 1.6.
        self.containerd = self.cache / "containerd/usr/bin" if IS_OLD else program("containerd", "containerd").parent
        super().__init__(folder)
        self.port = 6443  # the network is ours alone
        self.group = f"{namespaces.CGROUPS}", "-".join(pathlib.Path(folder).name.split("-")[:3])
        self.names = []
        self.images = [self.cache / "images", self.cache / KUBERNETES, ROOT / "build-images"]

    def begin(self, names=("n1", "n2")):
        self.names = list(names)
        self.make_network()
        self.make_certificates()
        self.write_kubeconfig("admin")
        self.start_etcd()
        self.start_api_server("--bind-address=0.0.0.0", f"--advertise-address={BRIDGE}", "--endpoint-reconciler-type=lease",
                              f"--kubelet-client-certificate={self.pki}/admin.crt", f"--kubelet-client-key={self.pki}/admin.key",
                              "--kubelet-preferred-address-types=InternalIP", "--enable-admission-plugins=NodeRestriction")
        self.start_controller_manager()
        self.start_scheduler()
        self.start_dns()
        self.authority.issue("kube-proxy", "/CN=system:kube-proxy", "clientAuth")
        for name in names:
            self.start_node(name)
        self.wait_for("nodes that are ready", lambda: set(names) <= set(self.ready_nodes()), 300)
        return self

    def make_network(self):
        run("ip", "link", "set", "lo", "up")
        run("ip", "link", "add", "name", "binnacle0", "type", "bridge")
        run("ip", "addr", "add", f"{BRIDGE}/24", "dev", "binnacle0")
        run("ip", "link", "set", "binnacle0", "up")
        pathlib.Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
        run("mount", "-t", "tmpfs", "tmpfs", "/run")
        pathlib.Path("/run/netns").mkdir()

    def start_dns(self):
        file = self.folder / "Corefile"
        file.write_text(f""".:53 {{
  bind {BRIDGE}
  errors
  ready {BRIDGE}:8181
  cache 5
  kubernetes cluster.local in-addr.arpa ip6.arpa {{
    kubeconfig {self.kubeconfig}
    ttl 5
  }}
}}
""")
        self.start("dns", program("coredns", "coredns"), "-conf", file)

    # Nodes

    def number(self, name):
        return self.names.index(name) + 1

    def address(self, name):
        return f"10.89.0.{10 + self.number(name)}"

    def home(self, name):
        return self.folder / name

    def start_node(self, name):
        folder = self.home(name)
        folder.mkdir()
        self.link_node(name)
        self.write_settings(name, folder)
        groups = self.make_cgroups(name)
        # Process 1 goes into its cgroups first: their namespace begins where a process is. The unshare that waits for it stays outside: of version 2 only
        # a group without processes may pass controllers on, and node.sh cannot move one that it does not see.
        into = "for group in $0; do echo 0 > $group/cgroup.procs; done; exec unshare --cgroup -- \"$@\""
        self.start(name, "nsenter", f"--net=/run/netns/{name}", "unshare", "--mount", "--pid", "--uts", "--ipc", "--fork", "--mount-proc", "--kill-child", "--",
                   "sh", "-c", into, " ".join(map(str, groups)), "bash", HERE / "node.sh",
                   name, folder, self.address(name), program(KUBERNETES, "kubelet").parent, self.containerd, self.cache / "runc/usr/sbin", *self.images)

    def link_node(self, name):
        run("ip", "netns", "add", name)
        run("ip", "link", "add", f"veth-{name}", "type", "veth", "peer", "name", "eth0", "netns", name)
        run("ip", "link", "set", f"veth-{name}", "master", "binnacle0", "up")
        others = [other for other in self.names if other != name]
        for words in ("link set lo up", "link set eth0 up", f"addr add {self.address(name)}/24 dev eth0", f"route add default via {BRIDGE}",
                      *(f"route add {PODS.format(self.number(other))} via {self.address(other)}" for other in others)):
            run("ip", "-n", name, *words.split())
        run("ip", "route", "add", PODS.format(self.number(name)), "via", self.address(name))

    def make_cgroups(self, name):
        """The node's own, in every hierarchy; cpuset's have no processors until they are given some."""
        made = []
        for root in namespaces.hierarchies():
            group = root / self.group[1] / name
            group.mkdir(parents=True, exist_ok=True)
            for which in (group.parent, group):
                for file in ("cpuset.cpus", "cpuset.mems"):
                    if "cpuset" in root.name.split(","):
                        (which / file).write_text((which.parent / file).read_text())
                if which != group and root == namespaces.CGROUPS:
                    controllers = (which / "cgroup.controllers").read_text().split()
                    (which / "cgroup.subtree_control").write_text(" ".join(f"+{controller}" for controller in controllers))
            made.append(group)
        return made

    def access(self, user, path):
        """A kubeconfig that reaches the API server at the bridge's address."""
        self.write_kubeconfig(user, path)
        config = json.loads(path.read_text())
        config["clusters"][0]["cluster"] |= {"server": f"https://{BRIDGE}:{self.port}", "tls-server-name": "kubernetes"}
        path.write_text(json.dumps(config))

    def write_settings(self, name, folder):
        self.authority.issue(f"kubelet-{name}", f"/O=system:nodes/CN=system:node:{name}", "clientAuth")
        self.access(f"kubelet-{name}", folder / "kubelet.kubeconfig")
        self.access("kube-proxy", folder / "kube-proxy.kubeconfig")
        (folder / "resolv.conf").write_text("")
        (folder / "cni").mkdir()
        (folder / "cni/10-lab.conflist").write_text(json.dumps({"cniVersion": "1.0.0", "name": "lab", "plugins": [
            {"type": "ptp", "ipMasq": False, "ipam": {"type": "host-local", "ranges": [[{"subnet": PODS.format(self.number(name))}]],
                                                      "routes": [{"dst": "0.0.0.0/0"}]}}]}))
        (folder / "containerd.toml").write_text((OLD_CONTAINERD if IS_OLD else CONTAINERD).format(
            runc=self.cache / "runc/usr/sbin/runc", plugins=program("cni", "ptp").parent, networks=folder / "cni"))
        (folder / "kubelet.yaml").write_text(json.dumps({
            "apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",
            "address": "0.0.0.0",
            "authentication": {"anonymous": {"enabled": False}, "webhook": {"enabled": True}, "x509": {"clientCAFile": f"{self.pki}/ca.crt"}},
            "authorization": {"mode": "Webhook"},
            "containerRuntimeEndpoint": "unix:///run/containerd/containerd.sock",
            "cgroupDriver": "cgroupfs", **({} if IS_OLD else {"failCgroupV1": False}), "failSwapOn": False, "oomScoreAdj": 0, "resolvConf": f"{folder}/resolv.conf",
            "clusterDNS": [BRIDGE], "clusterDomain": "cluster.local",
            "volumePluginDir": "/var/lib/kubelet/plugins-exec",
            "imageGCHighThresholdPercent": 100,
            "evictionHard": {"memory.available": "100Mi", "nodefs.available": "1%", "nodefs.inodesFree": "1%", "imagefs.available": "1%"},
        }))
        (folder / "kube-proxy.yaml").write_text(json.dumps({
            "apiVersion": "kubeproxy.config.k8s.io/v1alpha1", "kind": "KubeProxyConfiguration", "mode": "nftables", "clusterCIDR": "10.244.0.0/16",
            # An alpha feature of 1.30, and usual since 1.33.
            **({"featureGates": {"NFTablesProxyMode": True}} if IS_OLD else {}),
            "hostnameOverride": name, "clientConnection": {"kubeconfig": f"{folder}/kube-proxy.kubeconfig"},
            # 0 leaves the kernel's own, which are the whole machine's.
            "conntrack": {"maxPerCore": 0, "min": 0, "tcpEstablishedTimeout": "0s", "tcpCloseWaitTimeout": "0s"},
        }))
        for key, value in SYSCTLS.items():
            file = folder / "sysctl" / key
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"{value}\n")

    # What is done to a node

    def first_process(self, name):
        """Process 1 of the node, by its number here: the child of its unshare."""
        unshare = self.processes[name].pid
        children = pathlib.Path(f"/proc/{unshare}/task/{unshare}/children").read_text().split()
        if not children:
            raise Failure(f"{name} has no process; its log ends:\n{self.log(name)[-2000:]}")
        return children[0]

    def on_node(self, name, *words, check=True):
        """The output of a command in the node's namespaces."""
        tools = f"{self.containerd}:{self.cache}/runc/usr/sbin:{os.environ['PATH']}"
        done = subprocess.run(["nsenter", "-t", self.first_process(name), "-C", "-m", "-n", "-p", "-u", "-i", "--", *map(str, words)],
                              env=dict(os.environ, PATH=tools), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=120 * PATIENCE, check=False)
        if check and done.returncode != 0:
            raise Failure(f"on {name}: {' '.join(map(str, words))} ended with {done.returncode}:\n{done.stdout}")
        return done.stdout

    def disk(self, name, path):
        """A path of the node as this script sees it."""
        return pathlib.Path(f"/proc/{self.first_process(name)}/root{path}")

    def stop_program(self, name, what="kubelet"):
        """Until start_program(); its pods go on."""
        (self.home(name) / f"{what}.stopped").touch()
        self.restart_program(name, what)

    def start_program(self, name, what="kubelet"):
        (self.home(name) / f"{what}.stopped").unlink()

    def restart_program(self, name, what="kubelet"):
        self.on_node(name, "kill", (self.home(name) / f"{what}.pid").read_text().strip())

    # What is in the cluster

    def get(self, kind, name=None, namespace=None, labels=None):
        words = ["get", kind, *([name] if name else []), "-o", "json", *(["-n", namespace] if namespace else []), *(["-l", labels] if labels else [])]
        found = json.loads(self.kubectl(*words, "--ignore-not-found") or "null")
        return found if name else (found or {"items": []})["items"]

    def helm(self, *words, check=True, timeout=900):
        """Standard output and error of helm in namespace binnacle; a failure is a Failure, unless check=False: then (status, output)."""
        environment = dict(os.environ, KUBECONFIG=str(self.kubeconfig), **{f"HELM_{kind}_HOME": str(self.folder / "helm") for kind in ("CACHE", "CONFIG", "DATA")})
        done = subprocess.run([program("helm", "helm"), "--namespace", "binnacle", *map(str, words)], env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=timeout * PATIENCE, check=False)
        if not check:
            return done.returncode, done.stdout
        if done.returncode != 0:
            raise Failure(f"helm {' '.join(map(str, words))} ended with {done.returncode}:\n{done.stdout}\n{self.pods_in_short()}")
        return done.stdout

    def pods_in_short(self):
        return self.kubectl("get", "pods,events", "-A", "-o", "wide", check=False)[1][-6000:]
