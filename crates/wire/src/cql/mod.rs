//! The CQL binary protocol, version 4 (native_protocol_v4.spec of Apache Cassandra).
//!
//! Everything is decoded here, in place: a get is a header, a count and its values. Version 4 and not 5, whose outer frames with their
//! checksums cost both sides more and carry nothing that is used here.

mod frame;
mod login;
mod query;
mod server;
mod statement;
mod token;
mod types;

pub use frame::{Frame, ServerError, error_code, frame};
pub use login::{LoginStep, credentials, login_step, startup};
pub use query::{query, text_answer};
pub use server::{Executed, executed, request, text, write_error, write_prepared, write_ready, write_rows, write_void};
pub use statement::{Answer, Consistency, Prepared, answer, answer_in, execute, prepare, prepared};
pub use token::token_of_int;
pub use types::CqlType;
