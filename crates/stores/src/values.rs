//! Rows that a key-value store keeps as one value each: from the answer to a `get` to the row, singly and several at once.

use dbdyno_model::{Failure, Field, Row, Table, decode_row};
use dbdyno_wire::Decoded;

use crate::multi_get::MultiGet;
use crate::network::Exchange;

/// The range of the value in the bytes, `None` if there is no such key; or the store's refusal.
pub type Found = Result<Option<(usize, usize)>, Failure>;

#[inline]
fn decode(table: &Table, bytes: &[u8], (start, end): (usize, usize), fields: &mut Vec<Field>) -> Result<(), Failure> {
    if decode_row(table, bytes, start, end, fields) {
        return Ok(());
    }
    Err(Failure::Mismatch(format!("{} bytes that are not a row of {}", end - start, table.name)))
}

/// Sends the request for one row, and leaves the row in `fields`: false if it is not there.
#[inline]
pub async fn read_row(
    exchange: &mut Exchange,
    table: &Table,
    fields: &mut Vec<Field>,
    find_row: impl Fn(&[u8]) -> Decoded<(Found, usize)>,
) -> Result<bool, Failure> {
    match exchange.ask(find_row).await?? {
        Some(range) => decode(table, exchange.bytes(), range, fields).map(|()| true),
        None => Ok(false),
    }
}

/// Reads the answers to what asks for `count` rows, one for each in order, and hands each row over where it lies.
pub async fn read_rows(
    exchange: &mut Exchange,
    table: &Table,
    fields: &mut Vec<Field>,
    count: usize,
    find_row: impl Fn(&[u8]) -> Decoded<(Found, usize)>,
    each: &mut dyn FnMut(usize, Option<Row<'_>>),
) -> Result<(), Failure> {
    for i in 0..count {
        let hand_over = |bytes: &[u8]| {
            let Some((answer, next)) = find_row(bytes)? else { return Ok(None) };
            let done = answer.and_then(|range| {
                if let Some(range) = range {
                    decode(table, bytes, range, fields)?;
                }
                each(i, range.map(|_| Row::new(bytes, fields)));
                Ok(())
            });
            Ok(Some((done, next)))
        };
        exchange.next(hand_over).await??;
    }
    Ok(())
}

/// Reads an answer that has only the rows that are there, until it says that it ends, and hands each row over where it lies.
pub async fn read_rows_found(
    exchange: &mut Exchange,
    table: &Table,
    fields: &mut Vec<Field>,
    keys: &[u64],
    find_row: impl Fn(&[u8]) -> Decoded<(Found, usize)>,
    each: &mut dyn FnMut(usize, Option<Row<'_>>),
) -> Result<(), Failure> {
    let mut multi_get = MultiGet::new(keys);
    loop {
        let hand_over = |bytes: &[u8]| {
            let Some((answer, next)) = find_row(bytes)? else { return Ok(None) };
            let done = answer.and_then(|range| {
                let Some(range) = range else { return Ok(true) };
                decode(table, bytes, range, fields)?;
                multi_get.hand_over(Row::new(bytes, fields), each).map(|()| false)
            });
            Ok(Some((done, next)))
        };
        if exchange.next(hand_over).await?? {
            multi_get.finish(each);
            return Ok(());
        }
    }
}
