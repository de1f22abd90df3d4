"""The page of `dbdyno show RUN --json`: every key of the document and of a trial, with the types in recorded runs."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from scripts.reference.json_keys import OF_RUN, OF_TRIAL
from scripts.reference.markdown import code, page, prose, table

INTRODUCTION = """
`dbdyno show RUN --json` prints a run as one JSON document. It has every figure of the report.
A value that is not known, or has too few samples, is `null`. Figures leave the warm-up out, but errors,
verified reads and mismatches count every second. New keys may appear; a key keeps its meaning.
[The run folder](../run-folder.md) describes the files behind it.
"""
EXAMPLE = """
```python
import json, subprocess

run = json.loads(subprocess.check_output(["dbdyno", "show", "last", "--json"]))
for trial in run["trials"]:
    print(trial["label"], trial["clients"], trial["throughput_per_s"])
```
"""
NAMES = {dict: "object", list: "array", str: "text", bool: "boolean", int: "number", float: "number"}


def json_page(root: Path) -> str:
    """Return the page of the JSON document."""
    paths = sorted((root / "tests/golden/expected").glob("*/show.json"))
    documents = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
    trials = [trial for document in documents for trial in document["trials"]]
    return page(
        "JSON of a run",
        prose(INTRODUCTION),
        EXAMPLE,
        "## The run",
        table(("Key", "Value", "Meaning"), _rows(documents, OF_RUN)),
        "## A trial",
        prose("Each entry of `trials` has these keys. Those of open loops appear only there."),
        table(("Key", "Value", "Meaning"), _rows(trials, OF_TRIAL)),
    )


def _rows(objects: Iterable[Mapping[str, Any]], meanings: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield the row of each key; raises ValueError if a key lacks a meaning, or a meaning its key."""
    types: dict[str, set[str]] = {}
    for record in objects:
        for key, value in record.items():
            types.setdefault(key, set()).add("null" if value is None else NAMES[type(value)])
    if wrong := types.keys() ^ meanings.keys():
        raise ValueError(f"scripts/reference/json_keys.py: add or remove {', '.join(sorted(wrong))}")
    for key, kinds in types.items():
        yield code(key), " or ".join(sorted(kinds, key=lambda name: (name == "null", name))), meanings[key]
