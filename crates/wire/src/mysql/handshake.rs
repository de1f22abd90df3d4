//! Handshake and authentication, on mysql_common's packets and authentication procedures.

use mysql_common::auth::plugins::{AuthProc, ChallengeResponsePlugin, Context, Response};
use mysql_common::constants::{CapabilityFlags, MariadbCapabilities, StatusFlags};
use mysql_common::io::ParseBuf;
use mysql_common::packets::{AuthPlugin, AuthSwitchRequest, HandshakePacket, HandshakeResponse};
use mysql_common::proto::MySerialize;

use super::packet::server_error;
use super::server_key;
use super::statement::Dialect;
use crate::Malformed;

/// Leaves out column definitions that the client already has from preparing.
const CACHE_METADATA: MariadbCapabilities = MariadbCapabilities::MARIADB_CLIENT_CACHE_METADATA;
/// Many rows with one execution of a prepared statement.
const BULK_EXECUTE: MariadbCapabilities = MariadbCapabilities::MARIADB_CLIENT_STMT_BULK_OPERATIONS;

/// From the 0 that ends the server's version to the length of its nonce: connection, 8 bytes of nonce, a 0, capabilities, collation, status,
/// capabilities.
const NONCE_LENGTH_AFTER_VERSION: usize = 1 + 4 + 8 + 1 + 2 + 1 + 2 + 2;

/// The request for TLS is a login up to the user's name, which nobody is to read.
const TLS_REQUEST_SIZE_BYTES: usize = 32;

/// The server's description of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Greeting {
    pub version: String,
    capabilities: CapabilityFlags,
    mariadb_capabilities: MariadbCapabilities,
    nonce: Vec<u8>,
    plugin: AuthPlugin<'static>,
}

/// Decodes the server's first packet.
///
/// # Errors
/// It is an error the server sent instead, or no greeting.
pub fn greeting(payload: &[u8]) -> Result<Greeting, Malformed> {
    if let Some(error) = server_error(payload)? {
        return Err(Malformed(format!("the server refused the connection: {} (error {})", error.text, error.code)));
    }
    let malformed = || Malformed::expected("a MySQL greeting", payload);
    // mysql_common subtracts from the length of the nonce as from a signed byte, which overflows; servers send 21. Found by fuzzing.
    let version_end = payload.iter().skip(1).position(|&b| b == 0).ok_or_else(malformed)? + 1;
    if payload.get(version_end + NONCE_LENGTH_AFTER_VERSION).is_some_and(|&length| length > i8::MAX as u8) {
        return Err(malformed());
    }
    let packet: HandshakePacket<'_> = ParseBuf(payload).parse(()).map_err(|_| malformed())?;
    // Only a server without the bit CLIENT_LONG_PASSWORD (MariaDB) sends extended capabilities in the filler's place.
    let is_mariadb = !packet.capabilities().contains(CapabilityFlags::CLIENT_LONG_PASSWORD);
    Ok(Greeting {
        version: packet.server_version_str().into_owned(),
        capabilities: packet.capabilities(),
        mariadb_capabilities: if is_mariadb { packet.mariadb_ext_capabilities() } else { MariadbCapabilities::empty() },
        nonce: packet.nonce(),
        plugin: packet.auth_plugin().unwrap_or(AuthPlugin::MysqlNativePassword).into_owned(),
    })
}

impl Greeting {
    /// How answers will look after [`Login`] has asked for all it knows.
    pub fn dialect(&self) -> Dialect {
        Dialect {
            deprecate_eof: self.capabilities.contains(CapabilityFlags::CLIENT_DEPRECATE_EOF),
            cached_metadata: self.mariadb_capabilities.contains(CACHE_METADATA),
        }
    }

    /// The payload that asks for TLS, after which the login is sent; `None` if the server has none.
    pub fn tls_request<'a>(&self, login: &'a [u8]) -> Option<&'a [u8]> {
        if self.capabilities.contains(CapabilityFlags::CLIENT_SSL) { login.get(..TLS_REQUEST_SIZE_BYTES) } else { None }
    }

    /// Returns whether the server knows COM_STMT_BULK_EXECUTE.
    pub fn can_bulk_execute(&self) -> bool {
        self.mariadb_capabilities.contains(BULK_EXECUTE)
    }
}

/// How the bytes of a login travel: a password is sent readable only if nobody else reads them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    Tcp,
    Unix,
    Tls,
}

/// The next step of logging in.
#[derive(Debug, PartialEq, Eq)]
pub enum LoginStep {
    /// Send this payload in a packet with the next sequence number, then read.
    Send(Vec<u8>),
    /// Read the next packet.
    Read,
    /// Logged in.
    Done,
    /// The server refused, in its words.
    Refused { code: u16, text: String },
}

/// An authentication in progress.
pub struct Login<'a> {
    procedure: AuthProc,
    nonce: Vec<u8>,
    password: &'a str,
    transport: Transport,
}

struct Known<'a>(&'a Login<'a>);

impl Context for Known<'_> {
    fn pass(&self) -> &[u8] {
        self.0.password.as_bytes()
    }
    fn is_ipc_transport(&self) -> bool {
        self.0.transport == Transport::Unix
    }
    fn is_tls_transport(&self) -> bool {
        self.0.transport == Transport::Tls
    }
    fn scramble(&self) -> &[u8] {
        &self.0.nonce
    }
    fn server_key_pem(&self) -> Option<&[u8]> {
        None
    }
}

impl<'a> Login<'a> {
    /// Begins: the authentication, and the payload of the client's first packet.
    ///
    /// # Errors
    /// The server wants an authentication method that is unknown or would send the password readable.
    pub fn begin(
        greeting: &Greeting,
        user: &str,
        password: &'a str,
        database: Option<&str>,
        transport: Transport,
    ) -> Result<(Self, Vec<u8>), Malformed> {
        let procedure = procedure(&greeting.plugin)?;
        let mut login = Self { procedure, nonce: greeting.nonce.clone(), password, transport };
        let nonce = login.nonce.clone();
        let scramble = login.respond(&nonce)?.unwrap_or_default();
        let encrypted =
            if transport == Transport::Tls { CapabilityFlags::CLIENT_SSL } else { CapabilityFlags::empty() };
        let wanted = CapabilityFlags::CLIENT_PROTOCOL_41
            | encrypted
            | CapabilityFlags::CLIENT_LONG_FLAG
            | CapabilityFlags::CLIENT_TRANSACTIONS
            | CapabilityFlags::CLIENT_SECURE_CONNECTION
            | CapabilityFlags::CLIENT_FOUND_ROWS
            | CapabilityFlags::CLIENT_LOCAL_FILES
            | CapabilityFlags::CLIENT_DEPRECATE_EOF
            | CapabilityFlags::CLIENT_PLUGIN_AUTH;
        let response = HandshakeResponse::new(
            Some(scramble),
            (8, 0, 0),
            Some(user.as_bytes()),
            database.map(str::as_bytes),
            Some(greeting.plugin.borrow()),
            wanted & greeting.capabilities,
            None,
            1 << 24,
        )
        .with_mariadb_ext_capabilities(greeting.mariadb_capabilities & CACHE_METADATA.union(BULK_EXECUTE));
        let mut payload = Vec::new();
        response.serialize(&mut payload);
        Ok((login, payload))
    }

    /// Takes the payload of the server's next packet.
    ///
    /// # Errors
    /// The packet has no place in an authentication.
    pub fn next(&mut self, payload: &[u8]) -> Result<LoginStep, Malformed> {
        match payload.first() {
            Some(0x00) => Ok(LoginStep::Done),
            Some(0xff) => match server_error(payload)? {
                Some(error) => Ok(LoginStep::Refused { code: error.code, text: error.text }),
                None => Err(Malformed::expected("an error packet", payload)),
            },
            Some(0xfe) => {
                let switch: AuthSwitchRequest<'_> =
                    ParseBuf(payload).parse(()).map_err(|_| Malformed::expected("another authentication", payload))?;
                self.procedure = procedure(&switch.auth_plugin())?;
                self.nonce = switch.plugin_data().to_vec();
                let nonce = self.nonce.clone();
                Ok(self.respond(&nonce)?.map_or(LoginStep::Read, LoginStep::Send))
            }
            Some(0x01) => Ok(self.respond(&payload[1..])?.map_or(LoginStep::Read, LoginStep::Send)),
            _ => Err(Malformed::expected("an answer to the login", payload)),
        }
    }

    fn respond(&mut self, challenge: &[u8]) -> Result<Option<Vec<u8>>, Malformed> {
        server_key::check(challenge, self.password)?;
        let fresh = AuthProc::MysqlNativePassword(Default::default());
        let mut procedure = std::mem::replace(&mut self.procedure, fresh);
        let response = procedure.run(Known(self), challenge);
        self.procedure = procedure;
        match response {
            Ok(Response::Next { packet } | Response::Last { packet }) => Ok(packet),
            Err(error) => Err(Malformed(format!("authentication failed: {error}"))),
        }
    }
}

fn procedure(plugin: &AuthPlugin<'_>) -> Result<AuthProc, Malformed> {
    match plugin {
        AuthPlugin::MysqlNativePassword | AuthPlugin::CachingSha2Password | AuthPlugin::Sha256Password => {
            plugin.init().map_err(|error| Malformed(error.to_string()))
        }
        other => {
            let name = String::from_utf8_lossy(other.as_bytes());
            Err(Malformed(format!("dbdyno does not support the server's authentication {name}")))
        }
    }
}

/// The payload of a greeting (the server's side), for a server that lets everybody in.
pub fn server_greeting() -> Vec<u8> {
    let capabilities = CapabilityFlags::CLIENT_PROTOCOL_41
        | CapabilityFlags::CLIENT_SECURE_CONNECTION
        | CapabilityFlags::CLIENT_CONNECT_WITH_DB
        | CapabilityFlags::CLIENT_DEPRECATE_EOF
        | CapabilityFlags::CLIENT_FOUND_ROWS
        | CapabilityFlags::CLIENT_PLUGIN_AUTH;
    let packet = HandshakePacket::new(
        10,
        &b"5.5.5-10.11.0-MariaDB-null"[..],
        1,
        *b"12345678",
        Some(&b"123456789012\0"[..]),
        capabilities,
        45,
        StatusFlags::SERVER_STATUS_AUTOCOMMIT,
        Some(&b"mysql_native_password"[..]),
    )
    .with_mariadb_ext_capabilities(CACHE_METADATA);
    let mut payload = Vec::new();
    packet.serialize(&mut payload);
    payload
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_greeting_is_understood_and_answered() {
        let greeting = greeting(&server_greeting()).unwrap();
        assert!(greeting.version.contains("MariaDB"));
        assert_eq!(greeting.dialect(), Dialect { deprecate_eof: true, cached_metadata: true });
        let (mut login, payload) = Login::begin(&greeting, "u", "secret", Some("db"), Transport::Tcp).unwrap();
        assert!(!payload.windows(6).any(|w| w == b"secret"));
        assert_eq!(login.next(b"\x00\x00\x00\x02\x00\x00\x00"), Ok(LoginStep::Done));
        let refused = LoginStep::Refused { code: 1045, text: "Access denied".into() };
        assert_eq!(login.next(b"\xff\x15\x04#28000Access denied"), Ok(refused));
    }

    #[test]
    fn a_switch_to_another_authentication_is_followed() {
        let greeting = greeting(&server_greeting()).unwrap();
        let (mut login, _) = Login::begin(&greeting, "u", "secret", None, Transport::Unix).unwrap();
        let step = login.next(b"\xfecaching_sha2_password\x0012345678901234567890\x00").unwrap();
        assert!(matches!(step, LoginStep::Send(scramble) if scramble.len() == 32));
        assert_eq!(login.next(b"\x01\x04"), Ok(LoginStep::Send(b"secret\0".to_vec())));
        assert!(login.next(b"\xfemysql_clear_password\x00\x00").is_err());
    }

    #[test]
    fn tls_is_asked_for_before_anything_is_said_and_only_where_it_is_offered() {
        let mut greeting = greeting(&server_greeting()).unwrap();
        let asked = |greeting: &Greeting| {
            let (_, login) = Login::begin(greeting, "u", "secret", None, Transport::Tls).unwrap();
            greeting.tls_request(&login).map(<[u8]>::to_vec)
        };
        assert_eq!(asked(&greeting), None);
        greeting.capabilities |= CapabilityFlags::CLIENT_SSL;
        let request = asked(&greeting).unwrap();
        let capabilities = u32::from_le_bytes(*request.first_chunk().unwrap());
        assert!(request.len() == 32 && capabilities & CapabilityFlags::CLIENT_SSL.bits() != 0);
        // The capabilities that MariaDB alone knows are requested here: it reads none from later messages.
        assert_ne!(request[28..], [0; 4]);
    }

    #[test]
    fn garbage_and_refusals_are_named() {
        assert!(greeting(b"HTTP/1.1 400").is_err());
        assert!(greeting(b"").is_err());
        assert!(greeting(b"\xff\x10\x04Too many connections").unwrap_err().0.contains("Too many connections"));
    }
}
