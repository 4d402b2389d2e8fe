//! Which server is meant, and with which token.
//!
//! The most particular word counts: flags, then the environment, then the context in use, then this machine. The token of a
//! context goes to the server of that context and to no other.

use anyhow::Result;

use super::contexts::Contexts;
use super::flags::ServerFlags;
use crate::config::Surroundings;
use crate::exit::WrongUse;

/// Where `noetl dev` listens unless it is told otherwise.
pub const DEFAULT_URL: &str = "http://127.0.0.1:8082";

#[derive(Clone, PartialEq, Eq)]
pub struct Target {
    pub url: String,
    pub token: Option<String>,
    pub origin: Origin,
}

/// Who said which server it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    Flag(&'static str),
    Variable(&'static str),
    Context(String),
    Default,
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Origin::Flag(name) | Origin::Variable(name) => f.write_str(name),
            Origin::Context(name) => write!(f, "context {name}"),
            Origin::Default => f.write_str("default"),
        }
    }
}

/// Leaves out the token.
impl std::fmt::Debug for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Target").field("url", &self.url).field("origin", &self.origin).finish_non_exhaustive()
    }
}

impl Target {
    pub fn find(flags: &ServerFlags, around: &Surroundings) -> Result<Target> {
        let (url, origin, kept) = address(flags, around)?;
        let given = flags.token.clone().or_else(|| around.variable("NOETL_TOKEN").map(str::to_owned));
        Ok(Target { url: url.trim_end_matches('/').to_owned(), token: given.or(kept), origin })
    }
}

/// The address, who said it, and the token that is kept with it.
fn address(flags: &ServerFlags, around: &Surroundings) -> Result<(String, Origin, Option<String>)> {
    if let Some(url) = &flags.server {
        return Ok((url.clone(), Origin::Flag("--server"), None));
    }
    if flags.host.is_some() || flags.port.is_some() {
        let url = of_host(flags.host.as_deref(), flags.port);
        let flag = if flags.host.is_some() { "--host" } else { "--port" };
        return Ok((url, Origin::Flag(flag), None));
    }
    if let Some(name) = &flags.context {
        return of_context(&Contexts::load(around)?, name);
    }
    if let Some(url) = around.variable("NOETL_SERVER") {
        return Ok((url.to_owned(), Origin::Variable("NOETL_SERVER"), None));
    }
    let host = around.variable("NOETL_HOST");
    // Kubernetes puts the address of a service called `noetl` into NOETL_PORT of every container near it.
    let port = around.variable("NOETL_PORT").and_then(|port| port.parse().ok());
    if host.is_some() || port.is_some() {
        let variable = if host.is_some() { "NOETL_HOST" } else { "NOETL_PORT" };
        return Ok((of_host(host, port), Origin::Variable(variable), None));
    }
    let contexts = Contexts::load(around)?;
    match contexts.current() {
        Some(name) => of_context(&contexts, name),
        None => Ok((DEFAULT_URL.to_owned(), Origin::Default, None)),
    }
}

fn of_host(host: Option<&str>, port: Option<u16>) -> String {
    let host = match host {
        None | Some("0.0.0.0" | "::") => "127.0.0.1",
        Some(host) => host,
    };
    let port = port.unwrap_or(8082);
    if host.contains(':') { format!("http://[{host}]:{port}") } else { format!("http://{host}:{port}") }
}

fn of_context(contexts: &Contexts, name: &str) -> Result<(String, Origin, Option<String>)> {
    let Some(context) = contexts.find(name) else {
        let known: Vec<&str> = contexts.names().collect();
        let known = match known.is_empty() {
            true => "there are none; `noetl context add` adds one".to_owned(),
            false => format!("there is {}", known.join(", ")),
        };
        return Err(WrongUse(format!("there is no context '{name}'; {known}")).into());
    };
    Ok((context.server_url, Origin::Context(name.to_owned()), context.token))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "current_context: home\ncontexts:\n  home:\n    server_url: http://home:1/\n    token: of-home\n  \
                        work:\n    server_url: https://work\n    runtime: distributed\n";

    fn find(flags: ServerFlags, variables: &[(&str, &str)], file: &str) -> Result<Target> {
        let home = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(home.path().join(".noetl")).expect("a folder");
        std::fs::write(home.path().join(".noetl/config.yaml"), file).expect("a file");
        let home = home.path().to_str().expect("UTF-8");
        let all = variables.iter().copied().chain([("HOME", home)]);
        let variables = all.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        Target::find(&flags, &Surroundings { variables, ..Surroundings::default() })
    }

    fn found(flags: ServerFlags, variables: &[(&str, &str)]) -> (String, Option<String>, String) {
        let target = find(flags, variables, FILE).expect("a target");
        (target.url, target.token, target.origin.to_string())
    }

    fn is(url: &str, token: Option<&str>, origin: &str) -> (String, Option<String>, String) {
        (url.to_owned(), token.map(str::to_owned), origin.to_owned())
    }

    #[test]
    fn the_most_particular_word_counts() {
        let none = ServerFlags::default();
        assert_eq!(found(none.clone(), &[]), is("http://home:1", Some("of-home"), "context home"));
        let work = ServerFlags { context: Some("work".to_owned()), ..none.clone() };
        assert_eq!(
            found(work.clone(), &[("NOETL_SERVER", "http://env")]),
            is("https://work", None, "context work")
        );
        assert_eq!(
            found(none.clone(), &[("NOETL_SERVER", "http://env"), ("NOETL_TOKEN", "t")]),
            is("http://env", Some("t"), "NOETL_SERVER")
        );
        assert_eq!(found(none.clone(), &[("NOETL_PORT", "9")]), is("http://127.0.0.1:9", None, "NOETL_PORT"));
        let port = ServerFlags { port: Some(7), host: Some("::1".to_owned()), ..work };
        assert_eq!(found(port, &[]), is("http://[::1]:7", None, "--host"));
        let flag = ServerFlags { server: Some("http://a".to_owned()), ..none };
        assert_eq!(found(flag, &[("NOETL_SERVER", "http://env")]), is("http://a", None, "--server"));
    }

    #[test]
    fn without_a_word_it_is_this_machine() {
        let target =
            find(ServerFlags::default(), &[("NOETL_PORT", "tcp://10.0.0.1:8082")], "").expect("a target");
        assert_eq!((target.url.as_str(), target.origin), (DEFAULT_URL, Origin::Default));
    }

    #[test]
    fn a_context_that_is_not_there_is_said_with_those_that_are() {
        let flags = ServerFlags { context: Some("wrok".to_owned()), ..ServerFlags::default() };
        let error = find(flags, &[], FILE).expect_err("there is none").to_string();
        assert_eq!(error, "there is no context 'wrok'; there is home, work");
    }
}
