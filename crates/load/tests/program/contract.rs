//! The contract of docs/contract.md, from the program's side.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::common::{Null, execute, finish, of_kind, only, plan, program, redis_at, server, start};
use serde_json::{Value, json};

fn network_store(protocol: &str, port: u16) -> Value {
    let address = json!({"host": "127.0.0.1", "port": port});
    match protocol {
        "mysql" => {
            json!({"kind": "mysql", "address": address, "user": "u", "password": null, "database": "d"})
        }
        "postgres" => {
            json!({"kind": "postgres", "address": address, "user": "u", "password": null, "database": "d"})
        }
        "redis" => redis_at(port),
        _ => json!({"kind": "memcached", "address": address}),
    }
}

#[test]
fn every_protocol_against_its_null_server_completes_verified_with_sound_records() {
    for protocol in ["mysql", "postgres", "redis", "memcached"] {
        let null = Null::start(protocol, "game");
        let mut plan = plan(network_store(protocol, null.port), 8);
        plan["workload"]["name"] = "game".into();
        plan["warmup_s"] = 1.into();
        let (records, status) = execute(&plan);
        assert!(status.success(), "{protocol}: {records:?}");
        let kinds: Vec<&str> = records.iter().map(|r| r["record"].as_str().unwrap()).collect();
        assert_eq!((kinds[0], kinds[kinds.len() - 1]), ("hello", "end"), "{protocol}");
        let intervals = of_kind(&records, "interval");
        let seconds: Vec<_> = intervals.iter().map(|i| (i["second"].as_u64(), i["warmup"].as_bool())).collect();
        assert_eq!(seconds, [(Some(0), Some(true)), (Some(1), Some(false))], "{protocol}");
        for interval in &intervals {
            assert_sound_histogram(&interval["transactions"]["service_time"]);
            assert_eq!(interval["errors"], json!({}), "{protocol}");
            assert_eq!(interval["connected"], 8, "{protocol}");
            let used: Vec<f64> = serde_json::from_value(interval["load_threads"]["cpu_s"].clone()).unwrap();
            let together = interval["client_cpu_s"].as_f64().unwrap();
            assert!(together > 0.0 && (used.iter().sum::<f64>() - together).abs() < 1e-5, "{protocol}: {interval}");
            assert_eq!(used.len() as u64, only(&records, "hello")["threads"].as_u64().unwrap(), "{protocol}");
        }
        assert_total(&records, 8);
    }
}

#[test]
fn a_batch_is_one_request_and_all_its_rows_are_verified() {
    for protocol in ["mysql", "postgres", "redis", "memcached"] {
        let options = json!({"batch": "20"});
        let null = Null::with_options(protocol, "batch-get", &options);
        let mut plan = plan(network_store(protocol, null.port), 2);
        plan["workload"] = json!({"name": "batch-get", "rows": 100, "options": options});
        let (records, status) = execute(&plan);
        assert!(status.success(), "{protocol}: {records:?}");
        let total = only(&records, "total");
        let completed = total["operations"]["get_many"]["completed"].as_u64().unwrap();
        assert_eq!(total["reads_verified"], 20 * completed, "{protocol}");
        assert_eq!(total["transactions"]["failed"], 0, "{protocol}");
        assert_total(&records, 2);

        // Rows that nobody put there are missing, not passed over.
        plan["workload"]["rows"] = 1000.into();
        let (records, _) = execute(&plan);
        assert!(only(&records, "total")["transactions"]["failed"].as_u64().unwrap() > 0, "{protocol}");
        assert_eq!(of_kind(&records, "error")[0]["kind"], "missing", "{protocol}");
    }
}

fn assert_sound_histogram(histogram: &Value) {
    let buckets: Vec<u64> = histogram["buckets"].as_array().unwrap().iter().map(|v| v.as_u64().unwrap()).collect();
    let counts = buckets.iter().skip(1).step_by(2);
    assert!(counts.clone().all(|&n| n > 0));
    assert_eq!(counts.sum::<u64>(), histogram["count"].as_u64().unwrap());
    assert!(buckets.iter().step_by(2).is_sorted());
    let number = |key: &str| histogram[key].as_u64().unwrap();
    assert!(number("min_ns") * number("count") <= number("sum_ns"));
    assert!(number("sum_ns") <= number("max_ns") * number("count"));
}

fn assert_total(records: &[Value], clients: u64) {
    let total = only(records, "total");
    let sum = |path: &dyn Fn(&Value) -> u64| of_kind(records, "interval").iter().map(|i| path(i)).sum::<u64>();
    assert_eq!(
        sum(&|i| i["transactions"]["completed"].as_u64().unwrap()),
        total["transactions"]["completed"].as_u64().unwrap()
    );
    assert_eq!(sum(&|i| i["reads_verified"].as_u64().unwrap()), total["reads_verified"].as_u64().unwrap());
    assert!(total["reads_verified"].as_u64().unwrap() > 0);
    assert!(total["transactions"]["unfinished"].as_u64().unwrap() <= clients);
    let in_flight = total["in_flight_mean"].as_f64().unwrap();
    assert!((in_flight - clients as f64).abs() < 0.02 * clients as f64, "{in_flight} in flight");
}

fn unix_now_s() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64()
}

/// When a phase of a run reached a state.
fn at_unix_s(records: &[Value], state: &str) -> f64 {
    let phase = of_kind(records, "phase").into_iter().find(|r| r["phase"] == "run" && r["state"] == state);
    phase.unwrap()["at_unix_s"].as_f64().unwrap()
}

#[test]
fn the_first_second_begins_when_all_are_connected_or_at_the_time_that_was_given() {
    const CONNECTING: Duration = Duration::from_millis(400);
    let first_get = Arc::new(Mutex::new(None));
    let seen = Arc::clone(&first_get);
    let port = server(move |mut stream| {
        let mut request = [0; 4096];
        let (mut answer, mut wait) = (&b"+OK\r\n"[..], CONNECTING);
        while stream.read(&mut request).is_ok_and(|n| n > 0) {
            if answer != b"+OK\r\n" {
                seen.lock().unwrap().get_or_insert_with(unix_now_s);
            }
            thread::sleep(std::mem::take(&mut wait));
            if stream.write_all(answer).is_err() {
                break;
            }
            answer = b"$-1\r\n";
        }
    });
    let mut plan = plan(redis_at(port), 2);
    plan["store"]["database"] = 1.into();
    plan["operation_timeout_s"] = 5.into();
    let (records, status) = execute(&plan);
    assert!(status.success(), "{records:?}");
    let (begin, start) = (at_unix_s(&records, "begin"), at_unix_s(&records, "start"));
    let connected = begin + CONNECTING.as_secs_f64();
    let first = first_get.lock().unwrap().take().unwrap();
    assert!((connected..first + 0.001).contains(&start), "{begin} {start} {first}");
    // The wake-up that begins the run may come late on a busy machine, the record says when it was due.
    assert!(first - start < 0.5, "{start} {first}");

    let wanted = unix_now_s() + 1.5;
    plan["start_at_unix_s"] = wanted.into();
    let (records, _) = execute(&plan);
    let first = first_get.lock().unwrap().take().unwrap();
    assert!((at_unix_s(&records, "start") - wanted).abs() < 0.01, "{records:?}");
    assert!((-0.001..0.5).contains(&(first - wanted)), "{wanted} {first}");
}

#[test]
fn a_thread_that_does_all_the_work_is_seen_among_those_that_wait() {
    let connections = Arc::new(Mutex::new(0));
    let port = server(move |mut stream| {
        let is_first = std::mem::replace(&mut *connections.lock().unwrap(), 1) == 0;
        let mut request = [0; 4096];
        while let Ok(1..) = stream.read(&mut request) {
            if is_first && stream.write_all(b"$-1\r\n").is_err() {
                break;
            }
        }
    });
    let mut plan = plan(redis_at(port), 4);
    plan["threads"] = 4.into();
    plan["operation_timeout_s"] = 2.into();
    let (records, status) = execute(&plan);
    assert!(status.success(), "{records:?}");
    let threads = &of_kind(&records, "interval")[0]["load_threads"];
    let shares = |key: &str| serde_json::from_value::<Vec<f64>>(threads[key].clone()).unwrap();
    let (used, waited) = (shares("cpu_s"), shares("run_queue_s"));
    assert_eq!((used.len(), waited.len()), (4, 4), "{threads}");
    let busiest = used.iter().fold(0.0_f64, |most, &share| most.max(share));
    assert!(busiest > 0.5 * used.iter().sum::<f64>(), "{threads}");
    assert!(waited.iter().all(|&s| s >= 0.0), "{threads}");
}

#[test]
fn a_signal_ends_the_run_with_what_was_recorded() {
    let null = Null::start("redis", "point-get");
    let mut plan = plan(redis_at(null.port), 2);
    plan["duration_s"] = 60.into();
    let child = start(&plan);
    std::thread::sleep(std::time::Duration::from_millis(1600));
    let killed = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let (records, status) = finish(child);
    assert_eq!(status.code(), Some(1));
    assert_eq!(only(&records, "end")["status"], "interrupted");
    let intervals = of_kind(&records, "interval");
    let last = intervals.last().unwrap();
    assert!(last["seconds"].as_f64().unwrap() < 1.0, "the last second was cut short: {}", last["seconds"]);
    assert_total(&records, 2);
}

/// The first 20 requests of each connection to a server that has none of the rows.
fn requests_of(plans: &[Value], make: impl Fn(&Value, u16) -> Value) -> BTreeSet<Vec<Vec<u8>>> {
    let seen: Arc<Mutex<BTreeMap<u16, Vec<Vec<u8>>>>> = Arc::default();
    let log = Arc::clone(&seen);
    let port = server(move |mut stream| {
        let client = stream.peer_addr().unwrap().port();
        let mut request = [0; 4096];
        while let Ok(n @ 1..) = stream.read(&mut request) {
            log.lock().unwrap().entry(client).or_default().push(request[..n].to_vec());
            if stream.write_all(b"$-1\r\n").is_err() {
                break;
            }
        }
    });
    let children: Vec<_> = plans.iter().map(|plan| start(&make(plan, port))).collect();
    children.into_iter().for_each(|child| assert!(finish(child).1.success()));
    let seen = seen.lock().unwrap();
    seen.values().map(|requests| requests[..20].to_vec()).collect()
}

#[test]
fn two_programs_with_a_slice_each_issue_what_one_would() {
    let slice = |first: u64, count: u64| json!({"first": first, "count": count, "of": 4});
    let make = |clients: &Value, port: u16| {
        let mut plan = plan(redis_at(port), 4);
        plan["clients"] = clients.clone();
        plan
    };
    let whole = requests_of(&[slice(0, 4)], make);
    let halves = requests_of(&[slice(0, 1), slice(1, 3)], make);
    assert_eq!(whole.len(), 4);
    assert_eq!(whole, halves);

    let (records, _) = execute(&make(&slice(2, 3), 1));
    assert_eq!(only(&records, "end")["status"], "refused");
}

#[test]
fn refusals_come_before_anything_is_touched_and_name_both_sides() {
    let mut wrong = plan(json!({"kind": "memcached", "address": {"host": "127.0.0.1", "port": 1}}), 1);
    wrong["workload"]["name"] = "secondary-get".into();
    let (records, status) = execute(&wrong);
    assert_eq!(status.code(), Some(2));
    let reason = only(&records, "end")["reason"].as_str().unwrap();
    assert!(reason.contains("memcached") && reason.contains("find on bm"), "{reason}");

    let mut many = plan(json!({"kind": "sqlite", "path": "/nonexistent/x"}), 513);
    many["duration_s"] = 1.into();
    let (records, status) = execute(&many);
    assert_eq!(status.code(), Some(2));
    assert!(only(&records, "end")["reason"].as_str().unwrap().contains("512"));
}

#[test]
fn a_debug_build_does_not_measure() {
    let output = {
        let mut child = program()
            .env_remove("DBDYNO_ALLOW_DEBUG")
            .arg("run")
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let plan = plan(json!({"kind": "sqlite", "path": "/nonexistent/x"}), 1);
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), format!("{plan}\n\n").as_bytes()).unwrap();
        finish(child)
    };
    let reason = only(&output.0, "end")["reason"].as_str().unwrap().to_string();
    assert_eq!(reason.contains("debug build"), cfg!(debug_assertions), "{reason}");
}

#[test]
fn embedded_stores_load_run_verify_and_sum() {
    let folder = std::env::temp_dir().join(format!("dbdyno-load-test-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let stores = [
        json!({"kind": "sqlite", "path": folder.join("db"), "synchronous": "OFF"}),
        json!({"kind": "lmdb", "path": folder.join("lmdb"), "sync": "none", "map_size_bytes": 100_000_000}),
    ];
    for store in stores {
        let mut plan = plan(store, 3);
        plan["workload"]["name"] = "point-update".into();
        plan["operation_timeout_s"] = 5.into();
        plan["phases"] = json!(["prepare", "load", "run", "verify"]);
        let (records, status) = execute(&plan);
        assert!(status.success(), "{records:?}");
        let checks = of_kind(&records, "check");
        assert_eq!(checks.len(), 2);
        assert!(checks.iter().all(|c| c["ok"] == true), "{checks:?}");
        assert!(checks[1]["found"].as_i64().unwrap() > 0);
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn plans_of_statements_are_recorded_before_and_after_the_run_where_they_are_asked_for() {
    let folder = std::env::temp_dir().join(format!("dbdyno-load-plans-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut plan = plan(json!({"kind": "sqlite", "path": folder.join("db"), "synchronous": "OFF"}), 1);
    plan["workload"]["name"] = "secondary-get".into();
    plan["operation_timeout_s"] = 5.into();
    plan["phases"] = json!(["prepare", "load", "run"]);
    assert_eq!(of_kind(&execute(&plan).0, "query_plan").len(), 0);
    plan["query_plans"] = true.into();
    let (records, status) = execute(&plan);
    assert!(status.success(), "{records:?}");
    let plans = of_kind(&records, "query_plan");
    assert_eq!(plans.iter().map(|plan| plan["when"].as_str().unwrap()).collect::<Vec<_>>(), ["before", "after"]);
    for explained in plans {
        assert!(explained["steps"][0].as_str().unwrap().contains("USING INDEX dbdyno_bm_"), "{explained}");
        assert!(explained["sql"].as_str().unwrap().ends_with(" = ?"), "{explained}");
    }
    // Another program speaks for the trial.
    plan["clients"] = json!({"first": 1, "count": 1, "of": 2});
    plan["phases"] = json!(["run"]);
    assert_eq!(of_kind(&execute(&plan).0, "query_plan").len(), 0);
    std::fs::remove_dir_all(folder).unwrap();
}
