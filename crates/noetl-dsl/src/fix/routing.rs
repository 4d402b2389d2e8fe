//! `next`: names and lists of names become arcs.

use super::finder::{Finder, own_entries, own_entry};
use super::rewrite::Edit;
use crate::yaml::{Data, Entry, Node, Span, Style, is_plain_text, quoted};

impl Finder<'_> {
    /// `has_mode` says that the step has its say about several arcs elsewhere.
    pub(super) fn router(&mut self, entry: &Entry, has_mode: bool) {
        let node = &entry.value;
        match &node.data {
            Data::Text(name) => self.name_as_router(entry, name),
            Data::List(items) => {
                self.list_as_router(entry, items, has_mode);
                items.iter().for_each(|item| self.arc(item));
            }
            Data::Map(_) if node.get("arcs").is_some() => self.current_router(node),
            Data::Map(_) if node.get("step").is_some() => {
                let is_only_arc = node.get("spec").is_none() && node.get("mode").is_none();
                if is_only_arc && !node.has_properties() {
                    self.arc_as_router(entry);
                }
                self.arc(node);
            }
            _ => self.templates(node),
        }
    }

    /// `spec.next_mode` of a step becomes `next.spec.mode`.
    pub(super) fn next_mode(&mut self, step: &Node) {
        if let (Some(spec), Some(next)) = (own_entry(step, "spec"), own_entry(step, "next"))
            && let Some(mode) =
                own_entry(&spec.value, "next_mode").filter(|mode| mode.value.as_str().is_some())
            && takes_mode(&next.value)
            && let Some(edits) = self.moved_mode(step, spec, mode, &next.value)
        {
            self.propose(mode.key_span.start, "spec.next_mode", "next.spec.mode", edits);
        }
    }

    fn moved_mode(&self, step: &Node, spec: &Entry, mode: &Entry, router: &Node) -> Option<Vec<Edit>> {
        let first = router.as_map()?.first()?.key_span.start;
        let written = format!("spec: {{mode: {}}}", self.layout.text(mode.value.span));
        let insertion = match router.style() {
            Style::Flow => Edit::insert(first, format!("{written}, ")),
            _ if self.layout.starts_line(first) => {
                let blank = " ".repeat(self.layout.column(first));
                Edit::insert(
                    self.layout.line_start(first),
                    format!("{blank}{written}{}", self.layout.line_break()),
                )
            }
            _ => return None,
        };
        let removal = match spec.value.as_map() {
            Some([_]) if !spec.value.has_properties() => self.layout.remove(step, spec)?,
            _ => self.layout.remove(&spec.value, mode)?,
        };
        Some(vec![insertion, removal])
    }

    fn current_router(&mut self, node: &Node) {
        if let Some(mode) = own_entry(node, "mode").filter(|_| node.entry("spec").is_none()) {
            let whole = self.layout.entry_span(mode);
            if mode.value.as_str().is_some() && self.layout.is_one_line(whole) {
                let edits = vec![Edit::insert(whole.start, "spec: {"), Edit::insert(whole.end, "}")];
                self.propose(whole.start, "next.mode", "next.spec.mode", edits);
            }
        }
        for entry in own_entries(node) {
            match entry.value.as_list() {
                Some(arcs) if &*entry.key == "arcs" => {
                    for arc in arcs {
                        if let Some(edits) =
                            self.named_arc(arc, entry.value.style()).filter(|edits| !edits.is_empty())
                        {
                            let name = arc.as_str().unwrap_or_default();
                            self.propose(arc.span.start, name, format!("step: {name}"), edits);
                        }
                        self.arc(arc);
                    }
                }
                _ => self.templates(&entry.value),
            }
        }
    }

    fn arc(&mut self, arc: &Node) {
        self.assignments(arc, false);
        for entry in own_entries(arc) {
            match &*entry.key {
                "when" => self.condition(&entry.value),
                _ => self.templates(&entry.value),
            }
        }
    }

    fn name_as_router(&mut self, entry: &Entry, name: &str) {
        let node = &entry.value;
        if node.has_properties()
            || !matches!(node.style(), Style::Plain | Style::SingleQuoted | Style::DoubleQuoted)
        {
            return;
        }
        let written = self.written_name(node, name);
        let edit = Edit::replace(node.span, format!("{{arcs: [{{step: {written}}}]}}"));
        let to = format!("next: {{arcs: [{{step: {name}}}]}}");
        self.propose(entry.key_span.start, format!("next: {name}"), to, vec![edit]);
    }

    /// A name as it can stand inside brackets.
    fn written_name(&self, node: &Node, name: &str) -> String {
        match node.style() == Style::Plain && !is_plain_text(name) {
            true => quoted(name),
            false => self.layout.text(node.span).to_owned(),
        }
    }

    fn list_as_router(&mut self, entry: &Entry, items: &[Node], has_mode: bool) {
        let node = &entry.value;
        let is_simple = |item: &Node| !item.is_aliased() && !item.has_properties();
        if items.is_empty() || node.has_properties() || !items.iter().all(is_simple) {
            return;
        }
        let Some(arcs) =
            items.iter().map(|item| self.named_arc(item, node.style())).collect::<Option<Vec<_>>>()
        else {
            return;
        };
        // All arcs of a list are followed; for one it makes no difference.
        let is_inclusive = items.len() > 1 && !has_mode;
        let around = match node.style() {
            Style::Flow => {
                let spec = if is_inclusive { "spec: {mode: inclusive}, " } else { "" };
                Some(vec![
                    Edit::insert(node.span.start, format!("{{{spec}arcs: ")),
                    Edit::insert(node.span.end, "}"),
                ])
            }
            _ => self.list_under_arcs(entry, is_inclusive),
        };
        if let Some(mut edits) = around {
            edits.extend(arcs.into_iter().flatten());
            self.propose(entry.key_span.start, "next: […]", "next.arcs", edits);
        }
    }

    /// What makes a bare name an arc; no edits for what is a map already, nothing for what is neither.
    fn named_arc(&self, item: &Node, list: Style) -> Option<Vec<Edit>> {
        if item.as_map().is_some() {
            return Some(Vec::new());
        }
        let name = item.as_str().filter(|_| !item.is_aliased() && !item.has_properties())?;
        if !self.layout.is_one_line(item.span) {
            return None;
        }
        match list {
            Style::Flow => {
                Some(vec![Edit::replace(item.span, format!("{{step: {}}}", self.written_name(item, name)))])
            }
            _ => Some(vec![Edit::insert(item.span.start, "step: ")]),
        }
    }

    fn list_under_arcs(&self, entry: &Entry, is_inclusive: bool) -> Option<Vec<Edit>> {
        let span = entry.value.span;
        if !self.layout.starts_line(span.start) {
            return None;
        }
        let key = self.layout.column(entry.key_span.start);
        let dash = self.layout.column(span.start);
        // Lists that are indented under their key stay so; others go on in the column of theirs.
        let (column, by) = if dash > key { (dash, dash - key) } else { (key + 2, 2) };
        let blank = " ".repeat(column);
        let line_break = self.layout.line_break();
        let spec = if is_inclusive {
            format!("{blank}spec: {{mode: inclusive}}{line_break}")
        } else {
            String::new()
        };
        let lines = format!("{spec}{blank}arcs:{line_break}");
        let mut edits = vec![Edit::insert(self.layout.line_start(span.start), lines)];
        edits.extend(self.layout.shift(span, isize::try_from(by).ok()?)?);
        Some(edits)
    }

    /// `next: {step: a, when: …}` becomes a list of one.
    fn arc_as_router(&mut self, entry: &Entry) {
        let span = entry.value.span;
        let edits = match entry.value.style() {
            Style::Flow => Some(vec![Edit::insert(span.start, "{arcs: ["), Edit::insert(span.end, "]}")]),
            _ => self.arc_under_dash(span),
        };
        if let Some(edits) = edits {
            self.propose(entry.key_span.start, "next: {step: …}", "next.arcs", edits);
        }
    }

    fn arc_under_dash(&self, span: Span) -> Option<Vec<Edit>> {
        if !self.layout.starts_line(span.start) {
            return None;
        }
        let blank = " ".repeat(self.layout.column(span.start));
        let line = format!("{blank}arcs:{}", self.layout.line_break());
        let mut edits = vec![Edit::insert(self.layout.line_start(span.start), line)];
        edits.extend(self.layout.shift(span, 4)?);
        // Two of the four blanks before the first key make room for the dash.
        let first = self.layout.line_start(span.start);
        let before_key = edits.iter_mut().skip(1).find(|edit| edit.span.start == first)?;
        before_key.text = "  ".to_owned();
        edits.push(Edit::insert(span.start, "- "));
        Some(edits)
    }
}

/// Whether a router has arcs and does not say how they are followed.
fn takes_mode(router: &Node) -> bool {
    router.get("arcs").is_some() && router.entry("spec").is_none() && router.entry("mode").is_none()
}
