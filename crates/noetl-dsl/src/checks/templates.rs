//! Do the names, filters, tests and functions that templates use exist?

use std::collections::BTreeSet;

use noetl_expr::{known_filters, known_functions, known_tests};

use crate::codes::{self, Code};
use crate::diagnostic::Report;
use crate::lower::TemplateUse;
use crate::names::{KnownNames, LANGUAGE_NAMES};
use crate::scan::UseKind;
use crate::suggest::did_you_mean;

pub(crate) fn check<'k>(
    uses: &[TemplateUse],
    known: &KnownNames,
    keychain: impl Iterator<Item = &'k str> + Clone,
    report: &mut Report,
) {
    // A name that is guarded once is an input its author knows may be missing.
    let guarded: BTreeSet<&str> =
        uses.iter().filter(|found| found.kind == UseKind::GuardedName).map(|found| &*found.name).collect();
    for found in uses {
        match found.kind {
            UseKind::Filter => check_word(found, &codes::UNKNOWN_FILTER, "filter", report),
            UseKind::Test => check_word(found, &codes::UNKNOWN_TEST, "test", report),
            UseKind::Function => check_word(found, &codes::UNKNOWN_FUNCTION, "function", report),
            UseKind::Name | UseKind::GuardedName => {
                check_old_name(found, report);
                if found.name == "keychain" {
                    check_keychain(found, keychain.clone(), report);
                }
                let is_fine = found.is_open || known.defines(&found.name) || guarded.contains(&*found.name);
                if !is_fine {
                    let names = known.iter().chain(LANGUAGE_NAMES.iter().copied());
                    let help = did_you_mean(&found.name, names).unwrap_or_else(|| {
                        format!(
                            "if the payload brings it, give it a default in `workload: {{{}: …}}`",
                            found.name
                        )
                    });
                    report.add_with_help(
                        &codes::UNKNOWN_NAME,
                        found.span,
                        format!("nothing in the playbook defines `{}`", found.name),
                        help,
                    );
                }
            }
        }
    }
}

/// Whether this is a filter, test or function that does not exist.
pub(crate) fn is_unknown_word(found: &TemplateUse) -> bool {
    known_words(found.kind).is_some_and(|known| !known.contains(&&*found.name))
}

fn known_words(kind: UseKind) -> Option<&'static [&'static str]> {
    match kind {
        UseKind::Filter => Some(known_filters()),
        UseKind::Test => Some(known_tests()),
        UseKind::Function => Some(known_functions()),
        UseKind::Name | UseKind::GuardedName => None,
    }
}

fn check_word(found: &TemplateUse, code: &'static Code, what: &str, report: &mut Report) {
    if is_unknown_word(found) {
        let known = known_words(found.kind).unwrap_or_default();
        report.add_with_help(
            code,
            found.span,
            format!("there is no {what} `{}`", found.name),
            did_you_mean(&found.name, known.iter().copied()),
        );
    }
}

fn check_old_name(found: &TemplateUse, report: &mut Report) {
    if found.name == "outcome" {
        let (old, current) = match found.attribute.as_deref() {
            Some("result") => ("outcome.result", "output.data"),
            _ => ("outcome", "output"),
        };
        report.add_with_help(
            &codes::OLD_NAME,
            found.span,
            format!("`{old}` is the older name of `{current}`"),
            format!("write `{current}`"),
        );
    }
}

fn check_keychain<'k>(
    found: &TemplateUse,
    declared: impl Iterator<Item = &'k str> + Clone,
    report: &mut Report,
) {
    if let Some(entry) = &found.attribute
        && !declared.clone().any(|name| name == entry)
    {
        report.add_with_help(
            &codes::UNKNOWN_KEYCHAIN_ENTRY,
            found.span,
            format!("the keychain has no entry `{entry}`"),
            did_you_mean(entry, declared),
        );
    }
}
