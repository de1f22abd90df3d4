//! Tokyo Tyrant's binary protocol (section *Protocol* of its `doc/spex.html`): a command, lengths and texts, answered by a code and what was
//! asked for. Numbers are big-endian.

use crate::{Decoded, Malformed};

const MAGIC: u8 = 0xC8;
const SIZE: usize = size_of::<u32>();
const CODE: usize = 1;
/// `MAXARGSIZ`: the server takes no longer text, and keeps none.
const LONGEST: usize = 256 << 20;
/// Without a place in the update log: the call changes nothing.
const READS: u32 = 1;
const CHANGES: u32 = 0;

/// The commands with texts that dbdyno uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Command {
    Put = 0x10,
    /// Put only if the key is not there.
    PutNew = 0x11,
    Remove = 0x20,
    Get = 0x30,
    GetMany = 0x31,
    Size = 0x38,
    Keys = 0x58,
    Call = 0x90,
}

/// A range of the bytes given.
pub type Range = (usize, usize);

fn begin(out: &mut Vec<u8>, command: Command) {
    out.extend_from_slice(&[MAGIC, command as u8]);
}

fn number(out: &mut Vec<u8>, number: u32) {
    out.extend_from_slice(&number.to_be_bytes());
}

fn size(out: &mut Vec<u8>, text: &[u8]) {
    number(out, u32::try_from(text.len()).unwrap_or(u32::MAX));
}

/// Appends a text behind its length.
pub fn text(out: &mut Vec<u8>, text: &[u8]) {
    size(out, text);
    out.extend_from_slice(text);
}

/// Appends a request for a key: [`Command::Get`], [`Command::Remove`] or [`Command::Size`].
#[inline]
pub fn of_key(out: &mut Vec<u8>, command: Command, key: &[u8]) {
    begin(out, command);
    text(out, key);
}

/// Appends the request that stores a value: [`Command::Put`] or [`Command::PutNew`].
#[inline]
pub fn store(out: &mut Vec<u8>, command: Command, key: &[u8], value: &[u8]) {
    begin(out, command);
    size(out, key);
    size(out, value);
    out.extend_from_slice(key);
    out.extend_from_slice(value);
}

/// Appends the beginning of a request for the values of so many keys; each follows as [`text`].
pub fn get_many(out: &mut Vec<u8>, keys: usize) {
    begin(out, Command::GetMany);
    number(out, u32::try_from(keys).unwrap_or(u32::MAX));
}

/// Appends the request for the keys that begin so, at most so many; `None`: all of them.
pub fn keys(out: &mut Vec<u8>, prefix: &[u8], most: Option<u32>) {
    begin(out, Command::Keys);
    size(out, prefix);
    number(out, most.unwrap_or(u32::MAX));
    out.extend_from_slice(prefix);
}

/// Appends the call of a function of the database's own that changes nothing, or that changes it.
pub fn call(out: &mut Vec<u8>, function: &str, changes: bool, arguments: &[&[u8]]) {
    begin(out, Command::Call);
    size(out, function.as_bytes());
    number(out, if changes { CHANGES } else { READS });
    number(out, u32::try_from(arguments.len()).unwrap_or(u32::MAX));
    out.extend_from_slice(function.as_bytes());
    arguments.iter().for_each(|argument| text(out, argument));
}

fn number_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map(|chunk| u32::from_be_bytes(*chunk))
}

/// The length at `at`.
fn size_at(bytes: &[u8], at: usize) -> Decoded<usize> {
    match number_at(bytes, at) {
        None => Ok(None),
        Some(size) if size as usize <= LONGEST => Ok(Some(size as usize)),
        Some(_) => Err(Malformed::expected("a length", &bytes[at..])),
    }
}

fn text_of(bytes: &[u8], start: usize, size: usize) -> Option<Range> {
    (bytes.len() >= start + size).then_some((start, start + size))
}

/// Decodes the answer that is a code alone: whether the request was done.
///
/// # Errors
/// The byte is no code.
#[inline]
pub fn done(bytes: &[u8]) -> Decoded<(bool, usize)> {
    match bytes.first() {
        None => Ok(None),
        Some(0) => Ok(Some((true, CODE))),
        Some(1) => Ok(Some((false, CODE))),
        Some(_) => Err(Malformed::expected("a code", bytes)),
    }
}

/// Decodes the answer to [`Command::Get`]: the value, `None` if there is no such key.
///
/// # Errors
/// The bytes are no such answer.
#[inline]
pub fn value(bytes: &[u8]) -> Decoded<(Option<Range>, usize)> {
    match done(bytes)? {
        None => Ok(None),
        Some((false, end)) => Ok(Some((None, end))),
        Some((true, at)) => Ok(element_at(bytes, at)?.map(|(range, end)| (Some(range), end))),
    }
}

/// Decodes the answer to [`Command::Size`]: the length of the value, `None` if there is no such key.
///
/// # Errors
/// The bytes are no such answer.
pub fn value_size(bytes: &[u8]) -> Decoded<(Option<usize>, usize)> {
    match done(bytes)? {
        None => Ok(None),
        Some((false, end)) => Ok(Some((None, end))),
        Some((true, at)) => Ok(size_at(bytes, at)?.map(|size| (Some(size), at + SIZE))),
    }
}

/// Decodes the head of a list, which [`Command::GetMany`], [`Command::Keys`] and [`Command::Call`] are answered with: how many elements
/// follow, `None` if the request was refused.
///
/// # Errors
/// The bytes are no such answer.
pub fn list(bytes: &[u8]) -> Decoded<(Option<usize>, usize)> {
    let Some((is_done, at)) = done(bytes)? else { return Ok(None) };
    Ok(size_at(bytes, at)?.map(|count| (is_done.then_some(count), at + SIZE)))
}

/// Decodes an element of the list that a call, or a request for keys, is answered with.
///
/// # Errors
/// The bytes are no such element.
pub fn element(bytes: &[u8]) -> Decoded<(Range, usize)> {
    element_at(bytes, 0)
}

#[inline]
fn element_at(bytes: &[u8], at: usize) -> Decoded<(Range, usize)> {
    let Some(size) = size_at(bytes, at)? else { return Ok(None) };
    Ok(text_of(bytes, at + SIZE, size).map(|range| (range, range.1)))
}

/// Decodes the next record of those that [`Command::GetMany`] found: its value.
///
/// # Errors
/// The bytes are no record.
pub fn record(bytes: &[u8]) -> Decoded<(Range, usize)> {
    let (Some(key), Some(value)) = (size_at(bytes, 0)?, size_at(bytes, SIZE)?) else { return Ok(None) };
    Ok(text_of(bytes, 2 * SIZE + key, value).map(|range| (range, range.1)))
}

/// Decodes a request of those that a null server answers: its command, and where it ends. `keys` is replaced by its keys.
///
/// # Errors
/// The bytes are no such request.
pub fn request(bytes: &[u8], keys: &mut Vec<Range>) -> Decoded<(Command, usize)> {
    keys.clear();
    let Some(&[magic, command]) = bytes.first_chunk() else { return Ok(None) };
    let known = [Command::Put, Command::PutNew, Command::Remove, Command::Get, Command::GetMany];
    let Some(command) = known.into_iter().find(|known| magic == MAGIC && *known as u8 == command) else {
        return Err(Malformed::expected("a request", bytes));
    };
    let Some(first) = size_at(bytes, 2)? else { return Ok(None) };
    let mut at = 2 + SIZE;
    match command {
        Command::Put | Command::PutNew => {
            let Some(value) = size_at(bytes, at)? else { return Ok(None) };
            let Some(key) = text_of(bytes, at + SIZE, first) else { return Ok(None) };
            keys.push(key);
            Ok(text_of(bytes, key.1, value).map(|(_, end)| (command, end)))
        }
        Command::GetMany => {
            for _ in 0..first {
                let Some((key, end)) = element_at(bytes, at)? else { return Ok(None) };
                keys.push(key);
                at = end;
            }
            Ok(Some((command, at)))
        }
        _ => Ok(text_of(bytes, at, first).map(|key| {
            keys.push(key);
            (command, key.1)
        })),
    }
}

/// Appends the code that a request was done, or was not (the server's side).
pub fn code(out: &mut Vec<u8>, is_done: bool) {
    out.push(u8::from(!is_done));
}

/// Appends the answer to [`Command::Get`] (the server's side).
pub fn value_of(out: &mut Vec<u8>, value: Option<&[u8]>) {
    code(out, value.is_some());
    if let Some(value) = value {
        text(out, value);
    }
}

/// Appends the head of a list (the server's side).
pub fn list_of(out: &mut Vec<u8>, elements: usize) {
    code(out, true);
    number(out, u32::try_from(elements).unwrap_or(u32::MAX));
}

/// Appends a record to the answer to [`Command::GetMany`] (the server's side).
pub fn record_of(out: &mut Vec<u8>, key: &[u8], value: &[u8]) {
    size(out, key);
    size(out, value);
    out.extend_from_slice(key);
    out.extend_from_slice(value);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole<T: std::fmt::Debug + PartialEq>(decode: impl Fn(&[u8]) -> Decoded<(T, usize)>, bytes: &[u8], expected: T) {
        assert_eq!(decode(bytes), Ok(Some((expected, bytes.len()))));
        for cut in 0..bytes.len() {
            assert_eq!(decode(&bytes[..cut]), Ok(None), "cut at {cut}");
        }
    }

    #[test]
    fn golden_requests() {
        let asked = |append: &dyn Fn(&mut Vec<u8>)| {
            let mut out = vec![];
            append(&mut out);
            out.escape_ascii().to_string()
        };
        let put = r"\xc8\x10\x00\x00\x00\x01\x00\x00\x00\x02kvv";
        assert_eq!(asked(&|out| store(out, Command::Put, b"k", b"vv")), put);
        assert_eq!(asked(&|out| store(out, Command::PutNew, b"k", b"vv")), put.replacen("x10", "x11", 1));
        assert_eq!(asked(&|out| of_key(out, Command::Get, b"k")), r"\xc8\x30\x00\x00\x00\x01k".replace(r"\x30", "0"));
        assert_eq!(asked(&|out| of_key(out, Command::Remove, b"k")), r"\xc8 \x00\x00\x00\x01k");
        assert_eq!(asked(&|out| of_key(out, Command::Size, b"k")), r"\xc88\x00\x00\x00\x01k");
        let two = |out: &mut Vec<u8>| {
            get_many(out, 2);
            text(out, b"a");
            text(out, b"bc");
        };
        assert_eq!(asked(&two), r"\xc81\x00\x00\x00\x02\x00\x00\x00\x01a\x00\x00\x00\x02bc");
        assert_eq!(asked(&|out| keys(out, b"p:", None)), r"\xc8X\x00\x00\x00\x02\xff\xff\xff\xffp:");
        assert_eq!(asked(&|out| keys(out, b"p:", Some(1))), r"\xc8X\x00\x00\x00\x02\x00\x00\x00\x01p:");
        let setindex = |out: &mut Vec<u8>| call(out, "setindex", true, &[b"sid", b"1"]);
        let expected =
            r"\xc8\x90\x00\x00\x00\x08\x00\x00\x00\x00\x00\x00\x00\x02setindex\x00\x00\x00\x03sid\x00\x00\x00\x011";
        assert_eq!(asked(&setindex), expected);
        assert!(asked(&|out| call(out, "search", false, &[])).contains(r"\x00\x00\x00\x01\x00\x00\x00\x00search"));
    }

    #[test]
    fn golden_answers() {
        whole(done, b"\0", true);
        whole(done, b"\x01", false);
        whole(value, b"\0\0\0\0\x02vv", Some((5, 7)));
        whole(value, b"\0\0\0\0\0", Some((5, 5)));
        whole(value, b"\x01", None);
        whole(value_size, b"\0\0\0\x01\0", Some(256));
        whole(value_size, b"\x01", None);
        whole(list, b"\0\0\0\0\x03", Some(3));
        // A call that is refused has an empty list.
        whole(list, b"\x01\0\0\0\0", None);
        whole(element, b"\0\0\0\x01k", (4, 5));
        whole(record, b"\0\0\0\x01\0\0\0\x02kvv", (9, 11));
    }

    #[test]
    fn garbage_is_malformed() {
        assert!(done(b"HTTP").is_err() && value(b"\x02").is_err() && list(b"\xff\0\0\0\0").is_err());
        assert!(value(b"\0\x7f\xff\xff\xff").is_err() && element(b"\xff\xff\xff\xff").is_err());
        assert!(record(b"\0\0\0\x01\xff\0\0\0").is_err());
    }

    #[test]
    fn what_was_asked_is_understood_and_answered() {
        let (mut asked, mut keys) = (vec![], vec![]);
        get_many(&mut asked, 2);
        text(&mut asked, b"a");
        text(&mut asked, b"bc");
        let mut decode = |bytes: &[u8]| -> Decoded<((Command, Vec<Range>), usize)> {
            Ok(request(bytes, &mut keys)?.map(|(command, end)| ((command, keys.clone()), end)))
        };
        assert_eq!(decode(&asked), Ok(Some(((Command::GetMany, vec![(10, 11), (15, 17)]), asked.len()))));
        for cut in 0..asked.len() {
            assert_eq!(decode(&asked[..cut]), Ok(None));
        }
        asked.clear();
        store(&mut asked, Command::Put, b"k", b"vv");
        assert_eq!(decode(&asked), Ok(Some(((Command::Put, vec![(10, 11)]), asked.len()))));
        asked.clear();
        of_key(&mut asked, Command::Get, b"k");
        assert_eq!(decode(&asked), Ok(Some(((Command::Get, vec![(6, 7)]), asked.len()))));
        assert!(decode(b"GET /").is_err() && decode(b"\xc8\x99").is_err());
        let mut out = vec![];
        value_of(&mut out, Some(b"vv"));
        value_of(&mut out, None);
        list_of(&mut out, 1);
        record_of(&mut out, b"k", b"v");
        assert_eq!(out, b"\0\0\0\0\x02vv\x01\0\0\0\0\x01\0\0\0\x01\0\0\0\x01kv");
    }
}
