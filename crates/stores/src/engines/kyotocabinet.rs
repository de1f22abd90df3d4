//! Kyoto Cabinet, embedded: a file for each table, a hash or a B+ tree, by the C interface of the installed library.

use std::collections::HashMap;
use std::ffi::{c_char, c_int, c_void};
use std::path::PathBuf;
use std::ptr::null_mut;
use std::sync::Arc;

use dbdyno_model::Failure;
use serde::Deserialize;

use crate::Schema;
use crate::effective_settings::{EffectiveSettings, version_text};
use crate::embedded::{Access, Addition, Capabilities, Engine, Rows, Scanned};
use crate::embedded_options::{Commit, Structure};
use crate::library::{Handle, Library, bytes_at, c_path, failure, functions, text_at};

/// How Kyoto Cabinet's files are opened.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KyotocabinetConfig {
    path: PathBuf,
    library: String,
    #[serde(rename = "type")]
    structure: Structure,
    sync: Commit,
    compression: String,
    buckets: u64,
    mmap_mib: u64,
    cache_mib: u64,
}

type OnFull = unsafe extern "C" fn(*const u8, usize, *const u8, usize, *mut usize, *mut c_void) -> *const u8;
type OnEmpty = unsafe extern "C" fn(*const u8, usize, *mut usize, *mut c_void) -> *const u8;

functions!(Functions {
    fn new() -> Handle;
    fn del(Handle);
    fn ecode(Handle) -> c_int;
    fn emsg(Handle) -> *const c_char;
    fn open(Handle, *const c_char, u32) -> c_int;
    fn accept(Handle, *const u8, usize, OnFull, OnEmpty, *mut c_void, c_int) -> c_int;
    fn iterate(Handle, OnFull, *mut c_void, c_int) -> c_int;
    fn set(Handle, *const u8, usize, *const u8, usize) -> c_int;
    fn add(Handle, *const u8, usize, *const u8, usize) -> c_int;
    fn remove(Handle, *const u8, usize) -> c_int;
    fn sync(Handle, c_int, *const c_void, *mut c_void) -> c_int;
    fn begintran(Handle, c_int) -> c_int;
    fn endtran(Handle, c_int) -> c_int;
    fn clear(Handle) -> c_int;
    fn count(Handle) -> i64;
    fn cursor(Handle) -> Handle;
    fn status(Handle) -> *mut c_char;
});

functions!(Cursor {
    fn del(Handle);
    fn jumpkey(Handle, *const u8, usize) -> c_int;
    fn accept(Handle, OnFull, *mut c_void, c_int, c_int) -> c_int;
});

functions!(Memory {
    fn free(*mut c_void);
});

// From kclangc.h.
const WRITER: u32 = 1 << 1;
const CREATE: u32 = 1 << 2;
const RECORD_EXISTS: c_int = 6;
const NO_RECORD: c_int = 7;

pub struct Kyotocabinet {
    c: Functions,
    cursor: Cursor,
    /// A visitor returns this to change nothing.
    nothing: *const u8,
    sync: Commit,
    tables: Vec<Handle>,
    effective_settings: EffectiveSettings,
}

// SAFETY: all functions on a database object are thread-safe (Kyoto Cabinet's specification, "Thread-safe").
unsafe impl Send for Kyotocabinet {}
// SAFETY: as above.
unsafe impl Sync for Kyotocabinet {}

impl Kyotocabinet {
    /// Opens, or makes, the files in directory `path`.
    ///
    /// # Errors
    /// In words for the user.
    pub fn new(config: &KyotocabinetConfig, schema: &Schema) -> Result<Self, String> {
        // SAFETY: the plan names the library of Kyoto Cabinet, whose functions have had these types since 1.2.
        let (c, cursor, memory, nothing, effective_settings) = unsafe {
            let library = Library::load(&config.library)?;
            let (c, memory) = (Functions::find(&library, "kcdb")?, Memory::find(&library, "kc")?);
            let effective_settings = EffectiveSettings::of_version(version_text(&library, "KCVERSION")?);
            let cursor = Cursor::find(&library, "kccur")?;
            (c, cursor, memory, *library.find::<*const *const u8>("KCVISNOP")?, effective_settings)
        };
        let mut all = Self { c, cursor, nothing, sync: config.sync, tables: vec![], effective_settings };
        for table in &schema.tables {
            // SAFETY: it is new, and deleted by `drop`.
            let handle = unsafe { (c.new)() };
            all.tables.push(handle);
            let file = config.tuned(&table.name);
            // SAFETY: the path ends with 0.
            let is_open = unsafe { (c.open)(handle, c_path(&file).as_ptr(), WRITER | CREATE) };
            all.check(handle, is_open)
                .and_then(|()| all.status(memory, handle))
                .and_then(|status| config.read_back(&status, &mut all.effective_settings))
                .map_err(|message| format!("{}: {message}", file.display()))?;
        }
        Ok(all)
    }

    /// The library's status of an open file, in lines of a name, a tab and a value.
    fn status(&self, memory: Memory, handle: Handle) -> Result<String, String> {
        // SAFETY: the database is open, and the text that was made is freed once.
        unsafe {
            let status = (self.c.status)(handle);
            self.check(handle, c_int::from(!status.is_null()))?;
            let text = text_at(status);
            (memory.free)(status.cast());
            Ok(text)
        }
    }

    #[inline]
    fn check(&self, handle: Handle, is_done: c_int) -> Result<(), String> {
        if is_done != 0 { Ok(()) } else { Err(self.message(handle)) }
    }

    #[cold]
    fn message(&self, handle: Handle) -> String {
        // SAFETY: the message is a text that the library keeps until this thread's next call.
        unsafe { format!("{} (error {})", text_at((self.c.emsg)(handle)), (self.c.ecode)(handle)) }
    }

    /// Does one write as durable as the settings say; what it returns is its result.
    fn write(&self, handle: Handle, write: impl FnOnce() -> Result<bool, String>) -> Result<bool, Failure> {
        const HARD: c_int = 1;
        let c = &self.c;
        let run = || match self.sync {
            Commit::None => write(),
            Commit::Full => {
                let is_done = write()?;
                // SAFETY: the database is open.
                self.check(handle, unsafe { (c.sync)(handle, HARD, std::ptr::null(), null_mut()) }).map(|()| is_done)
            }
            Commit::Transaction => {
                // SAFETY: the database is open.
                self.check(handle, unsafe { (c.begintran)(handle, HARD) })?;
                let result = write();
                // SAFETY: as above, and the transaction was begun by this thread.
                let is_ended = unsafe { (c.endtran)(handle, c_int::from(result.is_ok())) };
                let is_done = result?;
                self.check(handle, is_ended).map(|()| is_done)
            }
        };
        run().map_err(failure)
    }
}

impl KyotocabinetConfig {
    /// The path of a table's file with its tuning parameters, as Kyoto Cabinet reads them there.
    fn tuned(&self, table: &str) -> PathBuf {
        let ending = if self.structure == Structure::Tree { "kct" } else { "kch" };
        // The linear option: collisions go into a list, which with enough buckets is shorter than the tree it is by default.
        let mut name = format!("{table}.{ending}#bnum={}#msiz={}", self.buckets, self.mmap_mib << 20);
        if self.structure == Structure::Tree {
            name += &format!("#pccap={}", self.cache_mib << 20);
        }
        name += if self.compression == "none" { "#opts=l" } else { "#opts=lc" };
        if self.compression != "none" {
            name += &format!("#zcomp={}", self.compression);
        }
        self.path.join(name)
    }

    /// Holds what an open file has against what it was given.
    fn read_back(&self, status: &str, effective_settings: &mut EffectiveSettings) -> Result<(), String> {
        const COMPRESSED: u64 = 1 << 2;
        let by_name: HashMap<&str, &str> = status.lines().filter_map(|line| line.split_once('\t')).collect();
        let number = |name: &str| -> Result<u64, String> {
            let parsed = by_name.get(name).and_then(|value| value.parse().ok());
            parsed.ok_or_else(|| format!("the library does not report {name}: install another version"))
        };
        effective_settings.held_against("mmap_mib", self.mmap_mib, number("msiz")? >> 20)?;
        if self.structure == Structure::Tree {
            effective_settings.held_against("cache_mib", self.cache_mib, number("pccap")? >> 20)?;
            effective_settings.reported("buckets", number("bnum")?);
        } else {
            effective_settings.buckets(self.buckets, number("bnum")?)?;
        }
        let is_compressed = self.compression != "none";
        effective_settings.held_against("compressed", is_compressed, number("opts")? & COMPRESSED != 0)?;
        if is_compressed {
            // The library shows that it compresses, and not how.
            effective_settings.not_readable = vec!["compression"];
        }
        Ok(())
    }
}

impl Drop for Kyotocabinet {
    fn drop(&mut self) {
        for &handle in &self.tables {
            // SAFETY: every access shares the database, so none is left; del closes what is open.
            unsafe { (self.c.del)(handle) }
        }
    }
}

impl Kyotocabinet {
    pub fn capabilities(config: &KyotocabinetConfig) -> Capabilities {
        Capabilities { can_scan: config.structure == Structure::Tree, ..Capabilities::PLAIN }
    }
}

impl Engine for Kyotocabinet {
    fn access(self: Arc<Self>) -> Result<Box<dyn Access>, Failure> {
        let copied = Copied { value: Vec::new(), is_there: false, nothing: self.nothing };
        Ok(Box::new(KyotocabinetAccess { engine: self, copied }))
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
    _: *const u8,
    _: usize,
    value: *const u8,
    size_bytes: usize,
    _: *mut usize,
    copied: *mut c_void,
) -> *const u8 {
    // SAFETY: the library hands on what `get` gave it, and a value that it holds a lock on.
    let (copied, value) = unsafe { (&mut *copied.cast::<Copied>(), bytes_at(value, size_bytes)) };
    copied.value.extend_from_slice(value);
    copied.is_there = true;
    copied.nothing
}

unsafe extern "C" fn nothing_to_copy(_: *const u8, _: usize, _: *mut usize, copied: *mut c_void) -> *const u8 {
    // SAFETY: the library hands on what `get` gave it.
    unsafe { (*copied.cast::<Copied>()).nothing }
}

/// The argument of `replace`.
struct Adding<'a, 'b> {
    addition: &'a mut Addition<'b>,
    is_done: bool,
    nothing: *const u8,
}

/// Replaces a value that is there by what the addition makes of it, which the library copies before anything else is added.
unsafe extern "C" fn replace(
    _: *const u8,
    _: usize,
    value: *const u8,
    size_bytes: usize,
    new_size: *mut usize,
    adding: *mut c_void,
) -> *const u8 {
    // SAFETY: the library hands on what `add` gave it, and a value that it holds a lock on.
    let (adding, value) = unsafe { (&mut *adding.cast::<Adding>(), bytes_at(value, size_bytes)) };
    let Some(changed) = adding.addition.apply(value) else { return adding.nothing };
    adding.is_done = true;
    // SAFETY: it is where the library wants the size.
    unsafe { *new_size = changed.len() };
    changed.as_ptr()
}

unsafe extern "C" fn nothing_to_replace(_: *const u8, _: usize, _: *mut usize, adding: *mut c_void) -> *const u8 {
    // SAFETY: the library hands on what `add` gave it.
    unsafe { (*adding.cast::<Adding>()).nothing }
}

/// The argument of `visit`.
struct Visiting<'a> {
    each: &'a mut dyn FnMut(&[u8]),
    nothing: *const u8,
}

unsafe extern "C" fn visit(
    _: *const u8,
    _: usize,
    value: *const u8,
    size_bytes: usize,
    _: *mut usize,
    visiting: *mut c_void,
) -> *const u8 {
    // SAFETY: the library hands on what `for_each` gave it, and a value that it holds a lock on.
    let (visiting, value) = unsafe { (&mut *visiting.cast::<Visiting>(), bytes_at(value, size_bytes)) };
    (visiting.each)(value);
    visiting.nothing
}

pub struct KyotocabinetAccess {
    engine: Arc<Kyotocabinet>,
    copied: Copied,
}

impl Access for KyotocabinetAccess {
    #[inline]
    fn get(&mut self, table: usize, key: &[u8]) -> Result<bool, Failure> {
        self.release();
        self.copied.is_there = false;
        let Kyotocabinet { c, tables, .. } = &*self.engine;
        let given = (&raw mut self.copied).cast();
        // SAFETY: the database is open, and one of the two is called before this returns.
        let is_done = unsafe { (c.accept)(tables[table], key.as_ptr(), key.len(), copy, nothing_to_copy, given, 0) };
        self.engine.check(tables[table], is_done).map_err(failure)?;
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
        let engine = &*self.engine;
        let handle = engine.tables[table];
        let put = || {
            // SAFETY: the database is open, and copies key and value.
            let is_done = unsafe { (engine.c.set)(handle, key.as_ptr(), key.len(), value.as_ptr(), value.len()) };
            engine.check(handle, is_done).map(|()| true)
        };
        engine.write(handle, put).map(drop)
    }

    fn insert(&mut self, table: usize, key: &[u8], value: &[u8]) -> Result<bool, Failure> {
        let engine = &*self.engine;
        let handle = engine.tables[table];
        engine.write(handle, || {
            // SAFETY: the database is open, and copies key and value; the code is this thread's.
            unsafe {
                let is_done = (engine.c.add)(handle, key.as_ptr(), key.len(), value.as_ptr(), value.len());
                if is_done == 0 && (engine.c.ecode)(handle) == RECORD_EXISTS {
                    return Ok(false);
                }
                engine.check(handle, is_done).map(|()| true)
            }
        })
    }

    fn delete(&mut self, table: usize, key: &[u8]) -> Result<bool, Failure> {
        let engine = &*self.engine;
        let handle = engine.tables[table];
        engine.write(handle, || {
            // SAFETY: the database is open; the code is this thread's.
            unsafe {
                let is_done = (engine.c.remove)(handle, key.as_ptr(), key.len());
                if is_done == 0 && (engine.c.ecode)(handle) == NO_RECORD {
                    return Ok(false);
                }
                engine.check(handle, is_done).map(|()| true)
            }
        })
    }

    fn scan(&mut self, table: usize, first: &[u8], most: u64, each: &mut Scanned<'_>) -> Result<(), Failure> {
        let Kyotocabinet { c, cursor: of_cursor, nothing, tables, .. } = &*self.engine;
        let mut result = Ok(());
        let mut hand_over = |value: &[u8]| {
            if result.is_ok() {
                result = each(value);
            }
        };
        let mut visiting = Visiting { each: &mut hand_over, nothing: *nothing };
        let given = (&raw mut visiting).cast();
        // SAFETY: the database is open, the cursor is deleted once, and `visit` is called only before `accept` returns.
        let (is_done, code) = unsafe {
            let cursor = (c.cursor)(tables[table]);
            let mut is_done = (of_cursor.jumpkey)(cursor, first.as_ptr(), first.len());
            for _ in 0..most {
                if is_done != 0 {
                    is_done = (of_cursor.accept)(cursor, visit, given, 0, 1);
                }
            }
            let code = (c.ecode)(tables[table]);
            (of_cursor.del)(cursor);
            (is_done, code)
        };
        // Behind the last row there is none.
        if code != NO_RECORD {
            self.engine.check(tables[table], is_done).map_err(failure)?;
        }
        result
    }

    fn add(&mut self, table: usize, key: &[u8], addition: &mut Addition<'_>) -> Result<bool, Failure> {
        let engine = &*self.engine;
        let handle = engine.tables[table];
        engine.write(handle, || {
            let mut adding = Adding { addition, is_done: false, nothing: engine.nothing };
            let (key, key_size, given) = (key.as_ptr(), key.len(), (&raw mut adding).cast());
            // SAFETY: the database is open, and one of the two is called before this returns.
            let is_done = unsafe { (engine.c.accept)(handle, key, key_size, replace, nothing_to_replace, given, 1) };
            engine.check(handle, is_done).map(|()| adding.is_done)
        })
    }

    fn load(&mut self, table: usize, rows: &mut Rows<'_>) -> Result<(), Failure> {
        let engine = &*self.engine;
        let handle = engine.tables[table];
        while let Some((key, value)) = rows.next_row() {
            // SAFETY: the database is open, and copies key and value.
            let is_done = unsafe { (engine.c.set)(handle, key.as_ptr(), key.len(), value.as_ptr(), value.len()) };
            engine.check(handle, is_done).map_err(failure)?;
        }
        Ok(())
    }

    fn loads_by(&self) -> &'static str {
        "set, synchronised at the end"
    }

    fn settle(&mut self, table: usize) -> Result<(), Failure> {
        let handle = self.engine.tables[table];
        // SAFETY: the database is open.
        let is_done = unsafe { (self.engine.c.sync)(handle, 1, std::ptr::null(), null_mut()) };
        self.engine.check(handle, is_done).map_err(failure)
    }

    fn count(&mut self, table: usize) -> Result<u64, Failure> {
        let handle = self.engine.tables[table];
        // SAFETY: the database is open.
        let count = unsafe { (self.engine.c.count)(handle) };
        u64::try_from(count).map_err(|_| failure(self.engine.message(handle)))
    }

    fn for_each(&mut self, table: usize, each: &mut dyn FnMut(&[u8])) -> Result<(), Failure> {
        let handle = self.engine.tables[table];
        let mut visiting = Visiting { each, nothing: self.engine.nothing };
        // SAFETY: the database is open, and `visit` is called only before this returns.
        let is_done = unsafe { (self.engine.c.iterate)(handle, visit, (&raw mut visiting).cast(), 0) };
        self.engine.check(handle, is_done).map_err(failure)
    }

    fn clear(&mut self, table: usize) -> Result<(), Failure> {
        let handle = self.engine.tables[table];
        // SAFETY: the database is open.
        self.engine.check(handle, unsafe { (self.engine.c.clear)(handle) }).map_err(failure)
    }
}
