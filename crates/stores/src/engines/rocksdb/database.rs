//! RocksDB's C library, as much of it as is needed: its functions, and a database that is open.

use std::ffi::{CStr, CString, c_char, c_int};
use std::path::PathBuf;
use std::ptr::null_mut;

use serde::Deserialize;

use super::options::Options;
use crate::Schema;
use crate::effective_settings::EffectiveSettings;
use crate::embedded_options::Flush;
use crate::library::{Handle, Library, c_path, functions, text_at};

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

impl Switch {
    fn word(self) -> &'static str {
        match self {
            Self::On => "on",
            Self::Off => "off",
        }
    }
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

impl Compression {
    fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Snappy => "snappy",
            Self::Zlib => "zlib",
            Self::Lz4 => "lz4",
            Self::Zstd => "zstd",
        }
    }
}

/// The plan's word for what the file of options has; what it has, if there is none.
fn compression(setting: &str) -> &str {
    match setting {
        "kNoCompression" => "none",
        "kSnappyCompression" => "snappy",
        "kZlibCompression" => "zlib",
        "kLZ4Compression" => "lz4",
        "kZSTD" => "zstd",
        other => other,
    }
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
    fn writeoptions_get_sync(Handle) -> u8;
    fn writeoptions_get_disable_WAL(Handle) -> u8;
    fn property_int_cf(Handle, Handle, *const c_char, *mut u64) -> c_int;
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
    fn transaction_delete_cf(Handle, Handle, *const u8, usize, *mut *mut c_char);
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
    fn iter_seek(Handle, *const u8, usize);
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
    pub fn checked<T>(&self, call: impl FnOnce(*mut *mut c_char) -> T) -> Result<T, String> {
        let mut error = null_mut();
        let result = call(&mut error);
        if error.is_null() { Ok(result) } else { Err(self.taken(error)) }
    }

    #[cold]
    pub fn taken(&self, error: *mut c_char) -> String {
        // SAFETY: RocksDB set it to a text that ends with 0, which is the caller's to free.
        unsafe {
            let text = text_at(error);
            (self.free)(error.cast());
            text
        }
    }
}

const MIB: usize = 1 << 20;

/// An open database, and the options that it is used with.
pub struct Rocksdb {
    pub c: Functions,
    pub transactions: Handle,
    pub database: Handle,
    /// Each table's, in the order of the schema.
    pub families: Vec<Handle>,
    pub transaction_options: Handle,
    pub reading: Handle,
    pub writing: Handle,
    /// For loading: no log, which a flush at the end stands in for.
    pub loading: Handle,
    pub flushing: Handle,
    pub effective_settings: EffectiveSettings,
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
            let mut all = Self {
                c,
                transactions,
                database: (c.optimistictransactiondb_get_base_db)(transactions),
                families,
                transaction_options: (c.optimistictransaction_options_create)(),
                reading: (c.readoptions_create)(),
                writing,
                loading,
                flushing: (c.flushoptions_create)(),
                effective_settings: EffectiveSettings::default(),
            };
            all.effective_settings =
                all.read_back(config, schema).map_err(|e| format!("{}: {e}", config.path.display()))?;
            Ok(all)
        }
    }

    /// Holds what the open database has against what it was given.
    fn read_back(&self, config: &RocksdbConfig, schema: &Schema) -> Result<EffectiveSettings, String> {
        let options = Options::newest(&config.path)?;
        let mut all = EffectiveSettings::of_version(options.get("Version", "rocksdb_version"));
        // SAFETY: the options of writing are there as long as the database.
        let (is_sync, has_no_log) = unsafe {
            ((self.c.writeoptions_get_sync)(self.writing), (self.c.writeoptions_get_disable_WAL)(self.writing))
        };
        all.held_against("sync", config.sync.word(), if is_sync == 0 { "none" } else { "full" })?;
        all.held_against("wal", config.wal.word(), if has_no_log == 0 { "on" } else { "off" })?;
        for (table, &family) in schema.tables.iter().zip(&self.families) {
            let columns = format!("CFOptions \"{}\"", table.name);
            let blocks = format!("TableOptions/BlockBasedTable \"{}\"", table.name);
            let write_buffer_bytes: usize = options.get(&columns, "write_buffer_size").parse().unwrap_or_default();
            all.held_against("write_buffer_mib", config.write_buffer_mib, write_buffer_bytes / MIB)?;
            all.held_against(
                "compression",
                config.compression.word(),
                compression(options.get(&columns, "compression")),
            )?;
            all.held_against("cache_mib", config.cache_mib as u64, self.cache_bytes(family)? / MIB as u64)?;
            let has_filter = options.get(&blocks, "filter_policy") != "nullptr";
            all.held_against("bloom_filter", config.bloom_bits > 0, has_filter)?;
            for (name, value) in options.of_sections(&["DBOptions".into(), columns, blocks]) {
                all.reported(&name, value);
            }
        }
        if config.bloom_bits > 0 {
            // The library shows that there is a filter, and not its size.
            all.not_readable = vec!["bloom_bits"];
        }
        Ok(all)
    }

    fn cache_bytes(&self, family: Handle) -> Result<u64, String> {
        let mut bytes = 0;
        let name = c"rocksdb.block-cache-capacity".as_ptr();
        // SAFETY: the database and the column family are open, and the name ends with 0.
        let status = unsafe { (self.c.property_int_cf)(self.database, family, name, &mut bytes) };
        if status == 0 { Ok(bytes) } else { Err("RocksDB does not report the size of its block cache".into()) }
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
    // There are none if there is no database yet.
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
