//! Cuts reports into requests that a server takes.

use noetl_client::api::worker::{Report, ReportsRequest};
use noetl_types::{Outcome, Slot};

use super::on_the_wire;
use crate::CommandReport;

/// Reports that go into one request together.
const MOST: usize = 1024;

/// A request is full when its values take this many bytes. A single larger value has a request of its own.
const FULL: usize = 4 * 1024 * 1024;

/// The reports in order, in as few requests as will do.
pub fn split(reports: Vec<CommandReport>) -> Vec<ReportsRequest> {
    let mut requests: Vec<ReportsRequest> = Vec::new();
    let mut bytes = 0;
    for report in reports {
        let size = report.outcome.as_ref().map_or(0, size);
        let worker = report.worker.to_string();
        let report = Report {
            attempt: on_the_wire(report.attempt),
            began: report.began_at.is_some(),
            outcome: report.outcome,
        };
        match requests.last_mut() {
            Some(request)
                if request.worker == worker && request.reports.len() < MOST && bytes + size <= FULL =>
            {
                request.reports.push(report);
                bytes += size;
            }
            _ => {
                requests.push(ReportsRequest { worker, reports: vec![report] });
                bytes = size;
            }
        }
    }
    requests
}

/// About how many bytes an outcome takes.
fn size(outcome: &Outcome) -> usize {
    let of = |slot: &Slot| match slot {
        Slot::Inline(value) => value.json_size_up_to(FULL),
        Slot::Stored(stored) => stored.extract.json_size_up_to(FULL),
    };
    match outcome {
        Outcome::Finished { report, sets, .. } => {
            of(&report.data) + sets.iter().map(|set| of(&set.value)).sum::<usize>()
        }
        Outcome::Suspended { pipeline, sets, .. } => {
            pipeline.json_size_up_to(FULL) + sets.iter().map(|set| of(&set.value)).sum::<usize>()
        }
    }
}

#[cfg(test)]
mod tests {
    use noetl_types::{CommandKey, ExecutionId, Value, VisitId};

    use super::*;
    use crate::AttemptId;

    fn report(number: u16, bytes: usize) -> CommandReport {
        let data = Value::text("x".repeat(bytes));
        CommandReport {
            attempt: AttemptId {
                execution: ExecutionId(1),
                key: CommandKey::whole(VisitId(1)),
                attempt: number,
            },
            worker: "w".into(),
            began_at: None,
            outcome: Some(Outcome::finished(noetl_types::Report::success(data))),
        }
    }

    fn numbers(requests: &[ReportsRequest]) -> Vec<Vec<u16>> {
        let of =
            |request: &ReportsRequest| request.reports.iter().map(|report| report.attempt.number).collect();
        requests.iter().map(of).collect()
    }

    #[test]
    fn small_reports_travel_together_and_large_ones_alone() {
        let sizes = [10, 10, FULL, FULL * 2, 10, 10];
        let reports = sizes.into_iter().zip(1..).map(|(bytes, number)| report(number, bytes)).collect();
        assert_eq!(numbers(&split(reports)), [vec![1, 2], vec![3], vec![4], vec![5, 6]]);
    }

    #[test]
    fn no_request_has_too_many() {
        let reports = (0..MOST as u16 + 1).map(|number| report(number, 1)).collect();
        let sizes: Vec<usize> = split(reports).iter().map(|request| request.reports.len()).collect();
        assert_eq!(sizes, [MOST, 1]);
    }
}
