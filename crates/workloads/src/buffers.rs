//! Buffers that the transactions of a thread lend each other, so that none is allocated for an operation.

use std::cell::RefCell;

use dbdyno_model::RowBuffer;

thread_local! {
    /// Buffers that no transaction of this thread has now: as many as had one at once.
    static BUFFERS: RefCell<Vec<RowBuffer>> = const { RefCell::new(Vec::new()) };
}

/// An empty buffer, until it is given back.
pub fn lent() -> RowBuffer {
    let mut buffer = BUFFERS.with_borrow_mut(Vec::pop).unwrap_or_default();
    buffer.clear();
    buffer
}

pub fn give_back(buffer: RowBuffer) {
    BUFFERS.with_borrow_mut(|buffers| buffers.push(buffer));
}
