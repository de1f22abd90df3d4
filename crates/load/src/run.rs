//! The run phase: clients on their threads, and the merging of what they record.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io;
use std::iter::Peekable;
use std::rc::Rc;
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use dbdyno_net::{Engine, Reactor, Task, block_on, now_ns, unix_now_s};
use serde_json::{Value, json};

use crate::client::{CONNECTING_AT_ONCE, Client, START_POLL_NS, Thread};
use crate::groups::Group;
use crate::interval::{Counted, Interval};
use crate::outcome::Outcome;
use crate::plan::Plan;
use crate::query_plans::record_query_plans;
use crate::recorder::{OperationTotals, Recorder, Totals};
use crate::signals;
use crate::trial::Trial;

/// Embedded stores have a thread for each client; more threads than this measure the scheduler.
pub const MAX_EMBEDDED_CLIENTS: u64 = 512;

/// Load threads if processors are few.
const AMONG_OTHERS: u64 = 4;

/// From so many clients of a thread on, none of whom waits between two requests, io_uring costs less than epoll (docs/engine.md, "Decisions").
const WORTH_A_RING: u64 = 8;

/// How many processors this program may use.
pub fn processors() -> u64 {
    thread::available_parallelism().map_or(1, std::num::NonZero::get) as u64
}

/// How many threads the clients of this plan get.
pub fn threads_for(plan: &Plan, is_embedded: bool) -> u64 {
    if is_embedded {
        return plan.clients.count;
    }
    plan.threads.map_or(chosen_threads(processors()), |n| n as u64).min(plan.clients.count)
}

/// Half of the processors are the server's. If they are few, load threads share them with the server's threads, which may be hundreds. The
/// kernel gives each thread an equal share, so a single load thread would be waited for while a processor is idle (docs/engine.md,
/// "Threads"). With one processor, one thread costs the least.
fn chosen_threads(processors: u64) -> u64 {
    if processors == 1 { 1 } else { processors.div_ceil(2).max(AMONG_OTHERS) }
}

/// By which of the kernel's interfaces load threads wait for their clients' sockets; `None` for embedded stores, which have none.
///
/// # Errors
/// The plan asks for one that is not available, or the kernel has not even epoll, which all other phases use: in words for the user.
pub fn engine_for(plan: &Plan, is_embedded: bool) -> Result<Option<Engine>, String> {
    if is_embedded {
        return Ok(None);
    }
    Engine::Epoll.check().map_err(|error| error.to_string())?;
    let is_waiting = plan.is_pausing() || plan.network_delay_us > 0;
    let is_worth_it = !is_waiting && plan.clients.count / threads_for(plan, is_embedded) >= WORTH_A_RING;
    match plan.engine.map(Engine::from) {
        Some(engine) if engine.is_available() => Ok(Some(engine)),
        Some(engine) => Err(format!("engine = {engine}: this kernel lacks it or forbids it; null chooses another")),
        None if is_worth_it && Engine::IoUring.is_available() => Ok(Some(Engine::IoUring)),
        None => Ok(Some(Engine::Epoll)),
    }
}

/// Runs the clients from connecting to the last answer; before and after, the plans of statements are recorded if they are wanted.
///
/// # Errors
/// The run did not take place or was cut short; what was recorded until then has been written.
pub fn run(trial: &Arc<Trial>, plan: &Plan) -> Result<Totals, Outcome> {
    let explain = |when| record_query_plans(plan, &trial.store, trial.workload.steps(), when, &trial.records);
    explain("before");
    let ran = run_clients(trial, plan);
    explain("after");
    ran
}

fn run_clients(trial: &Arc<Trial>, plan: &Plan) -> Result<Totals, Outcome> {
    let (sender, intervals) = mpsc::channel();
    let threads = threads_for(plan, trial.store.is_embedded());
    let handles: io::Result<Vec<_>> = (0..threads).map(|i| spawn(trial, plan, i, threads, sender.clone())).collect();
    drop(sender);
    let started = handles.map_err(|error| Outcome::Failed(format!("cannot start {threads} threads: {error}")));
    let begun = started.and_then(|handles| begin(trial, plan, &handles).map(|()| handles));
    let handles = begun.inspect_err(|_| trial.schedule.end_at(0))?;
    let mut merger = Merger::new(trial, threads, plan);
    merger.collect(&intervals);
    let totals = join(handles)?;
    merger.finish(&totals, plan)?;
    if signals::stop_requested() { Err(Outcome::Interrupted(totals.into())) } else { Ok(totals) }
}

type Handle = JoinHandle<io::Result<Totals>>;

fn spawn(
    trial: &Arc<Trial>,
    plan: &Plan,
    i: u64,
    threads: u64,
    intervals: mpsc::Sender<Interval>,
) -> io::Result<Handle> {
    let (trial, first, count) = (Arc::clone(trial), plan.clients.first, plan.clients.count);
    thread::Builder::new().name(format!("load-{i}")).spawn(move || {
        tighten_timers();
        let number = trial.engine.map(|_| i);
        let recorder = Recorder::new(Arc::clone(&trial.schedule), intervals, &trial.shape(), number);
        let reactor = trial.engine.map(Reactor::new).transpose()?;
        let thread = Rc::new(Thread {
            trial,
            recorder: RefCell::new(recorder),
            reactor: reactor.clone(),
            connecting: Cell::new(0),
            connecting_at_once: (CONNECTING_AT_ONCE / threads).max(1),
        });
        let clients = (first + i..first + count).step_by(threads as usize);
        let clients = clients.map(|number| Client::new(Rc::clone(&thread), number));
        match reactor {
            Some(reactor) => drive(&reactor, &thread, clients.map(|c| Some(Box::pin(c.live()) as Task)).collect())?,
            None => clients.for_each(|client| block_on(client.live())),
        }
        let mut recorder = thread.recorder.borrow_mut();
        recorder.advance(now_ns().max(thread.trial.schedule.end_ns().saturating_add(1)));
        Ok(recorder.totals.clone())
    })
}

/// The kernel may delay a wake-up by its timer slack, 50 µs unless told otherwise: as much as many an answer takes.
fn tighten_timers() {
    if let Err(error) = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1)) {
        eprintln!("dbdyno-load: timers may fire up to 50 µs late: {error}");
    }
}

fn drive(reactor: &Rc<Reactor>, thread: &Rc<Thread>, tasks: Vec<Option<Task>>) -> io::Result<()> {
    reactor.run(tasks, |now| {
        let mut recorder = thread.recorder.borrow_mut();
        if let Some(start_ns) = thread.trial.schedule.start_ns().filter(|&start| start <= now) {
            recorder.begin(start_ns, now);
        }
        recorder.advance(now);
        true
    })
}

/// Waits until every client has connected, and begins; or ends the run if a thread has failed, as [`join`] then says.
fn begin(trial: &Trial, plan: &Plan, threads: &[Handle]) -> Result<(), Outcome> {
    let total = plan.clients.count;
    let mut shown_ns = 0;
    loop {
        let arrived = trial.gate.count();
        if let Some((refused, failure)) = trial.gate.refusals().filter(|_| arrived == total) {
            return Err(Outcome::Failed(format!(
                "{refused} of {total} clients could not connect: {}",
                failure.message()
            )));
        }
        if signals::stop_requested() {
            return Err(Outcome::Interrupted(Box::default()));
        }
        if arrived == total {
            break;
        }
        // A thread whose clients were all refused ends early too, and has said so by then.
        if threads.iter().any(JoinHandle::is_finished) && trial.gate.refusals().is_none() {
            trial.schedule.end_at(0);
            return Ok(());
        }
        if now_ns() - shown_ns > 250_000_000 {
            shown_ns = now_ns();
            trial.records.progress("connect", arrived, total, "clients");
        }
        thread::sleep(Duration::from_millis(2));
    }
    let wait_s = plan.start_at_unix_s.map_or(0.0, |at| at - unix_now_s()).max(2e-9 * START_POLL_NS as f64);
    trial
        .records
        .write(&json!({"record": "phase", "phase": "run", "state": "start", "at_unix_s": unix_now_s() + wait_s}));
    trial.schedule.begin_at(now_ns() + (wait_s * 1e9) as u64, plan.warmup_s + plan.duration_s);
    Ok(())
}

fn join(handles: Vec<Handle>) -> Result<Totals, Outcome> {
    let mut totals = Totals::default();
    for handle in handles {
        match handle.join() {
            Ok(Ok(of_thread)) => totals.merge(&of_thread),
            Ok(Err(error)) => return Err(Outcome::Failed(format!("a load thread failed: {error}"))),
            Err(_) => return Err(Outcome::Failed("a load thread panicked: a bug in dbdyno-load".into())),
        }
    }
    Ok(totals)
}

/// Puts the threads' intervals together and writes each second once all threads have handed it over.
struct Merger<'a> {
    trial: &'a Trial,
    threads: u64,
    warmup_s: u64,
    pending: BTreeMap<u64, (u64, Interval)>,
    sum: Totals,
    seconds: f64,
    /// The arrivals of each group's clients once more, to count those due in each second away from the threads that serve them.
    due: Vec<Vec<Peekable<Due>>>,
}

/// When a client's arrivals are due, in nanoseconds from the start.
type Due = std::iter::FromFn<Box<dyn FnMut() -> Option<u64>>>;

fn due_of_clients(trial: &Trial, plan: &Plan, group: &Group) -> Vec<Peekable<Due>> {
    let of_client = |client| {
        let mut of_client = group.arrivals_of(trial.seed, client)?;
        let next: Box<dyn FnMut() -> Option<u64>> = Box::new(move || Some(of_client.next_ns()));
        Some(std::iter::from_fn(next).peekable())
    };
    let own = plan.clients.first..plan.clients.first + plan.clients.count;
    group.clients.clone().filter(|client| own.contains(client)).filter_map(of_client).collect()
}

/// Conflicts are written only if there were some: most stores know none.
fn counted(completed: u64, failed: u64, conflicts: u64) -> Value {
    let mut counted = json!({"completed": completed, "failed": failed});
    if conflicts > 0 {
        counted["conflicts"] = conflicts.into();
    }
    counted
}

impl<'a> Merger<'a> {
    fn new(trial: &'a Trial, threads: u64, plan: &Plan) -> Self {
        let sum = Totals::default();
        let due = trial.groups.iter().map(|group| due_of_clients(trial, plan, group)).collect();
        Self { trial, threads, warmup_s: plan.warmup_s, pending: BTreeMap::new(), sum, seconds: 0.0, due }
    }

    /// How many arrivals of a group are due until the interval that ends now; those before it have been counted.
    fn newly_due(&mut self, group: usize) -> u64 {
        let until_ns = (self.seconds * 1e9).round() as u64;
        let newly = |due: &mut Peekable<Due>| std::iter::from_fn(|| due.next_if(|&ns| ns < until_ns)).count() as u64;
        self.due[group].iter_mut().map(newly).sum()
    }

    fn collect(&mut self, intervals: &mpsc::Receiver<Interval>) {
        loop {
            match intervals.recv_timeout(Duration::from_millis(20)) {
                Ok(interval) => self.add(interval),
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
            }
            if signals::stop_requested() {
                self.trial.schedule.end_at(now_ns());
            }
        }
        let rest = std::mem::take(&mut self.pending);
        rest.into_values().for_each(|(_, interval)| self.write(&interval));
    }

    fn add(&mut self, interval: Interval) {
        let second = interval.second;
        let (count, merged) = self.pending.entry(second).or_insert_with(|| (0, interval.like(second)));
        if *count == 0 {
            merged.seconds = interval.seconds;
        }
        *count += 1;
        merged.merge(&interval);
        if *count == self.threads
            && let Some((_, merged)) = self.pending.remove(&second)
        {
            self.write(&merged);
        }
    }

    fn write(&mut self, interval: &Interval) {
        self.sum.completed += interval.transactions.completed();
        self.sum.failed += interval.transactions.failed;
        self.sum.reads_verified += interval.reads_verified;
        self.sum.mismatches += interval.mismatches;
        let of_step =
            |o: &Counted| OperationTotals { completed: o.completed(), failed: o.failed, conflicts: o.conflicts };
        let operations = interval.operations.iter().map(of_step).collect();
        self.sum.merge(&Totals { operations, ..Totals::default() });
        self.seconds += interval.seconds;
        let mut record = interval.to_json(&self.trial.names(), self.warmup_s);
        for (number, group) in self.trial.groups.iter().enumerate().filter(|(_, group)| group.arrivals.is_some()) {
            let scheduled = self.newly_due(number);
            self.sum.group(number).scheduled += scheduled;
            match &group.named {
                Some((name, _)) => record["operations"][name]["scheduled"] = scheduled.into(),
                None => record["transactions"]["scheduled"] = scheduled.into(),
            }
        }
        self.trial.records.write(&record);
    }

    /// Writes the totals and asserts the identities of docs/contract.md.
    fn finish(&self, totals: &Totals, plan: &Plan) -> Result<(), Outcome> {
        let mut operations: serde_json::Map<_, _> = (self.trial.names().into_iter().zip(&totals.operations))
            .map(|(name, of)| (name, counted(of.completed, of.failed, of.conflicts)))
            .collect();
        let in_flight_mean = if self.seconds > 0.0 { totals.in_flight_ns as f64 / 1e9 / self.seconds } else { 0.0 };
        let mut transactions = counted(totals.completed, totals.failed, totals.conflicts());
        transactions["scheduled"] = totals.scheduled.into();
        transactions["unfinished"] = totals.unfinished().into();
        transactions["unanswered"] = totals.unanswered.into();
        for (number, group) in self.trial.groups.iter().enumerate().filter(|(_, group)| group.arrivals.is_some()) {
            let of_group = totals.groups.get(number).copied().unwrap_or_default();
            let counted = match &group.named {
                Some((name, _)) => &mut operations[name],
                None => &mut transactions,
            };
            counted["scheduled"] = of_group.scheduled.into();
            counted["never_begun"] = of_group.never_begun.into();
            counted["late"] = of_group.late.into();
        }
        let mut total = json!({"record": "total", "transactions": transactions, "operations": operations,
            "reads_verified": totals.reads_verified, "mismatches": totals.mismatches, "seconds": self.seconds,
            "in_flight_mean": in_flight_mean, "begun_late_s": totals.begun_late_ns as f64 / 1e9});
        if let Some(keys) = self.trial.store.remapped_keys() {
            total["moved_keys"] = json!({"asked": keys.asked, "moved": keys.moved, "due": keys.due});
        }
        self.trial.records.write(&total);
        let sums = |t: &Totals| (t.completed, t.failed, t.operations.clone(), t.reads_verified, t.mismatches);
        if sums(&self.sum) != sums(totals) {
            let reason = format!("the sum of the intervals differs from the totals: {:?}, {totals:?}", self.sum);
            return Err(Outcome::Failed(format!("{reason}: a bug in dbdyno-load")));
        }
        let arrivals = |t: &Totals| t.groups.iter().map(|group| group.scheduled).sum::<u64>();
        if arrivals(&self.sum) != arrivals(totals) {
            let reason = format!("{} arrivals were due and {} scheduled", arrivals(&self.sum), arrivals(totals));
            return Err(Outcome::Failed(format!("{reason}: a bug in dbdyno-load")));
        }
        let never_begun: u64 = totals.groups.iter().map(|group| group.never_begun).sum();
        let most = plan.clients.count * plan.pipeline as u64 + never_begun;
        if totals.unfinished() > most {
            let reason = format!("{} transactions are unfinished", totals.unfinished());
            return Err(Outcome::Failed(format!("{reason}, more than there are clients: a bug in dbdyno-load")));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_many_where_processors_are_few_and_one_where_there_is_one() {
        assert_eq!([1, 2, 8, 64, 65].map(chosen_threads), [1, 4, 4, 32, 33]);
    }
}
