"""scripts/images --index: one archive out of one of each architecture, as registries and skopeo take it.

Run by scripts/check images with small archives, and by scripts/check arm64 with those of both architectures, too, if the gate debian13 has made
its own; or by hand: python3 tests/images/index_test.py [--join FOLDER FOLDER] [TestName]
"""

import argparse
import hashlib
import json
import pathlib
import struct
import subprocess
import sys
import tarfile
import tempfile
import unittest

IMAGES = pathlib.Path(__file__).resolve().parents[2] / "images"
JOIN = []
MACHINE_OF = {"amd64": 62, "arm64": 183}  # e_machine in an ELF header: x86-64, AArch64


def skopeo(*arguments):
    return subprocess.run(["skopeo", *map(str, arguments)], capture_output=True, text=True, timeout=120)


class Index(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="binnacle-index-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def archive(self, architecture, version="0.1.0", where=None):
        """FOLDER/binnacle-agent.oci.tar of a root with one file; gives the folder."""
        root, layout, out = (self.folder / f"{where or architecture}{part}" for part in ("-root", "-layout", ""))
        (root / "usr/bin").mkdir(parents=True)
        (root / "usr/bin/binnacle-agent").write_text(architecture)
        subprocess.run([sys.executable, IMAGES / "oci.py", root, layout, architecture, version, "/usr/bin/binnacle-agent", "0:0", "1700000000", version, "Apache-2.0", "An agent"],
                       check=True, capture_output=True, timeout=60)
        out.mkdir()
        (out / "binnacle-agent.spdx.json").write_text(f"packages for {architecture}")
        subprocess.run(["tar", "--mtime=@1700000000", "-cf", out / "binnacle-agent.oci.tar", "-C", layout, "."], check=True, timeout=60)
        return out

    def index(self, *folders):
        return subprocess.run([sys.executable, IMAGES / "index.py", self.folder / "out", *folders], capture_output=True, text=True, timeout=60)

    def test_each_architecture_finds_its_own_image_in_it(self):
        said = self.index(self.archive("arm64"), self.archive("amd64"))
        self.assertEqual(said.returncode, 0, said.stderr)
        archive = self.folder / "out/binnacle-agent.oci.tar"
        with tarfile.open(archive) as tar:
            files = {m.name: tar.extractfile(m).read() for m in tar}
        for name, data in files.items():
            if name.startswith("blobs/"):
                self.assertEqual(pathlib.PurePath(name).name, hashlib.sha256(data).hexdigest())
        top, = json.loads(files["index.json"])["manifests"]
        index = json.loads(files["blobs/sha256/" + top["digest"].split(":")[1]])
        self.assertEqual([m["platform"] for m in index["manifests"]], [{"architecture": a, "os": "linux"} for a in ("amd64", "arm64")])
        for architecture in ("amd64", "arm64"):
            said = skopeo("inspect", "--override-arch", architecture, f"oci-archive:{archive}")
            self.assertEqual(said.returncode, 0, said.stderr)
            self.assertEqual(json.loads(said.stdout)["Architecture"], architecture)

    def test_all_of_it_is_copied_unchanged_as_into_a_registry(self):
        said = self.index(self.archive("amd64"), self.archive("arm64"))
        digest = said.stdout.split()[1].removeprefix("sha256:")
        copied = self.folder / "registry"
        said = skopeo("--insecure-policy", "copy", "--all", f"oci-archive:{self.folder}/out/binnacle-agent.oci.tar", f"oci:{copied}:0.1.0")
        self.assertEqual(said.returncode, 0, said.stderr)
        index = json.loads((copied / "blobs/sha256" / digest).read_text())
        self.assertEqual(len(index["manifests"]), 2)
        for manifest in index["manifests"]:
            self.assertTrue((copied / "blobs/sha256" / manifest["digest"].removeprefix("sha256:")).is_file())

    def test_each_architecture_has_its_document_and_an_older_one_goes(self):
        out = self.folder / "out"
        out.mkdir()
        (out / "binnacle-agent.spdx.json").write_text("of an image that this one replaces")
        said = self.index(self.archive("amd64"), self.archive("arm64"))
        self.assertEqual(said.returncode, 0, said.stderr)
        self.assertEqual({p.name: p.read_text() for p in out.glob("*.spdx.json")},
                         {f"binnacle-agent.{a}.spdx.json": f"packages for {a}" for a in ("amd64", "arm64")})

    def test_the_same_archives_give_the_same_bytes_in_any_order(self):
        folders = [self.archive("amd64"), self.archive("arm64")]
        made = []
        for order in (folders, folders[::-1]):
            self.assertEqual(self.index(*order).returncode, 0)
            made.append((self.folder / "out/binnacle-agent.oci.tar").read_bytes())
        self.assertEqual(made[0], made[1])

    def test_what_does_not_belong_together_is_refused(self):
        amd64 = self.archive("amd64")
        self.assertIn("give one of each architecture", self.index(amd64, self.archive("amd64", where="again")).stderr)
        self.assertIn("several versions: 0.1.0, 0.2.0", self.index(amd64, self.archive("arm64", "0.2.0")).stderr)
        self.assertIn("there is no *.oci.tar", self.index(self.folder).stderr)
        both = self.index(amd64, self.archive("arm64", where="other"))
        self.assertEqual(both.returncode, 0, both.stderr)
        self.assertIn("several images already", self.index(self.folder / "out", amd64).stderr)


class Release(unittest.TestCase):
    """The archives that scripts/images made."""

    def test_each_architecture_gets_programs_that_it_can_run(self):
        if not JOIN:
            self.skipTest("no folders with archives of two architectures were named (--join)")
        with tempfile.TemporaryDirectory(prefix="binnacle-index-") as folder:
            out = pathlib.Path(folder) / "out"
            said = subprocess.run([sys.executable, IMAGES / "index.py", out, *JOIN], capture_output=True, text=True, timeout=120)
            self.assertEqual(said.returncode, 0, said.stderr)
            names = {p.name.removesuffix(".oci.tar") for p in out.glob("*.oci.tar")}
            self.assertEqual(names, {"binnacle-agent", "binnacle-aggregator"})
            for name in names:
                for architecture, machine in MACHINE_OF.items():
                    with self.subTest(name=name, architecture=architecture):
                        taken = pathlib.Path(folder) / f"{name}-{architecture}"
                        said = skopeo("--insecure-policy", "--override-arch", architecture, "copy", f"oci-archive:{out / name}.oci.tar", f"dir:{taken}")
                        self.assertEqual(said.returncode, 0, said.stderr)
                        layer, = json.loads((taken / "manifest.json").read_text())["layers"]
                        with tarfile.open(taken / layer["digest"].removeprefix("sha256:")) as tar:
                            header = tar.extractfile(f"usr/bin/{name}").read(20)
                        self.assertEqual(struct.unpack("<H", header[18:])[0], machine)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--join", type=pathlib.Path, nargs=2, default=[])
    arguments, rest = parser.parse_known_args()
    JOIN = arguments.join
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
