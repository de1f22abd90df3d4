//! Faults of stores, made on purpose: errors, wrong rows, going away.

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::common::{execute, of_kind, only, plan, redis_at, server};
use serde_json::Value;

/// Answers every request with the same bytes.
fn always(answer: &'static [u8]) -> impl Fn(TcpStream) + Send + Sync + Clone {
    move |mut stream| {
        let mut request = [0; 4096];
        while stream.read(&mut request).is_ok_and(|n| n > 0) && stream.write_all(answer).is_ok() {}
    }
}

pub fn errors(records: &[Value], kind: &str) -> u64 {
    of_kind(records, "interval").iter().map(|i| i["errors"][kind].as_u64().unwrap_or(0)).sum()
}

pub fn assert_identities(records: &[Value]) {
    let total = &only(records, "total")["transactions"];
    let number = |key: &str| total[key].as_u64().unwrap();
    assert_eq!(number("scheduled"), number("completed") + number("failed") + number("unfinished"));
    let failed: u64 = of_kind(records, "interval").iter().map(|i| i["transactions"]["failed"].as_u64().unwrap()).sum();
    assert_eq!(failed, number("failed"));
}

#[test]
fn an_error_answer_is_kept_word_for_word_five_times_and_counted_always() {
    let port = server(always(b"-ERR out of luck\r\n"));
    let (records, _) = execute(&plan(redis_at(port), 1));
    assert!(errors(&records, "server") > 5);
    let errors = of_kind(&records, "error");
    assert_eq!(errors.len(), 5);
    assert!(errors.iter().all(|e| e["message"] == "ERR out of luck" && e["operation"] == "get"));
    assert_identities(&records);
}

#[test]
fn a_row_that_is_not_there_is_missing_and_a_wrong_one_a_mismatch() {
    let (records, _) = execute(&plan(redis_at(server(always(b"$-1\r\n"))), 1));
    assert!(errors(&records, "missing") > 0);
    assert_identities(&records);

    // Row 3 of point-get, whatever the key: right for one key in a hundred.
    let mut row = [&3i64.to_le_bytes()[..], &3i64.to_le_bytes()].concat();
    for pad in ["x", "y"] {
        row.extend_from_slice(&120u16.to_le_bytes());
        row.extend_from_slice(format!("3{}", pad.repeat(119)).as_bytes());
    }
    let answer = [format!("${}\r\n", row.len()).as_bytes(), &row, b"\r\n"].concat();
    let (records, status) = execute(&plan(redis_at(server(always(answer.leak()))), 1));
    assert!(status.success());
    let total = only(&records, "total");
    let (verified, wrong) = (total["reads_verified"].as_u64().unwrap(), total["mismatches"].as_u64().unwrap());
    assert_eq!(wrong, errors(&records, "mismatch"));
    assert!(wrong > 50 * verified.max(1) && verified > 0, "{verified} verified, {wrong} wrong");
    let mismatch = of_kind(&records, "mismatch")[0];
    assert_eq!((&mismatch["column"], &mismatch["found"]), (&"id".into(), &"3".into()));
    assert_identities(&records);
}

#[test]
fn a_connection_that_is_closed_is_opened_again() {
    let port = server(|mut stream| {
        let mut request = [0; 4096];
        let _ = stream.read(&mut request);
    });
    let (records, _) = execute(&plan(redis_at(port), 2));
    assert!(errors(&records, "connection") >= 4, "each client must have come back at least once");
    assert_identities(&records);
}

#[test]
fn nobody_listening_fails_the_run_naming_how_many_could_not_connect() {
    let unused = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let (records, status) = execute(&plan(redis_at(unused), 4));
    assert_eq!(status.code(), Some(1));
    let end = only(&records, "end");
    assert_eq!(end["status"], "failed");
    let reason = end["reason"].as_str().unwrap();
    assert!(reason.contains("4 of 4 clients") && reason.contains("refused"), "{reason}");
}

#[test]
fn a_server_that_says_no_at_the_door_is_quoted() {
    let refusal = b"\x2a\x00\x00\x00\xff\x15\x04#28000Access denied for user 'somebody'";
    let port = server(|mut stream| {
        let _ = stream.write_all(refusal);
        let _ = stream.read(&mut [0; 64]);
    });
    let store = serde_json::json!({"kind": "mysql", "address": {"host": "127.0.0.1", "port": port}, "user": "somebody",
        "password": {"secret": 0}, "database": "d"});
    let mut plan = plan(store, 1);
    plan["phases"] = serde_json::json!(["prepare"]);
    let mut child = crate::common::program()
        .arg("run")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let input = format!("{plan}\n{{\"secrets\": [\"open sesame\"]}}\n");
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let (records, status) = crate::common::finish(child);
    assert_eq!(status.code(), Some(1));
    assert!(only(&records, "end")["reason"].as_str().unwrap().contains("Access denied"));
    assert!(!format!("{records:?}").contains("sesame"));
}
