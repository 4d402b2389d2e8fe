//! A plan as text: what is there, and nothing that has its usual value.

use std::fmt::Write;

use noetl_dsl::Plan;
use noetl_dsl::plan::{
    Action, Backoff, Loop, LoopFailure, LoopMode, LoopSource, OutputShape, Rule, SetEntry, SetScope, Step,
    Target, Task,
};
use noetl_types::Value;

pub fn print(plan: &Plan) -> String {
    let mut out = String::new();
    print_executor(plan, &mut out);
    for entry in &plan.keychain {
        let _ = writeln!(out, "keychain {} = {}", entry.name, entry.settings.source());
    }
    for step in &plan.steps {
        print_step(plan, step, &mut out);
    }
    out.truncate(out.trim_end().len());
    out
}

fn print_executor(plan: &Plan, out: &mut String) {
    let executor = &plan.executor;
    if executor.entry != 0 {
        let _ = writeln!(out, "entry {}", plan.steps[executor.entry].name);
    }
    if let Some(last) = executor.final_step {
        let _ = writeln!(out, "finally {}", plan.steps[last].name);
    }
    if executor.no_next_is_error || executor.lenient || executor.timeout.is_some() {
        let (strict, lenient) = (executor.no_next_is_error, executor.lenient);
        let _ = writeln!(out, "no_next_is_error {strict}, lenient {lenient}, timeout {:?}", executor.timeout);
    }
    if !executor.requires_tools.is_empty() {
        let _ = writeln!(out, "requires {:?}", executor.requires_tools);
    }
    if plan.workload.source().as_map().is_some_and(|map| !map.is_empty()) {
        let _ = writeln!(out, "workload {}", plan.workload.source());
    }
}

fn print_step(plan: &Plan, step: &Step, out: &mut String) {
    let _ = write!(out, "{}:{} {}", step.line, step.name, if step.single { "single" } else { "pipeline" });
    if let Some(when) = &step.when {
        let _ = write!(out, " when {}", when.source());
    }
    if let Some(timeout) = &step.timeout {
        let _ = write!(out, " timeout {}", timeout.source());
    }
    if step.max_attempts != 3 {
        let _ = write!(out, " attempts {}", step.max_attempts);
    }
    if !step.reads_steps.is_empty() {
        let names: Vec<&str> = step.reads_steps.iter().map(|index| &*plan.steps[*index].name).collect();
        let _ = write!(out, " reads {}", names.join(", "));
    }
    let _ = writeln!(out);
    for rule in &step.admit {
        let when =
            rule.when.as_ref().map(|when| when.source().to_string()).unwrap_or_else(|| "else".to_owned());
        let _ = writeln!(out, "  admit {when} -> {}", rule.allow);
    }
    if let Some(looping) = &step.looping {
        print_loop(looping, "  ", out);
    }
    for task in &step.tasks {
        print_task(task, out);
    }
    print_sets(&step.set, "  ", out);
    print_output(&step.output, "  ", out);
    for arc in &step.router.arcs {
        let target = match arc.target {
            Target::Step(index) => &plan.steps[index].name,
            Target::End => "(end)",
        };
        let mode = if step.router.inclusive { "=>" } else { "->" };
        let _ = write!(out, "  {}: {mode} {target}", arc.line);
        if let Some(when) = &arc.when {
            let _ = write!(out, " when {}", when.source());
        }
        let _ = writeln!(out, "{}", if arc.sees_failure { " (sees failure)" } else { "" });
        print_sets(&arc.set, "    ", out);
    }
}

fn print_task(task: &Task, out: &mut String) {
    let _ = write!(out, "  {}:{} {} {}", task.line, task.label, task.kind, task.config.source());
    if task.input.source().as_map().is_some_and(|map| !map.is_empty()) {
        let _ = write!(out, " input {}", task.input.source());
    }
    if let Some(timeout) = &task.timeout {
        let _ = write!(out, " timeout {}", timeout.source());
    }
    let _ = writeln!(out);
    if let Some(code) = &task.code {
        let kind = if code.template.as_literal().is_some() { "literal" } else { "template" };
        let _ = writeln!(out, "    {}: {kind} code {}", code.line, code.template.source());
    }
    if let Some(looping) = &task.looping {
        print_loop(looping, "    ", out);
    }
    print_sets(&task.set, "    ", out);
    for rule in &task.rules {
        print_rule(rule, out);
    }
    print_output(&task.output, "    ", out);
}

fn print_rule(rule: &Rule, out: &mut String) {
    let when = rule.when.as_ref().map(|when| when.source().to_string()).unwrap_or_else(|| "else".to_owned());
    let action = match &rule.action {
        Action::Continue => "continue".to_owned(),
        Action::Break => "break".to_owned(),
        Action::Fail => "fail".to_owned(),
        Action::Jump(to) => format!("jump to {to}"),
        Action::Retry(retry) => {
            let backoff = match retry.backoff {
                Backoff::None => "none",
                Backoff::Fixed => "fixed",
                Backoff::Linear => "linear",
                Backoff::Exponential => "exponential",
            };
            format!("retry {} times, {backoff} backoff of {}", retry.attempts.source(), retry.delay.source())
        }
    };
    let _ = writeln!(out, "    {}: {when} -> {action}", rule.line);
    print_sets(&rule.set, "      ", out);
}

fn print_loop(looping: &Loop, indent: &str, out: &mut String) {
    let mode = match looping.mode {
        LoopMode::Sequential => "sequential",
        LoopMode::Parallel => "parallel",
        LoopMode::Cursor => "cursor",
    };
    let on_error = match looping.on_error {
        LoopFailure::Report => "report".to_owned(),
        LoopFailure::Continue => "continue".to_owned(),
        LoopFailure::Fail => "fail".to_owned(),
        LoopFailure::Threshold(share) => format!("threshold {share}"),
    };
    let _ = write!(out, "{indent}loop {} {mode}", looping.iterator);
    if let Some(most) = &looping.max_in_flight {
        let _ = write!(out, " up to {}", most.source());
    }
    let _ = write!(out, ", on error {on_error}, ");
    match &looping.source {
        LoopSource::In(items) => {
            let _ = writeln!(out, "in {}", items.source());
        }
        LoopSource::Cursor(cursor) => {
            let optional = |template: &Option<noetl_expr::Template>| match template {
                Some(template) => template.source().to_string(),
                None => "-".to_owned(),
            };
            let _ = writeln!(
                out,
                "claim {} {} rows {} at once {} whole {} attempts {} frame {}",
                cursor.claim.kind,
                cursor.claim.config.source(),
                optional(&cursor.max_rows),
                optional(&cursor.row_concurrency),
                cursor.whole_frame,
                cursor.max_attempts,
                cursor.frame.source(),
            );
        }
    }
}

fn print_sets(sets: &[SetEntry], indent: &str, out: &mut String) {
    for set in sets {
        let scope = match set.scope {
            SetScope::Ctx => "ctx",
            SetScope::Iter => "iter",
            SetScope::Step => "step",
        };
        let _ = writeln!(out, "{indent}set {scope}.{} = {}", set.path, set.value.source());
    }
}

fn print_output(output: &OutputShape, indent: &str, out: &mut String) {
    if !output.select.is_empty() || output.settings != Value::Null {
        let _ = writeln!(out, "{indent}output {:?} {}", output.select, output.settings);
    }
}
