//! RocksDB, embedded: one database for all clients, a column family a table, by the C interface of the installed library.
//!
//! Additions are optimistic transactions; every other operation goes to the database below them, which they cost nothing.

use std::ffi::{CStr, CString, c_char, c_int};
use std::path::PathBuf;
use std::ptr::{self, null_mut};
use std::sync::Arc;

use dbdyno_model::Failure;
use serde::Deserialize;

use crate::Schema;
use crate::config::Flush;
use crate::embedded::{Access, Addition, Each, Engine, Rows};
use crate::library::{Handle, Library, bytes_at, c_path, failure, functions, text_at};

/// How RocksDB is opened.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RocksdbConfig {
    path: PathBuf,
    library: String,
    sync: Flush,
    wal: Switch,
    compression: Compression,
    cache_mib: usize,
    bloom_bits: u32,
    write_buffer_mib: usize,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
enum Switch {
    On,
    Off,
}

/// As rocksdb/c.h numbers them.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Compression {
    None = 0,
    Snappy = 1,
    Zlib = 2,
    Lz4 = 4,
    Zstd = 7,
}

functions!(Functions {
    fn options_create() -> Handle;
    fn options_destroy(Handle);
    fn options_set_create_if_missing(Handle, u8);
    fn options_set_create_missing_column_families(Handle, u8);
    fn options_set_compression(Handle, c_int);
    fn options_set_write_buffer_size(Handle, usize);
    fn options_set_block_based_table_factory(Handle, Handle);
    fn block_based_options_create() -> Handle;
    fn block_based_options_destroy(Handle);
    fn block_based_options_set_filter_policy(Handle, Handle);
    fn block_based_options_set_block_cache(Handle, Handle);
    fn filterpolicy_create_bloom_full(f64) -> Handle;
    fn cache_create_lru(usize) -> Handle;
    fn cache_destroy(Handle);
    fn writeoptions_create() -> Handle;
    fn writeoptions_destroy(Handle);
    fn writeoptions_set_sync(Handle, u8);
    fn writeoptions_disable_WAL(Handle, c_int);
    fn readoptions_create() -> Handle;
    fn readoptions_destroy(Handle);
    fn flushoptions_create() -> Handle;
    fn flushoptions_destroy(Handle);
    fn optimistictransactiondb_open_column_families(Handle, *const c_char, c_int, *const *const c_char, *const Handle, *mut Handle, *mut *mut c_char) -> Handle;
    fn list_column_families(Handle, *const c_char, *mut usize, *mut *mut c_char) -> *mut *mut c_char;
    fn list_column_families_destroy(*mut *mut c_char, usize);
    fn optimistictransactiondb_get_base_db(Handle) -> Handle;
    fn optimistictransactiondb_close_base_db(Handle);
    fn optimistictransactiondb_close(Handle);
    fn column_family_handle_destroy(Handle);
    fn optimistictransaction_options_create() -> Handle;
    fn optimistictransaction_options_destroy(Handle);
    fn optimistictransaction_begin(Handle, Handle, Handle, Handle) -> Handle;
    fn transaction_get_pinned_for_update_cf(Handle, Handle, Handle, *const u8, usize, u8, *mut *mut c_char) -> Handle;
    fn transaction_put_cf(Handle, Handle, *const u8, usize, *const u8, usize, *mut *mut c_char);
    fn transaction_commit(Handle, *mut *mut c_char);
    fn transaction_rollback(Handle, *mut *mut c_char);
    fn transaction_destroy(Handle);
    fn get_pinned_cf(Handle, Handle, Handle, *const u8, usize, *mut *mut c_char) -> Handle;
    fn batched_multi_get_cf(Handle, Handle, Handle, usize, *const *const u8, *const usize, *mut Handle, *mut *mut c_char, bool);
    fn pinnableslice_value(Handle, *mut usize) -> *const u8;
    fn pinnableslice_destroy(Handle);
    fn put_cf(Handle, Handle, Handle, *const u8, usize, *const u8, usize, *mut *mut c_char);
    fn delete_range_cf(Handle, Handle, Handle, *const u8, usize, *const u8, usize, *mut *mut c_char);
    fn writebatch_create() -> Handle;
    fn writebatch_destroy(Handle);
    fn writebatch_clear(Handle);
    fn writebatch_count(Handle) -> c_int;
    fn writebatch_put_cf(Handle, Handle, *const u8, usize, *const u8, usize);
    fn write(Handle, Handle, Handle, *mut *mut c_char);
    fn flush_cf(Handle, Handle, Handle, *mut *mut c_char);
    fn compact_range_cf(Handle, Handle, *const u8, usize, *const u8, usize);
    fn create_iterator_cf(Handle, Handle, Handle) -> Handle;
    fn iter_seek_to_first(Handle);
    fn iter_valid(Handle) -> u8;
    fn iter_next(Handle);
    fn iter_value(Handle, *mut usize) -> *const u8;
    fn iter_get_error(Handle, *mut *mut c_char);
    fn iter_destroy(Handle);
    fn free(Handle);
});

impl Functions {
    /// Calls a function that reports an error through its last argument.
    #[inline]
    fn checked<T>(&self, call: impl FnOnce(*mut *mut c_char) -> T) -> Result<T, String> {
        let mut error = null_mut();
        let result = call(&mut error);
        if error.is_null() { Ok(result) } else { Err(self.taken(error)) }
    }

    #[cold]
    fn taken(&self, error: *mut c_char) -> String {
        // SAFETY: RocksDB set it to a text that ends with 0, which is the caller's to free.
        unsafe {
            let text = text_at(error);
            (self.free)(error.cast());
            text
        }
    }
}

/// Rows that are written together while loading.
const BATCH_ROWS: c_int = 1000;
/// Behind every key: keys are numbers of 8 bytes, or text, which has no such byte in it.
const BEHIND_ALL: [u8; 9] = [0xff; 9];

pub struct Rocksdb {
    c: Functions,
    transactions: Handle,
    database: Handle,
    families: Vec<Handle>,
    transaction_options: Handle,
    reading: Handle,
    writing: Handle,
    /// For loading: no log, which a flush at the end stands in for.
    loading: Handle,
    flushing: Handle,
}

// SAFETY: RocksDB's databases, column families and options may be used by all threads at once (rocksdb/db.h), and options are not changed.
unsafe impl Send for Rocksdb {}
// SAFETY: as above.
unsafe impl Sync for Rocksdb {}

impl Rocksdb {
    /// Opens, or makes, the database in directory `path`.
    ///
    /// # Errors
    /// In words for the user.
    pub fn new(config: &RocksdbConfig, schema: &Schema) -> Result<Self, String> {
        // SAFETY: the plan names the library of RocksDB, whose C interface has these types since 7.0 and only grows.
        let c = unsafe { Functions::find(&Library::load(&config.library)?, "rocksdb_")? };
        let (transactions, families) =
            open(&c, config, schema).map_err(|e| format!("{}: {e}", config.path.display()))?;
        // SAFETY: the database is open; the options are made here and destroyed with it.
        unsafe {
            let (writing, loading) = ((c.writeoptions_create)(), (c.writeoptions_create)());
            (c.writeoptions_set_sync)(writing, u8::from(config.sync == Flush::Full));
            (c.writeoptions_disable_WAL)(writing, c_int::from(config.wal == Switch::Off));
            (c.writeoptions_disable_WAL)(loading, 1);
            Ok(Self {
                c,
                transactions,
                database: (c.optimistictransactiondb_get_base_db)(transactions),
                families,
                transaction_options: (c.optimistictransaction_options_create)(),
                reading: (c.readoptions_create)(),
                writing,
                loading,
                flushing: (c.flushoptions_create)(),
            })
        }
    }
}

/// Opens the database with a column family for each table.
fn open(c: &Functions, config: &RocksdbConfig, schema: &Schema) -> Result<(Handle, Vec<Handle>), String> {
    let tables = schema.tables.iter().map(|table| CString::new(table.name.as_str()).unwrap_or_default());
    let mut names: Vec<CString> = tables.collect();
    let path = c_path(&config.path);
    with_options(c, config, |options| {
        let others = families_beside(c, options, &path, &names);
        names.extend(others);
        let name_pointers: Vec<*const c_char> = names.iter().map(|name| name.as_ptr()).collect();
        let mut families = vec![null_mut(); names.len()];
        let all = vec![options; names.len()];
        // SAFETY: all arrays have as many entries as names, and RocksDB copies the options.
        let opened = c.checked(|error| unsafe {
            let count = names.len() as c_int;
            let (names, all, families) = (name_pointers.as_ptr(), all.as_ptr(), families.as_mut_ptr());
            (c.optimistictransactiondb_open_column_families)(options, path.as_ptr(), count, names, all, families, error)
        })?;
        for family in families.drain(schema.tables.len()..) {
            // SAFETY: the handle of a family that no table uses is destroyed once.
            unsafe { (c.column_family_handle_destroy)(family) };
        }
        Ok((opened, families))
    })
}

/// The column families beside those of these names: RocksDB opens all of them or none.
fn families_beside(c: &Functions, options: Handle, path: &CStr, names: &[CString]) -> Vec<CString> {
    let mut count = 0;
    // SAFETY: the path ends with 0.
    let listed = c.checked(|error| unsafe { (c.list_column_families)(options, path.as_ptr(), &mut count, error) });
    // There are none where there is no database yet.
    let Ok(list) = listed else { return vec![c"default".into()] };
    // SAFETY: RocksDB has made a list of so many texts, which is destroyed once.
    unsafe {
        let all = std::slice::from_raw_parts(list, count).iter().map(|&name| CString::from(CStr::from_ptr(name)));
        let others = all.filter(|name| !names.contains(name)).collect();
        (c.list_column_families_destroy)(list, count);
        others
    }
}

fn with_options<T>(c: &Functions, config: &RocksdbConfig, then: impl FnOnce(Handle) -> T) -> T {
    const MIB: usize = 1 << 20;
    // SAFETY: each is made here, and destroyed once what was opened has its copy; a filter policy belongs to the table options.
    unsafe {
        let (options, blocks, cache) =
            ((c.options_create)(), (c.block_based_options_create)(), (c.cache_create_lru)(config.cache_mib * MIB));
        (c.block_based_options_set_block_cache)(blocks, cache);
        if config.bloom_bits > 0 {
            let policy = (c.filterpolicy_create_bloom_full)(f64::from(config.bloom_bits));
            (c.block_based_options_set_filter_policy)(blocks, policy);
        }
        (c.options_set_block_based_table_factory)(options, blocks);
        (c.options_set_create_if_missing)(options, 1);
        (c.options_set_create_missing_column_families)(options, 1);
        (c.options_set_compression)(options, config.compression as c_int);
        (c.options_set_write_buffer_size)(options, config.write_buffer_mib * MIB);
        let result = then(options);
        (c.options_destroy)(options);
        (c.block_based_options_destroy)(blocks);
        (c.cache_destroy)(cache);
        result
    }
}

impl Drop for Rocksdb {
    fn drop(&mut self) {
        let c = &self.c;
        // SAFETY: every access shares the database, so none is left; the column families go before it.
        unsafe {
            self.families.iter().for_each(|&family| (c.column_family_handle_destroy)(family));
            (c.optimistictransactiondb_close_base_db)(self.database);
            (c.optimistictransactiondb_close)(self.transactions);
            (c.optimistictransaction_options_destroy)(self.transaction_options);
            (c.readoptions_destroy)(self.reading);
            (c.writeoptions_destroy)(self.writing);
            (c.writeoptions_destroy)(self.loading);
            (c.flushoptions_destroy)(self.flushing);
        }
    }
}

impl Engine for Rocksdb {
    fn access(self: Arc<Self>) -> Result<Box<dyn Access>, Failure> {
        Ok(Box::new(RocksdbAccess {
            engine: self,
            slice: null_mut(),
            found: (ptr::null(), 0),
            transaction: null_mut(),
        }))
    }
}

pub struct RocksdbAccess {
    engine: Arc<Rocksdb>,
    /// What keeps the value of the last get in its place: in the block cache, or the write buffer's copy.
    slice: Handle,
    found: (*const u8, usize),
    /// The last addition's, used again.
    transaction: Handle,
}

impl RocksdbAccess {
    /// Makes a pinned value the one that was found.
    #[inline]
    fn pin(&mut self, slice: Handle) -> bool {
        self.slice = slice;
        let mut size_bytes = 0;
        if !slice.is_null() {
            // SAFETY: the slice is RocksDB's, and not destroyed.
            let address = unsafe { (self.engine.c.pinnableslice_value)(slice, &mut size_bytes) };
            self.found = (address, size_bytes);
        }
        !slice.is_null()
    }

    /// Tries an addition once. RocksDB refuses at commit where somebody else wrote the key meanwhile.
    fn try_to_add(&mut self, family: Handle, key: &[u8], addition: &mut Addition<'_>) -> Result<bool, String> {
        let Rocksdb { c, transactions, writing, reading, transaction_options, .. } = &*Arc::clone(&self.engine);
        let (key, key_size) = (key.as_ptr(), key.len());
        // SAFETY: a transaction is begun anew or made of the last, and used by this thread only; key and value outlive the calls.
        unsafe {
            self.transaction =
                (c.optimistictransaction_begin)(*transactions, *writing, *transaction_options, self.transaction);
            let all = self.transaction;
            let get = c.transaction_get_pinned_for_update_cf;
            let slice = c.checked(|error| get(all, *reading, family, key, key_size, 1, error))?;
            let changed = if self.pin(slice) { addition.apply(self.found()) } else { None };
            let Some(value) = changed else {
                self.release();
                return c.checked(|error| (c.transaction_rollback)(all, error)).map(|()| false);
            };
            self.release();
            c.checked(|error| (c.transaction_put_cf)(all, family, key, key_size, value.as_ptr(), value.len(), error))?;
            c.checked(|error| (c.transaction_commit)(all, error)).map(|()| true)
        }
    }

    fn write_batch(&self, batch: Handle) -> Result<(), String> {
        let Rocksdb { c, database, loading, .. } = &*self.engine;
        // SAFETY: the batch is the caller's.
        c.checked(|error| unsafe { (c.write)(*database, *loading, batch, error) })?;
        // SAFETY: as above.
        unsafe { (c.writebatch_clear)(batch) };
        Ok(())
    }

    fn load_into(&self, batch: Handle, family: Handle, rows: &mut Rows<'_>) -> Result<(), String> {
        let c = &self.engine.c;
        while let Some((key, value)) = rows.next_row() {
            // SAFETY: RocksDB copies key and value into the batch, which is the caller's.
            let count = unsafe {
                (c.writebatch_put_cf)(batch, family, key.as_ptr(), key.len(), value.as_ptr(), value.len());
                (c.writebatch_count)(batch)
            };
            if count >= BATCH_ROWS {
                self.write_batch(batch)?;
            }
        }
        self.write_batch(batch)
    }
}

impl Access for RocksdbAccess {
    #[inline]
    fn get(&mut self, table: usize, key: &[u8]) -> Result<bool, Failure> {
        self.release();
        let Rocksdb { c, database, reading, families, .. } = &*self.engine;
        let slice = c.checked(|error| {
            // SAFETY: the database is open as long as the engine is shared.
            unsafe { (c.get_pinned_cf)(*database, *reading, families[table], key.as_ptr(), key.len(), error) }
        });
        Ok(self.pin(slice.map_err(failure)?))
    }

    /// By one MultiGet.
    fn get_many(&mut self, table: usize, keys: &[u64], each: &mut Each<'_>) -> Result<(), Failure> {
        let Rocksdb { c, database, reading, families, .. } = &*Arc::clone(&self.engine);
        let keys: Vec<[u8; 8]> = keys.iter().map(|key| key.to_be_bytes()).collect();
        let addresses: Vec<*const u8> = keys.iter().map(|key| key.as_ptr()).collect();
        let sizes = vec![8; keys.len()];
        let (mut slices, mut errors) = (vec![null_mut(); keys.len()], vec![null_mut(); keys.len()]);
        // SAFETY: all arrays have as many entries as keys, which rise.
        unsafe {
            let (addresses, sizes, slices) = (addresses.as_ptr(), sizes.as_ptr(), slices.as_mut_ptr());
            let (family, errors) = (families[table], errors.as_mut_ptr());
            (c.batched_multi_get_cf)(*database, *reading, family, keys.len(), addresses, sizes, slices, errors, true);
        }
        let mut result = Ok(());
        for (place, (slice, error)) in slices.into_iter().zip(errors).enumerate() {
            let is_there = self.pin(slice);
            if !error.is_null() {
                result = Err(failure(c.taken(error)));
            } else if result.is_ok() {
                result = each(place, is_there.then(|| self.found()));
            }
            self.release();
        }
        result
    }

    #[inline]
    fn found(&self) -> &[u8] {
        // SAFETY: the slice that keeps it in its place is destroyed by `release` only, which needs `&mut self` and forgets the address.
        unsafe { bytes_at(self.found.0, self.found.1) }
    }

    #[inline]
    fn release(&mut self) {
        if !self.slice.is_null() {
            self.found = (ptr::null(), 0);
            // SAFETY: it is destroyed once.
            unsafe { (self.engine.c.pinnableslice_destroy)(std::mem::replace(&mut self.slice, null_mut())) }
        }
    }

    fn put(&mut self, table: usize, key: &[u8], value: &[u8]) -> Result<(), Failure> {
        let Rocksdb { c, database, writing, families, .. } = &*self.engine;
        let put = |error| {
            let (key, key_size, family) = (key.as_ptr(), key.len(), families[table]);
            // SAFETY: the database is open, and RocksDB copies key and value.
            unsafe { (c.put_cf)(*database, *writing, family, key, key_size, value.as_ptr(), value.len(), error) }
        };
        c.checked(put).map_err(failure)
    }

    fn add(&mut self, table: usize, key: &[u8], addition: &mut Addition<'_>) -> Result<bool, Failure> {
        let family = self.engine.families[table];
        loop {
            match self.try_to_add(family, key, addition) {
                Err(message) if message.starts_with("Resource busy") || message.contains("Try again") => {}
                result => return result.map_err(failure),
            }
        }
    }

    fn load(&mut self, table: usize, rows: &mut Rows<'_>) -> Result<(), Failure> {
        let c = &self.engine.c;
        // SAFETY: the batch is destroyed once, after its last use.
        unsafe {
            let batch = (c.writebatch_create)();
            let result = self.load_into(batch, self.engine.families[table], rows);
            (c.writebatch_destroy)(batch);
            result.map_err(failure)
        }
    }

    fn loads_by(&self) -> &'static str {
        "write batches of 1,000 rows without the log, flushed and compacted at the end"
    }

    /// Flushes what was loaded without the log, and compacts it.
    fn settle(&mut self, table: usize) -> Result<(), Failure> {
        let Rocksdb { c, database, flushing, families, .. } = &*self.engine;
        // SAFETY: the database is open.
        c.checked(|error| unsafe { (c.flush_cf)(*database, *flushing, families[table], error) }).map_err(failure)?;
        // SAFETY: as above; no key begins or ends the range, so it is all of the table.
        unsafe { (c.compact_range_cf)(*database, families[table], ptr::null(), 0, ptr::null(), 0) };
        Ok(())
    }

    /// RocksDB itself only estimates it.
    fn count(&mut self, table: usize) -> Result<u64, Failure> {
        let mut count = 0;
        self.for_each(table, &mut |_| count += 1)?;
        Ok(count)
    }

    fn for_each(&mut self, table: usize, each: &mut dyn FnMut(&[u8])) -> Result<(), Failure> {
        let Rocksdb { c, database, reading, families, .. } = &*self.engine;
        // SAFETY: the iterator is destroyed once, and a value is handed out only until it moves on.
        let end = unsafe {
            let iterator = (c.create_iterator_cf)(*database, *reading, families[table]);
            (c.iter_seek_to_first)(iterator);
            while (c.iter_valid)(iterator) != 0 {
                let mut size_bytes = 0;
                let address = (c.iter_value)(iterator, &mut size_bytes);
                each(bytes_at(address, size_bytes));
                (c.iter_next)(iterator);
            }
            let end = c.checked(|error| (c.iter_get_error)(iterator, error));
            (c.iter_destroy)(iterator);
            end
        };
        end.map_err(failure)
    }

    fn clear(&mut self, table: usize) -> Result<(), Failure> {
        self.release();
        let Rocksdb { c, database, writing, families, .. } = &*self.engine;
        let clear = |error| {
            let (family, first, end) = (families[table], [].as_ptr(), BEHIND_ALL.as_ptr());
            // SAFETY: the database is open, and RocksDB copies the bounds.
            unsafe { (c.delete_range_cf)(*database, *writing, family, first, 0, end, BEHIND_ALL.len(), error) }
        };
        c.checked(clear).map_err(failure)
    }
}

impl Drop for RocksdbAccess {
    fn drop(&mut self) {
        self.release();
        if !self.transaction.is_null() {
            // SAFETY: it is destroyed once, before the database it belongs to.
            unsafe { (self.engine.c.transaction_destroy)(self.transaction) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_filed_behind_the_end_of_a_table() {
        assert!(u64::MAX.to_be_bytes().as_slice() < BEHIND_ALL.as_slice());
    }
}
