//! Connecting: the version of the language, and a name with its password if the server wants one.

use super::frame::{ServerError, frame, opcode, put_request, put_sized, put_string, server_error, string};
use crate::{Decoded, Malformed};

/// Appends the first request.
pub fn startup(out: &mut Vec<u8>) {
    let options = [("CQL_VERSION", "3.0.0"), ("DRIVER_NAME", "dbdyno")];
    put_request(out, opcode::STARTUP, 0, |out| {
        out.extend_from_slice(&(options.len() as u16).to_be_bytes());
        for text in options.into_iter().flat_map(|(key, value)| [key, value]) {
            put_string(out, text.as_bytes());
        }
    });
}

/// Appends name and password, as SASL's PLAIN has them (RFC 4616). A zero byte would end either early.
pub fn credentials(out: &mut Vec<u8>, user: &str, password: &str) {
    let sound = |text: &str| text.bytes().filter(|&b| b != 0).collect::<Vec<u8>>();
    let token = [&b"\0"[..], &sound(user), b"\0", &sound(password)].concat();
    put_request(out, opcode::AUTH_RESPONSE, 0, |out| put_sized(out, &token));
}

/// The server's answers while a client logs in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoginStep {
    /// It wants [`credentials`].
    Authenticate,
    Done,
    Refused(ServerError),
}

/// Decodes the answer to [`startup`] or to [`credentials`].
///
/// # Errors
/// The bytes have no place in a login, or the server wants an authentication that is not by password.
pub fn login_step(bytes: &[u8]) -> Decoded<(LoginStep, usize)> {
    let Some(frame) = frame(bytes, 0)? else { return Ok(None) };
    let body = &bytes[..frame.end];
    let step = match frame.opcode {
        opcode::READY | opcode::AUTH_SUCCESS => LoginStep::Done,
        opcode::ERROR => LoginStep::Refused(server_error(bytes, frame)?),
        opcode::AUTHENTICATE => {
            let class = string(body, frame.start).map(|(class, _)| String::from_utf8_lossy(class));
            let class = class.ok_or_else(|| Malformed::expected("an authenticator", &body[frame.start..]))?;
            // A server that is not known to take passwords is sent none.
            if !class.contains("Password") {
                return Err(Malformed(format!("dbdyno does not support the server's authenticator {class}")));
            }
            LoginStep::Authenticate
        }
        _ => return Err(Malformed::expected("an answer to the login", body)),
    };
    Ok(Some((step, frame.end)))
}

#[cfg(test)]
mod tests {
    use super::super::frame::put_answer;
    use super::super::server::{write_error, write_ready};
    use super::*;

    #[test]
    fn golden_requests() {
        let mut out = Vec::new();
        startup(&mut out);
        let options = b"\0\x02\0\x0bCQL_VERSION\0\x053.0.0\0\x0bDRIVER_NAME\0\x06dbdyno";
        assert_eq!(out, [&b"\x04\0\0\0\x01\0\0\0\x2b"[..], options].concat());
        out.clear();
        credentials(&mut out, "u\0", "pw");
        assert_eq!(out, b"\x04\0\0\0\x0f\0\0\0\x09\0\0\0\x05\0u\0pw");
    }

    #[test]
    fn each_answer_is_understood_and_a_cut_one_waited_for() {
        let wanted = |class: &str| {
            let mut bytes = Vec::new();
            put_answer(&mut bytes, opcode::AUTHENTICATE, 0, |out| put_string(out, class.as_bytes()));
            bytes
        };
        let asked = wanted("org.apache.cassandra.auth.PasswordAuthenticator");
        assert_eq!(login_step(&asked), Ok(Some((LoginStep::Authenticate, asked.len()))));
        for cut in 0..asked.len() {
            assert_eq!(login_step(&asked[..cut]), Ok(None));
        }
        assert!(login_step(&wanted("com.example.Kerberos")).unwrap_err().0.contains("Kerberos"));
        let mut bytes = Vec::new();
        write_ready(&mut bytes, 0);
        assert_eq!(login_step(&bytes), Ok(Some((LoginStep::Done, bytes.len()))));
        bytes.clear();
        write_error(&mut bytes, 0, 0x0100, "bad credentials");
        assert!(matches!(login_step(&bytes), Ok(Some((LoginStep::Refused(e), _))) if e.code == 0x0100));
        assert!(login_step(b"\x84\0\0\0\x0e\0\0\0\0").is_err(), "a challenge");
    }
}
