//! Groups of clients, pauses between transactions, and connections that are opened anew.

use crate::common::{Null, execute, of_kind, only, plan, redis_at};
use serde_json::{Value, json};

fn at_rate(per_s: u64) -> Value {
    json!({"kind": "constant", "segments": [{"seconds": 1, "from_per_s": per_s, "to_per_s": per_s}]})
}

fn grouped(port: u16, groups: Value) -> Value {
    let counts = groups.as_array().unwrap().iter().map(|group| group["count"].as_u64().unwrap());
    let mut plan = plan(redis_at(port), counts.sum());
    plan["groups"] = groups;
    plan
}

fn completed(record: &Value, operation: &str) -> u64 {
    record["operations"][operation]["completed"].as_u64().unwrap()
}

fn transactions(record: &Value) -> u64 {
    record["transactions"]["completed"].as_u64().unwrap()
}

#[test]
fn each_group_is_counted_and_timed_apart() {
    let null = Null::start("redis", "point-get");
    let groups = json!([
        {"name": "readers", "count": 3, "options": {"access": "zipfian"}},
        {"name": "steady", "count": 2, "arrivals": at_rate(100)},
    ]);
    let (records, status) = execute(&grouped(null.port, groups));
    assert!(status.success(), "{records:?}");
    let operations = only(&records, "hello")["operations"].clone();
    assert_eq!(operations[1], json!({"name": "readers", "operation": "clients", "table": null}));
    let total = only(&records, "total");
    assert_eq!(completed(total, "readers") + completed(total, "steady"), transactions(total));
    assert!(completed(total, "readers") > 0);
    let steady = &total["operations"]["steady"];
    assert_eq!((&steady["scheduled"], &total["transactions"]["failed"]), (&json!(100), &json!(0)));
    for interval in of_kind(&records, "interval") {
        let steady = &interval["operations"]["steady"];
        assert_eq!(steady["response_time"]["count"], steady["completed"]);
        assert!(steady["scheduled"].is_u64() && interval["transactions"].get("scheduled").is_none());
        assert!(interval["operations"]["readers"].get("response_time").is_none());
        assert!(interval["transactions"].get("response_time").is_none());
    }
}

#[test]
fn a_group_starts_when_its_plan_says() {
    let null = Null::start("redis", "point-get");
    let groups = json!([{"name": "first", "count": 1}, {"name": "second", "count": 1, "start_s": 1},
        {"name": "third", "count": 1, "start_s": 1, "arrivals": at_rate(50)}]);
    let mut plan = grouped(null.port, groups);
    plan["duration_s"] = 2.into();
    let (records, status) = execute(&plan);
    assert!(status.success(), "{records:?}");
    let intervals = of_kind(&records, "interval");
    let of_group = |name: &str| intervals.iter().map(|record| completed(record, name)).collect::<Vec<_>>();
    assert!(of_group("first")[0] > 0);
    assert_eq!((of_group("second")[0], of_group("third")[0]), (0, 0));
    assert!(of_group("second")[1] > 0);
    assert_eq!(only(&records, "total")["operations"]["third"]["scheduled"], 50);
}

#[test]
fn a_program_that_runs_a_part_of_the_clients_runs_their_groups() {
    let null = Null::start("redis", "point-get");
    let groups = json!([{"name": "one", "count": 2}, {"name": "two", "count": 2, "arrivals": at_rate(100)}]);
    let mut plan = grouped(null.port, groups);
    for (first, own, other, scheduled) in [(0, "one", "two", 0), (2, "two", "one", 100)] {
        plan["clients"] = json!({"first": first, "count": 2, "of": 4});
        let (records, status) = execute(&plan);
        assert!(status.success(), "{records:?}");
        let total = only(&records, "total");
        assert_eq!((completed(total, own), completed(total, other)), (transactions(total), 0), "{own}");
        assert_eq!(total["operations"]["two"]["scheduled"], scheduled);
    }
}

#[test]
fn a_client_that_thinks_is_idle_meanwhile() {
    let null = Null::start("redis", "point-get");
    let mut plan = plan(redis_at(null.port), 2);
    for kind in ["constant", "exponential"] {
        plan["think_time"] = json!({"kind": kind, "mean_us": 50_000});
        let (records, status) = execute(&plan);
        assert!(status.success(), "{records:?}");
        let total = only(&records, "total");
        // Two clients of 20 pauses a second each; the exponential ones vary.
        let most = if kind == "constant" { 42 } else { 90 };
        assert!((2..=most).contains(&transactions(total)), "{kind}: {total}");
        assert!(total["in_flight_mean"].as_f64().unwrap() < 1.0, "{kind}: {total}");
    }
}

#[test]
fn a_connection_serves_its_transactions_and_the_next_is_in_the_time_of_the_first_on_it() {
    for protocol in ["redis", "mysql", "postgres", "memcached"] {
        let null = Null::start(protocol, "point-get");
        let port = null.port;
        let address = json!({"host": "127.0.0.1", "port": port});
        let store = match protocol {
            "redis" => redis_at(port),
            "memcached" => json!({"kind": protocol, "address": address}),
            _ => json!({"kind": protocol, "address": address, "user": "u", "password": null, "database": "d"}),
        };
        let mut plan = plan(store, 2);
        plan["transactions_per_connection"] = 5.into();
        let (records, status) = execute(&plan);
        assert!(status.success(), "{protocol}: {records:?}");
        let total = only(&records, "total");
        let (opened, done) = (completed(total, "connect"), transactions(total));
        assert!(opened > 0 && opened <= done / 5 && opened >= (done / 5).saturating_sub(2), "{protocol}: {total}");
        assert_eq!(total["transactions"]["failed"], 0, "{protocol}: {total}");
        let interval = only(&records, "interval");
        let time = |of: &Value, what: &str| of["service_time"][what].as_u64().unwrap();
        let of_all = |what: &str| interval["operations"].as_object().unwrap().values().map(|of| time(of, what)).sum();
        let (parts, longest): (u64, u64) = (of_all("sum_ns"), of_all("max_ns"));
        // The run's end may cut each client's last transaction.
        assert!(parts.abs_diff(time(&interval["transactions"], "sum_ns")) <= 2 * longest, "{protocol}: {interval}");
    }
}

#[test]
fn groups_that_contradict_the_plan_are_refused_in_words() {
    let null = Null::start("redis", "point-get");
    let refused = |groups: Value| {
        let (records, status) = execute(&grouped(null.port, groups));
        assert_eq!(status.code(), Some(2), "{records:?}");
        only(&records, "end")["reason"].as_str().unwrap().to_string()
    };
    let named = |name: &str| json!({"name": name, "count": 1});
    assert!(refused(json!([named("a"), named("a")])).contains("\"a\" is the name of another"));
    assert!(refused(json!([named("get")])).contains("\"get\" is the name"));
    assert!(refused(json!([{"name": "a", "count": 1, "options": {"acess": "uniform"}}])).contains("acess"));
}
