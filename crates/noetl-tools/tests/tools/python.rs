use std::sync::Arc;
use std::time::{Duration, Instant};

use noetl_tools::{Call, CodeText, Secrets, Stream, Toolbox};
use noetl_types::{ErrorKind, Report, Value, value};

use crate::harness::*;

fn python(input: Value, code: &str) -> Report {
    python_with(value!({}), input, code)
}

fn python_with(config: Value, input: Value, code: &str) -> Report {
    let mut call = with_code(Call::new(config), code);
    call.input = input;
    call.names = value!({"execution_id": "77", "step": "shine", "variables": {"v": 1}, "attempt": 2});
    run_call("python", call)
}

#[track_caller]
fn gives(input: Value, code: &str, expected: Value) {
    assert_eq!(*data(&python(input, code)), expected);
}

#[test]
fn code_gives_its_value_in_four_ways() {
    gives(value!({"n": 1}), "result = n + 1", value!(2));
    gives(
        value!({"a": 1, "unused": 5}),
        "def main(a, b=10):\n    return {'sum': a + b}",
        value!({"sum": 11}),
    );
    gives(
        value!({"n": 1}),
        "import asyncio\nasync def main(n):\n    await asyncio.sleep(0)\n    return n + 1",
        value!(2),
    );
    gives(value!({"n": 1}), "if n > 0:\n    return {'n': n + 1}\nreturn None", value!({"n": 2}));
    gives(
        value!({}),
        "import sys\nprint('out')\nprint('err', file=sys.stderr)",
        value!({"stdout": "out\n", "stderr": "err\n"}),
    );
}

#[test]
fn result_comes_before_main_and_main_before_nothing() {
    gives(value!({}), "result = 1\ndef main():\n    return 2", value!(1));
    gives(value!({}), "result = None\ndef main():\n    return 2", value!(2));
    gives(value!({}), "result = None", Value::Null);
    gives(value!({}), "if False:\n    return 1\nresult = 5", value!(5));
    gives(value!({}), "if False:\n    return 1\ndef main():\n    return 6", value!(6));
    gives(value!({"result": 4}), "def main(result):\n    return result + 1", value!(5));
    gives(value!({"result": 4}), "result = result * 2", value!(8));
}

#[test]
fn a_guarded_block_runs_in_scripts_but_not_beside_main() {
    gives(value!({}), "if __name__ == '__main__':\n    result = 1", value!(1));
    gives(
        value!({}),
        "calls = []\ndef main():\n    calls.append(1)\n    return len(calls)\nif __name__ == '__main__':\n    main()",
        value!(1),
    );
}

#[test]
fn main_gets_the_inputs_that_it_names() {
    gives(
        value!({"a": 1, "b": 2, "c": 3}),
        "def main(a, /, *, b, **rest):\n    return [a, b, rest]",
        value!([1, 2, {"c": 3}]),
    );
    gives(
        value!({"a": 1}),
        "def main(input_data, context, step):\n    return [input_data, context['execution_id'], step]",
        value!([{"a": 1}, "77", "shine"]),
    );
    let report = python(value!({"a": 1}), "def main(a, z):\n    pass");
    assert_fails(&report, ErrorKind::Config, "main needs z, but the step's inputs are: a");
}

#[test]
fn code_finds_its_surroundings() {
    gives(
        value!({"x": 1, "not a name": 2}),
        "result = [execution_id, step, variables, input_data['x'], args['not a name'], context.attempt, context.args['x'], x]",
        value!(["77", "shine", {"v": 1}, 1, 2, 2, 1, 1]),
    );
    gives(value!({"step": "mine"}), "result = step", value!("mine"));
}

#[test]
fn inputs_can_be_reassigned_in_every_style() {
    gives(value!({"doc": "[7]"}), "import json\ndoc = json.loads(doc)\nreturn doc[0]", value!(7));
    gives(
        value!({"doc": "[8]"}),
        "import json\ndoc = json.loads(doc)\ndef main():\n    return doc[0]",
        value!(8),
    );
    gives(
        value!({"n": 1}),
        "def add():\n    nonlocal_free = [n]\n    return nonlocal_free\nn = n + 1\nreturn add()",
        value!([2]),
    );
    gives(value!({"n": 1}), "global n\nn = n + 1\ndef read():\n    return n\nreturn read()", value!(2));
    gives(
        value!({}),
        "from __future__ import annotations\nfrom math import *\nx: Undefined = 1\nreturn floor(pi)",
        value!(3),
    );
    gives(value!({}), "import asyncio\nawait asyncio.sleep(0)\nreturn 5", value!(5));
}

#[test]
fn libs_are_imported_under_their_names() {
    let libs = value!({"libs": {"m": "math", "Frac": {"from": "fractions", "import": "Fraction"}}});
    let report = python_with(libs, value!({}), "result = [m.sqrt(81), str(Frac(1, 2))]");
    assert_eq!(*data(&report), value!([9.0, "1/2"]));
    let libs = value!({"libs": ["json", "os.path", "math as m", {"dt": "datetime"}, {"from": "fractions", "import": "Fraction", "as": "F"}]});
    let report = python_with(
        libs,
        value!({}),
        "result = [json.dumps(1), os.path.basename('/a/b'), m.floor(2.5), dt.MINYEAR, str(F(1, 3))]",
    );
    assert_eq!(*data(&report), value!(["1", "b", 2, 1, "1/3"]));
    let report = python_with(value!({"libs": ["no_such_module_here"]}), value!({}), "result = 1");
    assert_fails(&report, ErrorKind::Config, "`libs`: cannot import no_such_module_here");
}

#[test]
fn what_is_printed_never_mixes_with_the_result() {
    let logs = Arc::new(KeptLogs::default());
    let mut call = with_code(
        Call::new(value!({})),
        r#"
        import os, subprocess, sys
        print('{"fake": 1}')
        os.write(1, b'{"value": 2}\n')
        subprocess.run(["echo", "from a child"])
        print("careful", file=sys.stderr)
        result = {"real": 2}
        "#,
    );
    call.logs = logs.clone();
    assert_eq!(*data(&run_call("python", call)), value!({"real": 2}));
    assert_eq!(logs.text(Stream::Stdout), "{\"fake\": 1}\n{\"value\": 2}\nfrom a child\n");
    assert_eq!(logs.text(Stream::Stderr), "careful\n");
}

#[test]
fn values_that_json_does_not_know_are_converted() {
    gives(
        value!({}),
        r#"
import collections, dataclasses, datetime, decimal, enum, pathlib, uuid
@dataclasses.dataclass
class Point:
    x: int
    y: object
class Colour(enum.Enum):
    RED = "red"
class Array:
    def tolist(self):
        return [1, [2]]
class Frame:
    columns = ["a"]
    def to_dict(self, orient):
        return [{"a": 1}] if orient == "records" else None
result = [
    datetime.datetime(2024, 2, 29, 12, 0, tzinfo=datetime.timezone.utc), datetime.date(2024, 2, 29), datetime.time(1, 2),
    datetime.timedelta(seconds=90), decimal.Decimal("12.50"), decimal.Decimal("5"), decimal.Decimal("0.1234567890123456789"),
    (1, 2), {3, 1, 2}, b"\x00\xff", Point(1, Point(2, None)), Colour.RED, uuid.UUID(int=0), pathlib.Path("/a"),
    float("nan"), [float("inf")], range(3), {1: "a", None: "b", (1, 2): "c"}, collections.OrderedDict(z=1), (i for i in "ab"),
    Array(), Frame(), "\ud800",
]
"#,
        value!([
            "2024-02-29T12:00:00+00:00", "2024-02-29", "01:02:00",
            90.0, 12.5, 5, "0.1234567890123456789",
            [1, 2], [1, 2, 3], "AP8=", {"x": 1, "y": {"x": 2, "y": null}}, "red", "00000000-0000-0000-0000-000000000000", "/a",
            null, [null], [0, 1, 2], {"1": "a", "null": "b", "(1, 2)": "c"}, {"z": 1}, ["a", "b"],
            [1, [2]], [{"a": 1}], "?",
        ]),
    );
}

#[test]
fn values_without_a_json_form_are_named_by_their_path() {
    let report = python(value!({}), "result = {'rows': [1, {'lock': object()}]}");
    assert_fails(
        &report,
        ErrorKind::Transform,
        "result.rows[1].lock is a builtins.object, which has no JSON form",
    );
    let report = python(value!({}), "result = []\nresult.append(result)");
    assert_fails(&report, ErrorKind::Transform, "result[0] contains itself");
    let report = python(value!({}), "result = []\nfor _ in range(300):\n    result = [result]");
    assert_fails(&report, ErrorKind::Transform, "nested too deeply");
}

#[test]
fn an_exception_tells_its_type_its_message_and_the_playbook_line() {
    let mut call = Call::new(value!({}));
    let text =
        "def pick_fruit(basket):\n    return basket[\"pear\"]\n\nprint('before')\nresult = pick_fruit({})\n";
    call.code = Some(CodeText { text: text.into(), line: 41, name: None });
    let report = run_call("python", call);
    let error = error(&report);
    assert_eq!(
        (error.kind, error.message.as_str(), error.answered),
        (ErrorKind::Exception, "KeyError: 'pear'", true)
    );
    assert_eq!(error.details, value!({"exception_type": "KeyError", "line": 42}));
    let py = report.facets.get("py").unwrap();
    assert_eq!(py.get("exception"), Some(&value!("KeyError")));
    let expected = "Traceback (most recent call last):\n  \
        File \"<playbook>\", line 45, in <module>\n    result = pick_fruit({})\n";
    let traceback = py.get("traceback").unwrap().as_str().unwrap();
    assert!(traceback.starts_with(expected), "{traceback}");
    assert!(
        traceback.contains("File \"<playbook>\", line 42, in pick_fruit\n    return basket[\"pear\"]\n"),
        "{traceback}"
    );
    assert!(!traceback.contains("runner"), "{traceback}");
    let printed = report.data.as_inline().unwrap();
    assert_eq!(printed.get("stdout"), Some(&value!("before\n")));
    assert_eq!(printed.get("stderr"), Some(&value!(traceback)));
}

#[test]
fn an_exception_in_async_code_shows_only_the_users_frames_first() {
    let report = python(value!({}), "async def main():\n    return 1 / 0");
    assert_fails(&report, ErrorKind::Exception, "ZeroDivisionError: division by zero");
    let traceback = report.facets.get("py").unwrap().get("traceback").unwrap().as_str().unwrap().to_owned();
    assert!(
        traceback.starts_with("Traceback (most recent call last):\n  File \"<playbook>\", line 2, in main"),
        "{traceback}"
    );
}

#[test]
fn code_that_does_not_compile_names_the_playbook_line() {
    let mut call = Call::new(value!({}));
    call.code = Some(CodeText {
        text: "x = 1\ndef main(:\n    pass\n".into(),
        line: 10,
        name: Some("flow.yaml".into()),
    });
    let report = run_call("python", call);
    assert_fails(&report, ErrorKind::Exception, "SyntaxError");
    assert_fails(&report, ErrorKind::Exception, "(flow.yaml, line 11)");
    assert_eq!(error(&report).details.get("line"), Some(&value!(11)));
}

#[test]
fn leaving_early_counts_by_its_exit_code() {
    gives(value!({}), "import sys\nresult = 5\nsys.exit(0)", value!(5));
    gives(value!({}), "import sys\nprint('x')\nsys.exit()", value!({"stdout": "x\n", "stderr": ""}));
    let report = python(value!({}), "import sys\nsys.exit(3)");
    assert_fails(&report, ErrorKind::Exit, "sys.exit(3)");
    assert_eq!(error(&report).code.as_deref(), Some("EXIT_3"));
    assert_fails(&python(value!({}), "import sys\nsys.exit('no luck')"), ErrorKind::Exit, "no luck");
    assert_fails(&python(value!({}), "import os\nos._exit(4)"), ErrorKind::Exit, "ended with exit code 4");
    assert_fails(
        &python(value!({}), "import os\nos.kill(os.getpid(), 11)"),
        ErrorKind::Exit,
        "ended by signal 11",
    );
}

#[test]
fn threads_and_exit_handlers_finish_before_the_result_counts() {
    let folder = tempfile::tempdir().unwrap();
    let report = python_with(
        value!({"cwd": folder.path().to_str()}),
        value!({}),
        r#"
import atexit, threading, time
def work():
    while threading.main_thread().is_alive() and len(threading.enumerate()) > 1 and not ready.is_set():
        time.sleep(0.001)
    open("thread", "w").close()
ready = threading.Event()
threading.Thread(target=work).start()
atexit.register(lambda: open("handler", "w").close())
ready.set()
result = 1
"#,
    );
    assert_eq!(*data(&report), value!(1));
    assert!(folder.path().join("thread").exists() && folder.path().join("handler").exists());
}

#[test]
fn environment_and_folder_are_those_of_the_step() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("helper.py"), "answer = 42\n").unwrap();
    let config = value!({"cwd": folder.path().to_str(), "env": {"GREETING": "hej", "N": 7}});
    let code = "import os, helper\nresult = [os.environ['GREETING'], os.environ['N'], os.getcwd(), helper.answer, 'CARGO' in os.environ]";
    let report = python_with(config, value!({}), code);
    let here = folder.path().canonicalize().unwrap();
    assert_eq!(*data(&report), value!(["hej", "7", here.to_str(), 42, false]));
    gives(value!({}), "import os\nresult = os.environ.get('GREETING')", Value::Null);
    let report = python_with(value!({"cwd": "/no/such/place"}), value!({}), "result = 1");
    assert_fails(&report, ErrorKind::Config, "`cwd` /no/such/place cannot be used");
}

#[test]
fn jobs_do_not_see_each_other() {
    gives(value!({}), "import sys, json\nsys.path.append('x')\njson.marker = 1\nresult = 1", value!(1));
    gives(
        value!({}),
        "import sys, json\nresult = ['x' in sys.path, hasattr(json, 'marker')]",
        value!([false, false]),
    );
}

/// Code that uses up a tenth of a second of processor time, and says how much its process had used before.
fn busy(first_line: &str) -> String {
    let rest =
        "before = time.process_time()\nwhile time.process_time() < before + 0.1:\n    pass\nresult = before";
    format!("{first_line}\nimport time\n{rest}")
}

fn processor_time(report: &Report) -> f64 {
    data(report).as_f64().expect("seconds")
}

#[test]
fn code_that_leaves_nothing_behind_shares_a_process() {
    // The first may come before there is a process that waits.
    let codes = ["", "", "import json, re, datetime"];
    let used = codes.map(|line| processor_time(&python(value!({}), &busy(line))));
    assert!(used[2] >= used[1] + 0.1, "{used:?} s");
    for line in
        ["import os", "from json import codecs", "def f(x): return getattr(x, 'y')", "def f(x): x.y = 1"]
    {
        python(value!({}), &busy(line));
        let after = processor_time(&python(value!({}), &busy(line)));
        assert!(after < 0.1, "a process that ran `{line}` was used again");
    }
}

#[test]
fn a_process_takes_no_other_job_after_an_error_or_when_it_has_grown() {
    gives(value!({}), "result = 1", value!(1));
    python(value!({}), &busy("huge = len('x' * 200_000_000)"));
    assert!(processor_time(&python(value!({}), "import time\nresult = time.process_time()")) < 0.1);
    assert!(python(value!({}), &format!("{}\n1 / 0", busy(""))).error.is_some());
    assert!(processor_time(&python(value!({}), "import time\nresult = time.process_time()")) < 0.1);
}

#[test]
fn no_job_finds_anything_of_the_one_before() {
    let probe = "import json, math, sys, os, decimal, builtins\nresult = [json.dumps([1]), math.pi > 3, len([1]), sorted(os.environ) == sorted(os.environ), \
                 decimal.getcontext().prec, 'seen' in dir(builtins), 'seen' in sys.modules, 'seen' in globals(), os.environ.get('SEEN')]";
    let untouched = value!(["[1]", true, 1, true, 28, false, false, false, null]);
    let hide = "seen = 1\n";
    let ways = [
        "seen = 1",
        "global seen\nseen = 1",
        "import json\njson.dumps = len",
        "import json as j\nj.__dict__['dumps'] = len",
        "from json import codecs\ncodecs.builtins.seen = 1",
        "__builtins__['seen'] = 1",
        "globals()['__builtins__']['seen'] = 1",
        "def g():\n    yield 1\ni = g()\ni.gi_frame.f_builtins['seen'] = 1",
        "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    e.__traceback__.tb_frame.f_builtins['seen'] = 1",
        "exec('import sys; sys.modules[\"seen\"] = sys')",
        "import typing\ndef f(a: '__import__(\"builtins\").__dict__.update(seen=1)'): pass\ntyping.get_type_hints(f)",
        "import decimal\ndecimal.getcontext().prec = 3",
        "import os\nos.environ['SEEN'] = '1'",
        "import sys\nsys.modules['seen'] = sys",
        "import math\nmath.pi = 1",
        "def main(seen=1):\n    main.__globals__['__builtins__']['seen'] = 1",
    ];
    for way in ways {
        python(value!({}), &format!("{hide}{way}"));
        // Once where the code before may have been, and once in what follows.
        gives(value!({}), "result = [len([1]), 'x'.upper()]", value!([1, "X"]));
        assert_eq!(*data(&python(value!({}), probe)), untouched, "after {way}");
        gives(
            value!({}),
            "try:\n    seen\n    result = 'seen'\nexcept NameError:\n    result = 'clean'",
            value!("clean"),
        );
    }
}

#[test]
fn what_each_job_prints_is_its_own_also_in_a_shared_process() {
    for number in 0..5 {
        let report = python(value!({"number": number}), "print('number', number)");
        assert_eq!(*data(&report), value!({"stdout": format!("number {number}\n"), "stderr": ""}));
    }
}

#[test]
fn a_job_in_a_shared_process_can_be_ended() {
    gives(value!({}), "result = 1", value!(1));
    let report = python_with(value!({"timeout_seconds": 0.3}), value!({}), "while True:\n    pass");
    assert_eq!(error(&report).kind, ErrorKind::Timeout);
    gives(value!({}), "result = 2", value!(2));
}

#[test]
fn scripts_are_loaded_from_files_and_written_inline() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("double.py");
    std::fs::write(
        &path,
        "def main(n):\n    if n < 0:\n        raise ValueError('negative')\n    return {'n': n * 2}\n",
    )
    .unwrap();
    let run_with = |script: Value, n: i64| {
        let mut call = Call::new(value!({"script": script}));
        call.input = value!({"n": n});
        run_call("python", call)
    };
    let plain = path.to_str().unwrap();
    for script in [
        value!({"uri": plain, "source": {"type": "file"}}),
        value!({"uri": format!("file://{plain}")}),
        value!(plain),
        value!({"source": {"type": "inline", "code": "result = {'n': n * 2}"}}),
    ] {
        assert_eq!(*data(&run_with(script, 9)), value!({"n": 18}));
    }
    let report = run_with(value!({"uri": plain}), -1);
    let traceback = report.facets.get("py").unwrap().get("traceback").unwrap().as_str().unwrap().to_owned();
    assert!(traceback.contains(&format!("File \"{plain}\", line 3, in main")), "{traceback}");
    assert_fails(
        &run_with(value!({"uri": "/no/such/script.py"}), 1),
        ErrorKind::NotFound,
        "/no/such/script.py",
    );
    assert_fails(&run_with(value!({"uri": "gs://bucket/x.py"}), 1), ErrorKind::Config, "source type 'gs'");
    assert_fails(&run("python", value!({})), ErrorKind::Config, "give `code` or `script`");
}

#[test]
fn a_missing_interpreter_is_told_in_one_sentence() {
    let report = python_with(value!({"python": "python-from-the-future"}), value!({}), "result = 1");
    assert_fails(
        &report,
        ErrorKind::Config,
        "there is no interpreter 'python-from-the-future'; install it or name another one",
    );
    let report = python_with(value!({"venv": "/no/such/venv"}), value!({}), "result = 1");
    assert_fails(&report, ErrorKind::Config, "/no/such/venv/bin/python");
    let report = python_with(value!({"python": "/bin/false"}), value!({}), "result = 1");
    assert_fails(&report, ErrorKind::Config, "/bin/false did not start");
}

#[test]
fn an_endless_loop_ends_at_its_timeout() {
    let start = Instant::now();
    let report = python_with(
        value!({"timeout_seconds": 4}),
        value!({}),
        "print('going', flush=True)\nwhile True:\n    pass",
    );
    assert_fails(&report, ErrorKind::Timeout, "the Python code was stopped at its timeout of 4 s");
    assert!(error(&report).retryable);
    assert_eq!(report.data.as_inline().unwrap().get("stdout"), Some(&value!("going\n")));
    assert!(start.elapsed() < Duration::from_secs(30));
}

/// Starts a child in the job's group and one that left it, both deaf to polite requests, and writes down all ids.
const FAMILY: &str = r#"
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
deaf = [sys.executable, "-c", "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"]
here = subprocess.Popen(deaf)
away = subprocess.Popen(deaf, start_new_session=True)
for name, pid in (("job", os.getpid()), ("here", here.pid), ("away", away.pid)):
    with open(name + ".tmp", "w") as file:
        file.write(f"{pid}\n")
    os.rename(name + ".tmp", name)
"#;

const NAMES: [&str; 3] = ["job", "here", "away"];

#[test]
fn a_timeout_leaves_no_process_behind() {
    let folder = tempfile::tempdir().unwrap();
    let config = value!({"cwd": folder.path().to_str(), "timeout_seconds": 1});
    let report = python_with(config, value!({}), &format!("{FAMILY}\ntime.sleep(600)"));
    assert_fails(&report, ErrorKind::Timeout, "timeout");
    for name in NAMES {
        let pid = pid_in(&folder.path().join(name));
        eventually("the process is gone", || !is_running(pid));
    }
}

#[test]
fn a_job_that_ends_leaves_no_process_behind() {
    let folder = tempfile::tempdir().unwrap();
    let report =
        python_with(value!({"cwd": folder.path().to_str()}), value!({}), &format!("{FAMILY}\nresult = 1"));
    assert_eq!(*data(&report), value!(1));
    for name in NAMES {
        let pid = pid_in(&folder.path().join(name));
        eventually("the process is gone", || !is_running(pid));
    }
}

#[test]
fn cancelling_and_dropping_end_the_job() {
    for dropped in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let call = with_code(
            Call::new(value!({"cwd": folder.path().to_str()})),
            &format!("{}\ntime.sleep(600)", FAMILY.trim_start()),
        );
        let cancel = call.cancel.clone();
        let (path, report) = (folder.path().to_owned(), async {
            let running = tokio::spawn(shared().call("python", call));
            let path = folder.path().join("away");
            tokio::task::spawn_blocking(move || pid_in(&path)).await.unwrap();
            if dropped {
                running.abort()
            } else {
                cancel.cancel()
            }
            running.await
        });
        let report = block_on(report);
        if !dropped {
            assert_fails(&report.unwrap(), ErrorKind::Cancelled, "the Python code was cancelled");
        }
        for name in NAMES {
            let pid = pid_in(&path.join(name));
            eventually("the process is gone", || !is_running(pid));
        }
    }
}

#[test]
fn an_interpreter_that_is_killed_is_replaced_and_takes_its_children_along() {
    let folder = tempfile::tempdir().unwrap();
    let toolbox = toolbox();
    let run = |code: &str| {
        let call = with_code(Call::new(value!({"cwd": folder.path().to_str()})), code);
        block_on(toolbox.call("python", call))
    };
    let kill = run(r#"
        import os, signal, time
        with open(f"/proc/{os.getppid()}/task/{os.getppid()}/children") as children, open("children", "w") as copy:
            copy.write(children.read())
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(600)
        "#);
    assert_fails(&kill, ErrorKind::WorkerLost, "the interpreter was killed while the code ran");
    assert!(error(&kill).retryable);
    assert_eq!(*data(&run("result = 1")), value!(1));
    let children = std::fs::read_to_string(folder.path().join("children")).unwrap();
    assert!(!children.trim().is_empty());
    for pid in children.split_whitespace() {
        let pid = pid.parse().unwrap();
        eventually("the child is gone", || !is_running(pid));
    }
}

/// Plays a worker in a process of its own, for the test below.
#[test]
#[ignore = "run by a_worker_that_is_killed_leaves_no_process_behind"]
fn a_worker_with_running_steps() {
    let folder = std::env::var("WORKER_FOLDER").expect("the other test sets it");
    let python =
        with_code(Call::new(value!({"cwd": folder})), &format!("{}\ntime.sleep(600)", FAMILY.trim_start()));
    let shell = Call::new(value!({"cwd": folder, "command": "echo $$ > shell; sleep 600"}));
    block_on(async { tokio::join!(shared().call("python", python), shared().call("shell", shell)) });
}

#[test]
fn a_worker_that_is_killed_leaves_no_process_behind() {
    let folder = tempfile::tempdir().unwrap();
    let mut worker = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "python::a_worker_with_running_steps", "--ignored"])
        .env("WORKER_FOLDER", folder.path())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let pids: Vec<_> = NAMES.iter().chain(&["shell"]).map(|name| pid_in(&folder.path().join(name))).collect();
    assert!(pids.iter().all(|pid| is_running(*pid)));
    worker.kill().unwrap();
    worker.wait().unwrap();
    for pid in pids {
        eventually("the process is gone", || !is_running(pid));
    }
}

#[test]
fn much_output_is_bounded_and_odd_bytes_do_no_harm() {
    let mut config = config();
    config.process.output_limit = 2048;
    let code = "import os\nblock = b'x' * 1000000\nfor _ in range(200):\n    os.write(1, block)\nos.write(2, b'a\\xffb')";
    let report = block_on(Toolbox::builtin(config).call("python", with_code(Call::new(value!({})), code)));
    let printed = data(&report);
    assert!(printed.get("stdout").unwrap().as_str().unwrap().contains("[199997952 bytes left out]"));
    assert_eq!(printed.get("stderr"), Some(&value!("a\u{fffd}b")));
}

#[test]
fn large_inputs_and_results_pass_unharmed() {
    let rows = Value::list((0..5000).map(|id| value!({"id": id, "pad": "x".repeat(3000)})));
    let mut call = with_code(Call::new(value!({})), "result = {'n': len(rows), 'rows': rows}");
    call.input = Value::map([("rows", rows.clone())]);
    let report = run_call("python", call);
    assert_eq!(data(&report).get("n"), Some(&value!(5000)));
    assert_eq!(data(&report).get("rows"), Some(&rows));
}

#[test]
fn a_result_above_the_limit_is_refused() {
    let mut config = config();
    config.python.result_limit = 1000;
    let toolbox = Toolbox::builtin(config);
    let report = block_on(toolbox.call("python", with_code(Call::new(value!({})), "result = 'x' * 5000")));
    assert_fails(&report, ErrorKind::StorageQuota, "the result has 5002 bytes, more than the 1000 allowed");
}

#[test]
fn memory_above_the_limit_is_refused() {
    let mut config = config();
    config.process.memory_limit = Some(512 * 1024 * 1024);
    let toolbox = Toolbox::builtin(config);
    let report =
        block_on(toolbox.call("python", with_code(Call::new(value!({})), "result = len(bytearray(2**30))")));
    assert_fails(&report, ErrorKind::Exception, "MemoryError");
}

#[test]
fn modules_can_be_loaded_ahead() {
    let mut config = config();
    config.python.preload = vec!["fractions".to_owned(), "no_such_module_here".to_owned()];
    let toolbox = Toolbox::builtin(config);
    let code = "import sys\nresult = 'fractions' in sys.modules";
    let report = block_on(toolbox.call("python", with_code(Call::new(value!({})), code)));
    assert_eq!(*data(&report), value!(true));
}

#[test]
fn many_jobs_run_at_once() {
    let report = block_on(async {
        let calls = (0..40).map(|n| {
            let mut call = with_code(Call::new(value!({})), "import os\nresult = [n, os.getpid()]");
            call.input = value!({"n": n});
            tokio::spawn(shared().call("python", call))
        });
        let mut seen = Vec::new();
        for (n, call) in calls.collect::<Vec<_>>().into_iter().enumerate() {
            let report = call.await.unwrap();
            let answer = data(&report).as_list().unwrap().clone();
            assert_eq!(answer[0], value!(n));
            seen.push(answer[1].as_i64().unwrap());
        }
        seen
    });
    let mut pids = report.clone();
    pids.sort();
    pids.dedup();
    assert_eq!(pids.len(), 40, "every job has a process of its own");
}

#[test]
fn secrets_are_masked_in_tracebacks() {
    let mut call = with_code(Call::new(value!({})), "raise ValueError('bad token ' + token)");
    call.input = value!({"token": "hush-123456"});
    call.secrets = Secrets::new(["hush-123456"]);
    let report = run_call("python", call);
    assert_eq!(error(&report).message, "ValueError: bad token [redacted]");
    assert!(!report.facets.to_string().contains("hush"), "{}", report.facets);
}
