"""The client of Restate, over the HTTP of its ingress, and the Python steps of `python_40`, served by its Python SDK.

    with_restate.py serve PORT
    with_restate.py measure WORKLOAD …      with RESTATE_INGRESS_URL in the environment
"""

import asyncio
import contextlib
import os
import sys

import measuring

CALLS = {
    "one_step": ("bench/chain", {"steps": 1}),
    "throughput_16": ("bench/chain", {"steps": 1}),
    "throughput_64": ("bench/chain", {"steps": 1}),
    "chain_40": ("bench/chain", {"steps": 40}),
    "loop_1000": ("bench/loop", {"items": 1_000}),
    "loop_10000": ("bench/loop", {"items": 10_000}),
    "nested_10x1000": ("bench/nested", {"loops": 10, "items": 1_000}),
    "python_40": ("bench_python/chain", {"steps": 40}),
}


class Client:
    def __init__(self, session):
        self.session = session

    async def run(self, workload):
        path, body = CALLS[workload]
        async with self.session.post(f"{os.environ['RESTATE_INGRESS_URL']}/{path}", json=body) as answer:
            text = await answer.text()
            if answer.status != 200:
                raise RuntimeError(f"status {answer.status}: {text[:200]}")


@contextlib.asynccontextmanager
async def open_client():
    import aiohttp

    connections = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connections, timeout=aiohttp.ClientTimeout(total=None)) as session:
        yield Client(session)


def serve(port):
    import hypercorn.asyncio
    import hypercorn.config
    import restate

    service = restate.Service("bench_python")

    @service.handler()
    async def chain(ctx: restate.Context, request: dict) -> dict:
        last = {}
        for n in range(request["steps"]):
            last = await ctx.run_typed(f"s{n}", lambda n=n: {"n": n})
        return last

    config = hypercorn.config.Config()
    config.bind = [f"127.0.0.1:{port}"]
    asyncio.run(hypercorn.asyncio.serve(restate.app([service]), config))


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(int(sys.argv[2]))
    else:
        measuring.main(open_client, sys.argv[2:])
