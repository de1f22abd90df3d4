//! The newest version of every row whose writing was acknowledged, so that a read of an older one is known to be stale.

use std::sync::atomic::{AtomicU32, Ordering::AcqRel, Ordering::Acquire};

use dbdyno_model::{Operation, Row, Value, range_of};

use crate::SharedSchema;

/// Shared by all clients. A row is written by one client only, so there is no other traffic between processors than for the rows themselves.
pub struct AcknowledgedVersions {
    schema: SharedSchema,
    /// By table, then by key; empty for tables whose rows have no version.
    versions: Vec<Vec<AtomicU32>>,
}

impl AcknowledgedVersions {
    pub fn new(schema: SharedSchema) -> Self {
        let of_table = |table: &dbdyno_model::Table| {
            let rows = if table.columns.iter().any(|column| column.is_versioned()) { schema.rows + 1 } else { 0 };
            (0..rows).map(|_| AtomicU32::new(0)).collect()
        };
        let versions = schema.tables.iter().map(of_table).collect();
        Self { schema, versions }
    }

    /// The version that is known to be written, of a range the sum of its rows' versions; a read that begins now must not return an older one.
    #[inline]
    pub fn version(&self, step: usize, key: u64) -> u64 {
        let of_row = |key| self.slot(step, key).map_or(0, |version| version.load(Acquire).into());
        match self.schema.steps[step].operation {
            Operation::SumRange { rows, .. } => range_of(key, rows, self.schema.rows).map(of_row).sum(),
            _ => of_row(key),
        }
    }

    #[inline]
    pub fn is_stale(&self, step: usize, row: Row<'_>, version: u64) -> bool {
        let read = || match (self.schema.steps[step].operation, row.value(1)) {
            (Operation::SumRange { .. }, Value::Int(sum)) => sum.unsigned_abs(),
            (operation, _) => self.schema.table_of_operation(operation).version_of(row),
        };
        version > 0 && read() < version
    }

    pub fn written(&self, step: usize, key: u64, version: u64) {
        if let Some(latest) = self.slot(step, key) {
            latest.fetch_max(version as u32, AcqRel);
        }
    }

    #[inline]
    fn slot(&self, step: usize, key: u64) -> Option<&AtomicU32> {
        self.versions[self.schema.steps[step].operation.table()].get(key as usize)
    }
}
