//! The fuzzer's program: libFuzzer on the decoder that the environment variable DECODER names. `scripts/fuzz` builds and runs it.

#![no_main]

use std::sync::OnceLock;

use dbdyno_fuzz::DECODERS;
use libfuzzer_sys::fuzz_target;

static CHOSEN: OnceLock<fn(&[u8])> = OnceLock::new();

fn chosen() -> fn(&[u8]) {
    let name = std::env::var("DECODER").unwrap_or_default();
    match DECODERS.iter().find(|(known, _)| *known == name) {
        Some((_, decoder)) => *decoder,
        None => panic!("DECODER={name}: no such decoder; they are {:?}", DECODERS.iter().map(|d| d.0)),
    }
}

fuzz_target!(|bytes: &[u8]| CHOSEN.get_or_init(chosen)(bytes));
