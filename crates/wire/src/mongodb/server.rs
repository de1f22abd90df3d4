//! The server's side, as far as the null server needs it: which command came and what it asks for, and answers.

use super::bson::{Elements, read};
use super::message::{MORE_TO_COME, answering, message};
use crate::{Decoded, Malformed};

/// A command: its number, its name, the collection it is about, and whether it wants an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request<'b> {
    pub number: u32,
    pub command: &'b [u8],
    pub collection: &'b [u8],
    pub wants_answer: bool,
}

/// A value that a filter asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked<'b> {
    Number(i64),
    Text(&'b [u8]),
}

/// Decodes a client's message; `each` is given the values of the first column in its filter, one, or those of its `$in`.
///
/// # Errors
/// The bytes are not a command.
pub fn request<'b>(bytes: &'b [u8], mut each: impl FnMut(Asked<'b>)) -> Decoded<(Request<'b>, usize)> {
    let Some(message) = message(bytes, 0)? else { return Ok(None) };
    let wrong = || Malformed::expected("a command", bytes);
    if bytes.get(message.start) != Some(&0) {
        return Err(wrong());
    }
    let mut all = read(bytes, message.start + 1, message.end)?;
    let first = all.next(bytes)?.ok_or_else(wrong)?;
    while let Some(element) = all.next(bytes)? {
        if element.name == b"filter" {
            filter(bytes, element.inside(bytes).ok_or_else(wrong)?, &mut each)?;
        }
    }
    let request = Request {
        number: message.number,
        command: first.name,
        collection: first.bytes(bytes).unwrap_or_default(),
        wants_answer: message.flags & MORE_TO_COME == 0,
    };
    Ok(Some((request, message.next)))
}

fn filter<'b>(bytes: &'b [u8], mut columns: Elements, each: &mut impl FnMut(Asked<'b>)) -> Result<(), Malformed> {
    let Some(column) = columns.next(bytes)? else { return Ok(()) };
    let mut inside = match column.inside(bytes) {
        None => Elements { at: column.value, end: column.value },
        Some(mut operators) => operators.next(bytes)?.and_then(|array| array.inside(bytes)).unwrap_or(operators),
    };
    let mut give = |number: Option<i64>, text: Option<&'b [u8]>| {
        number.map(Asked::Number).or(text.map(Asked::Text)).into_iter().for_each(&mut *each);
    };
    give(column.number(bytes), column.bytes(bytes));
    while let Some(element) = inside.next(bytes)? {
        give(element.number(bytes), element.bytes(bytes));
    }
    Ok(())
}

/// Appends an answer to the request with this number, its document written by `write`.
pub fn write_answer(out: &mut Vec<u8>, number: u32, write: impl FnOnce(&mut Vec<u8>)) {
    answering(out, number, write);
}

#[cfg(test)]
mod tests {
    use super::super::bson::{array, document, int, text};
    use super::super::message::Command;
    use super::*;

    #[test]
    fn what_is_asked_for_is_read_back() {
        let find = Command::new(0, |out| text(out, "find", b"t")).document("filter");
        let (mut bytes, mut asked) = (vec![], vec![]);
        find.write(&mut bytes, 3, |out| int(out, "_id", 5));
        let expected = Request { number: 3, command: b"find", collection: b"t", wants_answer: true };
        assert_eq!(request(&bytes, |value| asked.push(value)), Ok(Some((expected, bytes.len()))));
        assert_eq!(asked, [Asked::Number(5)]);
        let mut several = vec![];
        find.write(&mut several, 3, |out| {
            document(out, "email", |out| {
                array(out, "$in", |out| {
                    text(out, "0", b"a");
                    text(out, "1", b"b");
                });
            });
        });
        asked.clear();
        request(&several, |value| asked.push(value)).unwrap();
        assert_eq!(asked, [Asked::Text(b"a"), Asked::Text(b"b")]);
        let update = Command::new(MORE_TO_COME, |out| text(out, "update", b"t")).sequence("updates");
        update.write(&mut bytes, 4, |_| {});
        assert_eq!(request(&bytes, |_| {}).map(|r| r.map(|(r, _)| r.wants_answer)), Ok(Some(false)));
        assert!(request(b"GET / HTTP/1.1\r\n\r\n", |_| {}).is_err());
    }
}
