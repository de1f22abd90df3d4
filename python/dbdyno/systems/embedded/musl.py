"""The names of libraries on systems of musl, such as Alpine.

`ctypes.util.find_library` asks glibc's cache, a compiler or a linker. On musl it finds nothing without these, and on a
host with both C libraries it finds glibc's.
"""

import os
import platform
import sysconfig
from collections.abc import Iterable
from pathlib import Path


def is_musl() -> bool:
    """Return whether this Python, and so the load client beside it, is linked to musl."""
    return str(sysconfig.get_config_var("SOABI")).endswith("-musl")


def library_folders(etc: Path = Path("/etc")) -> list[Path]:
    """Return where musl's loader looks, in its order (musl, `ldso/dynlink.c`)."""
    configured = etc / f"ld-musl-{platform.machine()}.path"
    listed = configured.read_text() if configured.exists() else "/lib:/usr/local/lib:/usr/lib"
    own = os.environ.get("LD_LIBRARY_PATH", "")
    return [Path(folder) for folder in f"{own}:{listed}".replace("\n", ":").split(":") if folder]


def find_in(folders: Iterable[Path], library: str) -> str | None:
    """Return a library's name without a version (`librocksdb.so`), else one with it, or None if no folder has it."""
    for folder in folders:
        for pattern in (f"lib{library}.so", f"lib{library}.so.[0-9]*"):
            if names := sorted(file.name for file in folder.glob(pattern)):
                return names[0]
    return None
