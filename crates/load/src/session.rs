//! Sessions outside the run phase: a thread's own event loop and what is done in it.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use dbdyno_model::Failure;
use dbdyno_net::{Engine, Reactor, Task, block_on, now_ns};
use dbdyno_stores::{AnySession, Store, Trouble};

/// Opens a session and does `work` with it.
///
/// # Errors
/// The session could not be opened, or as `work` has them.
pub fn with_session<T: 'static>(
    store: &Arc<Store>,
    work: impl AsyncFnOnce(&mut AnySession) -> Result<T, Trouble> + 'static,
) -> Result<T, Trouble> {
    let opened = Arc::clone(store);
    drive(store, async move |reactor| {
        let mut session = opened.open(reactor.as_ref()).await?;
        work(&mut session).await
    })
}

/// As [`with_session`]; `None` if a server has not answered within `limit_ns`.
///
/// # Errors
/// The session could not be opened, or as `work` has them.
pub fn with_session_within<T: 'static>(
    store: &Arc<Store>,
    limit_ns: u64,
    work: impl AsyncFnOnce(&mut AnySession) -> Result<T, Trouble> + 'static,
) -> Result<Option<T>, Trouble> {
    let opened = Arc::clone(store);
    let ends_ns = now_ns().saturating_add(limit_ns);
    drive_until(store, ends_ns, async move |reactor| {
        let mut session = opened.open(reactor.as_ref()).await?;
        work(&mut session).await
    })
}

/// Does `work` to its end on this thread, with an event loop of its own if the store needs one.
///
/// # Errors
/// There is no event loop, or as `work` has them.
pub fn drive<T: 'static>(
    store: &Store,
    work: impl AsyncFnOnce(Option<Rc<Reactor>>) -> Result<T, Trouble> + 'static,
) -> Result<T, Trouble> {
    drive_until(store, u64::MAX, work)?.ok_or_else(|| broken("the task did not end"))
}

fn drive_until<T: 'static>(
    store: &Store,
    ends_ns: u64,
    work: impl AsyncFnOnce(Option<Rc<Reactor>>) -> Result<T, Trouble> + 'static,
) -> Result<Option<T>, Trouble> {
    if store.is_embedded() {
        return block_on(work(None)).map(Some);
    }
    let reactor = Reactor::new(Engine::Epoll).map_err(broken)?;
    let result = Rc::new(RefCell::new(None));
    let (slot, future) = (Rc::clone(&result), work(Some(Rc::clone(&reactor))));
    let task: Task = Box::pin(async move { *slot.borrow_mut() = Some(future.await) });
    reactor.run(vec![Some(task)], |now_ns| now_ns < ends_ns).map_err(broken)?;
    let done = result.borrow_mut().take();
    done.transpose()
}

fn broken(error: impl std::fmt::Display) -> Trouble {
    Trouble::Failed(Failure::Connect(format!("the event loop failed: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_model::{
        Column, Index, Kind, Operation, Population, RowBuffer, Session, Source, Statement, Step, Table, Value,
    };
    use dbdyno_stores::{Administration, Cleaning, Config, Schema};
    use serde_json::json;

    /// One or two lines of every order; the second line's date and note are NULL.
    #[derive(Debug)]
    struct Lines;

    impl Population for Lines {
        fn has(&self, number: u64) -> bool {
            number % 2 == 1 || number.is_multiple_of(4)
        }
        fn make(&self, number: u64, out: &mut RowBuffer) {
            let (order, line) = (number.div_ceil(2) as i64, 2 - number as i64 % 2);
            let is_first = line == 1;
            for number in [order, line, (1 << 40) + order, -5 * order] {
                out.push(Value::Int(number));
            }
            out.push(if is_first { Value::Int(20240229235958) } else { Value::Null });
            out.push(if is_first { Value::Text(b"it's\ta \\ \"note\"") } else { Value::Null });
        }
    }

    const INSERT: usize = 0;
    const LINES: usize = 1;
    const SUM: usize = 2;
    const BEGIN: usize = 3;
    const ROLLBACK: usize = 4;

    fn schema() -> Schema {
        let column = |name, kind| Column::new(name, kind, Source::Population);
        let kinds = [Kind::Int, Kind::TinyInt, Kind::BigInt, Kind::Decimal(12, 2), Kind::DateTime, Kind::Varchar(40)];
        let names = ["o", "l", "big", "amount", "delivered", "note"];
        let mut columns: Vec<Column> = names.iter().zip(kinds).map(|(name, kind)| column(name, kind)).collect();
        for nullable in &mut columns[4..] {
            nullable.is_nullable = true;
        }
        let population: Option<Arc<dyn Population>> = Some(Arc::new(Lines));
        let indexes = vec![Index::new(&[2, 0])];
        let lines = Table { primary_key: 2, rows: Some(40), population, indexes, ..Table::new("lines", columns) };
        let statements = vec![
            Statement::new("INSERT INTO {lines} VALUES (?, ?, ?, ?, ?, ?)", &kinds, &[]),
            Statement::new(
                "SELECT o, l, big, amount, delivered, note FROM {lines} WHERE o = ? ORDER BY l",
                &[Kind::Int],
                &kinds,
            ),
            Statement::new(
                "SELECT COUNT(*), SUM(amount), MAX(delivered) FROM {lines} WHERE o >= ? AND delivered <= ?",
                &[Kind::Int, Kind::DateTime],
                &[Kind::BigInt, Kind::Decimal(14, 2), Kind::DateTime],
            ),
        ];
        let sql = |statement| Operation::Sql { statement };
        let operations = [sql(0), sql(1), sql(2), Operation::Begin { read_only: false }, Operation::Rollback];
        let steps = operations.into_iter().map(|operation| Step::new(operation.name(), operation)).collect();
        Schema { tables: vec![lines], steps, statements, rows: 1 }
    }

    async fn rows(session: &mut AnySession, step: usize, params: &[Value<'_>]) -> Result<Vec<String>, Failure> {
        let mut rows = vec![];
        let each = &mut |row: dbdyno_model::Row<'_>| {
            let values: Vec<String> = (0..row.len()).map(|i| row.value(i).to_string()).collect();
            rows.push(values.join(" "));
        };
        let count = session.sql(step, params, each).await?;
        assert_eq!(count, rows.len() as u64);
        Ok(rows)
    }

    async fn statements(session: &mut AnySession) -> Result<(), Trouble> {
        session.prepare("dbdyno:").await?;
        session.load(0, 1..41).await?;
        session.index(0).await?;
        session.settle(0).await?;
        assert_eq!(session.count(0).await, Ok(Some(30)));
        let first = |order: i64| {
            format!("{order} 1 {} {} 20240229235958 it's\ta \\ \"note\"", (1i64 << 40) + order, -5 * order)
        };
        assert_eq!(rows(session, LINES, &[Value::Int(7)]).await?, [first(7)]);
        let second = format!("8 2 {} -40 NULL NULL", (1i64 << 40) + 8);
        assert_eq!(rows(session, LINES, &[Value::Int(8)]).await?, [first(8), second.clone()]);
        assert_eq!(rows(session, LINES, &[Value::Int(99)]).await?, [""; 0]);
        let sum = &[Value::Int(19), Value::Int(20240229235958)];
        assert_eq!(rows(session, SUM, sum).await?, ["2 -195 20240229235958"]);
        assert_eq!(rows(session, SUM, &[Value::Int(99), Value::Null]).await?, ["0 NULL NULL"]);

        let values = |order| [order, 1, -1, 123_456_789, 19991231000000].map(Value::Int);
        let with_note = |order, note| [&values(order)[..], &[note]].concat();
        session.control(BEGIN).await?;
        assert_eq!(session.sql(INSERT, &with_note(50, Value::Null), &mut |_| {}).await, Ok(1));
        assert_eq!(session.sql(INSERT, &with_note(51, Value::Text(b"n")), &mut |_| {}).await, Ok(1));
        let inserted = rows(session, LINES, &[Value::Int(50)]).await?;
        assert_eq!(inserted, ["50 1 -1 123456789 19991231000000 NULL"]);
        assert_eq!(rows(session, LINES, &[Value::Int(51)]).await?, ["51 1 -1 123456789 19991231000000 n"]);
        session.control(ROLLBACK).await?;
        assert_eq!(rows(session, LINES, &[Value::Int(50)]).await?, [""; 0]);
        session.control(BEGIN).await?;
        assert_eq!(session.sql(INSERT, &with_note(50, Value::Null), &mut |_| {}).await, Ok(1));
        session.abandon().await?;
        assert_eq!(session.count(0).await, Ok(Some(30)));
        let missing = Statement::new("SELECT o, amount FROM {lines} WHERE o = 1", &[], &[]);
        assert_eq!(session.ask(&missing).await?.len(), 1);
        session.remove_rows(0).await?;
        assert_eq!(session.count(0).await, Ok(Some(0)));
        session.remove(Cleaning::Remove).await.map(drop)
    }

    #[test]
    fn statements_take_and_give_values_of_every_kind() {
        let folder = std::env::temp_dir().join(format!("dbdyno-statements-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let config = json!({"kind": "sqlite", "path": folder.join("db")});
        let config: Config = serde_json::from_value(config).unwrap();
        let store = Arc::new(Store::new(&config, &[], schema(), 5_000_000_000).unwrap());
        assert_eq!(with_session(&store, async |session| statements(session).await), Ok(()));
        std::fs::remove_dir_all(folder).unwrap();
    }
}
