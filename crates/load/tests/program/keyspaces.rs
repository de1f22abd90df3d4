//! Cassandra's keyspaces: which of them dbdyno removes, on a server that knows as much of the schema as that takes.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};

use dbdyno_wire::cql::{request, text, write_ready, write_void};
use serde_json::{Value, json};

use crate::common::{execute, of_kind, server};

const OURS: &str = "dbdyno_data";
const STARTUP: u8 = 0x01;

/// The comment of each table and of each type, by keyspace and name; a type has none.
type Schema = BTreeMap<String, BTreeMap<String, Option<String>>>;

#[derive(Clone, Default)]
struct Server(Arc<Mutex<Schema>>);

impl Server {
    fn store(&self) -> Value {
        let schema = self.clone();
        let port = server(move |stream| schema.serve(stream));
        let address = json!({"host": "127.0.0.1", "port": port});
        json!({"kind": "cassandra", "address": address, "user": null, "password": null, "keyspace": OURS,
            "consistency": "ONE", "replication_factor": 1})
    }

    fn serve(&self, mut stream: TcpStream) {
        let (mut bytes, mut piece) = (Vec::new(), [0; 4096]);
        while let Ok(n @ 1..) = stream.read(&mut piece) {
            bytes.extend_from_slice(&piece[..n]);
            while let Some(frame) = request(&bytes).unwrap() {
                let mut out = Vec::new();
                match frame.opcode {
                    STARTUP => write_ready(&mut out, frame.stream),
                    _ => {
                        let cql = text(&bytes[frame.start..frame.end]).unwrap();
                        self.answer(std::str::from_utf8(cql).unwrap(), &mut out);
                    }
                }
                bytes.drain(..frame.end);
                stream.write_all(&out).unwrap();
            }
        }
    }

    fn answer(&self, cql: &str, out: &mut Vec<u8>) {
        let mut schema = self.0.lock().unwrap();
        let words: Vec<&str> = cql.split(' ').collect();
        let keyspace = cql.rsplit('\'').nth(1).unwrap_or_default();
        let inside = |is_wanted: fn(&Option<String>) -> bool| {
            let there = schema.get(keyspace).into_iter().flatten().filter(move |(_, comment)| is_wanted(comment));
            there.map(|(name, comment)| [Some(name.clone()), comment.clone()]).collect::<Vec<_>>()
        };
        let only_names = |rows: Vec<[Option<String>; 2]>| rows.into_iter().map(|[name, _]| vec![name]).collect();
        match words[..] {
            ["SELECT", "keyspace_name", ..] => {
                let rows = schema.contains_key(keyspace).then(|| vec![Some(keyspace.to_string())]);
                write_text_rows(out, 1, rows.into_iter().collect());
            }
            ["SELECT", "table_name,", "comment", ..] => {
                write_text_rows(out, 2, inside(Option::is_some).into_iter().map(Vec::from).collect());
            }
            ["SELECT", "table_name", ..] => write_text_rows(out, 1, only_names(inside(Option::is_some))),
            ["SELECT", "type_name", ..] => write_text_rows(out, 1, only_names(inside(Option::is_none))),
            ["SELECT", ..] => write_text_rows(out, 1, vec![]),
            ["CREATE", "KEYSPACE", name, ..] => {
                assert!(schema.insert(name.into(), BTreeMap::new()).is_none(), "{name} is there");
                write_void(out, 0);
            }
            ["CREATE", "TABLE", name, ..] => {
                let (keyspace, table) = name.split_once('.').unwrap();
                let comment = cql.split_once("comment = '").unwrap().1.trim_end_matches('\'').to_string();
                schema.get_mut(keyspace).unwrap().insert(table.into(), Some(comment));
                write_void(out, 0);
            }
            ["DROP", "TABLE", name] => {
                let (keyspace, table) = name.split_once('.').unwrap();
                schema.get_mut(keyspace).unwrap().remove(table).unwrap();
                write_void(out, 0);
            }
            ["DROP", "KEYSPACE", name] => {
                schema.remove(name).unwrap();
                write_void(out, 0);
            }
            _ => panic!("{cql}"),
        }
    }

    fn contents(&self, keyspace: &str) -> Option<Vec<String>> {
        self.0.lock().unwrap().get(keyspace).map(|inside| inside.keys().cloned().collect())
    }

    fn make(&self, keyspace: &str, inside: &[(&str, Option<&str>)]) {
        let inside = inside.iter().map(|(name, comment)| ((*name).to_string(), comment.map(str::to_string)));
        self.0.lock().unwrap().entry(keyspace.into()).or_default().extend(inside);
    }

    /// Executes a phase of point-get, or of no workload, and returns what its end says.
    fn execute(&self, phase: &str) -> Value {
        let workload = match phase {
            "prepare" => json!({"name": "point-get", "rows": 10}),
            _ => Value::Null,
        };
        let plan = json!({"contract": 1, "phases": [phase], "store": self.store(), "workload": workload});
        let (records, status) = execute(&plan);
        assert!(status.success(), "{records:?}");
        of_kind(&records, "phase").last().copied().unwrap().clone()
    }
}

/// Rows of texts, with their columns: `dbdyno_wire` writes none of these.
fn write_text_rows(out: &mut Vec<u8>, columns: u32, rows: Vec<Vec<Option<String>>>) {
    let mut body = [&b"\0\0\0\x02\0\0\0\x01"[..], &columns.to_be_bytes(), b"\0\x01k\0\x01t"].concat();
    (0..columns).for_each(|_| body.extend_from_slice(b"\0\x01c\0\x0d"));
    body.extend_from_slice(&(rows.len() as u32).to_be_bytes());
    for cell in rows.into_iter().flatten() {
        let length = cell.as_ref().map_or(-1, |text| text.len() as i32);
        body.extend_from_slice(&length.to_be_bytes());
        body.extend_from_slice(cell.unwrap_or_default().as_bytes());
    }
    out.extend_from_slice(b"\x84\0\0\0\x08");
    out.extend_from_slice(&(body.len() as u32).to_be_bytes());
    out.extend_from_slice(&body);
}

#[test]
fn a_keyspace_that_dbdyno_made_goes_with_its_last_table() {
    let server = Server::default();
    server.execute("prepare");
    assert_eq!(server.contents(OURS).unwrap(), ["dbdyno_bm", "dbdyno_made_this"]);
    let both = json!(["dbdyno_data.dbdyno_bm", OURS]);
    let listed = server.execute("list");
    assert_eq!((&listed["leftovers"], server.contents(OURS).unwrap().len()), (&both, 2));
    assert_eq!((&server.execute("cleanup")["removed"], server.contents(OURS)), (&both, None));
}

#[test]
fn a_keyspace_without_tables_is_found_if_it_is_marked_and_told_of_if_not() {
    let server = Server::default();
    server.make(OURS, &[("dbdyno_made_this", Some("dbdyno:{}"))]);
    assert_eq!((&server.execute("cleanup")["removed"], server.contents(OURS)), (&json!([OURS]), None));
    server.make(OURS, &[]);
    let done = server.execute("cleanup");
    assert_eq!((&done["removed"], server.contents(OURS)), (&json!([]), Some(vec![])));
    assert!(done["cannot_know"].as_str().unwrap().contains("DROP KEYSPACE dbdyno_data"), "{done}");
}

#[test]
fn what_the_owner_keeps_in_a_keyspace_stays() {
    // The owner's keyspace of such a name, with a type and no table.
    let server = Server::default();
    server.make(OURS, &[("address", None)]);
    server.execute("prepare");
    assert_eq!(server.execute("cleanup")["removed"], json!(["dbdyno_data.dbdyno_bm"]));
    assert_eq!(server.contents(OURS).unwrap(), ["address"]);
    // A type with the name of a table of dbdyno's.
    let server = Server::default();
    server.make(OURS, &[("dbdyno_made_this", Some("dbdyno:{}")), ("dbdyno_bm", None)]);
    assert_eq!(server.execute("cleanup")["removed"], json!(["dbdyno_data.dbdyno_made_this"]));
    assert_eq!(server.contents(OURS).unwrap(), ["dbdyno_bm"]);
    // A type that the owner has made in a keyspace of dbdyno's.
    let server = Server::default();
    server.execute("prepare");
    server.make(OURS, &[("address", None)]);
    let removed = json!(["dbdyno_data.dbdyno_bm", "dbdyno_data.dbdyno_made_this"]);
    assert_eq!(server.execute("cleanup")["removed"], removed);
    assert_eq!(server.contents(OURS).unwrap(), ["address"]);
    assert_eq!(server.execute("cleanup")["removed"], json!([]));
}
