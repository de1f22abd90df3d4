"""The types of `profile.json` have the keys that are written."""

from collections import Counter

from dbdyno.conduct.profile import not_recorded
from dbdyno.observe.stacks.fold import Folded
from dbdyno.observe.stacks.permission import ON_CPU
from dbdyno.observe.stacks.window import _write
from dbdyno.results.profile import NotRecordedStated, StacksStated, is_profiled, read_profile
from dbdyno.results.write import write_profile

from .typed import differing_keys


def test_stacks_have_the_keys_of_their_type(tmp_path):
    folded = Folded(Counter({"main;work": 5}), samples=Counter({ON_CPU: 1}))
    stacks = _write(tmp_path / "server-on-cpu.folded", folded, ON_CPU, {})
    assert list(differing_keys(StacksStated, stacks)) == []
    assert list(differing_keys(NotRecordedStated, not_recorded({"load": "it broke"})[0])) == []


def test_a_profile_that_is_written_is_read(tmp_path):
    assert not is_profiled(tmp_path)
    stated = {"seconds": 5, "begun_unix_s": None, "transactions_per_s": None, "stacks": {}, "counters": {}}
    stated |= {"not_seen": []}
    write_profile(tmp_path, stated)
    assert is_profiled(tmp_path) and read_profile(tmp_path) == stated
