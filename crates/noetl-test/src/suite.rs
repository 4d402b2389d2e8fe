//! What a test file says, read and checked: cases with their mocks and expectations, each with its place in the file.

use std::collections::BTreeSet;
use std::sync::Arc;

use noetl_expr::{Condition, Template};
use noetl_types::{Map, Timestamp, ToolError, Value};

use crate::address::{Address, ArcAddress};
use crate::matcher::Matcher;

/// Where something is written in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// From 1, like the column.
    pub line: u32,
    pub column: u32,
}

/// Something with its place in the test file.
#[derive(Clone, Debug)]
pub struct Placed<T> {
    pub is: T,
    pub place: Place,
}

/// The cases of one file.
#[derive(Clone, Debug)]
pub struct Suite {
    pub cases: Vec<Case>,
}

/// One run of the playbook, and what it should come to.
#[derive(Clone, Debug)]
pub struct Case {
    pub name: Arc<str>,
    pub place: Place,
    pub payload: Value,
    /// The instant at which the run begins.
    pub clock: Timestamp,
    /// The step to begin at, instead of the playbook's entry.
    pub entry: Option<Arc<str>>,
    /// Kinds of tools that are called for real where no mock answers.
    pub allow: BTreeSet<Arc<str>>,
    /// Those of the case first, then those of the file, then what was recorded.
    pub mocks: Vec<Mock>,
    pub signals: Vec<Signal>,
    pub keychain: Map,
    /// By name: `{type, data}`.
    pub credentials: Map,
    pub expect: Expectations,
}

/// Answers for the calls of one task. The first one that applies answers.
#[derive(Clone, Debug)]
pub struct Mock {
    pub address: Address,
    /// Tells it from every other mock of its case.
    pub id: usize,
    /// Only then it applies.
    pub when: Option<Condition>,
    /// Only to this item of a loop.
    pub item: Option<u32>,
    pub answers: Answers,
    pub place: Place,
}

#[derive(Clone, Debug)]
pub enum Answers {
    Always(Answer),
    /// One for each attempt, in order.
    ByAttempt(Vec<Answer>),
    /// One for each call, in order.
    InOrder(Vec<Answer>),
}

/// What a call comes to, and after how long.
#[derive(Clone, Debug)]
pub struct Answer {
    pub content: Content,
    /// In seconds.
    pub delay: f64,
    pub facets: Value,
}

#[derive(Clone, Debug)]
pub enum Content {
    Value(Value),
    Render(Template),
    Error { error: Box<ToolError>, data: Value },
    Http { status: u16, headers: Value, body: Value },
}

/// A signal, sent when a step waits for it.
#[derive(Clone, Debug)]
pub struct Signal {
    pub name: Arc<str>,
    pub payload: Value,
    /// In seconds from when it is waited for.
    pub after: f64,
}

/// What must hold when the run has come to rest.
#[derive(Clone, Debug, Default)]
pub struct Expectations {
    pub place: Place,
    pub status: Option<Placed<Arc<str>>>,
    pub result: Option<Placed<Matcher>>,
    pub results: Vec<(Address, Placed<Matcher>)>,
    pub steps: Option<Placed<Vec<Arc<str>>>>,
    pub ran: Vec<Placed<Address>>,
    pub not_run: Vec<Placed<Address>>,
    pub arcs: Vec<Placed<ArcAddress>>,
    pub not_taken: Vec<Placed<ArcAddress>>,
    pub calls: Vec<Placed<ExpectedCall>>,
    pub error: Option<Placed<ExpectedError>>,
    pub ctx: Vec<(Arc<str>, Placed<Matcher>)>,
    pub elapsed: Option<Placed<Matcher>>,
}

#[derive(Clone, Debug)]
pub struct ExpectedCall {
    pub address: Address,
    pub times: Option<u32>,
    pub input: Option<Matcher>,
    pub settings: Option<Matcher>,
}

#[derive(Clone, Debug)]
pub struct ExpectedError {
    /// `kind`, `message`, `code` and `retryable`, as far as they are named.
    pub facts: Matcher,
    pub step: Option<Arc<str>>,
}
