//! The outermost keys of a playbook: identity, executor, workload, keychain and workbook.

use super::construct::{
    ANY, BOOL, Construct, LIST, MAP, SCALAR, SECONDS, Shape, TEXT, Unknown, ignored, key, required,
};
use super::step::STEP;
use crate::types::Types;

pub static PLAYBOOK: Construct = Construct {
    name: "playbook",
    title: "a playbook",
    doc: "A workflow: steps that run tools, and arcs between them.",
    unknown: Unknown::Warn,
    keys: &[
        required("apiVersion", TEXT, "The version of the language: `noetl.io/v2`."),
        required("kind", TEXT, "`Playbook`."),
        required(
            "metadata",
            Shape::Of(&METADATA),
            "What the playbook is called and where the catalog keeps it.",
        ),
        key("executor", Shape::Of(&EXECUTOR), "How the playbook as a whole is run."),
        key(
            "workload",
            MAP,
            "Default inputs. The payload of a run is merged over them; read them as `workload.<key>` or by their bare name.",
        ),
        key(
            "keychain",
            Shape::ListOf(&KEYCHAIN_ENTRY),
            "Secrets that templates read as `keychain.<name>.<field>`; they are resolved by the worker and never recorded.",
        ),
        key(
            "workbook",
            Shape::NamedOf(&WORKBOOK_TASK),
            "Tasks with a name that steps use with `tool: {kind: workbook, name: …}`.",
        ),
        required("workflow", Shape::ListOf(&STEP), "The steps."),
    ],
};

pub static METADATA: Construct = Construct {
    name: "metadata",
    title: "`metadata`",
    doc: "What the playbook is called and where the catalog keeps it. Further keys are the author's own.",
    unknown: Unknown::Allow,
    keys: &[
        required("name", TEXT, "The name of the playbook."),
        key("path", TEXT, "Where the catalog keeps it; the name when it is left out."),
        key("version", SCALAR, "A note for people; the catalog counts versions itself."),
        key("description", SCALAR, "What the playbook is for."),
        key("labels", MAP, "Words to find it by."),
        key("tags", LIST, "Words to find it by."),
        key("exposed_in_ui", BOOL, "Whether the user interface offers to run it."),
        key("exposes_as_mcp", ANY, "Offers the playbook as an MCP tool."),
        key("agent", ANY, "Describes the playbook as an agent."),
        key("capabilities", ANY, "What the agent can do."),
    ],
};

pub static EXECUTOR: Construct = Construct {
    name: "executor",
    title: "`executor`",
    doc: "How the playbook as a whole is run.",
    unknown: Unknown::Warn,
    keys: &[
        key("profile", Shape::Words(&["local", "distributed", "auto"]), "Where it is meant to run."),
        key("version", SCALAR, "The runtime it was written for."),
        key("requires", Shape::Of(&REQUIRES), "What the runtime must offer."),
        key("spec", Shape::Of(&EXECUTOR_SPEC), "Settings of the run."),
    ],
};

static REQUIRES: Construct = Construct {
    name: "requires",
    title: "`executor.requires`",
    doc: "What the runtime must offer.",
    unknown: Unknown::Warn,
    keys: &[
        key("tools", LIST, "Kinds of tools the playbook needs."),
        key("features", LIST, "Features of the language the playbook needs."),
    ],
};

pub static EXECUTOR_SPEC: Construct = Construct {
    name: "executor_spec",
    title: "`executor.spec`",
    doc: "Settings of the run.",
    unknown: Unknown::Warn,
    keys: &[
        key(
            "entry_step",
            TEXT,
            "Where the run starts: this step, else the one named `start`, else the first.",
        ),
        key("final_step", TEXT, "Runs once when everything else has come to rest."),
        key("no_next_is_error", BOOL, "A step that has arcs of which none matches fails the run."),
        key(
            "compat",
            Shape::Words(&["strict", "lenient"]),
            "`lenient` lets a step complete when its tool answers with an error, such as a status that is not 2xx.",
        ),
        key("timeout", Shape::AtLeast(Types::NUMBER, 0.0), "How long the run may take, in seconds."),
        ignored("policy", "set policies on steps, loops and tasks"),
    ],
};

pub static KEYCHAIN_ENTRY: Construct = Construct {
    name: "keychain_entry",
    title: "a keychain entry",
    doc: "A secret with a name.",
    unknown: Unknown::Warn,
    keys: &[
        required("name", TEXT, "Templates read the entry as `keychain.<name>`."),
        key(
            "kind",
            Shape::Hints(&[
                "secret_manager",
                "secrets",
                "oauth2",
                "google_id_token",
                "google_oauth",
                "bearer",
                "static",
                "credential",
                "credential_ref",
            ]),
            "Where the secret comes from.",
        ),
        key(
            "provider",
            Shape::Hints(&["gcp", "gcp_iam", "k8s", "vault", "aws", "aws_sts", "azure", "azure_oauth"]),
            "The secret store.",
        ),
        key("auth", ANY, "The credential the secret store is asked with."),
        key("credential", TEXT, "The credential that is the secret."),
        key("scope", Shape::Hints(&["local", "global", "shared"]), "Who else may see what was resolved."),
        key("map", MAP, "From a field of the entry to its path in the secret store."),
        key("auto_renew", BOOL, "Fetches a new token before the old one runs out."),
        key("endpoint", TEXT, "Where a token is asked for."),
        key("method", TEXT, "The HTTP method of the token request."),
        key("headers", MAP, "Headers of the token request."),
        key("data", ANY, "Body of the token request."),
        key("token", ANY, "The token itself, for `bearer` and `static`."),
        key("region", TEXT, "The region of the secret store."),
        key(
            "residency",
            Shape::Hints(&["none", "advisory", "strict"]),
            "Whether the secret may leave its region.",
        ),
        key("allowed_regions", LIST, "Regions the secret may be used in."),
        key("no_broker_fallback", BOOL, "Fails instead of asking the server when the store does not answer."),
        key("timeout", SECONDS, "How long the store may take to answer, in seconds."),
    ],
};

pub static WORKBOOK_TASK: Construct = Construct {
    name: "workbook_task",
    title: "a workbook task",
    doc: "A tool with a name, to be used by several steps.",
    unknown: Unknown::Warn,
    keys: &[
        required("name", TEXT, "Steps use the task by this name."),
        key("desc", SCALAR, "What the task is for."),
        required(
            "tool",
            Shape::Tool,
            "The tool. Inputs that are null are placeholders for the step to fill.",
        ),
        ignored("sink", "save results with a further task in the step's pipeline"),
        ignored("assert", "check results with a rule of the task's policy"),
    ],
};
