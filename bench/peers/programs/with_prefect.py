"""The workloads on Prefect. A flow runs in the process that calls it, and its server keeps what happened; a step is a task
whose result is kept, so that a flow that is run again finds it.

    with_prefect.py measure WORKLOAD …      with PREFECT_API_URL in the environment
"""

import asyncio
import contextlib
import sys

import measuring
from prefect import flow, task

# As many tasks as NoETL's loops have under way; with all at once the server does not answer in time.
AT_A_TIME = 100


@task(persist_result=True)
async def step(n: int) -> dict:
    return {"n": n}


@flow
async def chain(steps: int) -> dict:
    last = {}
    for n in range(steps):
        last = await step(n)
    return last


@flow
async def loop(items: int) -> int:
    under_way = asyncio.Semaphore(AT_A_TIME)

    async def item(n):
        async with under_way:
            return await step(n)

    return len(await asyncio.gather(*(item(n) for n in range(items))))


@flow
async def nested(loops: int) -> int:
    return sum(await asyncio.gather(*(loop(1_000) for _ in range(loops))))


FLOWS = {
    "one_step": (chain, 1),
    "throughput_16": (chain, 1),
    "throughput_64": (chain, 1),
    "chain_40": (chain, 40),
    "python_40": (chain, 40),
    "loop_1000": (loop, 1_000),
    "loop_10000": (loop, 10_000),
    "nested_10x1000": (nested, 10),
}


class Client:
    async def run(self, workload):
        called, argument = FLOWS[workload]
        await called(argument)


@contextlib.asynccontextmanager
async def open_client():
    yield Client()


if __name__ == "__main__":
    measuring.main(open_client, sys.argv[2:])
