"""Markdown as a parser understands it, for tests of what dbdyno writes for issues and pull requests."""

from __future__ import annotations

from markdown_it import MarkdownIt
from markdown_it.token import Token


def tokens_of(text: str) -> list[Token]:
    """Return the blocks of GitHub-flavoured Markdown."""
    return MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)


def tables_of(text: str) -> list[list[list[str]]]:
    """Return each table as rows of cells, its headings first; cells are Markdown."""
    tables: list[list[list[str]]] = []
    tokens = tokens_of(text)
    for token, following in zip(tokens, [*tokens[1:], None], strict=True):
        if token.type == "table_open":
            tables.append([])
        elif token.type == "tr_open":
            tables[-1].append([])
        elif token.type in ("th_open", "td_open") and following:
            tables[-1][-1].append(following.content)
    return tables


def html_of(text: str) -> list[str]:
    """Return all HTML in it, in blocks and in lines."""
    inline = [child for token in tokens_of(text) for child in token.children or () if child.type == "html_inline"]
    return [
        token.content.strip() for token in [*tokens_of(text), *inline] if token.type in ("html_block", "html_inline")
    ]
