//! Servers that have the rows of another one's tables, as MariaDB's engine Spider has it: a table there is a way to the table of its name here.
//! The way stands in its comment, so dbdyno's marker is here.

use std::rc::Rc;

use dbdyno_model::Failure;
use dbdyno_net::Reactor;

use super::{Mysql, MysqlSession};
use crate::store_config::OpenStore;

/// The backends of a session, none for most. Clients need no session with them: one is opened when a table is made, looked for or removed.
pub struct Backends {
    stores: Vec<Mysql>,
    reactor: Rc<Reactor>,
    sessions: Vec<MysqlSession>,
}

/// Returns the comment of a table or partition in which Spider reads the backend's name.
fn way(number: usize) -> String {
    format!("srv \"dbdyno_{number}\"")
}

impl Backends {
    pub fn new(stores: Vec<Mysql>, reactor: &Rc<Reactor>) -> Self {
        Self { stores, reactor: Rc::clone(reactor), sessions: Vec::new() }
    }

    pub async fn sessions(&mut self) -> Result<&mut [MysqlSession], Failure> {
        for store in &self.stores[self.sessions.len()..] {
            self.sessions.push(store.open(Some(&self.reactor)).await?);
        }
        Ok(&mut self.sessions)
    }

    /// The comment of a table in front of these; `None` if there are none.
    pub fn comment(&self) -> Option<String> {
        (!self.stores.is_empty()).then(|| way(1))
    }

    /// Returns the partitions that follow the comment of this table at the server in front; `None` if there are no backends.
    pub fn partitions(&self, table: &str) -> Option<String> {
        let count = self.stores.len();
        // For a partition, Spider would look for a table with the partition's name in its own.
        let partition = |number: usize| format!("PARTITION p{number} COMMENT = '{}, table \"{table}\"'", way(number));
        match count {
            0 => None,
            1 => Some(String::new()),
            _ => {
                let partitions = (1..=count).map(partition).collect::<Vec<_>>().join(", ");
                Some(format!(" PARTITION BY KEY () ({partitions})"))
            }
        }
    }

    /// The statement that makes an index, as a table in front of these takes it: a unique one would have to hold the columns that it is
    /// partitioned by.
    pub fn index(&self, sql: String) -> String {
        if self.stores.len() > 1 { sql.replacen("CREATE UNIQUE", "CREATE", 1) } else { sql }
    }
}

#[cfg(test)]
mod tests {
    use dbdyno_model::Operation;

    use crate::capabilities::tests::{MEMCACHED, refusal};

    #[test]
    fn a_backend_is_a_server_of_the_same_protocol() {
        let front = |backend: &str| {
            format!(
                r#"{{"kind": "mysql", "address": {{"unix": "/x"}}, "user": "u", "password": null, "database": "d", "backends": [{backend}]}}"#
            )
        };
        let get = Operation::Get { table: 0 };
        assert!(refusal(&front(MEMCACHED), get).unwrap().contains("unknown variant `memcached`, expected `mysql`"));
        assert_eq!(refusal(&front(&front("")), get), None);
    }
}
