//! The clocks: monotonic nanoseconds for every measurement, seconds since the epoch for agreeing with other programs.

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds of the monotonic clock (a vDSO call, no system call).
#[inline]
pub fn now_ns() -> u64 {
    let t = clock_gettime(ClockId::Monotonic);
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

pub fn unix_now_s() -> f64 {
    let t = clock_gettime(ClockId::Realtime);
    t.tv_sec as f64 + t.tv_nsec as f64 / 1e9
}
