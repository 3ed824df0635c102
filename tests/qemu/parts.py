"""What guests are made of: QEMU, installed by apt-get; the kernel of a release of Debian with its modules, and busybox, in the cache.

    python3 tests/qemu/parts.py [SUITE...]          once; for each suite that the tests use, where none is named
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

QEMU = pathlib.Path("/usr/bin/qemu-system-x86_64")
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "binnacle/qemu"
# Linux 6.1 and 6.12.
SUITES = ["bookworm", "trixie"]
FROM_DEBIAN = pathlib.Path(__file__).resolve().parents[2] / "scripts/from-debian"


class Parts:
    """Of one suite."""

    def __init__(self, suite, cache=CACHE):
        self.suite, self.folder = suite, cache / suite
        self.kernel, self.busybox, self.modules = self.folder / "kernel", self.folder / "busybox", self.folder / "lib/modules"

    def missing(self):
        """What is not there, as one sentence; None where nothing is missing."""
        absent = [what for what, there in (("QEMU", QEMU.exists()), (f"the kernel of {self.suite}", self.folder.exists())) if not there]
        return f"a guest takes {' and '.join(absent)}: python3 tests/qemu/parts.py {self.suite} fetches what is missing" if absent else None

    def fetch(self):
        """Once; what is there stays. Raises subprocess.CalledProcessError."""
        if not QEMU.exists() or not shutil.which("mmdebstrap") or not shutil.which("xz"):
            environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
            subprocess.run(["apt-get", "update", "-qq"], env=environment, check=True)
            subprocess.run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", "qemu-system-x86", "mmdebstrap", "xz-utils"], env=environment, check=True)
        if self.folder.exists():
            return
        CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as temporary:
            packages, new = pathlib.Path(temporary, "packages"), Parts(self.suite, pathlib.Path(temporary))
            subprocess.run([FROM_DEBIAN, self.suite, packages, "--variant=extract", "--include=linux-image-amd64,busybox-static"], check=True)
            new.take(packages)
            new.folder.rename(self.folder)

    def take(self, packages):
        """What is wanted, out of a folder with the packages' files."""
        self.modules.parent.mkdir(parents=True)
        next(packages.glob("boot/vmlinuz-*")).rename(self.kernel)
        # In /usr since Debian 13.
        next(path for path in (packages / "bin/busybox", packages / "usr/bin/busybox") if path.exists()).rename(self.busybox)
        next(path for path in (packages / "lib/modules", packages / "usr/lib/modules") if path.exists()).rename(self.modules)
        # The modules that the guest's init loads are in the initramfs as they are, and busybox cannot unpack them.
        subprocess.run(["find", self.modules, "-name", "*.ko.xz", "-exec", "xz", "-d", "{}", "+"], check=True)
        # Which module has what the kernel asks for.
        subprocess.run([self.busybox, "depmod", "-b", self.folder, next(self.modules.iterdir()).name], check=True)


if __name__ == "__main__":
    for named in sys.argv[1:] or SUITES:
        Parts(named).fetch()
