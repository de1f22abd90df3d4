"""Modules that are loaded when one of their names is first used, and compiled ones without the package around them."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from threading import Lock
from types import ModuleType
from typing import Any

_LOADING = Lock()


class LaterModule:
    """Stands for a module, and loads it at the first use of an attribute."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__"):
            raise AttributeError(f"{self._name} is not loaded to look for {attribute}")
        return getattr(import_module(self._name), attribute)


def load_compiled(package: str, name: str) -> ModuleType:
    """Return a compiled module of a package without the package's own, which takes long to load.

    An empty package stands in its place meanwhile. A package that is loaded, or has no such module, is returned itself:
    it offers the same names.
    """
    with _LOADING:
        if package in sys.modules:
            return sys.modules[package]
        spec = find_spec(package)
        empty = ModuleType(package)
        empty.__path__ = list(spec.submodule_search_locations or ()) if spec else []
        sys.modules[package] = empty
        try:
            return import_module(f"{package}.{name}")
        except ImportError:
            # This version of the package has it elsewhere: the whole package is loaded below.
            pass
        finally:
            del sys.modules[package]
        return import_module(package)
