//! Where a server listens: a host and a port.

use std::fmt;
use std::str::FromStr;

/// A name or an address of this machine, and a port. Port 0 lets the system choose one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listen {
    pub host: String,
    pub port: u16,
}

impl Listen {
    /// Whether only programs on this machine can connect.
    pub fn is_local(&self) -> bool {
        self.host == "localhost"
            || self.host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
    }
}

/// Prints `host:port`, with brackets around an IPv6 address.
impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

impl FromStr for Listen {
    type Err = ();

    fn from_str(text: &str) -> Result<Listen, ()> {
        let (host, port) = text.rsplit_once(':').ok_or(())?;
        let port = port.parse().map_err(|_| ())?;
        let host = match host.strip_prefix('[') {
            Some(rest) => rest.strip_suffix(']').ok_or(())?,
            None if host.contains(':') => return Err(()),
            None => host,
        };
        if host.is_empty() || host.contains('/') {
            return Err(());
        }
        Ok(Listen { host: host.to_owned(), port })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_and_ports_survive_a_round_trip() {
        for (text, local) in
            [("127.0.0.1:8082", true), ("localhost:0", true), ("[::1]:80", true), ("0.0.0.0:8082", false)]
        {
            let listen: Listen = text.parse().expect("a place to listen");
            assert_eq!((listen.to_string().as_str(), listen.is_local()), (text, local));
        }
    }

    #[test]
    fn what_lacks_a_host_or_a_port_is_refused() {
        for text in ["", "8082", ":8082", "host", "host:", "host:65536", "::1:80", "http://host:80"] {
            assert!(text.parse::<Listen>().is_err(), "{text}");
        }
    }
}
