"""What guests are made of: QEMU, installed by apt-get; Debian's kernel with its modules, and busybox, unpacked into the cache."""

import os
import pathlib
import subprocess

QEMU = pathlib.Path("/usr/bin/qemu-system-x86_64")
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "binnacle/qemu"
BUSYBOX = CACHE / "bin/busybox"
MODULES = CACHE / "lib/modules"
# Of what the packages hold.
WANTED = {"linux": ["./boot/vmlinuz-*", "./lib/modules/*"], "busybox": ["./bin/busybox"]}


def kernel():
    return next(CACHE.glob("boot/vmlinuz-*"), None)


def missing():
    """What is not there, as one sentence; None where nothing is missing."""
    absent = [what for what, there in (("QEMU", QEMU.exists()), ("a kernel", kernel()), ("busybox", BUSYBOX.exists()), ("the kernel's modules", any(MODULES.rglob("modules.dep"))))
              if not there]
    return f"a guest takes {', '.join(absent)}: python3 tests/qemu/parts.py fetches them" if absent else None


def fetch():
    """Once; what is there stays. Raises subprocess.CalledProcessError."""
    if missing() is None:
        return
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    subprocess.run(["apt-get", "update", "-qq"], env=environment, check=True)
    subprocess.run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", "qemu-system-x86"], env=environment, check=True)
    depends = subprocess.run(["apt-cache", "depends", "linux-image-amd64"], capture_output=True, text=True, check=True).stdout
    image = next(line.split()[1] for line in depends.splitlines() if "linux-image-" in line and "Depends" in line)
    CACHE.mkdir(parents=True, exist_ok=True)
    for package in (image, "busybox-static"):
        subprocess.run(["apt-get", "-qq", "-o", "APT::Sandbox::User=root", "download", package], cwd=CACHE, check=True)
    for package in CACHE.glob("*.deb"):
        files = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE)
        subprocess.run(["tar", "-x", "-C", CACHE, "--wildcards", *WANTED[package.name.split("-")[0]]], stdin=files.stdout, check=True)
        package.unlink()
    # Which module has what the kernel asks for.
    subprocess.run([BUSYBOX, "depmod", "-b", CACHE, kernel().name.removeprefix("vmlinuz-")], check=True)


if __name__ == "__main__":
    fetch()
