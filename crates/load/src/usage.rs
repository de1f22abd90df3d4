//! A load thread's use of the processors, and how long it was ready and waited for one.

use std::fs::File;
use std::os::unix::fs::FileExt;

use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};

/// Counted up since the thread began, or what was added in a time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage {
    /// User and system time.
    pub cpu_s: f64,
    /// Ready, but not on a processor; `None` if the kernel does not say.
    pub run_queue_s: Option<f64>,
}

impl Usage {
    /// The usage added after `before`.
    pub fn since(self, before: Usage) -> Usage {
        let run_queue_s = self.run_queue_s.zip(before.run_queue_s).map(|(now, then)| now - then);
        Usage { cpu_s: self.cpu_s - before.cpu_s, run_queue_s }
    }
}

/// Reads the usage of the thread that opened it.
pub struct Meter {
    /// Its first figure, the time on a processor, is as old as the last tick, so the thread's clock is read for that.
    schedstat: Option<File>,
}

impl Meter {
    /// The usage of the calling thread. A kernel without scheduler statistics has no run queue to show.
    pub fn of_this_thread() -> Self {
        Self { schedstat: File::open("/proc/thread-self/schedstat").ok() }
    }

    pub fn read(&self) -> Usage {
        let t = clock_gettime(ClockId::ThreadCPUTime);
        let cpu_s = t.tv_sec as f64 + t.tv_nsec as f64 / 1e9;
        Usage { cpu_s, run_queue_s: self.schedstat.as_ref().and_then(run_queue_s) }
    }
}

fn run_queue_s(schedstat: &File) -> Option<f64> {
    let mut line = [0; 64];
    let length = schedstat.read_at(&mut line, 0).ok()?;
    let waited_ns = str::from_utf8(&line[..length]).ok()?.split_ascii_whitespace().nth(1)?;
    Some(waited_ns.parse::<u64>().ok()? as f64 / 1e9)
}

/// `load_threads` of an interval: threads by their numbers, in microseconds' precision.
pub fn to_json(threads: &[(u64, Usage)]) -> Value {
    let mut threads = threads.to_vec();
    threads.sort_by_key(|&(number, _)| number);
    let rounded = |seconds: f64| (seconds * 1e6).round() / 1e6;
    let cpu_s: Vec<f64> = threads.iter().map(|(_, of)| rounded(of.cpu_s)).collect();
    let waited: Option<Vec<f64>> = threads.iter().map(|(_, of)| of.run_queue_s.map(rounded)).collect();
    let mut record = json!({"cpu_s": cpu_s});
    if let Some(run_queue_s) = waited {
        record["run_queue_s"] = run_queue_s.into();
    }
    record
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_worked_has_used_a_processor_and_another_has_not() {
        let meter = Meter::of_this_thread();
        let (before, idle) = (meter.read(), std::thread::spawn(|| Meter::of_this_thread().read()).join().unwrap());
        while meter.read().since(before).cpu_s < 0.02 {}
        assert!(idle.cpu_s < 0.02, "{idle:?}");
        assert!(meter.read().since(before).run_queue_s.unwrap() >= 0.0);
    }

    #[test]
    fn threads_are_in_the_order_of_their_numbers_and_what_one_does_not_show_is_left_out() {
        let of = |cpu_s, run_queue_s| Usage { cpu_s, run_queue_s };
        let both = to_json(&[(1, of(0.25, Some(0.5))), (0, of(0.123_456_7, Some(0.0)))]);
        assert_eq!(both, json!({"cpu_s": [0.123_457, 0.25], "run_queue_s": [0.0, 0.5]}));
        assert_eq!(to_json(&[(0, of(0.1, None)), (1, of(0.2, Some(0.1)))]), json!({"cpu_s": [0.1, 0.2]}));
    }
}
