//! A Python interpreter that is kept warm and forks a process per job.

use std::collections::HashMap;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use noetl_types::{ErrorKind, ToolError};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt, Interest};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::process::{Child, Command};
use tokio::sync::watch;

use crate::capture::{Capture, last_lines};
use crate::{DiscardLogs, ProcessConfig, PythonConfig, Stream};

const RUNNER: &str = include_str!("runner.py");

/// Reads the runner from standard input, so that neither a file nor a long command line is needed.
const BOOTSTRAP: &str = r#"
import os, sys
if sys.version_info < (3, 8):
    sys.exit("Python 3.8 or newer is needed, this is " + sys.version.split()[0])
def read(length):
    data = b""
    while len(data) < length:
        more = os.read(0, length - len(data))
        if not more:
            sys.exit(0)
        data += more
    return data
exec(compile(read(int.from_bytes(read(8), "big")), "<noetl runner>", "exec"), {"__name__": "noetl_runner"})
"#;

const RECORD: usize = 16;

/// What is known of a job's process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    Waiting,
    Running {
        pid: i32,
    },
    /// The process is gone, and so is everything it started. The status is as `wait` gives it.
    Ended {
        status: i32,
    },
    /// No process could be forked.
    Refused {
        errno: i32,
    },
    /// The interpreter itself died.
    Lost,
}

impl Progress {
    pub fn is_over(self) -> bool {
        !matches!(self, Progress::Waiting | Progress::Running { .. })
    }
}

/// What to ask of a job's processes.
#[derive(Clone, Copy, Debug)]
pub enum Ending {
    Ask,
    Kill,
}

/// A running interpreter. It ends, with all its jobs, when the last handle is dropped or the worker dies.
pub struct Interpreter {
    control: OwnedWriteHalf,
    jobs: Arc<Mutex<HashMap<u64, watch::Sender<Progress>>>>,
    next_job: AtomicU64,
    alive: Arc<AtomicBool>,
}

impl Interpreter {
    pub async fn start(
        path: &Path,
        process: &ProcessConfig,
        config: &PythonConfig,
    ) -> Result<Interpreter, ToolError> {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair().map_err(no_resources)?;
        let mut child = Command::new(path)
            .args(["-u", "-c", BOOTSTRAP])
            .env_clear()
            .envs(process.environment.iter())
            .current_dir("/")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| cannot_run(path, &error))?;
        let stderr = child.stderr.take().expect("standard error was asked for as a pipe");
        let stderr = Capture::start(stderr, Stream::Stderr, 64 * 1024, Arc::new(DiscardLogs));

        ours.set_nonblocking(true).map_err(no_resources)?;
        let (mut records, mut control) = UnixStream::from_std(ours).map_err(no_resources)?.into_split();
        let coming_up = bring_up(&mut records, &mut control, config);
        match tokio::time::timeout(config.start_timeout, coming_up).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) => {
                let told = stderr.finish(Duration::from_secs(1)).await;
                let message = format!(
                    "python: the interpreter {} did not start: {}",
                    path.display(),
                    last_lines(&told)
                );
                return Err(ToolError::new(ErrorKind::Config, message));
            }
            Err(_) => {
                let message = format!(
                    "python: the interpreter {} did not start within {} s",
                    path.display(),
                    config.start_timeout.as_secs_f64()
                );
                // Without a reader on the control socket it ends by itself, unless it hangs.
                let _ = child.start_kill();
                return Err(ToolError::new(ErrorKind::Timeout, message));
            }
        }
        let jobs = Arc::new(Mutex::new(HashMap::new()));
        let alive = Arc::new(AtomicBool::new(true));
        tokio::spawn(follow(records, child, stderr, jobs.clone(), alive.clone()));
        Ok(Interpreter { control, jobs, next_job: AtomicU64::new(1), alive })
    }

    pub fn is_alive(&self) -> bool {
        self.alive.load(Ordering::Acquire)
    }

    /// Starts a job with its channel, standard output and standard error.
    pub async fn fork(&self, descriptors: [OwnedFd; 3]) -> io::Result<(u64, watch::Receiver<Progress>)> {
        let job = self.next_job.fetch_add(1, Ordering::Relaxed);
        let (sender, progress) = watch::channel(Progress::Waiting);
        lock(&self.jobs).insert(job, sender);
        let sent = self.send(b'J', job, &descriptors.each_ref().map(AsFd::as_fd)).await;
        if let Err(error) = sent {
            lock(&self.jobs).remove(&job);
            return Err(error);
        }
        // An interpreter that died in between has told all jobs that it knew of; this one may have come too late.
        if !self.is_alive() {
            lock(&self.jobs).remove(&job);
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        Ok((job, progress))
    }

    pub async fn end(&self, job: u64, how: Ending) {
        let operation = match how {
            Ending::Ask => b'T',
            Ending::Kill => b'K',
        };
        // If the interpreter is gone, the job is gone with it.
        let _ = self.send(operation, job, &[]).await;
    }

    async fn send(&self, operation: u8, job: u64, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
        let mut record = [0; RECORD];
        record[0] = operation;
        record[8..].copy_from_slice(&job.to_be_bytes());
        let socket: &UnixStream = self.control.as_ref();
        let sent = socket
            .async_io(Interest::WRITABLE, || {
                let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
                let mut ancillary = SendAncillaryBuffer::new(&mut space);
                if !descriptors.is_empty() {
                    ancillary.push(SendAncillaryMessage::ScmRights(descriptors));
                }
                Ok(sendmsg(socket, &[IoSlice::new(&record)], &mut ancillary, SendFlags::NOSIGNAL)?)
            })
            .await?;
        if sent == RECORD { Ok(()) } else { Err(io::ErrorKind::WriteZero.into()) }
    }
}

/// Sends the runner and its settings, and waits until it is ready.
async fn bring_up(
    records: &mut OwnedReadHalf,
    control: &mut OwnedWriteHalf,
    config: &PythonConfig,
) -> io::Result<()> {
    let settings = json!({"preload": config.preload}).to_string();
    for frame in [RUNNER, &settings] {
        control.write_all(&(frame.len() as u64).to_be_bytes()).await?;
        control.write_all(frame.as_bytes()).await?;
    }
    let mut ready = [0; RECORD];
    records.read_exact(&mut ready).await?;
    if ready[0] == b'R' { Ok(()) } else { Err(io::ErrorKind::InvalidData.into()) }
}

/// Passes on what the interpreter tells of its jobs, until it is gone.
async fn follow(
    mut records: OwnedReadHalf,
    mut child: Child,
    stderr: Capture,
    jobs: Arc<Mutex<HashMap<u64, watch::Sender<Progress>>>>,
    alive: Arc<AtomicBool>,
) {
    let mut record = [0; RECORD];
    while records.read_exact(&mut record).await.is_ok() {
        let number = i32::from_be_bytes(record[4..8].try_into().expect("four bytes"));
        let job = u64::from_be_bytes(record[8..].try_into().expect("eight bytes"));
        let progress = match record[0] {
            b'S' => Progress::Running { pid: number },
            b'E' => Progress::Ended { status: number },
            b'F' => Progress::Refused { errno: number },
            _ => continue,
        };
        let mut jobs = lock(&jobs);
        if let Some(sender) = jobs.get(&job) {
            sender.send_replace(progress);
        }
        if progress.is_over() {
            jobs.remove(&job);
        }
    }
    alive.store(false, Ordering::Release);
    for (_, sender) in lock(&jobs).drain() {
        if let Progress::Running { pid } = *sender.borrow()
            && let Some(group) = Pid::from_raw(pid)
        {
            // The only possible failure is that no process is left.
            let _ = kill_process_group(group, Signal::KILL);
        }
        sender.send_replace(Progress::Lost);
    }
    let ended = child.wait().await;
    let told = stderr.finish(Duration::from_secs(1)).await;
    tracing::debug!(?ended, stderr = last_lines(&told), "python interpreter ended");
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn cannot_run(path: &Path, error: &io::Error) -> ToolError {
    let path = path.display();
    let message = match error.kind() {
        io::ErrorKind::NotFound => {
            format!("python: there is no interpreter '{path}'; install it or name another one in `python`")
        }
        _ => format!("python: the interpreter '{path}' cannot be run: {error}"),
    };
    ToolError::new(ErrorKind::Config, message)
}

fn no_resources(error: io::Error) -> ToolError {
    ToolError::new(ErrorKind::Unknown, format!("python: the system refused a socket: {error}"))
}

/// Interpreters by path, each started when it is first needed and replaced when it died.
pub struct Interpreters {
    process: ProcessConfig,
    config: PythonConfig,
    by_path: Mutex<HashMap<PathBuf, Place>>,
}

/// Where an interpreter is, or will be once the one who holds the lock has started it.
type Place = Arc<tokio::sync::Mutex<Option<Arc<Interpreter>>>>;

impl Interpreters {
    pub fn new(process: ProcessConfig, config: PythonConfig) -> Interpreters {
        Interpreters { process, config, by_path: Mutex::default() }
    }

    pub async fn get(&self, path: &Path) -> Result<Arc<Interpreter>, ToolError> {
        let place = lock(&self.by_path).entry(path.to_owned()).or_default().clone();
        let mut place = place.lock().await;
        if let Some(interpreter) = place.as_ref().filter(|interpreter| interpreter.is_alive()) {
            return Ok(interpreter.clone());
        }
        let interpreter = Arc::new(Interpreter::start(path, &self.process, &self.config).await?);
        *place = Some(interpreter.clone());
        Ok(interpreter)
    }
}
