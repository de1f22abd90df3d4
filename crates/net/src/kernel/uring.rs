//! io_uring: one system call sends the requests of many clients and waits for what has arrived meanwhile.
//!
//! The kernel only ever sees memory that the ring owns, so nothing is wrong with a future that is dropped. Received bytes lie in buffers
//! provided to the kernel and are copied from there at once. Requests are copied to the outbox and sent without waiting (`DONTWAIT`), so they
//! have left it, or were refused, when the call that submits them returns.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::time::Duration;

use io_uring::types::{Fd, SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, opcode, squeue};
use rustix::event::PollFlags;
use rustix::event::epoll::{Event, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{SendFlags, Shutdown};

use super::buffers::{Buffers, GROUP};
use super::{Interest, Received, Token};

const SUBMISSIONS: u32 = 256;
const COMPLETIONS: u32 = 4096;
/// Requests submitted together: those of a quarter of the connections, within these bounds. Each waits until the answers of those behind it
/// have been handled, a microsecond each at most; more of them save no more (docs/engine.md).
const LEAST_BATCH: usize = 16;
const MOST_BATCH: usize = 64;
const CONNECTIONS_A_REQUEST: usize = 4;
/// A longer request is sent at once and by itself.
const MAX_QUEUED_SIZE_BYTES: usize = 4096;
const OUTBOX_SIZE_BYTES: usize = MOST_BATCH * MAX_QUEUED_SIZE_BYTES;
/// The limit of a connection's bytes that nobody has taken. Nothing asked for so many.
const MAX_INBOX_SIZE_BYTES: usize = 64 << 20;

/// The kind of a completion, in two bits of its user data.
const RECEIVE: u64 = 0;
const POLL: u64 = 1 << 30;
const SEND: u64 = 2 << 30;
const KIND: u64 = 3 << 30;

/// A socket as the ring sees it.
struct Stream {
    fd: RawFd,
    generation: u32,
    /// True if a request to the kernel for all that arrives is under way.
    is_receiving: bool,
    inbox: Vec<u8>,
    /// The last batch that it had a request in: a second one must not overtake a first that found no room.
    batch: u64,
    /// The bytes that a send with too little room has left.
    unsent: Vec<u8>,
    end: Option<End>,
}

#[derive(Clone, Copy)]
enum End {
    Closed,
    Lost(Errno),
}

/// A request in the outbox.
struct Queued {
    token: Token,
    begin: usize,
    end: usize,
}

pub(crate) struct Uring {
    ring: IoUring,
    buffers: Buffers,
    streams: Vec<Stream>,
    /// Never grows beyond its capacity, so that it stays where the kernel reads it.
    outbox: Vec<u8>,
    queued: Vec<Queued>,
    events: Vec<Event>,
    /// Those whose receiving the kernel has ended although more may come.
    stopped: Vec<Token>,
    /// Counts the times that requests were submitted.
    batch: u64,
    batch_size: usize,
}

impl Uring {
    pub fn new() -> io::Result<Self> {
        let ring = IoUring::builder()
            .setup_cqsize(COMPLETIONS)
            .setup_submit_all()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_taskrun_flag()
            .build(SUBMISSIONS)?;
        let buffers = Buffers::register(&ring)?;
        let outbox = Vec::with_capacity(OUTBOX_SIZE_BYTES);
        let (streams, queued, events, stopped) = Default::default();
        Ok(Self { ring, buffers, streams, outbox, queued, events, stopped, batch: 1, batch_size: LEAST_BATCH })
    }

    pub fn add(&mut self, fd: BorrowedFd<'_>, token: Token, interest: Interest) -> io::Result<()> {
        let (inbox, unsent) = (Vec::new(), Vec::new());
        let (fd_number, generation) = (fd.as_raw_fd(), token.generation);
        let stream = Stream { fd: fd_number, generation, is_receiving: false, inbox, batch: 0, unsent, end: None };
        if token.slot == self.streams.len() {
            self.streams.push(stream);
            self.batch_size = (self.streams.len() / CONNECTIONS_A_REQUEST).clamp(LEAST_BATCH, MOST_BATCH);
        } else {
            self.streams[token.slot] = stream;
        }
        self.watch(fd, token, interest)
    }

    pub fn watch(&mut self, fd: BorrowedFd<'_>, token: Token, interest: Interest) -> io::Result<()> {
        let fd = Fd(fd.as_raw_fd());
        let poll = |flags: PollFlags| opcode::PollAdd::new(fd, flags.bits().into()).build();
        let (entry, kind) = match interest {
            Interest::Connections => (poll(PollFlags::IN), POLL),
            Interest::Room => (poll(PollFlags::OUT), POLL),
            Interest::Bytes if self.streams[token.slot].is_receiving => return Ok(()),
            Interest::Bytes => (opcode::RecvMulti::new(fd, GROUP).build(), RECEIVE),
        };
        self.streams[token.slot].is_receiving |= interest == Interest::Bytes;
        self.push(&entry.user_data(token.user_data(kind)))
    }

    /// Closing does not end what the ring does with a socket, shutting it down does.
    pub fn remove(&mut self, fd: BorrowedFd<'_>, token: Token) {
        if self.streams[token.slot].batch == self.batch {
            // The others learn of a failure here with their next events.
            let _ = self.flush();
        }
        let _ = rustix::net::shutdown(fd, Shutdown::Both);
        self.streams[token.slot].generation = u32::MAX;
    }

    /// Submits what is queued, and waits unless something has happened already.
    pub fn wait(&mut self, events: &mut Vec<Event>, at_most: Duration) -> io::Result<()> {
        let want = usize::from(self.events.is_empty() && !at_most.is_zero());
        self.enter(want, at_most)?;
        self.harvest()?;
        events.append(&mut self.events);
        Ok(())
    }

    #[inline]
    pub fn send(&mut self, fd: BorrowedFd<'_>, token: Token, bytes: &[u8]) -> Result<usize, Errno> {
        if self.streams[token.slot].batch == self.batch || self.queued.len() >= self.batch_size {
            self.flush().map_err(errno)?;
        }
        let stream = &mut self.streams[token.slot];
        match stream.end {
            Some(End::Lost(error)) => return Err(error),
            _ if !stream.unsent.is_empty() => return Err(Errno::AGAIN),
            _ => {}
        }
        if bytes.len() > MAX_QUEUED_SIZE_BYTES {
            return rustix::net::send(fd, bytes, SendFlags::NOSIGNAL | SendFlags::DONTWAIT);
        }
        stream.batch = self.batch;
        let begin = self.outbox.len();
        self.outbox.extend_from_slice(bytes);
        // All or a failure: of a send that was short and no failure nothing would be heard.
        let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
        let entry = opcode::Send::new(Fd(fd.as_raw_fd()), self.outbox[begin..].as_ptr(), bytes.len() as u32)
            .flags(flags.bits() as i32 | MSG_WAITALL)
            .build()
            .flags(squeue::Flags::SKIP_SUCCESS)
            .user_data(SEND | self.queued.len() as u64);
        self.queued.push(Queued { token, begin, end: self.outbox.len() });
        self.push(&entry).map_err(errno)?;
        Ok(bytes.len())
    }

    #[inline]
    pub fn receive(&mut self, token: Token, buffer: &mut Vec<u8>) -> Result<Received, Errno> {
        let stream = &mut self.streams[token.slot];
        let bytes = stream.inbox.len();
        if bytes > 0 && buffer.is_empty() {
            std::mem::swap(buffer, &mut stream.inbox);
        } else if bytes > 0 {
            buffer.append(&mut stream.inbox);
        } else {
            match stream.end {
                None => return Err(Errno::AGAIN),
                Some(End::Lost(error)) => return Err(error),
                Some(End::Closed) => {}
            }
        }
        Ok(Received { bytes, is_drained: true })
    }

    /// Queues an entry that refers to no memory but the outbox.
    #[inline]
    fn push(&mut self, entry: &squeue::Entry) -> io::Result<()> {
        loop {
            // SAFETY: the outbox outlives the ring's use of it, which ends with the call that submits the entry (see above).
            if unsafe { self.ring.submission().push(entry) }.is_ok() {
                return Ok(());
            }
            self.enter(0, Duration::ZERO)?;
        }
    }

    /// Submits everything, and waits for `want` completions for at most so long.
    fn enter(&mut self, want: usize, at_most: Duration) -> io::Result<()> {
        let timeout = Timespec::new().sec(at_most.as_secs()).nsec(at_most.subsec_nanos());
        let arguments = SubmitArgs::new().timespec(&timeout);
        loop {
            match self.ring.submitter().submit_with_args(want, &arguments) {
                Ok(_) => {}
                Err(error) => match error.raw_os_error().map(Errno::from_raw_os_error) {
                    Some(Errno::TIME | Errno::INTR | Errno::AGAIN) => {}
                    _ => return Err(error),
                },
            }
            if self.ring.submission().is_empty() {
                return Ok(());
            }
        }
    }

    /// Submits what is queued, and looks what has become of it.
    fn flush(&mut self) -> io::Result<()> {
        self.enter(0, Duration::ZERO)?;
        self.harvest()
    }

    /// Turns completions into events, and into bytes of inboxes. The requests in the outbox have been submitted.
    fn harvest(&mut self) -> io::Result<()> {
        loop {
            let Some(completion) = self.ring.completion().next() else { break };
            match completion.user_data() & KIND {
                RECEIVE => self.received(&completion),
                POLL => self.polled(&completion),
                _ => self.not_sent(&completion),
            }
        }
        self.buffers.publish();
        self.outbox.clear();
        self.queued.clear();
        self.batch += 1;
        while let Some(token) = self.stopped.pop() {
            if let Some(stream) = self.stream(token) {
                let entry = opcode::RecvMulti::new(Fd(stream.fd), GROUP).build();
                self.push(&entry.user_data(token.user_data(RECEIVE)))?;
            }
        }
        Ok(())
    }

    fn stream(&mut self, token: Token) -> Option<&mut Stream> {
        self.streams.get_mut(token.slot).filter(|stream| stream.generation == token.generation)
    }

    fn happened(&mut self, token: Token, flags: EventFlags) {
        self.events.push(Event { flags, data: EventData::new_u64(token.user_data(0)) });
    }

    #[inline]
    fn received(&mut self, completion: &cqueue::Entry) {
        let (token, result) = (Token::of_user_data(completion.user_data()), completion.result());
        let buffer = cqueue::buffer_select(completion.flags());
        let Self { streams, buffers, .. } = self;
        let stream = streams.get_mut(token.slot).filter(|stream| stream.generation == token.generation);
        let mut is_too_much = false;
        if let (Some(stream), Some(id)) = (stream, buffer) {
            stream.inbox.extend_from_slice(buffers.filled(id, result.max(0) as usize));
            is_too_much = stream.inbox.len() > MAX_INBOX_SIZE_BYTES;
        }
        if let Some(id) = buffer {
            buffers.give_back(id);
        }
        if result > 0 {
            self.happened(token, EventFlags::IN);
        }
        if is_too_much || !cqueue::more(completion.flags()) {
            self.stopped_receiving(token, result);
        }
    }

    #[cold]
    fn stopped_receiving(&mut self, token: Token, result: i32) {
        let Some(stream) = self.stream(token) else { return };
        if stream.inbox.len() > MAX_INBOX_SIZE_BYTES {
            self.ended(token, End::Lost(Errno::NOBUFS));
            self.streams[token.slot].generation = u32::MAX;
            return;
        }
        match failure(result) {
            // After NOBUFS all buffers were full: by now they have been given back.
            Some(Errno::NOBUFS | Errno::INTR | Errno::AGAIN) => self.stopped.push(token),
            Some(error) => self.ended(token, End::Lost(error)),
            None if result == 0 => self.ended(token, End::Closed),
            None => self.stopped.push(token),
        }
    }

    #[cold]
    fn ended(&mut self, token: Token, end: End) {
        let Some(stream) = self.stream(token) else { return };
        // "No more bytes can be sent" says more than "none will come".
        if !matches!(stream.end, Some(End::Lost(_))) {
            stream.end = Some(end);
        }
        stream.unsent.clear();
        self.happened(token, EventFlags::IN | EventFlags::RDHUP);
    }

    #[cold]
    fn polled(&mut self, completion: &cqueue::Entry) {
        let token = Token::of_user_data(completion.user_data());
        let Some(stream) = self.stream(token) else { return };
        if !stream.unsent.is_empty() {
            return self.send_rest(token);
        }
        let ready = PollFlags::from_bits_retain(completion.result().max(0) as u16);
        let mut flags = EventFlags::empty();
        flags.set(EventFlags::IN, ready.contains(PollFlags::IN));
        flags.set(EventFlags::OUT, ready.contains(PollFlags::OUT));
        // On a listener nothing else says that it was closed.
        flags.set(EventFlags::HUP, ready.intersects(PollFlags::HUP | PollFlags::ERR) || completion.result() < 0);
        self.happened(token, flags);
    }

    /// A send that was refused, or short: what is left of it waits for room.
    #[cold]
    fn not_sent(&mut self, completion: &cqueue::Entry) {
        let Queued { token, begin, end } = self.queued[(completion.user_data() & !KIND) as usize];
        match failure(completion.result()) {
            None | Some(Errno::AGAIN) => {}
            Some(error) => return self.ended(token, End::Lost(error)),
        }
        let sent = completion.result().max(0) as usize;
        let rest = self.outbox[begin + sent..end].to_vec();
        let Some(stream) = self.stream(token) else { return };
        stream.unsent.extend(rest);
        self.send_rest(token);
    }

    #[cold]
    fn send_rest(&mut self, token: Token) {
        let Some(stream) = self.stream(token) else { return };
        // SAFETY: a known generation is that of a connection which has not been dropped, and so not closed.
        let fd = unsafe { BorrowedFd::borrow_raw(stream.fd) };
        match rustix::net::send(fd, &stream.unsent, SendFlags::NOSIGNAL | SendFlags::DONTWAIT) {
            Ok(sent) => drop(stream.unsent.drain(..sent)),
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(error) => return self.ended(token, End::Lost(error)),
        }
        if stream.unsent.is_empty() {
            return self.happened(token, EventFlags::OUT);
        }
        if let Err(error) = self.watch(fd, token, Interest::Room) {
            self.ended(token, End::Lost(errno(error)));
        }
    }
}

impl Drop for Uring {
    fn drop(&mut self) {
        self.buffers.unregister(&self.ring.submitter());
    }
}

/// rustix has no such flag for sending, as send(2) does not know it.
const MSG_WAITALL: i32 = 0x100;

fn failure(result: i32) -> Option<Errno> {
    (result < 0).then(|| Errno::from_raw_os_error(-result))
}

fn errno(error: io::Error) -> Errno {
    Errno::from_io_error(&error).unwrap_or(Errno::IO)
}

impl Token {
    fn user_data(self, kind: u64) -> u64 {
        u64::from(self.generation) << 32 | kind | self.slot as u64
    }

    fn of_user_data(data: u64) -> Self {
        Self { slot: (data as u32 as u64 & !KIND) as usize, generation: (data >> 32) as u32 }
    }
}
