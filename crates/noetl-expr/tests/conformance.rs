//! The templates of the conformance suite, each in the scope it has there.

mod support;

use support::renders;

const TYPES: &str = r#"{"workload": {"i": 42, "f": 2.5, "b": true, "l": [1, "two"], "m": {"k": "v"}, "z": null,
    "big": 9007199254740993, "code": "0042", "note": "{{ 1 + 1 }}", "deep": {"list": ["{% if %}"]}}}"#;

#[test]
fn a_lone_expression_keeps_the_type_of_its_value() {
    renders(
        TYPES,
        &[
            ("{{ workload.i }}", "42"),
            ("{{ workload.f }}", "2.5"),
            ("{{ workload.b }}", "true"),
            ("{{ workload.l }}", r#"[1, "two"]"#),
            ("{{ workload.m }}", r#"{"k": "v"}"#),
            ("{{ workload.z }}", "null"),
            ("{{ workload.big }}", "9007199254740993"),
            ("{{ workload.i + 1 }}", "43"),
            ("{{ workload.i > 40 }}", "true"),
            ("{{ workload.l[1] }}", r#""two""#),
            ("{{ workload.m.k }}", r#""v""#),
            ("{{ workload.z is none }}", "true"),
            ("{{ workload.z is defined }}", "true"),
            ("{{ workload.code }}", r#""0042""#),
        ],
    );
}

#[test]
fn text_that_looks_like_a_template_is_data_once_it_is_data() {
    renders(
        TYPES,
        &[
            ("{{ workload.note }}", r#""{{ 1 + 1 }}""#),
            ("{{ workload.deep.list[0] }}", r#""{% if %}""#),
            ("note: {{ workload.note }}", r#""note: {{ 1 + 1 }}""#),
            ("{% raw %}{{ 6 * 7 }}{% endraw %}", r#""{{ 6 * 7 }}""#),
        ],
    );
}

#[test]
fn strings_without_template_syntax_are_left_alone() {
    for text in ["007", "1.10", "", "true", "null", "[1, 2]", "{}", "1e3", "{ x }", "100%", "}} {"] {
        renders("{}", &[(text, &format!("{text:?}"))]);
    }
}

#[test]
fn filters_and_operators_that_playbooks_use() {
    renders(
        r#"{"workload": {"text": "  Blue Whale  ", "doc": {"a": [1, 2.5], "b": null}, "rows": [{"n": 10}, {"n": 20}]}}"#,
        &[
            ("{{ workload.text | trim }}", r#""Blue Whale""#),
            ("{{ workload.text | trim | lower | replace(' ', '_') }}", r#""blue_whale""#),
            ("{{ 'aBc' | upper }}", r#""ABC""#),
            ("{{ 'a-b-c' | replace('-', '+') }}", r#""a+b+c""#),
            ("{{ 'x,y,z' | split(',') }}", r#"["x", "y", "z"]"#),
            ("{{ [1, 2, 3] | join('/') }}", r#""1/2/3""#),
            ("{{ [4, 5, 6] | first }}", "4"),
            ("{{ [4, 5, 6] | last }}", "6"),
            ("{{ [4, 5, 6] | length }}", "3"),
            ("{{ workload.doc | length }}", "2"),
            ("{{ 'four' | length }}", "4"),
            ("{{ '12' | int }}", "12"),
            ("{{ '1.5' | float }}", "1.5"),
            ("{{ 5 | string }}", r#""5""#),
            ("{{ 'text' if (workload.doc | tojson) is string else 'other' }}", r#""text""#),
            ("{{ workload.doc | tojson | fromjson }}", r#"{"a": [1, 2.5], "b": null}"#),
            ("{{ 'hi' | b64encode }}", r#""aGk=""#),
            ("{{ 'aGk=' | b64decode }}", r#""hi""#),
            ("{{ [3, 1, 2] | sort }}", "[1, 2, 3]"),
            ("{{ workload.rows | map(attribute='n') | list }}", "[10, 20]"),
            ("{{ 7 // 2 }}", "3"),
            ("{{ 7 % 4 }}", "3"),
            ("{{ 2 ** 5 }}", "32"),
            ("{{ 7 / 2 }}", "3.5"),
            ("{{ (1 + 2) * 3 }}", "9"),
            ("{{ [1, 2, 3][-1] }}", "3"),
            ("{{ [1, 2, 3][1:] }}", "[2, 3]"),
            ("{{ [1, 2] + [3] }}", "[1, 2, 3]"),
            ("{{ {'k': {'n': 5}}['k'].n }}", "5"),
            ("{{ workload.doc.get('absent', 9) }}", "9"),
            ("{{ workload.doc['a'][0] }}", "1"),
            ("{{ 1 < 2 and 'x' != 'y' and not (1 == 2) }}", "true"),
        ],
    );
}

#[test]
fn text_with_expressions_and_blocks_gives_text() {
    renders(
        r#"{"workload": {"n": 7, "f": 2.5, "xs": [1, 2, 3], "name": "x"}}"#,
        &[
            ("n={{ workload.n }}", r#""n=7""#),
            ("{{ workload.n }}{{ workload.n }}", r#""77""#),
            ("{{ workload.f }}s", r#""2.5s""#),
            ("{% for x in workload.xs %}{{ x }};{% endfor %}", r#""1;2;3;""#),
            (
                "{% if workload.xs | length > 2 %}many{% elif workload.xs %}some{% else %}none{% endif %}",
                r#""many""#,
            ),
            ("{{ 'even' if workload.n % 2 == 0 else 'odd' }}", r#""odd""#),
            ("{{ workload.name is string }}", "true"),
            ("{{ workload.n is number }}", "true"),
            ("{{ 2 in workload.xs }}", "true"),
            ("{{ workload.name is none }}", "false"),
            ("{{ 'a' ~ 1 ~ 'b' }}", r#""a1b""#),
        ],
    );
}

#[test]
fn undefined_is_lenient() {
    renders(
        r#"{"workload": {"a": {}, "rows": []}}"#,
        &[
            ("[{{ nope.deeper.still }}]", r#""[]""#),
            ("{{ nope }}", "null"),
            ("{{ nope | default('dflt') }}", r#""dflt""#),
            ("{{ workload.a.b.c | default(3) }}", "3"),
            ("{{ nope is defined }}", "false"),
            ("{{ 'yes' if nope else 'no' }}", r#""no""#),
            ("{{ workload.rows[0].id | default('none') }}", r#""none""#),
        ],
    );
}

#[test]
fn text_outside_ascii_passes_unharmed() {
    renders(
        r#"{"start": {"city": "Zürich 東京 🚀"}, "workload": {"m": {"ключ": 1}, "greeting": "שלום"}}"#,
        &[
            ("→ {{ start.city }} ←", r#""→ Zürich 東京 🚀 ←""#),
            ("{{ start.city | length }}", "11"),
            ("{{ workload.m['ключ'] }}", "1"),
            ("{{ workload.greeting }}", r#""שלום""#),
        ],
    );
}

#[test]
fn workload_defaults_see_the_payload() {
    renders(
        r#"{"who": "Ada", "amount": 3}"#,
        &[
            ("Hello {{ who | default('nobody') }}", r#""Hello Ada""#),
            ("{{ region | default('eu') }}", r#""eu""#),
            ("{{ amount }}", "3"),
            ("x-{{ who }}", r#""x-Ada""#),
        ],
    );
}
