//! The types of columns, as far as a table of dbdyno or the server's own tables that are read have them.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::frame::{four_bytes, put_sized, sized, string, two_bytes};
use crate::{Cell, Param};

/// The length of a value that is not there.
const NULL: [u8; 4] = [0xff; 4];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CqlType {
    Int,
    Bigint,
    Double,
    Text,
    Inet,
    Uuid,
    /// A list or a set of texts.
    Texts,
}

impl CqlType {
    /// Reads a type's number and what it has of other types, and where that ends.
    fn read(bytes: &[u8], at: usize) -> Option<(Self, usize)> {
        let (number, at) = two_bytes(bytes, at)?;
        Some(match number {
            0x0009 => (Self::Int, at),
            0x0002 => (Self::Bigint, at),
            0x0007 => (Self::Double, at),
            // ascii, blob, varchar: all are bytes.
            0x0001 | 0x0003 | 0x000d => (Self::Text, at),
            0x0010 => (Self::Inet, at),
            0x000c | 0x000f => (Self::Uuid, at),
            0x0020 | 0x0022 => match Self::read(bytes, at)? {
                (Self::Text, at) => (Self::Texts, at),
                _ => return None,
            },
            _ => return None,
        })
    }

    /// The type's number, of those that columns of dbdyno have.
    pub(super) fn number(self) -> u16 {
        match self {
            Self::Int => 0x0009,
            Self::Bigint => 0x0002,
            Self::Double => 0x0007,
            Self::Uuid => 0x000c,
            Self::Inet => 0x0010,
            Self::Text | Self::Texts => 0x000d,
        }
    }

    #[inline]
    pub(super) fn cell(self, bytes: &[u8], start: usize, end: usize) -> Option<Cell> {
        let value = &bytes[start..end];
        Some(match self {
            Self::Int => Cell::Int(i64::from(i32::from_be_bytes(value.try_into().ok()?))),
            Self::Bigint | Self::Double => Cell::Int(i64::from_be_bytes(value.try_into().ok()?)),
            _ => Cell::Text { start, end },
        })
    }

    #[inline]
    pub(super) fn put(self, out: &mut Vec<u8>, param: Param<'_>) {
        match (self, param) {
            (Self::Int, Param::Int(n)) => put_sized(out, &(n as i32).to_be_bytes()),
            (Self::Bigint, Param::Int(n)) => put_sized(out, &n.to_be_bytes()),
            (Self::Double, Param::Int(n)) => put_sized(out, &(n as f64).to_be_bytes()),
            (_, Param::Double(bits)) => put_sized(out, &bits.to_be_bytes()),
            (_, Param::Int(n)) => put_sized(out, n.to_string().as_bytes()),
            (_, Param::Text(text)) => put_sized(out, text),
            (_, Param::Null) => out.extend_from_slice(&NULL),
            // No column of dbdyno's is declared so here: it is a whole number of units.
            (_, Param::Decimal { unscaled, .. }) => self.put(out, Param::Int(unscaled)),
        }
    }

    /// A value in words; the texts of a list with a comma between.
    pub(super) fn in_words(self, value: &[u8]) -> Option<String> {
        let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
        Some(match self {
            Self::Int => i32::from_be_bytes(value.try_into().ok()?).to_string(),
            Self::Bigint => i64::from_be_bytes(value.try_into().ok()?).to_string(),
            Self::Double => f64::from_be_bytes(value.try_into().ok()?).to_string(),
            Self::Text => text(value),
            Self::Uuid => value.iter().map(|byte| format!("{byte:02x}")).collect(),
            Self::Inet => match <[u8; 4]>::try_from(value) {
                Ok(four) => IpAddr::V4(Ipv4Addr::from(four)).to_string(),
                Err(_) => IpAddr::V6(Ipv6Addr::from(<[u8; 16]>::try_from(value).ok()?)).to_string(),
            },
            Self::Texts => {
                let (count, mut at) = four_bytes(value, 0)?;
                let mut words = Vec::new();
                for _ in 0..count {
                    let (element, next) = sized(value, at)?;
                    words.push(element.map_or_else(String::new, |(start, end)| text(&value[start..end])));
                    at = next;
                }
                words.join(",")
            }
        })
    }
}

const GLOBAL_TABLE: i32 = 0x0001;
const HAS_MORE_PAGES: i32 = 0x0002;
const NO_METADATA: i32 = 0x0004;

/// A result's description of its columns: how many they are, and their types if it says that too.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Columns {
    pub count: usize,
    pub types: Option<Vec<CqlType>>,
    pub end: usize,
}

/// Reads what a result says of its columns. keyed: as that of a statement's parameters, which also says which of them are the key.
pub(super) fn columns(bytes: &[u8], at: usize, keyed: bool) -> Option<Columns> {
    let (flags, at) = four_bytes(bytes, at)?;
    let (count, mut at) = four_bytes(bytes, at)?;
    let count = usize::try_from(count).ok()?;
    if keyed {
        let (keys, next) = four_bytes(bytes, at)?;
        at = next.checked_add(usize::try_from(keys).ok()?.checked_mul(2)?)?;
    }
    if flags & HAS_MORE_PAGES != 0 {
        // Nothing here asks for pages.
        return None;
    }
    if flags & NO_METADATA != 0 {
        return Some(Columns { count, types: None, end: at });
    }
    if flags & GLOBAL_TABLE != 0 && count > 0 {
        at = string(bytes, string(bytes, at)?.1)?.1;
    }
    let mut types = Vec::new();
    for _ in 0..count {
        if flags & GLOBAL_TABLE == 0 {
            at = string(bytes, string(bytes, at)?.1)?.1;
        }
        let (kind, next) = CqlType::read(bytes, string(bytes, at)?.1)?;
        types.push(kind);
        at = next;
    }
    Some(Columns { count, types: Some(types), end: at })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_in_words() {
        assert_eq!(CqlType::Int.in_words(&[0xff; 4]).unwrap(), "-1");
        assert_eq!(CqlType::Bigint.in_words(&[0, 0, 0, 0, 0, 0, 1, 0]).unwrap(), "256");
        assert_eq!(CqlType::Inet.in_words(&[127, 0, 0, 1]).unwrap(), "127.0.0.1");
        assert_eq!(CqlType::Inet.in_words(&[0; 16]).unwrap(), "::");
        assert_eq!(CqlType::Uuid.in_words(&[0xab, 0x01]).unwrap(), "ab01");
        assert_eq!(CqlType::Texts.in_words(b"\0\0\0\x02\0\0\0\x01a\0\0\0\x02bc").unwrap(), "a,bc");
        assert_eq!(CqlType::Texts.in_words(b"\0\0\0\x02\0\0\0\x01a"), None);
        assert_eq!(CqlType::Int.in_words(b"abc"), None);
    }

    #[test]
    fn columns_with_and_without_a_table_for_all() {
        let global = b"\0\0\0\x01\0\0\0\x02\0\x01k\0\x01t\0\x02id\0\x09\0\x01c\0\x0d";
        let each = b"\0\0\0\0\0\0\0\x01\0\x01k\0\x01t\0\x06tokens\0\x22\0\x0d";
        assert_eq!(columns(global, 0, false).unwrap().types.unwrap(), [CqlType::Int, CqlType::Text]);
        assert_eq!(columns(each, 0, false).unwrap().types.unwrap(), [CqlType::Texts]);
        let keyed = b"\0\0\0\x04\0\0\0\x01\0\0\0\x01\0\0";
        assert_eq!(columns(keyed, 0, true), Some(Columns { count: 1, types: None, end: keyed.len() }));
        for end in 0..global.len() {
            assert_eq!(columns(&global[..end], 0, false), None);
        }
        assert_eq!(columns(b"\0\0\0\x02\0\0\0\0\0\0\0\0", 0, false), None, "more pages");
    }
}
