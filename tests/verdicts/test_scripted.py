"""The scripted server's answers: a claim changes only if it is what it was."""

from .scripted import Store


def ask(store, line, value=b""):
    return store.answer(line.split(), value)


def test_a_value_is_changed_only_by_who_has_seen_the_last_one():
    store = Store()
    assert ask(store, b"add k 0 0 1", b"a") == b"STORED\r\n"
    assert ask(store, b"add k 0 0 1", b"b") == b"NOT_STORED\r\n"
    assert ask(store, b"gets k x") == b"VALUE k 0 1 1\r\na\r\nEND\r\n"
    assert ask(store, b"cas k 0 0 1 7", b"b") == b"EXISTS\r\n"
    assert ask(store, b"cas k 0 0 1 1", b"b") == b"STORED\r\n"
    assert ask(store, b"get k") == b"VALUE k 0 1\r\nb\r\nEND\r\n"


def test_a_time_that_has_passed_removes_a_key():
    store = Store()
    ask(store, b"set k 0 0 1", b"a")
    assert ask(store, b"cas k 0 -1 0 1") == b"STORED\r\n"
    assert ask(store, b"get k") == b"END\r\n"
    assert ask(store, b"cas k 0 0 1 1", b"b") == b"NOT_FOUND\r\n"
