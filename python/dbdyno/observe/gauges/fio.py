"""The data directory's disk by fio, which people know: the same two questions as storage.py asks."""

import shutil
import subprocess
import tempfile
from pathlib import Path

from dbdyno.observe.gauges.spread import spread_us
from dbdyno.observe.gauges.storage import BLOCK_BYTES, FILE_BYTES
from dbdyno.results.environment import MeasuredDisk, MeasuredTimes

TIMEOUT_S = 60.0
"""Beyond its own time: laying out the file."""


def is_installed() -> bool:
    """Return whether there is a fio to ask."""
    return shutil.which("fio") is not None


def measure_by_fio(directory: Path, seconds: float) -> MeasuredDisk:
    """Return what `measure_storage` does, by fio. Raises OSError if it cannot do it, in its own words."""
    with tempfile.TemporaryDirectory(dir=directory, prefix="dbdyno-fio-") as folder:
        read = _run(folder, seconds, "--rw=randread", "--direct=1")
        # --fdatasync=1 would be the same, but of a flush apart from its write fio writes down no single times.
        flushed = _run(folder, seconds, "--rw=randwrite", "--sync=dsync")
    return {"by": "fio", "direct": True, "read_us": read, "flush_us": flushed}


def _run(folder: str, seconds: float, *options: str) -> MeasuredTimes:
    """Run one job and return the times of what it did, by the log that fio writes of them."""
    size = [f"--bs={BLOCK_BYTES}", f"--size={FILE_BYTES}", f"--runtime={max(1, round(seconds))}", "--time_based"]
    common = ["--name=dbdyno", "--filename=data", f"--directory={folder}", "--ioengine=psync", "--write_lat_log=times"]
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
    # A line for each: at which millisecond it was done, how many nanoseconds it took, and three more figures.
    lines = (Path(folder) / "times_clat.1.log").read_text().splitlines()
    done_ms, times_ns = zip(*(map(int, line.split(",")[:2]) for line in lines), strict=True)
    return spread_us(times_ns, [at_ms * 1_000_000 for at_ms in done_ms])
