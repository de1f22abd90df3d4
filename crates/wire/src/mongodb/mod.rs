//! The MongoDB wire protocol: OP_MSG (<https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/>) and the BSON in it
//! (<https://bsonspec.org/spec.html>).
//!
//! Documents are written and read in place; the hashing of SCRAM is of well-kept crates.

mod answer;
mod bson;
mod login;
mod message;
mod scram;
mod server;

pub use answer::{Answer, Name, ServerMessage, answer, name};
pub use bson::{array, binary, boolean, document, double, elements, int, text};
pub use login::{Login, LoginStep};
pub use message::{Command, MORE_TO_COME, Message, message};
pub use server::{Asked, Request, request, write_answer};
