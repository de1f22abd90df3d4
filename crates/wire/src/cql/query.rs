//! Statements as text, for what is done once: their results in words.

use super::frame::{ServerError, frame, opcode, put_request, put_sized, server_error};
use super::statement::{Consistency, rows_in_words};
use crate::{Decoded, Malformed, TextRows};

/// Appends a statement.
pub fn query(out: &mut Vec<u8>, cql: &str, consistency: Consistency) {
    put_request(out, opcode::QUERY, 0, |out| {
        put_sized(out, cql.as_bytes());
        out.extend_from_slice(&(consistency as u16).to_be_bytes());
        out.push(0);
    });
}

/// Decodes the answer to [`query`].
///
/// # Errors
/// The bytes are no such answer, or a column has a type that nothing here asks for.
pub fn text_answer(bytes: &[u8]) -> Decoded<(Result<TextRows, ServerError>, usize)> {
    let Some(frame) = frame(bytes, 0)? else { return Ok(None) };
    let body = &bytes[..frame.end];
    let rows = match frame.opcode {
        opcode::ERROR => Err(server_error(bytes, frame)?),
        opcode::RESULT => Ok(rows_in_words(body, frame)
            .ok_or_else(|| Malformed::expected("rows of known columns", &body[frame.start..]))?),
        _ => return Err(Malformed::expected("an answer to a statement", body)),
    };
    Ok(Some((rows, frame.end)))
}

#[cfg(test)]
mod tests {
    use super::super::server::{write_error, write_void};
    use super::*;

    #[test]
    fn golden_query() {
        let mut bytes = Vec::new();
        query(&mut bytes, "SELECT 1", Consistency::LocalOne);
        assert_eq!(bytes, b"\x04\0\0\0\x07\0\0\0\x0f\0\0\0\x08SELECT 1\0\x0a\0");
    }

    #[test]
    fn golden_rows() {
        let head = b"\0\0\0\x02\0\0\0\x01\0\0\0\x02\0\x01k\0\x01t\0\x01n\0\x02\0\x01c\0\x0d\0\0\0\x01";
        let body = [&head[..], b"\0\0\0\x08\0\0\0\0\0\0\0\x0c\xff\xff\xff\xff"].concat();
        let bytes = [b"\x84\0\0\0\x08\0\0\0", &[body.len() as u8][..], &body].concat();
        let rows = vec![vec![Some("12".to_string()), None]];
        assert_eq!(text_answer(&bytes), Ok(Some((Ok(rows), bytes.len()))));
        for cut in 0..bytes.len() {
            assert_eq!(text_answer(&bytes[..cut]), Ok(None), "cut at {cut}");
        }
    }

    #[test]
    fn no_rows_and_errors() {
        let mut bytes = Vec::new();
        write_void(&mut bytes, 0);
        assert_eq!(text_answer(&bytes), Ok(Some((Ok(vec![]), bytes.len()))));
        bytes.clear();
        write_error(&mut bytes, 0, 0x2200, "unconfigured table");
        let error = text_answer(&bytes).unwrap().unwrap().0.unwrap_err();
        assert_eq!((error.code, error.text.as_str()), (0x2200, "unconfigured table"));
        assert!(text_answer(b"\x84\0\0\0\x02\0\0\0\0").is_err());
    }
}
