//! The `store` object of a plan for servers of the PostgreSQL protocol, and what they can do.

use dbdyno_model::Operation;
use serde::Deserialize;

use super::Postgres;
use crate::Schema;
use crate::connection_config::{AddressConfig, Secret, TlsConfig};
use crate::limits::MESSAGE_ROW_SIZE_BYTES;
use crate::store_config::{Context, StoreConfig};

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PostgresConfig {
    address: AddressConfig,
    user: String,
    password: Option<Secret>,
    database: String,
    tls: Option<TlsConfig>,
}

impl StoreConfig for PostgresConfig {
    const KINDS: &'static [&'static str] = &["postgres"];
    const IS_NODE: bool = true;
    type Store = Postgres;

    fn can_do(&self, _: &Schema, _: Operation) -> bool {
        true
    }

    fn can_pipeline(&self, _: &Schema) -> bool {
        true
    }

    fn most_row_size_bytes(&self) -> Option<usize> {
        Some(MESSAGE_ROW_SIZE_BYTES)
    }

    fn store(&self, context: &Context<'_>) -> Result<Postgres, String> {
        Ok(Postgres {
            endpoint: context.endpoint(&self.address, self.tls.as_ref())?,
            user: self.user.clone(),
            password: context.secret(self.password)?.unwrap_or_default(),
            database: self.database.clone(),
            schema: context.schema(),
            described: Default::default(),
        })
    }
}
