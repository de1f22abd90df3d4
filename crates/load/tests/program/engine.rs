//! By which of the kernel's interfaces a trial ran: chosen, asked for, or all that is permitted.

use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{ExitStatus, Stdio};

use serde_json::{Value, json};

use crate::common::{Null, engines, execute, finish, only, plan, program, redis_at};

fn engine_of(plan: &Value) -> Value {
    only(&execute(plan).0, "hello")["engine"].clone()
}

/// A plan that leaves the choice to the program.
fn free_plan(port: u16, clients: u64) -> Value {
    let mut plan = plan(redis_at(port), clients);
    plan["engine"] = Value::Null;
    plan
}

#[test]
fn threads_with_few_clients_use_epoll_and_those_with_many_the_best_that_is_permitted() {
    let null = Null::start("redis", "point-get");
    assert_eq!(engine_of(&free_plan(null.port, 1)), "epoll");
    let mut plan = free_plan(null.port, 8);
    plan["threads"] = 1.into();
    assert_eq!(engine_of(&plan), *engines().last().unwrap());
    plan["network_delay_us"] = 1000.into();
    assert_eq!(engine_of(&plan), "epoll", "clients that wait between two requests send them one at a time");
    for engine in engines() {
        plan["engine"] = engine.as_str().into();
        assert_eq!(engine_of(&plan), engine.as_str());
    }
}

#[test]
fn embedded_stores_have_none() {
    let mut plan = plan(json!({"kind": "sqlite", "path": "/nonexistent/x"}), 1);
    plan["duration_s"] = 1.into();
    assert_eq!(engine_of(&plan), Value::Null);
}

#[test]
fn where_io_uring_is_forbidden_epoll_is_used_and_recorded_and_what_was_asked_for_is_refused() {
    let null = Null::start("redis", "point-get");
    let mut plan = free_plan(null.port, 64);
    let (records, status) = execute_without(&plan, libc::SYS_io_uring_setup, libc::EPERM);
    assert!(status.success(), "{records:?}");
    assert_eq!(only(&records, "hello")["engine"], "epoll");
    assert!(only(&records, "total")["transactions"]["completed"].as_u64().unwrap() > 0);

    plan["engine"] = "io_uring".into();
    let (records, status) = execute_without(&plan, libc::SYS_io_uring_setup, libc::EPERM);
    assert_eq!(status.code(), Some(2));
    assert!(only(&records, "end")["reason"].as_str().unwrap().contains("engine = io_uring"), "{records:?}");
}

#[test]
fn a_kernel_before_linux_5_11_is_named_before_anything_is_sent() {
    let null = Null::start("redis", "point-get");
    for (phases, errno) in [(json!(["prepare", "load"]), libc::ENOSYS), (json!(["run"]), libc::EPERM)] {
        let mut plan = free_plan(null.port, 64);
        plan["phases"] = phases;
        let (records, status) = execute_without(&plan, libc::SYS_epoll_pwait2, errno);
        assert_eq!((records.len(), status.code()), (1, Some(2)), "{records:?}");
        let needed = "lacks epoll_pwait2 or forbids it; load over the network needs Linux 5.11 or newer";
        assert!(only(&records, "end")["reason"].as_str().unwrap().contains(needed), "{records:?}");
    }
    let folder = std::env::temp_dir().join(format!("dbdyno-old-kernel-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut plan = plan(json!({"kind": "sqlite", "path": folder.join("db")}), 1);
    plan["phases"] = json!(["prepare", "load", "run"]);
    let (records, status) = execute_without(&plan, libc::SYS_epoll_pwait2, libc::ENOSYS);
    std::fs::remove_dir_all(folder).unwrap();
    assert!(status.success(), "an embedded store has no sockets: {records:?}");
}

/// Executes a plan with a system call that fails: as under an old kernel, or in a container whose runtime forbids it.
fn execute_without(plan: &Value, call: libc::c_long, errno: libc::c_int) -> (Vec<Value>, ExitStatus) {
    let mut command = program();
    command.arg("run").stdin(Stdio::piped()).stdout(Stdio::piped());
    // SAFETY: two system calls, on memory of the function's own, between fork and exec.
    unsafe { command.pre_exec(move || forbid(call, errno)) };
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(format!("{plan}\n\n").as_bytes()).unwrap();
    finish(child)
}

fn forbid(call: libc::c_long, errno: libc::c_int) -> io::Result<()> {
    let step = |code: u32, jf: u8, k: u32| libc::sock_filter { code: code as u16, jt: 0, jf, k };
    let mut steps = [
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0),
        step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 1, call as u32),
        step(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ERRNO | errno as u32),
        step(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let filter = libc::sock_fprog { len: steps.len() as u16, filter: steps.as_mut_ptr() };
    // SAFETY: the filter outlives the call that copies it.
    let refused = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
            || libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const filter) != 0
    };
    if refused { Err(io::Error::last_os_error()) } else { Ok(()) }
}
