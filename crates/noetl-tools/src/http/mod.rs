//! `http`: calls a web service.

mod answer;
mod auth;
mod body;
mod failure;
mod params;
mod sender;

use std::sync::Arc;

use async_trait::async_trait;
use noetl_types::{Report, ToolError};

pub use self::answer::ResponseType;
pub use self::auth::Access;
use self::params::HttpParams;
pub use self::sender::{Outgoing, Sender};
use crate::{Call, Field, KindDescription, Shape, Tool};

static DESCRIPTION: KindDescription = KindDescription {
    kind: "http",
    summary: "Sends an HTTP request and gives back the answer.",
    fields: &[
        Field::new("url", Shape::Text, "Where to send the request.").or(&["endpoint"]).required(),
        Field::new("method", Shape::Text, "GET by default; POST, PUT, PATCH, DELETE, HEAD, OPTIONS."),
        Field::new("headers", Shape::Map, "Request headers; scalars become text, null leaves one out."),
        Field::new(
            "params",
            Shape::Map,
            "Query parameters; scalars become text, lists repeat, null leaves one out.",
        )
        .or(&["query"]),
        Field::new("json", Shape::Any, "A body that is sent as JSON."),
        Field::new("form", Shape::Map, "A body that is sent as a web form."),
        Field::new("body", Shape::Any, "A body: text as it is, anything else as JSON."),
        Field::new("payload", Shape::Any, "A body that is sent as JSON; an older name of `json`."),
        Field::new(
            "data",
            Shape::Any,
            "`{query, body}` in one; anything else is a body, or the query of a GET.",
        ),
        Field::new(
            "auth",
            Shape::TextOrMap,
            "The name of a credential, or `{type: bearer | basic | api_key, …}`.",
        )
        .or(&["credential"]),
        Field::new("timeout_seconds", Shape::Seconds, "How long the whole call may take; 30 by default.")
            .or(&["timeout"]),
        Field::new(
            "follow_redirects",
            Shape::Flag,
            "True by default. When false, a 3xx answer is a result, not an error.",
        ),
        Field::new(
            "verify_ssl",
            Shape::Flag,
            "True by default. When false, the server's certificate is not checked.",
        )
        .or(&["verify"]),
        Field::new(
            "response_type",
            Shape::Text,
            "How to read the answer: json, text, binary, or auto, which goes by its content type.",
        ),
    ],
    result: "`{status, status_code, headers, data, body, url, elapsed}`; binary data is base64 text, with `encoding: base64`. \
             An answer outside 2xx is an error that carries the same data.",
    takes_code: false,
};

/// The `http` kind.
#[derive(Debug)]
pub struct HttpTool {
    sender: Arc<Sender>,
}

impl HttpTool {
    pub fn new(sender: Arc<Sender>) -> HttpTool {
        HttpTool { sender }
    }

    async fn run(&self, call: &Call) -> Result<Report, ToolError> {
        let params = HttpParams::read(call.fields(&DESCRIPTION))?;
        let deadline = call.deadline(Some(params.timeout.unwrap_or(self.sender.config().timeout)));
        let request = async { params.outgoing(call).await };
        let outgoing = match deadline.guard(request).await {
            Ok(outgoing) => outgoing?,
            Err(interrupt) => return Err(interrupt.into_error("the lookup of the credential")),
        };
        let target = outgoing.target();
        let answer = self.sender.send(outgoing, &deadline).await?;
        answer.into_report(&target, params.response_type, params.follow_redirects, &call.secrets)
    }
}

#[async_trait]
impl Tool for HttpTool {
    fn describe(&self) -> &'static KindDescription {
        &DESCRIPTION
    }

    async fn call(&self, call: Call) -> Report {
        self.run(&call).await.unwrap_or_else(Report::failure)
    }
}
