"""The Java machine that Cassandra runs in: which one, its heap, and the options that Cassandra's own files give it."""

import os
import re
import subprocess
from functools import cache
from pathlib import Path

from dbdyno.systems.running.process import find_program

VERSIONS = (11, 17)
"""Major versions of Java that Cassandra 5.0 runs on."""
_GET = "apt install openjdk-17-jre-headless"
_MIB = 1 << 20
_EXPORTS = (
    "java.base/jdk.internal.misc",
    "java.management.rmi/com.sun.jmx.remote.internal.rmi",
    "java.rmi/sun.rmi.registry",
    "java.rmi/sun.rmi.server",
    "java.sql/java.sql",
    "java.base/java.lang.ref",
    "jdk.unsupported/sun.misc",
)
_OPENS = (
    "java.base/java.lang.module",
    "java.base/jdk.internal.loader",
    "java.base/jdk.internal.ref",
    "java.base/jdk.internal.reflect",
    "java.base/jdk.internal.math",
    "java.base/jdk.internal.module",
    "java.base/jdk.internal.util.jar",
    "jdk.management/com.sun.management.internal",
    "java.base/sun.nio.ch",
    "java.base/java.io",
    "java.base/java.lang",
    "java.base/java.lang.reflect",
    "java.base/java.util",
    "java.base/java.nio",
)
OPTIONS = (
    "-XX:+UseG1GC",
    "-XX:+ParallelRefProcEnabled",
    "-XX:MaxTenuringThreshold=1",
    "-XX:G1HeapRegionSize=16m",
    "-XX:G1RSetUpdatingPauseTimePercent=5",
    "-XX:MaxGCPauseMillis=300",
    "-XX:InitiatingHeapOccupancyPercent=70",
    "-XX:+AlwaysPreTouch",
    # Else it keeps a file in the host's temporary directory, and writing there can stall it.
    "-XX:+PerfDisableSharedMem",
    "-Djava.net.preferIPv4Stack=true",
    "-Djdk.attach.allowAttachSelf=true",
    "-Djava.security.manager=allow",
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Dio.netty.allocator.useCacheForAllThreads=true",
    "-Dio.netty.allocator.maxOrder=11",
    *(word for name in _EXPORTS for word in ("--add-exports", f"{name}=ALL-UNNAMED")),
    *(word for name in _OPENS for word in ("--add-opens", f"{name}=ALL-UNNAMED")),
)
"""As conf/jvm-server.options and conf/jvm17-server.options of Cassandra have them."""


def java() -> str | None:
    """Return the path of the program: that of JAVA_HOME, else the host's; None if there is none."""
    home = os.environ.get("JAVA_HOME")
    if home and (program := Path(home) / "bin" / "java").is_file():
        return str(program)
    return find_program("java")


def missing_java() -> str | None:
    """Return what is wrong with the host's Java and how to get another, or None if it will do."""
    program = java()
    if program is None:
        return f"java is not installed: {_GET}"
    version = java_version(program)
    if version in VERSIONS:
        return None
    known = " or ".join(map(str, VERSIONS))
    return f"{program} is Java {version}, and Cassandra needs {known}: {_GET}, or set JAVA_HOME to one"


@cache
def java_version(program: str) -> int:
    """Return the major version of a Java, as its file `release` or else the program itself says; 0 if neither does."""
    # A Java takes about 60 ms of processor time to say it, and every list of systems asks.
    said = _release(program) or _asked(program)
    match = re.search(r'(?:version |^JAVA_VERSION=)"(?:1\.)?(\d+)', said, re.MULTILINE)
    return int(match[1]) if match else 0


def _asked(program: str) -> str:
    """Return the description that a Java gives of itself."""
    return subprocess.run([program, "-version"], capture_output=True, text=True, check=False).stderr


def _release(program: str) -> str:
    """Return the file `release` of a Java's folder; empty if there is none, as of a script that chooses a Java."""
    try:
        return (Path(program).resolve().parent.parent / "release").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def heap_mib(memory_bytes: int) -> int:
    """Return the heap that Cassandra takes by itself on a host of so much memory (conf/cassandra-env.sh)."""
    memory = memory_bytes // _MIB
    return max(min(memory // 2, 1024), min(memory // 4, 8192))
