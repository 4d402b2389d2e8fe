"""The workloads on DBOS: an application with its library, asked over HTTP as its own first example is. A step is a
`DBOS.step`, whose result is in the database before the next one begins.

    with_dbos.py serve PORT FOLDER
    with_dbos.py measure WORKLOAD …         with DBOS_APPLICATION_URL in the environment
"""

import asyncio
import contextlib
import os
import sys

import measuring

# Each step under way holds a connection to the database, of which the library opens so many; others wait, and fail after 30 s.
AT_A_TIME = 20

PATHS = {
    "one_step": "chain/1",
    "throughput_16": "chain/1",
    "throughput_64": "chain/1",
    "chain_40": "chain/40",
    "python_40": "chain/40",
    "loop_1000": "loop/1000",
    "loop_10000": "loop/10000",
    "nested_10x1000": "nested/10",
}


class Client:
    def __init__(self, session):
        self.session = session

    async def run(self, workload):
        async with self.session.post(f"{os.environ['DBOS_APPLICATION_URL']}/{PATHS[workload]}") as answer:
            text = await answer.text()
            if answer.status != 200:
                raise RuntimeError(f"status {answer.status}: {text[:200]}")


@contextlib.asynccontextmanager
async def open_client():
    import aiohttp

    connections = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connections, timeout=aiohttp.ClientTimeout(total=None)) as session:
        yield Client(session)


def serve(port, folder):
    import uvicorn
    from dbos import DBOS
    from fastapi import FastAPI

    app = FastAPI()
    # The system database is what the library takes when none is named: SQLite.
    DBOS(config={
        "name": "bench",
        "system_database_url": f"sqlite:///{folder}/bench.sqlite",
        "log_level": "ERROR",
        "enable_otlp": False,
    })

    # In the chain everything is synchronous, which the library runs with fewer changes of thread than `async`.
    @DBOS.step()
    def step(n: int) -> dict:
        return {"n": n}

    @DBOS.step()
    async def item(n: int) -> int:
        return n

    @app.post("/chain/{steps}")
    @DBOS.workflow()
    def chain(steps: int) -> dict:
        last = {}
        for n in range(steps):
            last = step(n)
        return last

    @DBOS.workflow()
    async def loop(items: int) -> int:
        ended = []
        for first in range(0, items, AT_A_TIME):
            ended += await asyncio.gather(*(item(n) for n in range(first, min(first + AT_A_TIME, items))))
        return len(ended)

    @DBOS.workflow()
    async def nested(loops: int) -> int:
        handles = [await DBOS.start_workflow_async(loop, 1_000) for _ in range(loops)]
        return sum([await handle.get_result() for handle in handles])

    @app.post("/loop/{items}")
    async def start_loop(items: int) -> int:
        return await loop(items)

    @app.post("/nested/{loops}")
    async def start_nested(loops: int) -> int:
        return await nested(loops)

    DBOS.launch()
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="error", access_log=False)


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(int(sys.argv[2]), sys.argv[3])
    else:
        measuring.main(open_client, sys.argv[2:])
