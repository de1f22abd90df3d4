//! Gets by a prepared statement through scylla: one session with a connection, which all clients share.

use std::sync::Arc;

use dbdyno_bench_crates::{Arguments, run};
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use scylla::statement::prepared::PreparedStatement;

type Failure = Box<dyn std::error::Error>;
type Shared = Arc<(Session, PreparedStatement)>;

fn main() {
    let arguments = Arguments::read();
    let shared: tokio::sync::OnceCell<Shared> = tokio::sync::OnceCell::new();
    let connect = || async {
        let opened = shared.get_or_try_init(|| open(&arguments)).await?;
        Ok::<_, Failure>(Arc::clone(opened))
    };
    run(&arguments, connect, get);
}

async fn open(arguments: &Arguments) -> Result<Shared, Failure> {
    let session = SessionBuilder::new().known_node(format!("{}:{}", arguments.host, arguments.port)).build().await?;
    let statement = format!("SELECT id, k, c, pad FROM {}.dbdyno_bm WHERE id = ?", arguments.database);
    let prepared = session.prepare(statement).await?;
    Ok(Arc::new((session, prepared)))
}

async fn get(shared: Shared, key: u64) -> Result<Shared, Failure> {
    let answer = shared.0.execute_unpaged(&shared.1, (key as i32,)).await?.into_rows_result()?;
    let (id, _k, c, pad) = answer.single_row::<(i32, i32, &str, &str)>()?;
    assert!(id as u64 == key && !c.is_empty() && !pad.is_empty());
    Ok(shared)
}
