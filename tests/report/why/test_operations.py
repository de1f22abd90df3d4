"""Operations of a transaction that take longer."""

import json

from dbdyno.report.why.operations import operations, operations_us


def test_each_operation_is_named_with_its_share_and_they_add_up(pairs):
    given = pairs()
    by_name = {operation.name: operation for operation in operations(given)}
    assert set(by_name) == {"read_player", "update_player", "find_account"}
    assert by_name["update_player"].share > 1.5 * by_name["read_player"].share
    assert 0.9 < sum(operation.share for operation in by_name.values()) < 1.1
    assert (by_name["update_player"].kind, by_name["update_player"].after[-2:]) == ("operation", "ms")


def test_times_are_those_of_a_transaction(pairs):
    trial = pairs().side(0)[0]
    assert 0.9 < sum(operations_us(trial).values()) / (4e6 / trial.recorded.throughput_per_s) < 1.1


def test_a_transaction_of_one_operation_is_that_operation(pairs):
    def keep_one(label, folder, trial):
        file = folder / "records.jsonl"
        records = [json.loads(line) for line in file.read_text().splitlines()]
        for record in records:
            if record["record"] in ("interval", "hello"):
                names = record["operations"]
                record["operations"] = names[:1] if isinstance(names, list) else {"read_player": names["read_player"]}
        file.write_text("".join(json.dumps(record) + "\n" for record in records))

    assert operations(pairs(keep_one)) == []
