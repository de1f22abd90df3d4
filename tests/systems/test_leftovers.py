"""Runs killed on somebody else's key-value store: nothing of its owner's is lost, and what they leave is found."""

import json
from contextlib import closing
from hashlib import md5

import pytest
import redis
from pymemcache.client.base import Client

from dbdyno.conduct.clean import clean
from dbdyno.experiment.system_spec import parse_system, with_labels
from helpers import need, wait_until
from systems.killed import run, run_and_kill
from systems.load import begin, end, execute, plan_of, until_completed

RUN_AGAIN = 5000
FOREIGN = f"dbdyno:bm:{RUN_AGAIN - 2000}"
OLD_MARKER = "dbdyno:" + json.dumps({"run_id": "old", "workload": {"name": "point-get", "rows": 50, "options": {}}})


class OwnersRedis:
    """A Redis as its owner sees it."""

    def __init__(self, server):
        self.server, endpoint = server, server.endpoint
        self.url = f"redis://:{endpoint.password}@{endpoint.host}:{endpoint.port}/0"
        self.client = redis.Redis(port=endpoint.port, password=endpoint.password, decode_responses=True)

    def put(self, key, value):
        self.client.set(key, value)

    def get(self, key):
        return self.client.get(key)

    def forget(self, key):
        self.client.delete(key)

    def count(self):
        return self.client.dbsize()

    def close(self):
        self.client.close()


class OwnersMemcached:
    """A memcached as its owner sees it."""

    def __init__(self, server):
        self.server = server
        self.url = f"memcached://{server.endpoint.host}:{server.endpoint.port}"
        self.client = Client((server.endpoint.host, server.endpoint.port), default_noreply=False)

    def put(self, key, value):
        self.client.set(key, value)

    def get(self, key):
        value = self.client.get(key)
        return value.decode(errors="replace") if value is not None else None

    def forget(self, key):
        self.client.delete(key)

    def count(self):
        return self.client.stats()[b"curr_items"]

    def close(self):
        self.client.close()


OWNERS = {"redis": OwnersRedis, "memcached": OwnersMemcached}


@pytest.fixture(params=["redis", "memcached"])
def store(request, started):
    """Be on a key-value store that is somebody else's."""
    with closing(OWNERS[request.param](started(request.param))) as store:
        yield store


@pytest.fixture
def owners_redis(started):
    """Be on a Redis that is somebody else's."""
    with closing(OwnersRedis(started("redis"))) as store:
        yield store


def cleaned(store):
    """Remove what dbdyno left there."""
    (spec,) = with_labels([parse_system(store.url)])
    return clean(spec)


def in_run(store, workload, rows, **more):
    """Have the load client prepare, load and run, and return while it runs."""
    plan = plan_of(None, workload, ["prepare", "load", "run"], rows, duration_s=600, **more)
    process = begin(store.server, plan)
    until_completed(process, [])
    return process


def killed(process):
    """Kill the load client."""
    process.kill()
    end(process)


def test_a_key_outside_of_the_rows_of_a_killed_run_is_not_overwritten(store, tmp_path):
    store.put(FOREIGN, "precious")
    run_and_kill(store.url, "point-get", 100, tmp_path)
    status, err = run(store.url, "point-get", RUN_AGAIN, tmp_path)
    assert status != 0 and "dbdyno does not overwrite" in err
    assert store.get(FOREIGN) == "precious"
    cleaned(store)
    assert (store.get(FOREIGN), store.count()) == ("precious", 1)


def test_a_key_of_another_table_than_a_killed_runs_is_not_overwritten(owners_redis, tmp_path):
    owners_redis.put("dbdyno:player:1", "precious")
    run_and_kill(owners_redis.url, "point-get", 100, tmp_path)
    status, err = run(owners_redis.url, "game", 100, tmp_path)
    assert status != 0 and "dbdyno:player:*" in err
    cleaned(owners_redis)
    assert (owners_redis.get("dbdyno:player:1"), owners_redis.count()) == ("precious", 1)


def test_of_a_killed_run_with_more_rows_nothing_is_left(store, tmp_path):
    store.put("mine", "here")
    run_and_kill(store.url, "point-get", RUN_AGAIN, tmp_path)
    assert store.count() > RUN_AGAIN
    assert run(store.url, "point-get", 100, tmp_path) == (0, "")
    assert cleaned(store).removed == []
    assert (store.get("mine"), store.count()) == ("here", 1)


def test_after_a_killed_run_of_each_workload_clean_removes_all_of_them(owners_redis):
    owners_redis.put("mine", "here")
    for workload in ("point-get", "game", "insert-indexes", "point-update"):
        killed(in_run(owners_redis, workload, 300, run_id=workload))
    done = cleaned(owners_redis)
    assert len(done.removed) == len(set(done.removed)) == 4 and not done.left
    assert owners_redis.client.keys("*") == ["mine"]


def test_a_run_that_is_kept_is_removed_by_clean(store, tmp_path):
    assert run(store.url, "point-get", 100, tmp_path, ["--keep"]) == (0, "")
    assert store.count() == 101
    assert cleaned(store).removed == ["dbdyno:bm:*"]
    assert store.count() == 0


def test_a_key_that_appears_among_the_rows_of_a_killed_run_is_not_removed(store, tmp_path):
    killed(in_run(store, "point-get", 100))
    store.put("dbdyno:bm:7", "precious")
    assert execute(store.server, "point-get", ["prepare"], 100).status == 2
    assert store.get("dbdyno:bm:7") == "precious"
    assert (cleaned(store).left, store.count()) == ([], 1), "the claim was withdrawn when it was prepared"


def test_clean_tells_of_a_key_that_is_not_dbdynos(store):
    killed(in_run(store, "point-get", 100))
    store.put("dbdyno:bm:7", "precious")
    store.put("dbdyno:bm:8", "precious")
    assert cleaned(store).left == ["dbdyno:bm:7 and 1 more keys do not hold rows of dbdyno, so they are kept"]
    assert (store.get("dbdyno:bm:7"), store.get("dbdyno:bm:8"), store.count()) == ("precious", "precious", 2)


def test_a_key_of_another_type_is_neither_overwritten_nor_removed(owners_redis):
    client = owners_redis.client
    killed(in_run(owners_redis, "point-get", 100))
    client.delete("dbdyno:bm:7", "dbdyno:bm:8")
    client.hset("dbdyno:bm:7", "id", "7")
    client.rpush("dbdyno:bm:8", "a")
    assert len(cleaned(owners_redis).left) == 1
    assert (client.hgetall("dbdyno:bm:7"), client.lrange("dbdyno:bm:8", 0, -1)) == ({"id": "7"}, ["a"])
    assert owners_redis.count() == 2


@pytest.mark.parametrize("name", ["redis?layout=string", "redis?layout=hash", "memcached"])
def test_a_key_that_appears_when_rows_are_about_to_be_loaded_is_refused(started, name):
    with closing(OWNERS[name.partition("?")[0]](started(name))) as store:
        assert execute(store.server, "point-get", ["prepare"], 2000).status == 0
        store.put("dbdyno:bm:1234", "precious")
        done = execute(store.server, "point-get", ["load"], 2000)
        assert done.status == 2 and "another program wrote the key dbdyno:bm:1234" in done.of("end")[0]["reason"]
        assert store.get("dbdyno:bm:1234") == "precious"
        (left,) = [
            phase["left"] for phase in execute(store.server, "point-get", ["cleanup"]).of("phase") if "left" in phase
        ]
        assert left == ["dbdyno:bm:1234 does not hold a row of dbdyno, so it is kept"]
        assert (store.get("dbdyno:bm:1234"), store.count()) == ("precious", 1)


@pytest.mark.parametrize(
    ("name", "workload"), [("redis", "point-get"), ("redis", "point-update"), ("memcached", "point-get")]
)
def test_a_load_that_was_cut_goes_on_and_keeps_what_is_there(started, name, workload):
    server = started(name)
    assert execute(server, workload, ["prepare", "load", "run"]).status == 0
    assert execute(server, workload, ["load"]).status == 0
    done = execute(server, workload, ["run"])
    assert (done.status, done.errors()) == (0, set())


def test_clean_understands_the_marker_of_an_earlier_version(store):
    """It was one for all keys. A key that it names is removed if it holds a row."""
    killed(in_run(store, "point-get", 80))
    store.forget("dbdyno:marker")
    store.forget("dbdyno:markers")
    store.put("dbdyno:marker", OLD_MARKER)
    store.put("dbdyno:bm:7", "precious")
    assert cleaned(store).left == ["dbdyno:bm:7 does not hold a row of dbdyno, so it is kept"]
    # The marker named 50 of 80 rows; the seventh is somebody else's.
    assert (store.get("dbdyno:marker"), store.count()) == (None, 31)


def test_a_key_of_the_markers_name_that_is_not_dbdynos_stays(store):
    store.put("dbdyno:marker", "precious")
    status = execute(store.server, "point-get", ["prepare", "load", "cleanup"]).status
    assert (status, cleaned(store).removed) == (2 if "memcached" in store.url else 0, [])
    assert (store.get("dbdyno:marker"), store.count()) == ("precious", 1)


def test_markers_of_another_type_are_not_dbdynos(owners_redis):
    owners_redis.put("dbdyno:markers", "precious")
    done = execute(owners_redis.server, "point-get", ["prepare"])
    assert done.status == 2 and "dbdyno:markers is not dbdyno's" in done.of("end")[0]["reason"]
    assert (owners_redis.get("dbdyno:markers"), owners_redis.count()) == ("precious", 1)


def test_rows_without_their_marker_are_not_dbdynos_any_more(store):
    """memcached evicts markers as anything else."""
    killed(in_run(store, "point-get", 80))
    store.forget("dbdyno:marker")
    store.forget("dbdyno:markers")
    assert execute(store.server, "point-get", ["prepare"]).status == 2
    done = cleaned(store)
    assert (done.removed, store.count()) == ([], 80)
    assert ["memcached" in sentence for sentence in done.cannot_know] == [True] * ("memcached" in store.url)


@pytest.mark.parametrize(("policy", "may_be_evicted"), [("allkeys-lru", True), ("volatile-lru", False)])
def test_clean_tells_of_a_redis_that_may_have_evicted_a_marker(owners_redis, policy, may_be_evicted):
    killed(in_run(owners_redis, "point-get", 80))
    owners_redis.client.config_set("maxmemory", "1gb")
    owners_redis.client.config_set("maxmemory-policy", policy)
    owners_redis.forget("dbdyno:markers")
    done = cleaned(owners_redis)
    assert (done.removed, owners_redis.count()) == ([], 80)
    assert [policy in sentence for sentence in done.cannot_know] == [True] * may_be_evicted


@pytest.mark.parametrize("system", ["redis", "redis?layout=hash"])
def test_rows_are_removed_from_a_redis_whose_memory_is_full(started, system):
    """It refuses transactions, and its owner's writes, until they are."""
    with closing(OwnersRedis(started(system))) as full:
        full.put("mine", "precious")
        killed(in_run(full, "point-update", RUN_AGAIN))
        full.put(FOREIGN, "precious")
        full.client.config_set("maxmemory", "100kb")
        with pytest.raises(redis.OutOfMemoryError):
            full.put("more", "refused")
        done = cleaned(full)
        assert done.left == [f"{FOREIGN} does not hold a row of dbdyno, so it is kept"]
        assert (full.get("mine"), full.get(FOREIGN), full.count()) == ("precious", "precious", 2)


def test_of_two_runs_at_once_each_removes_its_own(store):
    """With other tables neither disturbs the other. With the same the later run has them, and alone removes them."""
    first = in_run(store, "point-get", 500, run_id="first")
    assert execute(store.server, "durability", ["prepare", "load"], 400, run_id="second").status == 0
    assert execute(store.server, "durability", ["cleanup"], 400, run_id="second").status == 0
    assert store.count() == 501
    assert execute(store.server, "point-get", ["prepare", "load"], 100, run_id="third").status == 0
    killed(first)
    assert execute(store.server, "point-get", ["cleanup"], 500, run_id="first").status == 0
    assert store.count() == 101
    assert execute(store.server, "point-get", ["run", "verify", "cleanup"], 100, run_id="third").errors() == set()
    assert store.count() == 0


def test_a_marker_without_rows_does_no_harm(store):
    """As a run leaves it that is killed between the marker and the first row."""
    assert execute(store.server, "point-get", ["prepare"], 100).status == 0
    assert store.count() == 1
    store.put("dbdyno:bm:7", "precious")
    assert cleaned(store).left == ["dbdyno:bm:7 does not hold a row of dbdyno, so it is kept"]
    assert (store.get("dbdyno:bm:7"), store.count()) == ("precious", 1)


@pytest.mark.parametrize("after_rows", [1, 20_000, 60_000])
def test_a_load_that_is_killed_leaves_what_its_marker_names(store, after_rows):
    process = begin(store.server, plan_of(None, "point-get", ["prepare", "load"], 100_000))
    wait_until(lambda: store.count() > after_rows)
    killed(process)
    assert cleaned(store).removed == ["dbdyno:bm:*"]
    assert store.count() == 0


def test_a_cache_that_is_somebody_elses_is_left_as_it_was(store, tmp_path):
    """Its keys are filled while a trial runs; they are claimed before."""
    need("mariadb")
    store.put("mine", "here")
    arrangement = f"cache-aside({store.url}, mariadb)"
    run_and_kill(arrangement, "point-get", 300, tmp_path)
    assert store.count() > 2
    assert run(arrangement, "point-get", 100, tmp_path) == (0, "")
    assert cleaned(store).removed == []
    assert (store.get("mine"), store.count()) == ("here", 1)
    store.put("dbdyno:bm:3", "precious")
    status, err = run(arrangement, "point-get", 100, tmp_path)
    assert status != 0 and "dbdyno:bm:*" in err
    assert store.get("dbdyno:bm:3") == "precious"


def test_a_pool_of_somebody_elses_nodes_is_left_as_it_was(store, tmp_path):
    """Results have keys that cannot be listed; a claim says which there may be."""
    need("mariadb")
    store.put("mine", "here")
    pool = f"result-cache({store.url}, mariadb)"
    run_and_kill(pool, "point-get", 300, tmp_path)
    assert store.count() > 2
    assert cleaned(store).removed == ["dbdyno:result:*"]
    assert (store.get("mine"), store.count()) == ("here", 1)
    sums = ["--set", "options.rows_per_result=10"]
    run_and_kill(pool, "result-cache", 300, tmp_path / "more")
    assert run(pool, "result-cache", 300, tmp_path, sums) == (0, "")
    assert (cleaned(store).removed, store.get("mine"), store.count()) == ([], "here", 1)


def test_a_result_that_is_not_dbdynos_is_neither_overwritten_nor_removed(store, tmp_path):
    need("mariadb")
    text = "SELECT id, k, c, pad FROM dbdyno_bm WHERE id = 3"
    key = f"dbdyno:result:{md5(text.encode()).hexdigest()}"
    pool = f"result-cache({store.url}, mariadb)"
    run_and_kill(pool, "point-get", 100, tmp_path)
    store.put(key, "precious")
    assert cleaned(store).left == [f"{key} does not hold a result of dbdyno, so it is kept"]
    status, err = run(pool, "point-get", 100, tmp_path)
    assert status != 0 and "keys dbdyno:result:* exist without dbdyno's marker" in err
    assert (store.get(key), store.count()) == ("precious", 1)
