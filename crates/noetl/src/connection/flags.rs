//! The flags that say which server is meant. They may stand before or behind any command.

use clap::Args;

#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Server")]
pub struct ServerFlags {
    /// The address of the server, such as http://127.0.0.1:8082
    #[arg(long, visible_alias = "server-url", global = true, value_name = "URL")]
    pub server: Option<String>,

    /// The host of the server, in place of --server
    #[arg(long, global = true, value_name = "HOST", hide = true)]
    pub host: Option<String>,

    /// The port of the server, in place of --server
    #[arg(long, short, global = true, value_name = "PORT", hide = true)]
    pub port: Option<u16>,

    /// The API token that lets you in
    #[arg(long, alias = "session-token", global = true, value_name = "TOKEN")]
    pub token: Option<String>,

    /// The server of this name; see `noetl context`
    #[arg(long, global = true, value_name = "NAME")]
    pub context: Option<String>,
}
