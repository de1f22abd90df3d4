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

const DEADLOCK: &str = "40P01";
const OUT_OF_RANGE: &str = "22003";

/// Executions whose number `is_refused` are answered by this error, and a rollback takes so long.
#[derive(Clone, Copy)]
struct Refusing {
    is_refused: fn(usize) -> bool,
    sqlstate: &'static str,
    rollback: Duration,
}

/// Answers one message.
fn answer(kind: u8, payload: &[u8], log: &Log, refusing: Refusing, out: &mut Vec<u8>) {
    if kind == b'Q' && payload.starts_with(b"ROLLBACK") {
        sleep(refusing.rollback);
    }
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
        b'E' if (refusing.is_refused)(log.iter().filter(|line| line.starts_with('E')).count()) => {
            wire::write_error(out, refusing.sqlstate, "refused");
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

fn serve(mut stream: TcpStream, log: &Log, refusing: Refusing) -> Option<()> {
    let (mut bytes, mut is_logged_in) = (vec![], false);
    loop {
        let (mut taken, mut out) = (0, vec![]);
        if !is_logged_in && let Ok(Some(end)) = wire::startup_message(&bytes) {
            (is_logged_in, taken) = (true, end);
            wire::write_welcome(&mut out);
        }
        while is_logged_in && let Ok(Some(message)) = wire::message(&bytes, taken) {
            answer(message.kind, &bytes[message.start..message.end], log, refusing, &mut out);
            taken = message.end;
        }
        bytes.drain(..taken);
        stream.write_all(&out).ok()?;
        let mut more = [0; 4096];
        let read = stream.read(&mut more).ok().filter(|&n| n > 0)?;
        bytes.extend_from_slice(&more[..read]);
    }
}

/// Runs read-write transactions of one client against a server where some meet others.
fn run(is_refused: fn(usize) -> bool) -> (Vec<Value>, Vec<String>) {
    run_by(1, Refusing { is_refused, sqlstate: DEADLOCK, rollback: Duration::ZERO })
}

/// Runs read-write transactions of so many clients, all of one load thread.
fn run_by(clients: u64, refusing: Refusing) -> (Vec<Value>, Vec<String>) {
    let log = Log::default();
    let kept = Arc::clone(&log);
    let port = server(move |stream| {
        serve(stream, &kept, refusing);
    });
    let address = json!({"host": "127.0.0.1", "port": port});
    let mut plan =
        plan(json!({"kind": "postgres", "address": address, "user": "u", "password": null, "database": "d"}), clients);
    plan["threads"] = 1.into();
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

#[test]
fn a_failed_transaction_has_ended_when_it_is_rolled_back_and_no_other_begins_before() {
    let rollback = Duration::from_millis(1500);
    let (records, _) = run_by(2, Refusing { is_refused: |execution| execution == 1, sqlstate: OUT_OF_RANGE, rollback });
    let total = only(&records, "total");
    assert_eq!((&total["transactions"]["unfinished"], &total["transactions"]["failed"]), (&json!(2), &json!(0)));
    assert_eq!(total["operations"]["get"]["failed"], 1);
    assert_eq!(only(&records, "end")["status"], "complete");
}
