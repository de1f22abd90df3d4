//! The event loop against real sockets of this host.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::rc::Rc;
use std::sync::mpsc;
use std::thread;

use rustix::net::{AddressFamily, SocketAddrUnix, SocketType};

use dbdyno_net::{Address, Connection, Engine, Listener, Reactor, Task, now_ns};

const SECOND_NS: u64 = 1_000_000_000;

/// Runs a test with every engine that this host permits.
fn with_each(test: impl Fn(Engine)) {
    [Engine::Epoll, Engine::IoUring].into_iter().filter(|engine| engine.is_available()).for_each(test);
}

/// A server on loopback that handles each connection with `serve`, on its own thread.
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
fn run<T: 'static, F: Future<Output = T> + 'static>(
    engine: Engine,
    clients: usize,
    body: impl Fn(Rc<Reactor>, usize) -> F,
) -> Vec<T> {
    let reactor = Reactor::new(engine).unwrap();
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
    with_each(|engine| {
        let address = server(echo);
        let sizes: &[usize] = &[1, 100, 4095, 4096, 4097, 100_000, 3];
        let got = run(engine, 50, |reactor, i| exchange(reactor, address.clone(), i, sizes));
        assert_eq!(got, vec![sizes.iter().sum::<usize>(); 50]);
        // More than leave together.
        let got = run(engine, 300, |reactor, i| exchange(reactor, address.clone(), i, &[10, 300]));
        assert_eq!(got, vec![310; 300]);
    });
}

#[test]
fn unix_sockets_work_alike() {
    with_each(|engine| {
        let path = std::env::temp_dir().join(format!("dbdyno-net-{}.sock", std::process::id()));
        let listener = UnixListener::bind(&path).unwrap();
        thread::spawn(move || {
            listener.incoming().for_each(|stream| drop(thread::spawn(move || echo(stream.unwrap()))))
        });
        let got = run(engine, 3, |reactor, i| exchange(reactor, Address::Unix(path.clone()), i, &[10, 50_000]));
        assert_eq!(got.len(), 3);
        std::fs::remove_file(path).unwrap();
    });
}

/// A Unix socket that takes one connection that waits, and no more.
fn crowded(name: &str) -> (std::os::fd::OwnedFd, std::path::PathBuf) {
    let path = std::env::temp_dir().join(format!("dbdyno-net-{name}-{}.sock", std::process::id()));
    let fd = rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None).unwrap();
    rustix::net::bind(&fd, &SocketAddrUnix::new(&path).unwrap()).unwrap();
    rustix::net::listen(&fd, 0).unwrap();
    (fd, path)
}

#[test]
fn a_unix_socket_that_is_full_is_tried_again() {
    with_each(|engine| {
        let (fd, path) = crowded("again");
        let (begin, begun) = mpsc::channel::<()>();
        thread::spawn(move || {
            begun.recv().unwrap();
            let listener = UnixListener::from(fd);
            listener.incoming().for_each(|stream| drop(thread::spawn(move || echo(stream.unwrap()))));
        });
        let got = run(engine, 5, |reactor, i| {
            // A spawned task runs after all of them have tried once.
            if i == 4 {
                let begin = begin.clone();
                reactor.spawn(Box::pin(async move { begin.send(()).unwrap() }));
            }
            exchange(reactor, Address::Unix(path.clone()), i, &[10])
        });
        assert_eq!(got, [10; 5], "{engine}");
        std::fs::remove_file(path).unwrap();
    });
}

#[test]
fn a_unix_socket_that_stays_full_is_a_timeout() {
    with_each(|engine| {
        let (_fd, path) = crowded("full");
        let kinds = run(engine, 3, |reactor, _| {
            let path = path.clone();
            async move { connect(&reactor, &Address::Unix(path), SECOND_NS / 5).await.map_err(|error| error.kind()).err() }
        });
        assert!(kinds.contains(&Some(ErrorKind::TimedOut)), "{engine}: {kinds:?}");
        std::fs::remove_file(path).unwrap();
    });
}

#[test]
fn a_server_that_never_answers_is_a_timeout() {
    with_each(|engine| {
        let address = server(|stream| {
            thread::sleep(std::time::Duration::from_secs(60));
            drop(stream);
        });
        let got = |clients| {
            run(engine, clients, |reactor, _| {
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
    });
}

#[test]
fn bytes_before_a_close_arrive_and_then_the_end_is_seen() {
    with_each(|engine| {
        let address = server(|mut stream| {
            let mut request = [0; 2];
            stream.read_exact(&mut request).unwrap();
            stream.write_all(b"bye").unwrap();
        });
        let got = run(engine, 1, |reactor, _| {
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
    });
}

#[test]
fn nobody_listening_is_refused() {
    with_each(|engine| {
        let address = {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            Address::Tcp { host: "127.0.0.1".into(), port: listener.local_addr().unwrap().port() }
        };
        let got = run(engine, 1, |reactor, _| {
            let address = address.clone();
            async move { connect(&reactor, &address, SECOND_NS).await.err().unwrap().kind() }
        });
        assert_eq!(got, [ErrorKind::ConnectionRefused]);
    });
}

#[test]
fn sleepers_wake_in_order_and_not_early() {
    with_each(|engine| {
        let begun = now_ns();
        let got = run(engine, 3, |reactor, i| async move {
            let deadline = begun + (3 - i as u64) * 20_000_000;
            reactor.sleep_until(deadline).await;
            assert!(now_ns() >= deadline);
            i
        });
        assert_eq!(got, [2, 1, 0]);
    });
}

#[test]
fn who_yields_goes_on_after_the_others_and_without_waiting() {
    with_each(|engine| {
        let order = Rc::new(std::cell::RefCell::new(Vec::new()));
        let began_ns = now_ns();
        run(engine, 2, |reactor, i| {
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
    });
}

#[test]
fn who_is_alone_sleeps_in_the_receive_and_the_loop_still_ticks() {
    with_each(|engine| {
        let address = server(|mut stream| {
            let mut request = [0; 1];
            while stream.read_exact(&mut request).is_ok() {
                thread::sleep(std::time::Duration::from_millis(u64::from(request[0])));
                stream.write_all(&request).unwrap();
            }
        });
        let (reactor, ticks) = (Reactor::new(engine).unwrap(), Rc::new(std::cell::Cell::new(0)));
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
    });
}

#[test]
fn requests_that_find_no_room_arrive_whole_and_in_order() {
    const SIZES: [usize; 4] = [3000, 50, 4096, 9000];
    let (begin, begun) = mpsc::channel::<()>();
    let begun = std::sync::Arc::new(std::sync::Mutex::new(begun));
    let path = std::env::temp_dir().join(format!("dbdyno-net-full-{}.sock", std::process::id()));
    let listener = UnixListener::bind(&path).unwrap();
    // Reads nothing until the test says so, then answers with one byte, whether each request was of its own number.
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            begun.lock().unwrap().recv().unwrap();
            let is_right = (0..400).all(|i| {
                let mut request = vec![0; SIZES[i % SIZES.len()]];
                stream.read_exact(&mut request).is_ok() && request.iter().all(|&byte| byte == i as u8)
            });
            stream.write_all(&[u8::from(is_right)]).unwrap();
        }
    });
    with_each(|engine| {
        let got = run(engine, 1, |reactor, _| {
            let (begin, path) = (begin.clone(), path.clone());
            async move {
                let mut connection = connect(&reactor, &Address::Unix(path), 10 * SECOND_NS).await.unwrap();
                let waiting = Rc::clone(&reactor);
                reactor.spawn(Box::pin(async move {
                    waiting.sleep_until(now_ns() + SECOND_NS / 20).await;
                    begin.send(()).unwrap();
                }));
                for i in 0..400 {
                    connection.send(&vec![i as u8; SIZES[i % SIZES.len()]]).await.unwrap();
                }
                connection.fill().await.unwrap();
                connection.unread().to_vec()
            }
        });
        assert_eq!(got, [[1]], "{engine}");
    });
    std::fs::remove_file(path).unwrap();
}

#[test]
fn a_listener_and_its_clients_share_a_loop() {
    with_each(|engine| {
        let reactor = Reactor::new(engine).unwrap();
        let listener = Listener::bind(&reactor, &Address::Tcp { host: "127.0.0.1".into(), port: 0 }).unwrap();
        let address = Address::Tcp { host: "127.0.0.1".into(), port: listener.port().unwrap() };
        let (served, on) = (Rc::new(std::cell::Cell::new(0)), Rc::clone(&reactor));
        let serving = async move {
            for _ in 0..10 {
                let mut accepted = Connection::accepted(listener.accept().await.unwrap(), &on, 10 * SECOND_NS).unwrap();
                accepted.fill().await.unwrap();
                let request = accepted.unread().to_vec();
                accepted.send(&request).await.unwrap();
                assert_eq!(accepted.fill().await.unwrap_err().kind(), ErrorKind::UnexpectedEof);
            }
        };
        let (asked, on) = (Rc::clone(&served), Rc::clone(&reactor));
        let asking = async move {
            for i in 0..10 {
                asked.set(asked.get() + exchange(Rc::clone(&on), address.clone(), i, &[100]).await);
            }
        };
        let tasks: [Task; 2] = [Box::pin(serving), Box::pin(asking)];
        reactor.run(tasks.map(Some).into(), |_| true).unwrap();
        assert_eq!(served.get(), 1000);
    });
}

#[test]
fn requests_that_wait_for_room_fail_when_the_server_goes_away() {
    let address = server(|mut stream| {
        stream.read_exact(&mut [0; 1000]).unwrap();
    });
    with_each(|engine| {
        let got = run(engine, 1, |reactor, _| {
            let address = address.clone();
            async move {
                let mut connection = connect(&reactor, &address, 10 * SECOND_NS).await.unwrap();
                loop {
                    if let Err(error) = connection.send(&[1; 3000]).await {
                        return error.kind();
                    }
                }
            }
        });
        assert!(matches!(got[..], [ErrorKind::BrokenPipe | ErrorKind::ConnectionReset]), "{engine}: {got:?}");
    });
}
