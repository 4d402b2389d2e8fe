//! Kinds that talk to a service over HTTP or one of its own protocols.

use super::builtin::{any, flag, integer, list, map, number, scalar, text, text_or_map};
use super::spec::KindSpec;

pub(super) fn kinds() -> Vec<KindSpec> {
    vec![
        KindSpec::new(
            "http",
            "Sends an HTTP request. An answer that is not 2xx is an error.",
            "`status_code`, `headers`, `data` (the parsed body), `body` (the same), `url`, `elapsed`",
        )
        .fields([
            text("url", "Where the request goes.").older("endpoint").required(),
            text("method", "The HTTP method; GET when left out.")
                .words(&["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]),
            map("headers", "Headers of the request."),
            map("params", "The query. Entries that are null are left out."),
            any("json", "The body, sent as JSON.").older("payload").at_most_one_of("the body"),
            any("body", "The body: text as it is, anything else as JSON.").at_most_one_of("the body"),
            map("form", "The body, sent as a form.").at_most_one_of("the body"),
            any("data", "The body, or a map of `query` and `body`.").at_most_one_of("the body"),
            text("response_type", "How the answer is read; by its content type when left out.")
                .words(&["json", "text", "binary", "auto"]),
            flag("follow_redirects", "Whether redirects are followed; true when left out."),
            flag("verify_ssl", "Whether certificates are checked; true when left out."),
        ]),
        KindSpec::new(
            "mcp",
            "Calls a tool of an MCP server.",
            "`status`, `server`, `method`, `tool`, `text`, `result`",
        )
        .fields([
            text("endpoint", "The URL of the server.")
                .alias("url")
                .alias("server_url")
                .alias("base_url")
                .any_of("the server"),
            text("server", "The server by its configured name.").any_of("the server"),
            text("method", "What is asked of the server; `tools/call` when left out."),
            text("tool", "The tool to call."),
            any("arguments", "The tool's arguments."),
            any("params", "Parameters of other methods."),
            map("headers", "Headers of the request."),
        ]),
        KindSpec::new("agent", "Lets a language model work with tools.", "the agent's answer")
            .fields([
                text("framework", "The framework that runs the agent.").required(),
                text("model", "The model."),
                text("prompt", "What the agent is asked."),
                text("system", "The system prompt."),
                integer("max_turns", "The most turns; 8 when left out."),
                integer("max_tokens", "The most tokens of an answer; 4096 when left out."),
                list("tools", "Tools the agent may call."),
                any("allowed_tools", "Tools the agent may call without asking."),
                any("mcp_config", "MCP servers the agent may use."),
                text("claude_bin", "The program to run."),
                text("entrypoint", "The agent's code."),
                any("payload", "The agent's input."),
                any("on_failure", "What happens when the agent fails."),
            ])
            .open(),
        KindSpec::new("provider", "Plans and applies cloud resources.", "the plan, and what was changed")
            .fields([
                text("provider", "The cloud."),
                flag("dry_run", "Only plans; true when left out."),
                text("reconcile", "What happens to differences.").words(&["report", "enforce", "adopt"]),
                any("confirm", "The digest of the plan that may be applied."),
                any("guard", "What must hold before anything is applied."),
                any("stack", "The resources."),
            ])
            .open(),
        KindSpec::new("gcs", "Copies a file to Google Cloud Storage.", "`uri` and `size`").fields([
            text("source", "The file.").required(),
            text("destination", "Where it goes: `gs://bucket/name`.").required(),
            text("content_type", "Its media type."),
            map("metadata", "Metadata of the object."),
        ]),
        KindSpec::new("gateway", "Calls back through the gateway.", "the gateway's answer").open(),
        KindSpec::new("secrets", "Reads a secret from a secret store.", "the secret's fields")
            .fields([
                text("provider", "The secret store."),
                text("project_id", "The project of the store."),
                scalar("key", "The secret's name.").alias("secret_name"),
                scalar("version", "The version of the secret."),
            ])
            .open(),
        KindSpec::new("artifact", "Reads a stored result.", "the stored value").fields([
            text("action", "What to do; `get` when left out.").words(&["get", "put"]),
            text_or_map("result_ref", "The reference of the result.").any_of("the result"),
            text("uri", "The reference of the result as text.").any_of("the result"),
            any("data", "The value to store, for `put`."),
        ]),
        KindSpec::new("result_fetch", "Reads a stored result.", "the stored value").fields([
            text_or_map("ref", "The reference of the result.").required(),
            text("prefer", "How it is fetched.").words(&["flight", "http"]),
        ]),
        KindSpec::new("wasm", "Runs a WebAssembly plug-in.", "what the plug-in returned")
            .fields([
                text_or_map("plugin", "The plug-in's `path` and `version`.").required(),
                number("fuel", "How much the plug-in may compute."),
                any("capabilities", "What the plug-in may reach."),
            ])
            .open(),
    ]
}
