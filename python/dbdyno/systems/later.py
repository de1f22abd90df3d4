"""Client libraries that are loaded when one of their names is first used: most commands ask no server."""

from importlib import import_module
from typing import Any


class LaterModule:
    """Stands for a module, and loads it at the first use of an attribute."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__"):
            raise AttributeError(f"{self._name} is not loaded to look for {attribute}")
        return getattr(import_module(self._name), attribute)
