//! The `store` object of a plan for Cassandra, and what it can do.

use std::sync::Arc;

use dbdyno_model::Operation;
use dbdyno_wire::cql::Consistency;
use serde::Deserialize;

use super::Cassandra;
use crate::Schema;
use crate::connection_config::{AddressConfig, Secret};
use crate::limits::MESSAGE_ROW_SIZE_BYTES;
use crate::store_config::{Context, StoreConfig};

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CassandraConfig {
    address: AddressConfig,
    user: Option<String>,
    password: Option<Secret>,
    keyspace: String,
    consistency: String,
}

impl StoreConfig for CassandraConfig {
    const KINDS: &'static [&'static str] = &["cassandra"];
    type Store = Arc<Cassandra>;

    /// Keys are hashed to nodes, so they have no order to scan in. An update of a row that was deleted would make a part of one.
    fn can_do(&self, schema: &Schema, operation: Operation) -> bool {
        match operation {
            Operation::Add { .. } | Operation::Scan { .. } | Operation::SumRange { .. } => false,
            Operation::Update { table } => !schema.has_deletions(table),
            _ => operation.has_table(),
        }
    }

    fn tells_deletions(&self) -> bool {
        false
    }

    fn can_pipeline(&self, _: &Schema) -> bool {
        true
    }

    fn most_row_size_bytes(&self) -> Option<usize> {
        Some(MESSAGE_ROW_SIZE_BYTES)
    }

    fn store(&self, context: &Context<'_>) -> Result<Self::Store, String> {
        Ok(Arc::new(Cassandra {
            endpoint: context.endpoint(&self.address, None)?,
            user: self.user.clone().unwrap_or_default(),
            password: context.secret(self.password)?,
            keyspace: self.keyspace.clone(),
            consistency: consistency(&self.consistency)?,
            parameters: (0..context.schema.steps.len()).map(|step| context.schema.parameter_kinds(step)).collect(),
            schema: context.schema(),
            cluster: Default::default(),
        }))
    }
}

/// The consistency level of this name, of those that reads can have, too: `ANY` is not among them.
///
/// # Errors
/// There is none: in words for the user.
fn consistency(name: &str) -> Result<Consistency, String> {
    const NAMES: [(&str, Consistency); 8] = [
        ("ONE", Consistency::One),
        ("TWO", Consistency::Two),
        ("THREE", Consistency::Three),
        ("QUORUM", Consistency::Quorum),
        ("ALL", Consistency::All),
        ("LOCAL_QUORUM", Consistency::LocalQuorum),
        ("EACH_QUORUM", Consistency::EachQuorum),
        ("LOCAL_ONE", Consistency::LocalOne),
    ];
    let entry = NAMES.iter().find(|(known, _)| *known == name);
    let known = || NAMES.map(|(name, _)| name).join(", ");
    entry.map(|(_, level)| *level).ok_or_else(|| format!("consistency = {name:?}: use one of {}", known()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_consistency_level_that_is_none_is_refused_with_those_there_are() {
        assert_eq!(consistency("LOCAL_QUORUM"), Ok(Consistency::LocalQuorum));
        for none in ["MOST", "ANY"] {
            assert!(consistency(none).unwrap_err().contains("EACH_QUORUM"));
        }
    }
}
