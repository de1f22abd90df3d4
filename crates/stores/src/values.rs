//! Rows that a cache keeps as one value each: from the row to its value, and from the answer to a `get` to the row, singly and several at
//! once. A counter's value is its number in words, which a server can count up; its key is that of the request.

use dbdyno_model::{Failure, Field, Row, Table, Value, decode_row, encode_row};
use dbdyno_wire::Decoded;

use crate::multi_get::MultiGet;
use crate::network::Exchange;

/// The range of the value in the bytes, `None` if there is no such key; or the store's refusal.
pub type Found = Result<Option<(usize, usize)>, Failure>;

/// Replaces `out` by the value of a row.
#[inline]
pub fn encode(table: &Table, row: Row<'_>, out: &mut Vec<u8>) {
    out.clear();
    match row.value(1) {
        Value::Int(number) if table.is_counter() => out.extend_from_slice(number.to_string().as_bytes()),
        _ => encode_row(row, out),
    }
}

/// Reads the fields of the row filed under `filed` from its value; false if it is none.
#[inline]
pub fn decode(
    table: &Table,
    filed: Value<'_>,
    bytes: &[u8],
    (start, end): (usize, usize),
    fields: &mut Vec<Field>,
) -> bool {
    match filed {
        Value::Int(key) if table.is_counter() => decode_counter(key, &bytes[start..end], fields),
        _ => decode_row(table, bytes, start, end, fields),
    }
}

/// memcached leaves a space where a number had more digits before it was counted down.
fn decode_counter(key: i64, value: &[u8], fields: &mut Vec<Field>) -> bool {
    fields.clear();
    let number = std::str::from_utf8(value).ok().and_then(|digits| digits.trim_end().parse().ok());
    let Some(number) = number else { return false };
    fields.extend([Field::Int(key), Field::Int(number)]);
    true
}

#[inline]
fn expect_row(
    table: &Table,
    filed: Value<'_>,
    bytes: &[u8],
    range: (usize, usize),
    fields: &mut Vec<Field>,
) -> Result<(), Failure> {
    if decode(table, filed, bytes, range, fields) {
        return Ok(());
    }
    Err(Failure::Mismatch(format!("{} bytes that are not a row of {}", range.1 - range.0, table.name)))
}

/// Sends the request for the row filed under `filed`, and leaves the row in `fields`: false if it is not there.
#[inline]
pub async fn read_row(
    exchange: &mut Exchange,
    table: &Table,
    filed: Value<'_>,
    fields: &mut Vec<Field>,
    find_row: impl Fn(&[u8]) -> Decoded<(Found, usize)>,
) -> Result<bool, Failure> {
    match exchange.ask(find_row).await?? {
        Some(range) => expect_row(table, filed, exchange.bytes(), range, fields).map(|()| true),
        None => Ok(false),
    }
}

/// Reads the answers to what asks for the rows with these keys, one for each in order, and hands each row over where it lies.
pub async fn read_rows(
    exchange: &mut Exchange,
    table: &Table,
    fields: &mut Vec<Field>,
    keys: &[u64],
    find_row: impl Fn(&[u8]) -> Decoded<(Found, usize)>,
    each: &mut dyn FnMut(usize, Option<Row<'_>>),
) -> Result<(), Failure> {
    for (i, &key) in keys.iter().enumerate() {
        let hand_over = |bytes: &[u8]| {
            let Some((answer, next)) = find_row(bytes)? else { return Ok(None) };
            let done = answer.and_then(|range| {
                if let Some(range) = range {
                    expect_row(table, Value::Int(key as i64), bytes, range, fields)?;
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
                // Counters are not read so: the answer names rows by what is in them.
                expect_row(table, Value::Null, bytes, range, fields)?;
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

#[cfg(test)]
mod tests {
    use dbdyno_model::{Column, Kind, RowBuffer, Source};

    use super::*;

    #[test]
    fn a_counter_is_its_number_and_has_the_key_it_was_asked_for() {
        let columns = vec![Column::new("id", Kind::Int, Source::Key), Column::new("n", Kind::Int, Source::Counter)];
        let (table, mut row, mut value, mut fields) = (Table::new("c", columns), RowBuffer::default(), vec![9], vec![]);
        table.generate(41, 0, &mut row);
        encode(&table, row.row(), &mut value);
        assert_eq!(value, b"41");
        let counted = b"VALUE 43 \r\n";
        assert!(decode(&table, Value::Int(41), counted, (6, 9), &mut fields));
        assert_eq!(table.check(Row::new(counted, &fields), 41, &mut vec![]), Ok(()));
        for wrong in [&b"40"[..], b"4x", b"", b"99999999999999999999"] {
            let is_row = decode(&table, Value::Int(41), wrong, (0, wrong.len()), &mut fields);
            assert!(!is_row || table.check(Row::new(wrong, &fields), 41, &mut vec![]).is_err(), "{wrong:?}");
        }
    }
}
