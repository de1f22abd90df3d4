//! Functions of all stores that keep a row under one key.

use dbdyno_model::Operation;

use crate::Schema;

/// Returns whether a store that only keeps rows under keys can do an operation. It has neither SQL nor transactions nor an order of keys.
pub fn can_do(schema: &Schema, operation: Operation) -> bool {
    let table = schema.table_of_operation(operation);
    let is_filed_by_key = table.filed_under == 0;
    match operation {
        Operation::Sql { .. } | Operation::Begin { .. } | Operation::Commit | Operation::Rollback => false,
        Operation::Scan { .. } | Operation::SumRange { .. } => false,
        // Their key is a function of the row's number.
        Operation::Update { .. } | Operation::Put { .. } | Operation::Delete { .. } => true,
        Operation::Insert { .. } => is_filed_by_key && table.indexes.is_empty(),
        Operation::Find { column, .. } => column == table.filed_under,
        _ => is_filed_by_key,
    }
}
