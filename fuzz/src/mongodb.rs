//! The MongoDB protocol: messages, logging in, answers with the documents in them, and the commands that the null server reads.

use dbdyno_wire::Cell;
use dbdyno_wire::mongodb::{self as wire, Answer, Login, LoginStep, name};

use crate::{holds_anywhere, verdict_is_final};

const PASSWORD: &str = "open sesame";

pub fn message(bytes: &[u8]) {
    holds_anywhere(bytes, |bytes, at| {
        Ok(wire::message(bytes, at)?.map(|m| {
            assert!(at < m.start && m.start < m.end && m.end <= m.next && m.next <= bytes.len());
            ((m.number, m.answers, m.flags, bytes[m.start..m.end].to_vec()), m.next - at)
        }))
    });
}

/// The answers of a server that a client logs in to.
pub fn login(bytes: &[u8]) {
    let (mut login, mut at) = (Login::new("u", PASSWORD, "d"), 0);
    while let Ok(Some((step, end))) = login.next(&bytes[at..]) {
        at += end;
        let LoginStep::Send(sent) = step else { return };
        assert!(!sent.windows(PASSWORD.len()).any(|window| window == PASSWORD.as_bytes()), "the password, readable");
        assert!(matches!(wire::message(&sent, 0), Ok(Some(message)) if message.next == sent.len()));
    }
}

pub fn answer(bytes: &[u8]) {
    let names = [name("_id"), name("k"), name("c")];
    holds_anywhere(bytes, |bytes, at| {
        let mut cells = vec![];
        let answer = wire::answer(bytes, at, &names, &mut cells, |cell| match cell {
            Cell::Text { start, end } => (None, bytes[start..end].to_vec()),
            Cell::Int(number) => (Some(number), vec![]),
            Cell::Null => (None, vec![]),
        })?;
        Ok(answer.map(|(answer, end)| {
            if let (_, Answer::Rows(rows)) = answer {
                assert!(rows * names.len() as u64 <= cells.len() as u64, "a cell for each row and column");
            }
            ((answer, cells), end - at)
        }))
    });
}

pub fn request(bytes: &[u8]) {
    verdict_is_final(bytes, |bytes| {
        let mut asked = vec![];
        let request = wire::request(bytes, |value| asked.push(format!("{value:?}")))?;
        Ok(request.map(|(request, end)| ((format!("{request:?}"), asked), end)))
    });
}
