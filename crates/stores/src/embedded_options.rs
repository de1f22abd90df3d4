//! The options that several embedded stores share: when writes are flushed, and how rows are filed.

use serde::Deserialize;

/// The flush after every write to an embedded store.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Flush {
    /// The write is on the device.
    Full,
    None,
}

impl Flush {
    pub fn word(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::None => "none",
        }
    }
}

/// The same for a store that can make a transaction of each write.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Commit {
    Full,
    /// Each write is a transaction that is on the device when it is committed.
    Transaction,
    None,
}

/// The structure in which an embedded store files its rows.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Structure {
    Hash,
    /// A B+ tree.
    Tree,
}
