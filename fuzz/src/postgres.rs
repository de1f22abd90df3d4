//! The PostgreSQL protocol: messages, logging in, and the answers to statements.

use dbdyno_wire::Cell;
use dbdyno_wire::postgres::{self as wire, Answer, Login, LoginStep, ScalarType};

use crate::{holds_anywhere, verdict_is_final};

const TYPES: [ScalarType; 4] = [ScalarType::Int2, ScalarType::Int4, ScalarType::Int8, ScalarType::Text];

pub fn message(bytes: &[u8]) {
    holds_anywhere(bytes, |bytes, at| {
        Ok(wire::message(bytes, at)?.map(|m| ((m.kind, bytes[m.start..m.end].to_vec()), m.end - at)))
    });
}

/// The messages of a server that a client logs in to.
pub fn login(bytes: &[u8]) {
    let (mut login, mut at) = (Login::new("u", "open sesame"), 0);
    while let Ok(Some(message)) = wire::message(bytes, at) {
        at = message.end;
        match login.next(message.kind, &bytes[message.start..message.end]) {
            Ok(LoginStep::Send(sent)) => assert!(matches!(wire::message(&sent, 0), Ok(Some(m)) if m.end == sent.len())),
            Ok(LoginStep::Read) => {}
            Ok(LoginStep::Done | LoginStep::Refused(_)) | Err(_) => return,
        }
    }
}

pub fn prepared(bytes: &[u8]) {
    verdict_is_final(bytes, |bytes| wire::prepared(bytes, "s0"));
}

pub fn text_answer(bytes: &[u8]) {
    verdict_is_final(bytes, wire::text_answer);
}

/// How many columns, a byte for each column's type, the answer.
pub fn answer(bytes: &[u8]) {
    let Some((&count, bytes)) = bytes.split_first() else { return };
    let Some((types, bytes)) = bytes.split_at_checked(usize::from(count)) else { return };
    let columns: Vec<ScalarType> = types.iter().map(|&byte| TYPES[usize::from(byte) % TYPES.len()]).collect();
    holds_anywhere(bytes, |bytes, at| {
        let mut cells = vec![];
        let answer = wire::answer(bytes, at, &columns, |cell| match cell {
            Cell::Null => cells.push((None, vec![])),
            Cell::Int(number) => cells.push((Some(number), vec![])),
            Cell::Text { start, end } => cells.push((None, bytes[start..end].to_vec())),
        })?;
        Ok(answer.map(|(answer, end)| {
            if let Answer::Rows(rows) = answer {
                assert_eq!(rows * columns.len() as u64, cells.len() as u64, "a cell for each row and column");
            }
            ((answer, cells), end - at)
        }))
    });
}
