//! What is measured, each as a playbook that anybody could have written.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use noetl_client::Client;
use noetl_client::api::catalog::RegisterRequest;
use noetl_client::api::execute::ExecuteRequest;
use serde::Serialize;

/// How long an execution may take, in seconds.
const PATIENCE: u32 = 60;

/// Runs that are measured one after the other when the workload is a single long run, at least.
const ROUNDS: usize = 5;

/// Which part of the time for a throughput they are repeated for.
const SHARE_OF_ROUNDS: u32 = 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum Workload {
    /// One step, one execution after the other
    OneStep,
    /// One step, 16 executions at a time
    #[value(name = "throughput_16")]
    Throughput16,
    /// One step, 64 executions at a time
    #[value(name = "throughput_64")]
    Throughput64,
    /// 40 steps, one after the other
    #[value(name = "chain_40")]
    Chain40,
    /// A parallel loop over 1,000 items
    #[value(name = "loop_1000")]
    Loop1000,
    /// A parallel loop over 10,000 items
    #[value(name = "loop_10000")]
    Loop10000,
    /// 10 sub-playbooks that loop over 1,000 items each
    #[value(name = "nested_10x1000")]
    Nested,
    /// 40 Python steps, one after the other
    #[value(name = "python_40")]
    Python40,
    /// Two steps whose result is the answer to the request, 16 requests at a time
    #[value(name = "webhook_2step")]
    Webhook,
}

/// What came of a workload, in the unit that suits it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Measured {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p50_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub s: Option<f64>,
}

impl Workload {
    pub fn all() -> Vec<Workload> {
        Workload::value_variants().to_vec()
    }

    pub fn name(self) -> &'static str {
        match self {
            Workload::OneStep => "one_step",
            Workload::Throughput16 => "throughput_16",
            Workload::Throughput64 => "throughput_64",
            Workload::Chain40 => "chain_40",
            Workload::Loop1000 => "loop_1000",
            Workload::Loop10000 => "loop_10000",
            Workload::Nested => "nested_10x1000",
            Workload::Python40 => "python_40",
            Workload::Webhook => "webhook_2step",
        }
    }

    /// Whether it is many executions at a time.
    pub fn is_throughput(self) -> bool {
        matches!(self, Workload::Throughput16 | Workload::Throughput64)
    }

    pub async fn register(self, client: &Client) -> Result<()> {
        if self == Workload::Nested {
            register(client, Workload::Loop1000).await?;
        }
        register(client, self).await
    }

    pub async fn measure(self, client: &Client, duration: Duration) -> Result<Measured> {
        match self {
            Workload::OneStep => self.one_after_the_other(client, duration).await,
            Workload::Throughput16 => self.at_a_time(client, 16, duration, false).await,
            Workload::Throughput64 => self.at_a_time(client, 64, duration, false).await,
            Workload::Webhook => self.at_a_time(client, 16, duration, true).await,
            Workload::Chain40 | Workload::Python40 => {
                let seconds = self.rounds(client, duration / SHARE_OF_ROUNDS).await?;
                Ok(Measured { ms: Some(seconds * 1e3), ..Measured::default() })
            }
            Workload::Loop1000 | Workload::Loop10000 | Workload::Nested => Ok(Measured {
                s: Some(self.rounds(client, duration / SHARE_OF_ROUNDS).await?),
                ..Measured::default()
            }),
        }
    }

    async fn one_after_the_other(self, client: &Client, duration: Duration) -> Result<Measured> {
        self.run(client).await?;
        let begun = Instant::now();
        let mut times = Vec::new();
        while begun.elapsed() < duration {
            times.push(self.run(client).await?);
        }
        let (p50, p99) = percentiles(times);
        Ok(Measured { p50_ms: Some(p50 * 1e3), p99_ms: Some(p99 * 1e3), ..Measured::default() })
    }

    /// As many executions under way at any time as there are clients.
    async fn at_a_time(
        self,
        client: &Client,
        clients: usize,
        duration: Duration,
        times: bool,
    ) -> Result<Measured> {
        self.clients(client, clients, duration / 10).await?;
        let begun = Instant::now();
        let seconds = self.clients(client, clients, duration).await?;
        let per_s = Some(seconds.len() as f64 / begun.elapsed().as_secs_f64());
        let p99_ms = times.then(|| percentiles(seconds).1 * 1e3);
        Ok(Measured { per_s, p99_ms, ..Measured::default() })
    }

    /// The seconds of each execution that clients came to in this time.
    async fn clients(self, client: &Client, clients: usize, duration: Duration) -> Result<Vec<f64>> {
        let over = Arc::new(AtomicBool::new(false));
        let tasks: Vec<_> = (0..clients)
            .map(|_| {
                let (client, over) = (client.clone(), over.clone());
                tokio::spawn(async move {
                    let mut seconds = Vec::new();
                    while !over.load(Ordering::Relaxed) {
                        seconds.push(self.run(&client).await?);
                    }
                    Ok::<_, anyhow::Error>(seconds)
                })
            })
            .collect();
        tokio::time::sleep(duration).await;
        over.store(true, Ordering::Relaxed);
        let mut all = Vec::new();
        for task in tasks {
            all.extend(task.await.context("a client broke off")??);
        }
        Ok(all)
    }

    /// The median of a few runs, of more if they are short, after one that does not count.
    async fn rounds(self, client: &Client, duration: Duration) -> Result<f64> {
        self.run(client).await?;
        let begun = Instant::now();
        let mut times = Vec::new();
        while times.len() < ROUNDS || begun.elapsed() < duration {
            times.push(self.run(client).await?);
        }
        Ok(percentiles(times).0)
    }

    /// Seconds from the request to the answer that the execution has completed.
    async fn run(self, client: &Client) -> Result<f64> {
        let request = ExecuteRequest { path: Some(self.path()), ..ExecuteRequest::default() };
        let begun = Instant::now();
        let answer = client.execute_and_wait(&request, PATIENCE).await?;
        let seconds = begun.elapsed().as_secs_f64();
        match answer.outcome {
            Some(outcome) if outcome.status == "COMPLETED" => Ok(seconds),
            Some(outcome) => {
                let why = outcome.error.unwrap_or_default();
                bail!(
                    "execution {} of {} ended as {}: {why}",
                    answer.execution_id,
                    self.path(),
                    outcome.status
                )
            }
            None => {
                bail!("execution {} of {} did not end within {PATIENCE} s", answer.execution_id, self.path())
            }
        }
    }

    fn path(self) -> String {
        format!("bench/{}", self.name())
    }

    /// The workflow of its playbook.
    fn workflow(self) -> String {
        match self {
            Workload::OneStep | Workload::Throughput16 | Workload::Throughput64 => {
                chain(1, |_| "{kind: noop, result: {n: 1}}".to_owned())
            }
            Workload::Webhook => chain(2, |step| format!("{{kind: noop, result: {{n: {step}}}}}")),
            Workload::Chain40 => chain(40, |step| format!("{{kind: noop, result: {{n: {step}}}}}")),
            Workload::Python40 => {
                chain(40, |step| format!("{{kind: python, code: \"result = {{'n': {step}}}\"}}"))
            }
            Workload::Loop1000 => looping(1_000),
            Workload::Loop10000 => looping(10_000),
            Workload::Nested => format!(
                "  - step: start\n    loop: {{in: 10, iterator: n, spec: {{mode: parallel}}}}\n    \
                 tool: {{kind: playbook, path: {}}}\n",
                Workload::Loop1000.path()
            ),
        }
    }
}

async fn register(client: &Client, workload: Workload) -> Result<()> {
    let (path, name) = (workload.path(), workload.name());
    let content = format!(
        "apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {{name: {name}, path: {path}}}\nworkflow:\n{}",
        workload.workflow()
    );
    client.register(&RegisterRequest { content, resource_type: None }).await?;
    Ok(())
}

/// Steps that each lead to the next.
fn chain(steps: usize, tool: impl Fn(usize) -> String) -> String {
    let name = |step: usize| if step == 0 { "start".to_owned() } else { format!("s{step}") };
    (0..steps)
        .map(|step| {
            let next = match step + 1 {
                last if last == steps => String::new(),
                next => format!("    next: {{arcs: [{{step: {}}}]}}\n", name(next)),
            };
            format!("  - step: {}\n    tool: {}\n{next}", name(step), tool(step))
        })
        .collect()
}

fn looping(items: usize) -> String {
    format!(
        "  - step: start\n    loop: {{in: {items}, iterator: i, spec: {{mode: parallel, max_in_flight: 100}}}}\n    \
         tool: {{kind: noop, result: \"{{{{ i }}}}\"}}\n"
    )
}

/// The median and the 99th percentile.
fn percentiles(mut times: Vec<f64>) -> (f64, f64) {
    times.sort_by(f64::total_cmp);
    let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or_default();
    (at(50), at(99))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_the_sorted_times() {
        assert_eq!(percentiles(vec![3.0, 1.0, 2.0]), (2.0, 3.0));
        assert_eq!(percentiles(Vec::new()), (0.0, 0.0));
    }

    #[test]
    fn the_playbooks_are_valid() {
        for workload in Workload::all() {
            let source = format!(
                "apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {{name: b, path: b}}\nworkflow:\n{}",
                workload.workflow()
            );
            let checked = noetl_dsl::check(&source, &noetl_dsl::Options::default());
            assert!(checked.diagnostics.is_empty(), "{}: {:?}", workload.name(), checked.diagnostics);
        }
    }
}
