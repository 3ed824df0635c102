"""A client that asks five times a second, each time by a new connection: a metric of both nodes through the API server, and the extender through its
Service. Prints what was wrong or not answered, a line of JSON each, and at SIGTERM how many there were. Runs on a node, where Services have addresses.

  python3 probe.py API-SERVER CA CERT KEY   EXTENDER CA CERT KEY      (addresses as HOST:PORT)
"""

import datetime
import http.client
import json
import signal
import socket
import ssl
import sys
import time

LATE = 5  # seconds; a scheduler of the chart waits half of one, on a machine that has more than two cores for all
NODES = ["n1", "n2"]
NAME = "binnacle.binnacle.svc"  # in the aggregators' certificate
ended = False


class Unanswered(Exception):
    """Nobody was there to answer."""


def stop(*_):
    global ended
    ended = True


class Server:
    """One that has this name in its certificate."""

    def __init__(self, address, name, ca, cert, key):
        self.host, self.port = address.split(":")
        self.name = name
        self.context = ssl.create_default_context(cafile=ca)
        self.context.load_cert_chain(cert, key)

    def ask(self, method, path, body=None):
        try:
            with socket.create_connection((self.host, int(self.port)), timeout=LATE) as plain:
                connection = http.client.HTTPConnection(self.host)
                connection.sock = self.context.wrap_socket(plain, server_hostname=self.name)
                connection.request(method, path, json.dumps(body) if body else None, {"Host": self.name, "Content-Type": "application/json"})
                answer = connection.getresponse()
                text = answer.read().decode()
                is_json = "json" in answer.getheader("Content-Type", "")
                connection.close()
        except (OSError, http.client.HTTPException) as error:
            raise Unanswered(f"{type(error).__name__}: {error}") from error
        if answer.status != 200:
            raise Unanswered(f"{answer.status}: {text[:300]}")
        return json.loads(text) if is_json else text


def metrics(api):
    items = api.ask("GET", "/apis/custom.metrics.k8s.io/v1beta2/nodes/*/os_load1")["items"]
    assert sorted(i["describedObject"]["name"] for i in items) == NODES, f"{len(items)} items"


def passing(aggregator, policy):
    """The nodes that a pod under this policy may run on."""
    pod = {"metadata": {"name": "asked", "namespace": "default", "uid": "asked", "labels": {"telemetry-policy": policy}},
           "spec": {"containers": [{"name": "a", "resources": {"limits": {"telemetry/scheduling": "0"}}}]}}
    return aggregator.ask("POST", "/scheduler/filter", {"Pod": pod, "Nodes": None, "NodeNames": NODES})["NodeNames"]


def extender(aggregator):
    names = passing(aggregator, "no-heat")
    assert names == ["n1"], f"passing: {names}"


def main(api, ca, cert, key, service, service_ca, service_cert, service_key):
    signal.signal(signal.SIGTERM, stop)
    questions = {metrics: Server(api, "kubernetes", ca, cert, key), extender: Server(service, NAME, service_ca, service_cert, service_key)}
    asked = 0
    counts = {"wrong": 0, "unanswered": 0}
    while not ended:
        for question, server in questions.items():
            began = time.monotonic()
            try:
                question(server)
            except (Unanswered, AssertionError, ValueError, KeyError) as error:
                kind = "unanswered" if isinstance(error, Unanswered) else "wrong"
                counts[kind] += 1
                print(json.dumps({"at": datetime.datetime.now().isoformat(), kind: question.__name__, "took": round(time.monotonic() - began, 3),
                                  "why": f"{type(error).__name__}: {error}"}), flush=True)
            asked += 1
        time.sleep(0.2)
    print(json.dumps({"asked": asked, **counts}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
