//! HandlerSocket: the answer to any request, which is one line.

use dbdyno_wire::handlersocket::{self as wire, unescape};
use dbdyno_wire::{Cell, TextKind};

use crate::verdict_is_final;

const OTHERS: [TextKind; 4] = [TextKind::Text, TextKind::Decimal(2), TextKind::DateTime, TextKind::Text];

/// The first byte says which of eight columns are numbers; the others are by turns decimals, dates and texts.
pub fn answer(bytes: &[u8]) {
    let Some((&ints, bytes)) = bytes.split_first() else { return };
    verdict_is_final(bytes, |bytes| {
        let mut cells = vec![];
        let kind = |i: usize| if ints >> (i % 8) & 1 != 0 { TextKind::Int } else { OTHERS[i % OTHERS.len()] };
        let answer = wire::answer(bytes, kind, |cell| {
            let mut text = vec![];
            if let Cell::Text { start, end } = cell {
                unescape(&bytes[start..end], &mut text);
            }
            cells.push((matches!(cell, Cell::Null), text));
        })?;
        Ok(answer.map(|(answer, end)| ((answer, cells), end)))
    });
}
