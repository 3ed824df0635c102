"""Prints the table of values in charts/binnacle/README.md: path, default, and the comment above each value in values.yaml."""

import json
import pathlib

import yaml

VALUES = pathlib.Path(__file__).resolve().parents[2] / "charts" / "binnacle" / "values.yaml"


def comment_above(lines, number):
    words = []
    while number > 0 and lines[number - 1].strip().startswith("#"):
        number -= 1
        words.insert(0, lines[number].strip().lstrip("# "))
    return " ".join(words)


def rows(node, lines, path=""):
    """One for each value; a mapping without a comment of its own is only a way to its values."""
    for key, value in node.value:
        name = f"{path}{key.value}"
        said = comment_above(lines, key.start_mark.line)
        if isinstance(value, yaml.MappingNode) and value.value and not (said and value.flow_style):
            yield from rows(value, lines, name + ".")
        else:
            yield name, json.dumps(yaml.safe_load(yaml.serialize(value))), said


def table():
    text = VALUES.read_text()
    lines = ["| value | default | what it is |", "|---|---|---|"]
    lines += [f"| `{name}` | `{default}` | {said} |" for name, default, said in rows(yaml.compose(text), text.splitlines())]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(table(), end="")
