//! Loading: many rows in one request, in the fastest way that the server has.

use std::ops::Range;

use dbdyno_model::{Failure, Kind, Row, RowBuffer, Table};
use dbdyno_wire::Param;
use dbdyno_wire::mysql::{self as wire, BulkType, LoadAnswer};

use super::config::LoadWith;
use super::{MysqlSession, refused};
use crate::params::params;
use crate::sql::table_name;

/// A request is about this long, or shorter if the server allows less: longer ones are no faster.
const REQUEST_SIZE_BYTES: usize = 4 << 20;
/// A request has the rows of thousands of operations, and waits while the server writes pages.
const REQUEST_NS: u64 = 60 * 1_000_000_000;
/// Room for what is not in a row's own bytes.
const MORE_SIZE_BYTES: usize = 16 << 10;
/// The first byte of a request that is a statement.
const COMMAND_SIZE_BYTES: usize = 1;
/// Written out, each of its bytes may take two.
const WRITTEN_OUT: usize = 2;
/// A packet is shorter than 16 MiB: a request may be that long, and grows beyond by a row, written out.
pub const MAX_ROW_SIZE_BYTES: usize = ((16 << 20) - REQUEST_SIZE_BYTES) / WRITTEN_OUT - MORE_SIZE_BYTES;
/// LOAD DATA LOCAL is forbidden: by MySQL before 8, by MySQL, by MariaDB.
const LOCAL_IS_OFF: [u16; 3] = [1148, 3948, 4166];

/// How a session loads, and what it has found out for that.
pub struct Loader {
    way: LoadWith,
    allowed_size_bytes: Option<usize>,
    /// The prepared INSERT of each table, by its number, if it was needed.
    inserts: Vec<(usize, u32)>,
}

impl Loader {
    pub fn new(wanted: Option<LoadWith>, can_bulk_execute: bool) -> Self {
        let fastest = if can_bulk_execute { LoadWith::BulkExecute } else { LoadWith::LoadData };
        let way = wanted.filter(|&way| can_bulk_execute || way != LoadWith::BulkExecute).unwrap_or(fastest);
        Self { way, allowed_size_bytes: None, inserts: Vec::new() }
    }

    pub fn way(&self) -> &'static str {
        match self.way {
            LoadWith::BulkExecute => "prepared INSERT, executed in bulk",
            LoadWith::LoadData => "LOAD DATA LOCAL",
            LoadWith::Insert => "INSERT of many rows",
        }
    }
}

/// Generates rows one after the other until `append` says that the request is long enough, and returns the first key that was not.
fn generate(table: &Table, keys: &Range<u64>, row: &mut RowBuffer, mut append: impl FnMut(Row<'_>) -> bool) -> u64 {
    for key in keys.clone() {
        if table.make(key, row) && append(row.row()) {
            return key + 1;
        }
    }
    keys.end
}

fn bulk_type(kind: Kind) -> BulkType {
    match kind {
        Kind::TinyInt | Kind::SmallInt | Kind::Int => BulkType::Int32,
        Kind::BigInt | Kind::DateTime => BulkType::Int64,
        Kind::Decimal(..) => BulkType::Decimal,
        Kind::Double => BulkType::Double,
        Kind::Char(_) | Kind::Varchar(_) | Kind::Unicode(_) | Kind::Binary(_) | Kind::Json(_) => BulkType::Text,
    }
}

impl MysqlSession {
    /// Each request is a separate transaction.
    pub(super) async fn load_rows(&mut self, table: usize, mut keys: Range<u64>) -> Result<(), Failure> {
        self.exchange.be_patient(REQUEST_NS);
        // MySQL makes no document of bytes whose character set it was not told (error 3144), and LOAD DATA sends such.
        let has_documents = self.schema.tables[table].columns.iter().any(|c| matches!(c.kind, Kind::Json(_)));
        while !keys.is_empty() {
            keys.start = match self.loader.way {
                LoadWith::BulkExecute => self.load_by_bulk_execute(table, &keys).await?,
                LoadWith::LoadData if !has_documents => self.load_by_load_data(table, &keys).await?,
                LoadWith::LoadData | LoadWith::Insert => self.load_by_insert(table, &keys).await?,
            };
        }
        Ok(())
    }

    /// How long a request may be before it is ended by one more row, so that the server takes it.
    async fn request_size_bytes(&mut self, table: usize) -> Result<usize, Failure> {
        let room = WRITTEN_OUT * self.schema.tables[table].most_row_bytes() + MORE_SIZE_BYTES;
        Ok(self.allowed_size_bytes().await?.saturating_sub(room).clamp(1, REQUEST_SIZE_BYTES))
    }

    async fn allowed_size_bytes(&mut self) -> Result<usize, Failure> {
        if let Some(size) = self.loader.allowed_size_bytes {
            return Ok(size);
        }
        let allowed = self.query_one("SELECT @@max_allowed_packet").await?;
        let size = allowed.and_then(|n| n.parse().ok()).unwrap_or_default();
        self.loader.allowed_size_bytes = Some(size);
        Ok(size)
    }

    async fn prepared_insert(&mut self, table: usize) -> Result<u32, Failure> {
        if let Some(&(_, id)) = self.loader.inserts.iter().find(|(of, _)| *of == table) {
            return Ok(id);
        }
        let columns = &self.schema.tables[table];
        let marks = vec!["?"; columns.columns.len()].join(",");
        wire::prepare(self.exchange.begin(), &format!("INSERT INTO {} VALUES ({marks})", table_name(columns)));
        let dialect = self.dialect;
        let prepared = self.exchange.ask(|bytes| wire::prepared(bytes, dialect)).await?;
        let id = prepared.map_err(|error| refused(&error))?.id;
        self.loader.inserts.push((table, id));
        Ok(id)
    }

    async fn load_by_bulk_execute(&mut self, table: usize, keys: &Range<u64>) -> Result<u64, Failure> {
        let (size, id) = (self.request_size_bytes(table).await?, self.prepared_insert(table).await?);
        let Self { exchange, schema, generated, dialect, .. } = self;
        let table = &schema.tables[table];
        let mut next = keys.end;
        let types = table.columns.iter().map(|column| bulk_type(column.kind));
        wire::bulk_execute(exchange.begin(), id, types.clone(), |out| {
            next = generate(table, keys, generated, |row| {
                wire::bulk_row(out, types.clone().zip(params(table.columns.iter(), row)));
                out.len() >= size
            });
        });
        let dialect = *dialect;
        let rows = exchange.ask(|bytes| wire::text_answer(bytes, dialect)).await?;
        rows.map(|_| next).map_err(|error| refused(&error))
    }

    async fn load_by_load_data(&mut self, table: usize, keys: &Range<u64>) -> Result<u64, Failure> {
        let size = self.allowed_size_bytes().await?.saturating_sub(MORE_SIZE_BYTES).clamp(1, REQUEST_SIZE_BYTES);
        let name = table_name(&self.schema.tables[table]);
        let sql = format!("LOAD DATA LOCAL INFILE 'rows' INTO TABLE {name} CHARACTER SET binary");
        wire::query(self.exchange.begin(), sql.as_bytes());
        match self.exchange.ask(wire::load_answer).await? {
            LoadAnswer::Send { sequence } => self.send_lines(table, keys, size, sequence).await?,
            LoadAnswer::Error(error) if LOCAL_IS_OFF.contains(&error.code) => {
                self.loader.way = LoadWith::Insert;
                return Ok(keys.start);
            }
            LoadAnswer::Error(error) => return Err(refused(&error)),
            LoadAnswer::Added(_) => return Err(Failure::Protocol("LOAD DATA LOCAL ended without its lines".into())),
        }
        // From a local file the server takes what it can and skips the rest, so the number must be looked at.
        match self.exchange.ask(wire::load_answer).await? {
            LoadAnswer::Added(rows) if rows == self.schema.tables[table].count(keys.clone()) => Ok(keys.end),
            LoadAnswer::Error(error) => Err(refused(&error)),
            other => Err(Failure::Server(format!("LOAD DATA LOCAL of rows {keys:?} into {name}: {other:?}"))),
        }
    }

    /// A packet ends when it is full, so a server that takes only short ones takes a long line too.
    async fn send_lines(
        &mut self,
        table: usize,
        keys: &Range<u64>,
        size: usize,
        mut sequence: u8,
    ) -> Result<(), Failure> {
        let Self { exchange, schema, generated, .. } = self;
        let mut rest = keys.clone();
        let mut lines = Vec::new();
        while !rest.is_empty() {
            lines.clear();
            rest.start = generate(&schema.tables[table], &rest, generated, |row| {
                wire::load_line(&mut lines, params(schema.tables[table].columns.iter(), row));
                lines.len() >= size
            });
            for part in lines.chunks(size) {
                wire::frame(exchange.begin(), sequence, |out| out.extend_from_slice(part));
                sequence = sequence.wrapping_add(1);
                exchange.send().await?;
            }
        }
        wire::frame(exchange.begin(), sequence, |_| ());
        Ok(())
    }

    async fn load_by_insert(&mut self, number: usize, keys: &Range<u64>) -> Result<u64, Failure> {
        let (size, allowed) = (self.request_size_bytes(number).await?, self.allowed_size_bytes().await?);
        let table = &self.schema.tables[number];
        let mut sql = format!("INSERT INTO {} VALUES ", table_name(table)).into_bytes();
        let head = sql.len();
        let next = generate(table, keys, &mut self.generated, |row| {
            if sql.len() > head {
                sql.push(b',');
            }
            append_values(&mut sql, params(table.columns.iter(), row));
            sql.len() >= size
        });
        // Requests that may be longer than that have one row.
        if sql.len() + COMMAND_SIZE_BYTES >= allowed {
            self.insert_as_it_is(number, &(keys.start..next)).await?;
            return Ok(next);
        }
        wire::query(self.exchange.begin(), &sql);
        let dialect = self.dialect;
        let rows = self.exchange.ask(|bytes| wire::text_answer(bytes, dialect)).await?;
        rows.map(|_| next).map_err(|error| refused(&error))
    }

    /// Inserts the first row of `keys` by a prepared statement, which has no byte twice: written out it may be too long if it is not.
    async fn insert_as_it_is(&mut self, table: usize, keys: &Range<u64>) -> Result<(), Failure> {
        let id = self.prepared_insert(table).await?;
        let Self { exchange, schema, generated, dialect, .. } = self;
        let table = &schema.tables[table];
        generate(table, keys, generated, |row| {
            wire::execute(exchange.begin(), id, params(table.columns.iter(), row), true);
            true
        });
        let dialect = *dialect;
        let rows = exchange.ask(|bytes| wire::text_answer(bytes, dialect)).await?;
        rows.map(|_| ()).map_err(|error| refused(&error))
    }
}

/// Appends `(1,'…')`.
fn append_values<'p>(sql: &mut Vec<u8>, values: impl Iterator<Item = Param<'p>>) {
    for (i, value) in values.enumerate() {
        sql.push(if i == 0 { b'(' } else { b',' });
        wire::literal(value, sql);
    }
    sql.push(b')');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inserted_text_is_quoted() {
        let mut sql = Vec::new();
        let decimal = Param::Decimal { unscaled: -5, scale: 2 };
        append_values(
            &mut sql,
            [Param::Int(-1), Param::Text(br"it's a \ test"), Param::Null, decimal, Param::Text(b"\xff")].into_iter(),
        );
        assert_eq!(sql, b"(-1,'it\\'s a \\\\ test',NULL,-0.05,_binary'\xff')");
    }

    #[test]
    fn bulk_execution_is_not_asked_of_a_server_that_does_not_know_it() {
        assert_eq!(Loader::new(None, true).way, LoadWith::BulkExecute);
        assert_eq!(Loader::new(None, false).way, LoadWith::LoadData);
        assert_eq!(Loader::new(Some(LoadWith::BulkExecute), false).way, LoadWith::LoadData);
        assert_eq!(Loader::new(Some(LoadWith::Insert), true).way, LoadWith::Insert);
    }
}
