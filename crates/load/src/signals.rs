//! SIGINT and SIGTERM end the run phase; a second one ends the program at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};

static STOP: std::sync::LazyLock<Arc<AtomicBool>> = std::sync::LazyLock::new(Arc::default);

/// Begins to listen. If the system refuses, signals keep their usual meaning.
pub fn listen() {
    for signal in [SIGINT, SIGTERM] {
        // The order matters: the first signal must find the flag unset and set it; only then does the next one end the program.
        let ends = signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&STOP));
        let sets = signal_hook::flag::register(signal, Arc::clone(&STOP));
        if let Err(error) = ends.and(sets) {
            eprintln!("dbdyno-load: cannot catch signal {signal}: {error}");
        }
    }
}

pub fn stop_requested() -> bool {
    STOP.load(Ordering::Relaxed)
}
