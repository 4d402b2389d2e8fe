//! Which database to talk to: from the step, a connection string, a credential, or several of them together.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use noetl_types::{Map, ToolError, Value};
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use crate::auth::AuthSetting;
use crate::fields::scalar_text;
use crate::tls::Trust;
use crate::{Call, Credential, Fields};

/// A database and the way to it.
pub struct Target {
    pub config: Config,
    pub security: Security,
    /// Equal for equal targets. Holds the password, so it must not be shown.
    pub key: String,
}

/// How much TLS to ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Security {
    Plain,
    /// TLS if the server offers it; whom it belongs to is not checked.
    Preferred,
    /// TLS; whom it belongs to is not checked.
    Required,
    /// TLS with a server that the certificates vouch for, those of the system if none are named.
    Verified(Option<PathBuf>),
}

impl Security {
    pub fn trust(&self) -> Trust<'_> {
        match self {
            Security::Verified(None) => Trust::System,
            Security::Verified(Some(file)) => Trust::File(file),
            Security::Plain | Security::Preferred | Security::Required => Trust::Anyone,
        }
    }

    fn read(mode: &str, root: Option<String>, fields: Fields<'_>) -> Result<Security, ToolError> {
        match mode {
            "disable" => Ok(Security::Plain),
            "" | "allow" | "prefer" => Ok(Security::Preferred),
            "require" if root.is_none() => Ok(Security::Required),
            "require" | "verify-ca" | "verify-full" => Ok(Security::Verified(root.map(PathBuf::from))),
            _ => Err(fields
                .fault("`sslmode` must be disable, prefer, require, verify-ca or verify-full".to_owned())),
        }
    }

    fn mode(&self) -> SslMode {
        match self {
            Security::Plain => SslMode::Disable,
            Security::Preferred => SslMode::Prefer,
            Security::Required | Security::Verified(_) => SslMode::Require,
        }
    }
}

impl Target {
    pub async fn resolve(fields: Fields<'_>, call: &Call) -> Result<Target, ToolError> {
        let sources = Sources::gather(fields, call).await?;
        let connection_string = sources.text(&["connection_string", "dsn", "url", "database_url"]);
        let (mut config, mode, root) = match &connection_string {
            Some(text) => parse(text, fields)?,
            None => (Config::new(), None, None),
        };
        sources.fill(&mut config, fields)?;
        let mode = mode.or_else(|| sources.text(&["sslmode", "ssl_mode", "db_sslmode"])).unwrap_or_default();
        let root = root.or_else(|| sources.text(&["sslrootcert"]));
        let security = Security::read(&mode, root, fields)?;
        config.ssl_mode(security.mode());
        if config.get_application_name().is_none() {
            config.application_name("noetl");
        }
        if let Some(password) = config.get_password().and_then(|password| std::str::from_utf8(password).ok())
        {
            call.secrets.learn(password);
        }
        let key = format!(
            "{:?} {:?} {:?} {:?} {:?} {:?} {security:?}",
            config.get_hosts(),
            config.get_ports(),
            config.get_user(),
            config.get_password(),
            config.get_dbname(),
            config.get_options(),
        );
        Ok(Target { config, security, key })
    }
}

/// The target as messages name it.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.config.get_hosts().first() {
            Some(Host::Tcp(host)) => {
                write!(f, "{host}:{}", self.config.get_ports().first().copied().unwrap_or(5432))?;
            }
            Some(Host::Unix(path)) => write!(f, "{}", path.display())?,
            None => write!(f, "an unnamed host")?,
        }
        write!(f, "/{}", self.config.get_dbname().or(self.config.get_user()).unwrap_or_default())
    }
}

/// The places that may say something about the connection, the first of which wins.
struct Sources<'a> {
    fields: Fields<'a>,
    written: Map,
    stored: Option<Credential>,
}

/// The fields that a step itself may have, as the description of the kind lists them.
const OWN_FIELDS: &[&str] =
    &["connection_string", "host", "port", "user", "password", "database", "sslmode", "sslrootcert"];

impl<'a> Sources<'a> {
    async fn gather(fields: Fields<'a>, call: &Call) -> Result<Sources<'a>, ToolError> {
        let mut auth = fields.value("auth").and_then(AuthSetting::read);
        if let (None, Some(connection)) = (&auth, fields.value("connection")) {
            auth = match connection {
                Value::Text(text) if text.contains("://") || text.contains('=') => {
                    let written = Map::from_iter([("connection_string".into(), connection.clone())]);
                    Some(AuthSetting { alias: None, written })
                }
                other => AuthSetting::read(other),
            };
        }
        let (alias, written) = auth.map_or((None, Map::new()), |auth| (auth.alias, auth.written));
        let stored = match alias {
            Some(alias) => Some(call.credentials.get(&alias).await?),
            None => None,
        };
        if let Some(stored) = &stored
            && !matches!(stored.kind.to_ascii_lowercase().as_str(), "postgres" | "postgresql" | "pg" | "")
        {
            let (name, kind) = (&stored.name, &stored.kind);
            return Err(fields
                .fault(format!("credential '{name}' has type '{kind}'; one of type postgres is needed")));
        }
        Ok(Sources { fields, written, stored })
    }

    /// The first of the names that is there, in the step, under its `auth`, or in the credential.
    fn text(&self, names: &[&str]) -> Option<String> {
        let own = OWN_FIELDS.iter().filter(|own| names.contains(own)).find_map(|own| self.fields.value(own));
        let written =
            || names.iter().find_map(|name| self.written.get(*name)).filter(|value| !value.is_null());
        own.or_else(written)
            .and_then(scalar_text)
            .or_else(|| self.stored.as_ref()?.text(names))
            .filter(|text| !text.is_empty())
    }

    /// Fills in what a connection string has left open.
    fn fill(&self, config: &mut Config, fields: Fields<'_>) -> Result<(), ToolError> {
        if config.get_hosts().is_empty() {
            let host = self.text(&["host", "db_host", "hostname"]).ok_or_else(|| {
                fields
                    .fault("say where the database is: with `auth`, `connection_string` or `host`".to_owned())
            })?;
            config.host(host);
        }
        if config.get_ports().is_empty() {
            let port = self.text(&["port", "db_port"]).unwrap_or_else(|| "5432".to_owned());
            config.port(
                port.trim().parse().map_err(|_| fields.fault("`port` must be a port number".to_owned()))?,
            );
        }
        if config.get_user().is_none() {
            config.user(self.text(&["user", "db_user", "username"]).unwrap_or_else(|| "postgres".to_owned()));
        }
        if config.get_password().is_none()
            && let Some(password) = self.text(&["password", "db_password"])
        {
            config.password(password);
        }
        if config.get_dbname().is_none() {
            let names = ["database", "db_name", "dbname", "db"];
            config.dbname(self.text(&names).unwrap_or_else(|| "postgres".to_owned()));
        }
        Ok(())
    }
}

/// A connection string without its TLS settings, which go beyond what the driver knows.
fn parse(text: &str, fields: Fields<'_>) -> Result<(Config, Option<String>, Option<String>), ToolError> {
    // The text is not repeated: it holds the password.
    let fault = |_| {
        fields.fault("`connection_string` cannot be read; it must look like postgresql://user:password@host:5432/database".to_owned())
    };
    let (mut mode, mut root) = (None, None);
    let mut keep = |name: &str, value: &str| {
        match name {
            "sslmode" => mode = Some(value.to_owned()),
            "sslrootcert" => root = Some(value.to_owned()),
            _ => return true,
        }
        false
    };
    let text = text.trim();
    let plain = match text.split_once("://") {
        Some((scheme, rest)) => {
            let scheme = scheme.split('+').next().unwrap_or(scheme);
            let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
            let query: String = form_urlencoded::Serializer::new(String::new())
                .extend_pairs(
                    form_urlencoded::parse(query.as_bytes()).filter(|(name, value)| keep(name, value)),
                )
                .finish();
            format!("{scheme}://{place}?{}", query.replace('+', "%20"))
        }
        None => text
            .split_whitespace()
            .filter(|pair| pair.split_once('=').is_none_or(|(name, value)| keep(name, value)))
            .collect::<Vec<_>>()
            .join(" "),
    };
    let config = Config::from_str(plain.trim_end_matches('?')).map_err(fault)?;
    Ok((config, mode, root))
}
