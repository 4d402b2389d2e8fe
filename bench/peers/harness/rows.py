"""The rows of the table, what a cell can hold, and how cells are compared.

A cell is what a measurement came to, in the names of `noetl bench`: {"p50_ms": 1.5}, {"per_s": 2400}, {"ms": 17.6}, {"s": 0.05};
or why there is no number: {"over_s": 120}, {"failed": "…"}, {"absent": "…"}.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    workload: str
    title: str
    measure: str
    unit: str
    is_rate: bool = False
    is_long: bool = False


ROWS = [
    Row("one_step", "One step, p50", "p50_ms", "ms"),
    Row("throughput_16", "One step, 16 at a time", "per_s", "/s", is_rate=True),
    Row("throughput_64", "One step, 64 at a time", "per_s", "/s", is_rate=True),
    Row("chain_40", "40 steps in a row", "ms", "ms"),
    Row("loop_1000", "1,000 steps at once", "s", "s"),
    Row("loop_10000", "10,000 steps at once", "s", "s", is_long=True),
    Row("nested_10x1000", "10 × 1,000 steps in sub-executions", "s", "s", is_long=True),
    Row("python_40", "40 Python steps in a row", "ms", "ms"),
]


def value(row, cell):
    """The number of the cell, if it has one."""
    return (cell or {}).get(row.measure)


def best(row, first, second):
    """The better of two measurements of the same; one that ended is better than one that did not."""
    numbers = [value(row, first), value(row, second)]
    if None in numbers:
        return first if numbers[0] is not None else second
    is_first = numbers[0] >= numbers[1] if row.is_rate else numbers[0] <= numbers[1]
    return first if is_first else second


def ratio(row, ours, theirs):
    """How many times longer theirs takes, or how many times fewer it does in a second. What did not end within its limit gives
    the least that it can be, as the second of the pair says."""
    mine, other = value(row, ours), value(row, theirs)
    if mine is None or mine <= 0:
        return None
    if other is None:
        limit = (theirs or {}).get("over_s")
        in_unit = {"ms": 1e3, "s": 1.0}.get(row.unit)
        if limit is None or in_unit is None:
            return None
        return limit * in_unit / mine, True
    if other <= 0:
        return None
    return (mine / other if row.is_rate else other / mine), False
