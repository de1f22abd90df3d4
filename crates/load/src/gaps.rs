//! Gaps: times in which a thread, or all of them, completed no operation. Short ones are not kept, so a busy thread pays one comparison.

use serde_json::{Value, json};

/// Shorter gaps are not recorded (docs/contract.md, "interval"). At most a hundred of these end in a second, which bounds what is kept.
pub const LEAST_NS: u64 = 10_000_000;

const STILL_OPEN: u64 = u64::MAX;
const NOTHING: u64 = u64::MAX;

/// A time without a completion, in nanoseconds from the start of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    begin_ns: u64,
    /// [`STILL_OPEN`] if no completion has ended it yet.
    end_ns: u64,
    /// Since when some operation was outstanding without a break; [`NOTHING`] if none was.
    outstanding_ns: u64,
}

impl Gap {
    /// The part of two threads' gaps that they have in common, if it can still be long enough.
    fn common(&self, other: &Gap) -> Option<Gap> {
        let begin_ns = self.begin_ns.max(other.begin_ns);
        let end_ns = self.end_ns.min(other.end_ns);
        let outstanding_ns = self.outstanding_ns.min(other.outstanding_ns);
        (end_ns >= begin_ns.saturating_add(LEAST_NS)).then_some(Gap { begin_ns, end_ns, outstanding_ns })
    }

    /// Its begin and length as they are recorded: only while something was outstanding, and only if a completion or the run's end ended it.
    fn recorded(&self) -> Option<[u64; 2]> {
        let begin_ns = self.begin_ns.max(self.outstanding_ns);
        let length_ns = self.end_ns.saturating_sub(begin_ns);
        (self.end_ns != STILL_OPEN && length_ns >= LEAST_NS).then_some([begin_ns, length_ns])
    }
}

/// Returns the times that two threads' gaps have in common; both are in order, and so is the result.
pub fn intersection(mine: &[Gap], others: &[Gap]) -> Vec<Gap> {
    let (mut mine, mut others) = (mine.iter().peekable(), others.iter().peekable());
    let mut common = vec![];
    while let (Some(own), Some(other)) = (mine.peek(), others.peek()) {
        common.extend(own.common(other));
        if own.end_ns <= other.end_ns {
            mine.next()
        } else {
            others.next()
        };
    }
    common
}

/// `gaps_ns` of an interval.
pub fn to_json(gaps: &[Gap]) -> Value {
    json!(gaps.iter().filter_map(Gap::recorded).collect::<Vec<_>>())
}

/// Finds the gaps of one thread, on the monotonic clock.
pub struct GapFinder {
    start_ns: u64,
    /// The last completion; before the first one the start of the run.
    completed_ns: u64,
    /// In an open loop: how many clients have an arrival that is due and not done, and since when there were some.
    outstanding: u64,
    outstanding_ns: u64,
    ended: Vec<Gap>,
}

impl GapFinder {
    /// In a closed loop something is outstanding all the time.
    pub fn new(is_open: bool) -> Self {
        let outstanding_ns = if is_open { NOTHING } else { 0 };
        Self { start_ns: 0, completed_ns: 0, outstanding: 0, outstanding_ns, ended: vec![] }
    }

    pub fn begin(&mut self, start_ns: u64) {
        (self.start_ns, self.completed_ns) = (start_ns, start_ns);
    }

    #[inline]
    pub fn completed(&mut self, ended_ns: u64) {
        if ended_ns >= self.completed_ns + LEAST_NS {
            self.end(ended_ns);
        }
        self.completed_ns = ended_ns;
    }

    /// The gap that is open ends here, and the next one begins.
    #[cold]
    pub fn end(&mut self, ended_ns: u64) {
        self.ended.push(self.gap(ended_ns - self.start_ns));
        self.completed_ns = ended_ns;
    }

    fn gap(&self, end_ns: u64) -> Gap {
        let since_start = |ns: u64| if ns == NOTHING { NOTHING } else { ns.saturating_sub(self.start_ns) };
        Gap { begin_ns: since_start(self.completed_ns), end_ns, outstanding_ns: since_start(self.outstanding_ns) }
    }

    /// A client of an open loop has an arrival that is due.
    #[inline]
    pub fn is_due(&mut self, due_ns: u64) {
        if self.outstanding == 0 {
            self.outstanding_ns = due_ns;
        }
        self.outstanding += 1;
    }

    /// That arrival is done: its transaction has completed or failed.
    #[inline]
    pub fn is_done(&mut self) {
        self.outstanding -= 1;
        if self.outstanding == 0 {
            self.outstanding_ns = NOTHING;
        }
    }

    /// Hands over the gaps that ended since the last call, and last the one that is open: another thread's completion may end what both
    /// have in common before this one ends.
    pub fn take(&mut self) -> Vec<Gap> {
        let open = self.gap(STILL_OPEN);
        let mut gaps = std::mem::take(&mut self.ended);
        gaps.push(open);
        gaps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    const START: u64 = 5_000 * MS;

    fn finder(is_open: bool) -> GapFinder {
        let mut finder = GapFinder::new(is_open);
        finder.begin(START);
        finder
    }

    /// The recorded gaps of threads, in milliseconds.
    fn recorded_ms(threads: &[Vec<Gap>]) -> Vec<(u64, u64)> {
        let common = threads.iter().cloned().reduce(|mine, others| intersection(&mine, &others)).unwrap();
        common.iter().filter_map(Gap::recorded).map(|[begin, length]| (begin / MS, length / MS)).collect()
    }

    #[test]
    fn a_gap_that_the_end_of_the_run_closed_is_recorded_once() {
        let mut threads = [finder(false), finder(false)];
        threads.iter_mut().for_each(|thread| thread.end(START + 50 * MS));
        assert_eq!(recorded_ms(&threads.each_mut().map(GapFinder::take)), [(0, 50)]);
        threads[0].end(START + 51 * MS);
        assert!(recorded_ms(&threads.each_mut().map(GapFinder::take)).is_empty());
    }

    /// The gaps that a closed loop's thread hands over if it completed at these times.
    fn thread_ms(completed_ms: &[u64]) -> Vec<Gap> {
        let mut finder = finder(false);
        completed_ms.iter().for_each(|ms| finder.completed(START + ms * MS));
        finder.take()
    }

    #[test]
    fn gaps_from_ten_milliseconds_on_are_recorded_from_the_start_of_the_run() {
        assert_eq!(recorded_ms(&[thread_ms(&[9, 18, 28, 30, 230])]), [(18, 10), (30, 200)]);
        assert_eq!(recorded_ms(&[thread_ms(&[15])]), [(0, 15)], "until the first completion");
    }

    #[test]
    fn only_what_all_threads_have_in_common_is_a_gap_of_the_program() {
        let (first, other) = (thread_ms(&[5, 105, 110, 310]), thread_ms(&[50, 80, 120, 300]));
        assert_eq!(
            recorded_ms(&[first.clone(), other.clone()]),
            [(5, 45), (50, 30), (80, 25), (110, 10), (120, 180), (300, 10)]
        );
        let busy = thread_ms(&(0..400).step_by(5).collect::<Vec<_>>());
        assert_eq!(recorded_ms(&[first, other, busy]), []);
    }

    #[test]
    fn a_gap_that_is_open_at_a_seconds_end_is_whole_in_the_second_that_ends_it() {
        let mut finder = finder(false);
        finder.completed(START + 995 * MS);
        assert_eq!(recorded_ms(&[finder.take()]), [(0, 995)]);
        assert_eq!(recorded_ms(&[finder.take()]), [], "a second without a completion");
        finder.completed(START + 2_300 * MS);
        assert_eq!(recorded_ms(&[finder.take()]), [(995, 1_305)]);
    }

    #[test]
    fn another_threads_completion_ends_it_in_its_own_second() {
        let (mut first, mut other) = (finder(false), finder(false));
        first.completed(START + 5 * MS);
        other.completed(START + 9 * MS);
        other.completed(START + 900 * MS);
        assert_eq!(recorded_ms(&[first.take(), other.take()]), [(9, 891)]);
        first.completed(START + 1_400 * MS);
        other.completed(START + 1_500 * MS);
        assert_eq!(recorded_ms(&[first.take(), other.take()]), [(900, 500), (1_400, 100)]);
    }

    #[test]
    fn in_an_open_loop_a_gap_begins_when_something_is_due() {
        let (mut busy, mut idle) = (finder(true), finder(true));
        busy.is_due(START + 100 * MS);
        busy.completed(START + 105 * MS);
        busy.is_done();
        busy.is_due(START + 400 * MS);
        busy.is_due(START + 410 * MS);
        busy.completed(START + 450 * MS);
        busy.is_done();
        busy.completed(START + 470 * MS);
        busy.is_done();
        assert_eq!(recorded_ms(&[busy.take(), idle.take()]), [(400, 50), (450, 20)]);
        assert_eq!(recorded_ms(&[idle.take()]), [], "nothing was due");
    }

    #[test]
    fn another_threads_arrival_that_is_outstanding_counts() {
        let (mut first, mut other) = (finder(true), finder(true));
        first.is_due(START + 100 * MS);
        other.is_due(START + 180 * MS);
        other.completed(START + 200 * MS);
        other.is_done();
        assert_eq!(recorded_ms(&[first.take(), other.take()]), [(100, 100)]);
    }
}
