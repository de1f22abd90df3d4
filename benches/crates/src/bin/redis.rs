//! Gets through redis, a multiplexed connection each.

use dbdyno_bench_crates::{Arguments, run};
use redis::aio::MultiplexedConnection;
use redis::{AsyncCommands, Client, RedisError};

fn main() {
    let arguments = Arguments::read();
    let client = Client::open(format!("redis://{}:{}/0", arguments.host, arguments.port)).expect("a URL");
    run(&arguments, || client.get_multiplexed_async_connection(), get);
}

async fn get(mut connection: MultiplexedConnection, key: u64) -> Result<MultiplexedConnection, RedisError> {
    let value: Option<Vec<u8>> = connection.get(format!("dbdyno:bm:{key}")).await?;
    assert!(!value.expect("is there").is_empty());
    Ok(connection)
}
