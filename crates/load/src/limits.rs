//! The host's limits for this process: processors, file descriptors, a life no longer than its parent's.

use rustix::process::{Resource, Rlimit, Signal, getrlimit, set_parent_process_death_signal, setrlimit};
use rustix::thread::{CpuSet, sched_setaffinity};

/// File descriptors used by other things than clients' connections.
const OTHER_DESCRIPTORS: u64 = 64;

/// Ends this program with SIGTERM when the one that started it is gone, however that went.
pub fn die_with_parent() {
    if let Err(error) = set_parent_process_death_signal(Some(Signal::TERM)) {
        eprintln!("dbdyno-load: cannot end with its parent process: {error}");
    }
}

/// Keeps this thread, and those it will start, on these processors.
///
/// # Errors
/// The host has none of them: in words for the user.
pub fn pin(cpus: &[usize]) -> Result<(), String> {
    let mut set = CpuSet::new();
    for &cpu in cpus {
        if cpu >= CpuSet::MAX_CPU {
            return Err(format!("cpus = {cpus:?}: there is no processor {cpu}"));
        }
        set.set(cpu);
    }
    sched_setaffinity(None, &set).map_err(|error| format!("cpus = {cpus:?}: this host does not allow it: {error}"))
}

/// Makes room for `connections` sockets.
///
/// # Errors
/// The limit is too low and cannot be raised: says what it is and how to raise it.
pub fn allow_connections(connections: u64) -> Result<(), String> {
    let needed = connections + OTHER_DESCRIPTORS;
    let limit = getrlimit(Resource::Nofile);
    let enough = |limit: Option<u64>| limit.is_none_or(|n| n >= needed);
    if enough(limit.current) {
        return Ok(());
    }
    if enough(limit.maximum) && setrlimit(Resource::Nofile, Rlimit { current: Some(needed), ..limit }).is_ok() {
        return Ok(());
    }
    let allowed = limit.maximum.unwrap_or(0);
    Err(format!(
        "{connections} connections need {needed} file descriptors, and {allowed} are allowed: raise the limit with \
         `ulimit -n {needed}` (as root, or in /etc/security/limits.conf)"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_connections_are_refused_with_the_limit_and_the_remedy() {
        let refusal = allow_connections(1 << 40).unwrap_err();
        assert!(refusal.contains("ulimit -n"), "{refusal}");
        assert_eq!(allow_connections(1), Ok(()));
    }

    #[test]
    fn a_processor_that_is_not_there_is_refused() {
        assert!(pin(&[1000]).unwrap_err().contains("1000"));
        assert!(pin(&[1 << 30]).is_err());
    }
}
