//! LMDB's C library, as much of it as is needed, behind safe calls.
//!
//! A [`Reader`] renews one read transaction for every get, as LMDB's own documentation advises. The crates for LMDB that are kept up
//! begin one each time, with an allocation, which costs as much as a clock reading.

use std::ffi::{CString, c_int, c_uint};
use std::fmt;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;
use std::sync::Arc;

use lmdb_master_sys as c;

const FILE_MODE: c::mdb_mode_t = 0o600;

/// The status that a call of LMDB returned instead of success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status(c_int);

impl Status {
    pub fn is_full(self) -> bool {
        let is_disk_full = std::io::Error::from_raw_os_error(self.0).kind() == std::io::ErrorKind::StorageFull;
        self.0 == c::MDB_MAP_FULL || is_disk_full
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: mdb_strerror returns a text that ends with 0 and is not freed before the next call of it on this thread.
        let text = unsafe { std::ffi::CStr::from_ptr(c::mdb_strerror(self.0)) };
        f.write_str(&text.to_string_lossy())
    }
}

/// The version of the library, as it writes it: `0.9.33`.
pub fn version() -> String {
    let (mut major, mut minor, mut patch) = (0, 0, 0);
    // SAFETY: it fills the three numbers.
    unsafe { c::mdb_version(&mut major, &mut minor, &mut patch) };
    format!("{major}.{minor}.{patch}")
}

#[inline]
fn check(status: c_int) -> Result<(), Status> {
    if status == 0 { Ok(()) } else { Err(Status(status)) }
}

/// Returns whether what was looked for is there.
#[inline]
fn is_found(status: c_int) -> Result<bool, Status> {
    if status == c::MDB_NOTFOUND { Ok(false) } else { check(status).map(|()| true) }
}

#[inline]
fn value_of(bytes: &[u8]) -> c::MDB_val {
    c::MDB_val { mv_size: bytes.len(), mv_data: bytes.as_ptr().cast_mut().cast() }
}

const NOTHING: c::MDB_val = c::MDB_val { mv_size: 0, mv_data: ptr::null_mut() };

/// # Safety
/// `value` was set by LMDB, and the transaction it was read in lasts for `'a` without a write.
#[inline]
unsafe fn bytes_of<'a>(value: &c::MDB_val) -> &'a [u8] {
    if value.mv_data.is_null() {
        return &[];
    }
    // SAFETY: LMDB sets the address and size of a value in its memory map, which is not written while the transaction lasts.
    unsafe { std::slice::from_raw_parts(value.mv_data.cast(), value.mv_size) }
}

/// How an environment is opened.
pub struct Options {
    /// MDB_NOSYNC and its like.
    pub flags: c_uint,
    pub tables: u32,
    pub readers: u32,
    /// A multiple of the system's page size.
    pub map_size_bytes: usize,
}

/// A data file and its memory map. Shared by all threads.
#[derive(Debug)]
pub struct Environment(*mut c::MDB_env);

// SAFETY: an environment may be used by all threads at once (lmdb.h); with MDB_NOTLS a read transaction belongs to no thread either.
unsafe impl Send for Environment {}
// SAFETY: as above.
unsafe impl Sync for Environment {}

impl Environment {
    /// Opens, or makes, the data file in directory `path`.
    ///
    /// # Errors
    /// As LMDB has them.
    ///
    /// # Safety
    /// This process has it open only once, and nothing but LMDB changes the file.
    pub unsafe fn open(path: &Path, options: &Options) -> Result<Self, Status> {
        const EINVAL: c_int = 22;
        let path = CString::new(path.as_os_str().as_bytes()).map_err(|_| Status(EINVAL))?;
        let mut handle = ptr::null_mut();
        // SAFETY: the handle is what mdb_env_create made, and is closed by `drop` whatever fails after that.
        unsafe {
            check(c::mdb_env_create(&mut handle))?;
            let environment = Self(handle);
            check(c::mdb_env_set_maxdbs(handle, options.tables))?;
            check(c::mdb_env_set_maxreaders(handle, options.readers))?;
            check(c::mdb_env_set_mapsize(handle, options.map_size_bytes))?;
            check(c::mdb_env_open(handle, path.as_ptr(), options.flags | c::MDB_NOTLS, FILE_MODE))?;
            Ok(environment)
        }
    }

    /// Bytes of the memory map, and the flags, that are in force.
    ///
    /// # Errors
    /// As LMDB has them.
    pub fn effective_settings(&self) -> Result<(usize, c_uint), Status> {
        let (mut info, mut flags) = (MaybeUninit::<c::MDB_envinfo>::zeroed(), 0);
        // SAFETY: the environment is open, LMDB fills what it is given, and of numbers and an address 0 is valid too.
        unsafe {
            check(c::mdb_env_info(self.0, info.as_mut_ptr()))?;
            check(c::mdb_env_get_flags(self.0, &mut flags))?;
            Ok((info.assume_init().me_mapsize, flags))
        }
    }

    /// Begins a write transaction, when there is no other.
    ///
    /// # Errors
    /// As LMDB has them.
    pub fn write(&self) -> Result<Writer<'_>, Status> {
        let mut transaction = ptr::null_mut();
        // SAFETY: the environment is open.
        check(unsafe { c::mdb_txn_begin(self.0, ptr::null_mut(), 0, &mut transaction) })?;
        Ok(Writer { transaction, _environment: self })
    }
}

impl Drop for Environment {
    fn drop(&mut self) {
        // SAFETY: transactions borrow the environment or share it, so none is left.
        unsafe { c::mdb_env_close(self.0) }
    }
}

/// A database of the environment: a table.
#[derive(Clone, Copy, Debug)]
pub struct Table(c::MDB_dbi);

/// A write transaction; without [`Writer::commit`] nothing of it remains.
pub struct Writer<'e> {
    transaction: *mut c::MDB_txn,
    _environment: &'e Environment,
}

impl Writer<'_> {
    /// The table of this name, made if there is none.
    pub fn table(&mut self, name: &str) -> Result<Table, Status> {
        let name = CString::new(name).unwrap_or_default();
        let mut table = 0;
        // SAFETY: the transaction lasts, and the name ends with 0.
        check(unsafe { c::mdb_dbi_open(self.transaction, name.as_ptr(), c::MDB_CREATE, &mut table) })?;
        Ok(Table(table))
    }

    /// The value filed under `key`, until the next write.
    pub fn get(&self, table: Table, key: &[u8]) -> Result<Option<&[u8]>, Status> {
        let (mut key, mut value) = (value_of(key), NOTHING);
        // SAFETY: the transaction lasts as long as `self`, and a write needs `&mut self`.
        unsafe {
            let is_there = is_found(c::mdb_get(self.transaction, table.0, &mut key, &mut value))?;
            Ok(is_there.then(|| bytes_of(&value)))
        }
    }

    pub fn put(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<(), Status> {
        self.put_with(0, table, key, value)
    }

    /// Puts a key that is not there; false if it is.
    pub fn insert(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<bool, Status> {
        match self.put_with(c::MDB_NOOVERWRITE, table, key, value) {
            Err(Status(c::MDB_KEYEXIST)) => Ok(false),
            result => result.map(|()| true),
        }
    }

    /// Puts a key that is behind all others.
    pub fn append(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<(), Status> {
        self.put_with(c::MDB_APPEND, table, key, value)
    }

    fn put_with(&mut self, flags: c_uint, table: Table, key: &[u8], value: &[u8]) -> Result<(), Status> {
        let (mut key, mut value) = (value_of(key), value_of(value));
        // SAFETY: the transaction lasts; LMDB copies key and value.
        check(unsafe { c::mdb_put(self.transaction, table.0, &mut key, &mut value, flags) })
    }

    /// Removes a key; false if it is not there.
    pub fn delete(&mut self, table: Table, key: &[u8]) -> Result<bool, Status> {
        let mut key = value_of(key);
        // SAFETY: the transaction lasts; without a value LMDB removes the key whatever it has.
        is_found(unsafe { c::mdb_del(self.transaction, table.0, &mut key, ptr::null_mut()) })
    }

    /// Returns whether `key` is behind all keys of the table.
    pub fn is_behind(&self, table: Table, key: &[u8]) -> Result<bool, Status> {
        let (mut cursor, mut last, mut value) = (ptr::null_mut(), NOTHING, NOTHING);
        // SAFETY: the transaction lasts, and nothing is written before the cursor is closed and the last key compared.
        unsafe {
            check(c::mdb_cursor_open(self.transaction, table.0, &mut cursor))?;
            let is_any = is_found(c::mdb_cursor_get(cursor, &mut last, &mut value, c::MDB_LAST));
            c::mdb_cursor_close(cursor);
            Ok(!is_any? || bytes_of(&last) < key)
        }
    }

    /// Removes all entries.
    pub fn clear(&mut self, table: Table) -> Result<(), Status> {
        // SAFETY: the transaction lasts; 0 empties the table and keeps its handle.
        check(unsafe { c::mdb_drop(self.transaction, table.0, 0) })
    }

    pub fn commit(mut self) -> Result<(), Status> {
        let transaction = std::mem::replace(&mut self.transaction, ptr::null_mut());
        // SAFETY: the transaction lasts; mdb_txn_commit frees it, whatever it returns.
        check(unsafe { c::mdb_txn_commit(transaction) })
    }
}

impl Drop for Writer<'_> {
    fn drop(&mut self) {
        if !self.transaction.is_null() {
            // SAFETY: it was neither committed nor aborted.
            unsafe { c::mdb_txn_abort(self.transaction) }
        }
    }
}

/// A read transaction, renewed for every get.
pub struct Reader {
    transaction: *mut c::MDB_txn,
    /// True if the transaction is under way; else it is reset and waits to be renewed.
    is_active: bool,
    /// The value of the last get.
    value: c::MDB_val,
    _environment: Arc<Environment>,
}

impl Reader {
    /// # Errors
    /// As LMDB has them: no reader slot is left.
    pub fn new(environment: &Arc<Environment>) -> Result<Self, Status> {
        let mut transaction = ptr::null_mut();
        // SAFETY: the environment is open, and stays so as long as the reader shares it.
        check(unsafe { c::mdb_txn_begin(environment.0, ptr::null_mut(), c::MDB_RDONLY, &mut transaction) })?;
        let mut reader = Self { transaction, is_active: true, value: NOTHING, _environment: Arc::clone(environment) };
        reader.release();
        Ok(reader)
    }

    /// Ends the transaction; [`Reader::value`] is then empty. While it lasts, LMDB keeps every page that it could see.
    #[inline]
    pub fn release(&mut self) {
        if self.is_active {
            self.is_active = false;
            self.value = NOTHING;
            // SAFETY: the transaction is under way, and nothing borrows from it: that needs `&self`.
            unsafe { c::mdb_txn_reset(self.transaction) }
        }
    }

    #[inline]
    fn renew(&mut self) -> Result<(), Status> {
        self.release();
        // SAFETY: the transaction is reset.
        check(unsafe { c::mdb_txn_renew(self.transaction) })?;
        self.is_active = true;
        Ok(())
    }

    /// Looks up `key` in the newest state; whether it is there. The value is then at [`Reader::value`].
    #[inline]
    pub fn get(&mut self, table: Table, key: &[u8]) -> Result<bool, Status> {
        self.renew()?;
        self.get_again(table, key)
    }

    /// Looks up `key` in the state of the get before it, or in the newest if [`Reader::release`] came between.
    #[inline]
    pub fn get_again(&mut self, table: Table, key: &[u8]) -> Result<bool, Status> {
        if !self.is_active {
            self.renew()?;
        }
        let mut key = value_of(key);
        // SAFETY: the transaction is under way.
        is_found(unsafe { c::mdb_get(self.transaction, table.0, &mut key, &mut self.value) })
    }

    /// The value that the last get found, in the memory map.
    #[inline]
    pub fn value(&self) -> &[u8] {
        // SAFETY: it is set by mdb_get, and emptied before the transaction ends, which needs `&mut self`.
        unsafe { bytes_of(&self.value) }
    }

    /// How many entries the table has now.
    pub fn count(&mut self, table: Table) -> Result<u64, Status> {
        self.renew()?;
        let mut stat = std::mem::MaybeUninit::<c::MDB_stat>::uninit();
        // SAFETY: the transaction is under way; mdb_stat fills `stat` if it succeeds.
        let entries = unsafe {
            check(c::mdb_stat(self.transaction, table.0, stat.as_mut_ptr()))?;
            stat.assume_init().ms_entries
        };
        self.release();
        Ok(entries as u64)
    }

    /// Hands every value of the table to `each`, in the order of the keys.
    pub fn for_each(&mut self, table: Table, mut each: impl FnMut(&[u8])) -> Result<(), Status> {
        self.renew()?;
        let (mut cursor, mut key, mut value) = (ptr::null_mut(), NOTHING, NOTHING);
        // SAFETY: the transaction is under way until the cursor is closed; a value is handed out only while it is.
        let end = unsafe {
            check(c::mdb_cursor_open(self.transaction, table.0, &mut cursor))?;
            let end = loop {
                match is_found(c::mdb_cursor_get(cursor, &mut key, &mut value, c::MDB_NEXT)) {
                    Ok(true) => each(bytes_of(&value)),
                    end => break end,
                }
            };
            c::mdb_cursor_close(cursor);
            end
        };
        self.release();
        end.map(drop)
    }
}

impl Reader {
    /// Hands the values of the keys from `first` on to `each`, in order, until it returns false.
    pub fn scan(&mut self, table: Table, first: &[u8], mut each: impl FnMut(&[u8]) -> bool) -> Result<(), Status> {
        self.renew()?;
        let (mut cursor, mut key, mut value) = (ptr::null_mut(), value_of(first), NOTHING);
        let mut go = c::MDB_SET_RANGE;
        // SAFETY: as in `for_each`; LMDB only reads the key that is looked for.
        let end = unsafe {
            check(c::mdb_cursor_open(self.transaction, table.0, &mut cursor))?;
            let end = loop {
                match is_found(c::mdb_cursor_get(cursor, &mut key, &mut value, go)) {
                    Ok(true) if each(bytes_of(&value)) => go = c::MDB_NEXT,
                    end => break end,
                }
            };
            c::mdb_cursor_close(cursor);
            end
        };
        self.release();
        end.map(drop)
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        // SAFETY: the transaction was begun and never aborted; this gives its reader slot back.
        unsafe { c::mdb_txn_abort(self.transaction) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Options = Options { flags: c::MDB_NOSYNC, tables: 2, readers: 4, map_size_bytes: 1 << 20 };

    /// An environment in its own directory, which is removed with it.
    struct Scratch {
        environment: Arc<Environment>,
        path: std::path::PathBuf,
    }

    impl Scratch {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("dbdyno-lmdb-{name}-{}", std::process::id()));
            std::fs::create_dir_all(&path).unwrap();
            // SAFETY: the name is this process's and this test's own.
            let environment = Arc::new(unsafe { Environment::open(&path, &SMALL) }.unwrap());
            Self { environment, path }
        }

        fn table(&self) -> Table {
            let mut writer = self.environment.write().unwrap();
            let table = writer.table("t").unwrap();
            writer.commit().unwrap();
            table
        }

        fn put(&self, table: Table, key: &[u8], value: &[u8]) {
            let mut writer = self.environment.write().unwrap();
            writer.put(table, key, value).unwrap();
            writer.commit().unwrap();
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            std::fs::remove_dir_all(&self.path).unwrap();
        }
    }

    #[test]
    fn every_get_sees_what_was_committed_before_it_and_a_row_stays_as_it_was_until_it_is_released() {
        let scratch = Scratch::new("reader");
        let table = scratch.table();
        let mut reader = Reader::new(&scratch.environment).unwrap();
        assert_eq!(reader.get(table, b"k"), Ok(false));
        scratch.put(table, b"k", b"one");
        assert_eq!(reader.get(table, b"k"), Ok(true));
        scratch.put(table, b"k", b"two");
        scratch.put(table, b"k", b"three");
        assert_eq!(reader.value(), b"one");
        assert_eq!(reader.get(table, b"k"), Ok(true));
        assert_eq!(reader.value(), b"three");
        assert_eq!(reader.get(table, b"other"), Ok(false));
        assert_eq!(reader.value(), b"");
        reader.release();
        assert_eq!(reader.value(), b"");
        assert_eq!(reader.count(table), Ok(1));
    }

    #[test]
    fn several_readers_of_one_thread_have_their_own_transactions_and_give_their_slots_back() {
        let scratch = Scratch::new("slots");
        let table = scratch.table();
        scratch.put(table, b"k", b"one");
        for _ in 0..3 {
            let mut readers: Vec<Reader> = (0..4).map(|_| Reader::new(&scratch.environment).unwrap()).collect();
            assert!(readers.iter_mut().all(|reader| reader.get(table, b"k") == Ok(true)));
            assert!(readers.iter().all(|reader| reader.value() == b"one"));
            assert!(Reader::new(&scratch.environment).is_err_and(|status| !status.is_full()));
        }
    }

    #[test]
    fn what_is_not_committed_is_not_there_and_clearing_empties() {
        let scratch = Scratch::new("writer");
        let table = scratch.table();
        let mut reader = Reader::new(&scratch.environment).unwrap();
        scratch.environment.write().unwrap().put(table, b"k", b"lost").unwrap();
        assert_eq!(reader.count(table), Ok(0));
        scratch.put(table, b"b", b"2");
        scratch.put(table, b"a", b"1");
        let mut writer = scratch.environment.write().unwrap();
        assert_eq!((writer.is_behind(table, b"b"), writer.is_behind(table, b"c")), (Ok(false), Ok(true)));
        assert!(writer.append(table, b"a", b"0").is_err());
        writer.append(table, b"c", b"3").unwrap();
        writer.commit().unwrap();
        let mut values = vec![];
        reader.for_each(table, |value| values.extend_from_slice(value)).unwrap();
        assert_eq!(values, b"123");
        let mut writer = scratch.environment.write().unwrap();
        writer.clear(table).unwrap();
        assert_eq!((writer.get(table, b"a"), writer.is_behind(table, b"a")), (Ok(None), Ok(true)));
        writer.commit().unwrap();
        assert_eq!(reader.count(table), Ok(0));
    }

    #[test]
    fn a_full_map_is_told_from_other_errors() {
        let scratch = Scratch::new("full");
        let table = scratch.table();
        let mut writer = scratch.environment.write().unwrap();
        let full = (0..10_000u32).find_map(|key| writer.put(table, &key.to_be_bytes(), &[0; 1000]).err()).unwrap();
        assert!(full.is_full(), "{full}");
        assert!(Status(28).is_full() && !Status(22).is_full());
    }
}
