//! The keys of a `kind: Subscription` document.

use super::construct::{ANY, BOOL, Construct, LIST, MAP, SCALAR, Shape, TEXT, Unknown, key, required};
use crate::types::Types;

const POSITIVE: Shape = Shape::AtLeast(Types::NUMBER, 1.0);

pub static SUBSCRIPTION: Construct = Construct {
    name: "subscription",
    title: "a subscription",
    doc: "Starts a playbook for every message of a source.",
    unknown: Unknown::Warn,
    keys: &[
        required("apiVersion", TEXT, "`noetl.io/v1`."),
        required("kind", TEXT, "`Subscription`."),
        required(
            "metadata",
            Shape::Of(&super::METADATA),
            "What the subscription is called and where the catalog keeps it.",
        ),
        required("spec", Shape::Of(&SPEC), "The source, and what happens to its messages."),
    ],
};

static SPEC: Construct = Construct {
    name: "subscription_spec",
    title: "a subscription's `spec`",
    doc: "The source, and what happens to its messages.",
    unknown: Unknown::Warn,
    keys: &[
        required(
            "source",
            Shape::Words(&["nats", "pubsub", "kafka", "webhook"]),
            "Where messages come from.",
        ),
        key("mode", Shape::Words(&["pull", "push"]), "Whether messages are fetched or arrive at an address."),
        key("activation", Shape::Words(&["continuous", "scheduled"]), "When messages are fetched."),
        key("schedule", ANY, "When messages are fetched, for `activation: scheduled`."),
        key("auth", ANY, "The credential of the source."),
        key("credential", ANY, "The credential of the source."),
        key("url", TEXT, "The server, for NATS."),
        key("user", TEXT, "The user, for NATS."),
        key("password", TEXT, "The password, for NATS."),
        key("token", TEXT, "The token, for NATS."),
        key("stream", TEXT, "The stream, for NATS."),
        key("consumer", TEXT, "The consumer, for NATS."),
        key("subject", TEXT, "The subject, for NATS."),
        key("subscription", TEXT, "The subscription, for Pub/Sub."),
        key("endpoint", TEXT, "The service, for Pub/Sub."),
        key("topic", TEXT, "The topic, for Kafka."),
        key("group", TEXT, "The consumer group, for Kafka."),
        key("brokers", Shape::Is(Types::TEXT.or(Types::LIST)), "The brokers, for Kafka."),
        key("runtime", Shape::Of(&RUNTIME), "Who fetches the messages, and how many at once."),
        required("dispatch", Shape::Of(&DISPATCH), "What is started for a message."),
        key("ingress", Shape::Of(&INGRESS), "The address for pushed messages, and how they are verified."),
        key("headers", Shape::Of(&HEADERS), "What headers of a message may decide."),
        key("dedup", Shape::Of(&DEDUP), "Drops messages that were seen before."),
        key("limits", Shape::Of(&LIMITS), "How much is started at once."),
        key("spool", Shape::Of(&SPOOL), "Keeps messages when they cannot be dispatched."),
    ],
};

static RUNTIME: Construct = Construct {
    name: "subscription_runtime",
    title: "`runtime`",
    doc: "Who fetches the messages, and how many at once.",
    unknown: Unknown::Warn,
    keys: &[
        key("target", TEXT, "Where it runs."),
        key("pool", TEXT, "The worker pool."),
        key(
            "batch",
            Shape::AtLeast(Types::INTEGER, 1.0),
            "The most messages that are fetched at once; 100 when left out.",
        ),
        key("timeout_ms", POSITIVE, "How long to wait for messages."),
    ],
};

static DISPATCH: Construct = Construct {
    name: "dispatch",
    title: "`dispatch`",
    doc: "What is started for a message.",
    unknown: Unknown::Warn,
    keys: &[
        required("playbook", TEXT, "The catalog path of the playbook."),
        key(
            "payload_from",
            Shape::Words(&["message.json", "message.attributes", "message.body"]),
            "What of the message becomes the payload.",
        ),
        key("execution_pool", TEXT, "The worker pool of the playbook."),
        key("batch_dispatch", BOOL, "Starts many playbooks with one request."),
        key("batch_max", Shape::AtLeast(Types::INTEGER, 1.0), "The most playbooks per request, up to 1000."),
    ],
};

static INGRESS: Construct = Construct {
    name: "ingress",
    title: "`ingress`",
    doc: "The address for pushed messages, and how they are verified.",
    unknown: Unknown::Warn,
    keys: &[
        required("gateway_path", TEXT, "The path of the address; it starts with a slash."),
        required("verify", Shape::Of(&VERIFY), "How a message shows that it comes from the right place."),
    ],
};

static VERIFY: Construct = Construct {
    name: "verify",
    title: "`verify`",
    doc: "How a message shows that it comes from the right place.",
    unknown: Unknown::Warn,
    keys: &[
        required("type", Shape::Words(&["hmac_sha256", "bearer", "pubsub_oidc"]), "The kind of proof."),
        key("header", TEXT, "The header with the signature, for `hmac_sha256`."),
        key("secret", TEXT, "The credential with the secret, for `hmac_sha256` and `bearer`."),
        key("audience", TEXT, "The audience of the token, for `pubsub_oidc`."),
        key("service_account", TEXT, "Who signs the token, for `pubsub_oidc`."),
    ],
};

static HEADERS: Construct = Construct {
    name: "headers",
    title: "`headers`",
    doc: "What headers of a message may decide.",
    unknown: Unknown::Warn,
    keys: &[
        key("normalize", BOOL, "Reads header names in lower case."),
        key("directives", Shape::ListOf(&DIRECTIVE), "Headers that decide something."),
        key("trace", Shape::Of(&TRACE), "How traces are carried on."),
        key("passthrough", Shape::Is(Types::TEXT.or(Types::BOOL)), "Where other headers go."),
    ],
};

static DIRECTIVE: Construct = Construct {
    name: "directive",
    title: "a directive",
    doc: "A header that decides something.",
    unknown: Unknown::Warn,
    keys: &[
        required("header", TEXT, "The name of the header."),
        required(
            "controls",
            Shape::Words(&[
                "dispatch.playbook",
                "dispatch.execution_pool",
                "priority",
                "idempotency_key",
                "content_type",
                "schema_hint",
            ]),
            "What it decides.",
        ),
        key("allowed", LIST, "The values it may have."),
        key("map", MAP, "From the header's value to the one that is used."),
    ],
};

static TRACE: Construct = Construct {
    name: "trace",
    title: "`trace`",
    doc: "How traces are carried on.",
    unknown: Unknown::Warn,
    keys: &[
        key("propagate", Shape::Words(&["none", "w3c"]), "The form of the trace headers."),
        key("baggage_allowlist", LIST, "Baggage that is carried on."),
    ],
};

static DEDUP: Construct = Construct {
    name: "dedup",
    title: "`dedup`",
    doc: "Drops messages that were seen before.",
    unknown: Unknown::Warn,
    keys: &[
        key("enabled", BOOL, "Whether messages are compared."),
        key("window_secs", POSITIVE, "For how long they are remembered; 300 when left out."),
    ],
};

static LIMITS: Construct = Construct {
    name: "limits",
    title: "`limits`",
    doc: "How much is started at once.",
    unknown: Unknown::Warn,
    keys: &[
        key(
            "max_in_flight",
            Shape::AtLeast(Types::INTEGER, 1.0),
            "The most playbooks that run at the same time.",
        ),
        key(
            "max_dispatch_per_sec",
            Shape::AtLeast(Types::NUMBER, f64::MIN_POSITIVE),
            "The most playbooks started per second.",
        ),
    ],
};

static SPOOL: Construct = Construct {
    name: "spool",
    title: "`spool`",
    doc: "Keeps messages when they cannot be dispatched.",
    unknown: Unknown::Warn,
    keys: &[
        key("mode", Shape::Words(&["off", "buffer_and_ack", "hybrid"]), "When messages are kept."),
        key("backend", Shape::Words(&["nats_object", "local_disk", "gcs", "s3"]), "Where they are kept."),
        key("bucket", TEXT, "The bucket."),
        key("path", TEXT, "The folder, for `local_disk`."),
        key("credential", TEXT, "The credential of the store."),
        key("ordering", Shape::Words(&["global", "per_key", "none"]), "Which order is kept."),
        key("ordering_key", TEXT, "What tells keys apart, for `per_key`."),
        key("circuit", Shape::Of(&CIRCUIT), "When dispatching is given up and tried again."),
        key("retention", Shape::Of(&RETENTION), "How much is kept, and what happens beyond."),
        key("drain", Shape::Of(&DRAIN), "How kept messages are worked off."),
        key("hybrid_escalate_after_ms", POSITIVE, "When `hybrid` starts to keep messages."),
    ],
};

static CIRCUIT: Construct = Construct {
    name: "circuit",
    title: "`circuit`",
    doc: "When dispatching is given up and tried again.",
    unknown: Unknown::Warn,
    keys: &[
        key("trip_after", POSITIVE, "Failures in a row; 5 when left out."),
        key("probe_after_ms", POSITIVE, "When it is tried again; 30000 when left out."),
        key("probe_interval_ms", POSITIVE, "How often it is tried again; 5000 when left out."),
        key("downstream", Shape::ListOf(&DOWNSTREAM), "What must be up."),
    ],
};

static DOWNSTREAM: Construct = Construct {
    name: "downstream",
    title: "a downstream",
    doc: "Something that must be up.",
    unknown: Unknown::Warn,
    keys: &[
        required("name", TEXT, "Its name."),
        key("type", Shape::Words(&["http", "tcp", "nats", "passive"]), "How it is asked."),
        key("target", SCALAR, "Where it is."),
    ],
};

static RETENTION: Construct = Construct {
    name: "retention",
    title: "`retention`",
    doc: "How much is kept, and what happens beyond.",
    unknown: Unknown::Warn,
    keys: &[
        key("max_age_hours", POSITIVE, "How long messages are kept."),
        key("max_bytes", POSITIVE, "How much is kept; 1 GiB when left out."),
        key(
            "on_full",
            Shape::Words(&["stop_acking", "drop_to_dlq", "alert_only"]),
            "What happens when it is full.",
        ),
    ],
};

static DRAIN: Construct = Construct {
    name: "drain",
    title: "`drain`",
    doc: "How kept messages are worked off.",
    unknown: Unknown::Warn,
    keys: &[
        key("rate_per_sec", POSITIVE, "The most messages per second."),
        key("max_replay_attempts", POSITIVE, "How often a message is tried; 5 when left out."),
        key("on_recovery", Shape::Words(&["ordered_then_live", "interleave"]), "What goes first."),
    ],
};
