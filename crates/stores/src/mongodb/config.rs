//! The `store` object of a plan for servers of the MongoDB protocol, and what they can do.

use dbdyno_model::Operation;
use serde::Deserialize;

use super::Mongodb;
use crate::Schema;
use crate::connection_config::{AddressConfig, Secret};
use crate::limits::MESSAGE_ROW_SIZE_BYTES;
use crate::store_config::{Context, StoreConfig};

/// The write concern: the server either answers a write or does not.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Write {
    #[default]
    Acknowledged,
    /// Sent and forgotten: `w: 0`.
    Unacknowledged,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MongodbConfig {
    address: AddressConfig,
    /// `None`: nobody is logged in.
    user: Option<String>,
    password: Option<Secret>,
    database: String,
    /// The database that knows the user.
    #[serde(default = "admin")]
    auth_database: String,
    #[serde(default)]
    write: Write,
}

fn admin() -> String {
    "admin".into()
}

impl StoreConfig for MongodbConfig {
    const KINDS: &'static [&'static str] = &["mongodb"];
    type Store = Mongodb;

    fn can_do(&self, _: &Schema, operation: Operation) -> bool {
        operation.has_table() && !matches!(operation, Operation::SumRange { .. })
    }

    fn is_acknowledging(&self) -> bool {
        self.write == Write::Acknowledged
    }

    fn most_row_size_bytes(&self) -> Option<usize> {
        Some(MESSAGE_ROW_SIZE_BYTES)
    }

    fn store(&self, context: &Context<'_>) -> Result<Mongodb, String> {
        Ok(Mongodb {
            endpoint: context.endpoint(&self.address, None)?,
            user: self.user.clone().unwrap_or_default(),
            password: context.secret(self.password)?.unwrap_or_default(),
            database: self.database.clone(),
            auth_database: self.auth_database.clone(),
            write: self.write,
            schema: context.schema(),
        })
    }
}
