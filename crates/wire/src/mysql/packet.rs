//! Packets: a 3-byte length, a sequence number, a payload; and the answers OK and ERR.

use mysql_common::constants::CapabilityFlags;
use mysql_common::io::ParseBuf;
use mysql_common::packets::ErrPacket;

use crate::{Decoded, Malformed};

/// One packet in place: `bytes[start..end]` is its payload and the next packet begins at `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    pub sequence: u8,
    pub start: usize,
    pub end: usize,
}

const HEADER_SIZE_BYTES: usize = 4;
/// A payload of this size is continued in the next packet. No row or statement of ours is that large.
const MAX_PAYLOAD_SIZE_BYTES: usize = 0x00ff_ffff;

/// Decodes the packet that begins at `at`.
///
/// # Errors
/// The packet is one of several that make one message: larger than anything dbdyno asks for.
#[inline]
pub fn packet(bytes: &[u8], at: usize) -> Decoded<Packet> {
    let Some(header) = bytes.get(at..).and_then(|b| b.first_chunk::<HEADER_SIZE_BYTES>()) else { return Ok(None) };
    let [a, b, c, sequence] = *header;
    let len = usize::from(a) | usize::from(b) << 8 | usize::from(c) << 16;
    if len == MAX_PAYLOAD_SIZE_BYTES {
        return Err(Malformed("a message of 16 MiB or more".into()));
    }
    let start = at + HEADER_SIZE_BYTES;
    Ok((bytes.len() >= start + len).then_some(Packet { sequence, start, end: start + len }))
}

/// Appends a packet whose payload `write` appends.
///
/// # Panics
/// The payload is 16 MiB or larger; callers bound what they send.
pub fn frame(out: &mut Vec<u8>, sequence: u8, write: impl FnOnce(&mut Vec<u8>)) {
    let header = out.len();
    out.extend_from_slice(&[0, 0, 0, sequence]);
    write(out);
    let len = out.len() - header - HEADER_SIZE_BYTES;
    assert!(len < MAX_PAYLOAD_SIZE_BYTES, "a packet of {len} bytes");
    out[header..header + 3].copy_from_slice(&(len as u32).to_le_bytes()[..3]);
}

/// Reads a length-encoded integer at `at`, and where it ends.
#[inline]
pub fn lenenc(bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    let first = *bytes.get(at)?;
    let width = match first {
        0..=0xfa => return Some((u64::from(first), at + 1)),
        0xfc => 2,
        0xfd => 3,
        0xfe => 8,
        0xfb | 0xff => return None,
    };
    let mut n = [0; 8];
    n[..width].copy_from_slice(bytes.get(at + 1..at + 1 + width)?);
    Some((u64::from_le_bytes(n), at + 1 + width))
}

/// Appends a length-encoded integer.
#[inline]
pub fn put_lenenc(out: &mut Vec<u8>, n: u64) {
    match n {
        0..=0xfa => out.push(n as u8),
        0xfb..=0xffff => {
            out.push(0xfc);
            out.extend_from_slice(&(n as u16).to_le_bytes());
        }
        0x1_0000..=0xff_ffff => {
            out.push(0xfd);
            out.extend_from_slice(&(n as u32).to_le_bytes()[..3]);
        }
        _ => {
            out.push(0xfe);
            out.extend_from_slice(&n.to_le_bytes());
        }
    }
}

/// The rows an OK packet says were affected (found, with CLIENT_FOUND_ROWS).
#[inline]
pub fn ok_affected_rows(payload: &[u8]) -> Option<u64> {
    match payload.first() {
        Some(0x00) => lenenc(payload, 1).map(|(rows, _)| rows),
        _ => None,
    }
}

/// An error as the server worded it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerMessage {
    pub code: u16,
    pub text: String,
}

/// The error that an ERR packet holds; `None` if the payload is another packet.
///
/// # Errors
/// The payload begins as an ERR packet and is none.
#[inline]
pub fn server_error(payload: &[u8]) -> Decoded<ServerMessage> {
    if payload.first() != Some(&0xff) {
        return Ok(None);
    }
    // A server that refuses the connection before the handshake sends an error without the SQL state.
    let has_state = payload.get(3) == Some(&b'#');
    let flags = if has_state { CapabilityFlags::CLIENT_PROTOCOL_41 } else { CapabilityFlags::empty() };
    match ParseBuf(payload).parse::<ErrPacket<'_>>(flags) {
        Ok(ErrPacket::Error(e)) => Ok(Some(ServerMessage { code: e.error_code(), text: e.message_str().into_owned() })),
        Ok(ErrPacket::Progress(_)) | Err(_) => Err(Malformed::expected("an error packet", payload)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_framed_packet_is_read_back_and_a_cut_one_is_not() {
        let mut bytes = vec![9];
        frame(&mut bytes, 3, |out| out.extend_from_slice(b"hello"));
        assert_eq!(bytes, b"\x09\x05\x00\x00\x03hello");
        assert_eq!(packet(&bytes, 1), Ok(Some(Packet { sequence: 3, start: 5, end: 10 })));
        for cut in 0..bytes.len() {
            assert_eq!(packet(&bytes[..cut], 1), Ok(None));
        }
        assert!(packet(b"\xff\xff\xff\x00", 0).is_err());
    }

    #[test]
    fn length_encoded_integers() {
        for n in [0, 250, 251, 0xffff, 0x1_0000, 0xff_ffff, 0x100_0000, u64::MAX] {
            let mut bytes = Vec::new();
            put_lenenc(&mut bytes, n);
            assert_eq!(lenenc(&bytes, 0), Some((n, bytes.len())), "{n}");
            assert_eq!(lenenc(&bytes[..bytes.len() - 1], 0), None, "{n}");
        }
        assert_eq!(lenenc(b"\xfb", 0), None);
    }

    #[test]
    fn golden_error() {
        let payload = b"\xff\x15\x04#28000Access denied";
        let expected = ServerMessage { code: 1045, text: "Access denied".into() };
        assert_eq!(server_error(payload), Ok(Some(expected)));
        assert_eq!(server_error(b"\xff\x10\x04Too many connections").unwrap().unwrap().code, 1040);
        assert_eq!(server_error(b"\x00\x00\x00"), Ok(None));
        assert!(server_error(b"\xff").is_err());
    }
}
