"""A guest's root file system in memory: programs with the libraries they need, kernel modules, and an init of a few lines of shell."""

import pathlib
import re
import stat
import subprocess
import tempfile


def libraries_of(program):
    """Paths of the shared libraries that a program is linked with, its loader included."""
    said = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return [pathlib.Path(path) for path in re.findall(r"(/\S+) \(0x", said)]


def module_order(folder, names, found=None):
    """Modules and those that they say they depend on, in the order to load them, without those that the kernel has in itself."""
    found = [] if found is None else found
    for name in names:
        if any(f"/{name}.ko\n" in builtin.read_text() for builtin in folder.glob("*/modules.builtin")):
            continue
        path = next(folder.rglob(f"{name}.ko"))
        others = re.search(rb"\0depends=([^\0]*)\0", path.read_bytes()).group(1).decode()
        module_order(folder, [other.replace("-", "_") for other in others.split(",") if other], found)
        if path not in found:
            found.append(path)
    return found


class Archive:
    """An initramfs: cpio's "newc" form (Linux Documentation/driver-api/early-userspace/buffer-format.rst)."""

    def __init__(self):
        self.pieces, self.number, self.folders = [], 0, set()

    def entry(self, name, mode, data=b"", device=(0, 0)):
        self.number += 1
        name = name.encode() + b"\0"
        fields = [self.number, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(name), 0]
        head = b"070701" + b"".join(b"%08x" % field for field in fields) + name
        self.pieces += [head, b"\0" * (-len(head) % 4), data, b"\0" * (-len(data) % 4)]

    def folder(self, path):
        path = str(path).strip("/")
        if not path or path == "." or path in self.folders:
            return
        self.folder(pathlib.PurePosixPath(path).parent)
        self.folders.add(path)
        self.entry(path, stat.S_IFDIR | 0o755)

    def file(self, path, data, mode=0o755):
        self.folder(pathlib.PurePosixPath(str(path).lstrip("/")).parent)
        self.entry(str(path).lstrip("/"), stat.S_IFREG | mode, data)

    def program(self, source, path=None):
        """A program without its debugging information, and its libraries where it looks for them."""
        with tempfile.NamedTemporaryFile() as stripped:
            subprocess.run(["strip", "-o", stripped.name, source], check=True)
            self.file(path or source, pathlib.Path(stripped.name).read_bytes())
        for library in libraries_of(source):
            if str(library) not in self.folders:
                self.folders.add(str(library))
                self.file(library, library.read_bytes())

    def modules(self, folder, names):
        """/modules, with a list of them in the order to load them."""
        order = module_order(folder, names)
        for path in order:
            self.file(f"modules/{path.name}", path.read_bytes(), 0o644)
        self.file("modules/order", "\n".join(path.name for path in order).encode(), 0o644)

    def console(self):
        self.folder("dev")
        self.entry("dev/console", stat.S_IFCHR | 0o600, device=(5, 1))

    def whole(self):
        self.entry("TRAILER!!!", 0)
        return b"".join(self.pieces)
