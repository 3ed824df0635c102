"""A real VictoriaMetrics for tests, which Go builds (tests/cluster/build victoria-metrics): a single node below the test's own folder, on loopback."""

import contextlib
import json
import urllib.error
import urllib.parse
import urllib.request

from support.control_plane import built
from trial import free_port

PROGRAM = built("victoria-metrics", "victoria-metrics")


class VictoriaMetrics:
    """Takes remote write at `url`, and OTLP at `otlp_url`. It keeps its data over a restart."""

    def __init__(self, trial, *more):
        self.trial = trial
        self.more = more
        self.port = free_port()
        self.base = f"http://localhost:{self.port}"
        self.url = f"{self.base}/api/v1/write"
        self.otlp_url = f"{self.base}/opentelemetry/v1/metrics"

    def start(self):
        # It would show nothing that is younger than half a minute.
        self.trial.start("victoria-metrics", PROGRAM, f"-storageDataPath={self.trial.folder / 'victoria-metrics'}", f"-httpListenAddr=127.0.0.1:{self.port}",
                         "-search.latencyOffset=0s", "-loggerLevel=WARN", "-memory.allowedPercent=5", *self.more)
        self.trial.wait_for("VictoriaMetrics", self.is_ready)

    def end(self):
        self.trial.end("victoria-metrics")

    def is_ready(self):
        with contextlib.suppress(OSError):
            return self.get("/health") == "OK"
        return False

    def get(self, path, **words):
        query = "?" + urllib.parse.urlencode(words) if words else ""
        with urllib.request.urlopen(self.base + path + query, timeout=60) as answer:
            return answer.read().decode()

    def query(self, text):
        """The result of an instant query: [{metric, value}], or of a selector with a range the stored samples: [{metric, values}]. Answers are not cached."""
        return json.loads(self.get("/api/v1/query", query=text, nocache="1"))["data"]["result"]

    def values(self, selector, span="10m"):
        """What is stored of the one series of a selector: [(time in seconds, text of the value)], ends of the series left out."""
        found = self.query(f"{selector}[{span}]")
        return [(at, value) for at, value in found[0]["values"] if value != "NaN"] if found else []

    def points(self):
        """How many points it has of all series, ends of series included; what came twice counts once."""
        lines = self.get("/api/v1/export", **{"match[]": '{__name__!=""}'}).splitlines()
        return sum(len(set(json.loads(line)["timestamps"])) for line in lines)
