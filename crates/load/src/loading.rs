//! Sessions outside the run phase: one for an administrative task, several for loading.

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use dbdyno_net::{Reactor, Task, block_on, now_ns};
use dbdyno_stores::{Administration, AnySession, Store, Trouble};

use crate::records::Records;
use crate::signals;

/// Sessions that load a network store side by side.
const NETWORK_LOADERS: usize = 4;
/// Rows a session loads between two looks at the progress; an embedded store commits them together.
const NETWORK_CHUNK: u64 = 2_000;
const EMBEDDED_CHUNK: u64 = 20_000;
const PROGRESS_NS: u64 = 250_000_000;

/// Opens a session and does `work` with it.
///
/// # Errors
/// The session could not be opened, or as `work` has them.
pub fn with_session<T: 'static>(
    store: &Arc<Store>,
    work: impl AsyncFnOnce(&mut AnySession) -> Result<T, Trouble> + 'static,
) -> Result<T, Trouble> {
    let body = |store: Arc<Store>, reactor: Option<Rc<Reactor>>| async move {
        let mut session = store.open(reactor.as_ref()).await?;
        work(&mut session).await
    };
    if store.is_embedded() {
        return block_on(body(Arc::clone(store), None));
    }
    let reactor = new_reactor()?;
    let result = Rc::new(RefCell::new(None));
    let (slot, future) = (Rc::clone(&result), body(Arc::clone(store), Some(Rc::clone(&reactor))));
    let task: Task = Box::pin(async move { *slot.borrow_mut() = Some(future.await) });
    reactor.run(vec![Some(task)], |_| true).map_err(broken)?;
    let done = result.borrow_mut().take();
    done.unwrap_or_else(|| Err(broken("the task did not end")))
}

fn new_reactor() -> Result<Rc<Reactor>, Trouble> {
    Reactor::new().map_err(broken)
}

fn broken(error: impl std::fmt::Display) -> Trouble {
    Trouble::Failed(dbdyno_model::Failure::Connect(format!("the event loop failed: {error}")))
}

/// What is left to load, handed out in chunks.
struct Work {
    store: Arc<Store>,
    records: Arc<Records>,
    tables: usize,
    rows: u64,
    chunk: u64,
    next: Cell<u64>,
    done: Cell<u64>,
    shown_ns: Cell<u64>,
    trouble: RefCell<Option<Trouble>>,
}

impl Work {
    fn take(&self) -> Option<(usize, Range<u64>)> {
        let chunks = self.rows.div_ceil(self.chunk);
        let i = self.next.replace(self.next.get() + 1);
        let (table, first) = ((i / chunks) as usize, 1 + (i % chunks) * self.chunk);
        (table < self.tables).then(|| (table, first..(first + self.chunk).min(self.rows + 1)))
    }

    fn is_over(&self) -> bool {
        signals::stop_requested() || self.trouble.borrow().is_some()
    }

    async fn load_chunks(&self, reactor: Option<&Rc<Reactor>>) -> Result<(), Trouble> {
        let mut session = self.store.open(reactor).await?;
        while !self.is_over() {
            let Some((table, keys)) = self.take() else { break };
            let rows = keys.end - keys.start;
            session.load(table, keys).await?;
            self.done.set(self.done.get() + rows);
            self.show();
        }
        Ok(())
    }

    fn show(&self) {
        let now = now_ns();
        if now - self.shown_ns.get() >= PROGRESS_NS {
            self.shown_ns.set(now);
            self.records.progress("load", self.done.get(), self.rows * self.tables as u64, "rows");
        }
    }
}

/// Loads all rows of all tables and returns how many that were.
///
/// # Errors
/// As the store has them. A stop by signal is no error: fewer rows are returned.
pub fn load(store: &Arc<Store>, records: &Arc<Records>, tables: usize, rows: u64) -> Result<u64, Trouble> {
    let chunk = if store.is_embedded() { EMBEDDED_CHUNK } else { NETWORK_CHUNK };
    let work = Rc::new(Work {
        store: Arc::clone(store),
        records: Arc::clone(records),
        tables,
        rows,
        chunk,
        next: Cell::new(0),
        done: Cell::new(0),
        shown_ns: Cell::new(now_ns()),
        trouble: RefCell::new(None),
    });
    if store.is_embedded() {
        block_on(work.load_chunks(None))?;
    } else {
        let reactor = new_reactor()?;
        let loader = |_| {
            let (work, reactor) = (Rc::clone(&work), Rc::clone(&reactor));
            Some(Box::pin(async move {
                if let Err(trouble) = work.load_chunks(Some(&reactor)).await {
                    work.trouble.borrow_mut().get_or_insert(trouble);
                }
            }) as Task)
        };
        reactor.run((0..NETWORK_LOADERS).map(loader).collect(), |_| true).map_err(broken)?;
    }
    match work.trouble.borrow_mut().take() {
        Some(trouble) => Err(trouble),
        None => Ok(work.done.get()),
    }
}
