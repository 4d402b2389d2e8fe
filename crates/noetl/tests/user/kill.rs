//! Processes that are killed at random under load lose nothing that was acknowledged and repeat nothing that was finished.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use noetl_store_sqlite::query;
use serde_json::{Value, json};

use crate::service::Service;
use crate::support::Folder;

const ROUNDS: usize = 10;
const STARTERS: usize = 64;

/// How long anything may take before it counts as stuck.
const STUCK: Duration = Duration::from_secs(100);

/// Every step that touches the world writes a line with the execution, the step and the item into a file outside. A step may
/// lose its worker as often as the test kills one.
const PLAYBOOKS: [&str; 4] = [
    // A loop.
    "\
apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: kill_loop, path: kill/0}
workflow:
  - step: start
    spec: {max_attempts: 50}
    loop: {in: 3, iterator: i, spec: {mode: parallel}}
    tool: {kind: shell, command: \"echo {{ execution_id }} start {{ iter.i }} >> out.txt\"}
    next: {arcs: [{step: end}]}
  - step: end
    spec: {max_attempts: 50}
    tool: {kind: noop, result: \"{{ start.stats }}\"}
",
    // A retry: the first try fails.
    "\
apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: kill_retry, path: kill/1}
workflow:
  - step: start
    spec: {max_attempts: 50}
    tool:
      kind: shell
      command: \"test -e tried-{{ execution_id }} || { touch tried-{{ execution_id }}; exit 7; }\"
      spec:
        policy:
          rules:
            - when: \"{{ output.status == 'error' }}\"
              then: {do: retry, attempts: 5, backoff: fixed, delay: 0.05}
            - else:
                then: {do: continue}
    next: {arcs: [{step: after}]}
  - step: after
    spec: {max_attempts: 50}
    tool: {kind: shell, command: \"echo {{ execution_id }} after 0 >> out.txt\"}
",
    // A timer.
    "\
apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: kill_timer, path: kill/2}
workflow:
  - step: start
    spec: {max_attempts: 50}
    tool: {kind: wait, seconds: 0.2}
    next: {arcs: [{step: after}]}
  - step: after
    spec: {max_attempts: 50}
    tool: {kind: shell, command: \"echo {{ execution_id }} after 0 >> out.txt\"}
",
    // Code, after steps that need no tool.
    "\
apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: kill_python, path: kill/3}
workflow:
  - step: start
    spec: {max_attempts: 50}
    tool: {kind: noop, result: {n: 20}}
    next: {arcs: [{step: compute}]}
  - step: compute
    spec: {max_attempts: 50}
    tool:
      kind: python
      input: {n: \"{{ start.n }}\", execution: \"{{ execution_id }}\"}
      code: |
        with open('out.txt', 'a') as out:
            out.write(f'{execution} compute 0\\n')
        result = {'n': n + 1}
    next: {arcs: [{step: end}]}
  - step: end
    spec: {max_attempts: 50}
    tool: {kind: noop, result: \"{{ compute.n * 2 }}\"}
",
];

/// Numbers that follow from a seed.
struct Random(u64);

impl Random {
    /// A seed of the clock's, or the one that is asked for. It is printed, so that a failure can be repeated.
    fn new(test: &str) -> Random {
        let given = std::env::var("NOETL_TEST_SEED").ok().and_then(|seed| seed.parse().ok());
        let of_the_clock =
            || SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |since| since.as_nanos() as u64) | 1;
        let seed = given.unwrap_or_else(of_the_clock);
        println!("{test}: NOETL_TEST_SEED={seed}");
        Random(seed)
    }

    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit
    }
}

/// One request on a connection of its own. Nothing when the server went away.
fn post(url: &str, path: &str, body: &Value) -> Option<(u16, Value)> {
    let host = url.strip_prefix("http://")?;
    let mut connection = TcpStream::connect(host).ok()?;
    let body = body.to_string();
    let length = body.len();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Type: application/json"
    );
    write!(connection, "{head}\r\nContent-Length: {length}\r\n\r\n{body}").ok()?;
    let mut answer = String::new();
    connection.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    Some((status, serde_json::from_str(body).ok()?))
}

fn register(service: &Service) {
    for playbook in PLAYBOOKS {
        let (status, answer) = service.post("/api/catalog/register", json!({"content": playbook}));
        assert_eq!(status, 200, "{answer}");
    }
}

/// Starts runs from many threads at once. Each starts one, or gives up when the server is gone. The ids of those that were
/// acknowledged come as they are.
fn start_many(url: &str) -> Receiver<i64> {
    let (acknowledged, ids) = channel();
    for number in 0..STARTERS {
        let (url, acknowledged) = (url.to_owned(), acknowledged.clone());
        std::thread::spawn(move || {
            let path = format!("kill/{}", number % PLAYBOOKS.len());
            if let Some((200, answer)) = post(&url, "/api/execute", &json!({"path": path})) {
                let id = answer["execution_id"].as_str().and_then(|id| id.parse().ok());
                acknowledged.send(id.expect("an id as text")).expect("the test waits for it");
            }
        });
    }
    ids
}

/// The data and what was written outside.
struct Ground {
    folder: Folder,
    /// What was finished at some kill, and how many lines had been written by then.
    finished: BTreeMap<(i64, String, i64), usize>,
}

impl Ground {
    fn new() -> Ground {
        Ground { folder: Folder::new(), finished: BTreeMap::new() }
    }

    fn data(&self) -> PathBuf {
        self.folder.path("data")
    }

    fn rows(&self, sql: &str) -> Vec<Vec<noetl_types::Value>> {
        query(self.folder.path("data/noetl.db"), sql, 1_000_000).expect("a readable store").rows
    }

    /// Execution, step and item of every line, in the order they were written.
    fn written(&self) -> Vec<(i64, String, i64)> {
        let text = std::fs::read_to_string(self.folder.path("out.txt")).unwrap_or_default();
        let line = |line: &str| {
            let mut words = line.split(' ');
            let mut next = || words.next().expect("three words");
            let (execution, step, item) = (next(), next(), next());
            (execution.parse().expect("an id"), step.to_owned(), item.parse().expect("an index"))
        };
        text.lines().map(line).collect()
    }

    /// Notes what is finished now, with no server running. It must not be written again.
    fn note_finished(&mut self) {
        let sql = "SELECT execution_id, json_extract(body, '$.step'), coalesce(loop_index, 0) FROM noetl.event_record \
                   WHERE json_extract(body, '$.type') = 'call.done'";
        let lines = self.written().len();
        for row in self.rows(sql) {
            let [execution, step, item] = &row[..] else {
                panic!("three columns");
            };
            let place = (
                execution.as_i64().expect("an id"),
                step.as_str().expect("a step").to_owned(),
                item.as_i64().expect("an index"),
            );
            self.finished.entry(place).or_insert(lines);
        }
    }

    /// Waits until every execution is over.
    fn wait_for_all(&self, server: &Service) {
        let open = "SELECT execution_id FROM noetl.execution WHERE status NOT IN ('COMPLETED', 'FAILED', 'CANCELLED')";
        while let Some(row) = self.rows(open).first() {
            let execution = row[0].as_i64().expect("an id");
            // The stream of a run ends with it.
            server.get(&format!("/api/executions/{execution}/stream"));
        }
    }

    /// What must hold in the end.
    fn check(&self, acknowledged: &BTreeSet<i64>) {
        let ended: BTreeMap<i64, String> = self
            .rows("SELECT execution_id, status FROM noetl.execution")
            .iter()
            .map(|row| (row[0].as_i64().expect("an id"), row[1].as_str().expect("a status").to_owned()))
            .collect();
        for execution in acknowledged {
            assert_eq!(ended.get(execution).map(String::as_str), Some("COMPLETED"), "execution {execution}");
        }
        assert!(acknowledged.len() >= ROUNDS, "only {} starts were acknowledged", acknowledged.len());

        let written = self.written();
        for (at, place) in written.iter().enumerate() {
            let finished_before = self.finished.get(place).is_some_and(|lines| *lines <= at);
            assert!(!finished_before, "{place:?} was finished and ran again");
        }
        let gaps = self.rows(
            "SELECT execution_id FROM noetl.event_record GROUP BY execution_id \
             HAVING count(*) <> max(seq) OR min(seq) <> 1",
        );
        assert!(gaps.is_empty(), "the logs of these have gaps: {gaps:?}");
    }

    /// Waits until no process works in the folder any more.
    fn wait_for_silence(&self) {
        let begun = Instant::now();
        let here = self.folder.path("").canonicalize().expect("the folder is there");
        loop {
            let processes = std::fs::read_dir("/proc").expect("a list of processes");
            let stray: Vec<PathBuf> = processes
                .flatten()
                .map(|process| process.path())
                .filter(|process| {
                    std::fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd.starts_with(&here))
                })
                .collect();
            if stray.is_empty() {
                return;
            }
            assert!(begun.elapsed() < STUCK, "these processes were left behind: {stray:?}");
            std::thread::yield_now();
        }
    }
}

#[test]
fn a_server_with_its_worker_survives_ten_kills_under_load() {
    let mut random = Random::new("dev");
    let mut ground = Ground::new();
    let mut acknowledged = BTreeSet::new();
    for round in 0..ROUNDS {
        let service = Service::dev(&ground.folder, &ground.data());
        if round == 0 {
            register(&service);
        }
        let ids = start_many(&service.url);
        acknowledged.extend(ids.iter().take(1 + random.below(STARTERS)));
        service.kill();
        acknowledged.extend(ids);
        ground.note_finished();
    }
    let service = Service::dev(&ground.folder, &ground.data());
    ground.wait_for_all(&service);
    assert_eq!(service.stop(), Some(0));
    ground.check(&acknowledged);
    ground.wait_for_silence();
}

/// A server without a worker, on an address that stays the same.
fn server(ground: &Ground, listen: &str) -> Service {
    let arguments = ["server", "--option", "drive.lease=3s", "--listen", listen, "--data"];
    Service::start(ground.folder.command(&arguments).arg(ground.data()))
}

/// A worker for that server. It is killed with the value.
struct WorkerProcess(Child);

impl WorkerProcess {
    fn start(ground: &Ground, url: &str) -> WorkerProcess {
        let mut command = ground.folder.command(&["worker", "--server", url, "--concurrency", "16"]);
        let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        WorkerProcess(quiet.spawn().expect("the binary starts"))
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_server_and_a_worker_apart_survive_ten_kills_of_either_under_load() {
    let mut random = Random::new("apart");
    let mut ground = Ground::new();
    let mut acknowledged = BTreeSet::new();
    let mut running = server(&ground, "127.0.0.1:0");
    let url = running.url.clone();
    let listen = url.strip_prefix("http://").expect("an address").to_owned();
    register(&running);
    let mut worker = WorkerProcess::start(&ground, &url);
    for _ in 0..ROUNDS {
        let ids = start_many(&url);
        acknowledged.extend(ids.iter().take(1 + random.below(STARTERS)));
        let victim = random.below(3);
        if victim != 0 {
            drop(worker);
            worker = WorkerProcess::start(&ground, &url);
        }
        if victim != 1 {
            running.kill();
            ground.note_finished();
            running = server(&ground, &listen);
        }
        acknowledged.extend(ids);
    }
    ground.wait_for_all(&running);
    drop(worker);
    assert_eq!(running.stop(), Some(0));
    ground.check(&acknowledged);
    ground.wait_for_silence();
}
