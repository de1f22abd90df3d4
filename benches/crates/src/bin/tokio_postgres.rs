//! Gets by a prepared statement through tokio-postgres.

use dbdyno_bench_crates::{Arguments, run};
use tokio_postgres::{Client, Config, Error, NoTls, Statement};

fn main() {
    let arguments = Arguments::read();
    let mut config = Config::new();
    config.host(&arguments.host).port(arguments.port).user(&arguments.user).dbname(&arguments.database);
    let connect = || async {
        let (client, connection) = config.connect(NoTls).await?;
        tokio::task::spawn_local(connection);
        let statement = client.prepare("SELECT id, k, c, pad FROM dbdyno_bm WHERE id = $1").await?;
        Ok::<_, Error>((client, statement))
    };
    run(&arguments, connect, get);
}

async fn get((client, statement): (Client, Statement), key: u64) -> Result<(Client, Statement), Error> {
    let row = client.query_one(&statement, &[&(key as i32)]).await?;
    let (id, c, pad): (i32, &str, &str) = (row.get(0), row.get(2), row.get(3));
    assert!(id as u64 == key && !c.is_empty() && !pad.is_empty());
    Ok((client, statement))
}
