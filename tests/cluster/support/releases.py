"""Releases of the chart on a real API server, by helm itself: what tests of installing and removing it stand on."""

import json
import os
import subprocess
import sys
import unittest

from support.control_plane import ROOT, ControlPlane, program

sys.path.insert(0, str(ROOT / "tests" / "chart"))
from rendered import CHART, Helm  # noqa: E402  (the path comes first)

PLANE = HELM = None


def begin_plane():
    """To be called by setUpModule(): the control plane of one test file, and helm."""
    global PLANE, HELM
    HELM = Helm(program("helm", "helm"))
    PLANE = ControlPlane()
    unittest.addModuleCleanup(PLANE.stop)
    PLANE.begin()
    return PLANE, HELM


def helm(*words, namespace="binnacle"):
    said = subprocess.run([HELM.program, *map(str, words), "--kubeconfig", str(PLANE.kubeconfig), "--namespace", namespace],
                          capture_output=True, text=True, timeout=600)
    if said.returncode:
        raise AssertionError(f"helm {words[0]}: {said.stderr}")
    return said.stdout


def there(kind, name, namespace=None):
    words = ["get", kind, name, "-o", "json", "--ignore-not-found", *(["-n", namespace] if namespace else [])]
    return json.loads(PLANE.kubectl(*words) or "null")


def everything_of(release):
    """Objects of a release that nobody is deleting. Without a controller manager nothing finishes a namespace's end, and what was in it."""
    kinds = PLANE.kubectl("api-resources", "--verbs=list", "-o", "name").split()
    kinds = [k for k in kinds if k != "customresourcedefinitions.apiextensions.k8s.io" and not k.startswith("events")]
    said = PLANE.kubectl("get", ",".join(kinds), "--all-namespaces", "-l", f"app.kubernetes.io/part-of=binnacle,app.kubernetes.io/instance={release}", "-o", "json")
    items = json.loads(said[said.index("\n{") if said.startswith("Warning") else 0:])["items"]  # some kinds come with a warning
    return [f"{o['kind']} {o['metadata']['name']}" for o in items if "deletionTimestamp" not in o["metadata"]]


def readme_commands(after):
    """The first block of commands below these words of the chart's README."""
    text = (CHART / "README.md").read_text()
    return text[text.index(after):].split("```sh\n", 1)[1].split("```", 1)[0]


def run_commands(commands):
    """In a shell whose kubectl speaks to this control plane, as a person runs them; what they said."""
    kubectl = PLANE.programs["kubectl"]
    environment = dict(os.environ, KUBECONFIG=str(PLANE.kubeconfig), PATH=f"{kubectl.parent}:{os.environ['PATH']}")
    done = subprocess.run(["sh", "-e", "-c", commands], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=600, check=False)
    if done.returncode:
        raise AssertionError(f"{commands}\nended with {done.returncode}:\n{done.stdout}")
    return done.stdout
