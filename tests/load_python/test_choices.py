"""The choices are those of the native client."""

import threading

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from dbdyno.load_python.choices import Choices, mix
from load_python.conftest import ROWS


def test_mix_is_splitmix64s():
    # The first output of splitmix64 from state 0, as its authors publish it.
    assert mix(0x9E3779B97F4A7C15) == 0xE220A8397B1DCDAF


def test_the_same_seed_client_and_step_choose_the_same_and_others_do_not():
    given = [(1, 2, 4, 3), (1, 2, 4, 3), (2, 2, 4, 3), (1, 3, 4, 3), (1, 2, 4, 4)]
    chosen = [Choices(*seed_parts).next_u64() for seed_parts in given]
    assert chosen[0] == chosen[1] and len(set(chosen)) == 4


def test_the_native_client_asks_for_the_same_keys_in_the_same_order(loaded):
    store = loaded("redis", "point-get")
    endpoint = store.endpoint()
    server = redis.Redis(
        port=endpoint.port, password=endpoint.password, retry=Retry(NoBackoff(), 0), decode_responses=True
    )
    asked = []
    with server.monitor() as monitor:
        listening = iter(monitor.listen())
        native = threading.Thread(target=store.native, args=("run",))
        native.start()
        while len(asked) < 40:
            command = next(listening)["command"]
            if command.startswith("GET dbdyno:bm:"):
                asked.append(int(command.rpartition(":")[2]))
    native.join()
    assert asked == [Choices(7, 0, 1, step).key(ROWS) for step in range(40)]
