//! A listening socket.

use std::future::poll_fn;
use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::task::Poll;

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, acceptfrom_with, sockopt};

use crate::kernel::Interest;
use crate::{Address, Reactor};

/// Connections the kernel keeps for us until they are accepted; it takes its own limit if that is lower.
const BACKLOG: i32 = 4096;

/// Listens, and accepts for the task that made it.
pub struct Listener {
    fd: OwnedFd,
    slot: usize,
    reactor: Rc<Reactor>,
}

impl Listener {
    /// Listens on the address; port 0 lets the system choose.
    ///
    /// # Errors
    /// As socket(2), bind(2) and listen(2) have them.
    pub fn bind(reactor: &Rc<Reactor>, address: &Address) -> io::Result<Self> {
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let fd = match (address, address.resolve()?) {
            (Address::Unix(path), _) => {
                let fd = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
                rustix::net::bind(&fd, &SocketAddrUnix::new(path)?)?;
                fd
            }
            (Address::Tcp { .. }, Some(at)) => {
                let family = if at.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
                let fd = rustix::net::socket_with(family, SocketType::STREAM, flags, None)?;
                sockopt::set_socket_reuseaddr(&fd, true)?;
                rustix::net::bind(&fd, &at)?;
                fd
            }
            (Address::Tcp { .. }, None) => return Err(io::ErrorKind::AddrNotAvailable.into()),
        };
        rustix::net::listen(&fd, BACKLOG)?;
        let slot = reactor.register(&fd, Interest::Connections)?;
        Ok(Self { fd, slot, reactor: Rc::clone(reactor) })
    }

    /// The TCP port.
    ///
    /// # Errors
    /// It is a Unix socket.
    pub fn port(&self) -> io::Result<u16> {
        let address = rustix::net::getsockname(&self.fd)?;
        Ok(std::net::SocketAddr::try_from(address)?.port())
    }

    /// The next connection.
    ///
    /// # Errors
    /// As accept(2) has them.
    pub async fn accept(&self) -> io::Result<OwnedFd> {
        poll_fn(|_| {
            loop {
                match acceptfrom_with(&self.fd, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
                    Ok((fd, _)) => {
                        // A Unix socket has no such option, and no delay.
                        let _ = sockopt::set_tcp_nodelay(&fd, true);
                        return Poll::Ready(Ok(fd));
                    }
                    Err(Errno::AGAIN) => {
                        self.reactor.drained(self.slot);
                        let watched = self.reactor.watch(self.slot, &self.fd, Interest::Connections);
                        return watched.map_or_else(|error| Poll::Ready(Err(error)), |()| Poll::Pending);
                    }
                    Err(Errno::INTR | Errno::CONNABORTED) => {}
                    Err(error) => return Poll::Ready(Err(error.into())),
                }
            }
        })
        .await
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.reactor.release(self.slot, &self.fd);
    }
}
