//! The addresses of this host from which connections begin, in turn: each has its own ports for one server.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::io::Errno;

static SOURCES: OnceLock<Vec<IpAddr>> = OnceLock::new();
/// How many connections were given an address.
static BOUND: AtomicUsize = AtomicUsize::new(0);

/// Lets connections by TCP begin from these addresses, in turn; a later call changes nothing. A server of the other family is reached from
/// the address that the kernel chooses.
pub fn connect_from(addresses: &[IpAddr]) {
    SOURCES.get_or_init(|| addresses.to_vec());
}

/// Gives a socket the next address of the family of `to`. Its port is chosen when it connects: only then does the kernel know that the
/// same port may serve another server (ip(7), `IP_BIND_ADDRESS_NO_PORT`).
///
/// # Errors
/// An address is not one of this host.
pub fn bind(fd: &OwnedFd, to: &SocketAddr) -> io::Result<()> {
    let sources = SOURCES.get().map_or(&[][..], Vec::as_slice);
    let usable = || sources.iter().filter(|address| address.is_ipv4() == to.is_ipv4());
    let count = usable().count();
    if count == 0 {
        return Ok(());
    }
    let next = usable().nth(BOUND.fetch_add(1, Ordering::Relaxed) % count).expect("there are as many");
    choose_port_later(fd)?;
    let named = |error: Errno| io::Error::new(io::Error::from(error).kind(), format!("from {next}: {error}"));
    rustix::net::bind(fd, &SocketAddr::new(*next, 0)).map_err(named)
}

fn choose_port_later(fd: &OwnedFd) -> io::Result<()> {
    let yes: libc::c_int = 1;
    let size_bytes = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: the kernel reads one `c_int`, which outlives the call.
    let status = unsafe {
        libc::setsockopt(
            fd.as_raw_fd(),
            libc::IPPROTO_IP,
            libc::IP_BIND_ADDRESS_NO_PORT,
            (&raw const yes).cast(),
            size_bytes,
        )
    };
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
