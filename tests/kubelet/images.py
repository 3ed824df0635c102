"""The images of others that pods of the lab run, as OCI archives made of programs that are built here: no registry is asked.

  python3 images.py CACHE KUBERNETES        each once, into CACHE/images, and what is of that module's version into CACHE/KUBERNETES; run by build
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TOOLS = ["sh", "cat", "ls", "sleep", "wget", "nslookup", "nc", "id", "mount", "ps", "ip", "date", "grep", "head", "touch", "rm", "tail"]


def built(program):
    done = subprocess.run([ROOT / "tests/cluster/build", program], stdout=subprocess.PIPE, text=True, check=True)
    folder = pathlib.Path(done.stdout.strip())
    return folder / program.rpartition("/")[2], folder.name.rpartition("-")[2]


def add_pause(root):
    subprocess.run(["cc", "-Os", "-static", "-s", "-o", root / "pause", HERE / "pause.c"], check=True)


def add_program(root, path, program):
    (root / path).parent.mkdir(parents=True)
    shutil.copy(program, root / path)


def add_app(root, busybox):
    add_program(root, "bin/busybox", busybox)
    for name in TOOLS:
        (root / "bin" / name).symlink_to("busybox")
    for name in ("tmp", "proc", "sys", "dev", "etc"):
        (root / name).mkdir()


def make(out, name, reference, entrypoint, user, fill):
    """An archive, and beside it the name that nodes know its image by."""
    repository, _, tag = reference.rpartition(":")
    archive = out / f"{name}.tar"
    if archive.exists() and (out / f"{name}.name").read_text() == f"{reference}\n":
        return
    with tempfile.TemporaryDirectory() as work:
        root, layout = pathlib.Path(work, "root"), pathlib.Path(work, "layout")
        root.mkdir()
        fill(root)
        subprocess.run([sys.executable, ROOT / "images/oci.py", root, layout, "amd64" if os.uname().machine == "x86_64" else "arm64", tag, entrypoint,
                        user, "1700000000", tag, "Apache-2.0", repository], stdout=subprocess.DEVNULL, check=True)
        subprocess.run(["tar", "-cf", f"{archive}.new", "-C", layout, "."], check=True)
    (out / f"{name}.name").write_text(f"{reference}\n")
    pathlib.Path(f"{archive}.new").rename(archive)


def main(cache, module):
    out, versioned = cache / "images", cache / module
    out.mkdir(exist_ok=True)
    versioned.mkdir(exist_ok=True)
    scheduler, kubernetes = built(f"{module}/kube-scheduler")
    descheduler, version = built("descheduler/descheduler")
    make(out, "pause", "localhost/pause:latest", "/pause", "65535:65535", add_pause)
    make(versioned, "kube-scheduler", f"registry.k8s.io/kube-scheduler:{kubernetes}", "/usr/bin/kube-scheduler", "0:0",
         lambda root: add_program(root, "usr/bin/kube-scheduler", scheduler))
    make(out, "descheduler", f"registry.k8s.io/descheduler/descheduler:{version}", "/bin/descheduler", "1000:1000",
         lambda root: add_program(root, "bin/descheduler", descheduler))
    make(out, "app", "localhost/app:latest", "/bin/sh", "0:0", lambda root: add_app(root, cache / "busybox-static/bin/busybox"))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), sys.argv[2])
