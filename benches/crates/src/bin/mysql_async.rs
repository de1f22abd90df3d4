//! Gets by a prepared statement through mysql_async.

use dbdyno_bench_crates::{Told, run};
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Error, OptsBuilder, Row, Statement};

fn main() {
    let told = Told::read();
    let options = OptsBuilder::default()
        .ip_or_hostname(told.host.clone())
        .tcp_port(told.port)
        .user(Some(told.user.clone()))
        .db_name(Some(told.database.clone()))
        .prefer_socket(false);
    let connect = || async {
        let mut connection = Conn::new(options.clone()).await?;
        let statement = connection.prep("SELECT id, k, c, pad FROM dbdyno_bm WHERE id = ?").await?;
        Ok::<_, Error>((connection, statement))
    };
    run(&told, connect, get);
}

async fn get((mut connection, statement): (Conn, Statement), key: u64) -> Result<(Conn, Statement), Error> {
    let row: Option<Row> = connection.exec_first(&statement, (key,)).await?;
    let (id, _k, c, _pad): (u64, i64, String, String) = mysql_async::from_row(row.expect("is there"));
    assert!(id == key && !c.is_empty());
    Ok((connection, statement))
}
