//! The event loop: sockets, timers and tasks, and nothing of any protocol or store.
//!
//! One [`Reactor`] per thread. A task is one boxed future for a client's whole life, so that nothing is allocated per operation. `kernel`
//! asks the kernel by epoll or by io_uring; outside of it only the cost differs.

mod address;
mod clock;
mod connection;
mod encryption;
mod kernel;
mod listener;
mod reactor;
mod session;
mod source;

pub use address::Address;
pub use clock::{now_ns, unix_now_s};
pub use connection::{Connection, expect_answers};
pub use encryption::{Encryption, Verify};
pub use kernel::Engine;
pub use listener::Listener;
pub use reactor::{Reactor, Task, block_on};
pub use source::connect_from;
