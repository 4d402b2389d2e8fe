//! Kinds that run programs.

use super::builtin::{any, flag, integer, list, map, text, text_or_list, text_or_map};
use super::spec::KindSpec;

pub(super) fn kinds() -> Vec<KindSpec> {
    vec![
        KindSpec::new(
            "python",
            "Runs Python code.",
            "the global `result`, else what `main` or a top-level `return` gave, else `stdout` and `stderr`",
        )
        .fields([
            text("code", "The code. Every `input` is a global of its name.").code().one_of("the code"),
            any("script", "A file with the code: `uri` and `source`.").one_of("the code"),
            map("libs", "Modules to import, by the name they get."),
            any("deps", "Packages the code needs."),
            text("python", "The interpreter; python3 when left out."),
            map("env", "Environment variables."),
            text("cwd", "The working directory."),
        ]),
        KindSpec::new("shell", "Runs commands in a shell.", "`stdout`, `stderr`, `exit_code`").fields([
            text_or_list("command", "The command.").one_of("the command"),
            text_or_list("cmds", "Commands, run in order up to the first that fails.").one_of("the command"),
            text("shell", "The shell; sh when left out."),
            text("cwd", "The working directory."),
            map("env", "Environment variables."),
            any("capture", "Whether the output is part of the result."),
            any("stdin", "Text for the command's standard input."),
        ]),
        KindSpec::new("rhai", "Runs a Rhai script.", "the last expression").fields([text(
            "code",
            "The script.",
        )
        .alias("script")
        .code()
        .required()]),
        KindSpec::new("container", "Runs a container and waits for it.", "`exit_code`, `logs`, `job_name`")
            .fields([
                text("image", "The image.").required(),
                text_or_list("command", "The command."),
                text_or_list("args", "The command's arguments."),
                any("env", "Environment variables, as a map or a list of `name` and `value`."),
                map("resources", "`requests` and `limits`."),
                text("service_account", "The service account."),
                text("namespace", "The namespace; noetl when left out."),
                integer("backoff_limit", "How often the job is tried again; 0 when left out."),
                text("restart_policy", "The restart policy; Never when left out."),
                map("node_selector", "Labels of the nodes it may run on."),
                list("tolerations", "Taints it tolerates."),
                list("volumes", "Volumes."),
                list("volume_mounts", "Where the volumes appear."),
                any("runtime", "Settings of the container runtime."),
                any("script", "A script to run in the container."),
                text("cwd", "The working directory."),
            ]),
        KindSpec::new(
            "script",
            "Runs a script as a Kubernetes job and waits for it.",
            "`status`, `job_name`, `pod_name`, `output`, `exit_code`",
        )
        .fields([
            text_or_map("script", "The script: `type`, `uri` or `content`.").required(),
            text_or_list("args", "The script's arguments."),
            map("job", "Settings of the job: `image`, `namespace`, `ttl`, `backoff`, `timeout`, …"),
            flag("wait", "Whether the step waits for the job, as is the default."),
        ]),
    ]
}
