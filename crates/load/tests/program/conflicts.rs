//! Conflicts: a transaction in another's way is rolled back, tried again with the same choices, and counts once.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::Duration;

use dbdyno_wire::Param;
use dbdyno_wire::postgres::{self as wire, ScalarType};
use serde_json::{Value, json};

use crate::common::{execute, of_kind, only, plan, server};

const INT: ScalarType = ScalarType::Int4;
const COLUMNS: [(&str, ScalarType); 4] = [("id", INT), ("k", INT), ("c", ScalarType::Text), ("pad", ScalarType::Text)];

/// A request: `Q` and its text, or `E` and the first parameter of the executed statement.
type Log = Arc<Mutex<Vec<String>>>;

/// Answers one message; of the executions every one whose number `is_refused` is a deadlock.
fn answer(kind: u8, payload: &[u8], log: &Log, is_refused: fn(usize) -> bool, out: &mut Vec<u8>) {
    let mut log = log.lock().unwrap();
    match kind {
        b'Q' => {
            log.push(format!("Q {}", String::from_utf8_lossy(payload).trim_end_matches('\0')));
            wire::write_complete(out, "BEGIN");
            wire::write_ready(out);
        }
        b'P' => wire::frame(out, b'1', |_| {}),
        b'D' => wire::write_description(out, &[INT], &COLUMNS),
        b'B' => log.push(format!("E {:?}", wire::bound(payload).unwrap().param)),
        b'E' if is_refused(log.iter().filter(|line| line.starts_with('E')).count()) => {
            wire::write_error(out, "40P01", "deadlock detected");
        }
        b'E' => {
            wire::write_bound(out);
            let row = [Param::Int(1), Param::Int(1), Param::Text(b"x"), Param::Text(b"y")];
            wire::write_row(out, COLUMNS.iter().map(|column| column.1).zip(row));
            wire::write_complete(out, "SELECT 1");
        }
        _ => wire::write_ready(out),
    }
}

fn serve(mut stream: TcpStream, log: &Log, is_refused: fn(usize) -> bool) -> Option<()> {
    let (mut bytes, mut is_logged_in) = (vec![], false);
    loop {
        let (mut taken, mut out) = (0, vec![]);
        if !is_logged_in && let Ok(Some(end)) = wire::startup_message(&bytes) {
            (is_logged_in, taken) = (true, end);
            wire::write_welcome(&mut out);
        }
        while is_logged_in && let Ok(Some(message)) = wire::message(&bytes, taken) {
            answer(message.kind, &bytes[message.start..message.end], log, is_refused, &mut out);
            taken = message.end;
        }
        bytes.drain(..taken);
        stream.write_all(&out).ok()?;
        let mut more = [0; 4096];
        let read = stream.read(&mut more).ok().filter(|&n| n > 0)?;
        bytes.extend_from_slice(&more[..read]);
    }
}

/// Runs read-write transactions of one client against such a server.
fn run(is_refused: fn(usize) -> bool) -> (Vec<Value>, Vec<String>) {
    let log = Log::default();
    let kept = Arc::clone(&log);
    let port = server(move |stream| {
        serve(stream, &kept, is_refused);
    });
    let address = json!({"host": "127.0.0.1", "port": port});
    let mut plan =
        plan(json!({"kind": "postgres", "address": address, "user": "u", "password": null, "database": "d"}), 1);
    plan["workload"] = json!({"name": "trx-lifecycle", "rows": 100, "options": {"transaction": "read-write"}});
    plan["verify_reads"] = false.into();
    plan["operation_timeout_s"] = 10.into();
    let (records, _) = execute(&plan);
    let log = log.lock().unwrap().clone();
    (records, log)
}

#[test]
fn a_transaction_in_anothers_way_is_tried_again_and_counts_once() {
    let (records, log) = run(|execution| execution <= 3);
    let total = only(&records, "total");
    assert_eq!((&total["transactions"]["conflicts"], &total["transactions"]["failed"]), (&json!(3), &json!(0)));
    assert_eq!(total["operations"]["get"]["conflicts"], 3);
    assert_eq!(total["operations"]["get"]["failed"], 0);
    assert!(total["operations"]["begin"].get("conflicts").is_none());
    assert!(of_kind(&records, "error").is_empty());
    let [first, second, third, ..] = &log[..] else { panic!("{log:?}") };
    assert_eq!((first.as_str(), third.as_str()), ("Q START TRANSACTION", "Q ROLLBACK"));
    assert!(log.chunks(3).take(3).all(|attempt| attempt == [first.clone(), second.clone(), third.clone()]));
    assert_eq!((&log[10], log[11].as_str()), (second, "Q COMMIT"));
}

#[test]
fn one_that_never_gets_through_fails_at_last() {
    let (records, _) = run(|_| true);
    let total = only(&records, "total");
    assert_eq!(total["transactions"]["completed"], 0);
    let (failed, conflicts) = (&total["transactions"]["failed"], &total["transactions"]["conflicts"]);
    let failed = failed.as_u64().unwrap();
    assert!(failed > 0 && conflicts.as_u64().unwrap() >= 100 * failed, "{total}");
    assert_eq!(total["operations"]["get"]["failed"], failed);
    assert_eq!(of_kind(&records, "error")[0]["kind"], "conflict");
    assert_eq!(of_kind(&records, "interval")[0]["errors"]["conflict"], failed);
}

#[test]
fn a_conflict_after_the_end_leaves_its_transaction_unfinished() {
    let (records, _) = run(|_| {
        sleep(Duration::from_millis(150));
        true
    });
    let total = only(&records, "total");
    assert_eq!(total["transactions"]["unfinished"], 1);
    assert_eq!((&total["transactions"]["completed"], &total["transactions"]["failed"]), (&json!(0), &json!(0)));
    assert!(total["operations"]["get"]["conflicts"].as_u64().unwrap() > 0, "{total}");
    assert!(of_kind(&records, "error").is_empty());
}
