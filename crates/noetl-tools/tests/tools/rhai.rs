use std::sync::Arc;
use std::time::{Duration, Instant};

use noetl_tools::{Call, CodeText, Stream, Toolbox};
use noetl_types::{ErrorKind, Report, Value, value};

use crate::harness::*;
use crate::http_server::{Response, answer, serve};

fn rhai(input: Value, code: &str) -> Report {
    let mut call = with_code(Call::new(value!({})), code);
    call.input = input;
    call.names = value!({"execution_id": "77", "step": "shine"});
    run_call("rhai", call)
}

#[track_caller]
fn gives(code: &str, expected: Value) {
    assert_eq!(*data(&rhai(value!({}), code)), expected, "{code}");
}

#[test]
fn the_last_expression_is_the_result() {
    gives(
        "let total = 0;\nfor x in [1, 2, 3] { total += x; }\n#{ total: total, label: \"sum\", list: [1, \"two\", (), 2.5, true, 'c'] }",
        value!({"total": 6, "label": "sum", "list": [1, "two", null, 2.5, true, "c"]}),
    );
    gives("let x = 1;", Value::Null);
    assert_eq!(*data(&run("rhai", value!({"script": "1 + 1"}))), value!(2));
}

#[test]
fn scripts_find_their_inputs() {
    let input = value!({"a": {"b": [1, null]}, "n": 5});
    let report = rhai(input, "[args.n, input.a.b[0], input.a.b[1] == (), execution_id, step]");
    assert_eq!(*data(&report), value!([5, 1, true, "77", "shine"]));
    let mut call = with_code(Call::new(value!({"args": {"n": 1, "m": 2}})), "args.n * 10 + args.m");
    call.input = value!({"n": 4});
    assert_eq!(*data(&run_call("rhai", call)), value!(42));
}

#[test]
fn the_listed_functions_work() {
    gives(r#"parse_json("{\"a\": [1, null, 2.5]}").a[0]"#, value!(1));
    gives(r#"to_json(#{ a: [1, ()] })"#, value!(r#"{"a":[1,null]}"#));
    gives(
        r#"[contains("abc", "b"), contains_any("abc", ["x", "c"]), contains_any("abc", [])]"#,
        value!([true, true, false]),
    );
    gives(r#"sha256_hex("abc")"#, value!("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
    gives(
        r#"hmac_sha256_hex("key", "message")"#,
        value!("6e9ef29b75fffc5b7abae527d58fdadb2fe42e7219011976917343065f58ed4a"),
    );
    gives(r#"[eq_ct("a", "a"), eq_ct("a", "b"), eq_ct("a", "aa")]"#, value!([true, false, false]));
    gives(
        r#"[base64_encode("hi"), base64_decode("aGk="), hex_encode("hi"), hex_decode("6869")]"#,
        value!(["aGk=", "hi", "6869", "hi"]),
    );
    gives("timestamp_ms() / 1000 - timestamp() < 2 && timestamp() > 1700000000", value!(true));
    gives("sleep_ms(1); sleep(0); 5", value!(5));
    assert_fails(&rhai(value!({}), "get_gcp_token()"), ErrorKind::Exception, "not available here");
    assert_fails(&rhai(value!({}), r#"parse_json("{")"#), ErrorKind::Exception, "this is not JSON");
    assert_fails(&rhai(value!({}), r#"hex_decode("xyz")"#), ErrorKind::Exception, "not hexadecimal");
}

#[test]
fn what_scripts_print_goes_to_the_logs() {
    let logs = Arc::new(KeptLogs::default());
    let mut call = with_code(
        Call::new(value!({})),
        "print(1); log(\"two\"); info(#{a: 3}); warn(\"four\"); error(5); 0",
    );
    call.logs = logs.clone();
    data(&run_call("rhai", call));
    assert_eq!(logs.text(Stream::Stdout), "1\ntwo\n#{\"a\": 3}\n");
    assert_eq!(logs.text(Stream::Stderr), "four\n5\n");
}

#[test]
fn scripts_call_web_services() {
    let base = serve(|request| {
        let token = request.header("authorization");
        let text = format!(
            "{} {} {token} {} {}",
            request.method,
            request.target,
            request.header("x-own"),
            request.text()
        );
        answer(
            if request.target == "/bad" { 503 } else { 200 },
            "application/json",
            value!({"seen": text.trim()}).to_string(),
        )
    });
    let input = value!({"base": base});
    let seen = |code: &str| data(&rhai(input.clone(), code)).clone();
    assert_eq!(seen("http_get(args.base + \"/a\").data.seen"), value!("GET /a"));
    assert_eq!(seen("http_get(args.base + \"/a\", #{ \"X-Own\": 5 }).body.seen"), value!("GET /a  5"));
    assert_eq!(seen("http_get_auth(args.base + \"/a\", \"tok\").data.seen"), value!("GET /a Bearer tok"));
    assert_eq!(
        seen("http_delete_auth(args.base + \"/a\", \"tok\").data.seen"),
        value!("DELETE /a Bearer tok")
    );
    assert_eq!(seen("http_post(args.base + \"/a\", #{ n: 1 }).data.seen"), value!("POST /a   {\"n\":1}"));
    assert_eq!(
        seen("http_post_auth(args.base + \"/a\", \"x\", \"tok\").data.seen"),
        value!("POST /a Bearer tok  x")
    );
    assert_eq!(seen("http_get(args.base + \"/bad\").status_code"), value!(503));
    assert_fails(
        &rhai(value!({}), "http_get(\"http://127.0.0.1:1/\")"),
        ErrorKind::Exception,
        "the connection was refused",
    );
}

#[test]
fn errors_tell_the_playbook_line() {
    let mut call = Call::new(value!({}));
    call.code = Some(CodeText { text: "let a = 1;\na + missing\n".into(), line: 20, name: None });
    let report = run_call("rhai", call);
    assert_fails(&report, ErrorKind::Exception, "Variable not found: missing (line 21)");
    assert_eq!(error(&report).details, value!({"line": 21}));
    assert_fails(&rhai(value!({}), "let = 5"), ErrorKind::Exception, "the script does not parse");
    assert_fails(&rhai(value!({}), "fn f() { throw \"no luck\" }\nf()"), ErrorKind::Exception, "no luck");
    assert_fails(&rhai(value!({}), "#{ f: |x| x }"), ErrorKind::Transform, "result.f is a Fn");
    assert_fails(&run("rhai", value!({})), ErrorKind::Config, "`code` is missing");
}

#[test]
fn scripts_have_limits() {
    let mut config = config();
    config.rhai.max_operations = 10_000;
    config.rhai.max_elements = 1000;
    let toolbox = Toolbox::builtin(config);
    let run = |code: &str| block_on(toolbox.call("rhai", with_code(Call::new(value!({})), code)));
    assert_fails(&run("loop { }"), ErrorKind::Exception, "more operations than are allowed");
    assert_fails(
        &run("let a = []; for x in 0..2000 { a.push(x); } a"),
        ErrorKind::StorageQuota,
        "too large a value",
    );
    assert_fails(&run("fn f() { f() }\nf()"), ErrorKind::Exception, "");
}

#[test]
fn an_endless_script_ends_at_its_timeout_or_when_cancelled() {
    let silent = serve(|_| Response::Silence);
    for code in ["loop { }".to_owned(), "sleep(600)".to_owned(), format!("http_get(\"{silent}\")")] {
        let start = Instant::now();
        let report = run_call("rhai", with_code(Call::new(value!({"timeout_seconds": 0.3})), &code));
        assert_fails(&report, ErrorKind::Timeout, "the Rhai script was stopped at its timeout of 0.3 s");
        assert!(start.elapsed() < Duration::from_secs(10), "{code}");

        let call = with_code(Call::new(value!({})), &code);
        let cancel = call.cancel.clone();
        let running = spawn("rhai", call);
        cancel.cancel();
        assert_fails(&block_on(running).unwrap(), ErrorKind::Cancelled, "the Rhai script was cancelled");
    }
}
