//! Kinds that send and receive messages.

use super::builtin::{any, flag, integer, list, map, scalar, text, text_or_list};
use super::spec::{FieldSpec, KindSpec};
use crate::types::Types;

pub(super) fn kinds() -> Vec<KindSpec> {
    vec![
        KindSpec::new(
            "nats",
            "Works with NATS JetStream: key-value buckets, object stores and streams.",
            "`status`, and what the operation gives: `value`, `keys`, `revision`, `messages`, …",
        )
        .fields([
            text("operation", "What to do.").required().words(&[
                "kv_get",
                "kv_put",
                "kv_delete",
                "kv_keys",
                "kv_purge",
                "object_get",
                "object_put",
                "object_delete",
                "object_list",
                "object_info",
                "js_publish",
                "js_consume",
                "js_get_msg",
                "js_stream_info",
            ]),
            text("url", "The server."),
            text("user", "The user."),
            text("password", "The password."),
            text("token", "The token."),
            text("bucket", "The bucket."),
            scalar("key", "The key."),
            any("value", "The value. A map or a list is kept as JSON."),
            any("ttl", "How long the value is kept, in seconds."),
            text("pattern", "Which keys to list."),
            text("name", "The object's name."),
            any("data", "The message or object."),
            text("encoding", "How the data is encoded."),
            text("subject", "The subject."),
            map("headers", "Headers of the message."),
            text("stream", "The stream."),
            text("consumer", "The consumer."),
            integer("batch", "The most messages; 100 when left out."),
            integer("timeout_ms", "How long to wait for messages; 1000 when left out."),
            flag("ack", "Whether messages are acknowledged; true when left out."),
            integer("seq", "The message's sequence number."),
            flag("last", "Takes the last message of a subject."),
        ]),
        KindSpec::new(
            "subscription",
            "Takes messages from a source, once.",
            "`count`, `messages`, `acked`, `ack_ids`",
        )
        .fields([
            text("source", "The kind of source.").required().words(&["nats", "pubsub", "kafka"]),
            text("operation", "What to do; `poll` when left out.").words(&["poll", "ack", "nack", "term"]),
            integer("batch", "The most messages; 100 when left out."),
            integer("timeout_ms", "How long to wait for messages."),
            FieldSpec::new("ack", Types::TEXT.or(Types::BOOL), "When messages are acknowledged."),
            list("ack_ids", "The messages to acknowledge."),
            integer("nack_delay_ms", "When refused messages come again."),
            text("url", "The server."),
            text("user", "The user."),
            text("password", "The password."),
            text("token", "The token."),
            text("stream", "The stream, for NATS."),
            text("consumer", "The consumer, for NATS."),
            text("subscription", "The subscription, for Pub/Sub."),
            text("endpoint", "The service, for Pub/Sub."),
            text_or_list("brokers", "The brokers, for Kafka."),
            text("topic", "The topic, for Kafka."),
            text("group", "The consumer group, for Kafka."),
        ]),
    ]
}
