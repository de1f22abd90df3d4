"""Tasks that belong together end together, and a failure of one is raised."""

import asyncio

import pytest

from dbdyno.hosts.tasks import raised, together, until_one_ends


async def fails():
    raise OSError("gone")


def test_the_end_of_one_ends_all():
    cancelled = []

    async def waits():
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    async def run():
        async with together(waits(), fails()) as tasks:
            await until_one_ends(tasks)

    with pytest.raises(OSError, match="gone"):
        asyncio.run(run())
    assert cancelled == [True]


def test_a_task_that_still_runs_raises_nothing():
    async def run():
        async with together(asyncio.Event().wait(), asyncio.sleep(0)) as tasks:
            await until_one_ends(tasks)
            await raised(tasks)
            return [task.done() for task in tasks]

    assert asyncio.run(run()) == [False, True]
