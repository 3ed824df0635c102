"""The images, from their archives: whole, lean, the same twice; and their programs run as they do in a pod, and answer.

Without a container engine: the layer is unpacked and run by bubblewrap with a read-only root, no capability and no network of the host.
Run by scripts/check images, or by hand: python3 tests/images/images_test.py --images build-images [TestName]
"""

import argparse
import gzip
import hashlib
import json
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
IMAGES = ROOT / "build-images"
WORK = None
# MiB of the compressed layer: twice what they are would be a mistake somebody made.
AT_MOST = {"binnacle-agent": 20, "binnacle-aggregator": 20}
# Packages of ours in each.
OURS = {"binnacle-agent": {"binnacle-agent", "binnacle-ipmi", "binnacle-cli"}, "binnacle-aggregator": {"binnacle-aggregator", "binnacle-cli"}}


class Image:
    """An OCI archive, its blobs checked on the way."""

    def __init__(self, name):
        self.name = name
        with tarfile.open(IMAGES / f"{name}.oci.tar") as tar:
            self.blobs = {pathlib.PurePath(m.name).name: tar.extractfile(m).read() for m in tar if m.isfile()}
        self.manifest = self.read(json.loads(self.blobs["index.json"])["manifests"][0])
        self.config = self.read(self.manifest["config"])
        self.layer = gzip.decompress(self.blob(self.manifest["layers"][0]))
        self.root = WORK / name
        with tempfile.NamedTemporaryFile() as file:
            file.write(self.layer)
            file.flush()
            self.root.mkdir()
            subprocess.run(["tar", "-xf", file.name, "-C", self.root], check=True, timeout=60)

    def blob(self, descriptor):
        data = self.blobs[descriptor["digest"].split(":")[1]]
        assert "sha256:" + hashlib.sha256(data).hexdigest() == descriptor["digest"] and len(data) == descriptor["size"], descriptor
        return data

    def read(self, descriptor):
        return json.loads(self.blob(descriptor))


def setUpModule():
    global WORK
    folder = tempfile.TemporaryDirectory(prefix="binnacle-images-")
    unittest.addModuleCleanup(folder.cleanup)
    WORK = pathlib.Path(folder.name)
    WORK.chmod(0o755)
    for name in AT_MOST:
        MADE[name] = Image(name)


MADE = {}


class Images(unittest.TestCase):
    def test_the_configuration_names_what_is_in_the_layer(self):
        for name, image in MADE.items():
            self.assertEqual(image.config["rootfs"]["diff_ids"], ["sha256:" + hashlib.sha256(image.layer).hexdigest()])
            self.assertEqual(image.config["config"]["Entrypoint"], [f"/usr/bin/{name}"])
            self.assertTrue((image.root / "usr/bin" / name).is_file())

    def test_skopeo_takes_the_archive(self):
        for name in MADE:
            said = subprocess.run(["skopeo", "inspect", f"oci-archive:{IMAGES / name}.oci.tar"], capture_output=True, text=True, timeout=60)
            self.assertEqual(said.returncode, 0, said.stderr)

    def test_there_is_no_shell_no_package_manager_and_nothing_set_user_id(self):
        for image in MADE.values():
            names = {p.name for p in (image.root / "usr/bin").iterdir()}
            self.assertTrue(all(n.startswith(("binnacle", "kubectl-binnacle")) for n in names), names)
            self.assertFalse([p for p in image.root.rglob("*") if p.is_file() and not p.is_symlink() and p.stat().st_mode & 0o6000])

    def test_only_the_aggregator_is_without_root(self):
        # The agent's user owns energy_uj, and has no capability but PERFMON in the chart.
        self.assertEqual({n: i.config["config"]["User"] for n, i in MADE.items()}, {"binnacle-agent": "0:0", "binnacle-aggregator": "65532:65532"})

    def test_the_image_with_freeipmi_says_that_it_is_under_the_gpl_too(self):
        licences = {n: i.config["config"]["Labels"]["org.opencontainers.image.licenses"] for n, i in MADE.items()}
        self.assertEqual(licences, {"binnacle-agent": "Apache-2.0 AND GPL-3.0-or-later", "binnacle-aggregator": "Apache-2.0"})

    def test_they_are_small(self):
        for name, image in MADE.items():
            self.assertLess(image.manifest["layers"][0]["size"], AT_MOST[name] * 1024 * 1024)

    def test_the_sbom_names_every_package_and_each_has_its_licence_in_the_image(self):
        for name, image in MADE.items():
            document = json.loads((IMAGES / f"{name}.spdx.json").read_text())
            packages = {p["name"]: p for p in document["packages"]}
            self.assertLessEqual(OURS[name] | {"libc6"}, set(packages))
            folders = {p.name for p in (image.root / "usr/share/doc").iterdir()}
            self.assertEqual(folders - set(packages), set())
            self.assertEqual(set(packages) - folders, set())

    def test_every_program_finds_its_libraries(self):
        for image in MADE.values():
            for program in (image.root / "usr/bin").iterdir():
                said = subprocess.run(["bwrap", "--ro-bind", image.root, "/", "--proc", "/proc", "--unshare-all", f"/usr/bin/{program.name}", "--help"],
                                      capture_output=True, text=True, timeout=60)
                self.assertEqual(said.returncode, 0, said.stderr)


class Running(unittest.TestCase):
    """Started in the image's root; asked by curl from the same network namespace, which has a loopback and nothing else."""

    def answer(self, image, arguments, url, *binds):
        user, group = image.config["config"]["User"].split(":")
        inner = ["bwrap", "--ro-bind", image.root, "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--unshare-user", "--unshare-pid",
                 "--die-with-parent", "--uid", user, "--gid", group, "--cap-drop", "ALL", *binds, *image.config["config"]["Entrypoint"], *arguments]
        log = WORK / "log"
        script = ('ip link set lo up; "$@" >' + str(log) + ' 2>&1 & i=0; until curl -fsS --max-time 2 ' + url
                  + ' 2>/dev/null; do i=$((i+1)); [ $i -lt 100 ] || { cat ' + str(log) + '; exit 1; }; sleep 0.1; done; kill $!; wait $!')
        # bubblewrap of Debian 13 looks for itself in /proc, which must be that of its process namespace.
        said = subprocess.run(["unshare", "--net", "--mount-proc", "--kill-child", "--fork", "--pid", "sh", "-c", script, "sh", *map(str, inner)],
                              capture_output=True, text=True, timeout=60)
        return said.stdout

    def test_the_agent_answers_and_reads_this_machine(self):
        text = self.answer(MADE["binnacle-agent"], ["--node-name", "n", "--sys-root", "/host/sys", "--proc-net", "/host/net"], "http://127.0.0.1:9103/metrics",
                           "--ro-bind", "/sys", "/host/sys", "--ro-bind", "/proc/1/net", "/host/net")
        self.assertIn("\nos_memory_available_bytes ", text)

    def test_the_doctor_looks_at_the_agent_from_inside(self):
        """As "kubectl exec … binnacle doctor" does: in the running container's namespaces and root."""
        image = MADE["binnacle-agent"]
        log = WORK / "doctor-log"
        inner = ["bwrap", "--ro-bind", image.root, "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--unshare-user", "--unshare-pid", "--as-pid-1",
                 "--die-with-parent", "--uid", "0", "--gid", "0", "--cap-drop", "ALL", "--ro-bind", "/sys", "/host/sys", "--ro-bind", "/proc/1/net", "/host/net",
                 *image.config["config"]["Entrypoint"], "--node-name", "n", "--sys-root", "/host/sys", "--proc-net", "/host/net"]
        script = ('ip link set lo up; "$@" >' + str(log) + ' 2>&1 & i=0; until curl -fsS --max-time 2 http://127.0.0.1:9103/readyz >/dev/null 2>&1; do i=$((i+1)); '
                  '[ $i -lt 300 ] || { cat ' + str(log) + '; exit 1; }; sleep 0.1; done; child=$(pgrep -P $!); '
                  'nsenter --target "$child" --all --root --wd /usr/bin/binnacle doctor agent sensors kernel -o json; kill $!; wait $!')
        said = subprocess.run(["unshare", "--net", "--mount-proc", "--kill-child", "--fork", "--pid", "sh", "-c", script, "sh", *map(str, inner)],
                              capture_output=True, text=True, timeout=120)
        self.assertTrue(said.stdout.startswith("{"), said.stdout + said.stderr)
        found = {f["check"]: f["grade"] for f in reversed(json.loads(said.stdout)["findings"])}
        self.assertEqual(found["agent"], "ok", said.stdout)
        self.assertEqual(set(found), {"agent", "sensors", "kernel"})

    def test_the_aggregator_answers(self):
        pki, policies = WORK / "pki", WORK / "policies"
        policies.mkdir()
        subprocess.run([ROOT / "scripts/pki", pki, "--server", "server", "--node", "n"], check=True, capture_output=True, timeout=60)
        pki.chmod(0o755)
        (pki / "server.key").chmod(0o644)  # the program runs as another user; in a pod, fsGroup does this
        text = self.answer(MADE["binnacle-aggregator"], ["--cert", "/etc/binnacle/pki/server.crt", "--key", "/etc/binnacle/pki/server.key", "--agents-ca", "/etc/binnacle/pki/agents-ca.crt",
                                                         "--clients-ca", "/etc/binnacle/pki/clients-ca.crt", "--policies", "/etc/binnacle/policies"], "http://127.0.0.1:8081/livez",
                           "--ro-bind", pki, "/etc/binnacle/pki", "--ro-bind", policies, "/etc/binnacle/policies")
        self.assertIn("ok", text)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=pathlib.Path, default=IMAGES)
    arguments, rest = parser.parse_known_args()
    IMAGES = arguments.images.resolve()
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
