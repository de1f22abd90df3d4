"""The CPU time of a server's thread is known if the server is on this host."""

import os
import subprocess
import threading
import time

from dbdyno.observe.answering import AnsweringThread
from helpers import wait_until


def test_a_thread_and_a_child_of_the_server():
    answering = AnsweringThread(os.getpid())
    seen_s = answering.cpu_s(threading.get_native_id())
    until = time.thread_time() + 0.02
    while time.thread_time() < until:
        pass
    assert 0.019 < answering.cpu_s(threading.get_native_id()) - seen_s < 1
    with subprocess.Popen(["sleep", "60"]) as child:
        assert 0 < wait_until(lambda: answering.cpu_s(child.pid)) < 1
        child.kill()
    assert answering.cpu_s(child.pid) is None
    answering.close()


def test_what_is_not_of_the_server_or_not_said_is_not_known():
    assert AnsweringThread(os.getpid()).cpu_s(os.getppid()) is None
    assert AnsweringThread(os.getpid()).cpu_s(None) is None
    assert AnsweringThread(None).cpu_s(os.getpid()) is None
