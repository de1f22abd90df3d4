"""Student's t distribution, by scipy. It is loaded by the first use: a run of single trials needs none of it."""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from threading import Lock
from types import ModuleType
from typing import Any

_PACKAGE = "scipy.special"
_LOADING = Lock()


def probability_below(t: float, freedom: float) -> float:
    """Return the probability that Student's t with so many degrees of freedom is less than `t`."""
    return float(_functions().stdtr(freedom, t))


def quantile(probability: float, freedom: float) -> float:
    """Return the value that Student's t with so many degrees of freedom is less than with this probability."""
    return float(_functions().stdtrit(freedom, probability))


def _functions() -> Any:
    with _LOADING:
        return _loaded()


@cache
def _loaded() -> Any:
    """Return scipy's special functions, without their package if that is not loaded yet.

    The package also loads numpy's f2py, testing and masked arrays, which takes 0.2 s of processor time. An empty
    package stands in its place while the compiled functions load. A scipy that has them elsewhere is loaded whole.
    """
    if _PACKAGE in sys.modules:
        return sys.modules[_PACKAGE]
    import scipy  # noqa: PLC0415

    package = ModuleType(_PACKAGE)
    package.__path__ = [str(Path(folder, "special")) for folder in scipy.__path__]
    sys.modules[_PACKAGE] = package
    try:
        compiled = import_module(f"{_PACKAGE}._ufuncs")
    except ImportError:
        compiled = None
    finally:
        del sys.modules[_PACKAGE]
    return compiled or import_module(_PACKAGE)
