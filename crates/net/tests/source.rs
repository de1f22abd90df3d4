//! Connections begin from the chosen addresses in turn. These hold for a whole process, so this test has its own.

use std::net::{IpAddr, TcpListener};
use std::rc::Rc;

use dbdyno_net::{Address, Connection, Engine, Reactor, Task, connect_from};

const SECOND_NS: u64 = 1_000_000_000;

#[test]
fn connections_begin_from_each_address_in_turn() {
    let sources: [IpAddr; 3] = ["127.0.0.7", "::1", "127.0.0.8"].map(|address| address.parse().unwrap());
    connect_from(&sources);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = Address::Tcp { host: "127.0.0.1".into(), port: listener.local_addr().unwrap().port() };
    let reactor = Reactor::new(Engine::Epoll).unwrap();
    let connecting = Rc::clone(&reactor);
    let task: Task = Box::pin(async move {
        for _ in 0..4 {
            let resolved = address.resolve().unwrap();
            Connection::connect(&connecting, &address, resolved, 10 * SECOND_NS).await.unwrap();
        }
    });
    reactor.run(vec![Some(task)], |_| true).unwrap();
    let mut seen: Vec<String> = (0..4).map(|_| listener.accept().unwrap().1.ip().to_string()).collect();
    seen.sort();
    assert_eq!(seen, ["127.0.0.7", "127.0.0.7", "127.0.0.8", "127.0.0.8"]);
}
