//! Embedded engines. One list: an engine's configuration, name, limits and opening follow from its line.

mod kyotocabinet;
mod lmdb;
mod rocksdb;
mod tkrzw;
mod tokyocabinet;

use serde::Deserialize;

use crate::SharedSchema;
use crate::embedded::{Embedded, Limits};

/// Declares [`EngineConfig`] from lines of: its variant, the word in `kind`, its type, the type of its configuration.
macro_rules! engines {
    ($($variant:ident = $kind:literal: $engine:ty, $config:ty;)+) => {
        /// The `store` object of a plan for one of the engines.
        #[derive(Clone, Debug, Deserialize)]
        #[serde(tag = "kind")]
        pub enum EngineConfig {
            $(#[serde(rename = $kind)] $variant($config)),+
        }

        impl EngineConfig {
            /// The words in `kind` that name an engine.
            pub const KINDS: &[&str] = &[$($kind),+];

            /// The word in `kind`.
            pub fn kind(&self) -> &'static str {
                match self { $(Self::$variant(_) => $kind),+ }
            }

            /// The longest key and the largest value that the engine takes, in bytes.
            pub fn limits(&self) -> Limits {
                match self { $(Self::$variant(_) => <$engine>::LIMITS),+ }
            }

            /// Opens, or makes, the engine's data.
            ///
            /// # Errors
            /// As the library has them.
            pub fn open(&self, schema: &SharedSchema) -> Result<Embedded, String> {
                let schema = SharedSchema::clone(schema);
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
