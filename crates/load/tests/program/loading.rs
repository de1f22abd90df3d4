//! Loading: a connection that is cut, a server that does not come back, a load that is repeated.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::common::{execute, of_kind, only, plan, redis_at, server};

const ROWS: u64 = 30_000;

/// The content of a Redis of our own, and after how many SETs it closes the connection that the next one comes from.
#[derive(Default)]
struct Kept {
    values: BTreeMap<Vec<u8>, Vec<u8>>,
    claims: BTreeSet<Vec<u8>>,
    sets: u64,
    cuts: Vec<u64>,
    is_gone: bool,
}

impl Kept {
    /// The answer, or `None` to close the connection.
    fn answer(&mut self, command: &[Vec<u8>]) -> Option<Vec<u8>> {
        let names = command[1..].iter();
        Some(match command[0].as_slice() {
            b"SET" => {
                if self.cuts.first().is_some_and(|&cut| self.sets >= cut) {
                    self.cuts.remove(0);
                    return None;
                }
                self.sets += 1;
                assert_eq!(command[3], b"NX");
                if self.values.contains_key(&command[1]) {
                    return Some(b"$-1\r\n".to_vec());
                }
                self.values.insert(command[1].clone(), command[2].clone());
                b"+OK\r\n".to_vec()
            }
            b"SADD" => {
                self.claims.extend(command[2..].iter().cloned());
                b":1\r\n".to_vec()
            }
            b"SMEMBERS" => {
                let head = format!("*{}\r\n", self.claims.len()).into_bytes();
                self.claims.iter().map(|text| bulk(text)).fold(head, |all, part| [all, part].concat())
            }
            b"GETRANGE" => bulk(self.values.get(&command[1]).map_or(&b""[..], |value| value)),
            b"EXISTS" => format!(":{}\r\n", names.filter(|&name| self.values.contains_key(name)).count()).into_bytes(),
            b"GET" => self.values.get(&command[1]).map_or(b"$-1\r\n".to_vec(), |value| bulk(value)),
            other => panic!("{}", other.escape_ascii()),
        })
    }
}

fn bulk(text: &[u8]) -> Vec<u8> {
    [format!("${}\r\n", text.len()).as_bytes(), text, b"\r\n"].concat()
}

fn command(reader: &mut impl BufRead) -> Option<Vec<Vec<u8>>> {
    let number = |reader: &mut dyn BufRead| -> Option<usize> {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        line.get(1..)?.trim_end().parse().ok()
    };
    let parts = number(reader)?;
    let mut part = || {
        let mut bytes = vec![0; number(reader)? + 2];
        reader.read_exact(&mut bytes).ok()?;
        bytes.truncate(bytes.len() - 2);
        Some(bytes)
    };
    (0..parts).map(|_| part()).collect()
}

fn serve(stream: &TcpStream, kept: &Mutex<Kept>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut stream = stream;
    loop {
        let command = command(&mut reader)?;
        let mut kept = kept.lock().unwrap();
        if kept.is_gone {
            return None;
        }
        let answer = kept.answer(&command);
        kept.is_gone = answer.is_none() && kept.cuts.is_empty() && kept.sets < ROWS / 10;
        stream.write_all(&answer?).ok()?;
    }
}

/// A Redis that closes a connection after each of these numbers of SETs; if the last is in the first tenth, it then is gone.
fn cutting(cuts: &[u64]) -> (u16, Arc<Mutex<Kept>>) {
    let kept = Arc::new(Mutex::new(Kept { cuts: cuts.to_vec(), ..Kept::default() }));
    let shared = Arc::clone(&kept);
    let port = server(move |stream| {
        // Many small answers each wait 40 ms for an acknowledgement else.
        stream.set_nodelay(true).unwrap();
        serve(&stream, &shared);
    });
    (port, kept)
}

fn load(port: u16, phases: &[&str], rows: u64) -> Value {
    let mut plan = plan(redis_at(port), 3);
    plan["phases"] = json!(phases);
    plan["workload"]["rows"] = rows.into();
    plan["operation_timeout_s"] = 10.into();
    plan
}

/// The end of the phase load.
fn ended(records: &[Value]) -> &Value {
    of_kind(records, "phase").into_iter().find(|r| r["phase"] == "load" && r["state"] == "end").unwrap()
}

#[test]
fn a_load_whose_connections_are_cut_goes_on_where_it_was() {
    let (port, kept) = cutting(&[4_321, 17_000]);
    let (records, status) = execute(&load(port, &["prepare", "load"], ROWS));
    assert!(status.success(), "{records:?}");
    let end = ended(&records);
    assert_eq!((&end["reconnected"], &end["rows"], &end["by"]), (&json!(2), &json!(ROWS), &json!("pipelined SET NX")));
    assert!(end["found"].as_u64().unwrap() > 0, "what was stored before a cut is not stored again: {end}");
    assert!(end["rows_per_s"].as_f64().unwrap() > 0.0);
    let errors = of_kind(&records, "error");
    assert_eq!(errors.iter().map(|e| e["kind"].as_str().unwrap()).collect::<Vec<_>>(), ["connection", "connection"]);
    // Each row once, but for the batch that was cut: its connection's SETs were not all answered.
    let kept = kept.lock().unwrap();
    assert_eq!((kept.values.len() as u64, kept.claims.len()), (ROWS, 1));
    assert!(kept.sets < ROWS + 2_000, "{} SETs", kept.sets);
}

#[test]
fn a_server_that_does_not_come_back_ends_the_load_and_the_reason_says_how_far_it_was() {
    let (port, _) = cutting(&[ROWS / 10 - 1]);
    let (records, status) = execute(&load(port, &["prepare", "load"], ROWS));
    assert_eq!(status.code(), Some(1));
    let reason = only(&records, "end")["reason"].as_str().unwrap();
    assert!(reason.contains("loading stopped after 0 of 30000 rows, and 5 retries failed"), "{reason}");
    // The kernel says it in either way, by what the server had not read yet.
    let lost = ["the server closed the connection", "Connection reset by peer"];
    assert!(lost.iter().any(|words| reason.contains(words)), "{reason}");
}

#[test]
fn asked_for_again_only_what_is_missing_is_loaded_and_only_where_it_belongs() {
    let (port, kept) = cutting(&[]);
    assert!(execute(&load(port, &["prepare", "load"], ROWS)).1.success());
    kept.lock().unwrap().values.retain(|name, _| !name.ends_with(b"77"));
    let (records, status) = execute(&load(port, &["load"], ROWS));
    assert!(status.success(), "{records:?}");
    assert_eq!((&ended(&records)["rows"], &ended(&records)["found"]), (&json!(ROWS), &json!(ROWS - ROWS / 100)));
    assert_eq!(kept.lock().unwrap().sets, ROWS + ROWS / 100);

    let (records, status) = execute(&load(port, &["load"], ROWS / 2));
    assert_eq!(status.code(), Some(2));
    let reason = only(&records, "end")["reason"].as_str().unwrap();
    assert!(reason.contains("prepared for 30000 rows of point-get, not for 15000 of point-get"), "{reason}");
}
