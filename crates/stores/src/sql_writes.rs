//! The writes of a session that has a prepared statement for each step: the same for every SQL store.

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
