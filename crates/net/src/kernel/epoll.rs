//! epoll, edge-triggered: an answer costs one `recv`, a request one `send`, and one `epoll_wait` serves all that became ready together.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};

use super::{Interest, Received, Token};

pub(crate) struct Epoll(OwnedFd);

impl Epoll {
    /// Fails before any socket is opened if waiting is impossible: kernels before 5.11, old sandboxes and QEMU lack the system call.
    pub fn new() -> io::Result<Self> {
        let mut epoll = Self(epoll::create(epoll::CreateFlags::CLOEXEC)?);
        epoll.wait(&mut Vec::with_capacity(1), Duration::ZERO).map_err(|error| {
            let missing =
                "this kernel lacks epoll_pwait2 or forbids it; load over the network needs Linux 5.11 or newer";
            io::Error::new(error.kind(), missing)
        })?;
        Ok(epoll)
    }

    pub fn add(&mut self, fd: BorrowedFd<'_>, token: Token, interest: Interest) -> io::Result<()> {
        Ok(epoll::add(&self.0, fd, token.event_data(), flags(interest))?)
    }

    pub fn watch(&mut self, fd: BorrowedFd<'_>, token: Token, interest: Interest) -> io::Result<()> {
        Ok(epoll::modify(&self.0, fd, token.event_data(), flags(interest))?)
    }

    pub fn wait(&mut self, events: &mut Vec<epoll::Event>, at_most: Duration) -> io::Result<()> {
        let timeout = Timespec { tv_sec: at_most.as_secs() as i64, tv_nsec: at_most.subsec_nanos().into() };
        match epoll::wait(&self.0, spare_capacity(events), Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    #[inline]
    pub fn send(&mut self, fd: BorrowedFd<'_>, _: Token, bytes: &[u8]) -> Result<usize, Errno> {
        rustix::net::send(fd, bytes, SendFlags::NOSIGNAL | SendFlags::DONTWAIT)
    }

    /// A short read has emptied the socket (epoll(7), edge-triggered), so no second call is needed to hear so.
    #[inline]
    pub fn receive(fd: BorrowedFd<'_>, buffer: &mut Vec<u8>, flags: RecvFlags) -> Result<Received, Errno> {
        let room = buffer.capacity() - buffer.len();
        let (bytes, _) = rustix::net::recv(fd, spare_capacity(buffer), flags)?;
        Ok(Received { bytes, is_drained: bytes < room })
    }
}

impl Token {
    fn event_data(self) -> epoll::EventData {
        epoll::EventData::new_u64(u64::from(self.generation) << 32 | self.slot as u64)
    }

    pub fn of(event: &epoll::Event) -> Self {
        Self { slot: event.data.u64() as u32 as usize, generation: (event.data.u64() >> 32) as u32 }
    }
}

/// Writability is requested only if a task waits for it: a Unix socket would report it after every message its peer reads.
fn flags(interest: Interest) -> epoll::EventFlags {
    let flags = epoll::EventFlags::IN | epoll::EventFlags::RDHUP | epoll::EventFlags::ET;
    if interest == Interest::Room { flags | epoll::EventFlags::OUT } else { flags }
}
