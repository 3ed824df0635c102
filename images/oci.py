"""Writes an OCI image layout of one layer from a folder: the same folder gives the same bytes.

  python3 images/oci.py ROOT LAYOUT ARCHITECTURE TAG ENTRYPOINT USER EPOCH VERSION LICENCES DESCRIPTION

Source: opencontainers/image-spec v1.0, image-layout.md, manifest.md, config.md.
"""

import gzip
import hashlib
import io
import json
import os
import pathlib
import sys
import tarfile
import time


def layer(root, epoch):
    """(tar, gzip of it): sorted, of user 0, of one time."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path in sorted(root.rglob("*")):
            entry = tar.gettarinfo(path, str(path.relative_to(root)))
            entry.uid = entry.gid = 0
            entry.uname = entry.gname = ""
            entry.mtime = epoch
            entry.pax_headers = {}
            if entry.isreg():
                with open(path, "rb") as file:
                    tar.addfile(entry, file)
            else:
                tar.addfile(entry)
    return raw.getvalue(), gzip.compress(raw.getvalue(), 9, mtime=0)


class Layout:
    def __init__(self, folder):
        self.folder = folder
        self.blobs = folder / "blobs" / "sha256"
        self.blobs.mkdir(parents=True)

    def add(self, media_type, data):
        digest = hashlib.sha256(data).hexdigest()
        (self.blobs / digest).write_bytes(data)
        return {"mediaType": f"application/vnd.oci.image.{media_type}", "digest": f"sha256:{digest}", "size": len(data)}

    def add_json(self, media_type, document):
        return self.add(media_type, json.dumps(document, sort_keys=True).encode())


def main(root, layout, architecture, tag, entrypoint, user, epoch, version, licences, description):
    epoch = int(epoch)
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch))
    about = {
        "org.opencontainers.image.title": pathlib.PurePath(entrypoint).name,
        "org.opencontainers.image.description": description,
        "org.opencontainers.image.version": version,
        "org.opencontainers.image.created": created,
        "org.opencontainers.image.licenses": licences,
    }
    tar, packed = layer(pathlib.Path(root), epoch)
    out = Layout(pathlib.Path(layout))
    config = out.add_json("config.v1+json", {
        "architecture": architecture,
        "os": "linux",
        "created": created,
        "config": {"Entrypoint": [entrypoint], "User": user, "WorkingDir": "/", "Labels": about, "Env": ["PATH=/usr/bin"]},
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(tar).hexdigest()]},
        "history": [{"created": created, "created_by": "scripts/images"}],
    })
    manifest = out.add_json("manifest.v1+json", {
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": config,
        "layers": [out.add("layer.v1.tar+gzip", packed)], "annotations": about,
    })
    manifest["annotations"] = {"org.opencontainers.image.ref.name": tag}
    (out.folder / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [manifest]}, sort_keys=True))
    (out.folder / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
    print(f"{manifest['digest']} {len(packed)}")


if __name__ == "__main__":
    os.umask(0o022)
    if len(sys.argv) != 11:
        sys.exit(__doc__)
    main(*sys.argv[1:])
