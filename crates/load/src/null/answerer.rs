//! The answers of the null server in each protocol.

use dbdyno_wire::Malformed;

/// One protocol's side of a connection: from the bytes received so far to how many were understood, with the answers appended.
pub trait Answerer {
    /// The bytes that the server sends before the client has sent anything.
    fn greet(&mut self, _: &mut Vec<u8>) {}
    /// Answers the first request in `bytes`; `None` if it is not complete.
    fn answer(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<Option<usize>, Malformed>;
}
