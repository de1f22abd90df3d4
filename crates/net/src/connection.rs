//! A stream socket with its receive buffer.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SocketAddrUnix, SocketFlags, SocketType, sockopt};

use crate::kernel::Interest;
use crate::reactor::TICK_NS;
use crate::session::Session;
use crate::{Address, Encryption, Reactor, now_ns, source};

const FIRST_BUFFER_SIZE_BYTES: usize = 4096;
/// No single answer of any operation comes near this; a length beyond it is garbage that must not exhaust memory.
const MAX_BUFFER_SIZE_BYTES: usize = 64 << 20;
/// Nor do the answers of all connections together, beside those that [`expect_answers`] expects; a hostile server sends one to each of them.
const MAX_ALL_BUFFERS_SIZE_BYTES: usize = 48 << 20;
/// The expected size of all connections' buffers, and the actual one.
static EXPECTED_SIZE_BYTES: AtomicUsize = AtomicUsize::new(0);
static ALL_BUFFERS_SIZE_BYTES: AtomicUsize = AtomicUsize::new(0);
/// After this a Unix socket that was full is tried again.
const FULL_AGAIN_AFTER_NS: u64 = 1_000_000;
/// The kernel may end a sleep in a receive this much early.
const LONGEST_JIFFY_NS: u64 = 10_000_000;

/// Says how much the answers may be that all connections hold at once, as far as operations are known; none is longer than 64 MiB.
pub fn expect_answers(connections: usize, answer_size_bytes: usize) {
    let each = answer_size_bytes.saturating_mul(2).min(2 * MAX_BUFFER_SIZE_BYTES);
    EXPECTED_SIZE_BYTES.store(each.saturating_mul(connections), Ordering::Relaxed);
}

/// A connected stream socket. Bytes are read into one buffer and parsed there; what was parsed stays valid until [`Connection::discard`].
pub struct Connection {
    fd: OwnedFd,
    slot: usize,
    reactor: Rc<Reactor>,
    buffer: Vec<u8>,
    /// The bytes of its buffer, as they count among those of all.
    counted_size_bytes: usize,
    start: usize,
    timeout_ns: u64,
    /// The TLS session between the socket's bytes and the buffer's, if they are encrypted.
    tls: Option<Box<Session>>,
}

impl Connection {
    /// Connects; `resolved` is what [`Address::resolve`] gave. Every wait on this connection lasts at most `timeout_ns`.
    ///
    /// # Errors
    /// As connect(2) has them, `TimedOut` after `timeout_ns`.
    pub async fn connect(
        reactor: &Rc<Reactor>,
        address: &Address,
        resolved: Option<SocketAddr>,
        timeout_ns: u64,
    ) -> io::Result<Self> {
        let family = match resolved {
            None => AddressFamily::UNIX,
            Some(SocketAddr::V4(_)) => AddressFamily::INET,
            Some(SocketAddr::V6(_)) => AddressFamily::INET6,
        };
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let fd = rustix::net::socket_with(family, SocketType::STREAM, flags, None)?;
        let started = match (address, resolved) {
            (Address::Unix(path), _) => connect_unix(reactor, &fd, &SocketAddrUnix::new(path)?, timeout_ns).await,
            (_, Some(to)) => {
                sockopt::set_tcp_nodelay(&fd, true)?;
                source::bind(&fd, &to)?;
                rustix::net::connect(&fd, &to)
            }
            (Address::Tcp { .. }, None) => Err(Errno::DESTADDRREQ),
        };
        match started {
            Ok(()) | Err(Errno::INPROGRESS) => {}
            Err(error) => return Err(error.into()),
        }
        let mut connection = Self::of(fd, reactor, timeout_ns, Interest::Room)?;
        connection.writable().await?;
        sockopt::socket_error(&connection.fd)??;
        connection.reactor.watch(connection.slot, &connection.fd, Interest::Bytes)?;
        connection.allow_sleep()?;
        Ok(connection)
    }

    /// Lets a receive that does not forbid it sleep, for at most [`Connection::sleep_ns`].
    fn allow_sleep(&self) -> io::Result<()> {
        rustix::io::ioctl_fionbio(&self.fd, false)?;
        let most = Duration::from_nanos(self.sleep_ns().max(1000));
        Ok(sockopt::set_socket_timeout(&self.fd, sockopt::Timeout::Recv, Some(most))?)
    }

    fn sleep_ns(&self) -> u64 {
        self.timeout_ns.min(TICK_NS)
    }

    fn of(fd: OwnedFd, reactor: &Rc<Reactor>, timeout_ns: u64, interest: Interest) -> io::Result<Self> {
        let slot = reactor.register(&fd, interest)?;
        let buffer = Vec::with_capacity(FIRST_BUFFER_SIZE_BYTES);
        let reactor = Rc::clone(reactor);
        Ok(Self { fd, slot, reactor, buffer, counted_size_bytes: 0, start: 0, timeout_ns, tls: None })
    }

    /// Takes a connection that a listener accepted, for the calling task.
    ///
    /// # Errors
    /// The event loop has no room for it.
    pub fn accepted(fd: OwnedFd, reactor: &Rc<Reactor>, timeout_ns: u64) -> io::Result<Self> {
        Self::of(fd, reactor, timeout_ns, Interest::Bytes)
    }

    /// The beginning of `buffer` is fetched into the processor's caches before its task is polled. Nothing is read there, so the buffer may
    /// move or go.
    pub fn keep_near(&self, buffer: &[u8]) {
        self.reactor.keep_near(self.slot, buffer.as_ptr() as usize);
    }

    /// Every wait lasts at most this long from now on.
    pub fn wait_at_most(&mut self, timeout_ns: u64) {
        self.timeout_ns = timeout_ns;
    }

    /// Encrypts all that is sent and received from now on.
    ///
    /// # Errors
    /// `InvalidData` in words for the user when the server is not to be trusted; the connection was lost, or `TimedOut`.
    pub async fn encrypt(&mut self, encryption: &Encryption) -> io::Result<()> {
        if !self.unread().is_empty() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the server sent bytes before the encryption began",
            ));
        }
        let session = Session::new(encryption)?;
        self.tls = Some(Box::new(session));
        self.open()?;
        self.send_sealed().await?;
        // Each piece in time is not enough: one byte now and then would keep it for ever.
        let until_ns = now_ns() + self.timeout_ns;
        while self.tls.as_ref().is_some_and(|tls| tls.is_handshaking()) {
            if now_ns() > until_ns {
                return Err(io::ErrorKind::TimedOut.into());
            }
            self.fill().await?;
            self.send_sealed().await?;
        }
        Ok(())
    }

    /// Sends all of `bytes`.
    ///
    /// # Errors
    /// The connection was lost, or `TimedOut`.
    #[inline]
    pub async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.tls {
            None => self.send_as_it_is(bytes).await,
            Some(tls) => {
                tls.seal(bytes)?;
                self.send_sealed().await
            }
        }
    }

    async fn send_sealed(&mut self) -> io::Result<()> {
        let Some(outgoing) = self.tls.as_mut().map(|tls| tls.take_outgoing()) else { return Ok(()) };
        if !outgoing.bytes().is_empty() {
            self.send_as_it_is(outgoing.bytes()).await?;
        }
        if let Some(tls) = &mut self.tls {
            tls.give_back(outgoing);
        }
        Ok(())
    }

    #[inline]
    async fn send_as_it_is(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut sent = 0;
        loop {
            match self.reactor.send(self.slot, self.fd.as_fd(), &bytes[sent..]) {
                Ok(n) => sent += n,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => self.wait_for_room().await?,
                Err(error) => return Err(error.into()),
            }
            if sent == bytes.len() {
                return Ok(());
            }
        }
    }

    #[cold]
    async fn wait_for_room(&mut self) -> io::Result<()> {
        self.reactor.not_writable(self.slot);
        self.reactor.watch(self.slot, &self.fd, Interest::Room)?;
        self.writable().await?;
        self.reactor.watch(self.slot, &self.fd, Interest::Bytes)
    }

    async fn writable(&mut self) -> io::Result<()> {
        self.reactor.wait(self.slot, self.timeout_ns);
        std::future::poll_fn(|_| {
            if self.reactor.is_writable(self.slot) {
                self.reactor.waits_no_more(self.slot);
                return Poll::Ready(Ok(()));
            }
            self.late_or_pending()
        })
        .await
    }

    /// Waits for more bytes than [`Connection::unread`] has. The only task of a loop waits in the receive itself: that is one system
    /// call less than to wait for events first, and wakes up sooner.
    ///
    /// # Errors
    /// `UnexpectedEof` when the server closed the connection, `TimedOut`, or the connection was lost.
    #[inline]
    pub async fn fill(&mut self) -> io::Result<()> {
        self.make_room()?;
        let mut waiting = false;
        std::future::poll_fn(|_| {
            if self.reactor.is_readable(self.slot)
                && let Some(result) = self.read(RecvFlags::DONTWAIT)
            {
                if waiting {
                    self.reactor.waits_no_more(self.slot);
                }
                return Poll::Ready(result);
            }
            if !waiting {
                let mut timeout_ns = self.timeout_ns;
                if self.reactor.is_alone() {
                    if let Some(result) = self.read(RecvFlags::empty()) {
                        return Poll::Ready(result);
                    }
                    self.reactor.overslept();
                    timeout_ns = timeout_ns - self.sleep_ns() + LONGEST_JIFFY_NS;
                }
                waiting = true;
                self.reactor.wait(self.slot, timeout_ns);
            }
            self.late_or_pending()
        })
        .await
    }

    /// Lets other tasks run, then takes what has come meanwhile, without waiting for any.
    ///
    /// # Errors
    /// The connection was lost.
    pub async fn take_arrived(&mut self) -> io::Result<()> {
        self.reactor.yield_to_others().await;
        self.make_room()?;
        if self.reactor.is_readable(self.slot) { self.read(RecvFlags::DONTWAIT).unwrap_or(Ok(())) } else { Ok(()) }
    }

    #[inline]
    fn late_or_pending(&self) -> Poll<io::Result<()>> {
        if self.reactor.is_late(self.slot) {
            self.reactor.waits_no_more(self.slot);
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        Poll::Pending
    }

    /// Reads once; `None` if there was nothing.
    #[inline]
    fn read(&mut self, flags: RecvFlags) -> Option<io::Result<()>> {
        if self.tls.is_some() {
            return self.read_sealed(flags);
        }
        match self.reactor.receive(self.slot, self.fd.as_fd(), &mut self.buffer, flags) {
            Ok(0) => Some(Err(io::ErrorKind::UnexpectedEof.into())),
            Ok(_) => Some(Ok(())),
            Err(Errno::AGAIN | Errno::INTR) => None,
            Err(error) => Some(Err(error.into())),
        }
    }

    /// Reads until a record is whole; `None` if there is none yet. It may sleep once: what is left of its time is not known then.
    fn read_sealed(&mut self, mut flags: RecvFlags) -> Option<io::Result<()>> {
        loop {
            let incoming = self.tls.as_mut()?.make_room();
            match self.reactor.receive(self.slot, self.fd.as_fd(), incoming, flags) {
                Ok(0) => return Some(Err(io::ErrorKind::UnexpectedEof.into())),
                Ok(_) => match self.open() {
                    Ok(false) => {}
                    Ok(true) => return Some(Ok(())),
                    Err(error) => return Some(Err(error)),
                },
                Err(Errno::AGAIN | Errno::INTR) => return None,
                Err(error) => return Some(Err(error.into())),
            }
            flags = RecvFlags::DONTWAIT;
        }
    }

    /// Decrypts what came into the buffer; whether somebody waits for that.
    fn open(&mut self) -> io::Result<bool> {
        let Some(tls) = &mut self.tls else { return Ok(false) };
        if self.buffer.len() + tls.incoming.len() > self.buffer.capacity() {
            self.buffer.drain(..self.start);
            self.start = 0;
            if self.buffer.len() >= MAX_BUFFER_SIZE_BYTES {
                return Err(too_long());
            }
        }
        let (was_handshaking, before) = (tls.is_handshaking(), self.buffer.len());
        tls.open(&mut self.buffer)?;
        Ok(was_handshaking || self.buffer.len() > before)
    }

    /// Unread bytes begin the buffer, and at least as many again fit behind them.
    #[inline]
    fn make_room(&mut self) -> io::Result<()> {
        if self.buffer.len() < self.buffer.capacity() {
            return Ok(());
        }
        self.buffer.drain(..self.start);
        self.start = 0;
        if self.buffer.len() * 2 > self.buffer.capacity() {
            if self.buffer.capacity() >= MAX_BUFFER_SIZE_BYTES {
                return Err(too_long());
            }
            self.grow()?;
        }
        Ok(())
    }

    #[cold]
    fn grow(&mut self) -> io::Result<()> {
        self.count();
        let before = self.buffer.capacity();
        let all = ALL_BUFFERS_SIZE_BYTES.load(Ordering::Relaxed) + before;
        if all > MAX_ALL_BUFFERS_SIZE_BYTES + EXPECTED_SIZE_BYTES.load(Ordering::Relaxed) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the server sent more bytes than any request expects",
            ));
        }
        self.buffer.reserve_exact(before.max(FIRST_BUFFER_SIZE_BYTES));
        self.count();
        Ok(())
    }

    /// Enters its buffer, which only grows, among those of all.
    fn count(&mut self) {
        let more = self.buffer.capacity() - self.counted_size_bytes;
        ALL_BUFFERS_SIZE_BYTES.fetch_add(more, Ordering::Relaxed);
        self.counted_size_bytes += more;
    }

    /// The bytes received and not yet discarded.
    #[inline]
    pub fn unread(&self) -> &[u8] {
        &self.buffer[self.start..]
    }

    /// Forgets the first `n` unread bytes; what was parsed from them is no longer valid.
    #[inline]
    pub fn discard(&mut self, n: usize) {
        self.start = (self.start + n).min(self.buffer.len());
        if self.start == self.buffer.len() {
            self.start = 0;
            self.buffer.clear();
        }
    }
}

/// Connects to a Unix socket. One whose server has as many connections waiting as it takes refuses at once, and tells nobody when it has
/// room; by TCP the kernel would try again.
async fn connect_unix(reactor: &Reactor, fd: &OwnedFd, to: &SocketAddrUnix, timeout_ns: u64) -> Result<(), Errno> {
    let until_ns = now_ns() + timeout_ns;
    loop {
        match rustix::net::connect(fd, to) {
            Err(Errno::AGAIN) if now_ns() < until_ns => reactor.sleep_until(now_ns() + FULL_AGAIN_AFTER_NS).await,
            Err(Errno::AGAIN) => return Err(Errno::TIMEDOUT),
            done => return done,
        }
    }
}

#[cold]
fn too_long() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "an answer longer than 64 MiB")
}

impl Drop for Connection {
    fn drop(&mut self) {
        ALL_BUFFERS_SIZE_BYTES.fetch_sub(self.counted_size_bytes, Ordering::Relaxed);
        self.reactor.release(self.slot, &self.fd);
    }
}
