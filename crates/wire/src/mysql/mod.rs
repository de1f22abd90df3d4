//! The MySQL client/server protocol, as MySQL and MariaDB speak it.
//!
//! Handshake and authentication are mysql_common's. Messages per operation are read and written here, in place: that crate's types own
//! their bytes and allocate for every row.

mod bulk;
mod handshake;
mod packet;
mod server_key;
mod statement;
mod text;

pub use crate::{Cell, Param, TextRows};
pub use bulk::{BulkType, LoadAnswer, bulk_execute, bulk_row, load_answer, load_line};
pub use handshake::{Greeting, Login, LoginStep, Transport, greeting, server_greeting};
pub use packet::{Packet, ServerMessage, frame, lenenc, ok_affected_rows, packet, put_lenenc, server_error};
pub use statement::{
    Answer, ColumnType, Dialect, Prepared, answer, execute, prepare, prepared, write_binary_row, write_definition,
};
pub use text::{literal, query, query_with, quit, text_answer, text_cells, write_text_row};
