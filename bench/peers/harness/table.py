"""Writes what was measured as one table of Markdown, and under it what each engine was and how it was set."""

from harness import rows


def number(amount):
    """Three digits that count."""
    for at_least, digits in ((100, 0), (10, 1), (1, 2), (0.1, 3)):
        if abs(amount) >= at_least:
            return f"{amount:,.{digits}f}"
    return f"{amount:.4f}"


def cell(row, ours, theirs):
    """A number with its unit and, beside NoETL's, how many times that is."""
    amount = rows.value(row, theirs)
    if amount is not None:
        text = f"{number(amount)} {row.unit}"
    elif theirs and "over_s" in theirs:
        text = f"> {theirs['over_s']:g} s"
    elif theirs and "failed" in theirs:
        text = "failed"
    else:
        return "–"
    compared = None if theirs is ours else rows.ratio(row, ours, theirs)
    if compared is None:
        return text
    times, is_least = compared
    return f"{text} ({'> ' if is_least else ''}{_times(times)}×)"


def _times(times):
    return f"{times:,.0f}" if times >= 10 else f"{times:.1f}"


def table(wanted, ours, others):
    """A line per row, a column per engine that ran."""
    engines = [ours] + [engine for engine in others if not engine.get("problem")]
    lines = ["| Work | " + " | ".join(engine["title"] for engine in engines) + " |", "|---" * (len(engines) + 1) + "|"]
    for row in wanted:
        mine = ours["rows"].get(row.workload)
        cells = [cell(row, mine, engine["rows"].get(row.workload)) for engine in engines]
        lines.append(f"| {row.title} | " + " | ".join(cells) + " |")
    return lines


def about(engine):
    """What the engine was, in a few lines."""
    if engine.get("problem"):
        return [f"- **{engine['title']}**: not measured: {engine['problem']}"]
    lines = [f"- **{engine['title']}** {engine['version']}. {engine['settings']} Durability: {engine['durability']}"]
    syncs = engine.get("syncs_per_execution")
    lines[0] += f" Syncs per one-step execution: {syncs:.1f} (counted)." if syncs is not None else " Syncs were not counted."
    lines[0] += f" Load of the machine before it: {' / '.join(f'{load:.1f}' for load in engine['load'])}."
    failed = [(name, found["failed"]) for name, found in engine["rows"].items() if found and "failed" in found]
    lines += [f"  - {name} failed: {why}" for name, why in failed]
    return lines


def document(result, wanted):
    """Everything, for people."""
    ours, others = result["noetl"], result["peers"]
    disk = result["yardsticks"]
    lines = table(wanted, ours, others)
    lines += ["", "In brackets: how many times longer than NoETL it takes, or how many times fewer executions it does in a second.", ""]
    lines += [
        f"- **The machine**: {result['cores']} cores; 4 KiB are written and synced in {number(disk['fsync_ms'])} ms; bare SQLite makes "
        f"{number(disk['sqlite_commits_per_s'])} commits of one row and {number(disk['sqlite_rows_per_s'])} rows in commits of 100 per "
        f"second. Runs: {result['repeat']}, of which each cell is the best."
    ]
    for engine in [ours, *others]:
        lines += about(engine)
    return "\n".join(lines) + "\n"
