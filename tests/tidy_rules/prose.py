"""Rules about documents: short lines, short sentences, and references that lead somewhere."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from tidy_rules.house import House

WIDTH = 120
MARKDOWN = ("**/*.md",)
TEMPLATES = ("**/*.j2",)

# Files whose lines are still longer than WIDTH. Only ever shortened.
LONG_LINES: set[str] = set()
# Markdown that no wrapping makes shorter: a row of a table, an image, and a line of one word, link or piece of code.
UNBREAKABLE = re.compile(r"\s*(?:\||!\[|(?:[-*>] |\d+\. )?(?:\S+|\(?`[^`]+`\S*)$)")

NOTHING = re.compile(r"(?!)")


def line_widths(house: House) -> Iterator[str]:
    """No line of a document or a template is wider than WIDTH, but for tables and single long words."""
    for path in house.paths(*MARKDOWN, *TEMPLATES):
        unbreakable = UNBREAKABLE if path.endswith(".md") else NOTHING
        wide = [number for number, line in house.lines(path) if len(line) > WIDTH and not unbreakable.match(line)]
        if wide and path not in LONG_LINES:
            yield f"{path}:{wide[0]}: at most {WIDTH} characters: wrap it"
        elif not wide and path in LONG_LINES:
            yield f"{path}: its lines are short now: take it out of LONG_LINES"
    for path in LONG_LINES:
        if not house.exists(path):
            yield f"{path}: gone: take it out of LONG_LINES"


WORDS = 18
# The changelog is history, and verdicts are written by a program, whose sentences are tested elsewhere.
NOT_COUNTED = {"CHANGELOG.md", "docs/verdicts.md"}
# Documents whose sentences are still too long on average. Only ever shortened.
LONG_SENTENCES: set[str] = set()
SENTENCE_END = re.compile(
    r"""(?:(?<=[.!?])|(?<=[.!?][)"*_])|(?<=[.!?]\*\*))\s+(?=["(*_`\[]*(?:[A-Z0-9]|(?:dbdyno|sysbench)\b))"""
)
ITEM = re.compile(r"\s*(?:[-*] |\d+\. )")
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
ABBREVIATION = re.compile(r"\b(e\.g|i\.e|cf|vs|et al|Nr|No)\.")


def sentence_lengths(house: House) -> Iterator[str]:
    """In each document a sentence has fewer than WORDS words on average."""
    for path in house.paths(*MARKDOWN):
        counts = [len(sentence.split()) for sentence in sentences(house.text(path))]
        long = bool(counts) and sum(counts) / len(counts) >= WORDS
        if path in NOT_COUNTED:
            continue
        if long and path not in LONG_SENTENCES:
            average = sum(counts) / len(counts)
            yield f"{path}: a sentence has {average:.1f} words on average, fewer than {WORDS} are allowed"
        elif not long and path in LONG_SENTENCES:
            yield f"{path}: its sentences are short now: take it out of LONG_SENTENCES"
    for path in LONG_SENTENCES:
        if not house.exists(path):
            yield f"{path}: gone: take it out of LONG_SENTENCES"


LONGEST = 30


def decisions(house: House) -> Iterator[str]:
    """A decision has its context, the decision and its alternatives; figures if it was measured."""
    for path in house.paths("docs/decisions/*.md"):
        for section in house.text(path).split("\n## ")[1:]:
            lacking = [part for part in ("Context", "Decision", "Alternatives") if f"**{part}.**" not in section]
            if lacking and "**" in section:
                yield f"{path}: '{section.splitlines()[0]}' lacks {', '.join(lacking)}"


def longest_sentences(house: House) -> Iterator[str]:
    """No sentence of a document has more than LONGEST words; figures are not counted."""
    for path in house.paths(*MARKDOWN):
        if path in NOT_COUNTED:
            continue
        for sentence in sentences(house.text(path)):
            if (count := sum(map(_has_letters, sentence.split()))) > LONGEST:
                yield f"{path}: a sentence has {count} words, at most {LONGEST} are allowed: {sentence[:60]}"


def _has_letters(word: str) -> bool:
    return any(map(str.isalpha, word))


# Documents in which a sentence still begins with what it is about, not with its subject. Only ever shortened.
INVERTED_SENTENCES: set[str] = set()
INVERTED = re.compile(r"[\"*_(\[]*(?:Of|What|Who|Whoever)\b")


def sentence_openings(house: House) -> Iterator[str]:
    """No sentence of a document begins with "Of", "What" or "Who", unless it is a question."""
    for path in house.paths(*MARKDOWN):
        if path in NOT_COUNTED:
            continue
        inverted = [
            sentence for sentence in sentences(house.text(path)) if INVERTED.match(sentence) and "?" not in sentence
        ]
        if inverted and path not in INVERTED_SENTENCES:
            yield f"{path}: begin with the subject: {inverted[0][:60]}"
        elif not inverted and path in INVERTED_SENTENCES:
            yield f"{path}: its sentences begin with the subject now: take it out of INVERTED_SENTENCES"
    for path in INVERTED_SENTENCES:
        if not house.exists(path):
            yield f"{path}: gone: take it out of INVERTED_SENTENCES"


def sentences(markdown: str) -> list[str]:
    """Return the sentences of a document's prose. Code, tables and headings are left out; inline code is one word."""
    blocks: list[str] = [""]
    in_code = False
    for line in markdown.split("\n"):
        if line.lstrip().startswith("```"):
            in_code = not in_code
        if in_code or not line.strip() or line.lstrip().startswith(("```", "#", "|", "![")):
            blocks.append("")
        elif ITEM.match(line):
            blocks.append(ITEM.sub("", line, count=1))
        else:
            blocks[-1] += " " + line.strip()
    prose = (LINK.sub(r"\1", re.sub(r"`+[^`]+`+", "Code", block)) for block in blocks)
    split = (SENTENCE_END.split(ABBREVIATION.sub(r"\1", block)) for block in prose)
    return [sentence.strip() for block in split for sentence in block if sentence.strip()]


SOURCES = ("**/*.py", "**/*.rs", "**/*.sh", "**/*.toml", "**/*.md", "**/*.j2", "scripts/*", "Makefile", ".ci/run")
# Its samples are files of other houses.
SAMPLES = {"tests/test_tidy.py"}
DOCUMENT = re.compile(r"(?<![\w./-])((?:(?:docs|benches)/[\w./-]+|[A-Z]{4,})\.md)\b")
# A numbered section or a heading in quotation marks may follow.
SECTION = re.compile(r",? sections? (\d+(?:\.\d+)*)(?: and (\d+(?:\.\d+)*))?")
QUOTED = re.compile(r',? "([^"]+)"')
COMMENT_MARK = re.compile(r"\s*\n\s*(?://[/!]?|#)?\s*")
PLACEHOLDER = re.compile(r"\b(?:NAME|WHAT)\b")
# A section of no document, and documents that readers do not have. Written so that it does not match itself.
OUTSIDE = re.compile(r"§ ?\d|\bMETHOD[S]\b|\bDESIG[N]\b")


def references(house: House) -> Iterator[str]:
    """A document that a text names exists, and so do the section and the heading of it that it names."""
    for path in house.paths(*SOURCES):
        if path in SAMPLES:
            continue
        text = house.text(path)
        for match in OUTSIDE.finditer(text):
            yield f"{path}:{_line(text, match)}: cite a numbered section of a document here, not {match[0]}"
        for match in DOCUMENT.finditer(text):
            if not PLACEHOLDER.search(match[1]):
                wrong = _wrong_reference(house, path, match[1], COMMENT_MARK.sub(" ", text[match.end() :][:160]))
                if wrong:
                    yield f"{path}:{_line(text, match)}: {wrong}"


def _wrong_reference(house: House, path: str, named: str, behind: str) -> str | None:
    """Return what is wrong with the document `named` in `path` and with the section in the text `behind` it."""
    beside = posixpath.normpath(posixpath.join(posixpath.dirname(path), named))
    document = next((candidate for candidate in (named, beside) if house.exists(candidate)), None)
    if document is None:
        return f"there is no such document: {named}"
    headings = [matched[1] for _, line in house.lines(document) if (matched := HEADING.match(line))]
    numbers = {matched[1] for heading in headings if (matched := NUMBERED.match(heading))}
    for number in filter(None, section.groups() if (section := SECTION.match(behind)) else ()):
        if number not in numbers:
            return f"{named} has no section {number}"
    if (quoted := QUOTED.match(behind)) and quoted[1] not in {re.sub(NUMBERED, "", heading) for heading in headings}:
        return f'{named} has no heading "{quoted[1]}"'
    return None


HEADING = re.compile(r"#+ +(.*)")
NUMBERED = re.compile(r"(\d+(?:\.\d+)*)\.? +")


def _line(text: str, match: re.Match[str]) -> int:
    return text.count("\n", 0, match.start()) + 1
