//! From the text of a playbook to its plan and everything there is to say about it.

use std::sync::Arc;

use crate::checks::{endless_calls, parallel_writes, reachability, shadowed_arcs, templates};
use crate::codes;
use crate::diagnostic::{Diagnostic, Report, has_errors};
use crate::keys::{Construct, PLAYBOOK};
use crate::kinds::KindTable;
use crate::lower::{Lowered, Lowering};
use crate::plan::Plan;
use crate::shape::{ShapeChecker, head};
use crate::suggest::did_you_mean;
use crate::yaml::{self, Limits, Node, Span};

/// What the checker may take for granted.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The tools there are.
    pub kinds: KindTable,
    /// How large a document may be.
    pub limits: Limits,
}

/// A checked playbook.
#[derive(Clone, Debug)]
pub struct Checked {
    /// There when nothing was found that refuses the playbook.
    pub plan: Option<Arc<Plan>>,
    /// In the order of their places.
    pub diagnostics: Vec<Diagnostic>,
}

/// Checks one playbook. All findings come together, except after YAML that does not parse.
pub fn check(source: &str, options: &Options) -> Checked {
    let mut report = Report::default();
    let Some(root) = parse(source, options, &mut report) else {
        return Checked { plan: None, diagnostics: report.finish(source, None) };
    };
    let analysis = analyse(source, &root, options, &mut report);
    for call in endless_calls::find(&[analysis.as_ref()]) {
        call.report(&mut report);
    }
    finish(source, &root, analysis, report)
}

/// Reads a document of another crate's making and holds it against its table. Nothing if it cannot be read.
pub fn read_document(source: &str, table: &'static Construct, findings: &mut Report) -> Option<Node> {
    let options = Options { kinds: KindTable::empty(), ..Options::default() };
    let root = parse(source, &options, findings)?;
    ShapeChecker { kinds: &options.kinds, report: findings }.construct(&root, table, head(&root));
    Some(root)
}

/// Reads the YAML. Nothing if it cannot be read.
pub(crate) fn parse(source: &str, options: &Options, report: &mut Report) -> Option<Node> {
    match yaml::parse(source, &options.limits) {
        Ok(document) => {
            for problem in document.problems {
                report.add_with_help(&codes::DUPLICATE_KEY, problem.span, problem.message, problem.help);
            }
            Some(document.root)
        }
        Err(error) => {
            report.add_with_help(&codes::YAML_SYNTAX, error.span, error.message, error.help);
            None
        }
    }
}

pub(crate) fn finish(source: &str, root: &Node, lowered: Option<Lowered>, report: Report) -> Checked {
    let diagnostics = report.finish(source, Some(root));
    let plan = lowered.filter(|_| !has_errors(&diagnostics)).map(|lowered| Arc::new(lowered.plan));
    Checked { plan, diagnostics }
}

pub(crate) fn analyse(source: &str, root: &Node, options: &Options, report: &mut Report) -> Option<Lowered> {
    if !check_identity(root, report) {
        return None;
    }
    ShapeChecker { kinds: &options.kinds, report }.construct(root, &PLAYBOOK, head(root));
    let mut lowering = Lowering::new(source, root, options, report);
    let lowered = lowering.playbook(root);
    let Lowering { uses, writes, known, .. } = lowering;
    let declared = root.get("keychain").and_then(Node::as_list).unwrap_or_default().iter();
    let keychain = declared.filter_map(|entry| entry.get("name").and_then(Node::as_str));
    templates::check(&uses, &known, keychain, report);
    parallel_writes::check(&writes, report);
    if let Some(lowered) = &lowered {
        reachability::check(lowered, report);
        shadowed_arcs::check(lowered, report);
    }
    lowered
}

/// Whether the document is a playbook at all; if it is not, nothing else is worth saying about it.
fn check_identity(root: &Node, report: &mut Report) -> bool {
    if root.as_map().is_none() {
        report.add(&codes::WRONG_TYPE, Span::at(root.span.start), "a playbook must be a map");
        return false;
    }
    if let Some(kind) = root.get("kind").filter(|kind| kind.as_str() != Some("Playbook") && !kind.is_null()) {
        let word = kind.as_str().unwrap_or_default();
        let help = did_you_mean(word, ["Playbook"]).unwrap_or_else(|| "write `kind: Playbook`".to_owned());
        report.add_with_help(
            &codes::WRONG_KIND,
            kind.span,
            format!("this is a `{word}`, not a `Playbook`"),
            help,
        );
        return false;
    }
    match root.get("apiVersion").and_then(|version| Some((version, version.as_str()?))) {
        Some((_, "noetl.io/v2")) | None => {}
        Some((node, "noetl.io/v10")) => report.add_with_help(
            &codes::OLD_SPELLING,
            node.span,
            "`noetl.io/v10` is an older spelling of `noetl.io/v2`",
            "write `noetl.io/v2`".to_owned(),
        ),
        Some((node, version)) => report.add_with_help(
            &codes::WRONG_API_VERSION,
            node.span,
            format!("playbooks have no apiVersion `{version}`"),
            "write `noetl.io/v2`".to_owned(),
        ),
    }
    true
}
