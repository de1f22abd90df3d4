//! The `store` object of a plan for servers of Redis' protocol, and what they can do.

use dbdyno_model::Operation;
use serde::Deserialize;

use super::Redis;
use crate::connection_config::{AddressConfig, Secret, TlsConfig};
use crate::limits::ANSWER_ROW_SIZE_BYTES;
use crate::store_config::{Context, StoreConfig};
use crate::{Schema, key_value};

/// How Redis holds a row.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// A hash if the workload changes single columns of rows, else a string.
    #[default]
    Auto,
    String,
    Hash,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RedisConfig {
    address: AddressConfig,
    user: Option<String>,
    password: Option<Secret>,
    #[serde(default)]
    database: u32,
    #[serde(default)]
    layout: Layout,
    tls: Option<TlsConfig>,
}

impl RedisConfig {
    /// The same server with whole rows, whatever the workload changes: a cache only ever forgets them.
    pub fn of_cache(&self) -> Self {
        Self { layout: Layout::String, ..self.clone() }
    }

    fn is_hash(&self, schema: &Schema) -> bool {
        match self.layout {
            Layout::Hash => true,
            Layout::String => false,
            Layout::Auto => schema.steps.iter().any(|step| match step.operation {
                Operation::Add { table, .. } => !schema.tables[table].is_counter(),
                _ => false,
            }),
        }
    }
}

impl StoreConfig for RedisConfig {
    const KINDS: &'static [&'static str] = &["redis"];
    type Store = Redis;

    fn can_do(&self, schema: &Schema, operation: Operation) -> bool {
        match (self.layout, operation) {
            // A hash has no command that makes it only if there is none.
            (_, Operation::Insert { .. }) if self.is_hash(schema) => false,
            (Layout::String, Operation::Add { table, .. }) => schema.tables[table].is_counter(),
            (Layout::Hash, Operation::GetMany { .. }) => false,
            // A counter's value does not say whose it is.
            (_, Operation::GetMany { table, .. }) if schema.tables[table].is_counter() => false,
            _ => key_value::can_do(schema, operation),
        }
    }

    /// A hash takes a second command.
    fn can_expire(&self, schema: &Schema, _: u32) -> bool {
        !self.is_hash(schema)
    }

    fn can_pipeline(&self, schema: &Schema) -> bool {
        !self.is_hash(schema)
    }

    fn layout(&self, schema: &Schema) -> Option<&'static str> {
        Some(if self.is_hash(schema) { "hash" } else { "string" })
    }

    fn most_row_size_bytes(&self) -> Option<usize> {
        Some(ANSWER_ROW_SIZE_BYTES)
    }

    fn store(&self, context: &Context<'_>) -> Result<Redis, String> {
        Ok(Redis {
            endpoint: context.endpoint(&self.address, self.tls.as_ref())?,
            user: self.user.clone(),
            password: context.secret(self.password)?,
            database: self.database,
            is_hash: self.is_hash(context.schema),
            schema: context.schema(),
        })
    }
}
