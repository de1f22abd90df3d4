//! The memory that a hostile server cannot make the event loop's connections exceed. It is a separate program, because the bound is of a whole process.

use std::io::{ErrorKind, Write};
use std::net::TcpListener;
use std::rc::Rc;
use std::thread;

use dbdyno_net::{Address, Connection, Engine, Reactor, Task, expect_answers};

const SECOND_NS: u64 = 1_000_000_000;
const ALL_SIZE_BYTES: usize = 48 << 20;
const LONGEST_SIZE_BYTES: usize = 64 << 20;

/// A server on loopback that sends every connection bytes without an end.
fn endless() -> Address {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            thread::spawn(move || while stream.write_all(&[b'x'; 1 << 16]).is_ok() {});
        }
    });
    Address::Tcp { host: "127.0.0.1".into(), port }
}

/// Reads on so many connections at once, none of which takes anything away, until each is refused more; returns what each then held,
/// and why.
fn filled(address: &Address, connections: usize) -> Vec<(usize, String)> {
    let reactor = Reactor::new(Engine::Epoll).unwrap();
    let (sender, receiver) = std::sync::mpsc::channel();
    let held = Rc::new(std::cell::RefCell::new(Vec::new()));
    let tasks = (0..connections).map(|_| {
        let (sender, on, address, held) = (sender.clone(), Rc::clone(&reactor), address.clone(), Rc::clone(&held));
        let task = async move {
            let to = address.resolve().unwrap();
            let mut connection = Connection::connect(&on, &address, to, 60 * SECOND_NS).await.unwrap();
            let error = loop {
                if let Err(error) = connection.fill().await {
                    break error;
                }
            };
            assert_eq!(error.kind(), ErrorKind::InvalidData, "{error}");
            sender.send((connection.unread().len(), error.to_string())).unwrap();
            // Held until all have ended, so that what one gives back is no room for another.
            held.borrow_mut().push(connection);
        };
        Some(Box::pin(task) as Task)
    });
    reactor.run(tasks.collect(), |_| true).unwrap();
    drop(sender);
    receiver.iter().collect()
}

#[test]
fn answers_without_an_end_take_no_more_than_48_mib_of_all_connections_together() {
    let address = endless();
    // Twice: what connections held is free when they are gone.
    for _ in 0..2 {
        let got = filled(&address, 8);
        let all: usize = got.iter().map(|(size, _)| size).sum();
        assert!(got.len() == 8 && all <= ALL_SIZE_BYTES && all > ALL_SIZE_BYTES / 4, "{got:?}");
        assert!(got.iter().all(|(_, why)| why == "the server sent more bytes than any request expects"), "{got:?}");
    }
    // Answers of that size are expected, and still none is longer than 64 MiB.
    expect_answers(1, LONGEST_SIZE_BYTES);
    assert_eq!(filled(&address, 1), [(LONGEST_SIZE_BYTES, "an answer longer than 64 MiB".to_string())]);
}
