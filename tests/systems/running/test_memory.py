"""A process that may take little more memory gets an error when it wants more."""

import subprocess
import sys

PROGRAM = """
from dbdyno.systems.running.memory import limit_memory
limit_memory(32 << 20)
held = [bytes(1 << 20) for _ in range(16)]
try:
    held += [bytes(1 << 20) for _ in range(64)]
except MemoryError:
    print("bounded")
"""


def test_more_memory_is_refused():
    ended = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert ended.stdout == "bounded\n"
