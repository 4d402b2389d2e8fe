//! Documents made to hurt. Each is answered with a plain error, by a limit that is reached long before the work adds up; a
//! parser that tried to read them whole would run for hours, or out of stack.

use noetl_dsl::fix::fix;
use noetl_dsl::positions::LineIndex;
use noetl_dsl::yaml::{Data, Limits, Node, Span, YamlError, parse};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn refusal(source: &str) -> YamlError {
    let error = parse(source, &Limits::default()).expect_err("refused");
    assert_inside(source, error.span);
    error
}

fn assert_inside(source: &str, span: Span) {
    assert!(span.start <= span.end && span.end <= source.len(), "{span:?} of {}", source.len());
    assert!(source.is_char_boundary(span.start) && source.is_char_boundary(span.end), "{span:?}");
}

fn assert_places(source: &str, node: &Node) {
    assert_inside(source, node.span);
    match &node.data {
        Data::Text(text) => {
            for offset in [0, text.len() / 2, text.len(), text.len() + 1] {
                let found = node.source_offset(source, offset);
                assert_inside(source, Span::at(found));
                assert!(node.span.start <= found && found <= node.span.end, "{found} of {:?}", node.span);
            }
            assert!(node.first_text_line(source) <= LineIndex::new(source).line(source.len()));
        }
        Data::List(items) => items.iter().for_each(|item| assert_places(source, item)),
        Data::Map(entries) => {
            for entry in entries {
                assert_inside(source, entry.key_span);
                assert_places(source, &entry.value);
            }
        }
        _ => {}
    }
}

/// Either a tree or an error, with every place inside the source.
fn assert_answered(source: &str) {
    match parse(source, &Limits::default()) {
        Ok(document) => {
            assert_places(source, &document.root);
            document.problems.iter().for_each(|problem| assert_inside(source, problem.span));
        }
        Err(error) => assert_inside(source, error.span),
    }
}

const TOO_DEEP: &str = "lists and maps are nested more than 64 levels deep";
const TOO_MANY: &str = "the document has more than 200000 values";
const MEBIBYTE: usize = 1024 * 1024;

#[test]
fn brackets_nested_a_million_deep_are_refused_at_the_65th() {
    for (opening, place) in [("[", 64), ("{", 64), ("{a: ", 64 * 4), ("[\n", 64 * 2), ("[a, ", 64 * 4)] {
        let error = refusal(&opening.repeat(MEBIBYTE / opening.len()));
        assert_eq!((error.message.as_str(), error.span.start), (TOO_DEEP, place), "{opening:?}");
    }
}

#[test]
fn brackets_hidden_from_a_careless_reader_are_refused_too() {
    let deep = "[".repeat(MEBIBYTE);
    for before in [
        "a: ",
        "- ",
        "- {a: 1, }\n- ",
        "\"\": ",
        "'' : ",
        "a: &x ",
        "a: !!seq\n  ",
        "a: # \"\n  ",
        "? ",
        "a: *b\nb: ",
        "--- ",
        "%YAML 1.2\n---\n",
        "\u{FEFF}",
        "a: [ :\", ",
        "a: [x\"y, ",
        "a: [ &x\" ",
        "a: [#\"\n",
        "a: {\"b\" : ",
        "a: ''\nb: ",
        "a: |\n\nb: ",
        "a: |\n  \"\nb: ",
        "a: >-\n  x\n  \"\n- ",
        "a: x\n  \"y\nb: ",
        "- x\n- ",
        "-\n- ",
        "a:\nb: ",
    ] {
        let source = format!("{before}{deep}");
        let error = parse(&source, &Limits::default()).expect_err("refused");
        assert_inside(&source, error.span);
        assert!(error.span.start < before.len() + 70, "{before:?}: {error} at {:?}", error.span);
    }
}

#[test]
fn blocks_nested_deep_are_refused() {
    for source in ["- ".repeat(MEBIBYTE / 2), "? ".repeat(MEBIBYTE / 2), "- ? ".repeat(MEBIBYTE / 4)] {
        assert!(matches!(refusal(&source).message.as_str(), TOO_DEEP | "a key must be text"));
    }
    let stairs: String = (0..1000).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
    assert_eq!(refusal(&stairs).message, TOO_DEEP);
}

#[test]
fn depth_up_to_the_limit_is_accepted() {
    let flow = format!("{}{}", "[".repeat(64), "]".repeat(64));
    let block: String = (0..63).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect::<String>()
        + &format!("{}a: 1", " ".repeat(63));
    for source in [flow, block] {
        assert_answered(&source);
        assert!(parse(&source, &Limits::default()).is_ok());
    }
}

#[test]
fn a_bomb_of_aliases_ends_with_the_budget() {
    let mut source = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let uses = vec![format!("*a{}", level - 1); 10].join(", ");
        source += &format!("a{level}: &a{level} [{uses}]\n");
    }
    let error = refusal(&source);
    assert_eq!(
        (error.message.as_str(), error.help.as_deref()),
        (TOO_MANY, Some("aliases count as what they stand for"))
    );
}

#[test]
fn a_bomb_of_merge_keys_ends_with_the_budget() {
    let mut source = String::from("a0: &a0 {k: [x, x, x, x, x, x, x, x, x, x]}\n");
    for level in 1..12 {
        let uses: Vec<_> = (0..10).map(|at| format!("k{at}: {{<<: *a{}}}", level - 1)).collect();
        source += &format!("a{level}: &a{level} {{{}}}\n", uses.join(", "));
    }
    assert_eq!(refusal(&source).message, TOO_MANY);
}

#[test]
fn aliases_cannot_nest_deeper_than_values() {
    let mut source = String::from("a0: &a0 [x]\n");
    for level in 1..100 {
        source += &format!("a{level}: &a{level} [*a{}]\n", level - 1);
    }
    assert_eq!(refusal(&source).message, TOO_DEEP);
}

#[test]
fn anchors_around_anchors_count_each_time() {
    let items = "1, ".repeat(10_000);
    let source = format!("{}{items}{}", "&a [".repeat(60), "]".repeat(60));
    assert_eq!(refusal(&source).message, TOO_MANY);
}

#[test]
fn a_million_aliases_are_too_many() {
    assert_eq!(
        refusal(&format!("[&a x, {}]", "*a, ".repeat(20_000))).message,
        "the document has more than 10000 aliases"
    );
    assert_eq!(refusal(&format!("[{}]", "&a x, ".repeat(MEBIBYTE / 6))).message, TOO_MANY);
    assert_answered(&"&a *a ".repeat(MEBIBYTE / 6));
    assert_answered(&"&a\n*a\n".repeat(MEBIBYTE / 6));
}

#[test]
fn long_names_texts_and_lines_are_bounded_by_their_size() {
    let long = "x".repeat(2 * MEBIBYTE);
    let too_long = "this text has 2097152 bytes; at most 1048576 are accepted";
    assert_eq!(refusal(&format!("a: {long}")).message, too_long);
    assert_eq!(refusal(&format!("a: '{long}'")).message, too_long);
    assert_eq!(refusal(&format!("a: |-\n  {long}")).message, too_long);
    let long = "x".repeat(MEBIBYTE / 4);
    assert_answered(&format!("a: &{long} 1\nb: *{long}"));
    assert_answered(&format!("a: !{long} 1"));
    assert_answered(&format!("{long}: 1"));
    assert_answered(&format!("# {long}\na: 1 # {long}"));
    assert_answered(&format!("a: 1{}\n", " ".repeat(MEBIBYTE / 4)));
    assert_answered(&format!("a: 1{}b: 2", "\n".repeat(MEBIBYTE / 4)));
    assert_answered(&format!("a: |{}  b\n", "\n".repeat(MEBIBYTE / 4)));
    assert_answered(&format!("a: '{}'", "\n ".repeat(MEBIBYTE / 8)));
    assert_answered(&format!("a: {}", "é ".repeat(MEBIBYTE / 8)));
}

#[test]
fn texts_beyond_the_size_limit_are_not_read_at_all() {
    let source = "[".repeat(10 * MEBIBYTE);
    assert_eq!(refusal(&source).message, "the text has 10485760 bytes; at most 4194304 are accepted");
}

#[test]
fn a_hundred_thousand_keys_are_read() {
    let source: String = (0..99_999).map(|key| format!("k{key}: 1\n")).collect();
    let document = parse(&source, &Limits::default()).expect("within the limits");
    assert_eq!(document.root.as_map().map(<[_]>::len), Some(99_999));
    let flow = format!("{{{}}}", source.replace('\n', ", "));
    let document = parse(&flow, &Limits::default()).expect("within the limits");
    assert_eq!(document.root.as_map().map(<[_]>::len), Some(99_999));
}

#[test]
fn a_million_values_are_too_many() {
    assert_eq!(refusal(&"- 1\n".repeat(MEBIBYTE / 4)).message, TOO_MANY);
    assert_eq!(refusal(&format!("[{}]", "1,".repeat(MEBIBYTE))).message, TOO_MANY);
    assert_eq!(refusal(&"a: 1\n".repeat(MEBIBYTE / 5)).message, TOO_MANY);
}

#[test]
fn a_million_values_at_full_depth_are_too_many() {
    let source = format!("{}{}", "[".repeat(63), "1,".repeat(MEBIBYTE));
    assert_eq!(refusal(&source).message, TOO_MANY);
    assert_eq!(refusal(&format!("{source}{}", "]".repeat(63))).message, TOO_MANY);
}

#[test]
fn nul_and_other_control_characters_are_refused() {
    for source in ["\0", "a: \0", "a: \"\0\"", "a: |\n  \0\n", "[\0", "# \0\na: 1"] {
        assert_eq!(refusal(source).message, "control character U+0000 in the text");
    }
}

const PLAYBOOK: &str = r#"apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: hostile, path: tests/hostile}
workload:
  items: [1, 2, {a: "ü\u00e9\n", b: 'it''s'}]
  defaults: &defaults
    retries: 3   # three times
workflow:
- step: start
  desc: >-
    folded text
    on two lines

    and a third
  tool:
    - name: fetch
      kind: http
      url: "{{ workload.url }}/items"
      spec: {policy: {rules: [{when: "{{ output.status == 'error' }}", then: {do: retry, attempts: 3}}]}}
    - name: work
      kind: python
      input: {<<: *defaults, items: '{{ workload.items }}'}
      code: |
        def main(items):
            return {"count": len(items)}
  next:
    arcs:
      - step: end
        when: "{{ output.data.count > 0 }}"
- step: end
  tool: {kind: noop}
"#;

/// A playbook in which nearly everything is spelt the old way.
const OLD_PLAYBOOK: &str = r#"apiVersion: noetl.io/v10
kind: Playbook
metadata: {name: old}
workflow:
- step: start
  args: {a: 1}   # for all
  tool:
    - fetch:     # get it
        kind: http
        endpoint: "{{ workload.url }}"
        set_ctx: {page: "{{ outcome.result.page }}"}
        spec:
          policy:
            rules:
              - when: outcome.status == 'error'
                then: {do: retry, set_iter: {n: 1}}
              - else:
                  do: continue
    - save: {kind: noop, args: {b: 2}}
  vars:
    x: 1
  set_ctx: {y: 2}
  loop: {in: [1], iterator: i, mode: async, concurrency: 2}
  next:
    - step: middle
      when: "{{ outcome.result }}"
    - end
- step: middle
  tool:
    kind: noop
    spec: {policy: {rules: [{else: , then: {do: continue}}]}}
  next: end
- step: end
"#;

#[derive(Clone, Debug)]
enum Change {
    Delete(prop::sample::Index, usize),
    Insert(prop::sample::Index, String),
    Repeat(prop::sample::Index, usize),
    Cut(prop::sample::Index),
}

fn change() -> impl Strategy<Value = Change> {
    let word = prop::sample::select(vec![
        "[",
        "]",
        "{",
        "}",
        ":",
        ": ",
        "- ",
        "\n",
        "\r\n",
        "\r",
        "\t",
        "  ",
        "'",
        "\"",
        "\\",
        "|",
        ">",
        "#",
        " # ",
        "&a ",
        "*a",
        "*defaults",
        "!!str ",
        "!x ",
        "? ",
        "<<: ",
        "---\n",
        "...\n",
        "%YAML 1.2\n",
        "\u{FEFF}",
        "é",
        "𝄞",
        "\u{85}",
        "\u{2028}",
        "{{",
        "}}",
        "|2-\n",
        ">+\n",
        "~",
        "`",
        "@",
        ",",
    ]);
    prop_oneof![
        (any::<prop::sample::Index>(), 1..20usize).prop_map(|(at, length)| Change::Delete(at, length)),
        (any::<prop::sample::Index>(), word.prop_map(str::to_owned))
            .prop_map(|(at, word)| Change::Insert(at, word)),
        (any::<prop::sample::Index>(), 1..60usize).prop_map(|(at, length)| Change::Repeat(at, length)),
        any::<prop::sample::Index>().prop_map(Change::Cut),
    ]
}

fn changed(text: &str, changes: &[Change]) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    for change in changes {
        let length = characters.len();
        if length == 0 {
            break;
        }
        match change {
            Change::Delete(at, count) => {
                let at = at.index(length);
                characters.drain(at..(at + count).min(length));
            }
            Change::Insert(at, word) => {
                let at = at.index(length + 1);
                characters.splice(at..at, word.chars());
            }
            Change::Repeat(at, count) => {
                let at = at.index(length);
                let again = characters[at..(at + count).min(length)].to_vec();
                characters.splice(at..at, again);
            }
            Change::Cut(at) => characters.truncate(at.index(length)),
        }
    }
    characters.into_iter().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(7), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_answered(text in any::<String>()) {
        assert_answered(&text);
    }

    #[test]
    fn any_text_of_yaml_characters_is_answered(text in "[\\[\\]{}:,\"'#&*!|>?%@`~ \\t\\n\\r\\-.a0é\u{FEFF}\\\\<=+]{0,60}") {
        assert_answered(&text);
    }

    #[test]
    fn any_damage_to_a_playbook_is_answered(changes in prop::collection::vec(change(), 1..6)) {
        let text = changed(PLAYBOOK, &changes);
        assert_answered(&text);
    }

    #[test]
    fn any_damage_to_a_playbook_in_old_spelling_can_be_fixed_or_left(changes in prop::collection::vec(change(), 0..4)) {
        let text = changed(OLD_PLAYBOOK, &changes);
        let fixed = fix(&text);
        let again = fix(&fixed.text);
        prop_assert_eq!(&again.text, &fixed.text);
        prop_assert!(again.applied.is_empty());
        prop_assert_eq!(fixed.applied.is_empty(), fixed.text == text);
        let lines = LineIndex::new(&text).line(text.len());
        prop_assert!(fixed.applied.iter().all(|applied| (1..=lines).contains(&applied.line)));
        prop_assert!(fixed.text == text || parse(&fixed.text, &Limits::default()).is_ok());
    }
}

#[test]
fn the_playbooks_that_are_damaged_are_sound() {
    for source in [PLAYBOOK, OLD_PLAYBOOK] {
        let document = parse(source, &Limits::default()).expect("sound");
        assert!(document.problems.is_empty());
        assert_places(source, &document.root);
    }
    let fixed = fix(OLD_PLAYBOOK).text;
    for old in [
        "v10",
        "args",
        "outcome",
        "set_ctx",
        "set_iter",
        "vars",
        "async",
        "concurrency",
        "endpoint",
        "fetch:",
    ] {
        assert!(!fixed.contains(old), "{old} in {fixed}");
    }
}
