//! Gets by `_id` through mongodb: one client with a pool, which has a connection for each task.

use dbdyno_bench_crates::{Arguments, run};
use mongodb::bson::{RawDocumentBuf, doc};
use mongodb::error::Error;
use mongodb::options::ClientOptions;
use mongodb::{Client, Collection};

fn main() {
    let arguments = Arguments::read();
    let shared: tokio::sync::OnceCell<Collection<RawDocumentBuf>> = tokio::sync::OnceCell::new();
    let connect = || async { shared.get_or_try_init(|| open(&arguments)).await.cloned() };
    run(&arguments, connect, get);
}

async fn open(arguments: &Arguments) -> Result<Collection<RawDocumentBuf>, Error> {
    let url = format!("mongodb://{}:{}/?directConnection=true", arguments.host, arguments.port);
    let mut options = ClientOptions::parse(url).await?;
    options.max_pool_size = Some(arguments.clients as u32);
    Ok(Client::with_options(options)?.database(&arguments.database).collection("dbdyno_bm"))
}

async fn get(rows: Collection<RawDocumentBuf>, key: u64) -> Result<Collection<RawDocumentBuf>, Error> {
    let row = rows.find_one(doc! {"_id": key as i32}).await?.expect("is there");
    let id = row.get("_id")?.and_then(|id| id.as_i32().map(i64::from).or(id.as_i64()));
    assert_eq!(id, Some(key as i64));
    Ok(rows)
}
