"""A cache in front of a store, each by way of its own library."""

import pytest

from dbdyno.load_python.driver import find_driver
from dbdyno.load_python.failure import Failure
from load_python.conftest import ROWS
from load_python.libraries.checks import GAME

READ, STORE, FIND = range(3)
CACHES = [("memcached", "pymemcache"), ("redis", "redis-py")]


@pytest.mark.parametrize(("cache", "library"), CACHES)
def test_it_reads_the_cache_first_and_forgets_what_was_written(loaded, cache, library):
    store = loaded(f"cache-aside({cache}, mariadb)", "game")
    session = find_driver(store.plan("pymysql", cache_library=library), GAME).open()
    player, account = GAME.tables
    email = account.columns[1].value(7, 0)
    for is_hit in (False, True):
        assert session.get(READ, 7) == player.generate(7, 0) and session.is_hit is is_hit
        assert session.find(FIND, email) == account.generate(7, 0) and session.is_hit is is_hit
    assert session.update(STORE, 7, 1)
    for is_hit in (False, True):
        assert session.get(READ, 7) == player.generate(7, 1) and session.is_hit is is_hit
    assert session.get(READ, ROWS + 1) is None and session.is_hit is False
    assert session.count(player, ROWS) == ROWS
    session.close()


@pytest.mark.parametrize(("cache", "library"), CACHES)
def test_a_cache_that_is_gone_is_a_failure(loaded, cache, library):
    store = loaded(f"cache-aside({cache}, mariadb)", "game")
    driver = find_driver(store.plan("pymysql", cache_library=library), GAME)
    session = driver.open()
    assert session.get(READ, 7)
    store.system.cache.stop()
    for ask in (lambda: session.get(READ, 7), lambda: session.update(STORE, 7, 1)):
        with pytest.raises(Failure) as lost:
            ask()
        assert lost.value.kind == "connection"
    session.close()
    with pytest.raises(Failure) as refused:
        driver.open()
    assert refused.value.kind == "connect"
