//! The `store` object of a plan for Tokyo Tyrant, and what it can do.

use dbdyno_model::{Kind, Operation, Table};
use serde::Deserialize;

use super::Tokyotyrant;
use super::layout::Layout;
use crate::connection_config::AddressConfig;
use crate::limits::ANSWER_ROW_SIZE_BYTES;
use crate::store_config::{Context, StoreConfig};
use crate::{Schema, key_value};

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokyotyrantConfig {
    address: AddressConfig,
    #[serde(default)]
    layout: Layout,
}

impl StoreConfig for TokyotyrantConfig {
    const KINDS: &'static [&'static str] = &["tokyotyrant"];
    type Store = Tokyotyrant;

    /// Its additions are to whole records. Records with columns have indexes, too.
    fn can_do(&self, schema: &Schema, operation: Operation) -> bool {
        match operation {
            Operation::Add { .. } => false,
            Operation::Find { .. } if self.layout == Layout::Columns => true,
            Operation::Insert { table } if self.layout == Layout::Columns => schema.tables[table].filed_under == 0,
            _ => key_value::can_do(schema, operation),
        }
    }

    fn can_pipeline(&self, _: &Schema) -> bool {
        true
    }

    fn most_row_size_bytes(&self) -> Option<usize> {
        Some(ANSWER_ROW_SIZE_BYTES)
    }

    fn check_keys(&self, table: &Table) -> Result<(), String> {
        let is_bytes = |kind: Kind| matches!(kind, Kind::Binary(_));
        match table.columns.iter().find(|column| self.layout == Layout::Columns && is_bytes(column.kind)) {
            Some(column) => Err(format!(
                "a table of {} takes texts without the byte 0, and {}.{} has bytes: use a hash or a tree",
                self.kind(),
                table.name,
                column.name
            )),
            None => Ok(()),
        }
    }

    fn store(&self, context: &Context<'_>) -> Result<Tokyotyrant, String> {
        Ok(Tokyotyrant {
            endpoint: context.endpoint(&self.address, None)?,
            layout: self.layout,
            schema: context.schema(),
        })
    }
}
