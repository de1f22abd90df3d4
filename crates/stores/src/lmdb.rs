//! LMDB, embedded: one environment for all clients, a database a table, encoded rows.

use std::ops::Range;
use std::path::PathBuf;

use dbdyno_model::{Failure, Field, Operation, Row, RowBuffer, Session, Value, decode_row, encode_row};
use heed::types::Bytes;
use heed::{Database, Env, EnvFlags, EnvOpenOptions, Error, MdbError, PutFlags};

use crate::config::LmdbSync;
use crate::{Administration, SharedSchema, Trouble};

/// Reader slots: as many as there can be embedded clients, and some for loading and checking.
const MAX_READERS: u32 = 1024;
/// The size of the map must be a multiple of the system's page size, which is 4, 16 or 64 KiB.
const LARGEST_PAGE_SIZE_BYTES: usize = 64 << 10;

#[derive(Clone)]
pub struct Lmdb {
    env: Env,
    databases: Vec<Database<Bytes, Bytes>>,
    schema: SharedSchema,
}

impl Lmdb {
    /// Opens, or makes, the environment in directory `path`.
    ///
    /// # Errors
    /// In words for the user.
    pub fn new(path: PathBuf, sync: LmdbSync, map_size_bytes: usize, schema: SharedSchema) -> Result<Self, String> {
        let flags = match sync {
            LmdbSync::Full => EnvFlags::empty(),
            LmdbSync::NoMetaSync => EnvFlags::NO_META_SYNC,
            LmdbSync::None => EnvFlags::NO_SYNC,
        };
        let shown = path.display().to_string();
        let open = || -> heed::Result<Self> {
            std::fs::create_dir_all(&path)?;
            let mut options = EnvOpenOptions::new();
            options.max_dbs(schema.tables.len() as u32).max_readers(MAX_READERS);
            options.map_size(map_size_bytes.next_multiple_of(LARGEST_PAGE_SIZE_BYTES));
            // SAFETY: the directory is private to this run, so nothing else maps or changes the file.
            let env = unsafe { options.flags(flags).open(&path)? };
            let mut transaction = env.write_txn()?;
            let databases = schema.tables.iter().map(|t| env.create_database(&mut transaction, Some(&t.name)));
            let databases = databases.collect::<heed::Result<_>>()?;
            transaction.commit()?;
            Ok(Self { env, databases, schema })
        };
        open().map_err(|error| format!("{shown}: {error}"))
    }

    pub fn open(&self) -> LmdbSession {
        LmdbSession {
            store: self.clone(),
            key: Vec::new(),
            value: Vec::new(),
            generated: RowBuffer::default(),
            fields: Vec::new(),
        }
    }
}

pub struct LmdbSession {
    store: Lmdb,
    key: Vec<u8>,
    value: Vec<u8>,
    generated: RowBuffer,
    fields: Vec<Field>,
}

#[cold]
fn failure(error: Error) -> Failure {
    match &error {
        Error::Mdb(MdbError::MapFull) => Failure::Full(error.to_string()),
        Error::Io(io) if io.kind() == std::io::ErrorKind::StorageFull => Failure::Full(error.to_string()),
        _ => Failure::Server(error.to_string()),
    }
}

fn trouble(error: Error) -> Trouble {
    Trouble::Failed(failure(error))
}

/// Numbers in big-endian order, so that they sort; text as it is.
#[inline]
fn write_key(value: Value<'_>, out: &mut Vec<u8>) {
    out.clear();
    match value {
        Value::Int(n) => out.extend_from_slice(&(n as u64).to_be_bytes()),
        Value::Text(text) => out.extend_from_slice(text),
        Value::Null => {}
    }
}

impl LmdbSession {
    #[inline]
    fn read(&mut self, step: usize, filed: Value<'_>) -> Result<bool, Failure> {
        let table = self.store.schema.steps[step].operation.table();
        write_key(filed, &mut self.key);
        let transaction = self.store.env.read_txn().map_err(failure)?;
        let found = self.store.databases[table].get(&transaction, &self.key).map_err(failure)?;
        let Some(bytes) = found else { return Ok(false) };
        self.value.clear();
        self.value.extend_from_slice(bytes);
        let table = &self.store.schema.tables[table];
        if decode_row(table, &self.value, 0, self.value.len(), &mut self.fields) {
            Ok(true)
        } else {
            Err(Failure::Mismatch(format!("{} bytes that are no row of {}", self.value.len(), table.name)))
        }
    }

    /// Encodes row `key` into `self.value` and what it is filed under into `self.key`.
    fn encode(&mut self, table: usize, key: u64, version: u64) {
        let table = &self.store.schema.tables[table];
        table.generate(key, version, &mut self.generated);
        write_key(self.generated.row().value(table.filed_under), &mut self.key);
        self.value.clear();
        encode_row(self.generated.row(), &mut self.value);
    }

    fn put(&mut self, table: usize) -> heed::Result<()> {
        let mut transaction = self.store.env.write_txn()?;
        self.store.databases[table].put(&mut transaction, &self.key, &self.value)?;
        transaction.commit()
    }

    fn insert(&mut self, table: usize, keys: Range<u64>) -> heed::Result<()> {
        let store = self.store.clone();
        let database = store.databases[table];
        let mut transaction = store.env.write_txn()?;
        self.encode(table, keys.start, 0);
        // Numbers rise from chunk to chunk; what a table is filed under otherwise does not.
        let is_last = database.last(&transaction)?.is_none_or(|(last, _)| last < self.key.as_slice());
        let is_rising = store.schema.tables[table].filed_under == 0 && is_last;
        let flags = if is_rising { PutFlags::APPEND } else { PutFlags::empty() };
        for key in keys {
            self.encode(table, key, 0);
            database.put_with_flags(&mut transaction, flags, &self.key, &self.value)?;
        }
        transaction.commit()
    }

    fn count_of(&mut self, table: usize, keys: Range<u64>) -> heed::Result<u64> {
        let store = self.store.clone();
        let transaction = store.env.read_txn()?;
        let mut count = 0;
        for key in keys {
            self.encode(table, key, 0);
            count += u64::from(store.databases[table].get(&transaction, &self.key)?.is_some());
        }
        Ok(count)
    }

    /// Reads, adds and writes in one write transaction.
    fn add_to(&mut self, table: usize, column: usize, key: u64, delta: i64) -> heed::Result<bool> {
        write_key(Value::Int(key as i64), &mut self.key);
        let mut transaction = self.store.env.write_txn()?;
        let database = self.store.databases[table];
        let Some(bytes) = database.get(&transaction, &self.key)? else { return Ok(false) };
        let table = &self.store.schema.tables[table];
        if !decode_row(table, bytes, 0, bytes.len(), &mut self.fields) {
            return Ok(false);
        }
        if let Field::Int(n) = &mut self.fields[column] {
            *n += delta;
        }
        self.value.clear();
        encode_row(Row::new(bytes, &self.fields), &mut self.value);
        database.put(&mut transaction, &self.key, &self.value)?;
        transaction.commit()?;
        Ok(true)
    }

    fn total(&mut self, table: usize, column: usize) -> heed::Result<i128> {
        let transaction = self.store.env.read_txn()?;
        let mut sum = 0;
        for entry in self.store.databases[table].iter(&transaction)? {
            let (_, bytes) = entry?;
            if decode_row(&self.store.schema.tables[table], bytes, 0, bytes.len(), &mut self.fields)
                && let Field::Int(n) = self.fields[column]
            {
                sum += i128::from(n);
            }
        }
        Ok(sum)
    }

    fn empty(&self) -> heed::Result<()> {
        let mut transaction = self.store.env.write_txn()?;
        self.store.databases.iter().try_for_each(|database| database.clear(&mut transaction))?;
        transaction.commit()
    }
}

impl Session for LmdbSession {
    #[inline]
    async fn get(&mut self, step: usize, key: u64) -> Result<bool, Failure> {
        self.read(step, Value::Int(key as i64))
    }

    #[inline]
    async fn find(&mut self, step: usize, value: Value<'_>) -> Result<bool, Failure> {
        self.read(step, value)
    }

    async fn update(&mut self, step: usize, key: u64, version: u64) -> Result<bool, Failure> {
        let table = self.store.schema.steps[step].operation.table();
        self.encode(table, key, version);
        self.put(table).map_err(failure)?;
        Ok(true)
    }

    async fn add(&mut self, step: usize, key: u64, delta: i64) -> Result<bool, Failure> {
        let Operation::Add { table, column } = self.store.schema.steps[step].operation else { return Ok(false) };
        self.add_to(table, column, key, delta).map_err(failure)
    }

    #[inline]
    fn row(&self) -> Row<'_> {
        Row::new(&self.value, &self.fields)
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
        let transaction = self.store.env.read_txn().map_err(trouble)?;
        self.store.databases[table].len(&transaction).map(Some).map_err(trouble)
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
