"""A client that asks each question five times a second, each time by a new connection: a metric of both nodes through the API server, and the extender
through its Service. An answer that is slow holds up no later question. Prints what was wrong or not answered within LATE, a line of JSON each, and at SIGTERM
how many there were and how long answers took. Runs on a node, where Services have addresses.

  python3 probe.py API-SERVER CA CERT KEY   EXTENDER CA CERT KEY      (addresses as HOST:PORT)
"""

import concurrent.futures
import datetime
import http.client
import json
import signal
import socket
import ssl
import sys
import time

LATE = 5  # seconds, from the dial to the last byte. The chart's scheduler waits PATIENCE; here two cores do all, so that is only counted.
PATIENCE = 0.5
PAUSE = 0.2
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
        ends = time.monotonic() + LATE

        def left():
            if (seconds := ends - time.monotonic()) <= 0:
                raise Unanswered(f"not within {LATE} s")
            return seconds
        try:
            with socket.create_connection((self.host, int(self.port)), timeout=left()) as plain:
                plain.settimeout(left())
                connection = http.client.HTTPConnection(self.host)
                connection.sock = self.context.wrap_socket(plain, server_hostname=self.name)
                connection.sock.settimeout(left())
                connection.request(method, path, json.dumps(body) if body else None, {"Host": self.name, "Content-Type": "application/json"})
                connection.sock.settimeout(left())
                answer = connection.getresponse()
                text = answer.read().decode()
                is_json = "json" in answer.getheader("Content-Type", "")
                connection.close()
                left()  # what came in pieces may have come too late
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
    asked = []  # (question, seconds, "right", "wrong" or "unanswered")

    def ask(question, server):
        began, kind = time.monotonic(), "right"
        try:
            question(server)
        except (Unanswered, AssertionError, ValueError, KeyError) as error:
            kind = "unanswered" if isinstance(error, Unanswered) else "wrong"
            line = json.dumps({"at": datetime.datetime.now().isoformat(), kind: question.__name__, "took": round(time.monotonic() - began, 3),
                               "why": f"{type(error).__name__}: {error}"})
            print(line + "\n", end="", flush=True)  # in one piece: others print, too
        asked.append((question.__name__, time.monotonic() - began, kind))

    began = due = time.monotonic()
    # As many as can be waiting for an answer at one time.
    with concurrent.futures.ThreadPoolExecutor(len(questions) * (round(LATE / PAUSE) + 1)) as askers:
        while not ended:
            for question, server in questions.items():
                askers.submit(ask, question, server)
            due += PAUSE
            time.sleep(max(0, due - time.monotonic()))
        seconds = time.monotonic() - began
    total = {"asked": len(asked), "seconds": round(seconds, 1), **{kind: sum(k == kind for _, _, k in asked) for kind in ("wrong", "unanswered")}}
    for question in questions:
        took = sorted(seconds for name, seconds, kind in asked if name == question.__name__ and kind == "right")
        if took:
            total[question.__name__] = {"median": round(took[len(took) // 2], 3), "p99": round(took[len(took) * 99 // 100], 3), "max": round(took[-1], 3),
                                        f"over {PATIENCE} s": sum(seconds > PATIENCE for seconds in took)}
    print(json.dumps(total), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
