//! Plain queries, whose rows are text.

use super::message::{Message, ServerMessage, frame, is_aside, message, server_error, sized, two_bytes};
use crate::{Decoded, Malformed, TextRows};

/// Appends a query: one or more statements, which are one transaction.
pub fn query(out: &mut Vec<u8>, sql: &str) {
    frame(out, b'Q', |out| {
        out.extend_from_slice(sql.as_bytes());
        out.push(0);
    });
}

/// Appends the end of the session, which has no answer.
pub fn terminate(out: &mut Vec<u8>) {
    frame(out, b'X', |_| {});
}

/// Decodes the answer to a query: the rows of all its statements. Between what it copied and its end, a COPY is answered like this too.
///
/// # Errors
/// The bytes are no such answer.
pub fn text_answer(bytes: &[u8]) -> Decoded<(Result<TextRows, ServerMessage>, usize)> {
    let (mut at, mut rows, mut refused) = (0, vec![], None);
    loop {
        let Some(Message { kind, start, end }) = message(bytes, at)? else { return Ok(None) };
        let payload = &bytes[start..end];
        at = end;
        match kind {
            b'T' | b'C' | b'G' | b'I' => {}
            b'D' => rows.push(text_row(payload).ok_or_else(|| Malformed::expected("a row", payload))?),
            b'E' => match server_error(payload)? {
                fatal @ ServerMessage { is_fatal: true, .. } => return Ok(Some((Err(fatal), end))),
                error => refused = Some(error),
            },
            b'Z' => return Ok(Some((refused.map_or(Ok(rows), Err), end))),
            _ if is_aside(kind) => {}
            _ => return Err(Malformed::expected("an answer to a query", &bytes[start - 5..end])),
        }
    }
}

fn text_row(payload: &[u8]) -> Option<Vec<Option<String>>> {
    let (count, mut at) = two_bytes(payload, 0)?;
    let mut row = vec![];
    for _ in 0..count {
        let (value, next) = sized(payload, at)?;
        row.push(value.map(|(start, end)| String::from_utf8_lossy(&payload[start..end]).into_owned()));
        at = next;
    }
    (at == payload.len()).then_some(row)
}

#[cfg(test)]
mod tests {
    use super::super::server::{write_complete, write_error, write_ready};
    use super::*;

    #[test]
    fn rows_of_text() {
        let mut bytes = b"T\0\0\0\x06\0\0".to_vec();
        bytes.extend_from_slice(b"D\0\0\0\x10\0\x02\0\0\0\x0212\xff\xff\xff\xff");
        write_complete(&mut bytes, "SELECT 1");
        write_ready(&mut bytes);
        let rows = vec![vec![Some("12".to_string()), None]];
        assert_eq!(text_answer(&bytes), Ok(Some((Ok(rows), bytes.len()))));
        for cut in 0..bytes.len() {
            assert_eq!(text_answer(&bytes[..cut]), Ok(None), "cut at {cut}");
        }
    }

    #[test]
    fn an_error_is_the_answer_once_the_server_is_ready_again() {
        let mut bytes = Vec::new();
        write_error(&mut bytes, "53100", "no space");
        assert_eq!(text_answer(&bytes), Ok(None));
        write_ready(&mut bytes);
        assert_eq!(text_answer(&bytes).unwrap().unwrap().0.unwrap_err().text, "no space");
        assert!(text_answer(b"D\0\0\0\x05\0").is_err());
        assert!(text_answer(b"x\0\0\0\x04").is_err());
    }
}
