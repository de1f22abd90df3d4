"""Plans and records against docs/contract.schema.json."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

DOCS = Path(__file__).parent.parent / "docs"
SCHEMA = json.loads((DOCS / "contract.schema.json").read_text())
VALIDATORS = {
    what: Draft202012Validator({"$ref": f"#/$defs/{what}", "$defs": SCHEMA["$defs"]}) for what in ("plan", "record")
}


def wrong_in(what: str, document: Any) -> list[str]:
    """Return how a document is not what the contract has: `what` is `plan` or `record`."""
    return [f"{error.json_path}: {error.message}" for error in VALIDATORS[what].iter_errors(document)]


def assert_documents(documents: Iterable[tuple[str, Any]]) -> None:
    """Assert that plans and records, each after its kind, are as the contract has them."""
    wrong = [
        f"{document.get('record', what)} {error}" for what, document in documents for error in wrong_in(what, document)
    ]
    assert not wrong, wrong[:10]
