//! The event loop's requests to the kernel, by epoll or by io_uring: the seam behind which they are exchanged.

mod buffers;
mod epoll;
mod uring;

use std::fmt;
use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use rustix::event::epoll::Event;
use rustix::io::Errno;
use rustix::net::RecvFlags;

pub(crate) use self::epoll::Epoll;
pub(crate) use self::uring::Uring;

/// By which of its interfaces the kernel is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    Epoll,
    IoUring,
}

impl Engine {
    /// # Errors
    /// The kernel is too old (epoll: Linux 5.11; io_uring: 6.1), or forbids it to this process, as containers and distributions may.
    pub fn check(self) -> io::Result<()> {
        Kernel::new(self).map(drop)
    }

    pub fn is_available(self) -> bool {
        self.check().is_ok()
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Engine::Epoll => "epoll",
            Engine::IoUring => "io_uring",
        })
    }
}

/// The event that a task waits for on a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interest {
    /// Connections to be accepted.
    Connections,
    /// Room for bytes to be sent, or the end of connecting.
    Room,
    /// Bytes that arrive.
    Bytes,
}

/// A socket to the kernel's interface: its slot, and which of the connections that have had this slot it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub slot: usize,
    pub generation: u32,
}

impl Token {
    pub const LAST_GENERATION: u32 = u32::MAX >> 2;
}

/// The result of receiving into a buffer.
pub(crate) struct Received {
    /// 0 if the peer has closed the connection.
    pub bytes: usize,
    /// True if nothing is left to be received now.
    pub is_drained: bool,
}

pub(crate) enum Kernel {
    Epoll(Epoll),
    Uring(Box<Uring>),
}

/// Calls the method of whichever it is.
macro_rules! either {
    ($self:expr, $kernel:ident => $call:expr) => {
        match $self {
            Kernel::Epoll($kernel) => $call,
            Kernel::Uring($kernel) => $call,
        }
    };
}

impl Kernel {
    pub fn new(engine: Engine) -> io::Result<Self> {
        Ok(match engine {
            Engine::Epoll => Kernel::Epoll(Epoll::new()?),
            Engine::IoUring => Kernel::Uring(Box::new(Uring::new()?)),
        })
    }

    /// Begins to watch a new socket.
    pub fn add(&mut self, fd: BorrowedFd<'_>, token: Token, interest: Interest) -> io::Result<()> {
        either!(self, kernel => kernel.add(fd, token, interest))
    }

    /// Watches for something else, or for the same once more.
    pub fn watch(&mut self, fd: BorrowedFd<'_>, token: Token, interest: Interest) -> io::Result<()> {
        either!(self, kernel => kernel.watch(fd, token, interest))
    }

    /// The socket is about to be closed.
    pub fn remove(&mut self, fd: BorrowedFd<'_>, token: Token) {
        if let Kernel::Uring(kernel) = self {
            kernel.remove(fd, token);
        }
    }

    /// Waits for events for at most so long.
    pub fn wait(&mut self, events: &mut Vec<Event>, at_most: Duration) -> io::Result<()> {
        either!(self, kernel => kernel.wait(events, at_most))
    }

    /// Takes bytes to be sent and says how many; `AGAIN` if there is no room.
    #[inline]
    pub fn send(&mut self, fd: BorrowedFd<'_>, token: Token, bytes: &[u8]) -> Result<usize, Errno> {
        either!(self, kernel => kernel.send(fd, token, bytes))
    }

    /// Appends what has arrived to the buffer, which has room; `AGAIN` if nothing has.
    #[inline]
    pub fn receive(
        &mut self,
        fd: BorrowedFd<'_>,
        token: Token,
        buffer: &mut Vec<u8>,
        flags: RecvFlags,
    ) -> Result<Received, Errno> {
        match self {
            Kernel::Epoll(_) => Epoll::receive(fd, buffer, flags),
            Kernel::Uring(kernel) => kernel.receive(token, buffer),
        }
    }
}
