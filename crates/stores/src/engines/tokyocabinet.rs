//! Tokyo Cabinet, embedded: a file for each table, a hash or a B+ tree, by the C interface of the installed library.
//!
//! Both have the same functions under another prefix (`tchdb`, `tcbdb`), but for their tuning.

use std::ffi::{c_char, c_int, c_void};
use std::fmt;
use std::path::PathBuf;
use std::ptr::{null, null_mut};
use std::sync::Arc;

use dbdyno_model::Failure;
use serde::Deserialize;

use crate::Schema;
use crate::effective_settings::{EffectiveSettings, version_text};
use crate::embedded::{Access, Addition, Capabilities, Engine, Rows, Scanned};
use crate::embedded_options::{Commit, Structure};
use crate::library::{Handle, Library, bytes_at, c_path, failure, functions, text_at};

/// How Tokyo Cabinet's files are opened.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokyocabinetConfig {
    path: PathBuf,
    library: String,
    #[serde(rename = "type")]
    structure: Structure,
    sync: Commit,
    compression: Compression,
    buckets: i64,
    mmap_mib: i64,
    cached_leaves: i32,
}

/// As tchdb.h and tcbdb.h number the options for it.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Compression {
    None = 0,
    Deflate = 1 << 1,
    Bzip2 = 1 << 2,
    Tcbs = 1 << 3,
}

impl Compression {
    /// The options of these that a file has.
    fn of_options(options: u8) -> Self {
        let all = [Self::Deflate, Self::Bzip2, Self::Tcbs];
        all.into_iter().find(|&compression| options & compression as u8 != 0).unwrap_or(Self::None)
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Deflate => "deflate",
            Self::Bzip2 => "bzip2",
            Self::Tcbs => "tcbs",
        })
    }
}

type Put = unsafe extern "C" fn(Handle, *const u8, c_int, *const u8, c_int) -> bool;
type Duplicate = unsafe extern "C" fn(*const u8, c_int) -> *mut c_void;
type OnDuplicate = unsafe extern "C" fn(*const u8, c_int, *mut c_int, *mut c_void) -> *mut c_void;
type OnEach = unsafe extern "C" fn(*const u8, c_int, *const u8, c_int, *mut c_void) -> bool;

functions!(Functions {
    fn new() -> Handle;
    fn del(Handle);
    fn ecode(Handle) -> c_int;
    fn errmsg(c_int) -> *const c_char;
    fn setmutex(Handle) -> bool;
    fn setxmsiz(Handle, i64) -> bool;
    fn open(Handle, *const c_char, c_int) -> bool;
    fn put(Handle, *const u8, c_int, *const u8, c_int) -> bool;
    fn putkeep(Handle, *const u8, c_int, *const u8, c_int) -> bool;
    fn out(Handle, *const u8, c_int) -> bool;
    fn putproc(Handle, *const u8, c_int, *const u8, c_int, OnDuplicate, *mut c_void) -> bool;
    fn get(Handle, *const u8, c_int, *mut c_int) -> *mut u8;
    fn rnum(Handle) -> u64;
    fn vanish(Handle) -> bool;
    fn sync(Handle) -> bool;
    fn tranbegin(Handle) -> bool;
    fn trancommit(Handle) -> bool;
    fn tranabort(Handle) -> bool;
    fn foreach(Handle, OnEach, *mut c_void) -> bool;
    fn bnum(Handle) -> u64;
    fn opts(Handle) -> u8;
});

functions!(Memory {
    fn free(*mut u8);
    fn memdup(*const u8, c_int) -> *mut c_void;
});

functions!(Range {
    fn range(Handle, *const u8, c_int, bool, *const u8, c_int, bool, c_int) -> Handle;
});

functions!(List {
    fn num(Handle) -> c_int;
    fn val(Handle, c_int, *mut c_int) -> *const u8;
    fn del(Handle);
});

functions!(HashTuning {
    fn tune(Handle, i64, i8, i8, u8) -> bool;
    fn putasync(Handle, *const u8, c_int, *const u8, c_int) -> bool;
});

functions!(HashShown {
    fn xmsiz(Handle) -> u64;
    fn omode(Handle) -> c_int;
});

functions!(TreeTuning {
    fn tune(Handle, i32, i32, i64, i8, i8, u8) -> bool;
    fn setcache(Handle, i32, i32) -> bool;
});

// From tchdb.h, tcbdb.h and tcutil.h, alike in both.
const WRITER: c_int = 1 << 1;
const CREATE: c_int = 1 << 2;
const SYNC_TRANSACTIONS: c_int = 1 << 6;
const LARGE: u8 = 1 << 0;
const RECORD_EXISTS: c_int = 21;
const NO_RECORD: c_int = 22;
/// Leaves the library's own default, if a parameter is a number.
const DEFAULT: i8 = -1;
/// Inner nodes in memory for each leaf there: the library's own defaults are 1,024 leaves and 512 nodes.
const LEAVES_PER_NODE: i32 = 2;

pub struct Tokyocabinet {
    c: Functions,
    memory: Memory,
    /// `None`: a hash, whose keys have no order.
    range: Option<(Range, List)>,
    /// The function that loads rows.
    bulk: Put,
    sync: Commit,
    tables: Vec<Handle>,
    effective_settings: EffectiveSettings,
}

// SAFETY: a database object may be used by all threads after setmutex (tchdb.h, tcbdb.h).
unsafe impl Send for Tokyocabinet {}
// SAFETY: as above.
unsafe impl Sync for Tokyocabinet {}

impl Tokyocabinet {
    /// Opens, or makes, the files in directory `path`.
    ///
    /// # Errors
    /// In words for the user.
    pub fn new(config: &TokyocabinetConfig, schema: &Schema) -> Result<Self, String> {
        let is_tree = config.structure == Structure::Tree;
        let prefix = if is_tree { "tcbdb" } else { "tchdb" };
        // SAFETY: the plan names the library of Tokyo Cabinet, whose functions have had these types since 1.4.
        let (library, c, memory, effective_settings) = unsafe {
            let library = Library::load(&config.library)?;
            let (c, memory) = (Functions::find(&library, prefix)?, Memory::find(&library, "tc")?);
            let effective_settings = EffectiveSettings::of_version(version_text(&library, "tcversion")?);
            (library, c, memory, effective_settings)
        };
        // SAFETY: as above.
        let bulk = if is_tree { c.put } else { unsafe { HashTuning::find(&library, prefix)? }.putasync };
        // SAFETY: as above.
        let of_tree = || unsafe { Ok::<_, String>((Range::find(&library, prefix)?, List::find(&library, "tclist")?)) };
        let range = is_tree.then(of_tree).transpose()?;
        let mut all = Self { c, memory, range, bulk, sync: config.sync, tables: vec![], effective_settings };
        for table in &schema.tables {
            let file = config.path.join(&table.name);
            // SAFETY: it is new, goes to nobody else before it is open, and is closed by `drop`.
            let handle = unsafe { (c.new)() };
            all.tables.push(handle);
            all.tune(&library, config, handle)?;
            let synced = if config.sync == Commit::Transaction { SYNC_TRANSACTIONS } else { 0 };
            // SAFETY: the path ends with 0.
            let is_open = unsafe { (c.open)(handle, c_path(&file).as_ptr(), WRITER | CREATE | synced) };
            all.check(handle, is_open)
                .and_then(|()| all.read_back(&library, config, handle))
                .map_err(|message| format!("{}: {message}", file.display()))?;
        }
        if is_tree {
            // Only the library can look into the structure with a tree's other tuning; its file's head lacks it.
            all.effective_settings.not_readable = vec!["cached_leaves", "mmap_mib"];
            if config.sync == Commit::Transaction {
                all.effective_settings.not_readable.push("sync");
            }
        }
        Ok(all)
    }

    fn tune(&self, library: &Library, config: &TokyocabinetConfig, handle: Handle) -> Result<(), String> {
        let options = LARGE | config.compression as u8;
        let mmap_bytes = config.mmap_mib << 20;
        // SAFETY: the database is not open yet, which is when it can be tuned.
        let is_tuned = unsafe {
            (self.c.setmutex)(handle)
                && (self.c.setxmsiz)(handle, mmap_bytes)
                && match config.structure {
                    Structure::Hash => {
                        let tuning = HashTuning::find(library, "tchdb")?;
                        (tuning.tune)(handle, config.buckets, DEFAULT, DEFAULT, options)
                    }
                    Structure::Tree => {
                        let (tuning, leaves) = (TreeTuning::find(library, "tcbdb")?, config.cached_leaves);
                        (tuning.tune)(handle, -1, -1, config.buckets, DEFAULT, DEFAULT, options)
                            && (tuning.setcache)(handle, leaves, leaves / LEAVES_PER_NODE)
                    }
                }
        };
        self.check(handle, is_tuned)
    }

    /// Holds what an open file has against what it was given.
    fn read_back(&mut self, library: &Library, config: &TokyocabinetConfig, handle: Handle) -> Result<(), String> {
        // SAFETY: the database is open.
        let (buckets, options) = unsafe { ((self.c.bnum)(handle), (self.c.opts)(handle)) };
        let all = &mut self.effective_settings;
        all.held_against("compression", config.compression, Compression::of_options(options))?;
        if config.structure == Structure::Tree {
            all.reported("buckets", buckets);
            return Ok(());
        }
        all.buckets(config.buckets as u64, buckets)?;
        // SAFETY: as above; the library is Tokyo Cabinet's.
        let (mapped_bytes, mode) = unsafe {
            let hash = HashShown::find(library, "tchdb")?;
            ((hash.xmsiz)(handle), (hash.omode)(handle))
        };
        all.held_against("mmap_mib", config.mmap_mib, mapped_bytes >> 20)?;
        let is_synced = config.sync == Commit::Transaction;
        all.held_against("synchronised transactions", is_synced, mode & SYNC_TRANSACTIONS != 0)
    }

    #[inline]
    fn check(&self, handle: Handle, is_done: bool) -> Result<(), String> {
        if is_done { Ok(()) } else { Err(self.message(handle)) }
    }

    #[cold]
    fn message(&self, handle: Handle) -> String {
        // SAFETY: the library's messages are texts that it keeps.
        unsafe { text_at((self.c.errmsg)((self.c.ecode)(handle))) }
    }

    /// Does one write as durable as the settings say; what it returns is its result.
    fn write(&self, handle: Handle, write: impl FnOnce() -> Result<bool, String>) -> Result<bool, Failure> {
        let c = &self.c;
        let run = || match self.sync {
            Commit::None => write(),
            Commit::Full => {
                let is_done = write()?;
                // SAFETY: the database is open.
                self.check(handle, unsafe { (c.sync)(handle) }).map(|()| is_done)
            }
            Commit::Transaction => {
                // SAFETY: the database is open.
                self.check(handle, unsafe { (c.tranbegin)(handle) })?;
                let result = write();
                // SAFETY: as above, and the transaction was begun by this thread.
                let is_ended = unsafe { if result.is_ok() { (c.trancommit)(handle) } else { (c.tranabort)(handle) } };
                let is_done = result?;
                self.check(handle, is_ended).map(|()| is_done)
            }
        };
        run().map_err(failure)
    }
}

impl Drop for Tokyocabinet {
    fn drop(&mut self) {
        for &handle in &self.tables {
            // SAFETY: every access shares the database, so none is left; del closes what is open.
            unsafe { (self.c.del)(handle) }
        }
    }
}

impl Tokyocabinet {
    pub fn capabilities(config: &TokyocabinetConfig) -> Capabilities {
        Capabilities { can_scan: config.structure == Structure::Tree, ..Capabilities::OF_C_INT }
    }
}

impl Engine for Tokyocabinet {
    fn access(self: Arc<Self>) -> Result<Box<dyn Access>, Failure> {
        Ok(Box::new(TokyocabinetAccess { engine: self, value: null_mut(), size_bytes: 0 }))
    }

    fn effective_settings(&self) -> &EffectiveSettings {
        &self.effective_settings
    }
}

pub struct TokyocabinetAccess {
    engine: Arc<Tokyocabinet>,
    /// The copy that the last get made.
    value: *mut u8,
    size_bytes: usize,
}

/// The argument of `replace`.
struct Adding<'a, 'b> {
    addition: &'a mut Addition<'b>,
    duplicate: Duplicate,
    is_done: bool,
}

/// Replaces a value that is there by what the addition makes of it.
unsafe extern "C" fn replace(value: *const u8, size: c_int, new_size: *mut c_int, adding: *mut c_void) -> *mut c_void {
    // SAFETY: the library hands on what `add` gave it, and the value that it holds a lock on.
    let (adding, value) = unsafe { (&mut *adding.cast::<Adding>(), bytes_at(value, size as usize)) };
    let Some(changed) = adding.addition.apply(value) else { return null_mut() };
    adding.is_done = true;
    // SAFETY: the library frees the copy that it makes itself.
    unsafe {
        *new_size = changed.len() as c_int;
        (adding.duplicate)(changed.as_ptr(), changed.len() as c_int)
    }
}

type EachValue<'a> = &'a mut dyn FnMut(&[u8]);

unsafe extern "C" fn visit(_: *const u8, _: c_int, value: *const u8, size: c_int, each: *mut c_void) -> bool {
    // SAFETY: the library hands on what `for_each` gave it, and a value that it holds a lock on.
    unsafe { (*each.cast::<EachValue>())(bytes_at(value, size as usize)) };
    true
}

impl Access for TokyocabinetAccess {
    #[inline]
    fn get(&mut self, table: usize, key: &[u8]) -> Result<bool, Failure> {
        self.release();
        let Tokyocabinet { c, tables, .. } = &*self.engine;
        let mut size: c_int = 0;
        // SAFETY: the database is open as long as the engine is shared.
        self.value = unsafe { (c.get)(tables[table], key.as_ptr(), key.len() as c_int, &mut size) };
        self.size_bytes = size as usize;
        if !self.value.is_null() {
            return Ok(true);
        }
        // SAFETY: as above; the code is this thread's.
        if unsafe { (c.ecode)(tables[table]) } == NO_RECORD {
            return Ok(false);
        }
        Err(failure(self.engine.message(tables[table])))
    }

    #[inline]
    fn value(&self) -> &[u8] {
        // SAFETY: the copy is freed by `release` only, which needs `&mut self` and forgets the address.
        unsafe { bytes_at(self.value, self.size_bytes) }
    }

    #[inline]
    fn release(&mut self) {
        if !self.value.is_null() {
            // SAFETY: it is freed once.
            unsafe { (self.engine.memory.free)(std::mem::replace(&mut self.value, null_mut())) }
        }
    }

    fn put(&mut self, table: usize, key: &[u8], value: &[u8]) -> Result<(), Failure> {
        let engine = &*self.engine;
        let handle = engine.tables[table];
        let put = || {
            let (key, key_size, size) = (key.as_ptr(), key.len() as c_int, value.len() as c_int);
            // SAFETY: the database is open, and copies key and value.
            engine.check(handle, unsafe { (engine.c.put)(handle, key, key_size, value.as_ptr(), size) }).map(|()| true)
        };
        engine.write(handle, put).map(drop)
    }

    fn insert(&mut self, table: usize, key: &[u8], value: &[u8]) -> Result<bool, Failure> {
        let engine = &*self.engine;
        let handle = engine.tables[table];
        engine.write(handle, || {
            let (key, key_size, size) = (key.as_ptr(), key.len() as c_int, value.len() as c_int);
            // SAFETY: the database is open, and copies key and value; the code is this thread's.
            unsafe {
                let is_done = (engine.c.putkeep)(handle, key, key_size, value.as_ptr(), size);
                if !is_done && (engine.c.ecode)(handle) == RECORD_EXISTS {
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
                let is_done = (engine.c.out)(handle, key.as_ptr(), key.len() as c_int);
                if !is_done && (engine.c.ecode)(handle) == NO_RECORD {
                    return Ok(false);
                }
                engine.check(handle, is_done).map(|()| true)
            }
        })
    }

    /// The keys at once, then each value: a cursor would read rows twice that another thread's insertion moves.
    fn scan(&mut self, table: usize, first: &[u8], most: u64, each: &mut Scanned<'_>) -> Result<(), Failure> {
        let engine = Arc::clone(&self.engine);
        let Some((c, list)) = &engine.range else { return Err(failure("a hash cannot scan".into())) };
        let (start, size, most) = (first.as_ptr(), first.len() as c_int, most as c_int);
        // SAFETY: the database is open, and reads the key before it returns.
        let keys = unsafe { (c.range)(engine.tables[table], start, size, true, null(), 0, true, most) };
        let mut read_all = || -> Result<(), Failure> {
            // SAFETY: the list is this function's, and its keys are there until it is deleted.
            for i in 0..unsafe { (list.num)(keys) } {
                let mut size: c_int = 0;
                // SAFETY: as above.
                let key = unsafe { bytes_at((list.val)(keys, i, &mut size), size as usize) };
                if self.get(table, key)? {
                    each(self.value())?;
                }
            }
            Ok(())
        };
        let result = read_all();
        // SAFETY: it is deleted once.
        unsafe { (list.del)(keys) };
        result
    }

    fn add(&mut self, table: usize, key: &[u8], addition: &mut Addition<'_>) -> Result<bool, Failure> {
        let engine = &*self.engine;
        let handle = engine.tables[table];
        engine.write(handle, || {
            let mut adding = Adding { addition, duplicate: engine.memory.memdup, is_done: false };
            let (key, key_size, given) = (key.as_ptr(), key.len() as c_int, (&raw mut adding).cast());
            // SAFETY: `replace` is called, if at all, before this returns; without a value nothing is added if there is no record.
            let is_done = unsafe { (engine.c.putproc)(handle, key, key_size, null(), 0, replace, given) };
            // SAFETY: the code is this thread's.
            if !is_done && (!adding.is_done || unsafe { (engine.c.ecode)(handle) } == NO_RECORD) {
                return Ok(false);
            }
            engine.check(handle, is_done).map(|()| true)
        })
    }

    fn load(&mut self, table: usize, rows: &mut Rows<'_>) -> Result<(), Failure> {
        let engine = &*self.engine;
        let handle = engine.tables[table];
        while let Some((key, value)) = rows.next_row() {
            let (key, key_size, size) = (key.as_ptr(), key.len() as c_int, value.len() as c_int);
            // SAFETY: the database is open, and copies key and value.
            let is_done = unsafe { (engine.bulk)(handle, key, key_size, value.as_ptr(), size) };
            engine.check(handle, is_done).map_err(failure)?;
        }
        Ok(())
    }

    fn loads_by(&self) -> &'static str {
        "put (of a hash, asynchronous), synchronised at the end"
    }

    fn settle(&mut self, table: usize) -> Result<(), Failure> {
        let handle = self.engine.tables[table];
        // SAFETY: the database is open.
        self.engine.check(handle, unsafe { (self.engine.c.sync)(handle) }).map_err(failure)
    }

    fn count(&mut self, table: usize) -> Result<u64, Failure> {
        // SAFETY: the database is open.
        Ok(unsafe { (self.engine.c.rnum)(self.engine.tables[table]) })
    }

    fn for_each(&mut self, table: usize, each: &mut dyn FnMut(&[u8])) -> Result<(), Failure> {
        let handle = self.engine.tables[table];
        let mut each: EachValue<'_> = each;
        // SAFETY: `visit` is called only before this returns.
        let is_done = unsafe { (self.engine.c.foreach)(handle, visit, (&raw mut each).cast()) };
        self.engine.check(handle, is_done).map_err(failure)
    }

    fn clear(&mut self, table: usize) -> Result<(), Failure> {
        let handle = self.engine.tables[table];
        // SAFETY: the database is open.
        self.engine.check(handle, unsafe { (self.engine.c.vanish)(handle) }).map_err(failure)
    }
}

impl Drop for TokyocabinetAccess {
    fn drop(&mut self) {
        self.release();
    }
}
