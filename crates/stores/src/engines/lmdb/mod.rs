//! LMDB, embedded: one environment for all clients, a database a table.

mod environment;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dbdyno_model::Failure;
use lmdb_master_sys::{MDB_NOMETASYNC, MDB_NOSYNC};
use serde::Deserialize;

use crate::Schema;
use crate::effective_settings::EffectiveSettings;
use crate::embedded::{Access, Addition, Capabilities, Each, Engine, Rows, Scanned};
use environment::{Environment, Options, Reader, Status, Table, Writer, version};

/// LMDB's `MDB_MAXKEYSIZE`, as it is compiled in.
const MAX_KEY_SIZE_BYTES: usize = 511;
/// Reader slots: as many as there can be embedded clients, and some for loading and checking.
const MAX_READERS: u32 = 1024;
/// The size of the map must be a multiple of the system's page size, which is 4, 16 or 64 KiB.
const LARGEST_PAGE_SIZE_BYTES: usize = 64 << 10;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LmdbConfig {
    path: PathBuf,
    #[serde(default)]
    sync: LmdbSync,
    map_size_bytes: usize,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum LmdbSync {
    #[default]
    Full,
    NoMetaSync,
    None,
}

pub struct Lmdb {
    environment: Arc<Environment>,
    tables: Vec<Table>,
    effective_settings: EffectiveSettings,
}

impl Lmdb {
    /// Opens, or makes, the environment in the directory.
    ///
    /// # Errors
    /// In words for the user.
    pub fn new(config: &LmdbConfig, schema: &Schema) -> Result<Self, String> {
        let LmdbConfig { path, sync, map_size_bytes } = config;
        let flags = match sync {
            LmdbSync::Full => 0,
            LmdbSync::NoMetaSync => MDB_NOMETASYNC,
            LmdbSync::None => MDB_NOSYNC,
        };
        let map_size_bytes = map_size_bytes.next_multiple_of(LARGEST_PAGE_SIZE_BYTES);
        let options = Options { flags, tables: schema.tables.len() as u32, readers: MAX_READERS, map_size_bytes };
        let directory = path.display();
        std::fs::create_dir_all(path).map_err(|error| format!("{directory}: {error}"))?;
        let mut engine =
            Self::open_environment(path, &options, schema).map_err(|status| format!("{directory}: {status}"))?;
        let (has_bytes, has_flags) =
            engine.environment.effective_settings().map_err(|status| format!("{directory}: {status}"))?;
        let is_flushing_alike = has_flags & (MDB_NOMETASYNC | MDB_NOSYNC) == flags;
        if has_bytes != map_size_bytes || !is_flushing_alike {
            return Err(format!(
                "{directory}: sync={sync:?} and a map of {map_size_bytes} bytes were given, and LMDB has the flags {has_flags:#x} and {has_bytes} bytes"
            ));
        }
        engine.effective_settings.reported("map_size_bytes", has_bytes);
        Ok(engine)
    }

    fn open_environment(path: &Path, options: &Options, schema: &Schema) -> Result<Self, Status> {
        // SAFETY: a plan names one store, and the directory is private to the run, so it is open once and nothing else changes it.
        let environment = Arc::new(unsafe { Environment::open(path, options)? });
        let mut writer = environment.write()?;
        let tables = schema.tables.iter().map(|table| writer.table(&table.name)).collect::<Result<_, _>>()?;
        writer.commit()?;
        Ok(Self { environment, tables, effective_settings: EffectiveSettings::of_version(version()) })
    }
}

impl Lmdb {
    pub fn capabilities(_: &LmdbConfig) -> Capabilities {
        Capabilities { key_size_bytes: Some(MAX_KEY_SIZE_BYTES), can_scan: true, ..Capabilities::PLAIN }
    }
}

impl Engine for Lmdb {
    fn access(self: Arc<Self>) -> Result<Box<dyn Access>, Failure> {
        let reader = Reader::new(&self.environment).map_err(|status| Failure::Connect(status.to_string()))?;
        Ok(Box::new(LmdbAccess { engine: self, reader }))
    }

    fn effective_settings(&self) -> &EffectiveSettings {
        &self.effective_settings
    }
}

#[cold]
fn failure(status: Status) -> Failure {
    if status.is_full() { Failure::Full(status.to_string()) } else { Failure::Server(status.to_string()) }
}

pub struct LmdbAccess {
    engine: Arc<Lmdb>,
    reader: Reader,
}

impl LmdbAccess {
    /// Writes in one transaction.
    fn write<T>(&self, write: impl FnOnce(&mut Writer<'_>) -> Result<T, Status>) -> Result<T, Failure> {
        let run = || {
            let mut writer = self.engine.environment.write()?;
            let result = write(&mut writer)?;
            writer.commit()?;
            Ok(result)
        };
        run().map_err(failure)
    }

    fn table(&self, table: usize) -> Table {
        self.engine.tables[table]
    }
}

impl Access for LmdbAccess {
    #[inline]
    fn get(&mut self, table: usize, key: &[u8]) -> Result<bool, Failure> {
        self.reader.get(self.engine.tables[table], key).map_err(failure)
    }

    /// In one transaction.
    fn get_many(&mut self, table: usize, keys: &[u64], each: &mut Each<'_>) -> Result<(), Failure> {
        for (position, key) in keys.iter().enumerate() {
            let is_there = self.reader.get_again(self.engine.tables[table], &key.to_be_bytes()).map_err(failure)?;
            each(position, is_there.then(|| self.reader.value()))?;
        }
        Ok(())
    }

    #[inline]
    fn value(&self) -> &[u8] {
        self.reader.value()
    }

    #[inline]
    fn release(&mut self) {
        self.reader.release();
    }

    fn put(&mut self, table: usize, key: &[u8], value: &[u8]) -> Result<(), Failure> {
        self.write(|writer| writer.put(self.table(table), key, value))
    }

    fn insert(&mut self, table: usize, key: &[u8], value: &[u8]) -> Result<bool, Failure> {
        self.write(|writer| writer.insert(self.table(table), key, value))
    }

    fn delete(&mut self, table: usize, key: &[u8]) -> Result<bool, Failure> {
        self.write(|writer| writer.delete(self.table(table), key))
    }

    fn scan(&mut self, table: usize, first: &[u8], most: u64, each: &mut Scanned<'_>) -> Result<(), Failure> {
        let (mut result, mut left) = (Ok(()), most);
        let hand_over = |bytes: &[u8]| {
            left -= 1;
            result = each(bytes);
            result.is_ok() && left > 0
        };
        self.reader.scan(self.engine.tables[table], first, hand_over).map_err(failure)?;
        result
    }

    fn add(&mut self, table: usize, key: &[u8], addition: &mut Addition<'_>) -> Result<bool, Failure> {
        self.write(|writer| {
            let Some(value) = writer.get(self.table(table), key)?.and_then(|bytes| addition.apply(bytes)) else {
                return Ok(false);
            };
            writer.put(self.table(table), key, value).map(|()| true)
        })
    }

    /// Each row behind the last if all are.
    fn load(&mut self, table: usize, rows: &mut Rows<'_>) -> Result<(), Failure> {
        let table = self.table(table);
        self.write(|writer| {
            let is_behind = rows.first_of_rising().map(|first| writer.is_behind(table, &first)).transpose()?;
            let put = if is_behind == Some(true) { Writer::append } else { Writer::put };
            while let Some((key, value)) = rows.next_row() {
                put(writer, table, key, value)?;
            }
            Ok(())
        })
    }

    fn loads_by(&self) -> &'static str {
        "put, appending where keys rise, a transaction for many rows"
    }

    /// Nothing is left to do.
    fn settle(&mut self, _: usize) -> Result<(), Failure> {
        Ok(())
    }

    fn count(&mut self, table: usize) -> Result<u64, Failure> {
        self.reader.count(self.engine.tables[table]).map_err(failure)
    }

    fn for_each(&mut self, table: usize, each: &mut dyn FnMut(&[u8])) -> Result<(), Failure> {
        self.reader.for_each(self.engine.tables[table], each).map_err(failure)
    }

    fn clear(&mut self, table: usize) -> Result<(), Failure> {
        self.write(|writer| writer.clear(self.table(table)))
    }
}
