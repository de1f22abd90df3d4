"""Causes between client and server: a longer way, a narrower link."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path

from .causes import end_with
from .stage import CannotInject, Cause, Stage

RELAY = Path(__file__).with_name("relay.py")
NEW_NETWORK = 0x40000000
"""CLONE_NEWNET of the kernel's sched.h; Python has it from 3.12 on."""


def far_away(delay_ms: float) -> Cause:
    """Put a way of `delay_ms` in either direction before the server that is attached to."""

    def cause(stage: Stage) -> None:
        port = stage.server.endpoint.port
        argv = [sys.executable, "-I", str(RELAY), str(port), str(delay_ms)]
        relay = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        end_with(stage, relay)
        stage.url = stage.url.replace(f":{port}/", f":{relay.stdout.readline().strip()}/")

    return cause


def shaped_link(rate: str) -> Cause:
    """Run everything in a network namespace whose loopback carries no more than `rate`, as tc writes it.

    The load client's ceiling is measured over the same link.
    """

    def cause(stage: Stage) -> None:
        before = os.open("/proc/self/ns/net", os.O_RDONLY)
        stage.stack.callback(os.close, before)
        _call("unshare", NEW_NETWORK)
        stage.stack.callback(_call, "setns", before, NEW_NETWORK)
        shape = ["tc", "qdisc", "add", "dev", "lo", "root", "tbf", "rate", rate, "burst", "128k", "latency", "50ms"]
        for command in (["ip", "link", "set", "lo", "up"], shape):
            try:
                subprocess.run(command, check=True, capture_output=True, text=True)
            except FileNotFoundError:
                raise CannotInject(f"{command[0]} is not installed: apt install iproute2") from None
            except subprocess.CalledProcessError as error:
                raise CannotInject(f"{' '.join(command)}: {error.stderr.strip()}") from None

    return cause


def _call(function: str, *arguments: int) -> None:
    """Call a function of the C library for this thread and all that it starts."""
    library = ctypes.CDLL(None, use_errno=True)
    if getattr(library, function)(*arguments):
        raise CannotInject(f"{function}: {os.strerror(ctypes.get_errno())}")
