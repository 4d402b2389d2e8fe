//! Reads mocks: whose calls they answer, when, and with what.

use noetl_dsl::codes as dsl_codes;
use noetl_dsl::yaml::{Entry, Node, Span};
use noetl_expr::{Condition, Template};
use noetl_types::{ErrorKind, ToolError, Value};

use super::Reader;
use crate::address::{Address, labels};
use crate::codes;
use crate::suite::{Answer, Answers, Content, Mock};

/// Keys of which a mock has exactly one.
const ANSWERS: [&str; 6] = ["value", "render", "error", "http", "attempts", "sequence"];

impl Reader<'_> {
    pub(super) fn mocks(&mut self, node: &Node) -> Vec<Mock> {
        let mut mocks = Vec::new();
        for entry in node.get("mocks").and_then(Node::as_map).unwrap_or_default() {
            let Some(address) = self.mocked(entry) else {
                continue;
            };
            match entry.value.as_list() {
                Some(several) => {
                    mocks.extend(several.iter().filter_map(|node| self.mock(&address, node, node.span)));
                }
                None => mocks.extend(self.mock(&address, &entry.value, entry.key_span)),
            }
        }
        mocks
    }

    /// The task that is mocked. That of a step with one tool need not be named.
    fn mocked(&mut self, entry: &Entry) -> Option<Address> {
        let mut address = self.address(&entry.key, entry.key_span)?;
        let step = self.playbooks.step(&address)?;
        if address.task.is_none() && !step.single {
            let labels = labels(step).join("`, `");
            let message = format!("step `{}` has several tasks, and a mock answers for one", step.name);
            let help = format!("name the task after a dot: `{}.<task>`, with one of `{labels}`", entry.key);
            self.findings.add_with_help(&codes::UNKNOWN_ADDRESS, entry.key_span, message, help);
            return None;
        }
        let label = address.task.get_or_insert_with(|| step.tasks[0].label.clone()).clone();
        let task = crate::address::task_of(step, &label)?;
        if &*task.kind == "wait" {
            let message = format!("`{}` waits, which is not mocked", entry.key);
            let help = "time passes by itself, and what it waits for is sent with `signals`".to_owned();
            self.findings.add_with_help(&codes::UNKNOWN_ADDRESS, entry.key_span, message, help);
        }
        Some(address)
    }

    /// What a text addresses; says so when it is nothing.
    pub(super) fn address(&mut self, text: &str, span: Span) -> Option<Address> {
        match self.playbooks.resolve(text) {
            Ok(address) => Some(address),
            Err(unresolved) => {
                self.findings.add_with_help(
                    &codes::UNKNOWN_ADDRESS,
                    span,
                    unresolved.message,
                    unresolved.help,
                );
                None
            }
        }
    }

    fn mock(&mut self, address: &Address, node: &Node, span: Span) -> Option<Mock> {
        let when = match node.entry("when") {
            None => None,
            Some(entry) => Some(self.condition(entry)?),
        };
        let answers = match self.only_answer(node, span, &ANSWERS)? {
            Entry { key, value, .. } if &**key == "attempts" => Answers::ByAttempt(self.several(value)),
            Entry { key, value, .. } if &**key == "sequence" => Answers::InOrder(self.several(value)),
            entry => Answers::Always(self.answer(node, entry)?),
        };
        self.mocks_made += 1;
        Some(Mock {
            address: address.clone(),
            id: self.mocks_made,
            when,
            item: node.get("item").and_then(Node::as_i64).and_then(|item| u32::try_from(item).ok()),
            answers,
            place: self.place(span),
        })
    }

    /// The one key that says what is answered.
    fn only_answer<'n>(&mut self, node: &'n Node, span: Span, keys: &[&str]) -> Option<&'n Entry> {
        let found: Vec<&Entry> = keys.iter().filter_map(|key| node.entry(key)).collect();
        match found.as_slice() {
            [only] => Some(only),
            _ if node.as_map().is_none() => None,
            [] => {
                let keys = keys.join("`, `");
                let help = format!("give one of `{keys}`");
                self.findings.add_with_help(&codes::ONE_ANSWER, span, "there is no answer", help);
                None
            }
            [first, second, ..] => {
                let message = format!("`{}` and `{}` are two answers; give one", first.key, second.key);
                self.findings.add(&codes::ONE_ANSWER, second.key_span, message);
                None
            }
        }
    }

    fn several(&mut self, list: &Node) -> Vec<Answer> {
        let mut answers = Vec::new();
        for node in list.as_list().unwrap_or_default() {
            let entry = self.only_answer(node, node.span, &ANSWERS[..4]);
            answers.extend(entry.and_then(|entry| self.answer(node, entry)));
        }
        answers
    }

    fn answer(&mut self, node: &Node, entry: &Entry) -> Option<Answer> {
        let value = &entry.value;
        let content = match &*entry.key {
            "value" => Content::Value(value.to_value()),
            "render" => match Template::compile(&value.to_value()) {
                Ok(template) => Content::Render(template),
                Err(errors) => {
                    let message = errors.first().map_or_else(String::new, |error| error.message.clone());
                    self.findings.add(&dsl_codes::TEMPLATE_SYNTAX, value.span, message);
                    return None;
                }
            },
            "error" => error(value),
            _ => Content::Http {
                status: value
                    .get("status")
                    .and_then(Node::as_i64)
                    .and_then(|status| u16::try_from(status).ok())
                    .unwrap_or(200),
                headers: value.get("headers").map_or_else(|| Value::map::<&str>([]), Node::to_value),
                body: value.get("body").map(Node::to_value).unwrap_or_default(),
            },
        };
        Some(Answer {
            content,
            delay: node.get("delay").and_then(Node::as_f64).unwrap_or(0.0),
            facets: node.get("facets").map(Node::to_value).unwrap_or_default(),
        })
    }

    fn condition(&mut self, entry: &Entry) -> Option<Condition> {
        match Condition::compile(&entry.value.to_value()) {
            Ok(condition) => Some(condition),
            Err(error) => {
                self.findings.add(&dsl_codes::TEMPLATE_SYNTAX, entry.value.span, error.message);
                None
            }
        }
    }
}

fn error(node: &Node) -> Content {
    let text = |key: &str| node.get(key).map(|node| plain_text(&node.to_value()));
    let kind = text("kind").map_or(ErrorKind::Unknown, |word| kind_of(&word));
    let message = text("message").unwrap_or_else(|| format!("a mocked error of kind {kind}"));
    let mut error = ToolError::new(kind, message);
    error.code = text("code");
    if let Some(retryable) = node.get("retryable").and_then(Node::as_bool) {
        error.retryable = retryable;
    }
    if let Some(details) = node.get("details") {
        error.details = details.to_value();
    }
    let data = node.get("data").map(Node::to_value).unwrap_or_default();
    Content::Error { error: Box::new(error), data }
}

/// The kind that a word names. The checker has said something about words that name none.
pub(crate) fn kind_of(word: &str) -> ErrorKind {
    serde_json::from_value(serde_json::Value::from(word)).unwrap_or(ErrorKind::Unknown)
}

fn plain_text(value: &Value) -> String {
    match value {
        Value::Text(text) => text.to_string(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::ERROR_KINDS;

    #[test]
    fn every_word_for_an_error_names_a_kind_of_its_own() {
        for word in ERROR_KINDS {
            assert_eq!(kind_of(word).as_str(), *word);
        }
    }
}
