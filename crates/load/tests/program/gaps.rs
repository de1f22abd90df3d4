//! Gaps between completions, against a server that stalls when we say so.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::PoisonError;
use std::thread::{self, JoinHandle, sleep};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::common::{engines, execute, of_kind};
use crate::honesty::{ALONE, at_rate, row_of_any_key, trial};

const SHORT: Duration = Duration::from_millis(20);
const LONG: Duration = Duration::from_millis(200);

/// Stalls for [`SHORT`] ten times a second, and for [`LONG`] once.
struct Stalls {
    begun: Instant,
    next: Duration,
    is_long_next: bool,
    short: usize,
}

impl Stalls {
    fn now(&mut self) {
        let since = self.begun.elapsed();
        if since >= self.next {
            self.next = since + Duration::from_millis(100);
            self.short += 1;
            sleep(SHORT);
        }
        // Over the edge of a second.
        if self.is_long_next && since >= Duration::from_millis(1900) {
            self.is_long_next = false;
            sleep(LONG);
        }
    }
}

/// Reads a request of each connection before it answers any, so every client waits in a stall: no completion is later than its begin or
/// earlier than its end. Returns how many short stalls there were.
fn stalling(clients: usize) -> (u16, JoinHandle<usize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let serve = move || {
        let mut streams: Vec<TcpStream> = (0..clients).map(|_| listener.accept().unwrap().0).collect();
        let mut stalls = None;
        while !streams.is_empty() {
            streams.retain_mut(|stream| stream.read(&mut [0; 4096]).is_ok_and(|n| n > 0));
            let next = Duration::from_millis(100);
            stalls.get_or_insert_with(|| Stalls { begun: Instant::now(), next, is_long_next: true, short: 0 }).now();
            streams.retain_mut(|stream| stream.write_all(row_of_any_key()).is_ok());
        }
        stalls.map_or(0, |stalls| stalls.short)
    };
    (port, thread::spawn(serve))
}

/// Begin and length of each recorded gap.
fn gaps(records: &[Value]) -> Vec<(Duration, Duration)> {
    let pair = |gap: &Value| {
        let ns = |i: usize| Duration::from_nanos(gap[i].as_u64().unwrap());
        (ns(0), ns(1))
    };
    of_kind(records, "interval").iter().flat_map(|i| i["gaps_ns"].as_array().unwrap()).map(pair).collect()
}

#[test]
fn every_stall_is_recorded_once_and_whole_whichever_threads_the_clients_are_on() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    for engine in engines() {
        let (port, server) = stalling(6);
        let mut plan = trial(port, 6, 3);
        plan["engine"] = engine.as_str().into();
        plan["threads"] = 3.into();
        let (records, status) = execute(&plan);
        assert!(status.success());
        let (gaps, stalled) = (gaps(&records), server.join().unwrap());
        let at_least = |length: Duration| gaps.iter().filter(|gap| gap.1 >= length).count();
        assert!(at_least(LONG) >= 1, "{engine}: {gaps:?}");
        // One may be joined with the long one, and the run's end may cut one short.
        assert!(stalled > 5 && at_least(SHORT) + 2 > stalled, "{engine}: {stalled} stalls, {gaps:?}");
        assert!(gaps.windows(2).all(|two| two[0].0 + two[0].1 <= two[1].0), "{engine}: {gaps:?}");
    }
}

#[test]
fn an_open_loop_without_an_arrival_is_idle_and_not_stalled() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let port = crate::common::server(|mut stream| {
        while stream.read(&mut [0; 4096]).is_ok_and(|n| n > 0) && stream.write_all(row_of_any_key()).is_ok() {}
    });
    let (records, status) = execute(&at_rate(trial(port, 4, 2), 10));
    assert!(status.success());
    let gaps = gaps(&records);
    // Between two arrivals are 100 ms, nearly all of the run.
    assert!(gaps.iter().map(|gap| gap.1).sum::<Duration>() < Duration::from_secs(1), "{gaps:?}");
}
