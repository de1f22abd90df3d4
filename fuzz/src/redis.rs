//! RESP2: replies, and the commands that the null server reads.

use dbdyno_wire::redis::{Reply, parse_command, whole_command};

use crate::holds_anywhere;

pub fn reply(bytes: &[u8]) {
    holds_anywhere(bytes, |bytes, at| {
        Ok(dbdyno_wire::redis::reply(bytes, at)?.map(|(reply, end)| {
            let text = match reply {
                Reply::Simple { start, end } | Reply::Error { start, end } | Reply::Bulk { start, end } => {
                    (std::mem::discriminant(&reply), Ok(bytes[start..end].to_vec()))
                }
                _ => (std::mem::discriminant(&reply), Err(reply)),
            };
            (text, end - at)
        }))
    });
}

pub fn command(bytes: &[u8]) {
    let decode = |bytes: &[u8], at| {
        let mut parts = vec![];
        Ok(parse_command(bytes, at, &mut parts)?.map(|end| {
            let texts: Vec<Vec<u8>> = parts.iter().map(|&(start, end)| bytes[start..end].to_vec()).collect();
            (texts, end - at)
        }))
    };
    holds_anywhere(bytes, decode);
    if let Ok(Some((parts, _))) = decode(bytes, 0) {
        let mut written = vec![];
        whole_command(&mut written, &parts.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let length = written.len();
        assert_eq!(decode(&written, 0), Ok(Some((parts, length))), "a command written and read again");
    }
}
