"""Tests of what the runner decides by itself: parsing, comparing, the table, and going on without an engine. No network.

    python3 -m unittest tests               in this folder
"""

import contextlib
import sys
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent / "programs"))

import measuring  # noqa: E402
from harness import comparing, installing, noetl, processes, rows, syncs, table  # noqa: E402
from harness.engine import Engine  # noqa: E402

ROW = {row.workload: row for row in rows.ROWS}
BENCH = """{"fsync_ms": 0.11, "sqlite_commits_per_s": 5900.0, "sqlite_rows_per_s": 286000.0, "memory_mb": 60.0,
            "workloads": {"one_step": {"p50_ms": 1.5, "p99_ms": 4.5}}}"""


def load_tests(loader, standard_tests, pattern):
    """Every method of a case is a test, so that its name can be a sentence."""
    cases = [case for case in globals().values() if isinstance(case, type) and issubclass(case, unittest.TestCase)]
    return unittest.TestSuite(case(name) for case in cases for name in vars(case) if not name.startswith("_"))


def part(title, cells, **more):
    return {"title": title, "version": "1", "settings": "As it comes.", "durability": "synced.", "load": [0.5], "rows": cells, **more}


class Cells(unittest.TestCase):
    def times_compare_as_how_often_longer(self):
        self.assertEqual(rows.ratio(ROW["one_step"], {"p50_ms": 2.0}, {"p50_ms": 5.0}), (2.5, False))

    def rates_compare_as_how_often_fewer(self):
        self.assertEqual(rows.ratio(ROW["throughput_16"], {"per_s": 2000.0}, {"per_s": 500.0}), (4.0, False))

    def what_did_not_end_is_at_least_its_limit(self):
        self.assertEqual(rows.ratio(ROW["loop_1000"], {"s": 0.5}, {"over_s": 120}), (240.0, True))
        self.assertEqual(rows.ratio(ROW["chain_40"], {"ms": 20.0}, {"over_s": 2}), (100.0, True))
        self.assertIsNone(rows.ratio(ROW["throughput_16"], {"per_s": 2000.0}, {"over_s": 120}))

    def nothing_compares_to_a_number_that_is_not_there(self):
        for ours, theirs in ((None, {"ms": 1.0}), ({"failed": "x"}, {"ms": 1.0}), ({"ms": 1.0}, {"failed": "x"}), ({"ms": 1.0}, None)):
            self.assertIsNone(rows.ratio(ROW["chain_40"], ours, theirs))

    def the_best_is_the_shortest_time_and_the_highest_rate(self):
        self.assertEqual(rows.best(ROW["chain_40"], {"ms": 20.0}, {"ms": 30.0}), {"ms": 20.0})
        self.assertEqual(rows.best(ROW["throughput_64"], {"per_s": 20.0}, {"per_s": 30.0}), {"per_s": 30.0})

    def a_number_is_better_than_none(self):
        self.assertEqual(rows.best(ROW["chain_40"], {"over_s": 120}, {"ms": 30.0}), {"ms": 30.0})
        self.assertEqual(rows.best(ROW["chain_40"], {"ms": 30.0}, {"failed": "x"}), {"ms": 30.0})
        self.assertEqual(rows.best(ROW["chain_40"], None, {"failed": "x"}), {"failed": "x"})


class Table(unittest.TestCase):
    def numbers_have_three_digits_that_count(self):
        self.assertEqual([table.number(n) for n in (12345.6, 42.34, 1.5, 0.0471)], ["12,346", "42.3", "1.50", "0.0471"])

    def a_cell_gives_the_number_and_how_often_ours_it_is(self):
        ours = {"p50_ms": 1.5}
        self.assertEqual(table.cell(ROW["one_step"], ours, ours), "1.50 ms")
        self.assertEqual(table.cell(ROW["one_step"], ours, {"p50_ms": 6.0}), "6.00 ms (4.0×)")
        self.assertEqual(table.cell(ROW["loop_1000"], {"s": 0.05}, {"over_s": 120}), "> 120 s (> 2,400×)")
        self.assertEqual(table.cell(ROW["one_step"], ours, {"failed": "x"}), "failed")
        self.assertEqual(table.cell(ROW["one_step"], ours, None), "–")

    def an_engine_that_is_missing_has_a_line_and_no_column(self):
        result = {
            "cores": 2,
            "repeat": 1,
            "yardsticks": noetl.parse(BENCH, [])[0],
            "noetl": part("NoETL", {"one_step": {"p50_ms": 1.5}}, syncs_per_execution=2.04),
            "peers": [
                part("There", {"one_step": {"p50_ms": 3.0}, "chain_40": {"failed": "it broke"}}),
                part("Missing", {}, problem="npm is not there"),
            ],
        }

        lines = table.document(result, [ROW["one_step"], ROW["chain_40"]]).splitlines()

        self.assertEqual(lines[0], "| Work | NoETL | There |")
        self.assertEqual(lines[2:4], ["| One step, p50 | 1.50 ms | 3.00 ms (2.0×) |", "| 40 steps in a row | – | failed |"])
        self.assertIn("- **Missing**: not measured: npm is not there", lines)
        self.assertIn("  - chain_40 failed: it broke", lines)
        self.assertTrue(any("Syncs per one-step execution: 2.0 (counted)." in line for line in lines))


class Parsing(unittest.TestCase):
    def the_object_of_the_bench_gives_yardsticks_and_cells(self):
        yardsticks, cells = noetl.parse(BENCH, [ROW["one_step"], ROW["chain_40"]])
        self.assertEqual(yardsticks, {"fsync_ms": 0.11, "sqlite_commits_per_s": 5900.0, "sqlite_rows_per_s": 286000.0})
        self.assertEqual(cells, {"one_step": {"p50_ms": 1.5, "p99_ms": 4.5}, "chain_40": {"absent": "not measured"}})

    def the_last_line_of_a_program_counts(self):
        self.assertEqual(comparing.read_cell('a library speaks\n{"ms": 4.0}\n'), {"ms": 4.0})

    def a_program_without_a_result_has_failed(self):
        for said in ("", "Traceback: oh\n", "[1]\n"):
            self.assertIn("failed", comparing.read_cell(said))

    def the_summary_of_strace_is_added_up(self):
        summary = """\
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 60.00    0.014255         356        40         1 fdatasync
 40.00    0.004255         356         2           fsync
------ ----------- ----------- --------- --------- ----------------
100.00    0.018510         356        42         1 total
"""
        self.assertEqual((syncs.total(summary), syncs.total("")), (42, 0))

    def packages_of_npm_are_told_from_those_of_pypi(self):
        self.assertEqual(installing.split(["npm:@a/b@1", "c==2"]), (["@a/b@1"], ["c==2"]))
        self.assertEqual(comparing.version(["npm:@a/b@1", "c==2"]), "@a/b 1, c 2")


class Comparing(unittest.TestCase):
    def of_several_measurements_each_row_is_the_best(self):
        wanted = [ROW["one_step"], ROW["throughput_16"]]
        first = part("A", {"one_step": {"p50_ms": 1.0}, "throughput_16": {"per_s": 10.0}})
        second = part("A", {"one_step": {"p50_ms": 2.0}, "throughput_16": {"per_s": 20.0}})
        broken = part("A", {}, problem="did not start")

        merged = comparing.merge([broken, first, second], wanted)

        self.assertEqual(merged["rows"], {"one_step": {"p50_ms": 1.0}, "throughput_16": {"per_s": 20.0}})
        self.assertEqual((merged["load"], merged.get("problem")), ([0.5, 0.5], None))
        self.assertEqual(comparing.merge([broken], wanted)["problem"], "did not start")

    def the_yardsticks_are_what_the_disk_did_at_its_best(self):
        measured = [{"fsync_ms": 0.2, "sqlite_rows_per_s": 5.0}, {"fsync_ms": 0.1, "sqlite_rows_per_s": 4.0}]
        self.assertEqual(comparing.best_yardsticks(measured), {"fsync_ms": 0.1, "sqlite_rows_per_s": 5.0})

    def an_engine_that_does_not_start_is_told_with_its_last_words(self):
        def start(installed, place):
            log = place / "log"
            process = processes.started([sys.executable, "-c", "print('no room left'); raise SystemExit(3)"], log)
            with process as started:
                processes.wait_for(lambda: False, started, log, "the server")

        engine = Engine("x", "X", "As it comes.", "synced.", "with_x.py", _as_manager(start))
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "x").mkdir()
            (Path(folder) / "x/installed").write_text("x==1\n")
            options = SimpleNamespace(cache=folder, data=folder)
            told = comparing.measure_peer(engine, ["x==1"], options, [ROW["one_step"]], lambda what: None)
        self.assertEqual(told["problem"], "the server ended at once: no room left")
        self.assertEqual(told["rows"], {})


class Processes(unittest.TestCase):
    def what_was_started_ends_with_the_block(self):
        with tempfile.TemporaryDirectory() as folder:
            with processes.started([sys.executable, "-c", "import signal; signal.pause()"], Path(folder) / "log") as process:
                self.assertIsNone(process.poll())
            self.assertIsNotNone(process.poll())


class Measuring(unittest.TestCase):
    def the_median_is_of_the_sorted_times(self):
        self.assertEqual(measuring.percentile([3.0, 1.0, 2.0], 50), 2.0)
        self.assertEqual(measuring.percentile([3.0, 1.0, 2.0], 99), 3.0)
        self.assertEqual(measuring.percentile([4.0], 99), 4.0)


def _as_manager(start):
    """A way to start that fails before it gives anything."""

    @contextlib.contextmanager
    def manager(installed, place):
        start(installed, place)
        yield

    return manager


if __name__ == "__main__":
    unittest.main()
