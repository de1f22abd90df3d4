//! The CQL protocol: frames of both sides, logging in, and the answers to statements.

use dbdyno_wire::Cell;
use dbdyno_wire::cql::{self as wire, Answer, Consistency, CqlType};

use crate::{holds_anywhere, verdict_is_final};

const TYPES: [CqlType; 3] = [CqlType::Int, CqlType::Bigint, CqlType::Text];

pub fn frame(bytes: &[u8]) {
    holds_anywhere(bytes, |bytes, at| {
        Ok(wire::frame(bytes, at)?.map(|f| ((f.opcode, f.stream, bytes[f.start..f.end].to_vec()), f.end - at)))
    });
}

pub fn login(bytes: &[u8]) {
    verdict_is_final(bytes, wire::login_step);
}

pub fn prepared(bytes: &[u8]) {
    verdict_is_final(bytes, |bytes| wire::prepared(bytes, Consistency::One));
}

pub fn text_answer(bytes: &[u8]) {
    verdict_is_final(bytes, wire::text_answer);
}

/// How many columns, a byte for each column's type, the answer.
pub fn answer(bytes: &[u8]) {
    let Some((&count, bytes)) = bytes.split_first() else { return };
    let Some((types, bytes)) = bytes.split_at_checked(usize::from(count)) else { return };
    let columns: Vec<CqlType> = types.iter().map(|&byte| TYPES[usize::from(byte) % TYPES.len()]).collect();
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

/// The null server's reading: any request, and what it holds.
pub fn request(bytes: &[u8]) {
    verdict_is_final(bytes, |bytes| {
        Ok(wire::request(bytes)?.map(|f| {
            let body = &bytes[f.start..f.end];
            let executed = wire::executed(body).map(|e| (e.id.to_vec(), e.param.to_vec(), e.params.to_vec()));
            ((f.opcode, f.stream, wire::text(body).map(<[u8]>::to_vec), executed), f.end)
        }))
    });
}
