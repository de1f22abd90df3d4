//! The event loop against real sockets of this host.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::rc::Rc;
use std::sync::mpsc;
use std::thread;

use dbdyno_net::{Address, Connection, Reactor, Task, now_ns};

const SECOND_NS: u64 = 1_000_000_000;

/// A server on loopback that handles each connection with `serve`, on a thread of its own.
fn server(serve: fn(std::net::TcpStream)) -> Address {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || listener.incoming().for_each(|stream| drop(thread::spawn(move || serve(stream.unwrap())))));
    Address::Tcp { host: "127.0.0.1".into(), port }
}

fn echo(mut stream: impl Read + Write) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(n) = stream.read(&mut buffer) {
        if n == 0 || stream.write_all(&buffer[..n]).is_err() {
            return;
        }
    }
}

/// Runs `clients` copies of the task that `body` makes, and returns what each sent.
fn run<T: 'static, F: Future<Output = T> + 'static>(clients: usize, body: impl Fn(Rc<Reactor>, usize) -> F) -> Vec<T> {
    let reactor = Reactor::new().unwrap();
    let (sender, receiver) = mpsc::channel();
    let tasks = (0..clients).map(|i| {
        let (sender, future) = (sender.clone(), body(Rc::clone(&reactor), i));
        Some(Box::pin(async move { sender.send(future.await).unwrap() }) as Task)
    });
    reactor.run(tasks.collect(), |_| true).unwrap();
    drop(sender);
    receiver.iter().collect()
}

async fn connect(reactor: &Rc<Reactor>, address: &Address, timeout_ns: u64) -> std::io::Result<Connection> {
    Connection::connect(reactor, address, address.resolve().unwrap(), timeout_ns).await
}

async fn exchange(reactor: Rc<Reactor>, address: Address, i: usize, sizes: &'static [usize]) -> usize {
    let mut connection = connect(&reactor, &address, 10 * SECOND_NS).await.unwrap();
    for &size in sizes {
        let message: Vec<u8> = (0..size).map(|j| (i + j) as u8).collect();
        connection.send(&message).await.unwrap();
        while connection.unread().len() < size {
            connection.fill().await.unwrap();
        }
        assert_eq!(connection.unread(), message);
        connection.discard(size);
    }
    sizes.iter().sum()
}

#[test]
fn many_clients_get_their_own_bytes_back() {
    let address = server(echo);
    let sizes: &[usize] = &[1, 100, 4095, 4096, 4097, 100_000, 3];
    let got = run(50, |reactor, i| exchange(reactor, address.clone(), i, sizes));
    assert_eq!(got, vec![sizes.iter().sum::<usize>(); 50]);
}

#[test]
fn unix_sockets_work_alike() {
    let path = std::env::temp_dir().join(format!("dbdyno-net-{}.sock", std::process::id()));
    let listener = UnixListener::bind(&path).unwrap();
    thread::spawn(move || listener.incoming().for_each(|stream| drop(thread::spawn(move || echo(stream.unwrap())))));
    let got = run(3, |reactor, i| exchange(reactor, Address::Unix(path.clone()), i, &[10, 50_000]));
    assert_eq!(got.len(), 3);
    std::fs::remove_file(path).unwrap();
}

#[test]
fn a_server_that_never_answers_is_a_timeout() {
    let address = server(|stream| {
        thread::sleep(std::time::Duration::from_secs(60));
        drop(stream);
    });
    let got = |clients| {
        run(clients, |reactor, _| {
            let address = address.clone();
            async move {
                let mut connection = connect(&reactor, &address, SECOND_NS / 5).await.unwrap();
                connection.send(b"hello").await.unwrap();
                let begun = now_ns();
                (connection.fill().await.unwrap_err().kind(), now_ns() - begun)
            }
        })
    };
    for (kind, waited_ns) in [got(1), got(2)].concat() {
        assert_eq!(kind, ErrorKind::TimedOut);
        assert!(waited_ns >= SECOND_NS / 5);
    }
}

#[test]
fn bytes_before_a_close_arrive_and_then_the_end_is_seen() {
    let address = server(|mut stream| {
        let mut request = [0; 2];
        stream.read_exact(&mut request).unwrap();
        stream.write_all(b"bye").unwrap();
    });
    let got = run(1, |reactor, _| {
        let address = address.clone();
        async move {
            let mut connection = connect(&reactor, &address, 10 * SECOND_NS).await.unwrap();
            connection.send(b"hi").await.unwrap();
            while connection.unread().len() < 3 {
                connection.fill().await.unwrap();
            }
            let bytes = connection.unread().to_vec();
            connection.discard(3);
            (bytes, connection.fill().await.unwrap_err().kind())
        }
    });
    assert_eq!(got, [(b"bye".to_vec(), ErrorKind::UnexpectedEof)]);
}

#[test]
fn nobody_listening_is_refused() {
    let address = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        Address::Tcp { host: "127.0.0.1".into(), port: listener.local_addr().unwrap().port() }
    };
    let got = run(1, |reactor, _| {
        let address = address.clone();
        async move { connect(&reactor, &address, SECOND_NS).await.err().unwrap().kind() }
    });
    assert_eq!(got, [ErrorKind::ConnectionRefused]);
}

#[test]
fn sleepers_wake_in_order_and_not_early() {
    let begun = now_ns();
    let got = run(3, |reactor, i| async move {
        let deadline = begun + (3 - i as u64) * 20_000_000;
        reactor.sleep_until(deadline).await;
        assert!(now_ns() >= deadline);
        i
    });
    assert_eq!(got, [2, 1, 0]);
}

#[test]
fn who_yields_goes_on_after_the_others_and_without_waiting() {
    let order = Rc::new(std::cell::RefCell::new(Vec::new()));
    let began_ns = now_ns();
    run(2, |reactor, i| {
        let order = Rc::clone(&order);
        async move {
            for _ in 0..1000 {
                order.borrow_mut().push(i);
                reactor.yield_to_others().await;
            }
        }
    });
    assert!(order.borrow().chunks(2).all(|turn| turn == [0, 1]));
    // A thousand waits, each until the loop's next tick, would take 50 s.
    assert!(now_ns() - began_ns < 25 * SECOND_NS);
}

#[test]
fn who_is_alone_sleeps_in_the_receive_and_the_loop_still_ticks() {
    let address = server(|mut stream| {
        let mut request = [0; 1];
        while stream.read_exact(&mut request).is_ok() {
            thread::sleep(std::time::Duration::from_millis(u64::from(request[0])));
            stream.write_all(&request).unwrap();
        }
    });
    let (reactor, ticks) = (Reactor::new().unwrap(), Rc::new(std::cell::Cell::new(0)));
    let (on, seen) = (Rc::clone(&reactor), Rc::clone(&ticks));
    let task = async move {
        let mut connection = connect(&on, &address, 10 * SECOND_NS).await.unwrap();
        for pause_ms in [0, 1, 200, 0, 120] {
            connection.send(&[pause_ms]).await.unwrap();
            let before = seen.get();
            connection.fill().await.unwrap();
            assert_eq!(connection.unread(), [pause_ms]);
            connection.discard(1);
            assert!(pause_ms < 120 || seen.get() > before, "no tick in {pause_ms} ms");
        }
    };
    let tick = |_| {
        ticks.set(ticks.get() + 1);
        true
    };
    reactor.run(vec![Some(Box::pin(task) as Task)], tick).unwrap();
}
