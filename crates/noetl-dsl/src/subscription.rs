//! `kind: Subscription` documents.

use std::sync::Arc;

use noetl_types::Value;

use crate::check::{Options, parse};
use crate::codes;
use crate::diagnostic::{Diagnostic, Report, has_errors};
use crate::keys::SUBSCRIPTION;
use crate::shape::{ShapeChecker, head, number_of};
use crate::yaml::{Node, Span};

/// A checked subscription document.
#[derive(Clone, Debug)]
pub struct CheckedSubscription {
    /// There when nothing was found that refuses the document.
    pub subscription: Option<Arc<Subscription>>,
    /// In the order of their places.
    pub diagnostics: Vec<Diagnostic>,
}

/// Starts a playbook for every message of a source.
#[derive(Clone, Debug, PartialEq)]
pub struct Subscription {
    pub name: Arc<str>,
    /// `metadata.path`, else `metadata.name`.
    pub path: Arc<str>,
    /// `nats`, `pubsub`, `kafka` or `webhook`.
    pub source: Arc<str>,
    /// Messages arrive at an address instead of being fetched.
    pub push: bool,
    /// The catalog path of the playbook to start.
    pub playbook: Arc<str>,
    /// The last part of the address for pushed messages.
    pub listener: Option<Arc<str>>,
    /// Everything under `spec`.
    pub spec: Value,
}

/// Checks a subscription document.
pub fn check_subscription(source: &str, options: &Options) -> CheckedSubscription {
    let mut report = Report::default();
    let Some(root) = parse(source, options, &mut report) else {
        return CheckedSubscription { subscription: None, diagnostics: report.finish(source, None) };
    };
    analyse(&root, options, &mut report);
    let diagnostics = report.finish(source, Some(&root));
    let subscription = if has_errors(&diagnostics) { None } else { lower(&root).map(Arc::new) };
    CheckedSubscription { subscription, diagnostics }
}

pub(crate) fn analyse(root: &Node, options: &Options, report: &mut Report) {
    if root.as_map().is_none() {
        report.add(&codes::WRONG_TYPE, Span::at(root.span.start), "a subscription must be a map");
        return;
    }
    if let Some(kind) =
        root.get("kind").filter(|kind| kind.as_str() != Some("Subscription") && !kind.is_null())
    {
        let word = kind.as_str().unwrap_or_default();
        report.add(&codes::WRONG_KIND, kind.span, format!("this is a `{word}`, not a `Subscription`"));
        return;
    }
    if let Some(version) = root.get("apiVersion")
        && let Some(word) = version.as_str()
        && word != "noetl.io/v1"
    {
        report.add_with_help(
            &codes::WRONG_API_VERSION,
            version.span,
            format!("subscriptions have no apiVersion `{word}`"),
            "write `noetl.io/v1`".to_owned(),
        );
    }
    ShapeChecker { kinds: &options.kinds, report }.construct(root, &SUBSCRIPTION, head(root));
    if let Some(spec) = root.get("spec") {
        check_source(spec, report);
        check_ingress(root, spec, report);
        check_limits(spec, report);
        check_spool(spec, report);
    }
}

/// What each source needs to know where its messages are.
fn check_source(spec: &Node, report: &mut Report) {
    let Some(source) = spec.get("source") else {
        return;
    };
    let needed: &[&str] = match source.as_str() {
        Some("nats") => &["stream", "consumer"],
        Some("pubsub") if !is_push(spec) => &["subscription"],
        Some("kafka") => &["topic", "group"],
        _ => &[],
    };
    for key in needed {
        if is_missing(spec, key) {
            let word = source.as_str().unwrap_or_default();
            report.add(&codes::MISSING_KEY, source.span, format!("a subscription to `{word}` needs `{key}`"));
        }
    }
    let pull_only = matches!(source.as_str(), Some("nats" | "kafka"));
    if let Some(mode) = spec.get("mode")
        && mode.as_str() == Some("push")
        && pull_only
    {
        let word = source.as_str().unwrap_or_default();
        report.add(
            &codes::CONFLICTING_SETTINGS,
            mode.span,
            format!("messages of `{word}` can only be pulled"),
        );
    }
}

fn check_ingress(root: &Node, spec: &Node, report: &mut Report) {
    if !is_push(spec) {
        return;
    }
    let Some(ingress) = spec.get("ingress").filter(|ingress| !ingress.is_null()) else {
        let at = root.entry("spec").map_or(spec.span, |entry| entry.key_span);
        report.add(&codes::MISSING_KEY, at, "a subscription whose messages are pushed needs `ingress`");
        return;
    };
    if let Some(path) = ingress.get("gateway_path")
        && path.as_str().is_some_and(|path| !path.starts_with('/'))
    {
        report.add(&codes::UNKNOWN_VALUE, path.span, "`gateway_path` must start with a slash");
    }
    let Some(verify) = ingress.get("verify") else {
        return;
    };
    let Some(proof) = verify.get("type") else {
        return;
    };
    let needed: &[&str] = match proof.as_str() {
        Some("hmac_sha256") => &["header", "secret"],
        Some("bearer") => &["secret"],
        Some("pubsub_oidc") => &["audience", "service_account"],
        _ => &[],
    };
    for key in needed {
        if is_missing(verify, key) {
            let word = proof.as_str().unwrap_or_default();
            report.add(&codes::MISSING_KEY, proof.span, format!("`verify` of type `{word}` needs `{key}`"));
        }
    }
}

fn check_limits(spec: &Node, report: &mut Report) {
    let most = spec.get("dispatch").and_then(|dispatch| dispatch.get("batch_max"));
    if let Some(most) = most
        && number_of(most).is_some_and(|number| number > 1000.0)
    {
        report.add(&codes::OUT_OF_RANGE, most.span, "`batch_max` must be at most 1000");
    }
}

fn check_spool(spec: &Node, report: &mut Report) {
    let Some(spool) = spec.get("spool") else {
        return;
    };
    let global = spool.get("ordering").and_then(Node::as_str) == Some("global");
    if let Some(recovery) = spool.get("drain").and_then(|drain| drain.get("on_recovery"))
        && recovery.as_str() == Some("interleave")
        && global
    {
        report.add(
            &codes::CONFLICTING_SETTINGS,
            recovery.span,
            "`on_recovery: interleave` cannot keep the order that `ordering: global` asks for",
        );
    }
    let is_off = matches!(spool.get("mode").and_then(Node::as_str), None | Some("off"));
    let backend = spool.get("backend").and_then(Node::as_str).unwrap_or("nats_object");
    let needed = if backend == "local_disk" { "path" } else { "bucket" };
    if !is_off && is_missing(spool, needed) {
        let at = spool.get("backend").or_else(|| spool.get("mode")).map_or(head(spool), |node| node.span);
        report.add(&codes::MISSING_KEY, at, format!("a spool on `{backend}` needs `{needed}`"));
    }
}

fn is_push(spec: &Node) -> bool {
    let mode = spec.get("mode").and_then(Node::as_str);
    mode == Some("push") || (mode.is_none() && spec.get("source").and_then(Node::as_str) == Some("webhook"))
}

fn is_missing(node: &Node, key: &str) -> bool {
    node.get(key).is_none_or(Node::is_null)
}

fn lower(root: &Node) -> Option<Subscription> {
    let metadata = root.get("metadata")?;
    let spec = root.get("spec")?;
    let name = metadata.get("name")?.as_text()?.clone();
    let path = metadata.get("path").and_then(Node::as_text).cloned().unwrap_or_else(|| name.clone());
    let listener = spec
        .get("ingress")
        .and_then(|ingress| ingress.get("gateway_path"))
        .and_then(Node::as_str)
        .and_then(|path| path.rsplit('/').find(|part| !part.is_empty()))
        .map(Arc::from);
    Some(Subscription {
        name,
        path,
        source: spec.get("source")?.as_text()?.clone(),
        push: is_push(spec),
        playbook: spec.get("dispatch")?.get("playbook")?.as_text()?.clone(),
        listener,
        spec: spec.to_value(),
    })
}
