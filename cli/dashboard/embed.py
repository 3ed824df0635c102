#!/usr/bin/env python3
"""Writes the page's files into a C++ source: embed.py OUT.cpp FILE...; index.html is served as "/"."""

import pathlib
import sys

TYPES = {".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8",
         ".svg": "image/svg+xml"}


def literal(data):
    """C++ string literals; octal escapes have three digits at most, so that what follows is no part of them."""
    plain = {ord("\n"): "\\n", ord('"'): '\\"', ord("\\"): "\\\\", ord("?"): "\\?"}
    lines = []
    for begin in range(0, len(data), 4000):
        piece = data[begin:begin + 4000]
        lines.append('    "' + "".join(plain.get(byte) or (chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}") for byte in piece) + '"')
    return "\n".join(lines) or '    ""'


def main(out, files):
    rows = []
    for name in files:
        file = pathlib.Path(name)
        data = file.read_bytes()
        path = "/" if file.name == "index.html" else "/" + file.name
        rows.append(f'    {{"{path}", "{TYPES[file.suffix]}",\n    std::string_view(\n{literal(data)},\n    {len(data)})}},')
    pathlib.Path(out).write_text(
        '// Written by cli/dashboard/embed.py.\n#include "cli/dashboard/assets.hpp"\n\nnamespace binnacle::cli::dashboard {\nnamespace {\n\n'
        "constexpr asset all[] = {\n" + "\n".join(rows) + "\n};\n\n}  // namespace\n\nstd::span<const asset> assets() { return all; }\n\n"
        "}  // namespace binnacle::cli::dashboard\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
