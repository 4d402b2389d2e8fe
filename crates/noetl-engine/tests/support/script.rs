//! The lines a case is made of.
//!
//! | line | meaning |
//! |---|---|
//! | `start [JSON]`, `start at STEP [JSON]` | begins the run with a payload |
//! | `start for PARENT [STEP]` | begins the run as the child of an execution, which wants the data of a step |
//! | `began STEP` | a worker has taken the step's command |
//! | `ok CALL [JSON]` | the call gives this data |
//! | `error CALL KIND [MESSAGE] [JSON]` | the call fails; the JSON is data that came with it |
//! | `park CALL` | the worker suspends the pipeline instead of waiting out the delay before the call |
//! | `late STEP ATTEMPT [JSON]` | an outcome of that attempt at the step's last command arrives, wanted or not |
//! | `lost STEP` | the worker of the step's command went away |
//! | `fire run`, `fire step STEP`, `fire wake STEP` | a timer is due |
//! | `signal NAME [JSON]` | a signal comes |
//! | `child started`, `child refused MESSAGE`, `child ended STATUS [JSON]` | news of the first child that waits for it |
//! | `pause`, `resume`, `cancel`, `finalize [MESSAGE]` | control; a message finalizes the run as failed |
//! | `rerun from STEP`, `rerun unfinished` | a new run begins there and keeps what it can of the one before |
//! | `again` | the last outcome arrives a second time |
//! | `explain` | prints why things wait |
//! | `state` | prints the records of the steps |
//! | `ctx` | prints what was set |
//! | `aside N` | values over N bytes are stored aside from here on |
//!
//! Of the data of a call, `status_code`, `sqlstate` and `exception` are also told natively, as tools do.
//!
//! `CALL` is a step, `step[1]` for an item, `step/task` for a task of a pipeline, `step/task#1` for an item of its own loop.

use noetl_engine::{Input, explain};
use noetl_types::{
    CommandKey, ErrorKind, EventBody, ExecutionId, Map, Outcome, ParentLink, Report, RunStatus, Slot,
    TimerKey, ToolError, Value, VisitId,
};

use super::words;
use super::world::World;

/// Plays a line of a script.
pub fn play(world: &mut World, children: &mut Vec<(CommandKey, ExecutionId)>, line: &str) {
    let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
    match verb {
        "start" if rest.starts_with("for ") => {
            let mut words = rest.split(' ').skip(1);
            let execution =
                words.next().and_then(|id| id.parse().ok()).expect("start for takes an execution");
            let command = CommandKey::whole(VisitId(1));
            let return_step = words.next().map(Into::into);
            let parent =
                ParentLink { execution: ExecutionId(execution), command, detached: false, return_step };
            world.start(Value::Null, None, Some(parent));
        }
        "start" => {
            let (entry, rest) = match rest.strip_prefix("at ") {
                Some(rest) => {
                    rest.split_once(' ').map_or((Some(rest), ""), |(step, rest)| (Some(step), rest))
                }
                None => (None, rest),
            };
            world.start(json(rest), entry, None);
        }
        "ok" => {
            let (name, data) = rest.split_once(' ').unwrap_or((rest, ""));
            match find_call(world, name) {
                Some(at) => {
                    let data = json(data);
                    let facets = facets(&data);
                    world.answer(at, Report { facets, ..Report::success(data) });
                }
                None => world.say(format!("no call {name}")),
            }
        }
        "began" => match find_command(world, rest) {
            Some((command, attempt)) => world.feed(Input::Began { command, attempt, worker: "w1".into() }),
            None => world.say(format!("no command of {rest}")),
        },
        "park" => match find_call(world, rest) {
            Some(at) => world.park(at),
            None => world.say(format!("no call {rest}")),
        },
        "late" => late(world, rest),
        "error" => fail(world, rest),
        "lost" => match find_command(world, rest) {
            Some((command, attempt)) => {
                world.pipelines.remove(&command);
                world.calls.retain(|(key, _, _)| *key != command);
                world.feed(Input::LeaseExpired { command, attempt });
            }
            None => world.say(format!("no command of {rest}")),
        },
        "fire" => fire(world, rest),
        "signal" => {
            let (name, payload) = rest.split_once(' ').unwrap_or((rest, ""));
            world.feed(Input::Signal { name: name.into(), payload: Slot::Inline(json(payload)) });
        }
        "child" => child(world, children, rest),
        "pause" => world.feed(Input::Pause { reason: "asked for".into() }),
        "resume" => world.feed(Input::Resume),
        "cancel" => world.feed(Input::Cancel { reason: "asked for".into() }),
        "finalize" => {
            let error = (!rest.is_empty()).then(|| ToolError::new(ErrorKind::Unknown, rest));
            world.feed(Input::Finalize { error });
        }
        "rerun" => world.rerun(rest.strip_prefix("from ")),
        "again" => {
            if let Some((command, attempt, outcome)) = world.last_outcome.clone() {
                world.feed(Input::Ended { command, attempt, outcome });
            }
        }
        "explain" => {
            for line in explain(&world.run, &world.plan) {
                world.say(line);
            }
        }
        "state" => state(world),
        "ctx" => {
            let lines: Vec<String> =
                world.run.ctx.iter().map(|(key, slot)| format!("{key} = {}", words::slot(slot))).collect();
            world.transcript.extend(lines);
        }
        "aside" => world.inline_limit = rest.parse().expect("aside takes a number of bytes"),
        other => panic!("no such verb: {other}"),
    }
}

fn json(text: &str) -> Value {
    match text.trim() {
        "" => Value::Null,
        text => serde_json::from_str(text).unwrap_or_else(|error| panic!("bad JSON {text:?}: {error}")),
    }
}

fn call_name(world: &World, at: usize) -> Vec<String> {
    let (key, _, call) = &world.calls[at];
    let step = world.name_of(*key);
    let with_item = format!("{step}/{}#{}", call.label, call.item);
    vec![step.clone(), format!("{step}/{}", call.label), with_item]
}

fn find_call(world: &World, name: &str) -> Option<usize> {
    (0..world.calls.len()).find(|&at| call_name(world, at).iter().any(|known| known == name))
}

fn find_command(world: &World, name: &str) -> Option<(CommandKey, u16)> {
    world.run.commands.iter().find_map(|(&(visit, item), open)| {
        let key = CommandKey { visit, item, part: open.part };
        (world.name_of(key) == name).then_some((key, open.attempt))
    })
}

fn late(world: &mut World, rest: &str) {
    let mut words = rest.splitn(3, ' ');
    let (name, attempt, data) =
        (words.next().unwrap_or(""), words.next().unwrap_or(""), words.next().unwrap_or(""));
    let attempt = attempt.parse().expect("late takes a step and an attempt");
    let issued = world.log.iter().rev().find_map(|event| match &event.body {
        EventBody::CommandIssued { command, .. } if world.name_of(*command) == name => Some(*command),
        _ => None,
    });
    match issued {
        Some(command) => {
            let outcome = Outcome::finished(Report::success(json(data)));
            world.feed(Input::Ended { command, attempt, outcome });
        }
        None => world.say(format!("no command of {name}")),
    }
}

/// What a tool tells natively besides its data.
fn facets(data: &Value) -> Value {
    let mut facets = Map::new();
    for (field, facet, key) in
        [("status_code", "http", "status"), ("sqlstate", "pg", "sqlstate"), ("exception", "py", "exception")]
    {
        if let Some(value) = data.get(field) {
            facets.insert(facet.into(), Value::map([(key, value.clone())]));
        }
    }
    facets.into()
}

fn fail(world: &mut World, rest: &str) {
    let mut words = rest.splitn(3, ' ');
    let (name, kind, message) =
        (words.next().unwrap_or(""), words.next().unwrap_or(""), words.next().unwrap_or(""));
    let (message, data) = match message.find(" {") {
        Some(at) => (&message[..at], json(&message[at + 1..])),
        None => (message, Value::Null),
    };
    let (kind, answered) = match kind.strip_suffix('!') {
        Some(kind) => (kind, true),
        None => (kind, false),
    };
    let kind: ErrorKind = serde_json::from_value(kind.into()).expect("an error kind");
    let mut error = ToolError::new(kind, message);
    error.answered = answered;
    let facets = facets(&data);
    match find_call(world, name) {
        Some(at) => {
            let report = Report { data: data.into(), error: Some(error), facets, duration_ms: 0.0 };
            world.answer(at, report);
        }
        None => world.say(format!("no call {name}")),
    }
}

fn fire(world: &mut World, what: &str) {
    let timer = match what.split_once(' ') {
        None => Some(TimerKey::Run),
        Some((sort, name)) => world.timers.keys().copied().find(|timer| match timer {
            TimerKey::Run => false,
            TimerKey::Step(visit) => sort == "step" && world.name_of(CommandKey::whole(*visit)) == name,
            TimerKey::Wake(command) => sort == "wake" && world.name_of(*command) == name,
        }),
    };
    match timer {
        Some(timer) => world.fire(timer),
        None => world.say(format!("no timer {what}")),
    }
}

fn child(world: &mut World, children: &mut Vec<(CommandKey, ExecutionId)>, rest: &str) {
    let (verb, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    match verb {
        "started" => children.extend(world.start_child()),
        "refused" => {
            if !world.children.is_empty() {
                let command = world.children.remove(0);
                let error = ToolError::new(ErrorKind::NotFound, rest);
                world.feed(Input::ChildRefused { command, error });
            }
        }
        "ended" => {
            let (status, data) = rest.split_once(' ').unwrap_or((rest, ""));
            let status: RunStatus = serde_json::from_value(status.into()).expect("a run status");
            if children.is_empty() {
                return world.say("no child");
            }
            let (command, child) = children.remove(0);
            let report = match status {
                RunStatus::Completed => Report::success(json(data)),
                _ => Report::failure(ToolError::new(ErrorKind::Exit, data.trim())),
            };
            world.feed(Input::ChildEnded { command, child, status, report });
        }
        other => panic!("no such news of a child: {other}"),
    }
}

fn state(world: &mut World) {
    let mut lines = vec![format!("{}", world.run.status)];
    for (name, record) in &world.run.steps {
        let mut line = format!("{name}: {}, {} runs", record.status, record.runs);
        if let Some(result) = &record.result {
            line.push_str(&format!(", {}", words::slot(result)));
        }
        if let Some(error) = &record.error {
            line.push_str(&format!(", {}", error.message));
        }
        lines.push(line);
    }
    world.transcript.extend(lines);
}
