//! The `store` object of a plan for servers of the MySQL protocol, and what they can do.

use dbdyno_model::Operation;
use serde::Deserialize;

use super::{MAX_ROW_SIZE_BYTES, Mysql};
use crate::Schema;
use crate::connection_config::{AddressConfig, Secret, TlsConfig};
use crate::store_config::{Context, StoreConfig};

/// How rows come into the server, the fastest first.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum LoadWith {
    /// COM_STMT_BULK_EXECUTE, which only MariaDB has.
    BulkExecute,
    /// LOAD DATA LOCAL, which a server can forbid.
    LoadData,
    /// INSERT of many rows.
    Insert,
}

/// By what statement rows are read.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum AccessPath {
    /// `SELECT`.
    #[default]
    Sql,
    /// `HANDLER … READ`, past the optimizer.
    Handler,
}

/// How statements are sent.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum StatementProtocol {
    /// Prepared once, then executed.
    #[default]
    Prepared,
    /// As text, parsed each time.
    Text,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MysqlConfig {
    address: AddressConfig,
    user: String,
    password: Option<Secret>,
    database: String,
    #[serde(default)]
    table_options: String,
    /// `None`: the fastest that the server has.
    load_with: Option<LoadWith>,
    #[serde(default)]
    access: AccessPath,
    #[serde(default)]
    protocol: StatementProtocol,
    tls: Option<TlsConfig>,
    /// The servers, known to this one as `dbdyno_1`, `dbdyno_2` …, that have the rows of its tables.
    #[serde(default)]
    backends: Vec<MysqlPart>,
}

/// A whole `store` object that is part of another one and must be of this kind.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum MysqlPart {
    Mysql(MysqlConfig),
}

impl MysqlPart {
    /// # Errors
    /// As [`StoreConfig::store`].
    pub fn store(&self, context: &Context<'_>) -> Result<Mysql, String> {
        let Self::Mysql(config) = self;
        config.store(context)
    }
}

impl StoreConfig for MysqlConfig {
    const KINDS: &'static [&'static str] = &["mysql"];
    const IS_NODE: bool = true;
    type Store = Mysql;

    fn can_do(&self, _: &Schema, operation: Operation) -> bool {
        !(self.access == AccessPath::Handler && matches!(operation, Operation::GetMany { .. }))
    }

    fn most_row_size_bytes(&self) -> Option<usize> {
        Some(MAX_ROW_SIZE_BYTES)
    }

    fn store(&self, context: &Context<'_>) -> Result<Mysql, String> {
        Ok(Mysql {
            endpoint: context.endpoint(&self.address, self.tls.as_ref())?,
            user: self.user.clone(),
            password: context.secret(self.password)?.unwrap_or_default(),
            database: self.database.clone(),
            table_options: self.table_options.clone(),
            load_with: self.load_with,
            access: self.access,
            protocol: self.protocol,
            backends: self.backends.iter().map(|backend| backend.store(context)).collect::<Result<_, _>>()?,
            schema: context.schema(),
        })
    }
}
