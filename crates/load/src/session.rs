//! Sessions outside the run phase: a thread's own event loop and what is done in it.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use dbdyno_model::Failure;
use dbdyno_net::{Reactor, Task, block_on};
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

/// Does `work` to its end on this thread, with an event loop of its own where the store needs one.
///
/// # Errors
/// There is no event loop, or as `work` has them.
pub fn drive<T: 'static>(
    store: &Store,
    work: impl AsyncFnOnce(Option<Rc<Reactor>>) -> Result<T, Trouble> + 'static,
) -> Result<T, Trouble> {
    if store.is_embedded() {
        return block_on(work(None));
    }
    let reactor = Reactor::new().map_err(broken)?;
    let result = Rc::new(RefCell::new(None));
    let (slot, future) = (Rc::clone(&result), work(Some(Rc::clone(&reactor))));
    let task: Task = Box::pin(async move { *slot.borrow_mut() = Some(future.await) });
    reactor.run(vec![Some(task)], |_| true).map_err(broken)?;
    let done = result.borrow_mut().take();
    done.unwrap_or_else(|| Err(broken("the task did not end")))
}

fn broken(error: impl std::fmt::Display) -> Trouble {
    Trouble::Failed(Failure::Connect(format!("the event loop failed: {error}")))
}
