//! Does a tool have the settings its kind needs, and only those it reads?

use std::collections::BTreeMap;

use crate::codes;
use crate::diagnostic::Report;
use crate::keys::TASK;
use crate::kinds::{KindSpec, Need};
use crate::shape::{hinted_word, wrong_type};
use crate::suggest::{did_you_mean, listed};
use crate::types::Types;
use crate::yaml::{Entry, Node, Span};

/// Checks a tool as it runs: workbook resolved, settings moved up from `spec`. What it needs may also come as input.
pub(crate) fn check_fields(report: &mut Report, kind: &KindSpec, tool: &Node, base_input: &[Entry]) {
    let entries = tool.as_map().unwrap_or_default();
    for entry in entries {
        check_field(report, kind, entry);
    }
    let at = tool.get("kind").map_or(tool.span, |kind| kind.span);
    check_needs(report, kind, tool, base_input, at);
}

fn check_field(report: &mut Report, kind: &KindSpec, entry: &Entry) {
    let Some(field) = kind.find_field(&entry.key) else {
        if !kind.open && TASK.find_key(&entry.key).is_none() {
            let own: Vec<&str> = kind.fields.iter().map(|field| &*field.name).collect();
            let common: Vec<&str> = TASK.current_names().collect();
            let help = did_you_mean(&entry.key, own.iter().chain(&common).copied())
                .unwrap_or_else(|| format!("`{}` has {}", kind.name, listed(own, "and")));
            report.add_with_help(
                &codes::UNKNOWN_FIELD,
                entry.key_span,
                format!("a tool of kind `{}` does not read `{}`", kind.name, entry.key),
                help,
            );
        }
        return;
    };
    if field.older.iter().any(|old| **old == *entry.key) {
        report.add_with_help(
            &codes::OLD_SPELLING,
            entry.key_span,
            format!("`{}` is an older spelling of `{}`", entry.key, field.name),
            format!("write `{}`", field.name),
        );
    }
    if entry.value.is_null() {
        return;
    }
    let types = field.types.or(Types::TEMPLATE);
    if !types.accept(&entry.value) {
        wrong_type(report, entry, &types.describe());
    } else if !field.words.is_empty() {
        hinted_word(report, entry, field.words.iter().map(|word| &**word));
    }
}

fn check_needs(report: &mut Report, kind: &KindSpec, tool: &Node, base_input: &[Entry], at: Span) {
    let is_given = |name: &str| {
        let given = |node: Option<&Node>| node.is_some_and(|node| !node.is_null());
        given(tool.get(name))
            || ["input", "args"].iter().any(|key| given(tool.get(key).and_then(|input| input.get(name))))
            || base_input.iter().any(|entry| &*entry.key == name && !entry.value.is_null())
    };
    let mut groups: BTreeMap<&str, Group<'_>> = BTreeMap::new();
    for field in &kind.fields {
        let names = field.aliases.iter().chain(&field.older).chain([&field.name]);
        let written = names.clone().find(|name| tool.get(name).is_some_and(|node| !node.is_null()));
        let there = names.clone().any(|name| is_given(name));
        let (name, least, most) = match &field.need {
            Need::Optional => continue,
            Need::Required => {
                if !there {
                    report.add_with_help(
                        &codes::MISSING_FIELD,
                        at,
                        format!("a tool of kind `{}` needs `{}`", kind.name, field.name),
                        field.doc.to_string(),
                    );
                }
                continue;
            }
            Need::AnyOf(name) => (name, 1, usize::MAX),
            Need::OneOf(name) => (name, 1, 1),
            Need::AtMostOneOf(name) => (name, 0, 1),
        };
        let group = groups.entry(name).or_insert(Group {
            least,
            most,
            fields: Vec::new(),
            written: Vec::new(),
            count: 0,
        });
        group.fields.push(&field.name);
        group.written.extend(written.map(|name| &**name));
        group.count += usize::from(there);
    }
    for (name, group) in groups {
        if group.count < group.least {
            report.add(
                &codes::MISSING_FIELD,
                at,
                format!("a tool of kind `{}` needs {name}: {}", kind.name, listed(group.fields, "or")),
            );
        } else if group.written.len() > group.most {
            let second = group.written[1];
            let span = tool.entry(second).map_or(at, |entry| entry.key_span);
            report.add(
                &codes::EXCLUSIVE_FIELDS,
                span,
                format!("{} say {name} twice: keep one", listed(group.written.iter().copied(), "and")),
            );
        }
    }
}

/// Fields of which some number must be there.
struct Group<'k> {
    least: usize,
    most: usize,
    fields: Vec<&'k str>,
    /// The names under which they stand at the tool.
    written: Vec<&'k str>,
    count: usize,
}
