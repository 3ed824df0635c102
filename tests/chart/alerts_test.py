"""The chart's alerts, judged by promtool as Prometheus judges them: each fires on bad series when its time has come, and on good ones never.

Run by scripts/check chart, or by hand: python3 tests/chart/alerts_test.py --helm HELM [TestName]
Skipped where there is no promtool: scripts/bootstrap --prometheus brings it.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import matrix
from matrix import RENDERED
from rendered import ROOT

sys.path[:0] = [str(ROOT / "tests/integration"), str(ROOT / "scripts")]
from prometheus import program  # noqa: E402

PROMTOOL = program("promtool")
AGENT = 'namespace="binnacle-agents",job="binnacle-agents/binnacle-agent",container="agent"'
AGGREGATOR = 'namespace="binnacle",job="binnacle",pod="binnacle-0"'
A_MONTH = 30 * 86400


def agent(family, node="n1", **labels):
    more = "".join(f',{name}="{text}"' for name, text in labels.items())
    return f'{family}{{{AGENT},node="{node}",pod="agent-{node}"{more}}}'


def written(family, node="n1", **labels):
    """The same series as remote write brings it: without the labels of a scrape."""
    return family + "{" + ",".join(f'{name}="{text}"' for name, text in {"node": node, **labels}.items()) + "}"


def own(family, **labels):
    return f"{family}{{{AGGREGATOR}" + "".join(f',{name}="{text}"' for name, text in labels.items()) + "}"


BUCKETS = ("0.1", "1", "5", "10", "20", "+Inf")


def ages(*rates):
    """The histogram of decisions' ages: how many a minute fall up to each bound."""
    return {own("binnacle_decision_age_seconds_bucket", le=bound): f"0+{rate}x60" for bound, rate in zip(BUCKETS, rates)}


class Case:
    """`bad`, `good`: {series: values a minute apart}. `after`: minutes until it fires. `labels`: of the one alert, with its summary."""

    def __init__(self, after, bad, good, labels, summary):
        self.after, self.bad, self.good, self.labels, self.summary = after, bad, good, labels, summary


TWO_AWAY = {make("binnacle_agent_connected", node, aggregator="a:9110"): "0x60" for node in ("n1", "n2") for make in (agent, written)}
RELOAD = "binnacle_tls_reload_failed"
HERE = {"namespace": "binnacle", "pod": "binnacle-0"}
CASES = {
    "binnacle-agent/BinnacleNodesDisconnected": Case(
        5, TWO_AWAY | {agent("binnacle_agent_connected", "n3", aggregator="a:9110"): "1x60"}, {agent("binnacle_agent_connected", aggregator="a:9110"): "1x60"},
        {"aggregator": "a:9110"}, "2 nodes have no link to aggregator a:9110"),
    "binnacle-agent/BinnacleAgentAway": Case(
        10, {agent("up"): "0x60"}, {agent("up"): "1x60", 'up{job="other",node="n1"}': "0x60"},
        {"namespace": "binnacle-agents", "job": "binnacle-agents/binnacle-agent", "container": "agent", "node": "n1", "pod": "agent-n1"},
        "the agent on n1 does not answer"),
    "binnacle-agent/BinnacleSourceDown": Case(
        11, {make("binnacle_agent_source_up", source="rapl"): "1 0x60" for make in (agent, written)},
        {agent("binnacle_agent_source_up", source="rapl"): "1x60", agent("binnacle_agent_source_up", source="bmc"): "0x60"},  # never worked: no BMC there
        {"node": "n1", "source": "rapl"}, "source rapl does not work any more on n1"),
    "binnacle-agent/BinnacleCertificateNotTakenOver": Case(
        5, {make(RELOAD): "1x60" for make in (agent, written)}, {agent(RELOAD): "0x60", own(RELOAD): "1x60"},
        {"node": "n1"}, "the agent on n1 cannot use a certificate that was renewed"),
    "binnacle-aggregator/BinnacleAggregatorAway": Case(
        5, {'binnacle_aggregator_info{namespace="elsewhere"}': "1x60"}, {own("binnacle_aggregator_info"): "1x60"},
        {"namespace": "binnacle"}, "no aggregator answers"),
    "binnacle-aggregator/BinnacleNoLeader": Case(
        5, {own("binnacle_kubernetes_leads"): "0x60"},
        {own("binnacle_kubernetes_leads"): "0x60", 'binnacle_kubernetes_leads{namespace="binnacle",pod="binnacle-1"}': "1x60"},
        {"namespace": "binnacle"}, "no aggregator holds the Lease"),
    "binnacle-aggregator/BinnacleCertificateExpires": Case(
        0, {own("binnacle_certificate_remaining_seconds", file="/pki/tls.crt"): "86400x60"},
        {own("binnacle_certificate_remaining_seconds", file="/pki/tls.crt"): f"{A_MONTH}x60"},
        {**HERE, "job": "binnacle", "file": "/pki/tls.crt"}, "certificate /pki/tls.crt expires in 1d 0h 0m 0s"),
    "binnacle-aggregator/BinnacleCertificateNotTakenOver": Case(
        5, {own(RELOAD): "1x60"}, {own(RELOAD): "0x60", agent(RELOAD): "1x60", written(RELOAD): "1x60"},
        HERE, "binnacle-0 cannot use a certificate that was renewed"),
    "binnacle-aggregator/BinnacleOldDecisions": Case(
        11, ages(0, 0, 0, 0, 60, 60), ages(0, 60, 60, 60, 60, 60), {}, "decisions use values older than 19.9s"),
    "binnacle-aggregator/BinnacleDrops": Case(
        11, {own("binnacle_dropped_total", buffer="decisions"): "0+60x60"}, {own("binnacle_dropped_total", buffer="decisions"): "7x60"},
        {**HERE, "job": "binnacle", "buffer": "decisions"}, "buffer decisions of aggregator binnacle-0 drops"),
    "binnacle-aggregator/BinnacleReadingsLost": Case(
        11, {own("binnacle_remote_write_samples_total", outcome="refused"): "0+60x60", own("binnacle_remote_write_samples_total", outcome="sent"): "0+60x60"},
        {own("binnacle_remote_write_samples_total", outcome="refused"): "7x60", own("binnacle_remote_write_samples_total", outcome="sent"): "0+60x60"},
        {**HERE, "outcome": "refused"}, "remote write of aggregator binnacle-0 loses readings (refused)"),
    "binnacle-aggregator/BinnacleOtlpReadingsLost": Case(
        11, {own("binnacle_otlp_samples_total", outcome="dropped"): "0+60x60", own("binnacle_otlp_samples_total", outcome="sent"): "0+60x60"},
        {own("binnacle_otlp_samples_total", outcome="dropped"): "7x60", own("binnacle_otlp_samples_total", outcome="sent"): "0+60x60"},
        {**HERE, "outcome": "dropped"}, "OTLP of aggregator binnacle-0 loses readings (dropped)"),
}


@unittest.skipIf(PROMTOOL is None, "no promtool on PATH or in the cache; scripts/bootstrap --prometheus brings Debian's (19 MB)")
class Alerts(unittest.TestCase):
    def groups(self):
        return [group for o in RENDERED["everything optional"].of("PrometheusRule") for group in o["spec"]["groups"]]

    def rules(self):
        """{group/alert: rule}"""
        return {f"{group['name']}/{rule['alert']}": rule for group in self.groups() for rule in group["rules"]}

    def promtool(self, group, tests):
        """Its complaints about these tests of one group's rules; empty: there are none."""
        with tempfile.TemporaryDirectory() as folder:
            rules, asked = (pathlib.Path(folder) / name for name in ("rules.yaml", "tests.yaml"))
            rules.write_text(json.dumps({"groups": [group]}))  # JSON is YAML
            asked.write_text(json.dumps({"rule_files": [str(rules)], "evaluation_interval": "1m", "tests": tests}))
            said = subprocess.run([PROMTOOL, "test", "rules", str(asked)], capture_output=True, text=True, timeout=120, check=False)
        return "" if said.returncode == 0 else said.stdout + said.stderr

    @staticmethod
    def judged(series, alert, *expected):
        return {"interval": "1m", "input_series": [{"series": name, "values": values} for name, values in series.items()],
                "alert_rule_test": [{"eval_time": f"{minutes}m", "alertname": alert, "exp_alerts": alerts} for minutes, alerts in expected]}

    def test_each_alert_fires_on_bad_series_and_not_on_good_ones(self):
        rules = self.rules()
        self.assertEqual(sorted(rules), sorted(CASES), "each alert has its case, and each case its alert")
        for group in self.groups():
            for rule in group["rules"]:
                case = CASES[f"{group['name']}/{rule['alert']}"]
                fired = [{"exp_labels": {**case.labels, **rule["labels"]}, "exp_annotations": {**rule["annotations"], "summary": case.summary}}]
                before = [(case.after - 1, [])] if case.after > 0 else []
                with self.subTest(rule["alert"], group=group["name"]):
                    self.assertEqual(self.promtool(group, [self.judged(case.bad, rule["alert"], *before, (case.after, fired), (40, fired))]), "")
                    self.assertEqual(self.promtool(group, [self.judged(case.good, rule["alert"], (case.after, []), (40, []))]), "")

    def test_promtool_can_read_every_rule(self):
        for group in self.groups():
            with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
                json.dump({"groups": [group]}, file)
                file.flush()
                said = subprocess.run([PROMTOOL, "check", "rules", file.name], capture_output=True, text=True, timeout=120, check=False)
                self.assertEqual(said.returncode, 0, said.stdout + said.stderr)


if __name__ == "__main__":
    matrix.run(__doc__)
