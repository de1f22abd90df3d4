//! An address that this host does not have is named. It holds for a whole process, so this test has its own.

use std::rc::Rc;
use std::sync::mpsc;

use dbdyno_net::{Address, Connection, Engine, Reactor, Task, connect_from};

#[test]
fn an_address_of_another_host_is_named() {
    connect_from(&["192.0.2.7".parse().unwrap()]);
    let address = Address::Tcp { host: "127.0.0.1".into(), port: 1 };
    let reactor = Reactor::new(Engine::Epoll).unwrap();
    let (connecting, (sender, receiver)) = (Rc::clone(&reactor), mpsc::channel());
    let task: Task = Box::pin(async move {
        let resolved = address.resolve().unwrap();
        let error = Connection::connect(&connecting, &address, resolved, 1_000_000_000).await.err().unwrap();
        sender.send(error.to_string()).unwrap();
    });
    reactor.run(vec![Some(task)], |_| true).unwrap();
    let said = receiver.recv().unwrap();
    assert!(said.starts_with("from 192.0.2.7: "), "{said}");
}
