"""The site's pages in the order of mkdocs.yml, and llms.txt, which lists them for programs that read."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

INTRODUCTION = """# dbdyno

> A dynamometer for databases. It puts data stores under the same load, checks every answer, and says what limited each.

Paths are relative to the root of the repository. Every page is plain Markdown.
"""
ENTRY = re.compile(r"^(?P<indent> +)- (?:(?P<title>[^:]+): )?(?P<path>\S+\.md)$")
SECTION = re.compile(r"^(?P<indent> +)- (?P<title>[^:]+):$")


@dataclass(frozen=True)
class Page:
    """A page of the site: the part that it is in, its title in the menu, and its path from the root."""

    part: str
    title: str
    path: str


def pages(root: Path) -> list[Page]:
    """Return the pages that mkdocs.yml names, in its order."""
    _, nav = (root / "mkdocs.yml").read_text(encoding="utf-8").split("\nnav:\n", 1)
    return list(_read(nav.splitlines()))


def _read(lines: list[str]) -> Iterator[Page]:
    part = ""
    for line in lines:
        if (section := SECTION.match(line)) and len(section["indent"]) == 2:
            part = section["title"]
        elif entry := ENTRY.match(line):
            yield Page(part, entry["title"] or "", entry["path"])


def llms_text(root: Path, fresh: Mapping[str, str]) -> str:
    """Return llms.txt: every page with the first sentence of it. fresh: texts that are not written yet, by path."""
    parts: dict[str, list[str]] = {}
    for page in pages(root):
        text = fresh.get(page.path) or (root / page.path).read_text(encoding="utf-8")
        title, sentence = _beginning(text)
        said = f": {sentence}" if sentence else ""
        parts.setdefault(page.part, []).append(f"- [{title}]({page.path}){said}")
    sections = [f"## {part}\n\n" + "\n".join(lines) for part, lines in parts.items()]
    return "\n\n".join([INTRODUCTION.strip(), *sections]) + "\n"


def _beginning(text: str) -> tuple[str, str]:
    """Return a page's title and the first sentence of its prose."""
    title = next(line.lstrip("# ") for line in text.splitlines() if line.startswith("# "))
    blocks = re.sub(r"<!--.*?-->|^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE).split("\n\n")
    # Answers of a run are no description of a page.
    prose = re.compile(r"(?!\*\*(?:Now|Then)\*\*)[A-Za-z`*]")
    first = next((block.strip() for block in blocks if prose.match(block.strip())), "")
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(first.split())).removeprefix("**Context.** ")
    return title, re.split(r"(?<=[.?!])\s", plain, maxsplit=1)[0].rstrip(":")
