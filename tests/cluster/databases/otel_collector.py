"""A real OpenTelemetry collector for tests, which Go builds (tests/cluster/build otel-collector): it writes what it took into a file."""

import http.client
import json
import re
import urllib.parse

from support.control_plane import built
from trial import free_port

PROGRAM = built("otel-collector", "otel-collector")


def flat(attributes):
    """An attribute list of OTLP's JSON as {key: text}."""
    return {one["key"]: one["value"]["stringValue"] for one in attributes}


class Collector:
    """Takes OTLP over HTTP for `signals`. It goes on with its file after a restart."""

    def __init__(self, trial, *signals):
        self.trial = trial
        self.port = free_port()
        self.url = f"http://localhost:{self.port}/v1/metrics"
        self.file = trial.folder / "otel.json"
        self.config = trial.folder / "otel-collector.yml"
        self.config.write_text(json.dumps({  # JSON is YAML
            "receivers": {"otlp": {"protocols": {"http": {"endpoint": f"127.0.0.1:{self.port}"}}}},
            "exporters": {"file": {"path": str(self.file), "append": True, "flush_interval": "100ms"}},
            "service": {"telemetry": {"metrics": {"level": "none"}},
                        "pipelines": {signal: {"receivers": ["otlp"], "exporters": ["file"]} for signal in signals or ("metrics",)}}}))
        self.read = 0  # bytes of the file that are in `series`
        self.series = {}  # {(metric, resource, attributes): its [(time in ns, value or None)], type and unit}

    def start(self):
        self.trial.start("otel-collector", PROGRAM, "--config", self.config)
        self.trial.wait_for("the collector", self.is_ready)

    def end(self):
        self.trial.end("otel-collector")

    def is_ready(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request("GET", urllib.parse.urlsplit(self.url).path)  # 405, or 404 if there is nothing for metrics
            return connection.getresponse().status in (404, 405)
        except OSError:
            return False
        finally:
            connection.close()

    def take_in(self):
        """What was written since last time: whole lines, each a request."""
        if not self.file.exists():
            return
        with open(self.file, "rb") as file:
            file.seek(self.read)
            new = file.read()
        whole = new[:new.rfind(b"\n") + 1]
        self.read += len(whole)
        for line in whole.splitlines():
            for of_node in json.loads(line)["resourceMetrics"]:
                resource = flat(of_node["resource"]["attributes"])
                for metric in (one for scope in of_node["scopeMetrics"] for one in scope["metrics"]):
                    self.take_metric(resource, metric)

    def take_metric(self, resource, metric):
        [kind] = {"gauge", "sum"} & metric.keys()
        for point in metric[kind]["dataPoints"]:
            labels = flat(point.get("attributes", []))
            key = (metric["name"], *(tuple(sorted(words.items())) for words in (resource, labels)))
            known = self.series.setdefault(key, {
                "metric": metric["name"], "resource": resource, "attributes": labels, "unit": metric.get("unit", ""), "kind": kind,
                "cumulative": metric[kind].get("aggregationTemporality") == 2 and metric[kind].get("isMonotonic", False), "points": []})
            ended = point.get("flags", 0) & 1
            known["points"].append((int(point["timeUnixNano"]), None if ended else point.get("asDouble", 0.0)))

    def find(self, metric, **attributes):
        """The series of a metric whose attributes or resource's attributes are these; in a name here "_" stands for ".". """
        self.take_in()
        def fits(one):
            words = {name.replace(".", "_"): text for name, text in {**one["resource"], **one["attributes"]}.items()}
            return one["metric"] == metric and all(words.get(name) == text for name, text in attributes.items())
        return [one for one in self.series.values() if fits(one)]

    def values(self, selector, _span=""):
        """Of the one series of a selector like my_number{k8s_node_name="cool"}: [(time in seconds, text of the value)], ends left out."""
        metric, name, text = re.fullmatch(r'([^{]+)\{(\w+)="([^"]*)"\}', selector).groups()
        found = self.find(metric, **{name: text})
        return [(at / 1e9, repr(value)) for at, value in found[0]["points"] if value is not None] if found else []
