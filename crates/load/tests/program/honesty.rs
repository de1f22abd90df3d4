//! Recordings against the truth: servers that answer after delays of our choosing.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::{engines, execute, of_kind, only, plan, redis_at, server};

/// Timings share two processors badly: one of these tests at a time.
pub static ALONE: Mutex<()> = Mutex::new(());

/// A connection's requests: when each was read and when its answer had been written.
type Log = Arc<Mutex<Vec<Vec<(Instant, Instant)>>>>;

/// Answers after the time that `delay` says for the n-th request, and keeps a log: a sleep lasts longer than asked, so the truth is what it was.
fn delayed(delay: impl Fn(u64) -> Duration + Send + Sync + Clone + 'static) -> (u16, Log) {
    let (requests, log) = (Arc::new(AtomicU64::new(0)), Log::default());
    let kept = Arc::clone(&log);
    let port = server(move |mut stream: TcpStream| {
        stream.set_nodelay(true).unwrap();
        let mut mine = vec![];
        while stream.read(&mut [0; 4096]).is_ok_and(|n| n > 0) {
            let read = Instant::now();
            sleep(delay(requests.fetch_add(1, Ordering::Relaxed)));
            if stream.write_all(row_of_any_key()).is_err() {
                break;
            }
            mine.push((read, Instant::now()));
        }
        kept.lock().unwrap().push(mine);
    });
    (port, log)
}

/// The percentile of times in milliseconds.
fn exact(mut times_ms: Vec<f64>, percent: f64) -> f64 {
    times_ms.sort_by(f64::total_cmp);
    times_ms[(times_ms.len() as f64 * percent / 100.0).ceil() as usize - 1]
}

/// A request's time in milliseconds: at the server, and at the most between its being sent and its answer's arrival.
struct Served {
    least_ms: f64,
    most_ms: f64,
}

/// All requests, once all `clients` have gone. A client sends when it has read the answer before. So it has sent after that
/// was written here, and has read this one's answer before its next request was read here. These bounds hold even if the
/// machine stops a program for some milliseconds between the two clocks. A client's first and last have none.
fn served(log: &Log, clients: usize) -> Vec<Served> {
    while log.lock().unwrap().len() < clients {
        sleep(Duration::from_millis(5));
    }
    let ms = |from: Instant, to: Instant| (to - from).as_secs_f64() * 1e3;
    let of_client = |requests: &Vec<(Instant, Instant)>| -> Vec<Served> {
        let bounds = |i: usize| {
            let (read, written) = requests[i];
            let sent_after = if i == 0 { read } else { requests[i - 1].1 };
            Served {
                least_ms: ms(read, written),
                most_ms: ms(sent_after, requests.get(i + 1).map_or(written, |next| next.0)),
            }
        };
        (0..requests.len()).map(bounds).collect()
    };
    log.lock().unwrap().iter().flat_map(of_client).collect()
}

/// Row 1 of point-get, for runs that do not verify.
pub fn row_of_any_key() -> &'static [u8] {
    static ROW: OnceLock<Vec<u8>> = OnceLock::new();
    ROW.get_or_init(|| {
        let mut row = [1i64.to_le_bytes(), 1i64.to_le_bytes()].concat();
        for pad in ["x", "y"] {
            row.extend_from_slice(&120u16.to_le_bytes());
            row.extend_from_slice(format!("1{}", pad.repeat(119)).as_bytes());
        }
        [format!("${}\r\n", row.len()).as_bytes(), &row, b"\r\n"].concat()
    })
}

pub fn trial(port: u16, clients: u64, seconds: u64) -> Value {
    let mut plan = plan(redis_at(port), clients);
    plan["verify_reads"] = false.into();
    plan["duration_s"] = seconds.into();
    plan["operation_timeout_s"] = 5.into();
    plan
}

pub fn at_rate(mut plan: Value, rate_per_s: u64) -> Value {
    let segment = json!({"seconds": 1, "from_per_s": rate_per_s, "to_per_s": rate_per_s});
    plan["arrivals"] = json!({"kind": "constant", "segments": [segment]});
    plan
}

/// The percentile of a kind of time over all intervals, by docs/contract.md alone.
fn percentile_ms(records: &[Value], kind: &str, percent: f64) -> f64 {
    let mut counts = std::collections::BTreeMap::<u64, u64>::new();
    for interval in of_kind(records, "interval") {
        let buckets = interval["transactions"][kind]["buckets"].as_array().unwrap();
        for pair in buckets.chunks(2) {
            *counts.entry(pair[0].as_u64().unwrap()).or_default() += pair[1].as_u64().unwrap();
        }
    }
    let total: u64 = counts.values().sum();
    let rank = (total as f64 * percent / 100.0).ceil() as u64;
    let mut seen = 0;
    let reaches = |n: &u64| {
        seen += n;
        seen >= rank
    };
    let reached = counts.values().position(reaches).unwrap();
    let index = *counts.keys().nth(reached).unwrap();
    let e = if index < 256 { 0 } else { index / 128 - 1 };
    ((((index - 128 * e) << e) + (1 << e) / 2) as f64) / 1e6
}

fn assert_about(what: &str, found_ms: f64, expected_ms: f64) {
    assert_within(what, found_ms, expected_ms, expected_ms);
}

fn assert_within(what: &str, found_ms: f64, least_ms: f64, most_ms: f64) {
    let off = (least_ms - found_ms).max(found_ms - most_ms);
    let truth = format!("{least_ms} to {most_ms} ms is the truth");
    assert!(off <= most_ms * 0.02 || off <= 0.03, "{what}: {found_ms} ms where {truth}");
}

fn assert_service_times(engine: &str, records: &[Value], served: &[Served], percents: &[f64]) {
    for &percent in percents {
        let least_ms = exact(served.iter().map(|answer| answer.least_ms).collect(), percent);
        let most_ms = exact(served.iter().map(|answer| answer.most_ms).collect(), percent);
        let found_ms = percentile_ms(records, "service_time", percent);
        assert_within(&format!("p{percent} by {engine}"), found_ms, least_ms, most_ms);
    }
}

#[test]
fn a_fixed_delay_is_seen_as_it_is() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    for engine in engines() {
        let (port, log) = delayed(|_| Duration::from_millis(100));
        let mut plan = trial(port, 20, 3);
        plan["engine"] = engine.as_str().into();
        let (records, _) = execute(&plan);
        assert_service_times(&engine, &records, &served(&log, 20), &[50.0, 95.0]);
    }
}

#[test]
fn two_delays_are_told_apart_and_one_slow_answer_in_many_is_not_lost() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let delay = |n| {
        Duration::from_millis(match n {
            2000 => 900,
            _ if n % 10 == 0 => 200,
            _ => 50,
        })
    };
    for engine in engines() {
        let (port, log) = delayed(delay);
        let mut plan = trial(port, 100, 3);
        plan["engine"] = engine.as_str().into();
        let (records, _) = execute(&plan);
        let served = served(&log, 100);
        assert!(served.len() > 2500, "{} requests", served.len());
        assert_service_times(&engine, &records, &served, &[50.0, 95.0, 99.0]);
        let slowest = of_kind(&records, "interval").into_iter().map(|i| &i["transactions"]["service_time"]["max_ns"]);
        let slowest_ms = slowest.filter_map(Value::as_u64).max().unwrap() as f64 / 1e6;
        let slowest_served = served.iter().max_by(|a, b| a.least_ms.total_cmp(&b.least_ms)).unwrap();
        assert_within(&format!("max by {engine}"), slowest_ms, slowest_served.least_ms, slowest_served.most_ms);
    }
}

#[test]
fn a_server_that_stops_for_a_second_in_ten_is_charged_for_all_who_waited() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let begun = Arc::new(OnceLock::new());
    let (port, log) = delayed(move |_| {
        let since = begun.get_or_init(Instant::now).elapsed();
        let stall = Duration::from_secs(4)..Duration::from_secs(5);
        if stall.contains(&since) { stall.end - since } else { Duration::ZERO }
    });
    let (records, _) = execute(&at_rate(trial(port, 50, 10), 1000));
    served(&log, 50);
    // 50 clients share 1,000/s: each one's requests were due every 50 ms from its first, whenever they came.
    let connections = log.lock().unwrap();
    let waited = |connection: &Vec<(Instant, Instant)>| -> Vec<f64> {
        let first = connection[0].0;
        let due = |i: usize| first + Duration::from_millis(50 * i as u64);
        connection.iter().enumerate().map(|(i, (_, written))| (*written - due(i)).as_secs_f64() * 1e3).collect()
    };
    let truth: Vec<f64> = connections.iter().flat_map(waited).collect();
    for percent in [95.0, 99.0] {
        let recorded_ms = percentile_ms(&records, "response_time", percent);
        assert_about(&format!("p{percent}"), recorded_ms, exact(truth.clone(), percent));
    }
    let p95_ms = percentile_ms(&records, "response_time", 95.0);
    assert!((450.0..600.0).contains(&p95_ms), "a tenth waited between 0 and 1 s: {p95_ms}");
    assert!(percentile_ms(&records, "service_time", 95.0) < 100.0, "service time alone does not see the wait");
    let done: Vec<u64> =
        of_kind(&records, "interval").iter().map(|i| i["transactions"]["completed"].as_u64().unwrap()).collect();
    assert!(done.iter().any(|&n| n < 200), "the stall is in the timeline: {done:?}");
    assert_eq!(only(&records, "total")["transactions"]["scheduled"], 10_000);
}

#[test]
fn twice_what_the_server_can_ends_on_time_and_says_what_was_left() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (port, _) = delayed(|_| Duration::from_millis(20));
    let begun = Instant::now();
    let (records, status) = execute(&at_rate(trial(port, 10, 2), 1000));
    assert!(status.success());
    assert!(begun.elapsed() < Duration::from_secs(8));
    let total = &only(&records, "total")["transactions"];
    let number = |key: &str| total[key].as_u64().unwrap();
    assert_eq!(number("scheduled"), 2000);
    assert_eq!(number("scheduled"), number("completed") + number("failed") + number("unfinished"));
    assert!((500..=1000).contains(&number("completed")), "{total}");
    assert!(number("never_begun") > 900 && number("late") > 500, "{total}");
    let scheduled: u64 =
        of_kind(&records, "interval").iter().map(|i| i["transactions"]["scheduled"].as_u64().unwrap()).sum();
    assert_eq!(scheduled, 2000);
}

#[test]
fn a_pipeline_sends_all_requests_of_a_batch_before_it_reads_an_answer() {
    // Answers only once 8 requests are there, all of them then.
    let port = server(|mut stream| {
        let (mut seen, mut bytes) = (0, [0; 4096]);
        while let Ok(n @ 1..) = stream.read(&mut bytes) {
            seen += bytes[..n].iter().filter(|&&b| b == b'*').count();
            if seen >= 8 {
                seen -= 8;
                if stream.write_all(&row_of_any_key().repeat(8)).is_err() {
                    return;
                }
            }
        }
    });
    let mut plan = trial(port, 2, 1);
    plan["pipeline"] = 8.into();
    let (records, status) = execute(&plan);
    assert!(status.success());
    let total = &only(&records, "total")["transactions"];
    assert_eq!(total["failed"], 0);
    let completed = total["completed"].as_u64().unwrap();
    assert!(completed >= 16 && completed.is_multiple_of(8), "{total}");

    for (key, of, value, why) in [
        ("layout", "store", "hash", "point-get on redis: this store answers one request at a time"),
        ("name", "workload", "game", "game on redis: a transaction of game is not a single get"),
    ] {
        plan[of][key] = value.into();
        let (records, status) = execute(&plan);
        assert_eq!(status.code(), Some(2));
        assert_eq!(only(&records, "end")["reason"], format!("pipeline = 8 with {why}"));
    }
}

#[test]
fn a_network_delay_is_in_the_service_time_of_every_operation_and_the_loop_stays_closed() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (port, log) = delayed(|_| Duration::from_millis(20));
    let mut plan = trial(port, 4, 1);
    plan["network_delay_us"] = 30_000.into();
    let (records, status) = execute(&plan);
    assert!(status.success());
    served(&log, 4);
    // The time that the server saw between an answer and the next request is the requested one, never less.
    let connections = log.lock().unwrap();
    let gaps = connections.iter().flat_map(|c| c.windows(2).map(|two| two[1].0 - two[0].1));
    assert!(gaps.min().unwrap() >= Duration::from_millis(30));
    let fastest = of_kind(&records, "interval").into_iter().map(|i| &i["transactions"]["service_time"]["min_ns"]);
    assert!(fastest.filter_map(Value::as_u64).min().unwrap() >= 50_000_000);
    let in_flight = only(&records, "total")["in_flight_mean"].as_f64().unwrap();
    assert!((in_flight / 4.0 - 1.0).abs() < 0.02, "Little's law: {in_flight}");
}
