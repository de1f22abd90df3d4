//! result-cache: one and the same query again and again, its rows changed now and then. It reads a row, or sums over a range of rows.

use std::ops::RangeInclusive;

use dbdyno_model::{Choices, Difference, Failed, Operation, Operations, Row, Source, Step, Table, Value, range_of};

use crate::options::Options;
use crate::tables::player;
use crate::{Access, Check, Workload};

const QUERY: usize = 0;
const CHANGE: usize = 1;
/// The most rows of a result.
const MOST_ROWS: u64 = 10_000;

#[derive(Clone, Debug)]
pub struct ResultCache {
    rows: u64,
    access: Access,
    updates_percent: u64,
    rows_per_result: u64,
    tables: [Table; 1],
    steps: [Step; 2],
}

impl ResultCache {
    pub fn new(rows: u64, access: Access, updates_percent: u64, rows_per_result: u64) -> Self {
        let player = player();
        let version = player.columns.iter().position(|column| column.source == Source::Version);
        let query = match (rows_per_result, version) {
            (2.., Some(column)) => Operation::SumRange { table: 0, column, rows: rows_per_result },
            _ => Operation::Get { table: 0 },
        };
        let steps = [Step::new("query", query), Step::new("change", Operation::Update { table: 0 })];
        Self { rows, access, updates_percent, rows_per_result, tables: [player], steps }
    }

    /// There is one result for each row, or range of rows.
    fn results(rows: u64, rows_per_result: u64) -> u64 {
        rows.div_ceil(rows_per_result)
    }

    /// The rows of the result with this number.
    fn range(&self, result: u64) -> RangeInclusive<u64> {
        range_of(1 + (result - 1) * self.rows_per_result, self.rows_per_result, self.rows)
    }

    /// A row of the result near `result` that only this client changes, so that its versions rise. Of several rows the step chooses one.
    fn own(&self, result: u64, choices: &Choices) -> u64 {
        let own = result - (result - 1) % choices.clients + choices.client;
        let own = if own > Self::results(self.rows, self.rows_per_result) { choices.client + 1 } else { own };
        let range = self.range(own);
        range.start() + choices.step % (range.end() + 1 - range.start())
    }

    /// The keys are those of the range. The versions are at least 0: which ones there are is known to whoever keeps results, and judged there.
    async fn sums<O: Operations>(&self, operations: &mut O, range: RangeInclusive<u64>) -> Result<(), Failed> {
        let (first, last) = (*range.start() as i64, *range.end() as i64);
        let keys = (first + last) * (last + 1 - first) / 2;
        let mut wrong = None;
        let mut each = |row: Row<'_>| {
            wrong = match (row.value(0), row.value(1)) {
                (Value::Int(sum), Value::Int(0..)) if sum == keys => None,
                (Value::Int(sum), Value::Int(0..)) => Some(Difference::new("SUM(id)", keys, sum)),
                (_, versions) => Some(Difference::new("SUM(version)", "0 or more", versions)),
            };
        };
        let rows = operations.sql(QUERY, &[Value::Int(first), Value::Int(last)], &mut each).await?;
        operations.verify(QUERY, 1, || match (rows, wrong) {
            (1, None) => Ok(()),
            (1, Some(difference)) => Err(difference),
            _ => Err(Difference::new("rows", 1, rows)),
        })
    }
}

impl Workload for ResultCache {
    const NAME: &'static str = "result-cache";
    const TRANSACTION: &'static str = "query or change";

    fn from_options(options: &mut Options<'_>) -> Result<Self, String> {
        let rows_per_result = options.number("rows_per_result", 1..=MOST_ROWS, 1)?;
        let access = options.access_to(Self::results(options.rows, rows_per_result))?;
        Ok(Self::new(options.rows, access, options.number("updates_percent", 0..=100, 0)?, rows_per_result))
    }

    fn tables(&self) -> &[Table] {
        &self.tables
    }

    fn steps(&self) -> &[Step] {
        &self.steps
    }

    fn checks(&self) -> &[Check] {
        &[Check::RowCount { table: 0 }]
    }

    async fn transaction<O: Operations>(&self, operations: &mut O, choices: &mut Choices) -> Result<(), Failed> {
        let is_change = choices.below(100) < self.updates_percent;
        let results = Self::results(self.rows, self.rows_per_result);
        let result = self.access.key(choices, results);
        if is_change && choices.client < results {
            return operations.update(CHANGE, self.own(result, choices), choices.step + 1).await;
        }
        match self.steps[QUERY].operation {
            Operation::SumRange { .. } => self.sums(operations, self.range(result)).await,
            _ => operations.get(QUERY, result).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use dbdyno_model::Field;

    use super::*;

    #[test]
    fn a_result_is_changed_by_one_client_only() {
        for rows_per_result in [1, 3, 100, 1000] {
            let workload = ResultCache::new(100, Access::Uniform, 10, rows_per_result);
            let results = ResultCache::results(100, rows_per_result);
            for client in 0..7.min(results) {
                let choices = Choices::new(1, client, 7, 0);
                for result in 1..=results {
                    let own = workload.own(result, &choices);
                    let changed = (own - 1) / rows_per_result;
                    assert!((1..=100).contains(&own) && changed % 7 == client, "{client} {result} {own}");
                }
            }
        }
    }

    #[test]
    fn every_row_of_a_result_is_changed_in_turn() {
        let workload = ResultCache::new(100, Access::Uniform, 10, 8);
        let changed = |result| {
            let mut rows: Vec<_> = (0..16).map(|step| workload.own(result, &Choices::new(1, 0, 1, step))).collect();
            rows.sort_unstable();
            rows.dedup();
            rows
        };
        assert!(changed(2).into_iter().eq(9..=16));
        assert!(changed(13).into_iter().eq(97..=100), "the last result is of fewer rows");
    }

    /// Answers a query with these rows of two sums each.
    struct Answering(Vec<[i64; 2]>);

    impl Operations for Answering {
        async fn sql(&mut self, _: usize, params: &[Value<'_>], each: &mut dyn FnMut(Row<'_>)) -> Result<u64, Failed> {
            assert_eq!(params, [Value::Int(9), Value::Int(16)]);
            for sums in &self.0 {
                each(Row::new(&[], &sums.map(Field::Int)));
            }
            Ok(self.0.len() as u64)
        }
    }

    #[test]
    fn sums_of_other_rows_are_wrong() {
        let workload = ResultCache::new(100, Access::Uniform, 0, 8);
        let is_right = |rows: &[[i64; 2]]| {
            let mut answering = Answering(rows.to_vec());
            let sums = std::pin::pin!(workload.sums(&mut answering, workload.range(2)));
            let mut context = std::task::Context::from_waker(std::task::Waker::noop());
            sums.poll(&mut context) == std::task::Poll::Ready(Ok(()))
        };
        assert!(is_right(&[[100, 0]]) && is_right(&[[100, 77]]));
        for wrong in [&[[99, 0]][..], &[[100, -1]], &[], &[[100, 0], [100, 0]]] {
            assert!(!is_right(wrong), "{wrong:?}");
        }
    }
}
