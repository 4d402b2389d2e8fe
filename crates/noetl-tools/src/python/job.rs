//! One run of Python code in a forked process, from the request to the end of the last process it started.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use noetl_types::{ErrorKind, ToolError};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;
use tokio::sync::watch;

use super::interpreter::{Ending, Interpreter, Progress};
use crate::capture::Capture;
use crate::{Call, Deadline, Interrupt, ProcessConfig, Stream};

/// How long the output may take to arrive after the answer or the end.
const LEAVING_PATIENCE: Duration = Duration::from_secs(1);

/// How a job ended.
pub struct JobEnd {
    pub how: HowItEnded,
    pub stdout: String,
    pub stderr: String,
}

pub enum HowItEnded {
    /// The runner answered with this JSON.
    Answered(Vec<u8>),
    /// The answer would have been this large.
    TooLarge(u64),
    /// The process ended without an answer; the status is as `wait` gives it.
    Died(i32),
    /// No process could be forked.
    Refused(io::Error),
    /// The interpreter died under it.
    Lost,
    Interrupted(Interrupt),
}

pub struct Job {
    number: u64,
    interpreter: Arc<Interpreter>,
    progress: watch::Receiver<Progress>,
    channel: UnixStream,
    stdout: Capture,
    stderr: Capture,
    /// Whether a drop has to end the process.
    unfinished: Unfinished,
}

impl Job {
    pub async fn start(
        interpreter: Arc<Interpreter>,
        output_limit: usize,
        call: &Call,
    ) -> Result<Job, ToolError> {
        let make = async {
            let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
            let (stdout_reader, stdout_writer) = io::pipe()?;
            let (stderr_reader, stderr_writer) = io::pipe()?;
            ours.set_nonblocking(true)?;
            let stdout = pipe::Receiver::from_owned_fd(stdout_reader.into())?;
            let stderr = pipe::Receiver::from_owned_fd(stderr_reader.into())?;
            let channel = UnixStream::from_std(ours)?;
            let theirs = [OwnedFd::from(theirs), stdout_writer.into(), stderr_writer.into()];
            let (number, progress) = interpreter.fork(theirs).await?;
            Ok::<_, io::Error>((number, progress, channel, stdout, stderr))
        };
        let (number, progress, channel, stdout, stderr) = make.await.map_err(|error| {
            ToolError::new(ErrorKind::WorkerLost, format!("python: the job could not be started: {error}"))
        })?;
        let unfinished = Unfinished { interpreter: Some(interpreter.clone()), number };
        Ok(Job {
            number,
            interpreter,
            progress,
            channel,
            stdout: Capture::start(stdout, Stream::Stdout, output_limit, call.logs.clone()),
            stderr: Capture::start(stderr, Stream::Stderr, output_limit, call.logs.clone()),
            unfinished,
        })
    }

    /// Sends the request and waits for the answer and all output, or for the end. The interpreter collects the process
    /// and kills whatever it left behind.
    pub async fn run(
        mut self,
        request: &[u8],
        result_limit: usize,
        deadline: &Deadline,
        config: &ProcessConfig,
    ) -> JobEnd {
        let how = match deadline.guard(self.exchange(request, result_limit)).await {
            Ok(how) => how,
            Err(interrupt) => {
                self.interpreter.end(self.number, Ending::Ask).await;
                if tokio::time::timeout(config.kill_grace, self.over()).await.is_err() {
                    self.interpreter.end(self.number, Ending::Kill).await;
                    self.over().await;
                }
                HowItEnded::Interrupted(interrupt)
            }
        };
        self.unfinished.interpreter = None;
        let (stdout, stderr) =
            tokio::join!(self.stdout.finish(LEAVING_PATIENCE), self.stderr.finish(LEAVING_PATIENCE));
        JobEnd { how, stdout, stderr }
    }

    /// The answer, or the end of the process if that comes first.
    async fn exchange(&mut self, request: &[u8], result_limit: usize) -> HowItEnded {
        let mut progress = self.progress.clone();
        let mut talk = std::pin::pin!(talk(&mut self.channel, request, result_limit));
        let end = tokio::select! {
            biased;
            answer = &mut talk => match answer {
                Ok(how) => return how,
                Err(_) => over(&mut progress).await,
            },
            // What was answered just before the end is still on its way. A copy of the channel in some stray process
            // must not hold us up.
            end = over(&mut progress) => match tokio::time::timeout(LEAVING_PATIENCE, talk).await {
                Ok(Ok(how)) => return how,
                _ => end,
            },
        };
        match end {
            Progress::Ended { status } => HowItEnded::Died(status),
            Progress::Refused { errno } => HowItEnded::Refused(io::Error::from_raw_os_error(errno)),
            _ => HowItEnded::Lost,
        }
    }

    async fn over(&self) -> Progress {
        over(&mut self.progress.clone()).await
    }
}

/// Waits for the end of the process.
async fn over(progress: &mut watch::Receiver<Progress>) -> Progress {
    match progress.wait_for(|progress| progress.is_over()).await {
        Ok(progress) => *progress,
        Err(_) => Progress::Lost,
    }
}

/// Sends the request frame and takes the answer frame.
async fn talk(channel: &mut UnixStream, request: &[u8], result_limit: usize) -> io::Result<HowItEnded> {
    channel.write_all(&(request.len() as u64).to_be_bytes()).await?;
    channel.write_all(request).await?;
    let length = channel.read_u64().await?;
    // The frame around the value adds a few bytes, and an error may come with a long traceback.
    if length > result_limit as u64 + 64 * 1024 {
        return Ok(HowItEnded::TooLarge(length));
    }
    let mut answer = Vec::with_capacity(usize::try_from(length).unwrap_or(usize::MAX));
    let received = channel.take(length).read_to_end(&mut answer).await?;
    if received as u64 == length {
        Ok(HowItEnded::Answered(answer))
    } else {
        Err(io::ErrorKind::UnexpectedEof.into())
    }
}

/// Kills the job when the call is dropped before its end.
struct Unfinished {
    interpreter: Option<Arc<Interpreter>>,
    number: u64,
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let (Some(interpreter), Ok(runtime)) =
            (self.interpreter.take(), tokio::runtime::Handle::try_current())
        {
            let number = self.number;
            runtime.spawn(async move { interpreter.end(number, Ending::Kill).await });
        }
    }
}
