//! oltp: the workloads of sysbench 1.0's oltp set, by its tables, statements and defaults, so that figures can be held against its.
//!
//! Differences are in docs/experiments/oltp.md: the texts of `c` and `pad` can be verified, and ids of added rows are the client's.

mod digit_groups;
mod queries;

use dbdyno_model::{Choices, Difference, Failed, Operation, Operations, Row, Statement, Step, Table, Value};

use crate::options::Options;
use crate::{Access, Check, Workload};
use digit_groups::{C_GROUPS, LONGEST, PAD_GROUPS, Text, owner};
use queries::Query::{self, DistinctRange, OrderRange, PointSelect, SimpleRange, SumRange};
use queries::{BULK_ROWS, DELTA, RANDOM, SETS, Set, table};

/// How often a DELETE that finds no row is sent. Under READ COMMITTED, one that waited for a transaction which replaced the row does not
/// find the new row; the next one does.
const MOST_DELETES: u32 = 100;
const BEGIN: usize = 0;
const COMMIT: usize = 1;

/// The options of the workload.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    pub tables: usize,
    pub range_size: u64,
    pub point_selects: u64,
}

#[derive(Clone, Debug)]
pub struct Oltp {
    rows: u64,
    access: Access,
    set: Set,
    sizes: Sizes,
    queries: Vec<Query>,
    tables: Vec<Table>,
    steps: Vec<Step>,
    statements: Vec<Statement>,
    checks: Vec<Check>,
    /// The highest id that was there before.
    last: u64,
}

/// The result of a read.
struct Found {
    rows: u64,
    wrong: Option<Box<Difference>>,
}

impl Oltp {
    pub fn new(rows: u64, access: Access, set: Set, sizes: Sizes) -> Self {
        let queries = set.queries();
        let tables: Vec<Table> = (1..=sizes.tables).map(|n| table(set, n, rows, access)).collect();
        let mut steps = vec![];
        if set.is_transaction() {
            steps.push(Step::new("begin", Operation::Begin { read_only: false }));
            steps.push(Step::new("commit", Operation::Commit));
        }
        let mut statements = vec![];
        for (n, table) in tables.iter().enumerate() {
            for query in &queries {
                let of_table = if n == 0 { String::new() } else { format!("_{}", n + 1) };
                let operation = Operation::Sql { statement: statements.len() };
                steps.push(Step::new(&format!("{}{of_table}", query.name()), operation));
                statements.push(query.statement(&table.name));
            }
        }
        let is_constant = !matches!(set, Set::Insert | Set::Delete | Set::BulkInsert);
        let checks = (0..tables.len()).filter(|_| is_constant).map(|table| Check::RowCount { table }).collect();
        Self { rows, access, set, sizes, queries, tables, steps, statements, checks, last: rows }
    }

    fn step(&self, table: usize, query: Query) -> usize {
        let controls = if self.set.is_transaction() { 2 } else { 0 };
        let position = self.queries.iter().position(|&of_set| of_set == query).unwrap_or(0);
        controls + table * self.queries.len() + position
    }

    fn table(&self, choices: &mut Choices) -> usize {
        choices.below(self.sizes.tables as u64) as usize
    }

    fn id(&self, choices: &mut Choices) -> u64 {
        self.access.key(choices, self.rows)
    }

    async fn reads<O: Operations>(&self, operations: &mut O, choices: &mut Choices) -> Result<(), Failed> {
        let table = self.table(choices);
        for _ in 0..self.sizes.point_selects {
            self.point_select(operations, choices, table).await?;
        }
        for query in [SimpleRange, SumRange, OrderRange, DistinctRange] {
            let table = self.table(choices);
            let first = self.id(choices);
            if query == SumRange {
                self.sum(operations, self.step(table, query), first).await?;
            } else {
                self.range(operations, self.step(table, query), first, query).await?;
            }
        }
        Ok(())
    }

    async fn point_select<O: Operations>(
        &self,
        operations: &mut O,
        choices: &mut Choices,
        table: usize,
    ) -> Result<(), Failed> {
        let (step, id) = (self.step(table, PointSelect), self.id(choices));
        let mut group = None;
        let each = &mut |row: Row<'_>| group = group.or(belongs(row.value(0), C_GROUPS));
        let rows = operations.sql(step, &[Value::Int(id as i64)], each).await?;
        operations.verify(step, rows, || expect("c", (1, Some(id)), (rows, group)))
    }

    /// The last id of a range.
    fn end(&self, first: u64) -> u64 {
        first + self.sizes.range_size - 1
    }

    /// Every row is of the range, and none is missing; sorted texts rise, those that must be distinct without a repetition.
    async fn range<O: Operations>(
        &self,
        operations: &mut O,
        step: usize,
        first: u64,
        query: Query,
    ) -> Result<(), Failed> {
        let last = self.end(first);
        let mut range = Found { rows: 0, wrong: None };
        let mut before = [0; LONGEST];
        let each = &mut |row: Row<'_>| {
            let value = row.value(0);
            let owner = belongs(value, C_GROUPS);
            if !owner.is_some_and(|id| (first..=last).contains(&id)) {
                range.wrong.get_or_insert_with(|| Difference::new("c", format!("a row of {first} to {last}"), value));
            }
            if query != SimpleRange
                && let Value::Text(text) = value
            {
                let text = &text[..text.len().min(LONGEST)];
                if text < &before[..text.len()] || (query == DistinctRange && text == &before[..text.len()]) {
                    range.wrong.get_or_insert_with(|| Difference::new("c", "rows in order", value));
                }
                before[..text.len()].copy_from_slice(text);
            }
            range.rows += 1;
        };
        let rows = operations.sql(step, &range_of(first, last), each).await?;
        let expected = last.min(self.rows) + 1 - first;
        operations.verify(step, rows, || range.wrong.map_or(Ok(()), Err).and(expect("rows", expected, range.rows)))
    }

    /// Each `k` is at least 1, and 31 bits wide.
    async fn sum<O: Operations>(&self, operations: &mut O, step: usize, first: u64) -> Result<(), Failed> {
        let last = self.end(first);
        let mut sum = 0;
        let each = &mut |row: Row<'_>| sum = integer(row.value(0));
        operations.sql(step, &range_of(first, last), each).await?;
        let rows = (last.min(self.rows) + 1 - first) as i64;
        let bounds = rows..=rows * i64::from(i32::MAX);
        operations.verify(step, 1, || match bounds.contains(&sum) {
            true => Ok(()),
            false => Err(Difference::new("SUM(k)", format!("{bounds:?}"), sum)),
        })
    }

    async fn update_index<O: Operations>(&self, operations: &mut O, choices: &mut Choices) -> Result<(), Failed> {
        let step = self.step(self.table(choices), Query::UpdateIndex);
        let id = self.id(choices);
        self.write(operations, step, &[Value::Int(id as i64)]).await
    }

    async fn update_non_index<O: Operations>(&self, operations: &mut O, choices: &mut Choices) -> Result<(), Failed> {
        let step = self.step(self.table(choices), Query::UpdateNonIndex);
        let id = self.id(choices);
        let c = Text::new(id, choices.next_u64(), C_GROUPS);
        self.write(operations, step, &[Value::Text(c.as_bytes()), Value::Int(id as i64)]).await
    }

    /// Changes one row, which is there unless another transaction is replacing it.
    async fn write<O: Operations>(&self, operations: &mut O, step: usize, params: &[Value<'_>]) -> Result<(), Failed> {
        let rows = operations.sql(step, params, &mut |_| {}).await?;
        let is_right = rows == 1 || (rows == 0 && self.set.replaces());
        operations.verify(step, 0, || if is_right { Ok(()) } else { expect("rows", 1, rows) })
    }

    async fn replace<O: Operations>(&self, operations: &mut O, choices: &mut Choices) -> Result<(), Failed> {
        let table = self.table(choices);
        let (id, k) = (self.id(choices), self.id(choices));
        let step = self.step(table, Query::Delete);
        let mut rows = 0;
        for _ in 0..MOST_DELETES {
            rows = operations.sql(step, &[Value::Int(id as i64)], &mut |_| {}).await?;
            if rows > 0 {
                break;
            }
        }
        operations.verify(step, 0, || expect("rows", 1, rows))?;
        self.insert(operations, choices, table, id, k).await
    }

    async fn insert<O: Operations>(
        &self,
        operations: &mut O,
        choices: &mut Choices,
        table: usize,
        id: u64,
        k: u64,
    ) -> Result<(), Failed> {
        let step = self.step(table, Query::Insert);
        let text = |groups, drawn| Text::new(id, drawn, groups);
        let (c, pad) = (text(C_GROUPS, choices.next_u64()), text(PAD_GROUPS, choices.next_u64()));
        let (c, pad) = (Value::Text(c.as_bytes()), Value::Text(pad.as_bytes()));
        let params = [Value::Int(id as i64), Value::Int(k as i64), c, pad];
        let rows = operations.sql(step, &params, &mut |_| {}).await?;
        operations.verify(step, 0, || expect("rows", 1, rows))
    }

    /// The number among all clients' of the transaction, from 0.
    fn number(choices: &Choices) -> u64 {
        choices.step * choices.clients + choices.client
    }

    /// Each client draws from its own part of the keys, as sysbench's do.
    fn of_part(&self, choices: &mut Choices) -> i64 {
        let width = (self.rows / choices.clients).max(1);
        let start = choices.client * self.rows / choices.clients;
        let access = match self.access {
            // These are of all rows.
            Access::Zipfian(_) | Access::Latest(_) => return self.id(choices) as i64,
            access => access,
        };
        (start + access.key(choices, width)) as i64
    }

    async fn random_points<O: Operations>(&self, operations: &mut O, choices: &mut Choices) -> Result<(), Failed> {
        let step = self.step(0, Query::RandomPoints);
        let points: [i64; RANDOM] = std::array::from_fn(|_| self.of_part(choices));
        let mut wrong = None;
        let each = &mut |row: Row<'_>| {
            let (id, k) = (integer(row.value(0)), integer(row.value(1)));
            let is_text = belongs(row.value(2), C_GROUPS) == Some(id as u64)
                && belongs(row.value(3), PAD_GROUPS) == Some(id as u64);
            if !is_text || !points.contains(&k) {
                let expected = if is_text { format!("k of {points:?}") } else { "its own c and pad".into() };
                wrong.get_or_insert_with(|| Difference::new(&format!("row {id}"), expected, k));
            }
        };
        let rows = operations.sql(step, &points.map(Value::Int), each).await?;
        operations.verify(step, rows, || wrong.map_or(Ok(()), Err))
    }

    async fn random_ranges<O: Operations>(&self, operations: &mut O, choices: &mut Choices) -> Result<(), Failed> {
        let step = self.step(0, Query::RandomRanges);
        let mut params = [Value::Null; 2 * RANDOM];
        for pair in params.chunks_exact_mut(2) {
            let first = self.of_part(choices);
            pair.copy_from_slice(&[Value::Int(first), Value::Int(first + DELTA)]);
        }
        let mut count = -1;
        operations.sql(step, &params, &mut |row| count = integer(row.value(0))).await?;
        let is_right = (0..=self.rows as i64).contains(&count);
        operations.verify(step, 1, || if is_right { Ok(()) } else { expect("count(k)", self.rows as i64, count) })
    }

    async fn bulk_insert<O: Operations>(&self, operations: &mut O, choices: &mut Choices) -> Result<(), Failed> {
        let step = self.step(choices.client as usize % self.sizes.tables, Query::BulkInsert);
        let first = self.last + 1 + Self::number(choices) * BULK_ROWS as u64;
        let pairs = (first..first + BULK_ROWS as u64).flat_map(|id| [Value::Int(id as i64); 2]);
        let params: Vec<Value<'_>> = pairs.collect();
        let rows = operations.sql(step, &params, &mut |_| {}).await?;
        operations.verify(step, 0, || expect("rows", BULK_ROWS as u64, rows))
    }

    async fn several<O: Operations>(&self, operations: &mut O, choices: &mut Choices) -> Result<(), Failed> {
        operations.control(BEGIN).await?;
        if self.set != Set::WriteOnly {
            self.reads(operations, choices).await?;
        }
        if self.set != Set::ReadOnly {
            self.update_index(operations, choices).await?;
            self.update_non_index(operations, choices).await?;
            self.replace(operations, choices).await?;
        }
        operations.control(COMMIT).await
    }
}

impl Workload for Oltp {
    const NAME: &'static str = "oltp";
    const TRANSACTION: &'static str = "transaction";

    fn from_options(options: &mut Options<'_>) -> Result<Self, String> {
        let access = options.access()?;
        let set = options.one_of("set", &SETS)?;
        let sizes = Sizes {
            tables: options.number("tables", 1..=16, 1)? as usize,
            range_size: options.number("range_size", 1..=1000, 100)?,
            point_selects: options.number("point_selects", 0..=1000, 10)?,
        };
        Ok(Self::new(options.rows, access, set, sizes))
    }

    fn tables(&self) -> &[Table] {
        &self.tables
    }

    fn steps(&self) -> &[Step] {
        &self.steps
    }

    fn checks(&self) -> &[Check] {
        &self.checks
    }

    fn statements(&self) -> &[Statement] {
        &self.statements
    }

    fn growing_tables(&self) -> Vec<usize> {
        let adds_rows = matches!(self.set, Set::Insert | Set::BulkInsert);
        (0..self.tables.len()).filter(|_| adds_rows).collect()
    }

    fn continue_after(&mut self, last: u64) {
        self.last = last;
    }

    async fn transaction<O: Operations>(&self, operations: &mut O, choices: &mut Choices) -> Result<(), Failed> {
        match self.set {
            Set::ReadWrite | Set::ReadOnly | Set::WriteOnly => self.several(operations, choices).await,
            Set::PointSelect => {
                let table = self.table(choices);
                self.point_select(operations, choices, table).await
            }
            Set::UpdateIndex => self.update_index(operations, choices).await,
            Set::UpdateNonIndex => self.update_non_index(operations, choices).await,
            Set::Insert => {
                let (table, k) = (self.table(choices), self.id(choices));
                self.insert(operations, choices, table, self.last + 1 + Self::number(choices), k).await
            }
            Set::Delete => {
                let step = self.step(self.table(choices), Query::Delete);
                let id = Value::Int(self.id(choices) as i64);
                let rows = operations.sql(step, &[id], &mut |_| {}).await?;
                operations.verify(step, 0, || if rows <= 1 { Ok(()) } else { expect("rows", 1, rows) })
            }
            Set::RandomPoints => self.random_points(operations, choices).await,
            Set::RandomRanges => self.random_ranges(operations, choices).await,
            // Boxed: its parameters are too many for every client's future. It is one allocation for a thousand rows.
            Set::BulkInsert => Box::pin(self.bulk_insert(operations, choices)).await,
        }
    }
}

fn range_of(first: u64, last: u64) -> [Value<'static>; 2] {
    [Value::Int(first as i64), Value::Int(last as i64)]
}

fn belongs(value: Value<'_>, groups: usize) -> Option<u64> {
    match value {
        Value::Text(text) => owner(text, groups),
        _ => None,
    }
}

fn integer(value: Value<'_>) -> i64 {
    match value {
        Value::Int(n) => n,
        _ => i64::MIN,
    }
}

fn expect<T: PartialEq + std::fmt::Debug>(what: &str, expected: T, actual: T) -> Result<(), Box<Difference>> {
    if expected == actual {
        return Ok(());
    }
    Err(Difference::new(what, format!("{expected:?}"), format!("{actual:?}")))
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    /// Answers reads with nothing and writes with a row each, and notes which steps were issued.
    #[derive(Default)]
    struct Noted {
        steps: Vec<usize>,
        params: Vec<usize>,
        deletes_in_vain: usize,
    }

    impl Operations for Noted {
        async fn control(&mut self, step: usize) -> Result<(), Failed> {
            self.steps.push(step);
            Ok(())
        }
        async fn sql(&mut self, step: usize, params: &[Value<'_>], _: &mut dyn FnMut(Row<'_>)) -> Result<u64, Failed> {
            self.steps.push(step);
            self.params.push(params.len());
            if self.deletes_in_vain > 0 {
                self.deletes_in_vain -= 1;
                return Ok(0);
            }
            Ok(if params.len() == 2 * BULK_ROWS { BULK_ROWS as u64 } else { 1 })
        }
        /// Rows that were read are not looked at here.
        fn verify(&mut self, _: usize, _: u64, _: impl FnOnce() -> Result<(), Box<Difference>>) -> Result<(), Failed> {
            Ok(())
        }
    }

    fn oltp(set: Set, tables: usize) -> Oltp {
        Oltp::new(1000, Access::Uniform, set, Sizes { tables, range_size: 100, point_selects: 10 })
    }

    fn ends_well(transaction: impl Future<Output = Result<(), Failed>>) {
        let ended = pin!(transaction).poll(&mut Context::from_waker(Waker::noop()));
        assert_eq!(ended, Poll::Ready(Ok(())));
    }

    fn issued(workload: &Oltp, noted: &mut Noted) -> Vec<String> {
        let mut choices = Choices::new(1, 0, 1, 0);
        ends_well(workload.transaction(noted, &mut choices));
        noted.steps.iter().map(|&step| workload.steps()[step].name.clone()).collect()
    }

    #[test]
    fn a_transaction_is_that_of_sysbench() {
        let names = issued(&oltp(Set::ReadWrite, 1), &mut Noted::default());
        let mut expected = vec!["begin"];
        expected.extend(["point_select"; 10]);
        expected.extend(["simple_range", "sum_range", "order_range", "distinct_range"]);
        expected.extend(["index_update", "non_index_update", "delete", "insert", "commit"]);
        assert_eq!(names, expected);
        assert_eq!(issued(&oltp(Set::ReadOnly, 1), &mut Noted::default()).len(), 16);
        assert_eq!(issued(&oltp(Set::WriteOnly, 1), &mut Noted::default()).len(), 6);
    }

    #[test]
    fn every_set_issues_statements_with_their_parameters() {
        for (name, set) in SETS {
            for tables in [1, 3] {
                let (workload, mut noted) = (oltp(set, tables), Noted::default());
                assert!(!issued(&workload, &mut noted).is_empty(), "{name}");
                let sql = |step: &usize| match workload.steps()[*step].operation {
                    Operation::Sql { statement } => Some(workload.statements()[statement].parameters.len()),
                    _ => None,
                };
                let declared: Vec<usize> = noted.steps.iter().filter_map(sql).collect();
                assert_eq!(noted.params, declared, "{name}");
                assert_eq!(workload.tables().len(), tables);
            }
        }
    }

    #[test]
    fn a_delete_that_found_nothing_is_sent_again() {
        let mut noted = Noted::default();
        let workload = oltp(Set::WriteOnly, 1);
        let mut choices = Choices::new(1, 0, 1, 0);
        noted.deletes_in_vain = 2;
        ends_well(workload.replace(&mut noted, &mut choices));
        let names: Vec<&str> = noted.steps.iter().map(|&step| workload.steps()[step].name.as_str()).collect();
        assert_eq!(names, ["delete", "delete", "delete", "insert"]);
    }
}
