//! The one thread that writes. Calls queue up; all that wait commit in one transaction, so that one sync to the disk
//! serves many.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use noetl_store::Error;
use rusqlite::Connection;
use rusqlite::hooks::Wal;
use tokio::sync::{mpsc, oneshot};

use crate::Synchronous;
use crate::checkpoint::Checkpoints;
use crate::connect::{page_size, set_synchronous};
use crate::error::{Fault, Outcome, store_error};
use crate::lock::FileLock;
use crate::log_space::LogSpace;
use crate::log_writes;

/// Calls that may wait before callers have to.
const QUEUE: usize = 256;

/// Calls that share a transaction at most.
const GROUP: usize = 64;

/// How long the thread looks for the next call before it goes to sleep: the next step of a run is usually there by then,
/// and waking a thread takes longer than a step.
const AWAKE: Duration = Duration::from_micros(100);

/// How long a caller looks for its answer before it goes to sleep, when nobody else waits: about as long as a sync to a
/// quick disk.
const ATTENTIVE: Duration = Duration::from_micros(300);

/// What a call promises when it is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// It survives a power failure, as far as the settings say.
    Durable,
    /// It survives the death of the process; a power failure may undo the last moments.
    Relaxed,
}

/// A handle to the writer. The last one dropped ends the thread and waits for it.
#[derive(Debug)]
pub struct Writer {
    queue: Option<mpsc::Sender<Box<dyn Job>>>,
    /// Callers that wait for an answer.
    waiting: AtomicUsize,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the thread. The lock is given up when the thread has closed its connection.
    pub fn start(
        mut connection: Connection,
        database: PathBuf,
        synchronous: Synchronous,
        lock: FileLock,
    ) -> Result<Writer, Error> {
        let pages = Arc::new(AtomicI32::new(0));
        let seen = pages.clone();
        let hook = move |_: &mut Wal, pages| {
            seen.store(pages, Ordering::Relaxed);
            Ok(())
        };
        connection.wal_hook(Some(hook)).map_err(|error| store_error(&error, &database))?;
        let checkpoints = Checkpoints::start(&database)?;
        let page_size = page_size(&connection).map_err(|error| store_error(&error, &database))?;
        let space = LogSpace::new(&database, page_size.into());
        let current = synchronous;
        let mut state = State { connection, database, synchronous, current, pages, space, checkpoints };
        let (queue, jobs) = mpsc::channel(QUEUE);
        let thread = std::thread::Builder::new()
            .name("noetl-store".to_owned())
            .spawn(move || {
                state.run(jobs);
                drop(state);
                drop(lock);
            })
            .map_err(|error| {
                Error::unavailable(format!("the writing thread could not be started: {error}"))
            })?;
        Ok(Writer { queue: Some(queue), waiting: AtomicUsize::new(0), thread: Some(thread) })
    }

    /// Runs a call in a transaction, together with others that wait, and answers when it is committed. The call may be
    /// run more than once; what it did before is rolled back then.
    pub async fn call<T: Send + 'static>(
        &self,
        durability: Durability,
        call: impl FnMut(&Connection) -> Outcome<T> + Send + 'static,
    ) -> Result<T, Error> {
        let (reply, answer) = oneshot::channel();
        let job = Call { durability, call, output: None, reply };
        let queue = self.queue.as_ref().ok_or_else(stopped)?;
        let waiting = Waiting::among(&self.waiting);
        queue.send(Box::new(job)).await.map_err(|_| stopped())?;
        let mut answer = answer;
        if waiting.is_alone
            && let Some(answer) = soon(&mut answer)
        {
            return answer;
        }
        answer.await.map_err(|_| stopped())?
    }
}

/// The answer, if it comes before a thread would have gone to sleep and been woken again. The thread is kept from other
/// work for that long: letting its runtime look for some wakes the other threads of the runtime, for nothing and again and
/// again, and those then stand in the way of the one that writes.
fn soon<T>(answer: &mut oneshot::Receiver<Result<T, Error>>) -> Option<Result<T, Error>> {
    let asleep_at = Instant::now() + ATTENTIVE;
    while Instant::now() < asleep_at {
        match answer.try_recv() {
            Ok(answer) => return Some(answer),
            Err(oneshot::error::TryRecvError::Closed) => return Some(Err(stopped())),
            Err(oneshot::error::TryRecvError::Empty) => std::thread::yield_now(),
        }
    }
    None
}

/// One of those who wait for an answer, counted until it is dropped.
struct Waiting<'a> {
    count: &'a AtomicUsize,
    is_alone: bool,
}

impl Waiting<'_> {
    fn among(count: &AtomicUsize) -> Waiting<'_> {
        let others = count.fetch_add(1, Ordering::Relaxed);
        Waiting { count, is_alone: others == 0 }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Ordering::Relaxed);
    }
}

fn stopped() -> Error {
    Error::unavailable("the writing thread has stopped")
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            // A panic there has been reported by the thread itself.
            let _ = thread.join();
        }
    }
}

/// A call with its answer, whatever their types.
trait Job: Send {
    fn durability(&self) -> Durability;
    fn run(&mut self, connection: &Connection) -> Outcome<()>;
    fn finish(self: Box<Self>, outcome: Result<(), Error>);
}

struct Call<T, F> {
    durability: Durability,
    call: F,
    output: Option<T>,
    reply: oneshot::Sender<Result<T, Error>>,
}

impl<T: Send, F: FnMut(&Connection) -> Outcome<T> + Send> Job for Call<T, F> {
    fn durability(&self) -> Durability {
        self.durability
    }

    fn run(&mut self, connection: &Connection) -> Outcome<()> {
        self.output = Some((self.call)(connection)?);
        Ok(())
    }

    fn finish(self: Box<Self>, outcome: Result<(), Error>) {
        let output = self.output;
        let answer = outcome.and_then(|()| output.ok_or_else(stopped));
        // Whoever asked may have gone away.
        let _ = self.reply.send(answer);
    }
}

/// Takes what waits, or waits for it. False when nobody can call any more.
fn wait_for(jobs: &mut mpsc::Receiver<Box<dyn Job>>, group: &mut Vec<Box<dyn Job>>) -> bool {
    let asleep_at = Instant::now() + AWAKE;
    loop {
        match jobs.try_recv() {
            Ok(job) => {
                group.push(job);
                while group.len() < GROUP
                    && let Ok(job) = jobs.try_recv()
                {
                    group.push(job);
                }
                return true;
            }
            Err(mpsc::error::TryRecvError::Disconnected) => return false,
            Err(mpsc::error::TryRecvError::Empty) if Instant::now() < asleep_at => std::thread::yield_now(),
            Err(mpsc::error::TryRecvError::Empty) => return jobs.blocking_recv_many(group, GROUP) > 0,
        }
    }
}

struct State {
    connection: Connection,
    database: PathBuf,
    /// What the settings ask for.
    synchronous: Synchronous,
    /// What the connection does at the moment.
    current: Synchronous,
    /// Pages in the write-ahead log after the last commit.
    pages: Arc<AtomicI32>,
    space: LogSpace,
    checkpoints: Checkpoints,
}

impl State {
    fn run(&mut self, mut jobs: mpsc::Receiver<Box<dyn Job>>) {
        let mut group = Vec::with_capacity(GROUP);
        while wait_for(&mut jobs, &mut group) {
            self.serve(std::mem::take(&mut group));
            let pages = self.pages.load(Ordering::Relaxed);
            self.checkpoints.consider(pages, &self.connection);
            if self.synchronous == Synchronous::Full {
                self.space.keep_ahead_of(pages.unsigned_abs().into());
            }
        }
    }

    /// Runs waiting calls in one transaction. If one of them fails, each gets one of its own.
    fn serve(&mut self, mut group: Vec<Box<dyn Job>>) {
        if group.len() > 1 && self.attempt(&mut group).is_ok() {
            group.into_iter().for_each(|job| job.finish(Ok(())));
        } else {
            group.into_iter().for_each(|job| self.serve_alone(job));
        }
    }

    fn serve_alone(&mut self, job: Box<dyn Job>) {
        let mut group = [job];
        let outcome = loop {
            match self.attempt(&mut group) {
                Ok(()) => break Ok(()),
                Err(Fault::Again) => {}
                Err(fault) => break Err(fault.into_store_error(&self.database)),
            }
        };
        let [job] = group;
        job.finish(outcome);
    }

    fn attempt(&mut self, group: &mut [Box<dyn Job>]) -> Outcome<()> {
        let durable = group.iter().any(|job| job.durability() == Durability::Durable);
        let wanted = if durable { self.synchronous } else { Synchronous::Normal };
        if wanted != self.current {
            set_synchronous(&self.connection, wanted)?;
            self.current = wanted;
        }
        self.connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        let done = group.iter_mut().try_for_each(|job| job.run(&self.connection));
        let done = done.and_then(|()| {
            let mut commit = self.connection.prepare_cached("COMMIT")?;
            log_writes::gathered(|| commit.execute([]))?;
            Ok(())
        });
        if done.is_err() && !self.connection.is_autocommit() {
            // If even this fails, the next BEGIN fails and says why.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        done
    }
}
