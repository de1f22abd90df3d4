//! Runs the built `dbdyno-load` and reads its records; makes servers that misbehave on purpose.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;

use dbdyno_net::Engine;
use serde_json::{Value, json};

pub fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dbdyno-load"));
    command.env("DBDYNO_ALLOW_DEBUG", "1");
    command
}

/// A plan that runs point-get over 100 rows for a second, by the engine that the environment names, or whichever the program chooses.
pub fn plan(store: Value, clients: u64) -> Value {
    json!({"contract": 1, "phases": ["run"], "store": store, "workload": {"name": "point-get", "rows": 100},
        "engine": std::env::var("DBDYNO_TEST_ENGINE").ok(),
        "clients": {"first": 0, "count": clients, "of": clients}, "duration_s": 1, "operation_timeout_s": 0.3})
}

/// The engines that this host permits, as a plan names them; the first is there always.
pub fn engines() -> Vec<String> {
    let known = [Engine::Epoll, Engine::IoUring];
    known.into_iter().filter(|engine| engine.is_available()).map(|engine| engine.to_string()).collect()
}

pub fn redis_at(port: u16) -> Value {
    json!({"kind": "redis", "address": {"host": "127.0.0.1", "port": port}, "user": null, "password": null})
}

pub fn start(plan: &Value) -> Child {
    let mut child = program().arg("run").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(format!("{plan}\n\n").as_bytes()).unwrap();
    child
}

/// The records of a program that has ended, and how it ended.
pub fn finish(child: Child) -> (Vec<Value>, ExitStatus) {
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    (text.lines().map(|line| serde_json::from_str(line).unwrap()).collect(), output.status)
}

pub fn execute(plan: &Value) -> (Vec<Value>, ExitStatus) {
    finish(start(plan))
}

pub fn of_kind<'a>(records: &'a [Value], kind: &str) -> Vec<&'a Value> {
    records.iter().filter(|r| r["record"] == kind).collect()
}

/// The only record of a kind.
pub fn only<'a>(records: &'a [Value], kind: &str) -> &'a Value {
    match of_kind(records, kind)[..] {
        [record] => record,
        ref many => panic!("{} records of kind {kind}: {many:?}", many.len()),
    }
}

/// A server on loopback that handles each connection with `serve`, on its own thread.
pub fn server(serve: impl Fn(TcpStream) + Send + Sync + Clone + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let serve = serve.clone();
            thread::spawn(move || serve(stream.unwrap()));
        }
    });
    port
}

/// The null server as a process; ends with this value.
pub struct Null {
    child: Child,
    pub port: u16,
}

impl Null {
    pub fn start(protocol: &str, workload: &str) -> Self {
        Self::with_options(protocol, workload, &json!({}))
    }

    pub fn with_options(protocol: &str, workload: &str, options: &Value) -> Self {
        let options = options.to_string();
        let arguments =
            ["null", "--protocol", protocol, "--workload", workload, "--rows", "100", "--options", &options];
        let mut child = program().args(arguments).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let listening: Value = serde_json::from_str(&line).unwrap();
        Self { child, port: listening["port"].as_u64().unwrap() as u16 }
    }
}

impl Drop for Null {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}
