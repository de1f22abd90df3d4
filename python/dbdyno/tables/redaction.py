"""Passwords taken out of the texts of a table: of URLs, and of settings that are named like a secret."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any

from dbdyno.experiment.redact import REDACTED, redact

_SECRET_NAME = r"[\w.-]*(?:pass|passwd|password|passphrase|pwd|token|auth|secret|access_key)"
_SECRET_SETTING = re.compile(rf"\b({_SECRET_NAME}\s*[=:]\s*)[^\s,;&]+", re.IGNORECASE)


def redacted(texts: Sequence[Any]) -> Sequence[Any]:
    """Return texts without passwords; `None` stays."""
    return [None if text is None else redacted_text(str(text)) for text in texts]


# Most texts of a table are the same few, in thousands of rows.
@cache
def redacted_text(text: str) -> str:
    """Return one text without passwords."""
    return _SECRET_SETTING.sub(rf"\1{REDACTED}", redact(text))


def redacted_setting(name: str, value: Any) -> str:
    """Return a setting as `name=value`; all of the value of one that is named like a secret is taken out."""
    return f"{name}={REDACTED if _is_secret(name) else value}"


def redacted_document(value: Any) -> Any:
    """Return JSON values without passwords; names of keys are texts too, as a label may be one."""
    if isinstance(value, Mapping):
        return {
            redacted_text(str(key)): REDACTED
            if isinstance(inner, str) and _is_secret(str(key))
            else redacted_document(inner)
            for key, inner in value.items()
        }
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{field.name: _redacted_field(getattr(value, field.name)) for field in fields(value)})
    if isinstance(value, list | tuple):
        return [redacted_document(inner) for inner in value]
    return redacted_text(value) if isinstance(value, str) else value


def _redacted_field(value: Any) -> Any:
    redacted = redacted_document(value)
    return tuple(redacted) if isinstance(value, tuple) else redacted


def _is_secret(name: str) -> bool:
    return re.fullmatch(_SECRET_NAME, name, re.IGNORECASE) is not None
