//! Every filter, test, function, method and operator, one row at a time: the template, and what it gives as JSON.

mod support;

use noetl_expr::{known_filters, known_functions, known_methods, known_tests};
use support::{fails, renders};

const DATA: &str = r#"{
    "text": "Blue Whale", "n": 7, "f": 2.5, "yes": true, "nothing": null,
    "list": [3, 1, 2], "words": ["b", "A", "c", "a"], "map": {"b": 2, "a": 1},
    "rows": [{"id": 1, "kind": "x", "on": true, "in": {"n": 5}}, {"id": 2, "kind": "y", "on": false, "in": {"n": 6}},
             {"id": 3, "kind": "x", "on": true}]
}"#;

const ARITHMETIC: &[(&str, &str)] = &[
    ("{{ 1 + 2 }}", "3"),
    ("{{ 1 + 2.0 }}", "3.0"),
    ("{{ 5 - 7 }}", "-2"),
    ("{{ 2 * 3.5 }}", "7.0"),
    ("{{ 4 / 2 }}", "2.0"),
    ("{{ -7 // 2 }}", "-4"),
    ("{{ -7 % 3 }}", "2"),
    ("{{ 7 % -3 }}", "-2"),
    ("{{ 7.5 // 2 }}", "3.0"),
    ("{{ 7.5 % 2 }}", "1.5"),
    ("{{ 2 ** -1 }}", "0.5"),
    ("{{ 2 ** 0.5 > 1.41 }}", "true"),
    ("{{ -n }}", "-7"),
    ("{{ -2 ** 2 }}", "4"),
    ("{{ 1 + 2 * 3 }}", "7"),
    ("{{ true + 1 }}", "2"),
    ("{{ 9007199254740993 + 1 }}", "9007199254740994"),
    ("{{ 18446744073709551615 - 1 }}", "18446744073709551614"),
    ("{{ 'a' + 'b' }}", r#""ab""#),
    ("{{ 'ab' * 3 }}", r#""ababab""#),
    ("{{ 3 * 'ab' }}", r#""ababab""#),
    ("{{ 'ab' * -1 }}", r#""""#),
    ("{{ [1] * 3 }}", "[1, 1, 1]"),
    ("{{ [] * 9223372036854775807 }}", "[]"),
    ("{{ '' * 9223372036854775807 }}", r#""""#),
    ("{{ list + [4] }}", "[3, 1, 2, 4]"),
    ("{{ [] + list }}", "[3, 1, 2]"),
    ("{{ 'n=' ~ n ~ ';' ~ f ~ yes ~ nothing ~ nope }}", r#""n=7;2.5true""#),
    ("{{ 'm' ~ map ~ list }}", r#""m{\"b\":2,\"a\":1}[3,1,2]""#),
];

const COMPARISONS: &[(&str, &str)] = &[
    ("{{ n == 7 }}", "true"),
    ("{{ n == 7.0 }}", "true"),
    ("{{ n == '7' }}", "false"),
    ("{{ n != 7 }}", "false"),
    ("{{ 1 < 2 }}", "true"),
    ("{{ 2 <= 2 }}", "true"),
    ("{{ 'b' > 'a' }}", "true"),
    ("{{ 'a' >= 'b' }}", "false"),
    ("{{ 1 < n < 10 }}", "true"),
    ("{{ 1 < n < 5 }}", "false"),
    ("{{ 1 < n <= 7 != 8 }}", "true"),
    ("{{ [1, 2] < [1, 3] }}", "true"),
    ("{{ list == [3, 1, 2] }}", "true"),
    ("{{ [3, 1, 2] == list }}", "true"),
    ("{{ list == (3, 1, 2) }}", "false"),
    ("{{ map == {'a': 1, 'b': 2} }}", "true"),
    ("{{ {'a': 1, 'b': 2} != map }}", "false"),
    ("{{ map == {'a': 1} }}", "false"),
    ("{{ rows[0].in == {'n': 5} }}", "true"),
    ("{{ rows == rows }}", "true"),
    ("{{ nothing == none }}", "true"),
    ("{{ nothing == nope }}", "false"),
    ("{{ nope == nope2 }}", "true"),
    ("{{ nope == 'x' }}", "false"),
    ("{{ nope != 'x' }}", "true"),
    ("{{ nope > 3 }}", "false"),
    ("{{ nope < 3 }}", "false"),
    ("{{ 3 >= nope }}", "false"),
    ("{{ nothing < 3 }}", "false"),
    ("{{ 18446744073709551615 > 9223372036854775807 }}", "true"),
    ("{{ 9007199254740993 == 9007199254740992.0 }}", "false"),
    ("{{ 2 in list }}", "true"),
    ("{{ 9 not in list }}", "true"),
    ("{{ 'lue' in text }}", "true"),
    ("{{ 'a' in map }}", "true"),
    ("{{ 'data' in map }}", "false"),
    ("{{ 'a' in {'a': 1} }}", "true"),
    ("{{ {'id': 9} in rows }}", "false"),
    ("{{ 1 in nope }}", "false"),
    ("{{ 1 in nothing }}", "false"),
    ("{{ nope in text }}", "false"),
    ("{{ nope in list }}", "false"),
];

const LOGIC: &[(&str, &str)] = &[
    ("{{ n and text }}", r#""Blue Whale""#),
    ("{{ nope or 'x' }}", r#""x""#),
    ("{{ not nope }}", "true"),
    ("{{ not list }}", "false"),
    ("{{ nope and 1 // 0 }}", "null"),
    ("{{ n or 1 // 0 }}", "7"),
    ("{{ 'a' if n > 5 else 'b' }}", r#""a""#),
    ("{{ 'a' if n > 50 }}", "null"),
    ("{{ 1 if nope else 2 if nothing else 3 }}", "3"),
    ("{{ True and true }}", "true"),
    ("{{ None }}", "null"),
];

const ACCESS: &[(&str, &str)] = &[
    ("{{ list[0] }}", "3"),
    ("{{ list[-1] }}", "2"),
    ("{{ list[9] }}", "null"),
    ("{{ list[-9] }}", "null"),
    ("{{ list.1 }}", "1"),
    ("{{ rows[1].kind }}", r#""y""#),
    ("{{ rows[n - 6].kind }}", r#""y""#),
    ("{{ rows[-1]['id'] }}", "3"),
    ("{{ map['a'] }}", "1"),
    ("{{ map['a' ~ ''] }}", "1"),
    ("{{ map[0] }}", "null"),
    ("{{ map.nope.deeper }}", "null"),
    ("{{ n.x }}", "null"),
    ("{{ text.x }}", "null"),
    ("{{ text[0] }}", r#""B""#),
    ("{{ text[-1] }}", r#""e""#),
    ("{{ text[0 + 1] }}", r#""l""#),
    ("{{ text[99] }}", "null"),
    ("{{ text[:4] }}", r#""Blue""#),
    ("{{ text[-5:] }}", r#""Whale""#),
    ("{{ text[::-1] }}", r#""elahW eulB""#),
    ("{{ list[1:] }}", "[1, 2]"),
    ("{{ list[:-1] }}", "[3, 1]"),
    ("{{ list[::2] }}", "[3, 2]"),
    ("{{ list[::-1] }}", "[2, 1, 3]"),
    ("{{ list[0:2:-1] }}", "[]"),
    ("{{ list[2:0:-1] }}", "[2, 1]"),
    ("{{ list[-99:99] }}", "[3, 1, 2]"),
    ("{{ list[5:] }}", "[]"),
    ("{{ nope[1:] }}", "[]"),
    ("{{ [1, [2, {'x': 3}]][1][1].x }}", "3"),
    ("{{ (1, 2) }}", "[1, 2]"),
    ("{{ {'a': n, 'b': [text]} }}", r#"{"a": 7, "b": ["Blue Whale"]}"#),
    ("{{ {1: 'a', true: 'b'} }}", r#"{"1": "a", "true": "b"}"#),
];

const TEXT_FILTERS: &[(&str, &str)] = &[
    ("{{ text | lower }}", r#""blue whale""#),
    ("{{ text | upper }}", r#""BLUE WHALE""#),
    ("{{ 'a b-c' | title }}", r#""A B-C""#),
    ("{{ 'aBC' | capitalize }}", r#""Abc""#),
    ("{{ ' x ' | trim }}", r#""x""#),
    ("{{ '--x-' | trim('-') }}", r#""x""#),
    ("{{ 'a.b.a' | replace('a', 'x') }}", r#""x.b.x""#),
    ("{{ 'a.b.a' | replace('a', 'x', 1) }}", r#""x.b.a""#),
    ("{{ 1234 | replace(2, 9) }}", r#""1934""#),
    ("{{ 'a,b,c' | split(',') }}", r#"["a", "b", "c"]"#),
    ("{{ 'a,b,c' | split(',', 1) }}", r#"["a", "b,c"]"#),
    ("{{ ' a  b ' | split }}", r#"["a", "b"]"#),
    ("{{ words | join }}", r#""bAca""#),
    ("{{ [1, none, true, 'x', [2]] | join(', ') }}", r#""1, , true, x, [2]""#),
    ("{{ rows | join('-', attribute='kind') }}", r#""x-y-x""#),
    ("{{ nope | join(',') }}", r#""""#),
    ("{{ 'a\nb' | lines }}", r#"["a", "b"]"#),
    ("{{ 'a\nb' | indent(2) }}", r#""a\n  b""#),
    ("{{ 'a\n\nb' | indent(2, true) }}", r#""  a\n\n  b""#),
    ("{{ 'one two three four' | truncate(10) }}", r#""one...""#),
    ("{{ 'one two three four' | truncate(10, true) }}", r#""one two...""#),
    ("{{ 'short' | truncate(10) }}", r#""short""#),
    ("{{ 'one two  three' | wordcount }}", "3"),
    ("{{ 'a b/c&d' | urlencode }}", r#""a%20b/c%26d""#),
    ("{{ {'q': 'a b', 'on': true, 'gone': none} | urlencode }}", r#""q=a%20b&on=true""#),
    ("{{ '%s-%05d' | format('x', 7) }}", r#""x-00007""#),
    ("{{ '<a>' | escape }}", r#""&lt;a&gt;""#),
    ("{{ '<a>' | e }}", r#""&lt;a&gt;""#),
    ("{{ '<a>' | safe }}", r#""<a>""#),
    ("{{ n | string }}", r#""7""#),
    ("{{ yes | string }}", r#""true""#),
    ("{{ map | string }}", r#""{\"b\":2,\"a\":1}""#),
    ("{{ nope | string }}", r#""""#),
    ("{{ nope | upper }}", r#""""#),
];

const NUMBER_FILTERS: &[(&str, &str)] = &[
    ("{{ '12' | int }}", "12"),
    ("{{ ' 12 ' | int }}", "12"),
    ("{{ '12.7' | int }}", "12"),
    ("{{ '-3' | int }}", "-3"),
    ("{{ 3.99 | int }}", "3"),
    ("{{ true | int }}", "1"),
    ("{{ 'x' | int }}", "0"),
    ("{{ 'x' | int(5) }}", "5"),
    ("{{ 'x' | int(default=6) }}", "6"),
    ("{{ 'ff' | int(0, 16) }}", "255"),
    ("{{ '0xff' | int(base=16) }}", "255"),
    ("{{ nothing | int }}", "0"),
    ("{{ nope | int }}", "0"),
    ("{{ list | int }}", "0"),
    ("{{ '9007199254740993' | int }}", "9007199254740993"),
    ("{{ '1.5' | float }}", "1.5"),
    ("{{ 3 | float }}", "3.0"),
    ("{{ 'x' | float }}", "0.0"),
    ("{{ 'x' | float(1.5) }}", "1.5"),
    ("{{ -3 | abs }}", "3"),
    ("{{ 2.567 | round(2) }}", "2.57"),
    ("{{ 2.1 | round(method='ceil') }}", "3.0"),
    ("{{ 'yes' | bool }}", "true"),
    ("{{ 'No' | bool }}", "false"),
    ("{{ 0 | bool }}", "false"),
];

const COLLECTION_FILTERS: &[(&str, &str)] = &[
    ("{{ list | length }}", "3"),
    ("{{ map | len }}", "2"),
    ("{{ text | count }}", "10"),
    ("{{ nope | length }}", "0"),
    ("{{ nothing | length }}", "0"),
    ("{{ list | first }}", "3"),
    ("{{ list | last }}", "2"),
    ("{{ [] | first }}", "null"),
    ("{{ [] | first | default('x') }}", r#""x""#),
    ("{{ nope | last }}", "null"),
    ("{{ text | first }}", r#""B""#),
    ("{{ map | keys }}", r#"["b", "a"]"#),
    ("{{ map | values }}", "[2, 1]"),
    ("{{ map | items }}", r#"[["b", 2], ["a", 1]]"#),
    ("{{ map | dictsort }}", r#"[["a", 1], ["b", 2]]"#),
    ("{{ map | get('a') }}", "1"),
    ("{{ map | get('x', 9) }}", "9"),
    ("{{ list | get(0) }}", "3"),
    ("{{ map | attr('a') }}", "1"),
    ("{{ map | list }}", r#"["b", "a"]"#),
    ("{{ 'ab' | list }}", r#"["a", "b"]"#),
    ("{{ list | sort }}", "[1, 2, 3]"),
    ("{{ list | sort(reverse=true) }}", "[3, 2, 1]"),
    ("{{ words | sort }}", r#"["A", "a", "b", "c"]"#),
    ("{{ rows | sort(attribute='kind', reverse=true) | map(attribute='id') | list }}", "[2, 1, 3]"),
    ("{{ list | reverse }}", "[2, 1, 3]"),
    ("{{ 'abc' | reverse }}", r#""cba""#),
    ("{{ [1, 2, 1] | unique }}", "[1, 2]"),
    ("{{ words | unique }}", r#"["b", "A", "c"]"#),
    ("{{ words | unique(case_sensitive=true) | length }}", "4"),
    ("{{ rows | unique(attribute='kind') | map(attribute='id') | list }}", "[1, 2]"),
    ("{{ [map, {'a': 1, 'b': 2}, map] | unique | length }}", "2"),
    ("{{ list | sum }}", "6"),
    ("{{ rows | sum(attribute='id') }}", "6"),
    ("{{ [[1], [2]] | sum(start=[]) }}", "[1, 2]"),
    ("{{ list | min }}", "1"),
    ("{{ list | max }}", "3"),
    ("{{ rows | max(attribute='id') | get('id') }}", "3"),
    ("{{ rows | map(attribute='in.n') | list }}", "[5, 6, null]"),
    ("{{ rows | map(attribute='in.n', default=0) | list }}", "[5, 6, 0]"),
    ("{{ words | map('upper') | list }}", r#"["B", "A", "C", "A"]"#),
    ("{{ [1, 0, none, 2] | select | list }}", "[1, 2]"),
    ("{{ list | select('odd') | list }}", "[3, 1]"),
    ("{{ list | select('>', 1) | list }}", "[3, 2]"),
    ("{{ list | reject('odd') | list }}", "[2]"),
    ("{{ rows | selectattr('on') | map(attribute='id') | list }}", "[1, 3]"),
    ("{{ rows | selectattr('kind', 'equalto', 'x') | map(attribute='id') | list }}", "[1, 3]"),
    ("{{ rows | selectattr('in', 'defined') | map(attribute='id') | list }}", "[1, 2]"),
    ("{{ rows | rejectattr('on') | map(attribute='id') | list }}", "[2]"),
    (
        "{% for kind, group in rows | groupby('kind') %}{{ kind }}:{{ group | map(attribute='id') | join('+') }} {% endfor %}",
        r#""x:1+3 y:2 ""#,
    ),
    ("{{ [1, 2, 3] | batch(2) | list }}", "[[1, 2], [3]]"),
    ("{{ [1, 2, 3] | batch(2, 0) | list }}", "[[1, 2], [3, 0]]"),
    ("{{ [1, 2, 3] | slice(2) | list }}", "[[1, 2], [3]]"),
    ("{{ [1, 2, 3] | slice(2, 0) | list }}", "[[1, 2], [3, 0]]"),
];

const DEFAULTS: &[(&str, &str)] = &[
    ("{{ nope | default(1) }}", "1"),
    ("{{ nope | d(1) }}", "1"),
    ("{{ nope | default }}", r#""""#),
    ("{{ nope | default(none) }}", "null"),
    ("{{ nope.a.b | default([]) }}", "[]"),
    ("{{ nothing | default(1) }}", "null"),
    ("{{ nothing | default(1, true) }}", "1"),
    ("{{ '' | default('x', true) }}", r#""x""#),
    ("{{ '' | default('x', boolean=true) }}", r#""x""#),
    ("{{ 0 | default(5) }}", "0"),
    ("{{ nope | default(nope2) | default(3) }}", "3"),
    ("{{ nope | default(value) | default(3) }}", "3"),
];

const DATA_FILTERS: &[(&str, &str)] = &[
    ("{{ map | tojson }}", r#""{\"b\":2,\"a\":1}""#),
    ("{{ '<x>' | tojson }}", r#""\"<x>\"""#),
    ("{{ nothing | tojson }}", r#""null""#),
    ("{{ nope | tojson }}", r#""null""#),
    ("{{ yes | tojson }}", r#""true""#),
    ("{{ 2.0 | tojson }}", r#""2.0""#),
    ("{{ [1] | tojson(indent=2) }}", r#""[\n  1\n]""#),
    ("{{ [1] | tojson(2) }}", r#""[\n  1\n]""#),
    ("$json${{ map | tojson }}$json$", r#""$json${\"b\":2,\"a\":1}$json$""#),
    ("{{ '[1, {\"a\": null}]' | fromjson }}", r#"[1, {"a": null}]"#),
    ("{{ ('{\"a\": {\"b\": 2}}' | fromjson).a.b }}", "2"),
    ("{{ list | fromjson }}", "[3, 1, 2]"),
    ("{{ '18446744073709551615' | fromjson }}", "18446744073709551615"),
    ("{{ 'hé' | b64encode }}", r#""aMOp""#),
    ("{{ 'aMOp' | b64decode }}", r#""hé""#),
];

const TESTS: &[(&str, &str)] = &[
    ("{{ n is defined }}", "true"),
    ("{{ nothing is defined }}", "true"),
    ("{{ map.x is defined }}", "false"),
    ("{{ nope is undefined }}", "true"),
    ("{{ nope is not defined }}", "true"),
    ("{{ nothing is none }}", "true"),
    ("{{ nope is none }}", "false"),
    ("{{ nothing is null }}", "true"),
    ("{{ text is string }}", "true"),
    ("{{ n is string }}", "false"),
    ("{{ n is number }}", "true"),
    ("{{ yes is number }}", "false"),
    ("{{ n is integer }}", "true"),
    ("{{ n is int }}", "true"),
    ("{{ f is integer }}", "false"),
    ("{{ f is float }}", "true"),
    ("{{ yes is boolean }}", "true"),
    ("{{ list is sequence }}", "true"),
    ("{{ map is sequence }}", "false"),
    ("{{ nope is sequence }}", "false"),
    ("{{ map is mapping }}", "true"),
    ("{{ {'a': 1} is mapping }}", "true"),
    ("{{ list is mapping }}", "false"),
    ("{{ list is iterable }}", "true"),
    ("{{ n is iterable }}", "false"),
    ("{{ n is odd }}", "true"),
    ("{{ n is even }}", "false"),
    ("{{ f is even }}", "false"),
    ("{{ 9 is divisibleby(3) }}", "true"),
    ("{{ 9 is divisibleby 2 }}", "false"),
    ("{{ yes is true }}", "true"),
    ("{{ 1 is true }}", "false"),
    ("{{ false is false }}", "true"),
    ("{{ 'abc' is lower }}", "true"),
    ("{{ 'ABC' is upper }}", "true"),
    ("{{ text is startingwith('Blue') }}", "true"),
    ("{{ text is endingwith('Blue') }}", "false"),
    ("{{ n is sameas 7 }}", "true"),
    ("{{ n is eq 7 }}", "true"),
    ("{{ n is equalto 7 }}", "true"),
    ("{{ n is ne 7 }}", "false"),
    ("{{ n is lt 8 }}", "true"),
    ("{{ n is lessthan 8 }}", "true"),
    ("{{ n is le 7 }}", "true"),
    ("{{ n is gt 8 }}", "false"),
    ("{{ n is greaterthan 8 }}", "false"),
    ("{{ n is ge 7 }}", "true"),
    ("{{ 2 is in list }}", "true"),
    ("{{ 2 is not in [1] }}", "true"),
    ("{{ 2 is notin [1] }}", "true"),
];

const FUNCTIONS: &[(&str, &str)] = &[
    ("{{ range(3) }}", "[0, 1, 2]"),
    ("{{ range(1, 4) }}", "[1, 2, 3]"),
    ("{{ range(5, 0, -2) }}", "[5, 3, 1]"),
    ("{{ range(0) }}", "[]"),
    ("{{ range(3)[1] }}", "1"),
    ("{{ dict(a=1, b=n) }}", r#"{"a": 1, "b": 7}"#),
    ("{{ dict(map, c=3) }}", r#"{"b": 2, "a": 1, "c": 3}"#),
    ("{{ now() }}", r#""2023-11-14T22:13:20.000000Z""#),
    ("at {{ now() }}", r#""at 2023-11-14T22:13:20.000000Z""#),
    ("{{ now()[:10] }}", r#""2023-11-14""#),
    (
        "{% set sum = namespace(n=0) %}{% for x in list %}{% set sum.n = sum.n + x %}{% endfor %}{{ sum.n }}",
        r#""6""#,
    ),
    (
        "{% set all = namespace(items=[]) %}{% for x in list %}{% set all.items = all.items + [x * 2] %}{% endfor %}{{ all.items }}",
        r#""[6,2,4]""#,
    ),
];

const METHODS: &[(&str, &str)] = &[
    ("{{ map.get('a') }}", "1"),
    ("{{ map.get('x') }}", "null"),
    ("{{ map.get('x', {}).get('y', 5) }}", "5"),
    ("{{ {'a': 1}.get('a') }}", "1"),
    ("{{ map.items() }}", r#"[["b", 2], ["a", 1]]"#),
    ("{% for k, v in map.items() %}{{ k }}={{ v }} {% endfor %}", r#""b=2 a=1 ""#),
    ("{{ map.keys() | list }}", r#"["b", "a"]"#),
    ("{{ map.values() | sum }}", "3"),
    ("{{ {'a': 1}.items() }}", r#"[["a", 1]]"#),
    ("{{ 'a,b'.split(',') }}", r#"["a", "b"]"#),
    ("{{ 'a b'.split() }}", r#"["a", "b"]"#),
    ("{{ 'a,b,c'.split(',', 1) }}", r#"["a", "b,c"]"#),
    ("{{ ' x '.strip() }}", r#""x""#),
    ("{{ 'xxaxx'.strip('x') }}", r#""a""#),
    ("{{ ' x '.lstrip() }}", r#""x ""#),
    ("{{ 'ab'.lstrip('a') }}", r#""b""#),
    ("{{ ' x '.rstrip() }}", r#"" x""#),
    ("{{ 'ab'.rstrip('b') }}", r#""a""#),
    ("{{ text.lower() }}", r#""blue whale""#),
    ("{{ text.upper() }}", r#""BLUE WHALE""#),
    ("{{ 'a b'.title() }}", r#""A B""#),
    ("{{ 'ab'.capitalize() }}", r#""Ab""#),
    ("{{ text.startswith('Blue') }}", "true"),
    ("{{ text.startswith(('Red', 'Blue')) }}", "true"),
    ("{{ text.endswith('x') }}", "false"),
    ("{{ 'a.b'.replace('.', '-') }}", r#""a-b""#),
    ("{{ 'aaa'.replace('a', 'b', 2) }}", r#""bba""#),
    ("{{ ', '.join(['a', 1]) }}", r#""a, 1""#),
    ("{{ ','.join(words) }}", r#""b,A,c,a""#),
    ("{{ 'a\nb'.splitlines() }}", r#"["a", "b"]"#),
    ("{{ 'abc'.removeprefix('a') }}", r#""bc""#),
    ("{{ 'abc'.removesuffix('x') }}", r#""abc""#),
    ("{{ 'héllo'.find('llo') }}", "2"),
    ("{{ 'abc'.find('x') }}", "-1"),
    ("{{ 'banana'.count('an') }}", "2"),
    ("{{ '42'.isdigit() }}", "true"),
    ("{{ [1, 2, 1].count(1) }}", "2"),
    ("{{ list.index(1) }}", "1"),
    ("{{ nope.get('x') }}", "null"),
    ("{{ nope.strip().lower() | default('d') }}", r#""d""#),
];

const BLOCKS: &[(&str, &str)] = &[
    ("{% if n > 5 %}a{% else %}b{% endif %}", r#""a""#),
    ("{% if nope %}a{% elif n == 7 %}b{% endif %}", r#""b""#),
    ("{% for x in list %}{{ loop.index }}{{ '' if loop.last else ',' }}{% endfor %}", r#""1,2,3""#),
    ("{% for x in list %}{{ loop.index0 }}/{{ loop.length }} {% endfor %}", r#""0/3 1/3 2/3 ""#),
    ("{% for x in [] %}x{% else %}none{% endfor %}", r#""none""#),
    ("{% for x in nope %}x{% else %}none{% endfor %}", r#""none""#),
    ("{% for x in list if x > 1 %}{{ x }}{% endfor %}", r#""32""#),
    ("{% for key in map %}{{ key }}{{ map[key] }}{% endfor %}", r#""b2a1""#),
    ("{% for c in 'abc' %}{{ c }}.{% endfor %}", r#""a.b.c.""#),
    ("{% for row in rows %}{{ row.id }}{{ row.in.n }};{% endfor %}", r#""15;26;3;""#),
    ("{% for x in list %}{% if x == 1 %}{% break %}{% endif %}{{ x }}{% endfor %}", r#""3""#),
    ("{% for x in list %}{% if x == 1 %}{% continue %}{% endif %}{{ x }}{% endfor %}", r#""32""#),
    ("{% for x in list %}{{ loop.cycle('a', 'b') }}{% endfor %}", r#""aba""#),
    (
        "{% for x in range(2) %}{% for y in range(2) %}{{ x }}{{ y }} {% endfor %}{% endfor %}",
        r#""00 01 10 11 ""#,
    ),
    (
        "{% for x in [[1, [2]]] recursive %}{{ x[0] }}{% if x[1] %}{{ loop([x[1]]) }}{% endif %}{% endfor %}",
        r#""12""#,
    ),
    ("{% set x = n + 1 %}{{ x }}", r#""8""#),
    ("{% set a, b = [1, 2] %}{{ b }}{{ a }}", r#""21""#),
    ("{% set x %}a{{ n }}{% endset %}{{ x | upper }}", r#""A7""#),
    ("{% with x = 1, y = 2 %}{{ x + y }}{% endwith %}", r#""3""#),
    ("{% filter upper %}a{{ n }}b{% endfilter %}", r#""A7B""#),
    ("a{# a comment with {{ braces }} #}b", r#""ab""#),
    ("{# nothing #}", r#""""#),
    ("{% raw %}{{ x }}{% endraw %}", r#""{{ x }}""#),
    ("{% raw %}{{{% endraw %}{{ n }}", r#""{{7""#),
    ("a {{- n -}} b", r#""a7b""#),
    ("{% if true -%}  x  {%- endif %}", r#""x""#),
    ("{{ n }} \n", r#""7 \n""#),
    ("{{ n }}\n", "7"),
    ("{{ n }}\r\n", "7"),
    ("\n{{ n }}", r#""\n7""#),
    (" {{ n }}", r#"" 7""#),
    ("{{ n }} ", r#""7 ""#),
    ("text {{ n }}\n", r#""text 7\n""#),
    ("{{ '}}' }}", r#""}}""#),
    ("{{ \"{{ x }}\" }}", r#""{{ x }}""#),
    ("{{ 'it''s' }}", r#""its""#),
    ("{{ 'tab\\t\\u00e9' }}", r#""tab\té""#),
];

#[test]
fn arithmetic() {
    renders(DATA, ARITHMETIC);
}

#[test]
fn comparisons() {
    renders(DATA, COMPARISONS);
}

#[test]
fn logic() {
    renders(DATA, LOGIC);
}

#[test]
fn access_to_items_entries_and_slices() {
    renders(DATA, ACCESS);
}

#[test]
fn filters_on_text() {
    renders(DATA, TEXT_FILTERS);
}

#[test]
fn filters_on_numbers() {
    renders(DATA, NUMBER_FILTERS);
}

#[test]
fn filters_on_lists_and_maps() {
    renders(DATA, COLLECTION_FILTERS);
}

#[test]
fn defaults() {
    renders(DATA, DEFAULTS);
}

#[test]
fn filters_for_json_and_base64() {
    renders(DATA, DATA_FILTERS);
}

#[test]
fn tests() {
    renders(DATA, TESTS);
}

#[test]
fn functions() {
    renders(DATA, FUNCTIONS);
}

#[test]
fn methods() {
    renders(DATA, METHODS);
}

#[test]
fn blocks_and_whitespace() {
    renders(DATA, BLOCKS);
}

#[test]
fn values_inside_text_print_as_json_and_nothing_as_nothing() {
    renders(
        DATA,
        &[
            ("<{{ yes }}>", r#""<true>""#),
            ("<{{ nothing }}>", r#""<>""#),
            ("<{{ nope }}>", r#""<>""#),
            ("<{{ map }}>", r#""<{\"b\":2,\"a\":1}>""#),
            ("<{{ [1, none, 'x', 1.0] }}>", r#""<[1,null,\"x\",1.0]>""#),
            ("<{{ 4 / 2 }}>", r#""<2.0>""#),
            ("<{{ 1e300 }}>", r#""<1e+300>""#),
            ("{% if true %}<{{ yes }}{{ nothing }}{{ map }}>{% endif %}", r#""<true{\"b\":2,\"a\":1}>""#),
        ],
    );
}

#[test]
fn faults_say_what_is_wrong() {
    fails(
        DATA,
        &[
            ("{{ 1 // 0 }}", "cannot evaluate `1 // 0`: division by zero"),
            ("{{ 1 / 0 }}", "division by zero"),
            ("{{ n % 0 }}", "division by zero"),
            ("{{ 1.5 // 0.0 }}", "division by zero"),
            ("{{ 0 ** -1 }}", "division by zero"),
            ("{{ n is divisibleby(0) }}", "division by zero"),
            ("{{ 9223372036854775807 * 9223372036854775807 }}", "the result does not fit into 64 bits"),
            ("{{ -9223372036854775807 - 9 }}", "the result does not fit into 64 bits"),
            ("{{ 10 ** 1000 }}", "the result does not fit into 64 bits"),
            ("{{ 340282366920938463463374607431768211455 }}", "the number does not fit into 64 bits"),
            ("{{ text + 1 }}", "cannot evaluate `text + 1`: `+` does not work on text and number"),
            ("{{ list + 1 }}", "`+` does not work on list and number"),
            ("{{ map * 2 }}", "`*` does not work on map and number"),
            ("{{ -text }}", "`-` does not work on text"),
            ("{{ '5' > 3 }}", "`>` does not work on text and number"),
            ("{{ map < map }}", "`<` does not work on map and map"),
            ("{{ 1 in 5 }}", "`in` does not work on number"),
            ("{{ nope + 1 }}", "cannot evaluate `nope + 1`: `nope` is undefined"),
            ("{{ map.x.y - 1 }}", "`map.x.y` is undefined"),
            ("{{ -nope }}", "`nope` is undefined"),
            ("a {{ n }} {{ nope * 2 }}", "cannot evaluate `nope * 2`: `nope` is undefined"),
            ("{% if true %}{{ nope * 2 }}{% endif %}", "cannot evaluate `nope * 2`: `nope` is undefined"),
            ("{{ n | length }}", "cannot evaluate `n | length`: number has no length"),
            ("{{ n | first }}", "a list is needed, not number"),
            ("{{ list | keys }}", "a map is needed, not list"),
            ("{{ ['a'] | sum }}", "only numbers can be summed, not text"),
            ("{{ '{' | fromjson }}", "this is not JSON: EOF while parsing an object at line 1 column 1"),
            ("{{ '***' | b64decode }}", "this is not Base64: Invalid symbol 42, offset 0."),
            ("{{ '/w==' | b64decode }}", "the decoded bytes are not text in UTF-8"),
            ("{{ 'a' | split('') }}", "the separator of `split` is empty"),
            ("{{ 'a' | lower(1) }}", "the filter `lower` takes at most 0 arguments"),
            ("{{ 'a' | replace('a') }}", "the argument `new` is missing"),
            ("{{ list[::0] }}", "the step of a slice cannot be 0"),
            ("{{ range(1, 5, 0) }}", "the step of `range` cannot be 0"),
            ("{{ range('x') }}", "`range` takes whole numbers, not text"),
            ("{{ n.strip() }}", "number has no method `strip`"),
            ("{{ text.get('x') }}", "text has no method `get`"),
            ("{{ list.index(99) }}", "the list does not have this item"),
            ("{% for x in 5 %}{% endfor %}", "a loop cannot go through number"),
            ("{{ {[1]: 2} }}", "a list or map cannot be the key of a map"),
            ("{{ namespace(a=1) }}", "a namespace is not data and cannot be a result"),
        ],
    );
}

#[test]
fn long_expressions_are_shortened_in_messages() {
    let long = format!("{{{{ 1 // 0 + {} }}}}", vec!["n"; 60].join(" + "));
    let error = support::render(&long, &support::scope(DATA)).expect_err("it divides by zero");
    assert!(error.message.contains("…`: division by zero"), "{error}");
    assert!(error.message.chars().count() < 130, "{error}");
}

#[test]
fn every_filter_test_function_and_method_has_a_row() {
    let rows = [
        ARITHMETIC,
        COMPARISONS,
        LOGIC,
        ACCESS,
        TEXT_FILTERS,
        NUMBER_FILTERS,
        COLLECTION_FILTERS,
        DEFAULTS,
        DATA_FILTERS,
        TESTS,
        FUNCTIONS,
        METHODS,
        BLOCKS,
    ];
    let all: Vec<&str> = rows.iter().copied().flatten().map(|(source, _)| *source).collect();
    let used = |pattern: String| all.iter().any(|source| source.contains(&pattern));
    for filter in known_filters() {
        assert!(used(format!("| {filter}")), "filter {filter}");
    }
    for test in known_tests() {
        assert!(used(format!("is {test}")) || used(format!("is not {test}")), "test {test}");
    }
    for function in known_functions() {
        assert!(used(format!("{function}(")), "function {function}");
    }
    for method in known_methods() {
        assert!(used(format!(".{method}(")), "method {method}");
    }
    assert!(all.len() > 300, "{}", all.len());
}
