//! Tkrzw, embedded: a file for each table, a hash or a B+ tree, by the C interface of the installed library.

use std::collections::HashMap;
use std::ffi::{CString, c_char, c_void};
use std::path::PathBuf;
use std::ptr::{null, null_mut};
use std::sync::Arc;

use dbdyno_model::Failure;
use serde::Deserialize;

use crate::Schema;
use crate::effective_settings::{EffectiveSettings, version_text};
use crate::embedded::{Access, Addition, Capabilities, Engine, Rows, Scanned};
use crate::embedded_options::{Flush, Structure};
use crate::library::{Handle, Library, bytes_at, c_path, failure, functions, text_at};

/// How Tkrzw's files are opened.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TkrzwConfig {
    path: PathBuf,
    library: String,
    #[serde(rename = "type")]
    structure: Structure,
    sync: Flush,
    file: FileAccess,
    compression: String,
    buckets: u64,
    cached_pages: u64,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum FileAccess {
    Mmap,
    Positional,
}

/// Given an argument, a key and a value, which is 0 if there is none; returns the new value and its size.
type OnRecord = unsafe extern "C" fn(*mut c_void, *const u8, i32, *const u8, i32, *mut i32) -> *const u8;

functions!(Functions {
    fn get_last_status_code() -> i32;
    fn get_last_status_message() -> *const c_char;
    fn status_code_name(i32) -> *const c_char;
    fn dbm_open(*const c_char, bool, *const c_char) -> Handle;
    fn dbm_close(Handle) -> bool;
    fn dbm_process(Handle, *const u8, i32, OnRecord, *mut c_void, bool) -> bool;
    fn dbm_process_each(Handle, OnRecord, *mut c_void, bool) -> bool;
    fn dbm_set(Handle, *const u8, i32, *const u8, i32, bool) -> bool;
    fn dbm_remove(Handle, *const u8, i32) -> bool;
    fn dbm_synchronize(Handle, bool, *const c_void, *mut c_void, *const c_char) -> bool;
    fn dbm_clear(Handle) -> bool;
    fn dbm_count(Handle) -> i64;
    fn dbm_make_iterator(Handle) -> Handle;
    fn dbm_iter_free(Handle);
    fn dbm_iter_jump(Handle, *const u8, i32) -> bool;
    fn dbm_iter_process(Handle, OnRecord, *mut c_void, bool) -> bool;
    fn dbm_iter_next(Handle) -> bool;
    fn dbm_inspect(Handle, *mut i32) -> *mut Pair;
    fn free_str_map(*mut Pair, i32);
});

/// A name and a value, as tkrzw_langc.h has them.
#[repr(C)]
pub struct Pair {
    key: *const u8,
    key_size: i32,
    value: *const u8,
    value_size: i32,
}

/// From tkrzw_langc.h.
const NOT_FOUND_ERROR: i32 = 7;
const DUPLICATION_ERROR: i32 = 10;

pub struct Tkrzw {
    c: Functions,
    /// A processor returns this to change nothing.
    nothing: *const u8,
    sync: Flush,
    tables: Vec<Handle>,
    effective_settings: EffectiveSettings,
}

// SAFETY: a database object is thread-safe (Tkrzw's manual, "Thread Safety").
unsafe impl Send for Tkrzw {}
// SAFETY: as above.
unsafe impl Sync for Tkrzw {}

impl Tkrzw {
    /// Opens, or makes, the files in directory `path`.
    ///
    /// # Errors
    /// In words for the user.
    pub fn new(config: &TkrzwConfig, schema: &Schema) -> Result<Self, String> {
        // SAFETY: the plan names the library of Tkrzw, whose functions have had these types since 1.0.
        let (c, nothing, effective_settings): (Functions, _, _) = unsafe {
            let library = Library::load(&config.library)?;
            let effective_settings = EffectiveSettings::of_version(version_text(&library, "TKRZW_PACKAGE_VERSION")?);
            (
                Functions::find(&library, "tkrzw_")?,
                *library.find::<*const *const u8>("TKRZW_REC_PROC_NOOP")?,
                effective_settings,
            )
        };
        let parameters = CString::new(config.parameters()).unwrap_or_default();
        let mut all = Self { c, nothing, sync: config.sync, tables: vec![], effective_settings };
        for table in &schema.tables {
            let file = config.path.join(&table.name);
            // SAFETY: path and parameters end with 0; what is opened is closed by `drop`.
            let handle = unsafe { (c.dbm_open)(c_path(&file).as_ptr(), true, parameters.as_ptr()) };
            all.check(!handle.is_null()).map_err(|message| format!("{}: {message}", file.display()))?;
            all.tables.push(handle);
            let inspected = all.inspect(handle);
            config
                .read_back(&inspected, &mut all.effective_settings)
                .map_err(|message| format!("{}: {message}", file.display()))?;
        }
        all.effective_settings.not_readable = vec!["file"];
        Ok(all)
    }

    /// The library's report about an open file.
    fn inspect(&self, handle: Handle) -> HashMap<String, String> {
        let mut count = 0;
        // SAFETY: the database is open; the library makes an array of so many pairs of texts, which is freed once.
        unsafe {
            let pairs = (self.c.dbm_inspect)(handle, &mut count);
            let text = |address, size: i32| String::from_utf8_lossy(bytes_at(address, size as usize)).into_owned();
            if count == 0 {
                return HashMap::new();
            }
            let words = |pair: &Pair| (text(pair.key, pair.key_size), text(pair.value, pair.value_size));
            let inspected = std::slice::from_raw_parts(pairs, count as usize).iter().map(words).collect();
            (self.c.free_str_map)(pairs, count);
            inspected
        }
    }

    #[inline]
    fn check(&self, is_done: bool) -> Result<(), String> {
        if is_done { Ok(()) } else { Err(self.message()) }
    }

    #[cold]
    fn message(&self) -> String {
        let c = &self.c;
        // SAFETY: the texts are kept until this thread's next call.
        unsafe {
            let name = text_at((c.status_code_name)((c.get_last_status_code)()));
            format!("{name}: {}", text_at((c.get_last_status_message)()))
        }
    }

    /// Has all that was written to a table on the device.
    fn flush(&self, table: usize) -> Result<(), String> {
        // SAFETY: the database is open, and nothing is to be called meanwhile.
        let is_done = unsafe { (self.c.dbm_synchronize)(self.tables[table], true, null(), null_mut(), c"".as_ptr()) };
        self.check(is_done)
    }

    /// Ends a write, as durable as the settings say.
    fn written(&self, table: usize, is_done: bool) -> Result<(), Failure> {
        self.check(is_done)
            .and_then(|()| if self.sync == Flush::Full { self.flush(table) } else { Ok(()) })
            .map_err(failure)
    }
}

impl TkrzwConfig {
    /// Holds what an open file has against what it was given.
    fn read_back(
        &self,
        inspected: &HashMap<String, String>,
        effective_settings: &mut EffectiveSettings,
    ) -> Result<(), String> {
        let value_of = |name: &str| inspected.get(name).map_or("no value that it reports", String::as_str);
        effective_settings.held_against("compression", &self.compression, value_of("record_comp_mode"))?;
        match self.structure {
            Structure::Hash => {
                effective_settings.held_against("class", "HashDBM", value_of("class"))?;
                effective_settings.buckets(self.buckets, value_of("num_buckets").parse().unwrap_or_default())
            }
            Structure::Tree => {
                effective_settings.held_against("class", "TreeDBM", value_of("class"))?;
                effective_settings.reported("buckets", value_of("hash_num_buckets"));
                effective_settings.held_against("cached_pages", self.cached_pages, value_of("max_cached_pages"))
            }
        }
    }

    /// The parameters of opening, as Tkrzw reads them.
    fn parameters(&self) -> String {
        let class = match self.structure {
            Structure::Hash => format!("dbm=HashDBM,num_buckets={}", self.buckets),
            Structure::Tree => format!("dbm=TreeDBM,max_cached_pages={}", self.cached_pages),
        };
        let file = match self.file {
            FileAccess::Mmap => "MemoryMapParallelFile",
            FileAccess::Positional => "PositionalParallelFile",
        };
        format!("{class},file={file},record_comp_mode=RECORD_COMP_{}", self.compression.to_uppercase())
    }
}

impl Drop for Tkrzw {
    fn drop(&mut self) {
        for &handle in &self.tables {
            // SAFETY: every access shares the database, so none is left.
            unsafe { (self.c.dbm_close)(handle) };
        }
    }
}

impl Tkrzw {
    pub fn capabilities(config: &TkrzwConfig) -> Capabilities {
        Capabilities { can_scan: config.structure == Structure::Tree, ..Capabilities::OF_C_INT }
    }
}

impl Engine for Tkrzw {
    fn access(self: Arc<Self>) -> Result<Box<dyn Access>, Failure> {
        let copied = Copied { value: Vec::new(), is_there: false, nothing: self.nothing };
        Ok(Box::new(TkrzwAccess { engine: self, copied }))
    }

    fn effective_settings(&self) -> &EffectiveSettings {
        &self.effective_settings
    }
}

/// The argument of `copy`, which leaves the value in it.
struct Copied {
    value: Vec<u8>,
    is_there: bool,
    nothing: *const u8,
}

unsafe extern "C" fn copy(
    copied: *mut c_void,
    _: *const u8,
    _: i32,
    value: *const u8,
    size: i32,
    _: *mut i32,
) -> *const u8 {
    // SAFETY: the library hands on what `get` gave it, and a value that it holds a lock on.
    let copied = unsafe { &mut *copied.cast::<Copied>() };
    copied.is_there = !value.is_null();
    // SAFETY: as above.
    copied.value.extend_from_slice(unsafe { bytes_at(value, size as usize) });
    copied.nothing
}

/// The argument of `replace`.
struct Adding<'a, 'b> {
    addition: &'a mut Addition<'b>,
    is_done: bool,
    nothing: *const u8,
}

/// Replaces a value that is there by what the addition makes of it, which the library copies.
unsafe extern "C" fn replace(
    adding: *mut c_void,
    _: *const u8,
    _: i32,
    value: *const u8,
    size: i32,
    new_size: *mut i32,
) -> *const u8 {
    // SAFETY: the library hands on what `add` gave it, and a value that it holds a lock on.
    let (adding, value) = unsafe { (&mut *adding.cast::<Adding>(), bytes_at(value, size as usize)) };
    let Some(changed) = adding.addition.apply(value) else { return adding.nothing };
    adding.is_done = true;
    // SAFETY: it is where the library wants the size.
    unsafe { *new_size = changed.len() as i32 };
    changed.as_ptr()
}

/// The argument of `visit`.
struct Visiting<'a> {
    each: &'a mut dyn FnMut(&[u8]),
    nothing: *const u8,
}

/// The library also calls it before the first record and behind the last, without a value.
unsafe extern "C" fn visit(
    visiting: *mut c_void,
    _: *const u8,
    _: i32,
    value: *const u8,
    size: i32,
    _: *mut i32,
) -> *const u8 {
    // SAFETY: the library hands on what `for_each` gave it.
    let visiting = unsafe { &mut *visiting.cast::<Visiting>() };
    if !value.is_null() {
        // SAFETY: the library holds a lock on the value.
        (visiting.each)(unsafe { bytes_at(value, size as usize) });
    }
    visiting.nothing
}

pub struct TkrzwAccess {
    engine: Arc<Tkrzw>,
    copied: Copied,
}

impl TkrzwAccess {
    fn set(&self, table: usize, key: &[u8], value: &[u8], overwrites: bool) -> bool {
        let (key, key_size, size) = (key.as_ptr(), key.len() as i32, value.len() as i32);
        // SAFETY: the database is open, and copies key and value.
        unsafe { (self.engine.c.dbm_set)(self.engine.tables[table], key, key_size, value.as_ptr(), size, overwrites) }
    }
}

impl Access for TkrzwAccess {
    #[inline]
    fn get(&mut self, table: usize, key: &[u8]) -> Result<bool, Failure> {
        self.release();
        let Tkrzw { c, tables, .. } = &*self.engine;
        let given = (&raw mut self.copied).cast();
        // SAFETY: the database is open, and `copy` is called before this returns.
        let is_done = unsafe { (c.dbm_process)(tables[table], key.as_ptr(), key.len() as i32, copy, given, false) };
        self.engine.check(is_done).map_err(failure)?;
        Ok(self.copied.is_there)
    }

    #[inline]
    fn value(&self) -> &[u8] {
        &self.copied.value
    }

    #[inline]
    fn release(&mut self) {
        self.copied.value.clear();
    }

    fn put(&mut self, table: usize, key: &[u8], value: &[u8]) -> Result<(), Failure> {
        self.engine.written(table, self.set(table, key, value, true))
    }

    fn insert(&mut self, table: usize, key: &[u8], value: &[u8]) -> Result<bool, Failure> {
        let is_done = self.set(table, key, value, false);
        // SAFETY: the code is this thread's.
        if !is_done && unsafe { (self.engine.c.get_last_status_code)() } == DUPLICATION_ERROR {
            return Ok(false);
        }
        self.engine.written(table, is_done).map(|()| true)
    }

    fn delete(&mut self, table: usize, key: &[u8]) -> Result<bool, Failure> {
        let Tkrzw { c, tables, .. } = &*self.engine;
        // SAFETY: the database is open; the code is this thread's.
        let (is_done, code) = unsafe {
            let is_done = (c.dbm_remove)(tables[table], key.as_ptr(), key.len() as i32);
            (is_done, (c.get_last_status_code)())
        };
        if !is_done && code == NOT_FOUND_ERROR {
            return Ok(false);
        }
        self.engine.written(table, is_done).map(|()| true)
    }

    fn scan(&mut self, table: usize, first: &[u8], most: u64, each: &mut Scanned<'_>) -> Result<(), Failure> {
        let Tkrzw { c, tables, nothing, .. } = &*self.engine;
        let mut result = Ok(());
        let mut hand_over = |value: &[u8]| {
            if result.is_ok() {
                result = each(value);
            }
        };
        let mut visiting = Visiting { each: &mut hand_over, nothing: *nothing };
        let given = (&raw mut visiting).cast();
        // SAFETY: the database is open, the iterator is freed once, and `visit` is called only before `process` returns; the code is
        // this thread's.
        let (is_done, code) = unsafe {
            let iterator = (c.dbm_make_iterator)(tables[table]);
            let mut is_done = (c.dbm_iter_jump)(iterator, first.as_ptr(), first.len() as i32);
            for _ in 0..most {
                is_done = is_done && (c.dbm_iter_process)(iterator, visit, given, false) && (c.dbm_iter_next)(iterator);
            }
            let code = (c.get_last_status_code)();
            (c.dbm_iter_free)(iterator);
            (is_done, code)
        };
        // Behind the last row there is none.
        if code != NOT_FOUND_ERROR {
            self.engine.check(is_done).map_err(failure)?;
        }
        result
    }

    fn add(&mut self, table: usize, key: &[u8], addition: &mut Addition<'_>) -> Result<bool, Failure> {
        let Tkrzw { c, tables, nothing, .. } = &*self.engine;
        let mut adding = Adding { addition, is_done: false, nothing: *nothing };
        let given = (&raw mut adding).cast();
        // SAFETY: the database is open, and `replace` is called before this returns.
        let is_done = unsafe { (c.dbm_process)(tables[table], key.as_ptr(), key.len() as i32, replace, given, true) };
        self.engine.written(table, is_done).map(|()| adding.is_done)
    }

    fn load(&mut self, table: usize, rows: &mut Rows<'_>) -> Result<(), Failure> {
        while let Some((key, value)) = rows.next_row() {
            self.engine.check(self.set(table, key, value, true)).map_err(failure)?;
        }
        Ok(())
    }

    fn loads_by(&self) -> &'static str {
        "set, synchronised at the end"
    }

    fn settle(&mut self, table: usize) -> Result<(), Failure> {
        self.engine.flush(table).map_err(failure)
    }

    fn count(&mut self, table: usize) -> Result<u64, Failure> {
        // SAFETY: the database is open.
        let count = unsafe { (self.engine.c.dbm_count)(self.engine.tables[table]) };
        u64::try_from(count).map_err(|_| failure(self.engine.message()))
    }

    fn for_each(&mut self, table: usize, each: &mut dyn FnMut(&[u8])) -> Result<(), Failure> {
        let mut visiting = Visiting { each, nothing: self.engine.nothing };
        let Tkrzw { c, tables, .. } = &*self.engine;
        // SAFETY: the database is open, and `visit` is called only before this returns.
        let is_done = unsafe { (c.dbm_process_each)(tables[table], visit, (&raw mut visiting).cast(), false) };
        self.engine.check(is_done).map_err(failure)
    }

    fn clear(&mut self, table: usize) -> Result<(), Failure> {
        // SAFETY: the database is open.
        let is_done = unsafe { (self.engine.c.dbm_clear)(self.engine.tables[table]) };
        self.engine.check(is_done).map_err(failure)
    }
}
