//! The null server: answers a protocol as fast as it can, with the rows that the workload's generator makes, so that a client can be measured
//! alone. It keeps nothing: what is written is acknowledged and forgotten.

mod answerer;
mod cassandra;
mod cells;
mod handlersocket;
mod keys;
mod memcached;
mod mongodb;
mod mysql;
mod postgres;
mod redis;
mod tokyotyrant;

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::Arc;

use dbdyno_net::{Address, Connection, Engine, Listener, Reactor, Task};
use dbdyno_stores::Schema;
use serde_json::json;

use crate::plan::WorkloadPlan;
use crate::signals;
use answerer::Answerer;

#[derive(clap::Args)]
pub struct Arguments {
    /// The protocol to answer.
    #[arg(long, value_enum)]
    protocol: Protocol,
    /// The workload whose rows clients read.
    #[arg(long, default_value = "point-get")]
    workload: String,
    /// The workload's options, as a plan has them.
    #[arg(long, default_value = "{}")]
    options: String,
    /// Rows per table.
    #[arg(long, default_value_t = 20_000)]
    rows: u64,
    /// The port on 127.0.0.1; 0: any free one.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Listen on a Unix socket instead.
    #[arg(long)]
    unix: Option<PathBuf>,
}

/// Writes, from the list of protocols, their names on the command line and the dispatch.
macro_rules! protocols {
    ($($module:ident::$Protocol:ident,)+) => {
        #[derive(Clone, Copy, clap::ValueEnum)]
        enum Protocol {
            $($Protocol,)+
        }

        impl Protocol {
            /// Answers a client until it goes away or sends garbage, which ends its own connection only.
            async fn answer(self, connection: Connection, on: &Reactor, schema: Arc<Schema>) -> io::Result<()> {
                match self { $(Self::$Protocol => converse(connection, on, $module::$Protocol::new(schema)).await,)+ }
            }
        }
    };
}

protocols! {
    mysql::Mysql,
    postgres::Postgres,
    redis::Redis,
    memcached::Memcached,
    mongodb::Mongodb,
    cassandra::Cassandra,
    handlersocket::Handlersocket,
    tokyotyrant::Tokyotyrant,
}

/// A week: the null server waits for its clients, not they for it.
const PATIENCE_NS: u64 = 7 * 24 * 3600 * 1_000_000_000;

/// Serves until a signal ends it, and says where on stdout.
pub fn serve(arguments: &Arguments) -> ExitCode {
    signals::listen();
    match listen(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("dbdyno-load: {reason}");
            ExitCode::from(2)
        }
    }
}

fn listen(arguments: &Arguments) -> Result<(), String> {
    let options = serde_json::from_str(&arguments.options).map_err(|error| format!("--options: {error}"))?;
    let plan = WorkloadPlan { name: arguments.workload.clone(), rows: arguments.rows, options };
    let schema = Arc::new(plan.schema(&plan.build()?));
    let address = match &arguments.unix {
        Some(path) => Address::Unix(path.clone()),
        None => Address::Tcp { host: "127.0.0.1".into(), port: arguments.port },
    };
    let failed = |error: io::Error| format!("cannot listen on {address}: {error}");
    let reactor = Reactor::new(Engine::Epoll).map_err(failed)?;
    let listener = Listener::bind(&reactor, &address).map_err(failed)?;
    println!("{}", json!({"record": "listening", "port": listener.port().ok(), "unix": arguments.unix}));
    let task: Task = Box::pin(accept_all(Rc::clone(&reactor), listener, arguments.protocol, schema));
    reactor.run(vec![Some(task)], |_| !signals::stop_requested()).map_err(failed)
}

async fn accept_all(reactor: Rc<Reactor>, listener: Listener, protocol: Protocol, schema: Arc<Schema>) {
    loop {
        match listener.accept().await {
            Ok(fd) => {
                let (on, schema) = (Rc::clone(&reactor), Arc::clone(&schema));
                reactor.spawn(Box::pin(async move {
                    let Ok(connection) = Connection::accepted(fd, &on, PATIENCE_NS) else { return };
                    let _ = protocol.answer(connection, &on, schema).await;
                }));
            }
            Err(error) => {
                eprintln!("dbdyno-load: accept: {error}");
                reactor.sleep_until(dbdyno_net::now_ns() + 100_000_000).await;
            }
        }
    }
}

/// Answers go out together, as Redis sends them. Each by itself would wake the client, and a client that is woken for every single
/// answer reaches less on the null server than on a real one.
async fn converse(mut connection: Connection, on: &Reactor, mut protocol: impl Answerer) -> io::Result<()> {
    let mut out = Vec::new();
    protocol.greet(&mut out);
    loop {
        if !out.is_empty() {
            on.yield_to_others().await;
            connection.send(&out).await?;
            out.clear();
        }
        connection.fill().await?;
        let mut taken = 0;
        while let Some(n) = protocol.answer(&connection.unread()[taken..], &mut out).map_err(io::Error::other)? {
            taken += n;
            if taken == connection.unread().len() {
                break;
            }
        }
        connection.discard(taken);
    }
}
