//! Answers cut short, too long, garbage, or none at all: on every protocol, while logging in and after, an error that names where the
//! protocol stood, and a run that ends on time.

use std::io::{BufRead, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{Null, execute, of_kind, only, plan, redis_at, server};
use crate::faults::{assert_identities, errors};
use crate::honesty::ALONE;
use dbdyno_wire::mysql::{frame, server_greeting};
use serde_json::{Value, json};

/// Two seconds beyond the run's own, for a debug build on a busy machine, are still far from hanging.
const ON_TIME: Duration = Duration::from_secs(10);
const GARBAGE: &[u8] = b"\x19\0\0\x01\x07HTTP/1.1 400 Bad Request\r\n";

#[derive(Clone, Copy)]
enum Spoil {
    /// The server is silent from here on.
    Withhold,
    /// Half of the answer, then silence.
    Cut,
    /// Half of the answer, then the end of the connection.
    Close,
    /// The answer, and as much again.
    Double,
    Replace,
}

/// A server between the client and a null server; on each connection it spoils one answer, counted from 0.
fn spoiling(null: u16, spoil: Spoil, which: usize) -> u16 {
    server(move |mut client: TcpStream| {
        let mut upstream = TcpStream::connect(("127.0.0.1", null)).unwrap();
        let (mut from, mut to) = (client.try_clone().unwrap(), upstream.try_clone().unwrap());
        thread::spawn(move || {
            let _ = std::io::copy(&mut from, &mut to);
            let _ = to.shutdown(Shutdown::Both);
        });
        let mut bytes = [0; 4096];
        let mut number = 0;
        while let Ok(n @ 1..) = upstream.read(&mut bytes) {
            let answer = if number == which { spoiled(&bytes[..n], spoil) } else { bytes[..n].to_vec() };
            if client.write_all(&answer).is_err() || (number == which && matches!(spoil, Spoil::Close)) {
                let _ = client.shutdown(Shutdown::Both);
                break;
            }
            number += 1;
        }
    })
}

fn spoiled(answer: &[u8], spoil: Spoil) -> Vec<u8> {
    match spoil {
        Spoil::Withhold => vec![],
        Spoil::Cut | Spoil::Close => answer[..answer.len() / 2].to_vec(),
        Spoil::Double => answer.repeat(2),
        Spoil::Replace => GARBAGE.to_vec(),
    }
}

/// A protocol, the first answer that is one to an operation, and the store as a plan has it, at a port.
type Protocol = (&'static str, usize, fn(u16) -> Value);

fn protocols() -> [Protocol; 4] {
    let memcached = |port| json!({"kind": "memcached", "address": {"host": "127.0.0.1", "port": port}});
    let mysql = |port| {
        json!({"kind": "mysql", "address": {"host": "127.0.0.1", "port": port}, "user": "u", "password": null,
            "database": "d", "table_options": ""})
    };
    let handlersocket = |port| {
        let address = json!({"host": "127.0.0.1", "port": port});
        json!({"kind": "handlersocket", "address": address, "write_address": address, "password": null, "database": "d",
            "sql": null})
    };
    [("redis", 0, redis_at), ("memcached", 0, memcached), ("mysql", 2, mysql), ("handlersocket", 0, handlersocket)]
}

/// Runs every protocol with its `after`-th answer to an operation spoiled, and checks that an error is of this kind and says this.
fn spoil_operations(spoil: Spoil, after: usize, kind: &str, says: &[&str]) {
    let _alone = alone();
    thread::scope(|scope| {
        for (protocol, first, store) in protocols() {
            scope.spawn(move || {
                let null = Null::start(protocol, "point-get");
                let plan = plan(store(spoiling(null.port, spoil, first + after)), 2);
                assert_fails_with(protocol, &plan, kind, says);
            });
        }
    });
}

/// These take the processors from the tests that measure time.
fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn assert_fails_with(protocol: &str, plan: &Value, kind: &str, says: &[&str]) {
    let begun = Instant::now();
    let (records, status) = execute(plan);
    assert!(begun.elapsed() < ON_TIME && status.success(), "{protocol}: {records:?}");
    assert!(errors(&records, kind) > 0, "{protocol}: {records:?}");
    // Not the first of all: on a host that stands still for a moment something else may have been timed out before.
    let is_said = |error: &&Value| {
        let message = error["message"].as_str().unwrap();
        error["kind"] == kind && error["operation"] == "get" && says.iter().any(|words| message.contains(words))
    };
    assert!(of_kind(&records, "error").iter().any(is_said), "{protocol}: {records:?}");
    assert_identities(&records);
}

#[test]
fn an_answer_that_does_not_come_is_timed_out() {
    spoil_operations(Spoil::Withhold, 0, "timeout", &["no answer within 0.3 s"]);
}

#[test]
fn an_answer_cut_short_is_timed_out_and_shown() {
    spoil_operations(Spoil::Cut, 1, "timeout", &["no answer within 0.3 s: only "]);
}

#[test]
fn a_connection_closed_within_an_answer_is_lost_and_what_came_is_shown() {
    spoil_operations(Spoil::Close, 1, "connection", &["the server closed the connection: only "]);
}

#[test]
fn an_answer_that_goes_on_is_a_protocol_error() {
    spoil_operations(Spoil::Double, 1, "protocol", &["bytes that no request expects: "]);
}

#[test]
fn garbage_is_a_protocol_error_with_what_was_expected() {
    let expected = ["expected a reply", "expected VALUE or END", "expected a prepared statement", "expected an answer"];
    spoil_operations(Spoil::Replace, 0, "protocol", &expected);
    let expected = ["expected a reply", "expected VALUE or END", "expected a number of columns", "expected an answer"];
    spoil_operations(Spoil::Replace, 1, "protocol", &expected);
}

#[test]
fn a_login_that_goes_wrong_says_so_and_the_run_does_not_begin() {
    let _alone = alone();
    let null = Null::start("mysql", "point-get");
    let (_, _, store) = protocols()[2];
    let cases = [
        (Spoil::Withhold, 0, "no answer within 0.3 s"),
        (Spoil::Cut, 0, "no answer within 0.3 s: only "),
        (Spoil::Close, 1, "the server closed the connection: only "),
        (Spoil::Double, 0, "bytes that no request expects"),
        (Spoil::Replace, 0, "expected a MySQL greeting"),
        (Spoil::Replace, 1, "expected an answer to the login"),
    ];
    for (spoil, which, says) in cases {
        let begun = Instant::now();
        let (records, status) = execute(&plan(store(spoiling(null.port, spoil, which)), 2));
        assert!(begun.elapsed() < ON_TIME);
        assert_eq!(status.code(), Some(1), "{records:?}");
        let reason = only(&records, "end")["reason"].as_str().unwrap();
        assert!(reason.contains("logging in: ") && reason.contains(says), "{says}: {reason}");
    }
}

#[test]
fn an_answer_that_never_ends_does_not_keep_the_run() {
    let _alone = alone();
    let endless = |begin: &'static [u8], piece: &'static [u8], pause: Duration| {
        let port = server(move |mut stream| {
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(begin);
            while stream.write_all(piece).is_ok() {
                thread::sleep(pause);
            }
        });
        plan(redis_at(port), 2)
    };
    let line = endless(b"+", &[b'x'; 1 << 16], Duration::ZERO);
    assert_fails_with("an endless line", &line, "protocol", &["expected a reply"]);
    let drip = endless(b"$536870912\r\n", b"x", Duration::from_millis(20));
    assert_fails_with("a drip", &drip, "timeout", &["no answer within 0.3 s: only "]);
}

#[test]
fn a_login_without_an_end_does_not_keep_the_run() {
    let _alone = alone();
    let (_, _, mysql) = protocols()[2];
    let postgres = |port| {
        let address = json!({"host": "127.0.0.1", "port": port});
        json!({"kind": "postgres", "address": address, "user": "u", "password": null, "database": "d"})
    };
    // Another authentication, whatever the client answers.
    let switching = server(|mut stream| {
        let mut bytes = Vec::new();
        frame(&mut bytes, 0, |out| out.extend(server_greeting()));
        while stream.write_all(&bytes).is_ok() && matches!(stream.read(&mut [0; 4096]), Ok(1..)) {
            bytes.clear();
            frame(&mut bytes, 2, |out| out.extend(b"\xfemysql_native_password\0abcdefghijklmnopqrst\0"));
        }
    });
    // Settings of the server, and no word of who is let in.
    let telling = server(|mut stream| {
        let _ = stream.read(&mut [0; 4096]);
        while stream.write_all(b"S\0\0\0\x08a\0b\0").is_ok() {}
    });
    let plans = [plan(mysql(switching), 2), plan(postgres(telling), 2)];
    for plan in plans {
        let (records, status) = execute(&plan);
        assert_eq!(status.code(), Some(1), "{records:?}");
        let reason = only(&records, "end")["reason"].as_str().unwrap();
        assert!(reason.contains("the login did not end within 1000 messages"), "{reason}");
    }
}

/// A Redis that knows what is asked before a run of `insert-indexes`, and whose SCAN leads from cursor 1 to 2 and back.
fn circling(stream: TcpStream) {
    let mut answers = stream.try_clone().unwrap();
    let mut cursor = 1;
    let mut words = std::io::BufReader::new(stream).lines().map_while(Result::ok);
    while let Some(count) = words.next() {
        let count: usize = count.trim_start_matches('*').parse().unwrap();
        // Each behind its length.
        let command: Vec<String> = (0..count).filter_map(|_| words.nth(1)).collect();
        let answer = match command[0].as_str() {
            "SCAN" => {
                cursor = 3 - cursor;
                format!("*2\r\n$1\r\n{cursor}\r\n*0\r\n")
            }
            "DBSIZE" => ":7\r\n".into(),
            "GET" => "$-1\r\n".into(),
            "SMEMBERS" => "*0\r\n".into(),
            other => panic!("{other}"),
        };
        if answers.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

#[test]
fn a_scan_in_a_circle_ends() {
    let _alone = alone();
    let mut plan = plan(redis_at(server(circling)), 1);
    plan["phases"] = json!(["prepare"]);
    plan["workload"] = json!({"name": "insert-indexes", "rows": 100});
    let (records, status) = execute(&plan);
    assert_eq!(status.code(), Some(1), "{records:?}");
    let reason = only(&records, "end")["reason"].as_str().unwrap();
    assert!(reason.contains("no end of SCAN within 0.3 s"), "{reason}");
}
