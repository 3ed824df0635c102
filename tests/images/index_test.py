"""scripts/images --index: one archive out of one of each architecture, as registries and skopeo take it.

Run by scripts/check images, or by hand: python3 tests/images/index_test.py
"""

import hashlib
import json
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest

IMAGES = pathlib.Path(__file__).resolve().parents[2] / "images"


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
            said = subprocess.run(["skopeo", "inspect", "--override-arch", architecture, f"oci-archive:{archive}"], capture_output=True, text=True, timeout=60)
            self.assertEqual(said.returncode, 0, said.stderr)
            self.assertEqual(json.loads(said.stdout)["Architecture"], architecture)

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


if __name__ == "__main__":
    unittest.main(verbosity=2)
