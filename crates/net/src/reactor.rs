//! The loop of one thread: waits for sockets and timers, and polls the tasks concerned.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::future::Future;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use rustix::event::epoll::{Event, EventFlags};
use rustix::io::Errno;
use rustix::net::RecvFlags;

use crate::kernel::{Engine, Interest, Kernel, Token};
use crate::now_ns;

/// A task: polled to its end on one thread.
pub type Task = Pin<Box<dyn Future<Output = ()>>>;

const EVENTS_PER_WAIT: usize = 256;
/// How often time-outs are looked for and `tick` is called when nothing else happens. A time-out is late by at most this and a jiffy.
pub(crate) const TICK_NS: u64 = 50_000_000;
const NEVER: u64 = u64::MAX;

/// A connection as the loop sees it.
struct Slot {
    task: usize,
    /// Counts the connections that have had this slot, so that an event of a closed one is not taken for its successor's.
    generation: u32,
    readable: bool,
    writable: bool,
    hung_up: bool,
    /// When the operation that waits here is late; [`NEVER`] while none waits.
    deadline_ns: u64,
    /// The address of what its task will touch beside its own memory; fetched ahead, never read by it. 0: nothing.
    near: usize,
}

/// The state that tasks and loop share on one thread.
pub struct Reactor {
    kernel: RefCell<Kernel>,
    engine: Engine,
    slots: RefCell<Vec<Slot>>,
    free: RefCell<Vec<usize>>,
    timers: RefCell<BinaryHeap<Reverse<(u64, usize)>>>,
    spawned: RefCell<Vec<Task>>,
    yielded: RefCell<Vec<usize>>,
    current: Cell<usize>,
    now_ns: Cell<u64>,
    /// True if there is one task, which may then sleep where epoll would wait.
    is_alone: Cell<bool>,
}

impl Reactor {
    /// # Errors
    /// The system gives no epoll instance or ring: too many open files, or as [`Engine::check`] has them.
    pub fn new(engine: Engine) -> io::Result<Rc<Self>> {
        Ok(Rc::new(Self {
            kernel: RefCell::new(Kernel::new(engine)?),
            engine,
            slots: RefCell::default(),
            free: RefCell::default(),
            timers: RefCell::default(),
            spawned: RefCell::default(),
            yielded: RefCell::default(),
            current: Cell::new(0),
            now_ns: Cell::new(now_ns()),
            is_alone: Cell::new(false),
        }))
    }

    /// Adds a task to those that [`Reactor::run`] polls.
    pub fn spawn(&self, task: Task) {
        self.spawned.borrow_mut().push(task);
    }

    /// Resumes the calling task at `deadline_ns`.
    pub fn sleep_until(&self, deadline_ns: u64) -> impl Future<Output = ()> {
        let mut waiting = false;
        std::future::poll_fn(move |_| {
            if now_ns() >= deadline_ns {
                return Poll::Ready(());
            }
            if !waiting {
                waiting = true;
                self.timers.borrow_mut().push(Reverse((deadline_ns, self.current.get())));
            }
            Poll::Pending
        })
    }

    /// Resumes the calling task when every other one that events are at hand for has been polled.
    pub fn yield_to_others(&self) -> impl Future<Output = ()> {
        let mut yielded = false;
        std::future::poll_fn(move |_| {
            if yielded {
                return Poll::Ready(());
            }
            yielded = true;
            self.yielded.borrow_mut().push(self.current.get());
            Poll::Pending
        })
    }

    /// Registers a socket for the calling task and returns its slot.
    pub(crate) fn register(&self, fd: impl AsFd, interest: Interest) -> io::Result<usize> {
        let mut slots = self.slots.borrow_mut();
        let index = self.free.borrow_mut().pop().unwrap_or(slots.len());
        let generation = slots.get(index).map_or(0, |old| old.generation.wrapping_add(1) & Token::LAST_GENERATION);
        let task = self.current.get();
        let slot =
            Slot { task, generation, readable: false, writable: false, hung_up: false, deadline_ns: NEVER, near: 0 };
        if index == slots.len() {
            slots.push(slot);
        } else {
            slots[index] = slot;
        }
        self.kernel.borrow_mut().add(fd.as_fd(), Token { slot: index, generation }, interest)?;
        Ok(index)
    }

    /// Asks for something else, or for the same once more.
    pub(crate) fn watch(&self, slot: usize, fd: impl AsFd, interest: Interest) -> io::Result<()> {
        self.kernel.borrow_mut().watch(fd.as_fd(), self.token(slot), interest)
    }

    /// The task of this slot will touch what is there, too.
    pub(crate) fn keep_near(&self, slot: usize, address: usize) {
        self.slots.borrow_mut()[slot].near = address;
    }

    fn token(&self, slot: usize) -> Token {
        Token { slot, generation: self.slots.borrow()[slot].generation }
    }

    /// Takes bytes to be sent and says how many; `AGAIN` if there is no room.
    #[inline]
    pub(crate) fn send(&self, slot: usize, fd: BorrowedFd<'_>, bytes: &[u8]) -> Result<usize, Errno> {
        self.kernel.borrow_mut().send(fd, self.token(slot), bytes)
    }

    /// Appends what has arrived to the buffer, which has room, and says how much; 0 if the peer has closed the connection.
    #[inline]
    pub(crate) fn receive(
        &self,
        slot: usize,
        fd: BorrowedFd<'_>,
        buffer: &mut Vec<u8>,
        flags: RecvFlags,
    ) -> Result<usize, Errno> {
        let received = self.kernel.borrow_mut().receive(fd, self.token(slot), buffer, flags);
        if received.as_ref().map_or_else(|&error| error == Errno::AGAIN, |received| received.is_drained) {
            self.drained(slot);
        }
        Ok(received?.bytes)
    }

    /// Gives the slot back; the socket is closed next.
    pub(crate) fn release(&self, slot: usize, fd: impl AsFd) {
        self.kernel.borrow_mut().remove(fd.as_fd(), self.token(slot));
        self.slots.borrow_mut()[slot].task = usize::MAX;
        self.free.borrow_mut().push(slot);
    }

    #[inline]
    pub(crate) fn is_readable(&self, slot: usize) -> bool {
        self.slots.borrow()[slot].readable
    }

    #[inline]
    pub(crate) fn is_writable(&self, slot: usize) -> bool {
        self.slots.borrow()[slot].writable
    }

    /// The socket was read empty: wait for the next edge, unless the peer has hung up and no edge will come.
    #[inline]
    pub(crate) fn drained(&self, slot: usize) {
        let slot = &mut self.slots.borrow_mut()[slot];
        slot.readable = slot.hung_up;
    }

    #[inline]
    pub(crate) fn not_writable(&self, slot: usize) {
        self.slots.borrow_mut()[slot].writable = false;
    }

    /// Returns whether nothing else is to be done on this thread while the calling task waits, so that it may sleep.
    #[inline]
    pub(crate) fn is_alone(&self) -> bool {
        self.is_alone.get() && self.timers.borrow().is_empty() && self.spawned.borrow().is_empty()
    }

    /// The calling task has slept, and the loop's time is out of date.
    #[cold]
    pub(crate) fn overslept(&self) {
        self.now_ns.set(now_ns());
    }

    /// Notes that the calling task waits here, and from now on for at most `timeout_ns`.
    #[inline]
    pub(crate) fn wait(&self, slot: usize, timeout_ns: u64) {
        self.slots.borrow_mut()[slot].deadline_ns = self.now_ns.get().saturating_add(timeout_ns);
    }

    /// Returns whether the wait has lasted too long.
    #[inline]
    pub(crate) fn is_late(&self, slot: usize) -> bool {
        self.slots.borrow()[slot].deadline_ns <= self.now_ns.get()
    }

    #[inline]
    pub(crate) fn waits_no_more(&self, slot: usize) {
        self.slots.borrow_mut()[slot].deadline_ns = NEVER;
    }

    /// Polls all tasks to their ends, calling `tick` at least every 50 ms with the time; when `tick` returns false, tasks that are
    /// left are dropped.
    ///
    /// # Errors
    /// Waiting for events failed.
    pub fn run(&self, mut tasks: Vec<Option<Task>>, mut tick: impl FnMut(u64) -> bool) -> io::Result<()> {
        let mut live = tasks.len();
        for task in 0..tasks.len() {
            self.poll(&mut tasks, task, &mut live);
        }
        let mut events = Vec::with_capacity(EVENTS_PER_WAIT);
        let mut next_tick_ns = 0;
        while live > 0 {
            let now = now_ns();
            self.now_ns.set(now);
            if now >= next_tick_ns {
                next_tick_ns = now + TICK_NS;
                if !tick(now) {
                    return Ok(());
                }
                for task in self.late_tasks(now) {
                    self.poll(&mut tasks, task, &mut live);
                }
            }
            while let Some(task) = self.due_timer(now) {
                self.poll(&mut tasks, task, &mut live);
            }
            self.adopt_spawned(&mut tasks, &mut live);
            self.is_alone.set(live == 1 && self.engine == Engine::Epoll);
            self.wait_for_events(&mut events, now, next_tick_ns)?;
            self.now_ns.set(now_ns());
            for (i, event) in events.iter().enumerate() {
                if let Some(next) = events.get(i + 1) {
                    self.fetch_ahead(&tasks, next);
                }
                if let Some(task) = self.wake(event) {
                    self.poll(&mut tasks, task, &mut live);
                }
            }
            for task in self.yielded.take() {
                self.poll(&mut tasks, task, &mut live);
            }
        }
        Ok(())
    }

    #[inline]
    fn poll(&self, tasks: &mut [Option<Task>], index: usize, live: &mut usize) {
        let Some(task) = tasks.get_mut(index).and_then(Option::as_mut) else { return };
        self.current.set(index);
        if task.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready() {
            tasks[index] = None;
            *live -= 1;
        }
    }

    /// Has the processor fetch the task that is polled next, while another is polled: between two answers to a task, others have pushed it out
    /// of the caches, above all a server on the same processor.
    #[inline]
    fn fetch_ahead(&self, tasks: &[Option<Task>], event: &Event) {
        let slots = self.slots.borrow();
        let Some(slot) = slots.get(Token::of(event).slot) else { return };
        prefetch(slot.near, NEAR_BYTES);
        if let Some(task) = tasks.get(slot.task).and_then(Option::as_ref) {
            prefetch(std::ptr::from_ref(&**task).cast::<u8>() as usize, size_of_val(&**task).min(TASK_BYTES));
        }
    }

    fn adopt_spawned(&self, tasks: &mut Vec<Option<Task>>, live: &mut usize) {
        while let Some(task) = { self.spawned.borrow_mut().pop() } {
            let index = tasks.iter().position(Option::is_none).unwrap_or(tasks.len());
            if index == tasks.len() {
                tasks.push(None);
            }
            tasks[index] = Some(task);
            *live += 1;
            self.is_alone.set(false);
            self.poll(tasks, index, live);
        }
    }

    /// Waits, unless a task has yielded; only a timer needs to know how long the tasks took that were polled since `now`.
    fn wait_for_events(&self, events: &mut Vec<Event>, now: u64, next_tick_ns: u64) -> io::Result<()> {
        let next_timer_ns = self.timers.borrow().peek().map(|Reverse((deadline, _))| *deadline);
        let wait_ns = match next_timer_ns {
            _ if !self.yielded.borrow().is_empty() => 0,
            None => next_tick_ns.saturating_sub(now),
            Some(deadline) => next_tick_ns.min(deadline).saturating_sub(now_ns()),
        };
        events.clear();
        self.kernel.borrow_mut().wait(events, Duration::from_nanos(wait_ns))
    }

    #[inline]
    fn wake(&self, event: &Event) -> Option<usize> {
        let mut slots = self.slots.borrow_mut();
        let token = Token::of(event);
        let slot = slots.get_mut(token.slot).filter(|slot| slot.generation == token.generation)?;
        let flags = event.flags;
        let hung_up = flags.intersects(EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR);
        slot.hung_up |= hung_up;
        slot.readable |= hung_up || flags.contains(EventFlags::IN);
        slot.writable |= hung_up || flags.contains(EventFlags::OUT);
        Some(slot.task)
    }

    fn due_timer(&self, now: u64) -> Option<usize> {
        let mut timers = self.timers.borrow_mut();
        match timers.peek() {
            Some(&Reverse((deadline, task))) if deadline <= now => {
                timers.pop();
                Some(task)
            }
            _ => None,
        }
    }

    fn late_tasks(&self, now: u64) -> Vec<usize> {
        self.slots.borrow().iter().filter(|s| s.task != usize::MAX && s.deadline_ns <= now).map(|s| s.task).collect()
    }
}

/// How much of a task is fetched ahead. A client has 5 KiB, and to fetch all of it saved no more.
const TASK_BYTES: usize = 2048;
/// How much of what it will touch beside its own memory is fetched: as much as most requests have.
const NEAR_BYTES: usize = 128;
/// The bytes that a processor fetches at once.
const CACHE_LINE_BYTES: usize = 64;

/// Has the processor fetch memory into its caches, without waiting for it.
#[cfg(target_arch = "x86_64")]
#[inline]
fn prefetch(begin: usize, size_bytes: usize) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    for at in (begin..begin + size_bytes).step_by(CACHE_LINE_BYTES) {
        // SAFETY: the program sees nothing of a prefetch, and it fails at no address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(at as *const i8) };
    }
}

/// Rust has no stable prefetch for other processors.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn prefetch(_begin: usize, _size_bytes: usize) {}

/// Polls a future that waits for nothing (an embedded store's) to its end on the calling thread.
///
/// # Panics
/// The future waits for something: no embedded store may.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("an embedded store waited for an event"),
    }
}
