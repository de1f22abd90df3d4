//! Tokyo Tyrant: the answers to its requests, and the requests that a null server answers.

use dbdyno_wire::tokyotyrant as wire;

use crate::verdict_is_final;

pub fn answer(bytes: &[u8]) {
    let of = |range: wire::Range| bytes[range.0..range.1].to_vec();
    verdict_is_final(bytes, wire::done);
    verdict_is_final(bytes, wire::value_size);
    verdict_is_final(bytes, wire::list);
    verdict_is_final(bytes, |bytes| Ok(wire::value(bytes)?.map(|(value, end)| (value.map(of), end))));
    for decode in [wire::element, wire::record] {
        verdict_is_final(bytes, |bytes| Ok(decode(bytes)?.map(|(text, end)| (of(text), end))));
    }
}

pub fn request(bytes: &[u8]) {
    verdict_is_final(bytes, |bytes| {
        let mut keys = vec![];
        Ok(wire::request(bytes, &mut keys)?.map(|(command, end)| ((command, keys), end)))
    });
}
