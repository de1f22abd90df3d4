"""Tasks that belong together: what ends one of them ends all."""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Any


@asynccontextmanager
async def together(*work: Coroutine[Any, Any, None]) -> AsyncIterator[list[asyncio.Task[None]]]:
    """Yield a task for each piece of work; those that still run at the end are cancelled."""
    tasks = [asyncio.create_task(piece) for piece in work]
    try:
        yield tasks
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def until_one_ends(tasks: Sequence[asyncio.Task[None]]) -> None:
    """Wait until a task ends; raises what those that have ended raised."""
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    await raised(tasks)


async def raised(tasks: Sequence[asyncio.Task[None]]) -> None:
    """Raise what the tasks that have ended raised."""
    for task in tasks:
        if task.done():
            await task
