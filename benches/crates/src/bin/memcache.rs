//! Gets through memcache, which blocks: a thread for each client.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use dbdyno_bench_crates::{Arguments, Measuring};

fn main() {
    let arguments = Arguments::read();
    let url = format!("memcache://{}:{}?timeout=10&tcp_nodelay=true", arguments.host, arguments.port);
    let clients: Vec<_> = (0..arguments.clients).map(|_| memcache::connect(url.as_str()).expect("connects")).collect();
    let (measuring, gets) = (Measuring::begin(&arguments), AtomicU64::new(0));
    thread::scope(|scope| {
        for (client, number) in clients.into_iter().zip(0..) {
            let (mut key, until, gets) = (arguments.keys(number), measuring.until, &gets);
            scope.spawn(move || {
                let mut own = 0;
                while Instant::now() < until {
                    let value: Option<Vec<u8>> = client.get(&format!("dbdyno:bm:{}", key())).expect("answers");
                    assert!(!value.expect("is there").is_empty());
                    own += 1;
                }
                gets.fetch_add(own, Ordering::Relaxed);
            });
        }
    });
    measuring.end(gets.into_inner());
}
