//! Whole documents: what they mean, and where their parts stand.

use super::*;

fn document(source: &str) -> Document {
    parse(source, &Limits::default()).unwrap_or_else(|error| panic!("{error} in {source}"))
}

fn json(source: &str) -> String {
    serde_json::to_string(&document(source).root.to_value()).expect("plain data")
}

#[track_caller]
fn refused(source: &str, message: &str, at: &str) {
    let error = parse(source, &Limits::default()).expect_err(source);
    assert_eq!(error.message, message, "{source}");
    assert_eq!(&source[error.span.start..error.span.end], at, "{source}");
}

/// Every value as it stands in the source, depth first.
fn parts<'s>(node: &Node, source: &'s str) -> Vec<&'s str> {
    let mut all = vec![&source[node.span.start..node.span.end]];
    match &node.data {
        Data::List(items) => all.extend(items.iter().flat_map(|item| parts(item, source))),
        Data::Map(entries) => {
            for entry in entries {
                all.push(&source[entry.key_span.start..entry.key_span.end]);
                all.extend(parts(&entry.value, source));
            }
        }
        _ => {}
    }
    all
}

#[test]
fn documents_mean_what_they_say() {
    for (source, expected) in [
        (
            "a: 1\nb: [x, 'y', \"z\"]\nc:\n- 1.5\n- null\n- yes\n",
            r#"{"a":1,"b":["x","y","z"],"c":[1.5,null,"yes"]}"#,
        ),
        ("{a: {b: [], c: {}}, }", r#"{"a":{"b":[],"c":{}}}"#),
        ("a: '1'\nb: \"true\"\nc: |\n  1\nd: ''", r#"{"a":"1","b":"true","c":"1\n","d":""}"#),
        ("a: 2024-05-01\nb: 12:30\nc: 1.2.3", r#"{"a":"2024-05-01","b":"12:30","c":"1.2.3"}"#),
        ("---\na: 1\n...\n", r#"{"a":1}"#),
        ("\u{FEFF}a: 1", r#"{"a":1}"#),
        ("a: 1\r\nb: |\r\n  x\r\n  y\r\n", r#"{"a":1,"b":"x\ny\n"}"#),
        ("[a: 1, b]", r#"[{"a":1},"b"]"#),
        ("? a\n: 1\n? b", r#"{"a":1,"b":null}"#),
    ] {
        assert_eq!(json(source), expected, "{source}");
    }
}

#[test]
fn keys_that_are_no_text_are_printed() {
    assert_eq!(
        json("1: a\n0x10: b\nTrue: c\n~: d\n1.10: e\nyes: f"),
        r#"{"1":"a","16":"b","true":"c","null":"d","1.10":"e","yes":"f"}"#
    );
}

#[test]
fn tags_of_the_core_schema_are_honoured() {
    assert_eq!(
        json(
            "a: !!str 1\nb: !!int '7'\nc: !!float 1\nd: !!map {x: 1}\ne: !!seq [1]\nf: ! 12\ng: !!null ''\nh: !!str"
        ),
        r#"{"a":"1","b":7,"c":1.0,"d":{"x":1},"e":[1],"f":"12","g":null,"h":""}"#
    );
    refused("a: !env HOME", "the tag !env is not known", "!env");
    refused("a: !!python/object x", "the tag !!python/object is not known", "!!python/object");
    refused("a: &x !!set {b: 1}", "the tag !!set is not known", "&x !!set");
    refused("a: !!int x", "this value is no !!int", "x");
}

#[test]
fn anchors_are_repeated_and_merged() {
    assert_eq!(json("a: &x {b: 1}\nc: *x"), r#"{"a":{"b":1},"c":{"b":1}}"#);
    assert_eq!(
        json("base: &x {a: 1, b: 1}\nuse:\n  c: 3\n  <<: *x\n  b: 2"),
        r#"{"base":{"a":1,"b":1},"use":{"c":3,"a":1,"b":2}}"#
    );
    assert_eq!(
        json("x: &x {a: 1}\ny: &y {a: 2, b: 2}\nz: {<<: [*x, *y]}"),
        r#"{"x":{"a":1},"y":{"a":2,"b":2},"z":{"a":1,"b":2}}"#
    );
    assert_eq!(json("a: &k key\n*k : 1"), r#"{"a":"key","key":1}"#);
    assert_eq!(json("'<<': 1"), r#"{"<<":1}"#);
    refused("a: &x [1]\nb: {<<: *x}", "'<<' takes a map or a list of maps", "<<");
    refused("a: &x [*x]", "this alias is inside the value it stands for", "*x");
    refused("a: *x", "this alias names an anchor that is not defined above it", "*");
}

#[test]
fn aliased_values_are_marked_and_keep_the_place_of_their_definition() {
    let source = "a: &x {b: one}\nc: *x\nd: {<<: *x}";
    let root = document(source).root;
    let repeated = root.get("c").and_then(|c| c.get("b")).expect("b");
    assert!(repeated.is_aliased() && root.get("d").and_then(|d| d.get("b")).is_some_and(Node::is_aliased));
    assert!(!root.get("a").is_some_and(Node::is_aliased));
    assert_eq!(&source[repeated.span.start..repeated.span.end], "one");
}

#[test]
fn all_keys_that_occur_twice_are_reported_together() {
    let source = "a: 1\nb: {c: 1, c: 2}\na: 2\n";
    let document = document(source);
    let found: Vec<_> =
        document.problems.iter().map(|problem| (problem.message.as_str(), problem.span.start)).collect();
    assert_eq!(
        found,
        [("the key 'c' occurs twice in this map", 15), ("the key 'a' occurs twice in this map", 21)]
    );
    assert_eq!(json(source), r#"{"a":1,"b":{"c":1}}"#);
}

#[test]
fn spans_cover_what_is_written() {
    let source = "a: one # note\n'b' : \"two\" # note\nlist:\n- x y\n- [1, {k: v}] # note\n-\nempty:\ntext: |  # note\n  line\n\nlast: &x !!str z\n";
    assert_eq!(
        parts(&document(source).root, source),
        [
            &source[..source.len() - 1],
            "a",
            "one",
            "'b'",
            "\"two\"",
            "list",
            "- x y\n- [1, {k: v}] # note\n-",
            "x y",
            "[1, {k: v}]",
            "1",
            "{k: v}",
            "k",
            "v",
            "",
            "empty",
            "",
            "text",
            "|  # note\n  line",
            "last",
            "z",
        ]
    );
}

#[test]
fn lists_start_at_their_first_dash() {
    for marked in [
        "a:\n^- x\n- y",
        "a:\n  ^- x\n  - y",
        "a: # note - \n# - note\n^- # note\n  x\n- y",
        "a: &l\n^- x\n- y",
        "a: !!seq\n  ^- x\n  - y",
    ] {
        let source = marked.replace('^', "");
        let list = document(&source).root.get("a").expect("a").span;
        assert_eq!(Some(list.start), marked.find('^'), "{source}");
    }
}

#[test]
fn spans_count_bytes_behind_characters_of_several() {
    let source = "ключ: значение # примечание\nnext: 'é' # ü\nlast: [é, ü]\n";
    assert_eq!(
        parts(&document(source).root, source)[1..],
        ["ключ", "значение", "next", "'é'", "last", "[é, ü]", "é", "ü"]
    );
}

#[test]
fn one_document_with_something_in_it_is_needed() {
    refused("", "the document is empty", "");
    refused("# nothing\n", "the document is empty", "");
    refused("---\n...\n", "the document is empty", "");
    refused("a: 1\n---\nb: 2", "a second document starts here, and only one is accepted", "---");
    refused("---\n---\na: 1", "a second document starts here, and only one is accepted", "---");
}

#[test]
fn control_characters_are_refused() {
    refused("a: \"x\u{1b}[0m\"", "control character U+001B in the text", "\u{1b}");
    refused("a: 1\u{0}", "control character U+0000 in the text", "\u{0}");
}
