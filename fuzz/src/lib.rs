//! The promises of every decoder of `wire`, whatever the bytes: one function a decoder, one file a protocol, one folder of inputs each.
//!
//! `scripts/fuzz` searches for bytes that break a promise; `tests/corpus.rs` repeats what was found, and a little more, in `cargo test`.

use std::fmt::Debug;

use dbdyno_wire::Decoded;

mod cql;
mod handlersocket;
mod memcached;
mod mongodb;
mod mysql;
mod postgres;
mod redis;
mod tokyotyrant;

/// A decoder's name, which is its folder's in `corpus/`, and what panics if the decoder breaks a promise.
pub type Decoder = (&'static str, fn(&[u8]));

pub const DECODERS: &[Decoder] = &[
    ("cql_answer", cql::answer),
    ("cql_frame", cql::frame),
    ("cql_login", cql::login),
    ("cql_prepared", cql::prepared),
    ("cql_request", cql::request),
    ("cql_text", cql::text_answer),
    ("handlersocket_answer", handlersocket::answer),
    ("memcached_counted", memcached::counted),
    ("memcached_got", memcached::got),
    ("memcached_line", memcached::line),
    ("mongodb_answer", mongodb::answer),
    ("mongodb_login", mongodb::login),
    ("mongodb_message", mongodb::message),
    ("mongodb_request", mongodb::request),
    ("mysql_answer", mysql::answer),
    ("mysql_load", mysql::load_answer),
    ("mysql_login", mysql::login),
    ("mysql_packet", mysql::packet),
    ("mysql_prepared", mysql::prepared),
    ("mysql_text", mysql::text_answer),
    ("postgres_answer", postgres::answer),
    ("postgres_login", postgres::login),
    ("postgres_message", postgres::message),
    ("postgres_prepared", postgres::prepared),
    ("postgres_text", postgres::text_answer),
    ("redis_command", redis::command),
    ("redis_reply", redis::reply),
    ("tokyotyrant_answer", tokyotyrant::answer),
    ("tokyotyrant_request", tokyotyrant::request),
];

/// Every prefix of longer inputs would take a second.
const MOST_PREFIXES: usize = 256;

/// Asserts that a verdict is final: once the first bytes are a message, or cannot become one, no later byte changes that.
///
/// So an answer is understood alike however the network cuts it, and what follows it belongs to the next one.
fn verdict_is_final<T: Debug + PartialEq>(bytes: &[u8], decode: impl Fn(&[u8]) -> Decoded<(T, usize)>) {
    let whole = decode(bytes);
    if let Ok(Some((_, end))) = &whole {
        assert!((1..=bytes.len()).contains(end), "a message that ends at {end} of {} bytes", bytes.len());
    }
    for cut in (0..bytes.len()).rev().take(MOST_PREFIXES) {
        match decode(&bytes[..cut]) {
            Ok(None) => {}
            Err(malformed) => assert!(whole.is_err(), "of {cut} bytes: {malformed}; of all: {whole:?}"),
            message => assert_eq!(message, whole, "of {cut} bytes and of all"),
        }
    }
}

/// Asserts that a message reads the same wherever in the buffer it begins, and that its verdict is final. `decode` gives where it ends
/// from its own beginning, and texts by value.
fn holds_anywhere<T: Debug + PartialEq>(bytes: &[u8], decode: impl Fn(&[u8], usize) -> Decoded<(T, usize)>) {
    const BEFORE: &[u8] = b"+\r\n";
    let moved = [BEFORE, bytes].concat();
    assert_eq!(decode(&moved, BEFORE.len()), decode(bytes, 0), "behind other bytes, and alone");
    verdict_is_final(bytes, |bytes| decode(bytes, 0));
}
