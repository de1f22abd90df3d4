//! Greeting a server, and logging in if there is a user: SCRAM-SHA-256, or SCRAM-SHA-1 if the server keeps the user only for that.

use rand::RngExt;
use rand::distr::Alphanumeric;

use super::answer::{ServerMessage, refusal};
use super::bson::{Elements, binary, boolean, document, int, read, text};
use super::message::{Command, message};
use super::scram::{Mechanism, Scram};
use crate::{Decoded, Malformed};

const NONCE_LENGTH: usize = 32;

/// The next step of logging in.
#[derive(Debug, PartialEq, Eq)]
pub enum LoginStep {
    /// Send these bytes, a whole message, and read the answer.
    Send(Vec<u8>),
    /// Logged in, or nobody was to be.
    Done,
    /// The server refused, in its words.
    Refused(ServerMessage),
}

enum State {
    Greeted,
    Asked(Scram),
    Proven(Scram),
    /// The server has proved itself and not said yet that it is done.
    Finishing,
}

/// A login in progress.
pub struct Login<'a> {
    user: &'a str,
    password: &'a str,
    /// The database that knows the user.
    database: &'a str,
    state: State,
}

impl<'a> Login<'a> {
    /// `user` is empty if nobody is to be logged in.
    pub fn new(user: &'a str, password: &'a str, database: &'a str) -> Self {
        Self { user, password, database, state: State::Greeted }
    }

    /// The first message, `hello`: it asks how the user may log in.
    pub fn greeting(&self) -> Vec<u8> {
        self.command(|out| {
            int(out, "hello", 1);
            document(out, "client", |out| {
                document(out, "application", |out| text(out, "name", b"dbdyno"));
                document(out, "driver", |out| {
                    text(out, "name", b"dbdyno-load");
                    text(out, "version", env!("CARGO_PKG_VERSION").as_bytes());
                });
                document(out, "os", |out| text(out, "type", b"Linux"));
            });
            if !self.user.is_empty() {
                text(out, "saslSupportedMechs", format!("{}.{}", self.database, self.user).as_bytes());
            }
        })
    }

    fn command(&self, write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let mut out = vec![];
        Command::new(0, write).write(&mut out, 0, |out| text(out, "$db", self.database.as_bytes()));
        out
    }

    /// Takes the server's answer to what was last sent, and says where that ends; `None` while it is not whole.
    ///
    /// # Errors
    /// The answer has no place in a login.
    pub fn next(&mut self, bytes: &[u8]) -> Decoded<(LoginStep, usize)> {
        let Some(message) = message(bytes, 0)? else { return Ok(None) };
        if bytes.get(message.start) != Some(&0) {
            return Err(Malformed::expected("an answer in one document", bytes));
        }
        let said = Said::read(bytes, read(bytes, message.start + 1, message.end)?)?;
        let step = if said.is_ok { self.step(&said)? } else { LoginStep::Refused(said.error) };
        Ok(Some((step, message.next)))
    }

    fn step(&mut self, said: &Said) -> Result<LoginStep, Malformed> {
        match std::mem::replace(&mut self.state, State::Finishing) {
            State::Greeted if self.user.is_empty() => Ok(LoginStep::Done),
            State::Greeted => {
                let mechanism = if said.has_sha256 { Mechanism::Sha256 } else { Mechanism::Sha1 };
                let nonce = rand::rng().sample_iter(Alphanumeric).take(NONCE_LENGTH).map(char::from).collect();
                let scram = Scram::new(mechanism, self.user, self.password, nonce);
                let begin = self.command(|out| {
                    int(out, "saslStart", 1);
                    text(out, "mechanism", mechanism.name().as_bytes());
                    binary(out, "payload", scram.first_message().as_bytes());
                    document(out, "options", |out| boolean(out, "skipEmptyExchange", true));
                });
                self.state = State::Asked(scram);
                Ok(LoginStep::Send(begin))
            }
            State::Asked(mut scram) => {
                let proof = scram.prove(&said.payload)?;
                self.state = State::Proven(scram);
                Ok(self.go_on(said, proof.as_bytes()))
            }
            State::Proven(scram) => {
                scram.check(&said.payload)?;
                // Servers before 4.4 want one more message, with nothing in it.
                Ok(if said.is_done { LoginStep::Done } else { self.go_on(said, b"") })
            }
            State::Finishing if said.is_done => Ok(LoginStep::Done),
            State::Finishing => Err(Malformed("the server does not end the login".into())),
        }
    }

    fn go_on(&self, said: &Said, payload: &[u8]) -> LoginStep {
        LoginStep::Send(self.command(|out| {
            int(out, "saslContinue", 1);
            int(out, "conversationId", said.conversation);
            binary(out, "payload", payload);
        }))
    }
}

/// The content of an answer of a login.
#[derive(Default)]
struct Said {
    is_ok: bool,
    is_done: bool,
    has_sha256: bool,
    conversation: i64,
    payload: Vec<u8>,
    error: ServerMessage,
}

impl Said {
    fn read(bytes: &[u8], mut all: Elements) -> Result<Self, Malformed> {
        let mut said = Said::default();
        while let Some(element) = all.next(bytes)? {
            match element.name {
                b"ok" => said.is_ok = element.number(bytes) == Some(1),
                b"done" => said.is_done = element.number(bytes) == Some(1),
                b"conversationId" => said.conversation = element.number(bytes).unwrap_or_default(),
                b"payload" => said.payload = element.bytes(bytes).unwrap_or_default().to_vec(),
                b"saslSupportedMechs" => {
                    let mut names = element.inside(bytes).unwrap_or(Elements { at: 0, end: 0 });
                    while let Some(name) = names.next(bytes)? {
                        said.has_sha256 |= name.bytes(bytes) == Some(Mechanism::Sha256.name().as_bytes());
                    }
                }
                _ => refusal(bytes, &element, &mut said.error),
            }
        }
        Ok(said)
    }
}

#[cfg(test)]
mod tests {
    use super::super::bson::array;
    use super::super::message::answering;
    use super::*;

    fn answered(login: &mut Login<'_>, write: impl FnOnce(&mut Vec<u8>)) -> Result<LoginStep, Malformed> {
        let mut bytes = vec![];
        answering(&mut bytes, 0, |out| {
            int(out, "ok", 1);
            write(out);
        });
        assert_eq!(login.next(&bytes[..bytes.len() - 1]), Ok(None));
        login.next(&bytes).map(|whole| whole.unwrap().0)
    }

    fn sent(step: Result<LoginStep, Malformed>) -> String {
        match step {
            Ok(LoginStep::Send(bytes)) => bytes.escape_ascii().to_string(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn without_a_user_the_greeting_is_all() {
        let mut login = Login::new("", "", "d");
        assert!(!login.greeting().escape_ascii().to_string().contains("saslSupportedMechs"));
        assert_eq!(answered(&mut login, |_| {}), Ok(LoginStep::Done));
    }

    #[test]
    fn the_better_mechanism_is_taken_and_the_password_is_never_sent() {
        for (offered, taken) in
            [(&["SCRAM-SHA-1", "SCRAM-SHA-256"][..], "SCRAM-SHA-256\\x00"), (&[], "SCRAM-SHA-1\\x00")]
        {
            let mut login = Login::new("u", "open sesame", "admin");
            assert!(login.greeting().escape_ascii().to_string().contains("admin.u"));
            let begun = sent(answered(&mut login, |out| {
                array(out, "saslSupportedMechs", |out| offered.iter().for_each(|name| text(out, "0", name.as_bytes())));
            }));
            assert!(begun.contains(taken) && begun.contains("n,,n=u,r="), "{begun}");
            let nonce = begun.split("r=").nth(1).unwrap()[..NONCE_LENGTH].to_string();
            let first = format!("r={nonce}theirs,s=c2FsdA==,i=10");
            let proof = sent(answered(&mut login, |out| {
                int(out, "conversationId", 77);
                binary(out, "payload", first.as_bytes());
            }));
            assert!(proof.contains("conversationId\\x00M") && !proof.contains("sesame"), "{proof}");
            let forged = answered(&mut login, |out| binary(out, "payload", b"v=AAAA")).unwrap_err();
            assert!(forged.0.contains("authentication failed"));
        }
    }

    #[test]
    fn a_refusal_is_in_the_servers_words() {
        let mut login = Login::new("u", "p", "admin");
        let mut bytes = vec![];
        answering(&mut bytes, 0, |out| {
            int(out, "ok", 0);
            text(out, "errmsg", b"Authentication failed.");
            int(out, "code", 18);
        });
        let refused = ServerMessage { code: 18, text: "Authentication failed.".into() };
        assert_eq!(login.next(&bytes), Ok(Some((LoginStep::Refused(refused), bytes.len()))));
        assert!(login.next(b"HTTP/1.1 400 Bad Request").is_err());
    }
}
