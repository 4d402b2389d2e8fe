//! Spans in the JSON of OTLP, the protocol that collectors of OpenTelemetry take.

use noetl_server::telemetry::{Ending, Span};
use noetl_types::Value;
use serde_json::{Value as Json, json};

/// The body of a request to `/v1/traces`.
pub fn request(service: &str, spans: &[Span]) -> Json {
    let resource = [("service.name", service), ("service.version", env!("CARGO_PKG_VERSION"))];
    json!({
        "resourceSpans": [{
            "resource": {
                "attributes": resource.map(|(key, value)| attribute(key, &Value::text(value))),
            },
            "scopeSpans": [{
                "scope": {"name": "noetl", "version": env!("CARGO_PKG_VERSION")},
                "spans": spans.iter().map(span).collect::<Vec<_>>(),
            }],
        }],
    })
}

fn span(span: &Span) -> Json {
    // Work within the service; who called it and whom it calls have spans of their own.
    const INTERNAL: u8 = 1;
    let nanos = |at: noetl_types::Timestamp| (i128::from(at.0) * 1000).to_string();
    let mut json = json!({
        "traceId": span.trace.to_string(),
        "spanId": span.id.to_string(),
        "name": span.name,
        "kind": INTERNAL,
        "startTimeUnixNano": nanos(span.start),
        "endTimeUnixNano": nanos(span.end),
        "attributes": span.attributes.iter().map(|(key, value)| attribute(key, value)).collect::<Vec<_>>(),
        "status": status(&span.ending),
    });
    if let Some(parent) = span.parent {
        json["parentSpanId"] = parent.to_string().into();
    }
    if let Some(state) = &span.state {
        json["traceState"] = state.as_ref().into();
    }
    json
}

fn status(ending: &Ending) -> Json {
    match ending {
        Ending::Stopped => json!({}),
        Ending::Well => json!({"code": 1}),
        Ending::Badly(message) => json!({"code": 2, "message": message}),
    }
}

fn attribute(key: &str, value: &Value) -> Json {
    let value = match value {
        Value::Bool(flag) => json!({"boolValue": flag}),
        // Whole numbers of 64 bits are text in this notation.
        Value::Int(number) => json!({"intValue": number.to_string()}),
        Value::Float(number) => json!({"doubleValue": number}),
        Value::Text(text) => json!({"stringValue": &**text}),
        other => json!({"stringValue": other.to_string()}),
    };
    json!({"key": key, "value": value})
}

#[cfg(test)]
mod tests {
    use noetl_types::{SpanId, Timestamp, TraceId};

    use super::*;

    #[test]
    fn a_span_is_written_as_collectors_read_it() {
        let span = Span {
            trace: TraceId(0xabc),
            id: SpanId(1),
            parent: Some(SpanId(2)),
            state: Some("a=1".into()),
            name: "step fetch".to_owned(),
            start: Timestamp(1_800_000_000_000_001),
            end: Timestamp(1_800_000_000_500_000),
            attributes: vec![
                ("text", "é".into()),
                ("whole", Value::Int(i64::MAX)),
                ("flag", true.into()),
                ("part", 0.5.into()),
            ],
            ending: Ending::Badly("it broke".to_owned()),
        };
        let body = request("service", &[span]);
        let resource = &body["resourceSpans"][0];
        assert_eq!(
            resource["resource"]["attributes"][0],
            json!({"key": "service.name", "value": {"stringValue": "service"}})
        );
        assert_eq!(
            resource["scopeSpans"][0]["spans"],
            json!([{
                "traceId": "00000000000000000000000000000abc", "spanId": "0000000000000001",
                "parentSpanId": "0000000000000002", "traceState": "a=1", "name": "step fetch", "kind": 1,
                "startTimeUnixNano": "1800000000000001000", "endTimeUnixNano": "1800000000500000000",
                "attributes": [
                    {"key": "text", "value": {"stringValue": "é"}},
                    {"key": "whole", "value": {"intValue": "9223372036854775807"}},
                    {"key": "flag", "value": {"boolValue": true}},
                    {"key": "part", "value": {"doubleValue": 0.5}},
                ],
                "status": {"code": 2, "message": "it broke"},
            }])
        );
    }
}
