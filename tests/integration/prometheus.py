"""A real Prometheus for tests: the program of Debian's package, below the test's own folder, on loopback.

`scripts/bootstrap --prometheus` unpacks the package into the cache without installing it, since an installed one would start a server on port 9090.
"""

import contextlib
import json
import os
import pathlib
import shutil
import ssl
import urllib.parse
import urllib.request

from trial import free_port

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "binnacle/prometheus/usr/bin"


def program(name="prometheus"):
    """Its path, or None where it is not there."""
    return shutil.which(name, path=f"{CACHE}:{os.environ.get('PATH', '')}")


def missing():
    """Why tests with it cannot run here; empty: they can."""
    return "" if program() else "no Prometheus on PATH or in the cache; scripts/bootstrap --prometheus brings Debian's (19 MB)"


class Prometheus:
    """Takes remote write, and scrapes what `scrape` says (its scrape_configs). `web`: what its --web.config.file says; `ca` and `authorization` are for
    questions then. `path`: the program, if it is not Debian's; `config`: more of its configuration. It keeps its data over a restart."""

    def __init__(self, trial, web=None, ca=None, authorization=None, *more, scrape=(), path=None, config=None):
        self.trial, self.ca, self.authorization, self.path = trial, ca, authorization, path or program()
        self.folder = trial.folder / "prometheus"
        self.folder.mkdir()
        self.port = free_port()
        (self.folder / "prometheus.yml").write_text(json.dumps({"global": {"scrape_interval": "1s"}, "scrape_configs": list(scrape), **(config or {})}))  # JSON is YAML
        self.more = list(more)
        if web is not None:
            (self.folder / "web.yml").write_text(json.dumps(web))
            self.more += ["--web.config.file", self.folder / "web.yml"]
        self.base = f"{'https' if web else 'http'}://localhost:{self.port}"
        self.url = f"{self.base}/api/v1/write"

    def start(self, takes_writes=True):
        self.trial.start("prometheus", self.path, "--config.file", self.folder / "prometheus.yml", "--storage.tsdb.path", self.folder / "data",
                         "--web.listen-address", f"127.0.0.1:{self.port}", *(["--web.enable-remote-write-receiver"] if takes_writes else []), *self.more)
        self.trial.wait_for("Prometheus", self.is_ready)

    def end(self):
        self.trial.end("prometheus")

    def get(self, path):
        context = ssl.create_default_context(cafile=self.ca) if self.ca else None
        request = urllib.request.Request(self.base + path, headers={"Authorization": self.authorization} if self.authorization else {})
        with urllib.request.urlopen(request, timeout=30, context=context) as answer:
            return answer.read().decode()

    def is_ready(self):
        with contextlib.suppress(OSError):
            return "Ready" in self.get("/-/ready")
        return False

    def query(self, text):
        """The result of an instant query: [{metric, value}], or with a range in it [{metric, values}]."""
        return json.loads(self.get("/api/v1/query?" + urllib.parse.urlencode({"query": text})))["data"]["result"]

    def values(self, selector, span="10m"):
        """What is stored of the one series of a selector: [(time in seconds, text of the value)], ends of the series left out."""
        found = self.query(f"{selector}[{span}]")
        return [(at, value) for at, value in found[0]["values"]] if found else []
