//! Shared by the benches of the field's crates: clients that each ask for one random row after the other.

use std::fmt::Debug;
use std::future::Future;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// The command line of a bench: `HOST:PORT USER DATABASE CLIENTS ROWS SECONDS`. It has no
/// password, because every process of the host could read it.
#[derive(Clone)]
pub struct Arguments {
    pub host: String,
    pub port: u16,
    pub user: String,
    pub database: String,
    pub clients: u64,
    pub rows: u64,
    pub seconds: u64,
}

impl Arguments {
    pub fn read() -> Self {
        let given: Vec<String> = std::env::args().skip(1).collect();
        let [address, user, database, numbers @ ..] = &given[..] else { panic!("too few arguments") };
        let (host, port) = address.rsplit_once(':').expect("HOST:PORT");
        let [clients, rows, seconds] = [0, 1, 2].map(|i| numbers[i].parse().expect("a number"));
        let (user, database) = (user.clone(), database.clone());
        Self { host: host.into(), port: port.parse().expect("a port"), user, database, clients, rows, seconds }
    }

    /// The keys that one client asks for, uniformly at random (xorshift).
    pub fn keys(&self, client: u64) -> impl FnMut() -> u64 + use<> {
        let (rows, mut state) = (self.rows, 0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(client + 1));
        move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % rows + 1
        }
    }
}

/// Runs `connect` for each client, then `get` in a loop, all on one thread, and prints gets, seconds and CPU.
///
/// The CPU is that of the loops alone: connecting and preparing are no part of a get.
pub fn run<C, E, Fc, Fg>(arguments: &Arguments, connect: impl Fn() -> Fc, get: impl Fn(C, u64) -> Fg + Copy + 'static)
where
    C: 'static,
    E: Debug,
    Fc: Future<Output = Result<C, E>>,
    Fg: Future<Output = Result<C, E>>,
{
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let local = tokio::task::LocalSet::new();
    local.block_on(&runtime, async {
        let mut connections = Vec::new();
        for _ in 0..arguments.clients {
            connections.push(connect().await.expect("connects"));
        }
        let measuring = Measuring::begin(arguments);
        let until = measuring.until;
        let loops: Vec<_> = connections
            .into_iter()
            .zip(0..)
            .map(|(mut connection, client)| {
                let mut key = arguments.keys(client);
                tokio::task::spawn_local(async move {
                    let mut gets = 0;
                    while Instant::now() < until {
                        connection = get(connection, key()).await.expect("is there");
                        gets += 1;
                    }
                    gets
                })
            })
            .collect();
        let mut gets = 0;
        for client_loop in loops {
            gets += client_loop.await.expect("ends");
        }
        measuring.end(gets);
    });
}

/// From the first get to the last.
pub struct Measuring {
    pub until: Instant,
    begun: Instant,
    cpu: Duration,
}

impl Measuring {
    pub fn begin(arguments: &Arguments) -> Self {
        let begun = Instant::now();
        Self { until: begun + Duration::from_secs(arguments.seconds), begun, cpu: cpu() }
    }

    pub fn end(self, gets: u64) {
        println!("{gets} {} {}", self.begun.elapsed().as_secs_f64(), (cpu() - self.cpu).as_secs_f64());
    }
}

fn cpu() -> Duration {
    clock_gettime(ClockId::ProcessCPUTime).try_into().expect("a time that passes")
}
