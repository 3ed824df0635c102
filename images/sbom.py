"""Prints an SPDX document (2.3, JSON) of an image: every Debian package that went into it, with version, licence file and checksum of its archive.

  python3 images/sbom.py NAME VERSION EPOCH DEB...

Source: spdx.github.io/spdx-spec/v2.3.
"""

import hashlib
import json
import pathlib
import re
import subprocess
import sys
import time

# What Debian's packages are under is in their copyright files; ours are under these.
LICENCES = {"binnacle-agent": "Apache-2.0", "binnacle-aggregator": "Apache-2.0", "binnacle-cli": "Apache-2.0 AND MIT", "binnacle-ipmi": "GPL-3.0-or-later"}
FIELDS = ("Package", "Version", "Architecture", "Source", "Homepage", "Maintainer")


def read(deb):
    said = subprocess.run(["dpkg-deb", "-f", deb, *FIELDS], capture_output=True, text=True, check=True, timeout=60).stdout
    return dict(line.split(": ", 1) for line in said.splitlines() if ": " in line)


def package(deb):
    about = read(deb)
    name, version = about["Package"], about["Version"]
    source = about.get("Source", name).split(" ")[0]
    return {
        "SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name),
        "name": name,
        "versionInfo": version,
        "supplier": "Person: " + about["Maintainer"],
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "homepage": about.get("Homepage", "NOASSERTION"),
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": LICENCES.get(name, "NOASSERTION"),
        "licenseComments": f"/usr/share/doc/{name}/copyright in the image",
        "copyrightText": "NOASSERTION",
        "checksums": [{"algorithm": "SHA256", "checksumValue": hashlib.sha256(pathlib.Path(deb).read_bytes()).hexdigest()}],
        "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                          "referenceLocator": f"pkg:deb/debian/{source}@{version}?arch={about['Architecture']}"}],
    }


def main(name, version, epoch, debs):
    packages = sorted((package(deb) for deb in debs), key=lambda p: p["name"])
    digest = hashlib.sha256(json.dumps(packages).encode()).hexdigest()
    print(json.dumps({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"{name}-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/{name}-{version}-{digest}",
        "creationInfo": {"created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(epoch))), "creators": ["Tool: binnacle scripts/images"]},
        "packages": packages,
        "relationships": [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": p["SPDXID"]} for p in packages],
    }, indent=1))


if __name__ == "__main__":
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    main(*sys.argv[1:4], sys.argv[4:])
