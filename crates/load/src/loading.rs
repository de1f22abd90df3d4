//! Loading: several sessions side by side, each with a range of keys of its own, and the secondary indexes after the rows.
//!
//! An interrupted load continues: the store is asked which rows it has, so nothing needs to be remembered.

use std::ops::Range;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;

use dbdyno_model::{Failure, Table};
use dbdyno_net::{Reactor, now_ns};
use dbdyno_stores::{Administration, AnySession, Store, Trouble};

use crate::records::{Place, Records};
use crate::session::{drive, with_session};
use crate::signals;

/// Rows a session loads between two looks at the progress; an embedded store commits them together.
const NETWORK_CHUNK: u64 = 10_000;
const EMBEDDED_CHUNK: u64 = 20_000;
const PROGRESS_NS: u64 = 250_000_000;
/// After a lost connection: how often in a row a session tries to go on, and the pause before each.
const ATTEMPTS: u32 = 5;
const PAUSE_NS: u64 = 200_000_000;

/// A load to do.
pub struct Job<'a> {
    pub store: &'a Arc<Store>,
    pub records: &'a Arc<Records>,
    pub tables: &'a [Table],
    /// Rows per table.
    pub rows: u64,
    /// Sessions side by side, at most; an embedded store has one writer.
    pub sessions: u64,
    /// True if the tables are known to be empty.
    pub is_new: bool,
}

/// A load that is done.
pub struct Loaded {
    /// Rows added, and rows that were there already.
    pub added: u64,
    pub present: u64,
    pub sessions: u64,
    pub reconnected: u64,
    /// How the rows came in, in the store's words.
    pub by: &'static str,
    /// How long it took to add the rows, and to make the indexes.
    pub rows_s: f64,
    pub index_s: f64,
}

/// Loads all rows of all tables, and then makes their secondary indexes: on InnoDB, MyISAM, Aria and SQLite that is faster than to keep them up
/// row by row.
///
/// # Errors
/// As the store has them. A stop by signal is no error: fewer rows are returned.
pub fn load(job: &Job<'_>) -> Result<Loaded, Trouble> {
    let chunk = if job.store.is_embedded() { EMBEDDED_CHUNK } else { NETWORK_CHUNK };
    let most = if job.store.is_embedded() { 1 } else { job.sessions };
    let sessions = job.most_numbers().div_ceil(chunk).min(most).max(1);
    let absent = job.make_loadable()?;
    let shared = Arc::new(Shared::new(job));
    let results: Vec<_> = thread::scope(|scope| {
        let load = |number| {
            let loader =
                Loader { shared: Arc::clone(&shared), number, chunk, parts: job.parts(number, sessions, &absent) };
            scope.spawn(move || loader.run())
        };
        let threads: Vec<_> = (0..sessions).map(load).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Err(panicked()))).collect()
    });
    results.into_iter().collect::<Result<(), _>>()?;
    let rows_s = shared.elapsed_s();
    if !signals::stop_requested() {
        index(job)?;
    }
    Ok(Loaded {
        added: shared.added.load(Ordering::Relaxed),
        present: shared.present.load(Ordering::Relaxed),
        sessions,
        reconnected: shared.reconnected.load(Ordering::Relaxed),
        by: shared.by.get().copied().unwrap_or_default(),
        rows_s,
        index_s: shared.elapsed_s() - rows_s,
    })
}

#[cold]
fn panicked() -> Trouble {
    Trouble::Failed(Failure::Protocol("a loading thread panicked: see the log".into()))
}

/// Rows without numbers that the store could be asked about are there once more if they are loaded once more.
#[cold]
fn cannot_go_on(table: &Table, trouble: Trouble) -> Trouble {
    let Trouble::Failed(failure) = trouble else { return trouble };
    let why = format!("rows of {} cannot be counted by their numbers, so load again: {failure}", table.name);
    Trouble::Failed(Failure::Server(why))
}

fn index(job: &Job<'_>) -> Result<(), Trouble> {
    let indexed: Vec<usize> = (0..job.tables.len()).filter(|&i| !job.tables[i].indexes.is_empty()).collect();
    for (done, &table) in indexed.iter().enumerate() {
        job.records.progress("index", done as u64, indexed.len() as u64, "tables");
        with_session(job.store, async move |session| session.index(table).await)?;
    }
    Ok(())
}

/// The knowledge of a table before it is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    Empty,
    Whole,
    /// Its rows may be there in part: dbdyno asks for them, range by range.
    Unknown,
}

/// Rows of a table that one session has still to load.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    table: usize,
    keys: Range<u64>,
    known: Known,
}

impl Part {
    fn len(&self) -> u64 {
        self.keys.end - self.keys.start
    }

    /// Keeps the first `len` keys and returns the others.
    fn split(&mut self, len: u64) -> Part {
        let middle = self.keys.start + len;
        let rest = Part { keys: middle..self.keys.end, ..*self };
        self.keys.end = middle;
        rest
    }
}

impl Job<'_> {
    fn numbers(&self, table: usize) -> Range<u64> {
        self.tables[table].numbers(self.rows)
    }

    fn most_numbers(&self) -> u64 {
        (0..self.tables.len()).map(|table| self.numbers(table).end - 1).max().unwrap_or(0)
    }

    /// Rows of all tables together.
    fn total(&self) -> u64 {
        self.tables.iter().map(|table| table.count(table.numbers(self.rows))).sum()
    }

    /// Finds out what is known of each table. A table that cannot be queried by row numbers is whole, or is emptied.
    fn make_loadable(&self) -> Result<Vec<Known>, Trouble> {
        let known = |(i, table): (usize, &Table)| {
            if self.is_new || table.is_keyed_by_number() {
                return Ok(if self.is_new { Known::Empty } else { Known::Unknown });
            }
            let rows = table.count(self.numbers(i));
            with_session(self.store, async move |session| match session.count(i).await? {
                Some(count) if count == rows => Ok(Known::Whole),
                Some(0) => Ok(Known::Empty),
                _ => session.remove_rows(i).await.map(|()| Known::Empty),
            })
        };
        self.tables.iter().enumerate().map(known).collect()
    }

    /// The parts of one session, to be taken from the end.
    fn parts(&self, number: u64, sessions: u64, known: &[Known]) -> Vec<Part> {
        let part = |table: usize| {
            let numbers = self.numbers(table).end - 1;
            let bound = |i: u64| 1 + (u128::from(numbers) * u128::from(i) / u128::from(sessions)) as u64;
            Part { table, keys: bound(number)..bound(number + 1), known: known[table] }
        };
        (0..self.tables.len()).rev().map(part).filter(|part| part.len() > 0).collect()
    }
}

/// The state that the sessions share.
struct Shared {
    store: Arc<Store>,
    records: Arc<Records>,
    tables: Vec<Table>,
    total: u64,
    begun_ns: u64,
    added: AtomicU64,
    present: AtomicU64,
    reconnected: AtomicU64,
    shown_ns: AtomicU64,
    has_failed: AtomicBool,
    by: OnceLock<&'static str>,
}

impl Shared {
    fn new(job: &Job<'_>) -> Self {
        let now = now_ns();
        Self {
            store: Arc::clone(job.store),
            records: Arc::clone(job.records),
            tables: job.tables.to_vec(),
            total: job.total(),
            begun_ns: now,
            added: AtomicU64::new(0),
            present: AtomicU64::new(0),
            reconnected: AtomicU64::new(0),
            shown_ns: AtomicU64::new(now),
            has_failed: AtomicBool::new(false),
            by: OnceLock::new(),
        }
    }

    fn elapsed_s(&self) -> f64 {
        (now_ns() - self.begun_ns) as f64 / 1e9
    }

    fn is_over(&self) -> bool {
        signals::stop_requested() || self.has_failed.load(Ordering::Relaxed)
    }

    fn done(&self) -> u64 {
        self.added.load(Ordering::Relaxed) + self.present.load(Ordering::Relaxed)
    }

    fn count(&self, rows: u64, of: &AtomicU64) {
        of.fetch_add(rows, Ordering::Relaxed);
        let (now, last_shown_ns) = (now_ns(), self.shown_ns.load(Ordering::Relaxed));
        let is_due = now.saturating_sub(last_shown_ns) >= PROGRESS_NS;
        // Several sessions may see that it is time. The one that says so first shows it.
        if is_due && self.shown_ns.compare_exchange(last_shown_ns, now, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            let rows_per_s = self.added.load(Ordering::Relaxed) as f64 / self.elapsed_s();
            self.records.loading(self.done(), self.total, rows_per_s);
        }
    }
}

/// One session's share, and the session opened anew if it was lost.
struct Loader {
    shared: Arc<Shared>,
    number: u64,
    chunk: u64,
    parts: Vec<Part>,
}

impl Loader {
    fn run(self) -> Result<(), Trouble> {
        let shared = Arc::clone(&self.shared);
        let result = drive(&shared.store, async move |reactor| self.load(reactor).await);
        shared.has_failed.fetch_or(result.is_err(), Ordering::Relaxed);
        result
    }

    async fn load(mut self, reactor: Option<Rc<Reactor>>) -> Result<(), Trouble> {
        let mut attempts = 0;
        loop {
            let left = self.left();
            let failure = match (self.go_on(reactor.as_ref()).await, &reactor) {
                (Err(Trouble::Failed(failure)), Some(_)) if failure.ends_session() => failure,
                (result, _) => return result,
            };
            attempts = if self.left() < left { 1 } else { attempts + 1 };
            let origin = Place { operation: None, client: self.number, at_s: self.shared.elapsed_s() };
            self.shared.records.failure(&failure, &origin);
            if attempts > ATTEMPTS {
                return Err(self.cut(&failure));
            }
            if let Some(reactor) = &reactor {
                reactor.sleep_until(now_ns() + PAUSE_NS).await;
            }
            self.shared.reconnected.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn left(&self) -> u64 {
        self.parts.iter().map(Part::len).sum()
    }

    #[cold]
    fn cut(&self, failure: &Failure) -> Trouble {
        let (done, total) = (self.shared.done(), self.shared.total);
        Trouble::Failed(Failure::Connection(format!(
            "loading stopped after {done} of {total} rows, and {ATTEMPTS} retries failed, the last with {failure}"
        )))
    }

    async fn go_on(&mut self, reactor: Option<&Rc<Reactor>>) -> Result<(), Trouble> {
        let mut session = self.shared.store.open(reactor).await?;
        while let Some(mut part) = self.parts.pop() {
            if self.shared.is_over() {
                return Ok(());
            }
            if let Err(trouble) = self.advance(&mut session, &mut part).await {
                let table = &self.shared.tables[part.table];
                if !table.is_keyed_by_number() {
                    return Err(cannot_go_on(table, trouble));
                }
                // The answer never came: only the store knows whether it took the rows.
                part.known = Known::Unknown;
                self.parts.push(part);
                return Err(trouble);
            }
        }
        self.shared.by.get_or_init(|| session.loads_by());
        Ok(())
    }

    async fn load_chunk(&mut self, session: &mut AnySession, part: &mut Part) -> Result<(), Trouble> {
        if part.len() > self.chunk {
            self.parts.push(part.split(self.chunk));
        }
        let rows = self.shared.tables[part.table].count(part.keys.clone());
        if rows > 0 {
            session.load(part.table, part.keys.clone()).await?;
        }
        self.shared.count(rows, &self.shared.added);
        Ok(())
    }

    /// Loads the first rows of a part, or finds out which of it are there: all, none, or some, and then it is halved.
    async fn advance(&mut self, session: &mut AnySession, part: &mut Part) -> Result<(), Trouble> {
        let rows = || self.shared.tables[part.table].count(part.keys.clone());
        match part.known {
            Known::Whole => {
                self.shared.count(rows(), &self.shared.present);
                return Ok(());
            }
            Known::Empty => return self.load_chunk(session, part).await,
            Known::Unknown => {}
        }
        match session.present(part.table, part.keys.clone()).await? {
            Some(present) if present == part.len() => self.shared.count(present, &self.shared.present),
            None | Some(0) => self.parts.push(Part { known: Known::Empty, ..part.clone() }),
            Some(_) => {
                let mut first = part.clone();
                self.parts.push(first.split(part.len() / 2));
                self.parts.push(first);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::tests::Shared as Written;
    use dbdyno_stores::{Config, Schema};
    use dbdyno_workloads::AnyWorkload;
    use serde_json::json;

    /// A job over SQLite in memory of its own folder; the store keeps what was loaded for as long as the folder is there.
    fn sqlite(folder: &std::path::Path, rows: u64) -> (Arc<Store>, Vec<Table>) {
        std::fs::create_dir_all(folder).unwrap();
        let workload = AnyWorkload::new("secondary-get", rows, &serde_json::Map::new()).unwrap();
        let config: Config =
            serde_json::from_value(json!({"kind": "sqlite", "path": folder.join("db"), "synchronous": "OFF"})).unwrap();
        let tables = workload.tables().to_vec();
        let schema = Schema { tables: tables.clone(), steps: workload.steps().to_vec(), statements: vec![], rows };
        (Arc::new(Store::new(&config, &[], schema, 1_000_000_000).unwrap()), tables)
    }

    #[test]
    fn sessions_share_all_keys_without_a_gap() {
        let folder = std::env::temp_dir().join(format!("dbdyno-parts-{}", std::process::id()));
        let (store, tables) = sqlite(&folder, 10);
        let records = Arc::new(Records::new(Box::new(Written::default())));
        let job = Job { store: &store, records: &records, tables: &tables, rows: 10, sessions: 3, is_new: true };
        let keys: Vec<_> = (0..3).map(|i| job.parts(i, 3, &[Known::Empty])[0].keys.clone()).collect();
        assert_eq!(keys, [1..4, 4..7, 7..11]);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn only_what_is_not_there_is_loaded() {
        let folder = std::env::temp_dir().join(format!("dbdyno-resume-{}", std::process::id()));
        let (store, tables) = sqlite(&folder, 50_000);
        with_session(&store, async |session| {
            session.prepare("dbdyno:").await?;
            session.load(0, 1..7).await?;
            session.load(0, 30_000..30_050).await
        })
        .unwrap();
        let written = Written::default();
        let records = Arc::new(Records::new(Box::new(written.clone())));
        let job = |is_new| Job { store: &store, records: &records, tables: &tables, rows: 50_000, sessions: 4, is_new };
        let loaded = load(&job(false)).unwrap();
        assert_eq!((loaded.added, loaded.present, loaded.sessions), (50_000 - 56, 56, 1));
        assert_eq!(with_session(&store, async |session| session.count(0).await), Ok(Some(50_000)));
        let again = load(&job(false)).unwrap();
        assert_eq!((again.added, again.present), (0, 50_000));
        let Err(Trouble::Failed(Failure::Server(message))) = load(&job(true)).map(drop) else { panic!() };
        assert!(message.contains("UNIQUE"), "{message}");
        assert!(written.records().iter().any(|r| r["phase"] == "index"));
        std::fs::remove_dir_all(folder).unwrap();
    }
}
