"""Lists that people read, or that another language needs, have what the code has.

usage: lists_test.py BINNACLE

Each list below stands in two places, and no compiler compares them. CONTRIBUTING.md ("Where a change goes") names the places; this test names the one that was forgotten.
"""

import pathlib
import re
import subprocess
import sys
import unittest
import zlib

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINNACLE = pathlib.Path(sys.argv.pop(1)).resolve()


def text_of(path):
    return (ROOT / path).read_text()


def found(pattern, text):
    return re.search(pattern, text, re.DOTALL)[1]


class Lists(unittest.TestCase):
    def has_all(self, names, text, where):
        self.assertGreater(len(names), 2)
        for name in names:
            with self.subTest(where=where, name=name):
                self.assertRegex(text, rf"(?<![\w-]){re.escape(name)}(?![\w-])")

    def test_subcommands_of_binnacle(self):
        said = subprocess.run([BINNACLE, "--help"], check=True, capture_output=True, text=True).stdout
        commands = [name for name in re.findall(r"^  ([a-z][a-z-]*)  ", said.partition("Subcommands:")[2], re.MULTILINE) if name not in ("help", "version")]
        self.has_all(commands, found(r"```\n(.*?)```", text_of("cli/README.md")), "cli/README.md")
        self.has_all(commands, found(r"\n\| `binnacle` \|(.*?)\n", text_of("docs/operate.md")), "docs/operate.md")
        self.has_all(commands, found(r"\n\| `cli/` \|(.*?)\|", text_of("ARCHITECTURE.md")), "ARCHITECTURE.md")

    def test_size_of_the_dashboards_page(self):
        chart_js = pathlib.Path(found(r"option\('chart-js', type: 'string', value: '(.*?)'", text_of("meson_options.txt")))
        if not chart_js.exists():
            self.skipTest(f"there is no {chart_js}")
        drawing = len(zlib.compress(chart_js.read_bytes(), 9))
        page = drawing + sum(len(zlib.compress(file.read_bytes(), 9)) for file in (ROOT / "cli/dashboard/page").iterdir())
        said = [int(number) for number in found(r"The page is (about \d+ kB compressed in all, \d+) of them Chart.js", text_of("cli/dashboard/README.md")).split() if number.isdigit()]
        for stated, real in zip(said, [page, drawing], strict=True):
            self.assertLessEqual(abs(stated - real / 1000), 5, f"the page is {page / 1000:.0f} kB, {drawing / 1000:.0f} of them Chart.js")

    def test_operators_of_policies(self):
        operators = re.findall(r'return \{"(\w+)", "', text_of("aggregator/policy/comparison.hpp"))
        crd = text_of("charts/binnacle/crds/taspolicy.yaml")
        self.assertCountEqual(operators, found(r"operator:\n.*?enum: \[(.*?)\]", crd).split(", "))
        self.assertCountEqual(operators, re.findall(r"^\| `(\w+)` \|", found(r"\| operator \|(.*?)\n\n", text_of("docs/policies.md")), re.MULTILINE))

    def test_kinds_of_strategies(self):
        kinds = found(r"constexpr std::array all\{(.*?)\}", text_of("aggregator/policy/strategies.cpp")).replace("&", "").split(", ")
        self.has_all(kinds, found(r"What the policy does, by name\.(.*?)Other names", text_of("charts/binnacle/crds/taspolicy.yaml")), "the CRD")
        self.has_all(kinds, found(r"\n\| strategy \|(.*?)\n", text_of("ARCHITECTURE.md")), "ARCHITECTURE.md")
        self.has_all(kinds, text_of("docs/policies.md"), "docs/policies.md")

    def test_reasons_why_there_is_no_value(self):
        names = re.findall(r'"(\w+)"', found(r"absence_names = \{(.*?)\};", text_of("common/absence.cpp")))
        self.assertEqual("none", names.pop(0))
        self.has_all(names, found(r"The reason is one of(.*?)`ageMs`", text_of("aggregator/ops/README.md")), "aggregator/ops/README.md")
        self.assertCountEqual(names, re.findall(r"(\w+): \"", found(r"const REASONS = \{(.*?)\};", text_of("cli/dashboard/page/format.js"))))

    def test_why_a_source_of_power_is_set_aside(self):
        reasons = re.findall(r'case disbelief::\w+: return "(\w+)"', text_of("agent/sources/host/set_aside_sentence.cpp"))
        self.has_all(reasons, found(r'"host_power_set_aside"(.*?)\.labels', text_of("common/metrics/families_host.hpp")), "families_host.hpp")

    def test_metrics_of_the_agent_about_itself(self):
        # Those of the aggregator are compared by own_metrics_test.
        families = re.findall(r'\.name = "(\w+)"', text_of("common/metrics/families_agent.hpp"))
        announced = re.findall(r'add_series\((?:group_, )?"(binnacle_\w+)"', "".join(path.read_text() for path in (ROOT / "agent").rglob("*.cpp")))
        self.assertGreater(len(families), 20)
        self.has_all(announced, " ".join(families), "families_agent.hpp")
        self.has_all(families, "".join(path.read_text() for path in (ROOT / "agent").rglob("*.cpp")), "agent/*.cpp")

    def test_routes_of_the_ops_port(self):
        mounted = found(r"void face::mount.*?\{(.*?)\n\}", text_of("aggregator/ops/face.cpp"))
        # A prefix is served with one more part behind it.
        routes = re.findall(r'page\(routes, "(.*?)"', mounted) + [prefix + "/" for prefix in re.findall(r'prefix\("(.*?)"', mounted)]
        told = re.findall(r"^\| (/[^ ?]*)", text_of("aggregator/ops/README.md"), re.MULTILINE)
        tried = re.findall(r'"(/[^"?]*)', found(r'"without a certificate only health answers"(.*?)CAPTURE', text_of("tests/aggregator/ops/face_test.cpp")))
        for where, listed in (("aggregator/ops/README.md", told), ("face_test.cpp", tried)):
            for route in routes:
                with self.subTest(where=where, route=route):
                    self.assertTrue(any(path.startswith(route) if route.endswith("/") else path == route for path in listed))

    def test_events_of_the_core(self):
        declared = found(r"// Events of agents' sessions\.(.*?)// What the core holds\.", text_of("aggregator/core/core.hpp"))
        # Const functions only read: a snapshot is no event.
        events = set(re.findall(r"^  (?:result<.*?>|void|instant|[\w:<>]+) (\w+)\((?:[^;{]*?)\)(?: \{|;)", declared, re.MULTILINE))
        self.has_all(sorted(events), " ".join(re.findall(r"^\| (`.*?) \|", found(r"\n## Events\n(.*)", text_of("aggregator/core/README.md")), re.MULTILINE)), "aggregator/core/README.md")

    def test_conditions_of_policies(self):
        names = re.findall(r'case condition_kind::\w+: return "(\w+)"', text_of("aggregator/policy/engine/events.cpp"))
        self.has_all(names, found(r"## What a policy says of itself(.*?)\n## ", text_of("docs/policies.md")), "docs/policies.md")
        self.has_all(names, found(r'"binnacle_policy_conditions"(.*?)\.labels', text_of("common/metrics/families_aggregator.hpp")), "families_aggregator.hpp")
        types = set(re.findall(r'(?:out\.add|so)\("(\w+)"', text_of("aggregator/enforce/policy_status.cpp")))
        self.has_all(sorted(types), found(r"conditions:\n +type: array\n(.*?)x-kubernetes", text_of("charts/binnacle/crds/taspolicy.yaml")), "the CRD")

    def test_what_policies_may_cost(self):
        resources = re.findall(r'case resource::\w+: return "(\w+)"', text_of("aggregator/policy/cost/limits.cpp"))
        self.has_all(resources, found(r"\n\*\*/api/v1/policies\*\*(.*?)\n\*\*/api", text_of("aggregator/ops/README.md")), "aggregator/ops/README.md")
        self.has_all(resources, found(r'"binnacle_policy_cost"(.*?)\.labels', text_of("common/metrics/families_aggregator.hpp")), "families_aggregator.hpp")
        settings = re.findall(r'case resource::\w+: return "(policy-[\w-]+)', text_of("aggregator/policy/cost/affordable.cpp"))
        self.assertEqual(len(resources), len(settings))
        self.has_all(settings, found(r"## What policies may cost(.*?)\n## ", text_of("docs/policies.md")), "docs/policies.md")

    def test_fields_of_a_decision(self):
        fields = set(re.findall(r'(?:field|key)\("(\w+)"', text_of("aggregator/decision/explain.cpp")))
        told = set(re.findall(r'"(\w+)":', found(r"(/// One decision as a JSON object:.*?)\nvoid write_record", text_of("aggregator/decision/explain.hpp"))))
        # These are around the decisions.
        self.assertCountEqual(fields - {"decisions", "kept", "total", "dropped"}, told)

    def test_fields_of_the_crd_that_the_doctor_looks_for(self):
        def fields(schema, path):
            if path and not path.endswith(("*", "[]")):
                yield path
            for name, child in schema.get("properties", {}).items():
                yield from fields(child, f"{path}.{name}".lstrip("."))
            for key, step in (("additionalProperties", "*"), ("items", "[]")):
                if isinstance(schema.get(key), dict):
                    yield from fields(schema[key], f"{path}.{step}")
        crd = yaml.safe_load(text_of("charts/binnacle/crds/taspolicy.yaml"))
        schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
        all_of_them = {*fields(schema["spec"], "spec"), *fields(schema["status"], "status")}
        in_tas = {"spec", "status", "spec.strategies", "status.compliance", "status.message",
                  *(f"spec.strategies.*.{name}" for name in ("logicalOperator", "policyName", "rules")),
                  *(f"spec.strategies.*.rules.[].{name}" for name in ("labels", "metricname", "operator", "target"))}
        mine = {field for field in all_of_them - in_tas if not field.startswith("status.conditions.")}
        listed = re.findall(r'"([^"]+)"', found(r"fields_of_crd\[\] = \{(.*?)\};", text_of("cli/doctor/cluster/cluster_findings.cpp")))
        self.assertCountEqual(mine, listed)

    def test_checks_of_the_doctor(self):
        declared = re.findall(r"^findings (check_\w+)", text_of("cli/doctor/checks.hpp"), re.MULTILINE)
        listed = re.findall(r", (check_\w+)\}|^ +(check_\w+)\}", text_of("cli/doctor/checks.cpp"), re.MULTILINE)
        self.assertGreater(len(declared), 10)
        self.assertCountEqual(declared, [one or other for one, other in listed])

    def test_objects_of_the_api_server_that_are_followed(self):
        paths = [path for room in ("kube/objects", "model_servers") for file in sorted((ROOT / "aggregator" / room).glob("*.cpp"))
                 for path in re.findall(r'out\.path = (?:fmt::format\()?"(/api[^"]*)"', file.read_text())]
        objects = sorted({path.rpartition("/")[2].replace("{}s", "s") for path in paths})
        self.has_all(objects, text_of("charts/binnacle/templates/aggregator/rbac.yaml"), "rbac.yaml")
        # Of the others, whose CRDs few clusters have, the aggregator itself says what it may not read.
        self.has_all([name for name in objects if name != "nodeconfigs"], text_of("cli/doctor/cluster/cluster_findings.cpp"), "the doctor")

    def test_gates(self):
        gates = [path.name for path in (ROOT / "scripts/gates").iterdir() if path.suffix == ""]
        self.assertCountEqual(gates, re.findall(r"^\| ([\w-]+) \|", found(r"\n\| gate \|.*?\|---\|---\|\n(.*)", text_of("CONTRIBUTING.md")), re.MULTILINE))
        check = text_of("scripts/check")
        self.has_all(gates, found(r"\n# Gates: (.*?)\n# \(", check), "scripts/check --help")
        self.has_all(gates, found(r'\|\| gates="(.*?)"\n', check), "scripts/check")

    def test_the_version_of_the_wire(self):
        minor = found(r"protocol_minor = (\d+);", text_of("common/wire/limits.hpp"))
        self.assertEqual(minor, found(r"- Now 1\.(\d+)\. ", text_of("common/wire/README.md")))


if __name__ == "__main__":
    unittest.main()
