"""An upgrade from the chart and the images of an older commit, as a user of those does it, under the client that asks all the time; back, and forward again.

Run by scripts/test --kubelet, or by hand: python3 tests/kubelet/upgrade_test.py [TestName]
"""

import json
import subprocess
import unittest

import namespaces
import releases
import rollout_test as rollout
from nodes import HERE, ROOT
from trial import Failure, run_tests

BUILD = ROOT / "build"
LAB = None
BEFORE = "localhost/before"  # the registry of the older images: they may have the tag of the present ones
PART_OF = "app.kubernetes.io/part-of=binnacle"


def older():
    """What makes the older chart and its images: its status, the folder, and what it said."""
    done = subprocess.run([HERE / "older"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    return done.returncode, done.stdout.strip(), done.stderr.strip()


def missing():
    """What keeps this clone from this test, as one sentence; None where it can."""
    status, _, said = older()
    return said.removeprefix("kubelet: ") if status == 2 else None


def setUpModule():
    global LAB
    status, before, said = older()
    if status != 0:
        raise Failure(f"tests/kubelet/older failed:\n{said[-2000:]}")
    LAB = releases.begin_nodes()
    for node in LAB.names:
        for archive in releases.IMAGES:
            part = archive.name.removesuffix(".oci.tar")
            LAB.on_node(node, "ctr", "-n", "k8s.io", "images", "import", "--base-name", f"{BEFORE}/{part}", f"{before}/{archive.name}")
    LAB.helm("install", "binnacle", f"{before}/binnacle", "--create-namespace", *releases.VALUES, "--set", f"image.registry={BEFORE}", "--wait",
             "--timeout", "10m")
    rollout.begin(LAB)


def registries():
    """Whose images the agents and aggregators that are ready have."""
    pods = [pod for pod in releases.agents(LAB) + releases.pods(LAB, "aggregator") if releases.is_ready(pod)]
    images = [pod["spec"]["containers"][0]["image"] for pod in pods]
    return sorted(image.rpartition("/")[0] for image in images) if len(images) == 4 else images


def upgrade():
    """By the commands of the chart's README, to the present images."""
    LAB.kubectl("apply", "--server-side", "--force-conflicts", "-f", releases.CHART / "crds/taspolicy.yaml")
    LAB.helm("upgrade", "binnacle", releases.CHART, "--reset-then-reuse-values", "--set", "image.registry=localhost/binnacle", "--wait", "--timeout", "10m")


def objects():
    """{(kind, namespace, name)} of all that has the chart's label and that no other object made."""
    kinds = LAB.kubectl("api-resources", "--verbs=list", "-o", "name").split()
    # Endpoints make kubectl warn, and events and metrics are nobody's.
    kept = ",".join(kind for kind in kinds if kind not in ("componentstatuses", "endpoints") and not kind.startswith("events") and ".metrics." not in kind)
    found = json.loads(LAB.kubectl("get", kept, "-A", "-l", PART_OF, "-o", "json"))["items"]
    return {identity(each) for each in found if "ownerReferences" not in each["metadata"]}


def identity(thing):
    return thing["kind"], thing["metadata"].get("namespace", ""), thing["metadata"]["name"]


class FromAnOlderCommit(unittest.TestCase):
    def change(self, how, registry):
        """Under the client; agents and aggregators are all replaced, and what only a memory knows is not forgotten."""
        rollout.into_the_band()
        with rollout.client(self):
            how()
            LAB.wait_for(f"all to have images of {registry}", lambda: registries() == [registry] * 4, 300)
            LAB.wait_for("both replicas to know both nodes", rollout.all_know, 120)
        self.assertEqual([rollout.passing(pod) for pod in rollout.replicas()], [["n2"], ["n2"]])
        self.assertEqual([rollout.passing_by(pod, "no-heat") for pod in rollout.replicas()], [["n1"], ["n1"]])
        self.assertEqual({pod: count for pod, count in releases.restarts(LAB).items() if count}, {})

    def test_1_an_upgrade_gives_no_wrong_answer_and_forgets_nothing(self):
        self.assertEqual(registries(), [BEFORE] * 4)
        self.change(upgrade, "localhost/binnacle")

    def test_2_it_leaves_nothing_that_the_present_chart_does_not_have(self):
        file = LAB.folder / "manifest.yaml"
        file.write_text(LAB.helm("get", "manifest", "binnacle"))
        wanted = {identity(each) for each in json.loads(LAB.kubectl("get", "-f", file, "-o", "json"))["items"]}
        found = objects()
        self.assertIn(("Deployment", "binnacle", "binnacle-aggregator"), found)
        self.assertEqual(found - wanted, set())
        self.assertIn("Phase:          Succeeded", LAB.helm("test", "binnacle", "--logs"))

    def test_3_back_by_a_rollback_and_forward_again(self):
        self.change(lambda: LAB.helm("rollback", "binnacle", "--wait", "--timeout", "10m"), BEFORE)
        self.change(upgrade, "localhost/binnacle")


if __name__ == "__main__":
    namespaces.enter_tests(more=missing)
    run_tests(__doc__)
