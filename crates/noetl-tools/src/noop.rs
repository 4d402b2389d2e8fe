//! `noop`: does nothing and gives back what it was given. It carries rules, and shapes data.

use async_trait::async_trait;
use noetl_types::{Report, Value};

use crate::{Call, Field, KindDescription, Shape, Tool};

static DESCRIPTION: KindDescription = KindDescription {
    kind: "noop",
    summary: "Does nothing and gives back its `result` or its `message`.",
    fields: &[
        Field::new("result", Shape::Any, "The data of the step; null is a result too."),
        Field::new("message", Shape::Any, "What to give back when there is no `result`."),
    ],
    result: "`result` as it is, or `{message}`, or null.",
    takes_code: false,
};

/// The `noop` kind.
#[derive(Clone, Copy, Debug)]
pub struct NoopTool;

#[async_trait]
impl Tool for NoopTool {
    fn describe(&self) -> &'static KindDescription {
        &DESCRIPTION
    }

    async fn call(&self, call: Call) -> Report {
        if let Some(result) = call.config.get("result") {
            return Report::success(result.clone());
        }
        let message = call.fields(&DESCRIPTION).value("message");
        Report::success(message.map_or(Value::Null, |message| Value::map([("message", message.clone())])))
    }
}
