//! Refuses the steps of a workload that a store cannot do, with a message for each.

use dbdyno_model::{Operation, Step};

use crate::Schema;
use crate::config::Config;
use crate::single::SingleConfig;

/// Refuses what a store cannot do, naming both sides.
pub fn check_all(schema: &Schema, config: &SingleConfig) -> Result<(), String> {
    match schema.steps.iter().find(|step| !config.can_do(schema, step)) {
        None => config.check_sizes(schema),
        Some(step) => Err(refusal(schema, config.kind(), step)),
    }
}

/// Refuses what has no meaning that is its own with a cache in front.
pub fn check_aside(schema: &Schema, kind: &str) -> Result<(), String> {
    use Operation::{Delete, GetMany, Insert, Put, Scan, Sql};
    let is_beside = |step: &&Step| {
        matches!(step.operation, GetMany { .. } | Insert { .. } | Put { .. } | Delete { .. } | Scan { .. } | Sql { .. })
    };
    match schema.steps.iter().find(is_beside) {
        None => Ok(()),
        Some(step) => Err(refusal(schema, kind, step)),
    }
}

/// The nodes of one store, which are all alike.
pub fn check_nodes(nodes: &[Config], own_nodes: Option<usize>) -> Result<Vec<&SingleConfig>, String> {
    let singles = nodes.iter().map(node).collect::<Result<Vec<_>, _>>()?;
    let own = own_nodes.unwrap_or(1);
    match &*singles {
        [first, second, ..] if first.kind() == second.kind() && (1..=nodes.len()).contains(&own) => Ok(singles),
        [_, _, ..] => Err(format!("spread needs nodes of one kind, and own_nodes from 1 to {}", nodes.len())),
        _ => Err("spread takes at least two nodes".into()),
    }
}

fn node(config: &Config) -> Result<&SingleConfig, String> {
    match config {
        Config::Single(single) if single.is_node() => Ok(single),
        other => {
            let (kind, nodes) = (other.kind(), SingleConfig::node_kinds().join(" and "));
            Err(format!("{kind} cannot be a node of spread: use {nodes}"))
        }
    }
}

fn refusal(schema: &Schema, kind: &str, step: &Step) -> String {
    let (step_name, operation) = (&step.name, step.operation.name());
    if !step.operation.has_table() {
        return format!("{kind} cannot do the step {step_name}: {operation}");
    }
    let table = schema.table_of_operation(step.operation);
    let why = match step.operation {
        Operation::Insert { .. } if !table.indexes.is_empty() => ", which has indexes",
        Operation::Update { table } if schema.has_deletions(table) => ", whose rows are deleted",
        _ => "",
    };
    format!("{kind} cannot do the step {step_name}: {operation} on {}{why}", table.name)
}

#[cfg(test)]
pub mod tests {
    use dbdyno_model::{Column, Index, Kind, Source, Statement, Table};

    use super::*;
    use crate::Store;
    use crate::memcached::MOST_RELATIVE_S;

    pub const MEMCACHED: &str = r#"{"kind": "memcached", "address": {"host": "127.0.0.1", "port": 1}}"#;
    const REDIS: &str = r#"{"kind": "redis", "address": {"unix": "/x"}, "user": null, "password": null}"#;

    const HANDLER: &str = r#"{"kind": "mysql", "address": {"unix": "/x"}, "user": "u", "password": null, "database": "d", "access": "handler"}"#;

    /// Why a store of this configuration is refused.
    pub fn refusal(config: &str, operation: Operation) -> Option<String> {
        refusal_of(config, &[operation], vec![Index::new(&[1])])
    }

    fn refusal_of(config: &str, operations: &[Operation], indexes: Vec<Index>) -> Option<String> {
        let columns = ["id", "sid"].map(|name| Column::new(name, Kind::Int, Source::Key)).to_vec();
        let tables = vec![Table { indexes, ..Table::new("bm", columns) }];
        let steps = operations.iter().map(|&operation| Step::new("s", operation)).collect();
        let schema = Schema { tables, steps, statements: vec![Statement::default()], rows: 1 };
        match serde_json::from_str(config) {
            Ok(config) => Store::new(&config, &[], schema, 1).err(),
            Err(error) => Some(error.to_string()),
        }
    }

    #[test]
    fn handlersocket_has_no_transactions_and_the_sql_of_its_own_server() {
        let address =
            r#""address": {"unix": "/r"}, "write_address": {"unix": "/w"}, "password": null, "database": "d""#;
        let with = |sql: &str| format!(r#"{{"kind": "handlersocket", {address}, "sql": {sql}}}"#);
        assert_eq!(refusal(&with("null"), Operation::Commit).unwrap(), "handlersocket cannot do the step s: commit");
        assert_eq!(refusal(&with("null"), Operation::Find { table: 0, column: 1 }), None);
        assert!(refusal(&with(MEMCACHED), Operation::Get { table: 0 }).unwrap().contains("expected `mysql`"));
    }

    #[test]
    fn what_a_store_cannot_do_is_refused_naming_both_sides() {
        let find = Operation::Find { table: 0, column: 1 };
        let add = Operation::Add { table: 0, column: 1 };
        assert_eq!(refusal(MEMCACHED, find).unwrap(), "memcached cannot do the step s: find on bm");
        assert!(refusal(MEMCACHED, add).is_some());
        assert!(refusal(REDIS, find).is_some());
        assert_eq!(refusal(REDIS, add), None);
        assert_eq!(refusal(MEMCACHED, Operation::Get { table: 0 }), None);
        let insert = Operation::Insert { table: 0 };
        let indexed = "redis cannot do the step s: insert on bm, which has indexes";
        assert_eq!(refusal(REDIS, insert).unwrap(), indexed);
        assert_eq!(refusal(REDIS, Operation::Commit).unwrap(), "redis cannot do the step s: commit");
        assert_eq!(refusal(REDIS, Operation::Sql { statement: 0 }).unwrap(), "redis cannot do the step s: sql");
        let mongodb = REDIS.replace("\"redis\"", "\"mongodb\", \"database\": \"d\"");
        assert_eq!(refusal(&mongodb, Operation::Commit).unwrap(), "mongodb cannot do the step s: commit");
        let several = Operation::GetMany { table: 0, keys: 2 };
        assert_eq!(refusal(REDIS, several), None);
        assert!(refusal(&REDIS.replace("\"user\"", "\"layout\": \"hash\", \"user\""), several).is_some());
        assert!(refusal(HANDLER, several).is_some() && refusal(HANDLER, find).is_none());
        let aside = format!(r#"{{"kind": "cache-aside", "cache": {MEMCACHED}, "store": {REDIS}}}"#);
        assert_eq!(refusal(&aside, several).unwrap(), "cache-aside cannot do the step s: get-many on bm");
    }

    #[test]
    fn ranges_are_summed_by_sql_and_kept_as_results() {
        let sum = Operation::SumRange { table: 0, column: 1, rows: 10 };
        let mysql = HANDLER.replace("\"handler\"", "\"sql\"");
        let front =
            |kind: &str, caches: &str, store: &str| format!(r#"{{"kind": "{kind}", {caches}, "store": {store}}}"#);
        let nodes = r#""nodes": [{"address": {"host": "127.0.0.1", "port": 1}}]"#;
        let aside = format!("\"cache\": {MEMCACHED}");
        let results = |store| refusal(&front("result-cache", nodes, store), sum);
        assert_eq!((refusal(&mysql, sum), results(&mysql)), (None, None));
        assert_eq!(results(REDIS).unwrap(), "redis cannot do the step s: sum-range on bm");
        let refused = refusal(&front("cache-aside", &aside, &mysql), sum).unwrap();
        assert_eq!(refused, "memcached cannot do the step s: sum-range on bm");
        let mongodb = REDIS.replace("\"redis\"", "\"mongodb\", \"database\": \"d\"");
        let cassandra = REDIS.replace("\"redis\"", r#""cassandra", "keyspace": "k", "consistency": "ONE""#);
        assert!(refusal(&mongodb, sum).is_some() && refusal(&cassandra, sum).is_some());
    }

    #[test]
    fn rows_are_inserted_where_they_can_be_counted_and_are_not_there_twice() {
        let (insert, add) = (Operation::Insert { table: 0 }, Operation::Add { table: 0, column: 1 });
        assert_eq!(refusal_of(REDIS, &[insert], vec![]), None);
        let in_hashes = refusal_of(REDIS, &[insert, add], vec![]).unwrap();
        assert_eq!(in_hashes, "redis cannot do the step s: insert on bm");
        assert!(refusal_of(MEMCACHED, &[insert], vec![]).is_some());
        let sqlite = r#"{"kind": "sqlite", "path": "/x"}"#;
        let aside = format!(r#"{{"kind": "cache-aside", "cache": {REDIS}, "store": {sqlite}}}"#);
        assert!(refusal_of(&aside, &[insert], vec![]).unwrap().starts_with("cache-aside cannot"));
    }

    #[test]
    fn who_can_put_delete_scan_and_let_expire() {
        let put = |ttl_s| Operation::Put { table: 0, ttl_s };
        let (delete, scan) = (Operation::Delete { table: 0 }, Operation::Scan { table: 0 });
        let lmdb = r#"{"kind": "lmdb", "path": "/dev/null/x", "sync": "full", "map_size_bytes": 1048576}"#;
        let sqlite = r#"{"kind": "sqlite", "path": "/x"}"#;
        for config in [MEMCACHED, REDIS, sqlite] {
            assert_eq!((refusal(config, put(0)), refusal(config, delete)), (None, None), "{config}");
        }
        assert_eq!(refusal(REDIS, scan).unwrap(), "redis cannot do the step s: scan on bm");
        assert!(refusal(MEMCACHED, scan).is_some() && refusal(sqlite, scan).is_none());
        assert!(
            [scan, delete, put(0)].iter().all(|&capability| !refusal(lmdb, capability).unwrap().contains("cannot do"))
        );
        assert_eq!((refusal(REDIS, put(60)), refusal(MEMCACHED, put(MOST_RELATIVE_S))), (None, None));
        let hash = REDIS.replace("\"user\"", "\"layout\": \"hash\", \"user\"");
        for (config, ttl_s) in [(sqlite, 60), (lmdb, 60), (&*hash, 60), (MEMCACHED, MOST_RELATIVE_S + 1)] {
            assert!(refusal(config, put(ttl_s)).unwrap().contains("put that expires"), "{config}");
        }
        let aside = format!(r#"{{"kind": "cache-aside", "cache": {REDIS}, "store": {sqlite}}}"#);
        assert!(refusal(&aside, delete).unwrap().starts_with("cache-aside cannot"));
    }

    #[test]
    fn what_has_no_order_of_keys_or_no_word_for_it_is_refused() {
        let (put, delete) = (Operation::Put { table: 0, ttl_s: 0 }, Operation::Delete { table: 0 });
        let (scan, update) = (Operation::Scan { table: 0 }, Operation::Update { table: 0 });
        let of_cassandra = r#""cassandra", "keyspace": "k", "consistency": "ONE""#;
        let cassandra = REDIS.replace("\"redis\"", of_cassandra);
        assert_eq!((refusal(&cassandra, put), refusal(&cassandra, delete)), (None, None));
        assert_eq!(refusal(&cassandra, scan).unwrap(), "cassandra cannot do the step s: scan on bm");
        let part_of_a_row = refusal_of(&cassandra, &[delete, update], vec![]).unwrap();
        assert_eq!(part_of_a_row, "cassandra cannot do the step s: update on bm, whose rows are deleted");
        let mongodb = REDIS.replace("\"redis\"", "\"mongodb\", \"database\": \"d\"");
        assert!([put, delete, scan].iter().all(|&operation| refusal(&mongodb, operation).is_none()));
        let address =
            r#""address": {"unix": "/r"}, "write_address": {"unix": "/w"}, "password": null, "database": "d""#;
        let handlersocket = format!(r#"{{"kind": "handlersocket", {address}, "sql": null}}"#);
        assert_eq!((refusal(&handlersocket, delete), refusal(&handlersocket, scan)), (None, None));
        assert_eq!(refusal(&handlersocket, put).unwrap(), "handlersocket cannot do the step s: put on bm");
    }

    #[test]
    fn a_missing_secret_is_named() {
        let config = r#"{"kind": "redis", "address": {"unix": "/x"}, "user": null, "password": {"secret": 3}}"#;
        assert!(refusal(config, Operation::Get { table: 0 }).unwrap().contains("secret 3"));
    }
}
