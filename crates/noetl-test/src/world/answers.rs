//! Finds the mock that answers a call, and turns its answer into what a tool would report.

use noetl_expr::Scope;
use noetl_types::{Report, ToolError, Value};

use super::World;
use super::calls::{Situation, context_at_hand};
use crate::problem::Problem;
use crate::suite::{Answer, Answers, Content, Mock};

impl World<'_> {
    /// What the first mock that applies answers, and after how many seconds.
    pub(super) fn mocked(&mut self, situation: &Situation) -> Result<Option<(Report, f64)>, Box<Problem>> {
        let scope = Scope { now: self.now, ..Scope::of(names(situation)) };
        let case = self.case;
        for mock in case.mocks.iter().filter(|mock| mock.address == situation.address) {
            if !applies(mock, situation, &scope)? {
                continue;
            }
            let count = self.answered.entry(mock.id).or_default();
            *count += 1;
            let (answers, at, what) = match &mock.answers {
                Answers::Always(answer) => return report(answer, mock, situation, &scope).map(Some),
                Answers::ByAttempt(answers) => (answers, situation.attempt as usize, "attempt"),
                Answers::InOrder(answers) => (answers, *count, "call"),
            };
            return match answers.get(at - 1) {
                Some(answer) => report(answer, mock, situation, &scope).map(Some),
                None => {
                    let message = format!(
                        "`{}` has {} answers, and this is {what} {at}",
                        mock_name(situation, self.playbooks.main.as_ref()),
                        answers.len()
                    );
                    Err(Box::new(
                        Problem::new("mocks", message, mock.place).at(Some(situation.source.clone())),
                    ))
                }
            };
        }
        Ok(None)
    }

    /// A call for which nothing answers, and what to do about it.
    pub(super) fn unanswered(&self, situation: &Situation) -> Problem {
        let name = mock_name(situation, &self.playbooks.main);
        let kind = &situation.kind;
        let mock = self.case.mocks.iter().find(|mock| mock.address == situation.address);
        let input = &situation.input;
        let problem = match mock {
            Some(mock) => {
                let message =
                    format!("none of the mocks of `{name}` applies to its call with the input {input}");
                Problem::new("mocks", message, mock.place)
                    .with_help("add one without `when` and `item`, or one that applies")
            }
            None => {
                let message = format!("`{name}` calls {kind}, and nothing answers for it");
                Problem::new("mocks", message, self.case.place).with_help(format!(
                    "add `mocks: {{{name}: {{value: …}}}}` to the case, or `allow: [{kind}]` to call it for real"
                ))
            }
        };
        problem.at(Some(situation.source.clone()))
    }
}

/// How a test file names the task.
pub(super) fn mock_name(situation: &Situation, main: &str) -> String {
    let address = &situation.address;
    let mut name = String::new();
    if &*address.playbook != main {
        name.push_str(&address.playbook);
        name.push('/');
    }
    name.push_str(&address.step);
    if let Some(task) = address.task.as_ref().filter(|_| !situation.is_single) {
        name.push('.');
        name.push_str(task);
    }
    name
}

/// What the conditions and templates of mocks see.
fn names(situation: &Situation) -> Value {
    Value::map([
        ("input", situation.input.clone()),
        ("settings", situation.settings.clone()),
        ("attempt", situation.attempt.into()),
        ("index", situation.index.into()),
        ("item", situation.item.clone()),
        ("workload", situation.context.workload.clone()),
        ("ctx", context_at_hand(&situation.context).into()),
    ])
}

fn applies(mock: &Mock, situation: &Situation, scope: &Scope) -> Result<bool, Box<Problem>> {
    if mock.item.is_some() && mock.item != situation.index {
        return Ok(false);
    }
    match &mock.when {
        None => Ok(true),
        Some(when) => when.holds(scope).map_err(|error| {
            let message = format!("`when` of a mock can't be judged: {error}");
            Box::new(Problem::new("mocks", message, mock.place).at(Some(situation.source.clone())))
        }),
    }
}

fn report(
    answer: &Answer,
    mock: &Mock,
    situation: &Situation,
    scope: &Scope,
) -> Result<(Report, f64), Box<Problem>> {
    let report = match &answer.content {
        Content::Value(value) => Report::success(value.clone()),
        Content::Render(template) => match template.render(scope) {
            Ok(value) => Report::success(value),
            Err(error) => {
                let message = format!("`render` of a mock can't be rendered: {error}");
                let problem = Problem::new("mocks", message, mock.place);
                return Err(Box::new(problem.at(Some(situation.source.clone()))));
            }
        },
        Content::Error { error, data } => {
            Report { data: data.clone().into(), error: Some((**error).clone()), ..Report::default() }
        }
        Content::Http { status, headers, body } => http(*status, headers, body, answer.delay, situation),
    };
    let facets = report.facets.merged_deeply(&answer.facets);
    let facets = if answer.facets.is_null() { report.facets.clone() } else { facets };
    Ok((Report { facets, ..report }, answer.delay))
}

/// The answer of an HTTP service as the `http` tool reports it.
fn http(status: u16, headers: &Value, body: &Value, elapsed: f64, situation: &Situation) -> Report {
    let setting = |keys: &[&str]| keys.iter().find_map(|key| situation.settings.get(key)?.as_str());
    let url = setting(&["url", "endpoint"]).unwrap_or_default();
    let method = setting(&["method"]).unwrap_or("GET").to_uppercase();
    let is_success = (200..300).contains(&status);
    let error = (!is_success).then(|| ToolError::of_http_status(status, &format!("{method} {url}")));
    let data = Value::map([
        ("status", Value::from(if is_success { "success" } else { "error" })),
        ("status_code", status.into()),
        ("headers", headers.clone()),
        ("data", body.clone()),
        ("body", body.clone()),
        ("url", url.into()),
        ("elapsed", elapsed.into()),
    ]);
    let facet = Value::map([("status", Value::from(status)), ("headers", headers.clone())]);
    Report { data: data.into(), error, facets: Value::map([("http", facet)]), ..Report::default() }
}
