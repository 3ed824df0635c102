"""Writes one OCI archive from archives of the same image for several architectures: a registry then gives each node the one it can run.

  python3 images/index.py OUT FOLDER...

Each FOLDER has the *.oci.tar and *.spdx.json that scripts/images made for one architecture; OUT gets an archive of the same name for each of them, with
every architecture in it, and the document of each architecture as NAME.ARCHITECTURE.spdx.json. The same archives give the same bytes. Source: opencontainers/image-spec v1.0, image-index.md.
"""

import hashlib
import io
import json
import pathlib
import sys
import tarfile

INDEX = "application/vnd.oci.image.index.v1+json"


def read(archive):
    """(manifest's descriptor with its platform, blobs by path, time)."""
    with tarfile.open(archive) as tar:
        files = {str(pathlib.PurePosixPath(m.name)): (tar.extractfile(m).read(), m.mtime) for m in tar if m.isfile()}
    blobs = {name: data for name, (data, _) in files.items() if name.startswith("blobs/")}

    def blob(descriptor):
        return json.loads(blobs["blobs/" + descriptor["digest"].replace(":", "/")])

    found = json.loads(files["index.json"][0])["manifests"]
    if len(found) != 1 or found[0]["mediaType"] == INDEX:
        raise SystemExit(f"{archive} has several images already: give archives of one architecture each")
    config = blob(blob(found[0])["config"])
    manifest = {**found[0], "platform": {"architecture": config["architecture"], "os": config["os"]}}
    return manifest, blobs, files["index.json"][1]


def write(archive, files, time):
    with tarfile.open(archive, "w", format=tarfile.USTAR_FORMAT) as tar:
        for name in sorted(files):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime, entry.mode = len(files[name]), time, 0o644
            tar.addfile(entry, io.BytesIO(files[name]))


def keep_documents(out, image, folders):
    """What is in each architecture's image; OUT keeps no document of an image that is not in it any more."""
    made = {architecture: (folder / f"{image}.spdx.json").read_bytes() for folder, architecture in folders if (folder / f"{image}.spdx.json").exists()}
    (out / f"{image}.spdx.json").unlink(missing_ok=True)
    for architecture, document in made.items():
        (out / f"{image}.{architecture}.spdx.json").write_bytes(document)


def main(out, folders):
    names = sorted({p.name for folder in folders for p in folder.glob("*.oci.tar")})
    if not names:
        raise SystemExit("there is no *.oci.tar in " + ", ".join(map(str, folders)))
    out.mkdir(exist_ok=True)
    for name in names:
        parts = [read(folder / name) for folder in folders]
        manifests = sorted((p[0] for p in parts), key=lambda m: m["platform"]["architecture"])
        architectures = [m["platform"]["architecture"] for m in manifests]
        if len(set(architectures)) != len(architectures):
            raise SystemExit(f"two archives {name} are for {architectures[0]}: give one of each architecture")
        tags = {m.pop("annotations")["org.opencontainers.image.ref.name"] for m in manifests}
        if len(tags) != 1:
            raise SystemExit(f"the archives {name} are of several versions: {', '.join(sorted(tags))}")
        index = json.dumps({"schemaVersion": 2, "mediaType": INDEX, "manifests": manifests}, sort_keys=True).encode()
        digest = hashlib.sha256(index).hexdigest()
        files = {path: data for _, blobs, _ in parts for path, data in blobs.items()}
        files[f"blobs/sha256/{digest}"] = index
        files["oci-layout"] = json.dumps({"imageLayoutVersion": "1.0.0"}).encode()
        files["index.json"] = json.dumps({"schemaVersion": 2, "manifests": [{
            "mediaType": INDEX, "digest": f"sha256:{digest}", "size": len(index), "annotations": {"org.opencontainers.image.ref.name": tags.pop()},
        }]}, sort_keys=True).encode()
        write(out / name, files, max(p[2] for p in parts))
        keep_documents(out, name.removesuffix(".oci.tar"), [(folder, p[0]["platform"]["architecture"]) for folder, p in zip(folders, parts)])
        print(f"{out / name} sha256:{digest} {' '.join(architectures)}")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]), [pathlib.Path(f) for f in sys.argv[2:]])
