//! LMDB, embedded: one environment for all clients, a database a table, encoded rows.

mod environment;

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dbdyno_model::{Failure, Field, Operation, Row, RowBuffer, Session, Value, decode_row, encode_row};
use lmdb_master_sys::{MDB_NOMETASYNC, MDB_NOSYNC};

use crate::config::LmdbSync;
use crate::{Administration, SharedSchema, Trouble};
use environment::{Environment, Options, Reader, Status, Table, Writer};

/// Reader slots: as many as there can be embedded clients, and some for loading and checking.
const MAX_READERS: u32 = 1024;
/// The size of the map must be a multiple of the system's page size, which is 4, 16 or 64 KiB.
const LARGEST_PAGE_SIZE_BYTES: usize = 64 << 10;

#[derive(Clone)]
pub struct Lmdb {
    environment: Arc<Environment>,
    tables: Vec<Table>,
    schema: SharedSchema,
}

impl Lmdb {
    /// Opens, or makes, the environment in directory `path`.
    ///
    /// # Errors
    /// In words for the user.
    pub fn new(path: PathBuf, sync: LmdbSync, map_size_bytes: usize, schema: SharedSchema) -> Result<Self, String> {
        let flags = match sync {
            LmdbSync::Full => 0,
            LmdbSync::NoMetaSync => MDB_NOMETASYNC,
            LmdbSync::None => MDB_NOSYNC,
        };
        let map_size_bytes = map_size_bytes.next_multiple_of(LARGEST_PAGE_SIZE_BYTES);
        let options = Options { flags, tables: schema.tables.len() as u32, readers: MAX_READERS, map_size_bytes };
        let shown = path.display();
        std::fs::create_dir_all(&path).map_err(|error| format!("{shown}: {error}"))?;
        Self::open_environment(&path, &options, schema).map_err(|status| format!("{shown}: {status}"))
    }

    fn open_environment(path: &Path, options: &Options, schema: SharedSchema) -> Result<Self, Status> {
        // SAFETY: a plan names one store, and the directory is private to the run, so it is open once and nothing else changes it.
        let environment = Arc::new(unsafe { Environment::open(path, options)? });
        let mut writer = environment.write()?;
        let tables = schema.tables.iter().map(|table| writer.table(&table.name)).collect::<Result<_, _>>()?;
        writer.commit()?;
        Ok(Self { environment, tables, schema })
    }

    pub fn open(&self) -> Result<LmdbSession, Failure> {
        let reader = Reader::new(&self.environment).map_err(|status| Failure::Connect(status.to_string()))?;
        Ok(LmdbSession {
            store: self.clone(),
            reader,
            value: Vec::new(),
            generated: RowBuffer::default(),
            fields: Vec::new(),
        })
    }
}

pub struct LmdbSession {
    store: Lmdb,
    reader: Reader,
    value: Vec<u8>,
    generated: RowBuffer,
    fields: Vec<Field>,
}

#[cold]
fn failure(status: Status) -> Failure {
    if status.is_full() { Failure::Full(status.to_string()) } else { Failure::Server(status.to_string()) }
}

fn trouble(status: Status) -> Trouble {
    Trouble::Failed(failure(status))
}

/// The key that a row is filed under: numbers in big-endian order, so that they sort; text as it is. `number` is where one is put.
#[inline]
fn key_of<'a>(filed: Value<'a>, number: &'a mut [u8; 8]) -> &'a [u8] {
    match filed {
        Value::Int(n) => {
            *number = (n as u64).to_be_bytes();
            number
        }
        Value::Text(text) => text,
        Value::Null => &[],
    }
}

const CACHE_LINE_SIZE_BYTES: usize = 64;

/// Reads a byte of every cache line of a row, so that they are fetched at once: decoding it alone fetches one after the other, as where
/// a column lies depends on the one before.
#[inline]
fn touch(bytes: &[u8]) {
    std::hint::black_box(bytes.iter().step_by(CACHE_LINE_SIZE_BYTES).fold(0, |all, byte| all ^ byte));
}

impl LmdbSession {
    /// Reads a row, which stays where it is in the memory map until the transaction ends.
    #[inline]
    fn read(&mut self, step: usize, filed: Value<'_>) -> Result<bool, Failure> {
        let Self { store, reader, fields, .. } = self;
        let table = store.schema.steps[step].operation.table();
        if !reader.get(store.tables[table], key_of(filed, &mut [0; 8])).map_err(failure)? {
            return Ok(false);
        }
        let (table, bytes) = (&store.schema.tables[table], reader.found());
        touch(bytes);
        if decode_row(table, bytes, 0, bytes.len(), fields) {
            Ok(true)
        } else {
            Err(Failure::Mismatch(format!("{} bytes that are no row of {}", bytes.len(), table.name)))
        }
    }

    /// Reads rows in one transaction.
    fn read_many(
        &mut self,
        step: usize,
        keys: &[u64],
        each: &mut dyn FnMut(usize, Option<Row<'_>>),
    ) -> Result<(), Failure> {
        let Self { store, reader, fields, .. } = self;
        let table = store.schema.steps[step].operation.table();
        reader.release();
        for (place, &key) in keys.iter().enumerate() {
            let mut number = [0; 8];
            let key = key_of(Value::Int(key as i64), &mut number);
            if !reader.get_again(store.tables[table], key).map_err(failure)? {
                each(place, None);
                continue;
            }
            let (table, bytes) = (&store.schema.tables[table], reader.found());
            if !decode_row(table, bytes, 0, bytes.len(), fields) {
                return Err(Failure::Mismatch(format!("{} bytes that are no row of {}", bytes.len(), table.name)));
            }
            each(place, Some(Row::new(bytes, fields)));
        }
        Ok(())
    }

    /// Puts a new version of a row.
    fn put(&mut self, table: usize, key: u64, version: u64) -> Result<(), Status> {
        let environment = Arc::clone(&self.store.environment);
        let mut writer = environment.write()?;
        self.put_rows(&mut writer, table, key..key + 1, version, Writer::put)?;
        writer.commit()
    }

    /// Puts rows that are not there, each behind the last where all are.
    fn insert(&mut self, table: usize, keys: Range<u64>) -> Result<(), Status> {
        let environment = Arc::clone(&self.store.environment);
        let mut writer = environment.write()?;
        let mut number = [0; 8];
        let first = key_of(Value::Int(keys.start as i64), &mut number);
        // Numbers rise from chunk to chunk; what a table is filed under otherwise does not.
        let is_rising =
            self.store.schema.tables[table].filed_under == 0 && writer.is_behind(self.store.tables[table], first)?;
        self.put_rows(&mut writer, table, keys, 0, if is_rising { Writer::append } else { Writer::put })?;
        writer.commit()
    }

    fn put_rows<'e>(
        &mut self,
        writer: &mut Writer<'e>,
        table: usize,
        keys: Range<u64>,
        version: u64,
        put: impl Fn(&mut Writer<'e>, Table, &[u8], &[u8]) -> Result<(), Status>,
    ) -> Result<(), Status> {
        let Self { store, value, generated, .. } = self;
        let columns = &store.schema.tables[table];
        for key in keys {
            columns.generate(key, version, generated);
            value.clear();
            encode_row(generated.row(), value);
            let filed = generated.row().value(columns.filed_under);
            put(writer, store.tables[table], key_of(filed, &mut [0; 8]), value)?;
        }
        Ok(())
    }

    fn count_of(&mut self, table: usize, keys: Range<u64>) -> Result<u64, Status> {
        let Self { store, reader, generated, .. } = self;
        let columns = &store.schema.tables[table];
        let mut count = 0;
        for key in keys {
            generated.clear();
            columns.columns[columns.filed_under].generate(key, 0, generated);
            count += u64::from(reader.get(store.tables[table], key_of(generated.row().value(0), &mut [0; 8]))?);
        }
        reader.release();
        Ok(count)
    }

    /// Reads, adds and writes in one write transaction.
    fn add_to(&mut self, table: usize, column: usize, key: u64, delta: i64) -> Result<bool, Status> {
        let Self { store, value, fields, .. } = self;
        let mut number = [0; 8];
        let key = key_of(Value::Int(key as i64), &mut number);
        let mut writer = store.environment.write()?;
        let Some(bytes) = writer.get(store.tables[table], key)? else { return Ok(false) };
        if !decode_row(&store.schema.tables[table], bytes, 0, bytes.len(), fields) {
            return Ok(false);
        }
        if let Field::Int(n) = &mut fields[column] {
            *n += delta;
        }
        value.clear();
        encode_row(Row::new(bytes, fields), value);
        writer.put(store.tables[table], key, value)?;
        writer.commit()?;
        Ok(true)
    }

    fn total(&mut self, table: usize, column: usize) -> Result<i128, Status> {
        let Self { store, reader, fields, .. } = self;
        let mut sum = 0;
        reader.for_each(store.tables[table], |bytes| {
            if decode_row(&store.schema.tables[table], bytes, 0, bytes.len(), fields)
                && let Field::Int(n) = fields[column]
            {
                sum += i128::from(n);
            }
        })?;
        Ok(sum)
    }

    fn empty(&self) -> Result<(), Status> {
        let mut writer = self.store.environment.write()?;
        self.store.tables.iter().try_for_each(|&table| writer.clear(table))?;
        writer.commit()
    }
}

impl Session for LmdbSession {
    #[inline]
    async fn get(&mut self, step: usize, key: u64) -> Result<bool, Failure> {
        self.read(step, Value::Int(key as i64))
    }

    async fn get_many(
        &mut self,
        step: usize,
        keys: &[u64],
        each: &mut dyn FnMut(usize, Option<Row<'_>>),
    ) -> Result<(), Failure> {
        self.read_many(step, keys, each)
    }

    #[inline]
    async fn find(&mut self, step: usize, value: Value<'_>) -> Result<bool, Failure> {
        self.read(step, value)
    }

    async fn update(&mut self, step: usize, key: u64, version: u64) -> Result<bool, Failure> {
        self.reader.release();
        let table = self.store.schema.steps[step].operation.table();
        self.put(table, key, version).map_err(failure)?;
        Ok(true)
    }

    async fn add(&mut self, step: usize, key: u64, delta: i64) -> Result<bool, Failure> {
        let Operation::Add { table, column } = self.store.schema.steps[step].operation else { return Ok(false) };
        self.reader.release();
        self.add_to(table, column, key, delta).map_err(failure)
    }

    #[inline]
    fn row(&self) -> Row<'_> {
        Row::new(self.reader.found(), &self.fields)
    }

    #[inline]
    fn release(&mut self) {
        self.reader.release();
    }
}

/// The directory is dbdyno's own, made for this run, so it needs no marker.
impl Administration for LmdbSession {
    async fn prepare(&mut self, _: &str) -> Result<(), Trouble> {
        self.empty().map_err(trouble)
    }

    async fn load(&mut self, table: usize, keys: Range<u64>) -> Result<(), Trouble> {
        self.insert(table, keys).map_err(trouble)
    }

    fn loads_by(&self) -> &'static str {
        "put, appending where keys rise, a transaction for many rows"
    }

    async fn present(&mut self, table: usize, keys: Range<u64>) -> Result<Option<u64>, Trouble> {
        self.count_of(table, keys).map(Some).map_err(trouble)
    }

    async fn index(&mut self, _: usize) -> Result<(), Trouble> {
        Ok(())
    }

    async fn count(&mut self, table: usize) -> Result<Option<u64>, Trouble> {
        self.reader.count(self.store.tables[table]).map(Some).map_err(trouble)
    }

    async fn sum(&mut self, table: usize, column: usize) -> Result<Option<i128>, Trouble> {
        self.total(table, column).map(Some).map_err(trouble)
    }

    async fn marker(&mut self) -> Result<Option<String>, Trouble> {
        Ok(None)
    }

    async fn remove(&mut self) -> Result<Vec<String>, Trouble> {
        self.empty().map_err(trouble)?;
        Ok(self.store.schema.tables.iter().map(|t| t.name.clone()).collect())
    }
}
