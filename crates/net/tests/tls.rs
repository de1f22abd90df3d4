//! Encrypted connections of the event loop against rustls's server, with certificates made for each test.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use dbdyno_net::{Address, Connection, Encryption, Engine, Reactor, Task, Verify};
use rcgen::{CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned, SupportedProtocolVersion, version};

const SECOND_NS: u64 = 1_000_000_000;

type Tls = StreamOwned<ServerConnection, TcpStream>;

/// An authority, its file, and the certificate it gave a server that is called `localhost`.
struct Authority {
    path: PathBuf,
    server: (CertificateDer<'static>, PrivateKeyDer<'static>),
}

impl Drop for Authority {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

fn authority(name: &str) -> Authority {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let of_server = CertificateParams::new(vec!["localhost".into()]).unwrap().signed_by(&key, &issuer).unwrap();
    let path = std::env::temp_dir().join(format!("dbdyno-net-{name}-{}.pem", std::process::id()));
    std::fs::write(&path, issuer.pem()).unwrap();
    Authority { path, server: (of_server.der().clone(), PrivateKeyDer::try_from(key.serialize_der()).unwrap()) }
}

/// A server on loopback that speaks TLS and handles each connection with `serve`, on its own thread.
fn server(
    (certificate, key): &(CertificateDer<'static>, PrivateKeyDer<'static>),
    version: &'static SupportedProtocolVersion,
    serve: fn(Tls),
) -> Address {
    let builder = ServerConfig::builder_with_protocol_versions(&[version]).with_no_client_auth();
    let config = Arc::new(builder.with_single_cert(vec![certificate.clone()], key.clone_key()).unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let tls = StreamOwned::new(ServerConnection::new(Arc::clone(&config)).unwrap(), stream.unwrap());
            thread::spawn(move || serve(tls));
        }
    });
    Address::Tcp { host: "127.0.0.1".into(), port }
}

fn echo(mut stream: Tls) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(n @ 1..) = stream.read(&mut buffer) {
        if stream.write_all(&buffer[..n]).is_err() {
            return;
        }
    }
}

/// Runs `clients` encrypted tasks on each engine that this host permits, and returns what each answered.
fn run<T: 'static, F: Future<Output = T> + 'static>(
    address: &Address,
    encryption: &Encryption,
    clients: usize,
    body: impl Fn(std::io::Result<Connection>) -> F + Copy + 'static,
) -> Vec<T> {
    let mut all = Vec::new();
    for engine in [Engine::Epoll, Engine::IoUring].into_iter().filter(|engine| engine.is_available()) {
        let reactor = Reactor::new(engine).unwrap();
        let (sender, receiver) = mpsc::channel();
        let tasks = (0..clients).map(|_| {
            let (sender, on, address, encryption) =
                (sender.clone(), Rc::clone(&reactor), address.clone(), encryption.clone());
            let task = async move {
                let to = address.resolve().unwrap();
                let mut connection = Connection::connect(&on, &address, to, 10 * SECOND_NS).await.unwrap();
                let encrypted = connection.encrypt(&encryption).await.map(|()| connection);
                sender.send(body(encrypted).await).unwrap();
            };
            Some(Box::pin(task) as Task)
        });
        reactor.run(tasks.collect(), |_| true).unwrap();
        drop(sender);
        all.extend(receiver);
    }
    all
}

async fn exchange(connection: std::io::Result<Connection>) -> usize {
    let mut connection = connection.unwrap();
    // Around the size of a record, and far beyond.
    let sizes = [1, 100, 16_383, 16_384, 16_385, 64_000, 300_000, 3];
    for size in sizes {
        let message: Vec<u8> = (0..size).map(|i| (i * 7 + size) as u8).collect();
        connection.send(&message).await.unwrap();
        while connection.unread().len() < size {
            connection.fill().await.unwrap();
        }
        assert!(connection.unread() == message, "{size} bytes");
        connection.discard(size);
    }
    sizes.iter().sum()
}

#[test]
fn what_is_sent_comes_back_across_records_alone_and_among_others() {
    let authority = authority("echo");
    let encryption = Encryption::new(Verify::Host, Some(&authority.path), "localhost").unwrap();
    for version in [&version::TLS13, &version::TLS12] {
        let address = server(&authority.server, version, echo);
        for clients in [1, 20] {
            let got = run(&address, &encryption, clients, exchange);
            assert!(got.len() >= clients && got.iter().all(|&size| size == 413_256), "{version:?} {got:?}");
        }
    }
}

async fn refusal(connection: std::io::Result<Connection>) -> (ErrorKind, String) {
    let error = connection.err().unwrap();
    (error.kind(), error.to_string())
}

async fn accepted(connection: std::io::Result<Connection>) -> bool {
    connection.is_ok()
}

#[test]
fn who_is_trusted_is_what_was_asked_for() {
    let (ours, other) = (authority("ours"), authority("other"));
    let address = server(&ours.server, &version::TLS13, echo);
    let to = |verify, authority: &Authority, host| Encryption::new(verify, Some(&authority.path), host).unwrap();
    for good in [
        to(Verify::Nothing, &other, "example.org"),
        to(Verify::Authority, &ours, "example.org"),
        to(Verify::Host, &ours, "localhost"),
    ] {
        assert!(run(&address, &good, 1, accepted).into_iter().all(|is_accepted| is_accepted));
    }
    for (bad, said) in [
        (to(Verify::Authority, &other, "localhost"), "not signed by a trusted authority"),
        (to(Verify::Host, &ours, "example.org"), "tls=verify-ca"),
    ] {
        for (kind, words) in run(&address, &bad, 1, refusal) {
            assert!(kind == ErrorKind::InvalidData && words.contains(said), "{words}");
        }
    }
}

#[test]
fn a_certificate_that_signed_itself_is_trusted_where_it_is_what_was_named() {
    let mut params = CertificateParams::new(vec!["localhost".into()]).unwrap();
    params.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    let own = params.self_signed(&key).unwrap();
    let path = std::env::temp_dir().join(format!("dbdyno-net-self-{}.pem", std::process::id()));
    std::fs::write(&path, own.pem()).unwrap();
    let server_key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let address = server(&(own.der().clone(), server_key), &version::TLS13, echo);
    let trusting = |host| Encryption::new(Verify::Host, Some(&path), host).unwrap();
    assert!(run(&address, &trusting("localhost"), 1, accepted).into_iter().all(|is_accepted| is_accepted));
    assert!(run(&address, &trusting("example.org"), 1, refusal)[0].1.contains("tls=verify-ca"));
    std::fs::remove_file(path).unwrap();
}

#[test]
fn what_came_before_the_end_arrives_and_then_the_end_is_seen() {
    let authority = authority("end");
    let encryption = Encryption::new(Verify::Nothing, None, "localhost").unwrap();
    let address = server(&authority.server, &version::TLS13, |mut stream| {
        stream.read_exact(&mut [0; 2]).unwrap();
        stream.write_all(b"bye").unwrap();
        stream.conn.send_close_notify();
        stream.flush().unwrap();
    });
    let got = run(&address, &encryption, 1, |connection| async {
        let mut connection = connection.unwrap();
        connection.send(b"hi").await.unwrap();
        while connection.unread().len() < 3 {
            connection.fill().await.unwrap();
        }
        assert_eq!(connection.unread(), b"bye");
        connection.discard(3);
        connection.fill().await.unwrap_err().kind()
    });
    assert!(got.iter().all(|&kind| kind == ErrorKind::UnexpectedEof), "{got:?}");
}

#[test]
fn a_server_that_speaks_no_tls_or_goes_away_is_an_error_and_no_wait() {
    let encryption = Encryption::new(Verify::Nothing, None, "localhost").unwrap();
    for (answer, kind) in [(&b"-ERR what is that\r\n"[..], ErrorKind::InvalidData), (b"", ErrorKind::UnexpectedEof)] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = Address::Tcp { host: "127.0.0.1".into(), port: listener.local_addr().unwrap().port() };
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                // All of the greeting: what is left unread would reset the connection.
                let _ = stream.read(&mut [0; 4096]);
                let _ = stream.write_all(answer);
            }
        });
        for (failure, words) in run(&address, &encryption, 1, refusal) {
            assert_eq!(failure, kind, "{words}");
        }
    }
}

#[test]
fn a_handshake_that_trickles_ends_in_the_time_of_one_wait() {
    const TIMEOUT_NS: u64 = SECOND_NS / 2;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = Address::Tcp { host: "127.0.0.1".into(), port: listener.local_addr().unwrap().port() };
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        // The beginning of a record of 16,000 bytes, and then one byte of it now and then: each in time, and for minutes.
        stream.write_all(&[22, 3, 3, 0x3e, 0x80]).unwrap();
        while stream.write_all(&[2]).is_ok() {
            thread::sleep(Duration::from_millis(10));
        }
    });
    let reactor = Reactor::new(Engine::Epoll).unwrap();
    let (sender, receiver) = mpsc::channel();
    let on = Rc::clone(&reactor);
    let task: Task = Box::pin(async move {
        let encryption = Encryption::new(Verify::Nothing, None, "localhost").unwrap();
        let to = address.resolve().unwrap();
        let mut connection = Connection::connect(&on, &address, to, TIMEOUT_NS).await.unwrap();
        sender.send(connection.encrypt(&encryption).await.unwrap_err().kind()).unwrap();
    });
    reactor.run(vec![Some(task)], |_| true).unwrap();
    assert_eq!(receiver.recv().unwrap(), ErrorKind::TimedOut);
}
