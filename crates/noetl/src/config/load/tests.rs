use std::collections::BTreeSet;

use super::*;
use crate::config::DEFAULT_FILE;

fn around(variables: &[(&str, &str)]) -> Surroundings {
    let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Surroundings { variables, folder: "/nowhere".into() }
}

/// A folder with a configuration file, and what is found there.
fn folder_with(text: &str, variables: &[(&str, &str)]) -> (tempfile::TempDir, Surroundings) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("noetl.toml"), text).expect("a file");
    let around = Surroundings { folder: folder.path().to_owned(), ..around(variables) };
    (folder, around)
}

fn problems(text: &str, variables: &[(&str, &str)], flags: &Flags) -> Vec<String> {
    let (_folder, around) = folder_with(text, variables);
    load(flags, &around).expect_err("something is wrong").problems
}

fn origin(loaded: &Loaded, key: &str) -> String {
    let found = loaded.settings.iter().find(|setting| setting.key == key);
    found.expect("a known setting").origin.to_string()
}

#[test]
fn the_default_file_says_what_counts_without_it() {
    let (_folder, with_file) = folder_with(DEFAULT_FILE, &[]);
    let with_file = load(&Flags::default(), &with_file).expect("the default file is right");
    let without = load(&Flags::default(), &around(&[])).expect("nothing can be wrong");
    for (with_file, without) in with_file.settings.iter().zip(&without.settings) {
        assert_eq!((with_file.key, &with_file.value), (without.key, &without.value));
    }
    assert_eq!(format!("{:?}", with_file.config), format!("{:?}", without.config));
}

#[test]
fn the_default_file_shows_every_setting_in_its_section() {
    let mut section = String::new();
    let mut shown = BTreeSet::new();
    for line in DEFAULT_FILE.lines() {
        if let Some(name) = line.strip_prefix('[') {
            section = name.trim_end_matches(']').to_owned();
        }
        let setting = line.strip_prefix("# ").unwrap_or(line).split_once(" = ");
        if let Some((key, _)) = setting.filter(|_| !section.is_empty()) {
            shown.insert(format!("{section}.{key}"));
        }
    }
    let known: BTreeSet<String> = SETTINGS.iter().map(|setting| setting.key.to_owned()).collect();
    assert_eq!(shown, known);
}

#[test]
fn what_is_set_beside_the_default_file_is_valid_too() {
    let uncommented: String = DEFAULT_FILE.lines().map(|line| line.strip_prefix("# ").unwrap_or(line)).fold(
        String::new(),
        |text, line| {
            let is_prose = !line.starts_with('[') && !line.contains(" = ");
            if is_prose { text } else { text + line + "\n" }
        },
    );
    let (_folder, around) = folder_with(&uncommented, &[]);
    let loaded = load(&Flags::default(), &around).expect("every example is right");
    assert!(loaded.settings.iter().all(|setting| setting.origin != Origin::Default), "{uncommented}");
}

#[test]
fn the_command_line_counts_before_the_environment_and_that_before_the_file() {
    let file = "[worker]\nconcurrency = 1\ndrain = \"1s\"\nstop-grace = \"1s\"\n";
    let variables = [("NOETL_WORKER_CONCURRENCY", "2"), ("NOETL_WORKER_DRAIN", "2s")];
    let (_folder, around) = folder_with(file, &variables);
    let mut flags = Flags::default();
    flags.set("worker.concurrency", "--option", "3");
    let loaded = load(&flags, &around).expect("all is right");
    let worker = &loaded.config.worker;
    let seconds = (worker.drain.as_secs(), worker.stop_grace.as_secs());
    assert_eq!((worker.concurrency, seconds), (3, (2, 1)));
    assert_eq!(origin(&loaded, "worker.concurrency"), "--option");
    assert_eq!(origin(&loaded, "worker.drain"), "NOETL_WORKER_DRAIN");
    assert_eq!(origin(&loaded, "worker.stop-grace"), "noetl.toml:4");
    assert_eq!(origin(&loaded, "worker.name"), "default");
}

#[test]
fn names_used_elsewhere_count_behind_the_systematic_ones() {
    let official = [
        ("NOETL_HOST", "0.0.0.0"),
        ("NOETL_PORT", "9000"),
        ("WORKER_MAX_CONCURRENT", "7"),
        ("WORKER_POOL_NAME", "gpu"),
        ("NOETL_SERVER_URL", "http://noetl:8082"),
        ("NOETL_INTERNAL_API_TOKEN", "hush"),
    ];
    let loaded = load(&Flags::default(), &around(&official)).expect("all is right");
    let server = &loaded.config.server;
    assert_eq!(
        (server.listen.to_string().as_str(), server.url().as_str()),
        ("0.0.0.0:9000", "http://noetl:8082")
    );
    assert_eq!(server.internal_token.as_ref().map(super::super::Secret::reveal), Some("hush"));
    assert_eq!((loaded.config.worker.concurrency, &loaded.config.worker.pools), (7, &vec!["gpu".into()]));
    let both = [("NOETL_PORT", "9000"), ("NOETL_SERVER_LISTEN", "[::1]:1")];
    let loaded = load(&Flags::default(), &around(&both)).expect("all is right");
    assert_eq!(loaded.config.server.listen.to_string(), "[::1]:1");
}

#[test]
fn variables_of_others_and_empty_ones_do_no_harm() {
    let others = [
        ("NOETL_SOMETHING_ELSE", "x"),
        ("NOETL_WORKER_CONCURRENCY", ""),
        ("NOETL_PORT", "tcp://10.0.0.1:8082"),
        ("WORKER_POOL_NAME", "default"),
    ];
    let loaded = load(&Flags::default(), &around(&others)).expect("nothing is wrong");
    assert!(loaded.settings.iter().all(|setting| setting.origin == Origin::Default));
}

#[test]
fn everything_wrong_is_named_with_its_place_at_once() {
    let file = "[worker]\nconcurency = 1\ndrain = \"soon\"\n\n[python]\ninterpreter = \"python3\"\n\n[nothing]\nat-all = 1\n";
    let mut flags = Flags::default();
    flags.set("worker.naem", "--option", "x");
    let found = problems(file, &[("NOETL_DRIVE_LEASE", "long")], &flags);
    assert_eq!(
        found,
        [
            "noetl.toml:2: there is no setting `worker.concurency`; did you mean `worker.concurrency`?",
            "noetl.toml:3: `worker.drain` must be a time, such as \"30s\" or \"200ms\"",
            "noetl.toml:6: there is no setting `python.interpreter`; did you mean `tools.python.interpreter`?",
            "noetl.toml:9: there is no setting `nothing.at-all`; `noetl config default` shows all there are",
            "the environment variable NOETL_DRIVE_LEASE is `long`, but `drive.lease` must be a time, such as \"30s\" or \"200ms\"",
            "--option: there is no setting `worker.naem`; did you mean `worker.name`?",
        ]
    );
}

#[test]
fn a_file_that_is_not_toml_is_refused_with_its_line() {
    let found = problems("[worker]\nconcurrency = = 1\n", &[], &Flags::default());
    assert!(found.iter().any(|problem| problem.starts_with("noetl.toml:2: this is not TOML")), "{found:?}");
}

#[test]
fn a_file_that_was_asked_for_must_exist() {
    for (flags, variables) in [
        (Flags::new(Some("absent.toml".into())), &[][..]),
        (Flags::default(), &[("NOETL_CONFIG", "absent.toml")]),
    ] {
        let found = problems("", variables, &flags);
        assert!(found[0].contains("absent.toml"), "{found:?}");
    }
}

#[test]
fn the_users_own_file_is_read_when_there_is_none_here() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let folder = home.path().join(".config/noetl");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("noetl.toml"), "[drive]\ntasks = 5\n").expect("a file");
    let home = home.path().to_str().expect("a name in Unicode");
    let loaded = load(&Flags::default(), &around(&[("HOME", home)])).expect("all is right");
    assert_eq!(loaded.config.drive.tasks, 5);
}

#[test]
fn values_have_their_notations() {
    let file = "[worker]\nper-kind = { http = 9 }\npools = [\"a\", \"b\"]\n[tools.process]\nmemory-limit = 1024\n\
                [storage]\nsynchronous = \"normal\"\n";
    let variables = [("NOETL_WORKER_PER_KIND", "python=3"), ("NOETL_TOOLS_PROCESS_INHERIT", "A, B")];
    let (_folder, around) = folder_with(file, &variables);
    let config = load(&Flags::default(), &around).expect("all is right").config;
    let limits: Vec<_> = config.worker.kind_limits.iter().map(|(kind, limit)| (&**kind, *limit)).collect();
    assert_eq!(limits, [("http", 9), ("python", 3)]);
    assert_eq!(config.worker.pools, ["a".into(), "b".into()]);
    assert_eq!(config.tools.process.memory_limit, Some(1024));
    assert_eq!(config.inherit, ["A", "B"]);
    assert_eq!(config.storage.synchronous, noetl_store_sqlite::Synchronous::Normal);
}

#[test]
fn values_in_the_wrong_notation_are_refused() {
    for (file, words) in [
        ("[worker]\nconcurrency = 0\n", "at least 1"),
        ("[worker]\nconcurrency = \"4\"\n", "whole number"),
        ("[worker]\nper-kind = { pyhton = 1 }\n", "kind of tool"),
        ("[worker]\npools = \"a\"\n", "list of texts"),
        ("[server]\nlisten = \"8082\"\n", "host and a port"),
        ("[server]\ninsecure = \"yes\"\n", "true or false"),
        ("[storage]\nsynchronous = \"off\"\n", "\"full\" or \"normal\""),
        ("[drive]\nvalue-memory = \"lots\"\n", "64 MiB"),
        ("worker = 1\n", "no setting `worker`"),
    ] {
        let found = problems(file, &[], &Flags::default());
        assert!(found.len() == 1 && found[0].contains(words), "{file}: {found:?}");
    }
}

#[test]
fn secrets_are_not_shown() {
    let (_folder, around) =
        folder_with("[server]\ninternal-token = \"canary\"\n", &[("NOETL_ENCRYPTION_KEY", "canary")]);
    let loaded = load(&Flags::default(), &around).expect("all is right");
    assert!(!format!("{loaded:?}").contains("canary"));
}

#[test]
fn what_a_server_tells_of_its_configuration_has_no_secret_in_it() {
    let secrets = [
        ("NOETL_ADMIN_TOKEN", "canary"),
        ("NOETL_INTERNAL_API_TOKEN", "canary"),
        ("NOETL_ENCRYPTION_KEY", "canary"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=canary"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://ada:canary@localhost:4318"),
        ("https_proxy", "http://ada:canary@localhost:3128"),
    ];
    let loaded = load(&Flags::default(), &around(&secrets)).expect("all is right");
    let told = serde_json::to_string(&loaded.in_effect()).expect("JSON");
    assert!(!told.contains("canary"), "{told}");
    for (variable, _) in secrets {
        let origin = format!(r#""origin":{{"source":"environment","variable":"{variable}"}}"#);
        assert!(told.contains(&origin), "{variable}: {told}");
    }
}
