"""Least privilege, rendered for a matrix of values: what pods may do, whom they may speak with, and what OpenShift says to that.

Run by scripts/check chart, or by hand: python3 tests/chart/privileges_test.py --helm HELM [TestName]
"""

import matrix
import yaml
from matrix import HELM, MATRIX, NODES, RENDERED, Renderings
from rendered import CHART


class Pods(Renderings):
    def test_all_but_the_agents_are_restricted(self):
        # Source: kubernetes.io, Pod Security Standards, "Restricted".
        def check(objects):
            for name, namespace, _, spec in objects.pods():
                for key in ("hostNetwork", "hostPID", "hostIPC"):
                    self.assertNotIn(key, spec)
                if namespace != "binnacle":
                    continue
                pod = spec["securityContext"]
                self.assertIs(pod["runAsNonRoot"], True)
                self.assertEqual(pod["seccompProfile"]["type"], "RuntimeDefault")
                self.assertTrue(all(set(v) <= {"name", "configMap", "secret", "emptyDir", "projected"} for v in spec["volumes"]), name)
                for c in spec["containers"]:
                    self.assertEqual(c["securityContext"], {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
                                                            "capabilities": {"drop": ["ALL"]}})
        self.for_each(check)

    def test_the_hardened_agent_has_one_capability_and_only_the_sidecar_has_the_device(self):
        def check(objects):
            spec = objects.one("DaemonSet", "binnacle-agent")["spec"]["template"]["spec"]
            self.assertIs(spec["automountServiceAccountToken"], False)
            agent = spec["containers"][0]
            for m in agent["volumeMounts"]:
                self.assertIs(m.get("readOnly"), True, m)
            if agent["securityContext"].get("privileged"):
                return
            self.assertEqual(agent["securityContext"]["capabilities"], {"drop": ["ALL"], "add": ["PERFMON"]})
            self.assertIs(agent["securityContext"]["allowPrivilegeEscalation"], False)
            self.assertIs(agent["securityContext"]["readOnlyRootFilesystem"], True)
        self.for_each(check)
        hardened = [o.one("DaemonSet", "binnacle-agent")["spec"]["template"]["spec"]["containers"][0]["securityContext"] for o in RENDERED.values()]
        self.assertEqual([bool(c.get("privileged")) for c in hardened].count(True), 1)

    def test_agent_and_sidecar_share_the_socket_s_folder_alone(self):
        for name in ("ipmi", "ipmi by a device plug-in"):
            with self.subTest(name):
                agent, sidecar = RENDERED[name].one("DaemonSet", "binnacle-agent")["spec"]["template"]["spec"]["containers"]
                theirs = [{m["name"]: m["mountPath"] for m in c["volumeMounts"]} for c in (agent, sidecar)]
                shared = theirs[0].keys() & theirs[1].keys()
                self.assertEqual([(volume, theirs[0][volume], theirs[1][volume]) for volume in shared], [("ipmi", "/run/binnacle", "/run/binnacle")])
                said = dict(zip(sidecar["args"][::2], sidecar["args"][1::2]))
                self.assertEqual(said["--socket"], "/run/binnacle/ipmi.sock")
                self.assertIn(said["--cache-folder"], [where for volume, where in theirs[1].items() if volume not in shared])

    # By it the doctor finds a container that a failed upgrade left.
    def test_the_agents_object_names_the_containers_that_the_chart_wrote(self):
        def check(objects):
            agents = objects.one("DaemonSet", "binnacle-agent")
            written = [c["name"] for c in agents["spec"]["template"]["spec"]["containers"]]
            self.assertEqual(agents["metadata"]["annotations"]["binnacle/containers"].split(","), written)
        self.for_each(check)

    def test_folders_of_the_host_are_read_only_below_too_and_none_is_a_device(self):
        def check(objects):
            spec = objects.one("DaemonSet", "binnacle-agent")["spec"]["template"]["spec"]
            hosts = {v["name"]: v["hostPath"]["path"] for v in spec["volumes"] if "hostPath" in v}
            self.assertEqual([path for path in hosts.values() if path.startswith("/dev")], [])
            mounted = [m for c in spec["containers"] for m in c["volumeMounts"] if m["name"] in hosts]
            self.assertEqual(len(mounted), len(hosts))
            for m in mounted:
                self.assertEqual((m.get("readOnly"), m.get("recursiveReadOnly"), m.get("mountPropagation")), (True, "IfPossible", None), m)
        self.for_each(check)

    def test_of_the_host_s_proc_an_agent_has_the_network_figures_alone(self):
        def check(objects):
            spec = objects.one("DaemonSet", "binnacle-agent")["spec"]["template"]["spec"]
            hosts = {v["hostPath"]["path"]: v["name"] for v in spec["volumes"] if "hostPath" in v}
            # In /proc, the roots of the node's processes are open to a user 0 without capabilities, however it is mounted.
            self.assertEqual([path for path in hosts if path == "/" or f"{path}/".startswith("/proc/")], ["/proc/1/net"])
            where = [m["mountPath"] for m in spec["containers"][0]["volumeMounts"] if m["name"] == hosts["/proc/1/net"]]
            settings = yaml.safe_load(objects.one("ConfigMap", "binnacle-agent")["data"]["agent.yaml"])
            self.assertEqual(([settings["proc-net"]], settings.get("proc-root")), (where, None))
        self.for_each(check)
        without = HELM.template(NODES | {"agent": {"hostProc": False}})
        self.assertNotIn("proc-net", without.one("ConfigMap", "binnacle-agent")["data"]["agent.yaml"])
        self.assertNotIn("/proc", [v["hostPath"]["path"][:5] for v in without.one("DaemonSet", "binnacle-agent")["spec"]["template"]["spec"]["volumes"] if "hostPath" in v])

    def test_agents_reach_the_aggregator_from_where_they_come_and_nobody_else_does(self):
        def admitted(**values):
            policy = HELM.template(NODES | values).one("NetworkPolicy", "binnacle-aggregator")
            return [rule.get("from", "all") for rule in policy["spec"]["ingress"] if {"port": 9110, "protocol": "TCP"} in rule["ports"]]
        self.assertEqual(admitted(), [[{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "binnacle-agents"}}}]])
        # Agents that come by a load balancer, a node's port or a router have the address of that.
        for values in ({"aggregator": {"ingest": {"type": "NodePort"}}}, {"agent": {"aggregators": ["binnacle.example.com:443"]}},
                       {"openshift": {"ingestHost": "binnacle.example.com"}}):
            self.assertEqual(admitted(**values), ["all"], values)

    def test_they_may_ask_for_names_where_openshift_s_dns_listens(self):
        def check(objects):
            for o in objects.of("NetworkPolicy"):
                ports = {(p["port"], p["protocol"]) for rule in o["spec"]["egress"] if "to" not in rule for p in rule["ports"]}
                self.assertLessEqual({(port, protocol) for port in (53, 5353) for protocol in ("UDP", "TCP")}, ports)
        self.for_each(check)


# The annotation openshift.io/sa.scc.mcs of the agents' namespace.
LEVEL = "s0:c26,c5"


def refused(scc, spec):
    """What OpenShift finds wrong with a pod under these constraints. Source: openshift/apiserver-library-go, pkg/securitycontextconstraints."""
    kinds = {next(kind for kind in v if kind != "name") for v in spec["volumes"]}
    found = [f"volume {kind}" for kind in sorted(kinds - set(scc["volumes"]))]
    if "hostPath" in kinds and not scc["allowHostDirVolumePlugin"]:
        found.append("hostPath")
    found += [key for key, allowed in (("hostNetwork", "allowHostNetwork"), ("hostPID", "allowHostPID"), ("hostIPC", "allowHostIPC")) if spec.get(key) and not scc[allowed]]
    for c in spec["containers"]:
        may = c["securityContext"]
        capabilities = may.get("capabilities", {})
        found += [f"capability {name}" for name in capabilities.get("add", []) if name not in scc["allowedCapabilities"]]
        found += [f"{name} not dropped" for name in scc["requiredDropCapabilities"] if name not in capabilities.get("drop", [])]
        if may.get("privileged") and not scc["allowPrivilegedContainer"]:
            found.append("privileged")
        if may.get("allowPrivilegeEscalation", True) and not scc["allowPrivilegeEscalation"]:
            found.append("allowPrivilegeEscalation")
        if scc["readOnlyRootFilesystem"] and not may.get("readOnlyRootFilesystem"):
            found.append("a root that can be written")
        if "runAsUser" in may and scc["runAsUser"]["type"] != "RunAsAny":
            found.append("runAsUser")
        if profile := may.get("seccompProfile"):
            name = {"RuntimeDefault": "runtime/default"}.get(profile["type"]) or f"localhost/{profile['localhostProfile']}"
            found += [] if name in scc["seccompProfiles"] else [f"seccomp {name}"]
        if scc["seLinuxContext"]["type"] == "MustRunAs" and "seLinuxOptions" in may:
            # Where a container says nothing, all of this is filled in; the level is the namespace's, which nobody knows before.
            wanted = {"level": LEVEL} | scc["seLinuxContext"].get("seLinuxOptions", {})
            found += [f"SELinux {key}" for key in ("user", "role", "type", "level") if may["seLinuxOptions"].get(key) != wanted.get(key)]
    return found


class OpenShift(Renderings):
    def test_it_admits_the_agents_under_their_constraints_and_these_allow_no_volume_that_is_not_used(self):
        used, allowed = set(), set()
        typed = {"selinuxType": "binnacle-agent.process"}
        more = {"a profile and a type of its own": {"agent": typed | {"seccomp": {"type": "Localhost", "localhostProfile": "binnacle.json"}}},
                "a type beside a privileged sidecar": {"agent": typed | {"ipmi": {"enabled": True}}}}
        for name, values in (MATRIX | more).items():
            with self.subTest(name):
                objects = HELM.template(values | {"openshift": {"enabled": True}})
                scc, spec = objects.of("SecurityContextConstraints")[0], objects.one("DaemonSet", "binnacle-agent")["spec"]["template"]["spec"]
                self.assertEqual(refused(scc, spec), [])
                used |= {kind for v in spec["volumes"] for kind in v if kind != "name"}
                allowed |= set(scc["volumes"])
        self.assertEqual(used, allowed)

    def test_the_agent_has_its_selinux_type_by_itself_or_by_the_constraints(self):
        def given(**values):
            objects = HELM.template(NODES | values | {"agent": {"selinuxType": "binnacle-agent.process"} | values.get("agent", {})})
            agent = objects.one("DaemonSet", "binnacle-agent")["spec"]["template"]["spec"]["containers"][0]
            return [o.get("seLinuxOptions") for o in (agent["securityContext"], *(scc["seLinuxContext"] for scc in objects.of("SecurityContextConstraints")))]
        wanted, openshift = {"type": "binnacle-agent.process"}, {"enabled": True}
        self.assertEqual(given(), [wanted])
        self.assertEqual(given(openshift=openshift), [None, wanted])
        self.assertEqual(given(openshift=openshift, agent={"ipmi": {"enabled": True}}), [wanted, None])

    def test_openshift_gives_its_constraints_to_one_service_account(self):
        objects = RENDERED["openshift.yaml"]
        scc = objects.of("SecurityContextConstraints")[0]
        self.assertEqual((scc["users"], scc["groups"], scc["allowPrivilegedContainer"], scc["allowedCapabilities"]), ([], [], False, ["PERFMON"]))
        users = [b for b in objects.of("RoleBinding") + objects.of("ClusterRoleBinding") if b["roleRef"]["name"] == scc["metadata"]["name"] + "-scc"]
        self.assertEqual([b["subjects"] for b in users], [[{"kind": "ServiceAccount", "name": "binnacle-agent", "namespace": "binnacle-agents"}]])
        for _, namespace, _, spec in objects.pods():
            if namespace == "binnacle":
                self.assertNotIn("runAsUser", spec["securityContext"])

    def test_its_router_leads_agents_to_each_replica_by_a_name_of_the_certificate(self):
        objects = RENDERED["far agents by a router"]
        route = objects.one("Route", "binnacle-ingest")
        self.assertEqual(route["spec"]["tls"], {"termination": "passthrough"})
        service = objects.one(route["spec"]["to"]["kind"], route["spec"]["to"]["name"])
        self.assertIn(route["spec"]["port"]["targetPort"], [p["name"] for p in service["spec"]["ports"]])
        # "source" is its default where TLS passes through. Source: OpenShift documentation, "Route-specific annotations".
        self.assertEqual(route["metadata"]["annotations"]["haproxy.router.openshift.io/balance"], "roundrobin")
        self.assertIn(route["spec"]["host"], objects.one("Secret", "binnacle-server")["metadata"]["annotations"]["binnacle/names"].split(","))
        self.assertEqual([name for name, o in RENDERED.items() if o.of("Route")], ["far agents by a router"])

    def test_the_operator_s_scheduler_asks_as_the_chart_s_does(self):
        files = yaml.safe_load_all((CHART / "openshift/secondary-scheduler.yaml").read_text())
        config, operand = files
        self.assertEqual(operand["spec"]["schedulerConfig"], config["metadata"]["name"])
        theirs = yaml.safe_load(config["data"]["config.yaml"])
        ours = yaml.safe_load(RENDERED["defaults"].one("ConfigMap", "binnacle-scheduler")["data"]["scheduler.yaml"])
        # The operator runs one, and mounts no files.
        self.assertEqual({k.replace("Data", "File") for k in theirs["extenders"][0].pop("tlsConfig")}, ours["extenders"][0].pop("tlsConfig").keys())
        for file in (theirs, ours):
            file.pop("leaderElection")
        self.assertEqual(theirs, ours)



if __name__ == "__main__":
    matrix.run(__doc__)
