//! All that embedded key-value stores have in common: rows encoded as a library's values, and every operation on them.
//!
//! A store is an [`Engine`] with its [`Access`], which know keys and values; rows, workload steps and checks are known here only.

mod rows;

use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use dbdyno_model::{Failure, Field, Operation, Row, RowBuffer, Session, Table, Value, decode_row};
use dbdyno_net::Reactor;

use crate::effective_settings::EffectiveSettings;
use crate::store_config::OpenStore;
use crate::{Administration, Cleaning, SharedSchema, Trouble};
pub use rows::{Addition, Rows};
use rows::{encode, key_of};

/// The limits of a library, and whether it has keys in order.
#[derive(Clone, Copy, Debug)]
pub struct Capabilities {
    /// The longest key and the largest value that it takes; `None`: it tells itself.
    pub key_size_bytes: Option<usize>,
    pub value_size_bytes: Option<usize>,
    /// True if it has [`Access::scan`].
    pub can_scan: bool,
}

impl Capabilities {
    pub const PLAIN: Self = Self { key_size_bytes: None, value_size_bytes: None, can_scan: false };
    /// The library's sizes are C's `int`.
    pub const OF_C_INT: Self = Self { value_size_bytes: Some(i32::MAX as usize), ..Self::PLAIN };
}

/// A library's open data, shared by all threads.
pub trait Engine: Send + Sync {
    /// Makes a way to the data for one thread.
    ///
    /// # Errors
    /// As the library has them.
    fn access(self: Arc<Self>) -> Result<Box<dyn Access>, Failure>;
    /// The version and settings that the library reports.
    fn effective_settings(&self) -> &EffectiveSettings;
}

/// Receives the value of each requested key, with the key's position in the request.
pub type Each<'a> = dyn FnMut(usize, Option<&[u8]>) -> Result<(), Failure> + 'a;

/// Receives each value of a scan.
pub type Scanned<'a> = dyn FnMut(&[u8]) -> Result<(), Failure> + 'a;

/// One thread's way to the data. Tables go by their place in the schema; errors are the library's.
pub trait Access {
    /// Looks up `key` in the newest state; whether it is there. The value is then at [`Access::value`].
    fn get(&mut self, table: usize, key: &[u8]) -> Result<bool, Failure>;
    /// Looks up the rows with these numbers as keys, all in one state if the library can, and hands each to `each`.
    fn get_many(&mut self, table: usize, keys: &[u64], each: &mut Each<'_>) -> Result<(), Failure> {
        for (position, key) in keys.iter().enumerate() {
            let is_there = self.get(table, &key.to_be_bytes())?;
            each(position, is_there.then(|| self.value()))?;
        }
        Ok(())
    }
    /// The value that the last get found, until [`Access::release`] or the next operation; else nothing.
    fn value(&self) -> &[u8];
    /// Lets go of what keeps the value in its place.
    fn release(&mut self);
    /// Puts one value, as durable as the settings say when it returns.
    fn put(&mut self, table: usize, key: &[u8], value: &[u8]) -> Result<(), Failure>;
    /// Puts a value if there is none, as durable as [`Access::put`]; false if one is, which stays as it was.
    fn insert(&mut self, table: usize, key: &[u8], value: &[u8]) -> Result<bool, Failure>;
    /// Removes a value, as durable as [`Access::put`]; false if there is none.
    fn delete(&mut self, table: usize, key: &[u8]) -> Result<bool, Failure>;
    /// Hands at most `most` values to `each`, in the order of their keys, from `first` on.
    fn scan(&mut self, _table: usize, _first: &[u8], _most: u64, _each: &mut Scanned<'_>) -> Result<(), Failure> {
        Err(Failure::Server("this library cannot scan".into()))
    }
    /// Replaces a value by what `addition` makes of it, with nobody else's write in between; false if there is none.
    fn add(&mut self, table: usize, key: &[u8], addition: &mut Addition<'_>) -> Result<bool, Failure>;
    /// Puts rows that are not there, in the library's fastest way; they are durable once the table is settled.
    fn load(&mut self, table: usize, rows: &mut Rows<'_>) -> Result<(), Failure>;
    /// How [`Access::load`] does it, in a few words.
    fn loads_by(&self) -> &'static str;
    /// Does, once all rows are there, what the library would else do in the background.
    fn settle(&mut self, table: usize) -> Result<(), Failure>;
    /// How many values the table has now.
    fn count(&mut self, table: usize) -> Result<u64, Failure>;
    /// Hands every value of the table to `each`.
    fn for_each(&mut self, table: usize, each: &mut dyn FnMut(&[u8])) -> Result<(), Failure>;
    /// Removes all values of the table.
    fn clear(&mut self, table: usize) -> Result<(), Failure>;
}

const CACHE_LINE_SIZE_BYTES: usize = 64;

/// Reads a byte of every cache line of a row, so that they are fetched at once. Decoding alone fetches one after the other, because a
/// column's position depends on the one before.
#[inline]
fn touch(bytes: &[u8]) {
    std::hint::black_box(bytes.iter().step_by(CACHE_LINE_SIZE_BYTES).fold(0, |all, byte| all ^ byte));
}

#[inline]
fn decode(table: &Table, bytes: &[u8], fields: &mut Vec<Field>) -> Result<(), Failure> {
    touch(bytes);
    if decode_row(table, bytes, 0, bytes.len(), fields) {
        return Ok(());
    }
    Err(no_row(table, bytes))
}

#[cold]
fn no_row(table: &Table, bytes: &[u8]) -> Failure {
    Failure::Mismatch(format!("{} bytes that are not a row of {}", bytes.len(), table.name))
}

/// An embedded store as sessions are opened with it.
#[derive(Clone)]
pub struct Embedded {
    engine: Arc<dyn Engine>,
    schema: SharedSchema,
}

impl Embedded {
    pub fn new(engine: impl Engine + 'static, schema: SharedSchema) -> Self {
        Self { engine: Arc::new(engine), schema }
    }
}

impl OpenStore for Embedded {
    type Session = EmbeddedSession;

    async fn open(&self, _: Option<&Rc<Reactor>>) -> Result<EmbeddedSession, Failure> {
        Ok(EmbeddedSession {
            access: Arc::clone(&self.engine).access()?,
            schema: SharedSchema::clone(&self.schema),
            value: Vec::new(),
            generated: RowBuffer::default(),
            fields: Vec::new(),
        })
    }

    fn effective_settings(&self) -> Option<EffectiveSettings> {
        Some(self.engine.effective_settings().clone())
    }
}

/// One type for all engines: a call through a table costs nothing beside a look-up, and a store is then one file and one line.
pub struct EmbeddedSession {
    access: Box<dyn Access>,
    schema: SharedSchema,
    value: Vec<u8>,
    generated: RowBuffer,
    fields: Vec<Field>,
}

impl EmbeddedSession {
    /// Reads a row, which stays where the library has it until it is released.
    #[inline]
    fn read(&mut self, step: usize, filed: Value<'_>) -> Result<bool, Failure> {
        let Self { access, schema, fields, .. } = self;
        let table = schema.steps[step].operation.table();
        if !access.get(table, key_of(filed, &mut [0; 8]))? {
            return Ok(false);
        }
        decode(&schema.tables[table], access.value(), fields)?;
        Ok(true)
    }

    fn count_of(&mut self, table: usize, keys: Range<u64>) -> Result<u64, Failure> {
        let Self { access, schema, generated, .. } = self;
        let columns = &schema.tables[table];
        let mut count = 0;
        for key in keys {
            generated.clear();
            columns.columns[columns.filed_under].generate(key, 0, generated);
            count += u64::from(access.get(table, key_of(generated.row().value(0), &mut [0; 8]))?);
        }
        access.release();
        Ok(count)
    }

    fn total(&mut self, table: usize, column: usize) -> Result<i128, Failure> {
        let Self { access, schema, fields, .. } = self;
        let mut sum = 0;
        access.for_each(table, &mut |bytes| {
            if decode_row(&schema.tables[table], bytes, 0, bytes.len(), fields)
                && let Field::Int(n) = fields[column]
            {
                sum += i128::from(n);
            }
        })?;
        Ok(sum)
    }

    /// The highest number in the table's first column; a hash has no order in which it would be the last.
    fn highest_key(&mut self, table: usize) -> Result<Option<u64>, Failure> {
        let Self { access, schema, fields, .. } = self;
        let mut highest = None;
        access.for_each(table, &mut |bytes| {
            if decode_row(&schema.tables[table], bytes, 0, bytes.len(), fields)
                && let Field::Int(n) = fields[0]
            {
                highest = highest.max(u64::try_from(n).ok());
            }
        })?;
        Ok(highest)
    }

    fn empty(&mut self) -> Result<(), Failure> {
        (0..self.schema.tables.len()).try_for_each(|table| self.access.clear(table))
    }
}

impl Session for EmbeddedSession {
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
        let Self { access, schema, fields, .. } = self;
        let table = schema.steps[step].operation.table();
        access.release();
        access.get_many(table, keys, &mut |position, bytes| {
            if let Some(bytes) = bytes {
                decode(&schema.tables[table], bytes, fields)?;
            }
            each(position, bytes.map(|bytes| Row::new(bytes, fields)));
            Ok(())
        })
    }

    #[inline]
    async fn find(&mut self, step: usize, value: Value<'_>) -> Result<bool, Failure> {
        self.read(step, value)
    }

    async fn update(&mut self, step: usize, key: u64, version: u64) -> Result<bool, Failure> {
        let Self { access, schema, generated, value, .. } = self;
        let table = schema.steps[step].operation.table();
        access.release();
        encode(&schema.tables[table], key, version, generated, value);
        let filed = generated.row().value(schema.tables[table].filed_under);
        access.put(table, key_of(filed, &mut [0; 8]), value)?;
        Ok(true)
    }

    async fn put(&mut self, step: usize, key: u64, version: u64) -> Result<(), Failure> {
        self.update(step, key, version).await.map(drop)
    }

    async fn delete(&mut self, step: usize, key: u64) -> Result<bool, Failure> {
        let Self { access, schema, generated, .. } = self;
        let table = schema.steps[step].operation.table();
        access.release();
        generated.clear();
        schema.tables[table].columns[schema.tables[table].filed_under].generate(key, 0, generated);
        access.delete(table, key_of(generated.row().value(0), &mut [0; 8]))
    }

    async fn scan(&mut self, step: usize, first: u64, most: u64, each: &mut dyn FnMut(Row<'_>)) -> Result<(), Failure> {
        let Self { access, schema, fields, .. } = self;
        let table = schema.steps[step].operation.table();
        access.release();
        access.scan(table, &first.to_be_bytes(), most, &mut |bytes| {
            decode(&schema.tables[table], bytes, fields)?;
            each(Row::new(bytes, fields));
            Ok(())
        })
    }

    async fn insert(&mut self, step: usize, key: u64) -> Result<bool, Failure> {
        let Self { access, schema, generated, value, .. } = self;
        let table = schema.steps[step].operation.table();
        access.release();
        encode(&schema.tables[table], key, 0, generated, value);
        access.insert(table, &key.to_be_bytes(), value)
    }

    async fn add(&mut self, step: usize, key: u64, delta: i64) -> Result<bool, Failure> {
        let Self { access, schema, fields, value, .. } = self;
        let Operation::Add { table, column } = schema.steps[step].operation else { return Ok(false) };
        access.release();
        let mut addition = Addition { table: &schema.tables[table], column, delta, fields, value };
        access.add(table, &key.to_be_bytes(), &mut addition)
    }

    #[inline]
    fn row(&self) -> Row<'_> {
        Row::new(self.access.value(), &self.fields)
    }

    #[inline]
    fn release(&mut self) {
        self.access.release();
    }
}

/// The directory is dbdyno's own, made for this run, so it needs no marker.
impl Administration for EmbeddedSession {
    async fn prepare(&mut self, _: &str) -> Result<(), Trouble> {
        Ok(self.empty()?)
    }

    async fn load(&mut self, table: usize, keys: Range<u64>) -> Result<(), Trouble> {
        let Self { access, schema, generated, value, .. } = self;
        let mut rows = Rows { table: &schema.tables[table], keys, generated, value, number: [0; 8] };
        Ok(access.load(table, &mut rows)?)
    }

    fn loads_by(&self) -> &'static str {
        self.access.loads_by()
    }

    async fn present(&mut self, table: usize, keys: Range<u64>) -> Result<Option<u64>, Trouble> {
        Ok(Some(self.count_of(table, keys)?))
    }

    async fn settle(&mut self, table: usize) -> Result<(), Trouble> {
        Ok(self.access.settle(table)?)
    }

    async fn count(&mut self, table: usize) -> Result<Option<u64>, Trouble> {
        Ok(Some(self.access.count(table)?))
    }

    async fn last_key(&mut self, table: usize) -> Result<Option<u64>, Trouble> {
        Ok(self.highest_key(table)?)
    }

    async fn sum(&mut self, table: usize, column: usize) -> Result<Option<i128>, Trouble> {
        Ok(Some(self.total(table, column)?))
    }

    async fn remove(&mut self, cleaning: Cleaning) -> Result<Vec<String>, Trouble> {
        if cleaning == Cleaning::Remove {
            self.empty()?;
        }
        Ok(self.schema.tables.iter().map(|t| t.name.clone()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_model::{Column, Kind, Source};

    fn table(filed_under: usize) -> Table {
        let columns = vec![
            Column::new("id", Kind::Int, Source::Key),
            Column::new("k", Kind::Int, Source::Counter),
            Column::new("name", Kind::Varchar(20), Source::Name),
        ];
        Table { filed_under, ..Table::new("t", columns) }
    }

    fn rows<'a>(table: &'a Table, generated: &'a mut RowBuffer, value: &'a mut Vec<u8>) -> Rows<'a> {
        Rows { table, keys: 255..258, generated, value, number: [0; 8] }
    }

    #[test]
    fn rows_are_filed_in_the_order_of_their_keys_or_under_text() {
        let (mut generated, mut value) = (RowBuffer::default(), vec![]);
        let (by_key, by_name) = (table(0), table(2));
        let mut all = rows(&by_key, &mut generated, &mut value);
        assert_eq!(all.first_of_rising(), Some(255u64.to_be_bytes()));
        let mut keys = vec![];
        while let Some((key, value)) = all.next_row() {
            assert!(decode_row(&by_key, value, 0, value.len(), &mut vec![]));
            keys.push(key.to_vec());
        }
        assert!(keys.len() == 3 && keys.is_sorted(), "{keys:?}");
        let mut named = rows(&by_name, &mut generated, &mut value);
        assert_eq!(named.first_of_rising(), None);
        assert!(named.next_row().is_some_and(|(key, _)| key.ends_with(b" 255")));
    }

    /// Configurations of every engine; those of an installed library that is not there are left out, but never all.
    fn configurations(directory: &str) -> Vec<String> {
        let typed = r#""buckets": 64, "mmap_mib": 1, "sync": "transaction""#;
        let tokyo = format!(r#""library": "libtokyocabinet.so.9", "compression": "none", "cached_leaves": 0, {typed}"#);
        let kyoto = format!(r#""library": "libkyotocabinet.so.16", "compression": "none", "cache_mib": 1, {typed}"#);
        let tkrzw = r#""library": "libtkrzw.so.1", "sync": "full", "file": "mmap", "compression": "none", "buckets": 64,
            "cached_pages": 64"#;
        let rocksdb = r#""library": "librocksdb.so.7.8", "sync": "full", "wal": "on", "compression": "none",
            "cache_mib": 1, "bloom_bits": 0, "write_buffer_mib": 1"#;
        let mut all = vec![("lmdb", "", r#""sync": "full", "map_size_bytes": 1048576"#), ("rocksdb", "", rocksdb)];
        for structure in [r#""type": "hash", "#, r#""type": "tree", "#] {
            all.extend([("tokyocabinet", structure, &*tokyo), ("kyotocabinet", structure, &*kyoto)]);
            all.push(("tkrzw", structure, tkrzw));
        }
        let configuration = |(i, (kind, structure, more)): (usize, &(&str, &str, &str))| {
            std::fs::create_dir_all(format!("{directory}/{i}")).unwrap();
            format!(r#"{{"kind": "{kind}", "path": "{directory}/{i}", {structure}{more}}}"#)
        };
        all.iter().enumerate().map(configuration).collect()
    }

    #[test]
    fn a_row_is_inserted_once_and_stays_as_it_was() {
        let directory = std::env::temp_dir().join(format!("dbdyno-insert-{}", std::process::id()));
        let mut tried = 0;
        for config in configurations(directory.to_str().unwrap()) {
            let steps =
                [Operation::Insert { table: 0 }, Operation::Add { table: 0, column: 1 }, Operation::Get { table: 0 }];
            let steps = steps.map(|operation| dbdyno_model::Step::new("s", operation)).to_vec();
            let schema = crate::Schema { tables: vec![table(0)], steps, statements: vec![], rows: 9 };
            let parsed = serde_json::from_str(&config).unwrap();
            let store = match crate::Store::new(&parsed, &[], schema, 1) {
                Ok(store) => store,
                Err(reason) if reason.contains("cannot be loaded") && std::env::var("CI").is_err() => continue,
                Err(reason) => panic!("{config}: {reason}"),
            };
            let session = dbdyno_net::block_on(store.open(None));
            let mut session = session.unwrap();
            let inserted = dbdyno_net::block_on(async {
                session.prepare("dbdyno:").await.unwrap();
                let first = session.insert(0, 7).await.unwrap();
                session.add(1, 7, 5).await.unwrap();
                let again = session.insert(0, 7).await.unwrap();
                assert!(session.get(2, 7).await.unwrap());
                let value = session.row().value(1);
                assert_eq!(value, Value::Int(7 + 5), "{config}");
                session.release();
                (first, again, session.count(0).await.unwrap(), session.last_key(0).await.unwrap())
            });
            assert_eq!(inserted, (true, false, Some(1), Some(7)), "{config}");
            tried += 1;
        }
        std::fs::remove_dir_all(directory).unwrap();
        assert!(tried > 0);
    }

    #[test]
    fn an_addition_changes_its_column_only_and_refuses_what_is_no_row() {
        let (table, mut generated, mut bytes) = (table(0), RowBuffer::default(), vec![]);
        encode(&table, 7, 0, &mut generated, &mut bytes);
        let (mut fields, mut value) = (vec![], vec![]);
        let mut addition = Addition { table: &table, column: 1, delta: 5, fields: &mut fields, value: &mut value };
        assert_eq!(addition.apply(b"no row"), None);
        let changed = addition.apply(&bytes).unwrap().to_vec();
        assert!(decode_row(&table, &changed, 0, changed.len(), &mut fields));
        assert_eq!((fields[0], fields[1]), (Field::Int(7), Field::Int(7 + 5)));
        assert_eq!(changed[16..], bytes[16..]);
    }
}
