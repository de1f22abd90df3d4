"""The blocks of pages that come from results/.

`<!-- generated: NAME KIND -->` is a table of one run, KIND being one of `tables.BLOCKS`, or the `answer` to a classic
question. `<!-- generated: NAME bench -->` is the table of a bench, and `<!-- generated: classics -->` that of these
questions.
"""

import json
import re
from pathlib import Path

from scripts.figures import benches
from scripts.figures.classics import answer, classics
from scripts.figures.declared import declared
from scripts.figures.tables import BLOCKS
from scripts.reference.markdown import replace_block

INDEX = "docs/experiments/README.md"
_KINDS = BLOCKS | {"answer": answer}
_BLOCK = re.compile(rf"<!-- generated: (([\w-]+) ({'|'.join(_KINDS)})) -->")
_BENCH = re.compile(r"<!-- generated: (([\w-]+) bench) -->")


def renewed(root: Path, texts: dict[str, str]) -> dict[str, str]:
    """Return the pages of docs/ and the README that have such blocks, with each written from its kept summary.

    texts: pages that were renewed already, by their path from the root; others are read.
    """
    runs, compared = declared(root), benches.benches(root)
    pages = {}
    for path in (root / "README.md", *sorted((root / "docs").glob("**/*.md"))):
        name = path.relative_to(root).as_posix()
        text = texts.get(name) or path.read_text(encoding="utf-8")
        for block, figures, kind in _BLOCK.findall(text):
            run = json.loads((root / runs[figures].result).read_text(encoding="utf-8"))
            text = pages[name] = replace_block(text, block, _KINDS[kind](runs[figures], run))
        for block, bench in _BENCH.findall(text):
            pairs = json.loads((root / compared[bench].result).read_text(encoding="utf-8"))
            text = pages[name] = replace_block(text, block, benches.block(compared[bench], pairs))
    pages[INDEX] = replace_block(
        texts.get(INDEX) or (root / INDEX).read_text("utf-8"), "classics", classics(root, runs)
    )
    return pages
