"""The workloads on Temporal, with its Python SDK. A step is an activity, recorded by the server when it is scheduled, begun and
completed.

    with_temporal.py serve                  the worker, with TEMPORAL_ADDRESS in the environment
    with_temporal.py measure WORKLOAD …
"""

import asyncio
import contextlib
import os
import sys
import uuid
from datetime import timedelta

from temporalio import activity, workflow

with workflow.unsafe.imports_passed_through():
    import measuring
    from temporalio.client import Client as Server
    from temporalio.worker import Worker

QUEUE = "bench"

# More than 2,000 activities may not be under way in one execution, and the documentation advises 500 at most. NoETL's loops have
# as many under way as this.
AT_A_TIME = 100


@activity.defn
async def step(n: int) -> dict:
    return {"n": n}


def _step(n):
    return workflow.execute_activity(step, n, start_to_close_timeout=timedelta(minutes=1))


@workflow.defn
class Chain:
    @workflow.run
    async def run(self, steps: int) -> dict:
        last = {}
        for n in range(steps):
            last = await _step(n)
        return last


@workflow.defn
class Loop:
    @workflow.run
    async def run(self, items: int) -> int:
        under_way = asyncio.Semaphore(AT_A_TIME)

        async def item(n):
            async with under_way:
                return await _step(n)

        return len(await asyncio.gather(*(item(n) for n in range(items))))


@workflow.defn
class Nested:
    @workflow.run
    async def run(self, loops: int) -> int:
        return sum(await asyncio.gather(*(workflow.execute_child_workflow(Loop.run, 1_000) for _ in range(loops))))


EXECUTIONS = {
    "one_step": (Chain.run, 1),
    "throughput_16": (Chain.run, 1),
    "throughput_64": (Chain.run, 1),
    "chain_40": (Chain.run, 40),
    "python_40": (Chain.run, 40),
    "loop_1000": (Loop.run, 1_000),
    "loop_10000": (Loop.run, 10_000),
    "nested_10x1000": (Nested.run, 10),
}


class Client:
    def __init__(self, server):
        self.server = server

    async def run(self, workload):
        execution, argument = EXECUTIONS[workload]
        await self.server.execute_workflow(execution, argument, id=str(uuid.uuid4()), task_queue=QUEUE)


@contextlib.asynccontextmanager
async def open_client():
    yield Client(await Server.connect(os.environ["TEMPORAL_ADDRESS"]))


async def serve():
    server = await Server.connect(os.environ["TEMPORAL_ADDRESS"])
    async with Worker(server, task_queue=QUEUE, workflows=[Chain, Loop, Nested], activities=[step]):
        print("ready", flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        asyncio.run(serve())
    else:
        measuring.main(open_client, sys.argv[2:])
