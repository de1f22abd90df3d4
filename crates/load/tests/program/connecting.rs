//! How many clients connect at the same time, whatever the number of load threads.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::common::{execute, of_kind, only, plan, redis_at};

/// The least queue of new connections among servers is 50 (MySQL 5.5).
const MOST_AT_ONCE: usize = 32;
/// Nobody connects for this long: all who may do so at once have.
const LULL: Duration = Duration::from_millis(150);

/// A Redis that lets nobody in until nobody else comes, then all who wait: told are how many they were each time.
fn reluctant(clients: usize) -> (u16, thread::JoinHandle<Vec<usize>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let doorkeeper = thread::spawn(move || {
        let (mut waiting, mut let_in, mut seen) = (VecDeque::new(), 0, vec![]);
        while let_in < clients {
            while let Some(stream) = accept_within(&listener, LULL) {
                waiting.push_back(stream);
            }
            if !waiting.is_empty() {
                seen.push(waiting.len());
            }
            let_in += waiting.len();
            waiting.drain(..).for_each(|stream| drop(thread::spawn(move || serve(stream))));
        }
        seen
    });
    (port, doorkeeper)
}

fn accept_within(listener: &TcpListener, time: Duration) -> Option<TcpStream> {
    let timeout = rustix::event::Timespec { tv_sec: 0, tv_nsec: time.as_nanos() as i64 };
    let mut ready = [rustix::event::PollFd::new(listener, rustix::event::PollFlags::IN)];
    let count = rustix::event::poll(&mut ready, Some(&timeout)).unwrap();
    (count > 0).then(|| listener.accept().unwrap().0)
}

/// The database is selected, and has no rows.
fn serve(mut stream: TcpStream) {
    let mut request = [0; 4096];
    let mut answer = &b"+OK\r\n"[..];
    while stream.read(&mut request).is_ok_and(|n| n > 0) && stream.write_all(answer).is_ok() {
        answer = b"$-1\r\n";
    }
}

#[test]
fn clients_of_all_threads_together_do_not_overflow_a_servers_queue_of_new_connections() {
    let (port, doorkeeper) = reluctant(256);
    let mut store = redis_at(port);
    store["database"] = 1.into();
    let mut plan = plan(store, 256);
    plan["threads"] = 4.into();
    plan["operation_timeout_s"] = 20.into();
    let (records, _) = execute(&plan);
    let seen = doorkeeper.join().unwrap();
    assert!(seen.iter().all(|&n| n <= MOST_AT_ONCE), "{seen:?} connected at once");
    assert!(seen.iter().max() > Some(&1), "one after the other: {seen:?}");
    assert_eq!(only(&records, "hello")["threads"], json!(4));
    assert!(of_kind(&records, "interval").iter().all(|interval| interval["connected"] == 256));
}
