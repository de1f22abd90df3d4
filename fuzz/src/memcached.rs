//! The text protocol of memcached: the answers to `get` and `incr`, and single lines.

use dbdyno_wire::Decoded;
use dbdyno_wire::memcached::Got;

use crate::{holds_anywhere, verdict_is_final};

pub fn got(bytes: &[u8]) {
    for decode in [dbdyno_wire::memcached::got, dbdyno_wire::memcached::next_value] {
        answer(bytes, decode);
    }
}

fn answer(bytes: &[u8], decode: fn(&[u8]) -> Decoded<(Got, usize)>) {
    verdict_is_final(bytes, |bytes| {
        Ok(decode(bytes)?.map(|(got, end)| {
            let text = match got {
                Got::Hit { start, end } => Some(Ok(bytes[start..end].to_vec())),
                Got::Error { start, end } => Some(Err(bytes[start..end].to_vec())),
                Got::Miss => None,
            };
            (text, end)
        }))
    });
}

pub fn counted(bytes: &[u8]) {
    verdict_is_final(bytes, dbdyno_wire::memcached::number_after);
}

pub fn line(bytes: &[u8]) {
    holds_anywhere(bytes, |bytes, at| {
        Ok(dbdyno_wire::memcached::line(bytes, at)?.map(|(end, next)| (bytes[at..end].to_vec(), next - at)))
    });
}
