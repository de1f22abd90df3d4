//! The event loop: sockets, timers and tasks, and nothing of any protocol or store.
//!
//! One [`Reactor`] per thread. A task is one boxed future for a client's whole life, so that nothing is allocated per operation. Readiness is
//! edge-triggered: an answer costs one `read`, a request one `write`, and `epoll_wait` is shared by all that became ready together.

mod address;
mod clock;
mod connection;
mod listener;
mod reactor;

pub use address::Address;
pub use clock::{now_ns, unix_now_s};
pub use connection::Connection;
pub use listener::Listener;
pub use reactor::{Reactor, Task, block_on};
