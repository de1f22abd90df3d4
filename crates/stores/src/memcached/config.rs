//! The `store` object of a plan for memcached, and what it can do.

use dbdyno_model::{Operation, Table};
use serde::Deserialize;

use super::Memcached;
use crate::connection_config::AddressConfig;
use crate::keys::prefix;
use crate::limits::{ANSWER_ROW_SIZE_BYTES, check_key, check_words};
use crate::store_config::{Context, StoreConfig};
use crate::{Schema, key_value};

/// `KEY_MAX_LENGTH`. A longer key is a line that memcached does not understand, and the value behind it the next.
const KEY_SIZE_BYTES: usize = 250;
/// It takes more seconds than these for a date.
pub const MOST_RELATIVE_S: u32 = 30 * 24 * 3600;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemcachedConfig {
    pub address: AddressConfig,
}

impl StoreConfig for MemcachedConfig {
    const KINDS: &'static [&'static str] = &["memcached"];
    type Store = Memcached;

    fn can_do(&self, schema: &Schema, operation: Operation) -> bool {
        match operation {
            Operation::Insert { .. } => false,
            Operation::Add { table, .. } => schema.tables[table].is_counter(),
            // An answer to several keys does not say in a counter's value whose it is.
            Operation::GetMany { table, .. } if schema.tables[table].is_counter() => false,
            _ => key_value::can_do(schema, operation),
        }
    }

    fn can_expire(&self, _: &Schema, ttl_s: u32) -> bool {
        ttl_s <= MOST_RELATIVE_S
    }

    fn can_pipeline(&self, _: &Schema) -> bool {
        true
    }

    fn most_row_size_bytes(&self) -> Option<usize> {
        Some(ANSWER_ROW_SIZE_BYTES)
    }

    fn check_keys(&self, table: &Table) -> Result<(), String> {
        check_words(table, self.kind())?;
        check_key(table, self.kind(), prefix(table).len(), KEY_SIZE_BYTES)
    }

    fn store(&self, context: &Context<'_>) -> Result<Memcached, String> {
        Ok(Memcached { endpoint: context.endpoint(&self.address, None)?, schema: context.schema() })
    }
}
