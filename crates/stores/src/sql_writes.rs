//! The writes of a session that has a prepared statement for each step: the same for every SQL store.

use dbdyno_model::{Failure, Kind, RowBuffer};
use dbdyno_wire::Param;

use crate::params::param;

/// A session of a network protocol whose statements take [`Param`]s. Every call is resolved when it is compiled.
pub(crate) trait ParamWrites {
    /// Returns whether the statements are prepared.
    fn is_prepared(&self) -> bool;

    /// Prepares the statement of each step.
    async fn prepare_all(&mut self) -> Result<(), Failure>;

    /// Returns the kinds of a prepared statement's parameters.
    fn kinds(&mut self, step: usize) -> &mut Vec<Kind>;

    /// Returns the buffer of generated values.
    fn generated(&mut self) -> &mut RowBuffer;

    /// Executes a step's statement, and returns whether it changed a row. Prepares the statements first, if they are not.
    async fn write<'p>(
        &mut self,
        step: usize,
        params: impl ExactSizeIterator<Item = Param<'p>> + Clone,
    ) -> Result<bool, Failure>;

    /// Writes with numbers as the parameters. The future is that of [`Self::write`]: another around it would cost each operation more.
    #[inline]
    fn write_numbers<const N: usize>(
        &mut self,
        step: usize,
        numbers: [i64; N],
    ) -> impl Future<Output = Result<bool, Failure>> {
        self.write(step, numbers.into_iter().map(Param::Int))
    }

    /// Writes with the generated values as the parameters.
    #[inline]
    async fn write_generated(&mut self, step: usize) -> Result<bool, Failure> {
        if !self.is_prepared() {
            self.prepare_all().await?;
        }
        let (kinds, generated) = (std::mem::take(self.kinds(step)), std::mem::take(self.generated()));
        let row = generated.row();
        let result = self.write(step, kinds.iter().enumerate().map(|(i, &kind)| param(kind, row.value(i)))).await;
        *self.kinds(step) = kinds;
        *self.generated() = generated;
        result
    }
}

/// Writes `update`, `insert`, `put`, `delete` and `add` of a `Session`. It has `schema` and `generated`, `write_generated(step)`, which executes
/// a step's statement with the generated values as parameters, and `write_numbers(step, numbers)`.
macro_rules! sql_writes {
    () => {
        #[inline]
        async fn update(&mut self, step: usize, key: u64, version: u64) -> Result<bool, Failure> {
            let table = self.schema.table_of_operation(self.schema.steps[step].operation);
            self.generated.clear();
            for column in table.columns.iter().filter(|column| column.is_versioned()) {
                column.generate(key, version, &mut self.generated);
            }
            self.generated.push(Value::Int(key as i64));
            self.write_generated(step).await
        }

        #[inline]
        async fn insert(&mut self, step: usize, key: u64) -> Result<bool, Failure> {
            self.schema.table_of_operation(self.schema.steps[step].operation).generate(key, 0, &mut self.generated);
            self.write_generated(step).await
        }

        #[inline]
        async fn put(&mut self, step: usize, key: u64, version: u64) -> Result<(), Failure> {
            let table = self.schema.table_of_operation(self.schema.steps[step].operation);
            table.generate(key, version, &mut self.generated);
            self.write_generated(step).await.map(drop)
        }

        #[inline]
        async fn delete(&mut self, step: usize, key: u64) -> Result<bool, Failure> {
            self.write_numbers(step, [key as i64]).await
        }

        #[inline]
        async fn add(&mut self, step: usize, key: u64, delta: i64) -> Result<bool, Failure> {
            self.write_numbers(step, [delta, key as i64]).await
        }
    };
}

pub(crate) use sql_writes;
