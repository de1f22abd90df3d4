//! The PostgreSQL frontend/backend protocol, version 3.0
//! (<https://www.postgresql.org/docs/current/protocol-message-formats.html>).
//!
//! The authentication procedures are postgres-protocol's. Messages per operation are decoded here, in place.
//!
//! Prepared statements have their parameters and results in the binary format: the server then neither parses nor prints
//! numbers, and texts are the same bytes in both formats.

mod copy;
mod login;
mod message;
mod number;
mod query;
mod server;
mod statement;

pub use copy::{copy_begin, copy_end, copy_row};
pub use login::{Login, LoginStep, startup, tls_answer, tls_request};
pub use message::{Message, ServerMessage, frame, message, server_error};
pub use query::{query, terminate, text_answer};
pub use server::{
    Bound, bound, parse_message, startup_message, write_bound, write_complete, write_description, write_error,
    write_ready, write_row, write_welcome,
};
pub use statement::{Answer, Prepared, ScalarType, answer, execute, executed, prepare, prepared, ready, sync};
