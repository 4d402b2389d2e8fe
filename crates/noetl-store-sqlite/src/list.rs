//! Listing executions. However many there are, a page is found without reading most of them.
//!
//! First the newest few are looked at, which is enough for whatever is common. What they do not give is rare, and is read
//! by the index that leads to it, newest first. All that is found this way is held against the whole filter, so that the
//! choice of the way only decides how long it takes.

use std::collections::BTreeSet;

use noetl_store::{Error, Execution, ExecutionFilter, MatchCount, PathFilter, SHORT_SEARCH_REACH};
use noetl_types::{ExecutionId, RunStatus};
use rusqlite::{Connection, OptionalExtension, ToSql, params};

use crate::SqliteStore;
use crate::columns::{Micros, int};
use crate::error::Outcome;
use crate::executions::find;
use crate::filter::{Conditions, end_of_prefix};
use crate::search;

/// How many of the newest executions are looked at before an index is asked.
const WALK: usize = 1000;

/// Texts that are followed one by one. A search that finds more is common enough to be answered in another way.
const MAX_TEXTS: usize = 500;

/// Ids are given when executions start, so that they grow with time, but not strictly: their order may be off within this
/// many executions.
const OUT_OF_ORDER: i64 = 1000;

/// Ids from the lower to the higher, both included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Range {
    low: i64,
    high: i64,
}

impl Range {
    fn is_empty(self) -> bool {
        self.low > self.high
    }

    fn meet(self, other: Range) -> Range {
        Range { low: self.low.max(other.low), high: self.high.min(other.high) }
    }
}

/// A way to come to executions by descending or ascending id.
enum Source {
    All,
    Among(Range),
    Status(RunStatus),
    PathAndStatus(String, RunStatus),
    CatalogAndStatus(i64, RunStatus),
    Pool(String),
    Parent(ExecutionId),
    Text(i64),
}

const RECORD: &str = "noetl.execution_record AS e";

impl Source {
    fn tables(&self) -> String {
        let index = match self {
            Source::All | Source::Among(_) => return format!("{RECORD} NOT INDEXED"),
            Source::Text(_) => {
                return format!(
                    "noetl.execution_text AS x CROSS JOIN {RECORD} ON e.execution_id = x.execution_id"
                );
            }
            Source::Status(_) => "execution_by_status",
            Source::PathAndStatus(..) => "execution_by_path_and_status",
            Source::CatalogAndStatus(..) => "execution_by_catalog_and_status",
            Source::Pool(_) => "execution_by_pool",
            Source::Parent(_) => "execution_by_parent",
        };
        format!("{RECORD} INDEXED BY {index}")
    }

    /// The column that gives the order.
    fn order(&self) -> &'static str {
        if matches!(self, Source::Text(_)) { "x.execution_id" } else { "e.execution_id" }
    }

    fn restrict(&self, conditions: &mut Conditions) {
        match self {
            Source::All | Source::Among(_) => {}
            Source::Status(status) => conditions.add("e.status = ?", status.as_str()),
            Source::PathAndStatus(path, status) => {
                conditions.add_pair("e.path = ?a AND e.status = ?b", path.clone(), status.as_str());
            }
            Source::CatalogAndStatus(catalog, status) => {
                conditions.add_pair("e.catalog_id = ?a AND e.status = ?b", *catalog, status.as_str());
            }
            Source::Pool(pool) => conditions.add("e.pool = ?", pool.clone()),
            Source::Parent(parent) => conditions.add("e.parent_execution_id = ?", parent.0),
            Source::Text(text) => conditions.add("x.text_id = ?", *text),
        }
    }

    fn range(&self, within: Range) -> Range {
        match self {
            Source::Among(range) => range.meet(within),
            _ => within,
        }
    }
}

/// What every listed execution must fulfil, beside its place in the range.
fn add_conditions(filter: &ExecutionFilter, conditions: &mut Conditions) {
    if !filter.statuses.is_empty() {
        let places: Vec<String> =
            filter.statuses.iter().map(|status| conditions.value(status.as_str())).collect();
        conditions.add_plain(&format!("+e.status IN ({})", places.join(", ")));
    }
    match &filter.path {
        Some(PathFilter::Is(path)) => conditions.add("+e.path = ?", path.clone()),
        Some(PathFilter::StartsWith(prefix)) => {
            conditions.add("+e.path >= ?", prefix.clone());
            conditions.add_some("+e.path < ?", end_of_prefix(prefix));
        }
        Some(PathFilter::Contains(text)) => {
            conditions.add("instr(lower(e.path), ?) > 0", text.to_ascii_lowercase());
        }
        None => {}
    }
    conditions.add_some("+e.catalog_id = ?", filter.catalog_id);
    conditions.add_some("+e.pool = ?", filter.pool.clone());
    conditions.add_some("+e.parent_execution_id = ?", filter.parent.map(|parent| parent.0));
    conditions.add_some("+e.started_at >= ?", filter.started_from.map(Micros));
    conditions.add_some("+e.started_at < ?", filter.started_before.map(Micros));
    for (key, value) in &filter.labels {
        let exists = "EXISTS (SELECT 1 FROM json_each(e.labels) WHERE key = ?a AND value = ?b)";
        conditions.add_pair(exists, key.clone(), value.clone());
    }
    // The numbers cut what is searched as `searched_part` does.
    conditions.add_some(
        "(instr(lower(e.path), ?) > 0 OR instr(lower(substr(e.error, 1, 1000)), ?) > 0
          OR substr(e.execution_id, 1, length(?)) = ? OR EXISTS (
            SELECT 1 FROM json_each(e.labels) WHERE instr(lower(substr(key || '=' || value, 1, 1000)), ?) > 0
        ))",
        filter.search.as_ref().map(|text| text.to_ascii_lowercase()),
    );
}

/// The statement that reads a source, and its values.
fn statement(
    source: &Source,
    filter: &ExecutionFilter,
    range: Range,
    order: Order,
    limit: usize,
) -> (String, Conditions) {
    let mut conditions = Conditions::default();
    source.restrict(&mut conditions);
    let place = source.order();
    conditions.add_pair(&format!("{place} BETWEEN ?a AND ?b"), range.low, range.high);
    add_conditions(filter, &mut conditions);
    let limit = conditions.value(int(limit));
    let sql = format!(
        "SELECT e.execution_id FROM {} WHERE {} ORDER BY {place} {} LIMIT {limit}",
        source.tables(),
        conditions.sql(),
        order.as_sql(),
    );
    (sql, conditions)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    NewestFirst,
    OldestFirst,
}

impl Order {
    fn as_sql(self) -> &'static str {
        match self {
            Order::NewestFirst => "DESC",
            Order::OldestFirst => "ASC",
        }
    }
}

/// A page in the making: the ids that were found so far, no more than wanted.
struct Page<'a> {
    connection: &'a Connection,
    filter: &'a ExecutionFilter,
    order: Order,
    wanted: usize,
    range: Range,
    found: BTreeSet<i64>,
}

impl Page<'_> {
    /// Adds what a source gives. Once the page is full, only what comes before its end can still matter.
    fn read(&mut self, source: &Source) -> rusqlite::Result<()> {
        let range = source.range(self.range);
        if range.is_empty() {
            return Ok(());
        }
        let (sql, conditions) = statement(source, self.filter, range, self.order, self.wanted);
        let mut statement = self.connection.prepare_cached(&sql)?;
        let ids = statement.query_map(&*conditions.values() as &[&dyn ToSql], |row| row.get(0))?;
        for id in ids {
            self.found.insert(id?);
        }
        while self.found.len() > self.wanted {
            match self.order {
                Order::NewestFirst => self.found.pop_first(),
                Order::OldestFirst => self.found.pop_last(),
            };
        }
        if self.is_full() {
            match self.order {
                Order::NewestFirst => self.range.low = *self.found.first().expect("it is full"),
                Order::OldestFirst => self.range.high = *self.found.last().expect("it is full"),
            }
        }
        Ok(())
    }

    fn read_all(&mut self, sources: Vec<Source>) -> rusqlite::Result<()> {
        sources.iter().try_for_each(|source| self.read(source))
    }

    fn is_full(&self) -> bool {
        self.found.len() >= self.wanted
    }

    /// Looks at the next executions in order. False when the range has more than those.
    fn walk(&mut self, reach: usize) -> rusqlite::Result<bool> {
        let sql = format!(
            "SELECT execution_id FROM noetl.execution_record NOT INDEXED WHERE execution_id BETWEEN ?1 AND ?2
             ORDER BY execution_id {} LIMIT 1 OFFSET ?3",
            self.order.as_sql()
        );
        let values = params![self.range.low, self.range.high, int(reach)];
        let end: Option<i64> =
            self.connection.prepare_cached(&sql)?.query_row(values, |row| row.get(0)).optional()?;
        let near = match (end, self.order) {
            (None, _) => self.range,
            (Some(end), Order::NewestFirst) => Range { low: end + 1, ..self.range },
            (Some(end), Order::OldestFirst) => Range { high: end - 1, ..self.range },
        };
        self.read(&Source::Among(near))?;
        Ok(end.is_none())
    }

    /// Newest first, without those that come before the offset.
    fn finish(self) -> Vec<ExecutionId> {
        let offset = self.filter.offset;
        match self.order {
            Order::NewestFirst => self.found.into_iter().rev().skip(offset).map(ExecutionId).collect(),
            Order::OldestFirst => {
                let kept: Vec<i64> = self.found.into_iter().skip(offset).collect();
                kept.into_iter().rev().map(ExecutionId).collect()
            }
        }
    }
}

/// The ids on a page.
fn page(connection: &Connection, filter: &ExecutionFilter, limit: usize) -> Outcome<Vec<ExecutionId>> {
    let order = if filter.is_oldest_first() { Order::OldestFirst } else { Order::NewestFirst };
    let range = range(connection, filter)?;
    let wanted = limit.saturating_add(filter.offset);
    let without_search = ExecutionFilter { search: None, ..filter.clone() };
    let mut page = Page { connection, filter, order, wanted, range, found: BTreeSet::new() };
    if limit == 0 || range.is_empty() {
        return Ok(Vec::new());
    }
    if filter.is_unconditional() {
        page.read(&Source::All)?;
        return Ok(page.finish());
    }
    if filter.has_short_text() {
        page.walk(SHORT_SEARCH_REACH)?;
        return Ok(page.finish());
    }
    if !page.walk(WALK)? && !page.is_full() {
        match sources_of_search(connection, filter)? {
            Some(sources) => {
                // Whatever these lead to has the text, so that nobody has to look for it again.
                page.filter = &without_search;
                page.read_all(sources)?;
            }
            None => page.read_all(sources(connection, filter)?)?,
        }
    }
    Ok(page.finish())
}

/// The ways that lead to everything with the text that is searched for, if they are few.
fn sources_of_search(
    connection: &Connection,
    filter: &ExecutionFilter,
) -> rusqlite::Result<Option<Vec<Source>>> {
    let Some(text) = filter.search.as_ref().filter(|_| filter.parent.is_none()) else {
        return Ok(None);
    };
    let found = search::find_containing(connection, &text.to_ascii_lowercase(), false, MAX_TEXTS)?;
    Ok(found.map(|found| {
        let texts = found.into_iter().flat_map(|found| match found.is_path {
            true => sources_of_path(found.text, filter),
            false => vec![Source::Text(found.id)],
        });
        texts.chain(ids_beginning_with(text).map(Source::Among)).collect()
    }))
}

/// The ways that lead to the executions of a path.
fn sources_of_path(path: String, filter: &ExecutionFilter) -> Vec<Source> {
    statuses(filter).iter().map(|status| Source::PathAndStatus(path.clone(), *status)).collect()
}

/// The statuses that executions in the list can have.
fn statuses(filter: &ExecutionFilter) -> &[RunStatus] {
    if filter.statuses.is_empty() { &RunStatus::ALL } else { &filter.statuses }
}

/// The ids that can be in the list at all. Times are turned into ids by their index.
fn range(connection: &Connection, filter: &ExecutionFilter) -> rusqlite::Result<Range> {
    let low = filter.after.map_or(i64::MIN, |after| after.0.saturating_add(1));
    let high = filter.before.map_or(i64::MAX, |before| before.0.saturating_sub(1));
    let mut range = Range { low, high };
    if let Some(from) = filter.started_from {
        let sql = "
            SELECT min(execution_id) FROM (
                SELECT execution_id FROM noetl.execution_record WHERE started_at >= ?1 ORDER BY started_at LIMIT ?2
            )";
        let first: Option<i64> = connection
            .prepare_cached(sql)?
            .query_row(params![Micros(from), OUT_OF_ORDER], |row| row.get(0))?;
        range = range.meet(Range { low: first.unwrap_or(i64::MAX), high: i64::MAX });
    }
    if let Some(before) = filter.started_before {
        let sql = "
            SELECT max(execution_id) FROM (
                SELECT execution_id FROM noetl.execution_record WHERE started_at < ?1
                ORDER BY started_at DESC LIMIT ?2
            )";
        let last: Option<i64> = connection
            .prepare_cached(sql)?
            .query_row(params![Micros(before), OUT_OF_ORDER], |row| row.get(0))?;
        range = range.meet(Range { low: i64::MIN, high: last.unwrap_or(i64::MIN) });
    }
    Ok(range)
}

/// The ways that lead to everything in the list, with as little beside it as can be told beforehand.
fn sources(connection: &Connection, filter: &ExecutionFilter) -> rusqlite::Result<Vec<Source>> {
    if let Some(parent) = filter.parent {
        return Ok(vec![Source::Parent(parent)]);
    }
    for (key, value) in &filter.labels {
        match search::find_label(connection, key, value)? {
            None => return Ok(Vec::new()),
            Some(text) if filter.statuses.is_empty() => return Ok(vec![Source::Text(text)]),
            Some(_) => {}
        }
    }
    let each_status = |source: &dyn Fn(RunStatus) -> Source| -> Vec<Source> {
        statuses(filter).iter().map(|status| source(*status)).collect()
    };
    if let Some(catalog) = filter.catalog_id {
        return Ok(each_status(&|status| Source::CatalogAndStatus(catalog, status)));
    }
    if let Some(paths) = paths(connection, filter.path.as_ref())? {
        let all = paths.into_iter().flat_map(|path| sources_of_path(path, filter));
        return Ok(all.collect());
    }
    if let Some((key, value)) = filter.labels.iter().next()
        && let Some(text) = search::find_label(connection, key, value)?
    {
        return Ok(vec![Source::Text(text)]);
    }
    if !filter.statuses.is_empty() {
        return Ok(each_status(&Source::Status));
    }
    match &filter.pool {
        Some(pool) => Ok(vec![Source::Pool(pool.clone())]),
        None => Ok(vec![Source::All]),
    }
}

/// The paths that a filter allows, if they are not too many to be followed one by one.
fn paths(connection: &Connection, filter: Option<&PathFilter>) -> rusqlite::Result<Option<Vec<String>>> {
    match filter {
        None => Ok(None),
        Some(PathFilter::Is(path)) => Ok(Some(vec![path.clone()])),
        Some(PathFilter::StartsWith(prefix)) => {
            search::find_paths(connection, prefix, end_of_prefix(prefix).as_deref(), MAX_TEXTS)
        }
        Some(PathFilter::Contains(text)) => {
            let found = search::find_containing(connection, &text.to_ascii_lowercase(), true, MAX_TEXTS)?;
            Ok(found.map(|found| found.into_iter().map(|found| found.text).collect()))
        }
    }
}

/// The positive ids whose digits begin with a text.
fn ids_beginning_with(text: &str) -> impl Iterator<Item = Range> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
    let number = if digits { text.parse::<i64>().ok() } else { None };
    (0..19).filter_map(move |zeros| {
        let step = 10_i64.checked_pow(zeros)?;
        let low = number?.checked_mul(step)?;
        Some(Range { low, high: low.saturating_add(step - 1) })
    })
}

impl SqliteStore {
    pub(crate) async fn list_page(
        &self,
        filter: &ExecutionFilter,
        limit: usize,
    ) -> Result<Vec<Execution>, Error> {
        let filter = filter.clone();
        self.read(move |connection| {
            let ids = page(connection, &filter, limit)?;
            let rows = ids.into_iter().filter_map(|id| find(connection, id).transpose());
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
        .await
    }

    pub(crate) async fn count_page(
        &self,
        filter: &ExecutionFilter,
        at_most: u64,
    ) -> Result<MatchCount, Error> {
        let filter = ExecutionFilter { before: None, after: None, offset: 0, ..filter.clone() };
        self.read(move |connection| {
            if filter.asks_for_statuses_only() {
                // These are counted as they change.
                let counts = counts(connection)?;
                let wanted = |status| filter.statuses.is_empty() || filter.statuses.contains(status);
                let count = counts.iter().filter(|(status, _)| wanted(status)).map(|(_, count)| count).sum();
                return Ok(MatchCount { count, is_exact: true });
            }
            let limit = usize::try_from(at_most).unwrap_or(usize::MAX);
            let found = page(connection, &filter, limit.saturating_add(1))?.len();
            Ok(MatchCount { count: found.min(limit) as u64, is_exact: found <= limit })
        })
        .await
    }
}

/// How many executions there are in each status that occurs.
pub fn counts(connection: &Connection) -> rusqlite::Result<Vec<(RunStatus, u64)>> {
    let sql = "SELECT status, executions FROM noetl.execution_count WHERE executions > 0 ORDER BY status";
    let mut statement = connection.prepare_cached(sql)?;
    let counts = statement
        .query_map([], |row| Ok((row.get::<_, crate::columns::Run>(0)?.0, row.get::<_, i64>(1)? as u64)))?;
    counts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::assert_plan;

    #[test]
    fn every_way_is_read_in_the_order_of_its_index() {
        let filter = ExecutionFilter {
            statuses: vec![RunStatus::Failed],
            path: Some(PathFilter::Is("a".to_owned())),
            search: Some("abc".to_owned()),
            pool: Some("shared".to_owned()),
            parent: Some(ExecutionId(1)),
            catalog_id: Some(1),
            ..ExecutionFilter::default()
        };
        for (source, way) in [
            (Source::All, "SEARCH e USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"),
            (Source::Status(RunStatus::Failed), "execution_by_status (status=? AND rowid>? AND rowid<?)"),
            (
                Source::PathAndStatus("a".to_owned(), RunStatus::Failed),
                "execution_by_path_and_status (path=? AND status=? AND rowid>? AND rowid<?)",
            ),
            (
                Source::CatalogAndStatus(1, RunStatus::Failed),
                "execution_by_catalog_and_status (catalog_id=? AND status=? AND rowid>? AND rowid<?)",
            ),
            (Source::Pool("p".to_owned()), "execution_by_pool (pool=? AND rowid>? AND rowid<?)"),
            (
                Source::Parent(ExecutionId(1)),
                "execution_by_parent (parent_execution_id=? AND rowid>? AND rowid<?)",
            ),
            (Source::Text(1), "SEARCH x USING PRIMARY KEY (text_id=? AND execution_id>? AND execution_id<?)"),
        ] {
            for order in [Order::NewestFirst, Order::OldestFirst] {
                let (sql, _) = statement(&source, &filter, Range { low: 0, high: 1 }, order, 50);
                assert_plan(&sql, way);
            }
        }
    }

    #[test]
    fn ids_are_found_by_their_first_digits() {
        let ranges: Vec<Range> = ids_beginning_with("12").take(3).collect();
        let range = |low, high| Range { low, high };
        assert_eq!(ranges, [range(12, 12), range(120, 129), range(1200, 1299)]);
        assert_eq!(ids_beginning_with("9223372036854775807").count(), 1);
        assert_eq!(ids_beginning_with("012").count() + ids_beginning_with("1x").count(), 0);
    }
}
