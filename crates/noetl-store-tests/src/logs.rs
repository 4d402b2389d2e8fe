//! Step logs: in order, bounded, followed by a cursor.

use std::sync::Arc;

use noetl_store::{LogChunk, LogCursor, LogFilter, LogLimit, LogStream, Store, StoredLogChunk};
use noetl_types::{CommandKey, ExecutionId, VisitId};

use crate::given::*;

const RUN: ExecutionId = ExecutionId(7);
const AMPLE: LogLimit = LogLimit { bytes_per_stream: 1_000_000 };

fn chunk(number: u32, bytes: &[u8]) -> LogChunk {
    LogChunk {
        execution: RUN,
        step: "work".into(),
        command: CommandKey::whole(VisitId(1)),
        attempt: 1,
        stream: LogStream::Stdout,
        chunk: number,
        at: at(i64::from(number)),
        bytes: bytes.into(),
    }
}

async fn append(store: &dyn Store, chunks: &[LogChunk]) {
    store.append_logs(chunks, AMPLE).await.unwrap();
}

async fn read(store: &dyn Store, filter: LogFilter) -> Vec<StoredLogChunk> {
    store.list_logs(RUN, &filter, 100).await.unwrap()
}

fn text(chunks: &[StoredLogChunk]) -> String {
    chunks.iter().map(|stored| String::from_utf8_lossy(&stored.chunk.bytes)).collect()
}

pub async fn chunks_are_read_in_the_order_they_came(store: Arc<dyn Store>) {
    append(&*store, &[chunk(0, b"one "), chunk(1, b"two ")]).await;
    append(&*store, &[chunk(2, &[255, 0])]).await;
    let all = read(&*store, LogFilter::default()).await;
    let chunks: Vec<LogChunk> = all.iter().map(|stored| stored.chunk.clone()).collect();
    assert_eq!(chunks, [chunk(0, b"one "), chunk(1, b"two "), chunk(2, &[255, 0])]);
    assert_eq!(all.iter().map(|stored| stored.offset).collect::<Vec<_>>(), [0, 4, 8]);
    assert!(all.iter().all(|stored| stored.dropped == 0));
}

pub async fn a_chunk_that_comes_again_is_passed_over(store: Arc<dyn Store>) {
    append(&*store, &[chunk(0, b"one "), chunk(1, b"two ")]).await;
    append(&*store, &[chunk(1, b"two "), chunk(2, b"three")]).await;
    assert_eq!(text(&read(&*store, LogFilter::default()).await), "one two three");
}

pub async fn a_log_is_followed_by_its_cursor(store: Arc<dyn Store>) {
    append(&*store, &[chunk(0, b"one ")]).await;
    let seen = read(&*store, LogFilter::default()).await;
    let after = LogFilter { after: seen[0].cursor, ..Default::default() };
    assert_eq!(read(&*store, after.clone()).await, []);
    append(&*store, &[chunk(1, b"two")]).await;
    assert_eq!(text(&read(&*store, after).await), "two");
}

pub async fn a_log_is_read_in_pages(store: Arc<dyn Store>) {
    let chunks: Vec<LogChunk> = (0..25).map(|number| chunk(number, b"x")).collect();
    append(&*store, &chunks).await;
    let (mut cursor, mut pages) = (LogCursor::default(), Vec::new());
    loop {
        let filter = LogFilter { after: cursor, ..Default::default() };
        let page = store.list_logs(RUN, &filter, 10).await.unwrap();
        let Some(last) = page.last() else { break };
        cursor = last.cursor;
        pages.push(page.len());
    }
    assert_eq!(pages, [10, 10, 5]);
}

pub async fn a_log_is_read_from_an_offset(store: Arc<dyn Store>) {
    append(&*store, &[chunk(0, b"0123"), chunk(1, b"4567"), chunk(2, b"89")]).await;
    let from = |from_offset| LogFilter { from_offset, ..Default::default() };
    assert_eq!(text(&read(&*store, from(3)).await), "0123456789");
    assert_eq!(text(&read(&*store, from(4)).await), "456789");
    assert_eq!(text(&read(&*store, from(9)).await), "89");
    assert_eq!(text(&read(&*store, from(10)).await), "");
}

pub async fn logs_are_filtered(store: Arc<dyn Store>) {
    let error = LogChunk { stream: LogStream::Stderr, ..chunk(0, b"error ") };
    let second_attempt = LogChunk { attempt: 2, ..chunk(0, b"second ") };
    let other_item = LogChunk { command: item(1, 3), ..chunk(0, b"item ") };
    let other_step =
        LogChunk { step: "end".into(), command: CommandKey::whole(VisitId(2)), ..chunk(0, b"end ") };
    append(&*store, &[chunk(0, b"out "), error, second_attempt, other_item, other_step]).await;
    let read = async |filter| text(&read(&*store, filter).await);
    let none = LogFilter::default;
    assert_eq!(read(LogFilter { stream: Some(LogStream::Stderr), ..none() }).await, "error ");
    assert_eq!(read(LogFilter { attempt: Some(2), ..none() }).await, "second ");
    assert_eq!(read(LogFilter { command: Some(item(1, 3)), ..none() }).await, "item ");
    assert_eq!(read(LogFilter { visit: Some(VisitId(1)), ..none() }).await, "out error second item ");
    assert_eq!(read(LogFilter { step: Some("end".to_owned()), ..none() }).await, "end ");
}

pub async fn each_stream_is_bounded_on_its_own(store: Arc<dyn Store>) {
    let limit = LogLimit { bytes_per_stream: 6 };
    let other = LogChunk { stream: LogStream::Stderr, ..chunk(0, b"abcdef") };
    store.append_logs(&[chunk(0, b"0123"), chunk(1, b"4567"), chunk(2, b"89"), other], limit).await.unwrap();
    let stdout = LogFilter { stream: Some(LogStream::Stdout), ..Default::default() };
    let kept = read(&*store, stdout).await;
    assert_eq!(text(&kept), "012345");
    assert_eq!(kept.iter().map(|stored| stored.dropped).collect::<Vec<_>>(), [0, 2, 2]);
    let stderr = LogFilter { stream: Some(LogStream::Stderr), ..Default::default() };
    assert_eq!(text(&read(&*store, stderr).await), "abcdef");
}

pub async fn logs_of_executions_stay_apart(store: Arc<dyn Store>) {
    let other = LogChunk { execution: ExecutionId(8), ..chunk(0, b"other") };
    append(&*store, &[chunk(0, b"one"), other]).await;
    assert_eq!(text(&read(&*store, LogFilter::default()).await), "one");
    assert_eq!(store.delete_logs(RUN).await.unwrap(), 1);
    assert_eq!(read(&*store, LogFilter::default()).await, []);
    assert_eq!(store.list_logs(ExecutionId(8), &LogFilter::default(), 10).await.unwrap().len(), 1);
    append(&*store, &[chunk(0, b"anew")]).await;
    assert_eq!(text(&read(&*store, LogFilter::default()).await), "anew");
}
