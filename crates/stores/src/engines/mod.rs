//! Embedded engines. One list: an engine's configuration, name, capabilities and opening follow from its line.

mod kyotocabinet;
mod lmdb;
mod rocksdb;
mod tkrzw;
mod tokyocabinet;

use dbdyno_model::{Operation, Table};
use serde::Deserialize;
use serde_json::Value;

use crate::embedded::{Capabilities, Embedded};
use crate::limits::{AROUND_SIZE_BYTES, check_key};
use crate::store_config::{Context, StoreConfig};
use crate::{Schema, SharedSchema, key_value};

/// Declares [`EngineConfig`] from lines of: its variant, the word in `kind`, its type, the type of its configuration.
macro_rules! engines {
    ($($variant:ident = $kind:literal: $engine:ty, $config:ty;)+) => {
        /// The `store` object of a plan for one of the engines.
        #[derive(Clone, Debug, Deserialize)]
        pub enum EngineConfig {
            $(#[serde(rename = $kind)] $variant($config)),+
        }

        /// The words in `kind` that name an engine.
        const KINDS: &[&str] = &[$($kind),+];

        impl EngineConfig {
            /// Its word in `kind`.
            fn word(&self) -> &'static str {
                match self { $(Self::$variant(_) => $kind),+ }
            }

            fn capabilities(&self) -> Capabilities {
                match self { $(Self::$variant(config) => <$engine>::capabilities(config)),+ }
            }

            /// Opens, or makes, the engine's data.
            ///
            /// # Errors
            /// As the library has them.
            fn open(&self, schema: SharedSchema) -> Result<Embedded, String> {
                match self { $(Self::$variant(config) => {
                    let engine = <$engine>::new(config, &schema)?;
                    Ok(Embedded::new(engine, schema))
                }),+ }
            }
        }
    };
}

engines! {
    Lmdb = "lmdb": lmdb::Lmdb, lmdb::LmdbConfig;
    Rocksdb = "rocksdb": rocksdb::Rocksdb, rocksdb::RocksdbConfig;
    Tokyocabinet = "tokyocabinet": tokyocabinet::Tokyocabinet, tokyocabinet::TokyocabinetConfig;
    Kyotocabinet = "kyotocabinet": kyotocabinet::Kyotocabinet, kyotocabinet::KyotocabinetConfig;
    Tkrzw = "tkrzw": tkrzw::Tkrzw, tkrzw::TkrzwConfig;
}

impl StoreConfig for EngineConfig {
    const KINDS: &'static [&'static str] = KINDS;
    const CONNECTIONS: u64 = 0;
    type Store = Embedded;

    fn read(kind: &str, settings: Value) -> serde_json::Result<Self> {
        serde_json::from_value([(kind, settings)].into_iter().collect())
    }

    fn kind(&self) -> &'static str {
        self.word()
    }

    fn can_do(&self, schema: &Schema, operation: Operation) -> bool {
        match operation {
            Operation::Scan { table } => self.capabilities().can_scan && schema.tables[table].filed_under == 0,
            _ => key_value::can_do(schema, operation),
        }
    }

    fn most_row_size_bytes(&self) -> Option<usize> {
        self.capabilities().value_size_bytes.map(|most| most - AROUND_SIZE_BYTES)
    }

    fn check_keys(&self, table: &Table) -> Result<(), String> {
        self.capabilities().key_size_bytes.map_or(Ok(()), |most| check_key(table, self.word(), 0, most))
    }

    fn store(&self, context: &Context<'_>) -> Result<Embedded, String> {
        self.open(context.schema())
    }
}
