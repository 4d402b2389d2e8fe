//! A PostgreSQL server of our own for tests: its data are in a temporary folder, and it ends with the test process.

use std::io::Write;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use noetl_tools::Call;
use noetl_types::{Value, value};

use crate::harness::{PATIENCE, block_on, credentials, shared};

pub const PASSWORD: &str = "hush-pg-password";

pub struct Server {
    pub port: u16,
    /// The certificate that the server shows; also the one to trust.
    pub certificate: PathBuf,
    /// Its standard input keeps the server alive.
    _supervisor: Mutex<Child>,
}

impl Server {
    /// The server, started when the first test asks for it. Nothing if PostgreSQL is not installed here.
    pub fn find() -> Option<&'static Server> {
        static SERVER: OnceLock<Option<Server>> = OnceLock::new();
        let server = SERVER.get_or_init(|| match find_binaries() {
            Some(binaries) => Some(Server::start(&binaries)),
            None if std::env::var("NOETL_REQUIRE_POSTGRES").is_ok_and(|value| value == "1") => {
                panic!("NOETL_REQUIRE_POSTGRES is set, but there are no PostgreSQL server binaries")
            }
            None => None,
        });
        if server.is_none() {
            eprintln!("skipped: there are no PostgreSQL server binaries");
        }
        server.as_ref()
    }

    fn start(binaries: &Path) -> Server {
        let folder = tempfile::Builder::new().prefix("noetl-pg-").tempdir().expect("a folder").keep();
        let data = folder.join("data");
        write(&folder.join("password"), PASSWORD, 0o644);
        let certified = rcgen::generate_simple_self_signed(["localhost".to_owned(), "127.0.0.1".to_owned()])
            .expect("a key");
        let certificate = folder.join("server.crt");
        write(&certificate, &certified.cert.pem(), 0o644);
        write(&folder.join("server.key"), &certified.signing_key.serialize_pem(), 0o600);
        let user = other_user(&folder);

        let port = TcpListener::bind("127.0.0.1:0")
            .and_then(|socket| socket.local_addr())
            .expect("a free port")
            .port();
        let script = format!(
            "set -e\n\
             '{bin}/initdb' -D '{data}' -U postgres -A scram-sha-256 --pwfile='{dir}/password' -E UTF8 --locale=C --no-sync >'{dir}/initdb.log' 2>&1\n\
             '{bin}/postgres' -D '{data}' -p {port} -k '{dir}' -c listen_addresses=127.0.0.1 -c fsync=off -c ssl=on \
             -c ssl_cert_file='{dir}/server.crt' -c ssl_key_file='{dir}/server.key' >'{dir}/server.log' 2>&1 &\n\
             server=$!\n\
             read -r _ || true\n\
             kill -INT $server; wait $server || true; rm -rf '{dir}'",
            bin = binaries.display(),
            data = data.display(),
            dir = folder.display(),
        );
        let mut command = match user {
            Some(user) => {
                let mut command = Command::new("runuser");
                command.args(["-u", &user, "--", "sh", "-c", &script]);
                command
            }
            None => {
                let mut command = Command::new("sh");
                command.args(["-c", &script]);
                command
            }
        };
        let supervisor = command
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .expect("a supervisor");
        let server = Server { port, certificate, _supervisor: Mutex::new(supervisor) };
        server.wait_until_ready(&folder);
        server
    }

    fn wait_until_ready(&self, folder: &Path) {
        let deadline = Instant::now() + PATIENCE * 3;
        while self.call(value!({"query": "SELECT 1", "sslmode": "disable"})).error.is_some() {
            if Instant::now() > deadline {
                let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap_or_default();
                panic!("the server did not start: {} {}", read("initdb.log"), read("server.log"));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub fn credential(&self) -> Value {
        value!({"db_host": "127.0.0.1", "db_port": self.port, "db_user": "postgres", "db_password": PASSWORD, "db_name": "postgres"})
    }

    /// A call that finds the server under the credential `pg`.
    pub fn with(&self, settings: Value) -> Call {
        let mut call = Call::new(value!({"auth": "pg"}).merged_deeply(&settings));
        call.credentials = credentials(&[("pg", "postgres", self.credential())]);
        call
    }

    pub fn call(&self, settings: Value) -> noetl_types::Report {
        block_on(shared().call("postgres", self.with(settings)))
    }
}

fn write(path: &Path, text: &str, mode: u32) {
    std::fs::File::create(path).and_then(|mut file| file.write_all(text.as_bytes())).expect("a file");
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("its mode");
}

fn find_binaries() -> Option<PathBuf> {
    let in_path = std::env::var_os("PATH")
        .into_iter()
        .flat_map(|path| std::env::split_paths(&path).collect::<Vec<_>>());
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let packaged = versions.map(|version| version.path().join("bin"));
    packaged.chain(in_path).find(|folder| folder.join("initdb").exists() && folder.join("postgres").exists())
}

/// PostgreSQL refuses to run as root, so root hands the folder over to the user of the package.
fn other_user(folder: &Path) -> Option<String> {
    let id = Command::new("id").arg("-u").output().expect("id runs");
    if String::from_utf8_lossy(&id.stdout).trim() != "0" {
        return None;
    }
    let status = Command::new("chown").args(["-R", "postgres"]).arg(folder).status().expect("chown runs");
    assert!(status.success(), "there must be a user postgres to run the server as");
    // The certificate is read by the test, which may not own it any more.
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755)).expect("its mode");
    Some("postgres".to_owned())
}

/// A name that no other test uses.
pub fn unique(prefix: &str) -> String {
    static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    format!("{prefix}_{}", NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
}
