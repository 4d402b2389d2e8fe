"""Measures an engine as `noetl bench` measures NoETL: the same warm-up, the same rounds, the same median.

A program gives `main` a way to open a client; the client has `run(workload)`, which starts one execution, waits for its
result and raises when it failed. One line of JSON on standard output says what came of it.
"""

import argparse
import asyncio
import json
import os
import sys
import time

AT_A_TIME = {"throughput_16": 16, "throughput_64": 64}
IN_SECONDS = {"loop_1000", "loop_10000", "nested_10x1000"}


def main(open_client, arguments):
    """`open_client` is an async context manager that gives a client."""
    parser = argparse.ArgumentParser()
    parser.add_argument("workload")
    parser.add_argument("--duration", type=float, default=5, help="seconds of one_step and of each throughput")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each longer workload")
    parser.add_argument("--limit", type=float, default=120, help="seconds that one execution may take")
    parser.add_argument("--count", type=int, help="so many one-step executions, instead of a time")
    options = parser.parse_args(arguments)
    try:
        measured = asyncio.run(_measured(open_client, options))
    except TimeoutError:
        measured = {"over_s": options.limit}
    except Exception as error:
        measured = {"failed": f"{type(error).__name__}: {error}"}
    print(json.dumps(measured))
    sys.stdout.flush()
    # Threads of a client that still wait for an execution must not hold up the end.
    os._exit(0)


async def _measured(open_client, options):
    async with open_client() as client:

        async def run():
            begun = time.perf_counter()
            await asyncio.wait_for(client.run(options.workload), options.limit)
            return time.perf_counter() - begun

        if options.workload in AT_A_TIME:
            return await _throughput(run, AT_A_TIME[options.workload], options.duration)
        if options.workload == "one_step":
            return await _one_after_the_other(run, options)
        seconds = await _rounds(run, options)
        return {"s": seconds} if options.workload in IN_SECONDS else {"ms": seconds * 1e3}


async def _one_after_the_other(run, options):
    await run()
    begun, times = time.perf_counter(), []
    while len(times) < options.count if options.count else time.perf_counter() - begun < options.duration or not times:
        times.append(await run())
    return {"p50_ms": percentile(times, 50) * 1e3, "p99_ms": percentile(times, 99) * 1e3}


async def _throughput(run, clients, duration):
    """As many executions under way at any time as there are clients. The executions that are under way when the time is over
    are waited for and count, as does the time that takes."""

    async def for_a_time(seconds):
        begun = time.perf_counter()

        async def one_client():
            ended = 0
            while time.perf_counter() - begun < seconds:
                await run()
                ended += 1
            return ended

        ended = sum(await asyncio.gather(*(one_client() for _ in range(clients))))
        return ended / (time.perf_counter() - begun)

    await for_a_time(duration / 10)
    processor = time.process_time()
    begun = time.perf_counter()
    per_s = await for_a_time(duration)
    return {"per_s": per_s, "client_cores": (time.process_time() - processor) / (time.perf_counter() - begun)}


async def _rounds(run, options):
    """The median of a few runs, after one that does not count; of fewer, when they would take longer than the limit."""
    begun = time.perf_counter()
    await run()
    times = [await run()]
    while len(times) < options.rounds and time.perf_counter() - begun + times[-1] < options.limit:
        times.append(await run())
    return percentile(times, 50)


def percentile(times, share):
    ordered = sorted(times)
    return ordered[min(len(ordered) * share // 100, len(ordered) - 1)]
