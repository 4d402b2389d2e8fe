//! Keeps the outside world out of the pure crates: what they depend on, however indirectly, can do no IO, tell no time and
//! draw no random numbers.

/// The crates whose results depend on nothing but their arguments.
pub const PURE: &[&str] = &["noetl-types", "noetl-expr", "noetl-dsl", "noetl-engine", "noetl-test"];

/// What a dependency would bring in. A name ending in `*` stands for every crate that begins so.
const FORBIDDEN: &[(&str, &[&str])] = &[
    ("an async runtime", &["tokio*", "async-*", "smol", "futures*", "mio", "polling", "glommio"]),
    (
        "network access",
        &[
            "hyper*",
            "reqwest",
            "ureq",
            "curl*",
            "isahc",
            "socket2",
            "rustls",
            "native-tls",
            "openssl*",
            "quinn*",
        ],
    ),
    (
        "a database",
        &["rusqlite", "libsqlite3-sys", "sqlx*", "postgres*", "diesel*", "redis", "mongodb", "duckdb"],
    ),
    (
        "files or processes",
        &[
            "tempfile", "walkdir", "ignore", "notify", "memmap*", "fs-err", "fs2", "dirs*", "home", "rustix",
            "nix",
        ],
    ),
    ("randomness", &["rand", "rand_core", "rand_chacha", "getrandom", "fastrand", "oorandom", "nanoid"]),
    ("a clock", &["jiff", "iana-time-zone", "web-time", "quanta", "coarsetime", "humantime"]),
    ("the environment", &["dotenv*", "envy", "config", "num_cpus", "hostname", "whoami"]),
    ("threads", &["rayon*", "crossbeam*", "threadpool"]),
];

/// Crates that are harmless without these features.
const FORBIDDEN_FEATURES: &[(&str, &[&str])] =
    &[("chrono", &["clock", "now"]), ("time", &["local-offset", "std"]), ("uuid", &["v1", "v4", "v7"])];

/// The forbidden crates in the output of `cargo tree --prefix none --format "{p}|{f}"`, one sentence each.
pub fn violations(package: &str, tree: &str) -> Vec<String> {
    let mut found: Vec<String> = tree.lines().filter_map(|line| violation(package, line)).collect();
    found.sort();
    found.dedup();
    found
}

/// A line reads `name version [(source)] [(*)]|feature,feature`.
fn violation(package: &str, line: &str) -> Option<String> {
    let (described, features) = line.split_once('|').unwrap_or((line, ""));
    let name = described.split_whitespace().next()?;
    if let Some((brings, _)) =
        FORBIDDEN.iter().find(|(_, names)| names.iter().any(|known| matches(known, name)))
    {
        return Some(format!("{package} depends on {name}, which brings {brings}"));
    }
    let (_, forbidden) = FORBIDDEN_FEATURES.iter().find(|(known, _)| *known == name)?;
    // After the features of a crate that was shown before comes a mark.
    let features = features.trim_end_matches(" (*)");
    let feature = features.split(',').find(|feature| forbidden.contains(feature))?;
    Some(format!(
        "{package} depends on {name} with its feature {feature}, which reads the clock or draws numbers"
    ))
}

fn matches(known: &str, name: &str) -> bool {
    match known.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => known == name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_of_pure_crates_is_fine() {
        let tree =
            "noetl-engine v0.0.0 (/somewhere)|\nserde v1.0.0|derive,std\nchrono v0.4.0|alloc,std (*)\n";
        assert_eq!(violations("noetl-engine", tree), Vec::<String>::new());
    }

    #[test]
    fn a_forbidden_crate_is_named_once_with_what_it_brings() {
        let tree = "tokio v1.0.0|net\ntokio v1.0.0|net (*)\ngetrandom v0.3.0|\n";
        assert_eq!(
            violations("noetl-engine", tree),
            [
                "noetl-engine depends on getrandom, which brings randomness",
                "noetl-engine depends on tokio, which brings an async runtime"
            ]
        );
    }

    #[test]
    fn a_forbidden_feature_is_named() {
        assert_eq!(
            violations("noetl-dsl", "chrono v0.4.0|alloc,clock\n"),
            ["noetl-dsl depends on chrono with its feature clock, which reads the clock or draws numbers"]
        );
    }

    #[test]
    fn names_are_compared_whole_unless_marked() {
        assert_eq!(violations("noetl-dsl", "ignored-any v1.0.0|\n"), Vec::<String>::new());
        assert_eq!(violations("noetl-dsl", "tokio-util v1.0.0|\n").len(), 1);
    }
}
