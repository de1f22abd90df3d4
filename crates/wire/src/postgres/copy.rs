//! Rows for `COPY … FROM STDIN (FORMAT binary)`
//! (<https://www.postgresql.org/docs/current/sql-copy.html>, "Binary Format").

use super::message::frame;
use super::statement::ScalarType;
use crate::Param;

/// Appends what goes before the first row.
pub fn copy_begin(out: &mut Vec<u8>) {
    frame(out, b'd', |out| out.extend_from_slice(b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0"));
}

/// Appends a row.
pub fn copy_row<'a>(out: &mut Vec<u8>, cells: impl ExactSizeIterator<Item = (ScalarType, Param<'a>)>) {
    frame(out, b'd', |out| put_row(out, cells));
}

/// Appends a number of values, then each with its length.
pub(super) fn put_row<'a>(out: &mut Vec<u8>, cells: impl ExactSizeIterator<Item = (ScalarType, Param<'a>)>) {
    out.extend_from_slice(&(cells.len() as u16).to_be_bytes());
    cells.for_each(|(kind, cell)| kind.put(out, cell));
}

/// Appends the end of the rows.
pub fn copy_end(out: &mut Vec<u8>) {
    frame(out, b'd', |out| out.extend_from_slice(b"\xff\xff"));
    frame(out, b'c', |_| {});
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_copy() {
        let mut out = Vec::new();
        copy_begin(&mut out);
        copy_row(&mut out, [(ScalarType::Int4, Param::Int(7)), (ScalarType::Text, Param::Text(b"ab"))].into_iter());
        copy_end(&mut out);
        let mut expected = b"d\0\0\0\x17PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0".to_vec();
        expected.extend_from_slice(b"d\0\0\0\x14\0\x02\0\0\0\x04\0\0\0\x07\0\0\0\x02ab");
        expected.extend_from_slice(b"d\0\0\0\x06\xff\xffc\0\0\0\x04");
        assert_eq!(out, expected);
    }
}
