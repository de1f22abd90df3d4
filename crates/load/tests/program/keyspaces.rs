//! Cassandra's keyspaces: none is made or dropped, on a server that knows as much of the schema as that takes.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};

use dbdyno_wire::cql::{request, text, write_ready, write_void};
use serde_json::{Value, json};

use crate::common::{execute, of_kind, server};

const OURS: &str = "dbdyno_mine";
const STARTUP: u8 = 0x01;

/// The comment of each table, by keyspace and name.
type Schema = BTreeMap<String, BTreeMap<String, String>>;

#[derive(Clone, Default)]
struct Server(Arc<Mutex<Schema>>);

impl Server {
    fn store(&self) -> Value {
        let schema = self.clone();
        let port = server(move |stream| schema.serve(stream));
        let address = json!({"host": "127.0.0.1", "port": port});
        json!({"kind": "cassandra", "address": address, "user": null, "password": null, "keyspace": OURS,
            "consistency": "ONE"})
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
        match words[..] {
            ["SELECT", "table_name,", "comment", ..] => {
                let tables = schema.get(keyspace).into_iter().flatten();
                let rows = tables.map(|(name, comment)| vec![Some(name.clone()), Some(comment.clone())]);
                write_text_rows(out, 2, rows.collect());
            }
            ["SELECT", ..] => write_text_rows(out, 1, vec![]),
            ["CREATE", "TABLE", name, ..] => {
                let (keyspace, table) = name.split_once('.').unwrap();
                let comment = cql.split_once("comment = '").unwrap().1.trim_end_matches('\'').to_string();
                schema.get_mut(keyspace).unwrap().insert(table.into(), comment);
                write_void(out, 0);
            }
            ["DROP", "TABLE", "IF", "EXISTS", name] => {
                let (keyspace, table) = name.split_once('.').unwrap();
                schema.get_mut(keyspace).unwrap().remove(table);
                write_void(out, 0);
            }
            _ => panic!("{cql}"),
        }
    }

    fn contents(&self, keyspace: &str) -> Option<Vec<String>> {
        self.0.lock().unwrap().get(keyspace).map(|inside| inside.keys().cloned().collect())
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
fn a_keyspace_stays_when_its_last_table_is_dropped_whatever_its_name() {
    let server = Server::default();
    server.0.lock().unwrap().insert(OURS.into(), BTreeMap::new());
    server.execute("prepare");
    assert_eq!(server.contents(OURS).unwrap(), ["dbdyno_bm"]);
    let table = json!(["dbdyno_mine.dbdyno_bm"]);
    assert_eq!(server.execute("list")["leftovers"], table);
    assert_eq!((&server.execute("cleanup")["removed"], server.contents(OURS)), (&table, Some(vec![])));
}
