"""The data directory's disk by fio, which people know: the same two questions as storage.py asks."""

import json
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from dbdyno.observe.gauges.storage import BLOCK_BYTES, FILE_BYTES

TIMEOUT_S = 60.0
"""Beyond its own time: laying out the file."""


def is_installed() -> bool:
    """Whether there is a fio to ask."""
    return shutil.which("fio") is not None


def measure_by_fio(directory: Path, seconds: float) -> dict[str, Any]:
    """Return what `measure_storage` does, by fio. Raises OSError if it cannot do it, in its own words.

    `flush_us` is of the flush alone here: fio counts the write before it apart.
    """
    with tempfile.TemporaryDirectory(dir=directory, prefix="dbdyno-fio-") as folder:
        read = _run(folder, seconds, "--rw=randread", "--direct=1")["read"]["clat_ns"]
        flushed = _run(folder, seconds, "--rw=randwrite", "--fdatasync=1")["sync"]["lat_ns"]
    return {"by": "fio", "direct": True, "read_us": _spread_us(read), "flush_us": _spread_us(flushed)}


def _run(folder: str, seconds: float, *options: str) -> dict[str, Any]:
    """Run one job and return what fio says of it."""
    size = [f"--bs={BLOCK_BYTES}", f"--size={FILE_BYTES}", f"--runtime={max(1, round(seconds))}", "--time_based"]
    common = ["--name=dbdyno", "--filename=data", f"--directory={folder}", "--ioengine=psync", "--output-format=json"]
    try:
        done = subprocess.run(
            ["fio", *common, *size, *options],
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S + seconds,
            cwd=folder,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise OSError(f"fio {options[0]} was not done after {TIMEOUT_S + seconds:.0f} s") from None
    if done.returncode:
        raise OSError(f"fio {options[0]}: {(done.stderr or done.stdout).strip().splitlines()[-1]}")
    # A note, for instance of a clock it does not trust, may stand before the document.
    return json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0]


def _spread_us(times_ns: dict[str, Any]) -> dict[str, float]:
    percentile = times_ns["percentile"]
    return {
        "count": times_ns["N"],
        "p50": percentile["50.000000"] / 1000,
        "p99": percentile["99.000000"] / 1000,
        "max": times_ns["max"] / 1000,
    }
