//! Gets by a prepared statement through mysql_async.

use dbdyno_bench_crates::{Arguments, run};
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Error, OptsBuilder, Row, Statement};

fn main() {
    let arguments = Arguments::read();
    let options = OptsBuilder::default()
        .ip_or_hostname(arguments.host.clone())
        .tcp_port(arguments.port)
        .user(Some(arguments.user.clone()))
        .db_name(Some(arguments.database.clone()))
        .prefer_socket(false);
    let connect = || async {
        let mut connection = Conn::new(options.clone()).await?;
        let statement = connection.prep("SELECT id, k, c, pad FROM dbdyno_bm WHERE id = ?").await?;
        Ok::<_, Error>((connection, statement))
    };
    run(&arguments, connect, get);
}

async fn get((mut connection, statement): (Conn, Statement), key: u64) -> Result<(Conn, Statement), Error> {
    let row: Option<Row> = connection.exec_first(&statement, (key,)).await?;
    let (id, _k, c, _pad): (u64, i64, String, String) = mysql_async::from_row(row.expect("is there"));
    assert!(id == key && !c.is_empty());
    Ok((connection, statement))
}
