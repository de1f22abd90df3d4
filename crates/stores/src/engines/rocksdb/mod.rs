//! RocksDB, embedded: one database for all clients, a column family a table, by the C interface of the installed library.
//!
//! Additions are optimistic transactions; every other operation goes to the database below them, which they cost nothing.

mod database;
mod options;

use std::ffi::c_int;
use std::ptr::{self, null_mut};
use std::sync::Arc;

use dbdyno_model::Failure;

use crate::effective_settings::EffectiveSettings;
use crate::embedded::{Access, Addition, Capabilities, Each, Engine, Rows, Scanned};
use crate::library::{Handle, bytes_at, failure};
pub use database::{Rocksdb, RocksdbConfig};

/// Rows that are written together while loading.
const BATCH_ROWS: c_int = 1000;
/// Behind every key: keys are numbers of 8 bytes, or text, which has no such byte in it.
const BEHIND_ALL: [u8; 9] = [0xff; 9];

impl Rocksdb {
    pub fn capabilities(_: &RocksdbConfig) -> Capabilities {
        Capabilities { can_scan: true, ..Capabilities::PLAIN }
    }
}

impl Engine for Rocksdb {
    fn access(self: Arc<Self>) -> Result<Box<dyn Access>, Failure> {
        Ok(Box::new(RocksdbAccess {
            engine: self,
            slice: null_mut(),
            value: (ptr::null(), 0),
            transaction: null_mut(),
        }))
    }

    fn effective_settings(&self) -> &EffectiveSettings {
        &self.effective_settings
    }
}

/// A write that depends on what is there.
enum Change<'a, 'b> {
    Insertion(&'a [u8]),
    Addition(&'a mut Addition<'b>),
    Removal,
}

impl Change<'_, '_> {
    /// Returns the value that replaces the stored one, empty if that is removed; `None` leaves it.
    fn value(&mut self, stored: Option<&[u8]>) -> Option<&[u8]> {
        match (self, stored) {
            (Change::Insertion(value), None) => Some(value),
            (Change::Addition(addition), Some(bytes)) => addition.apply(bytes),
            (Change::Removal, Some(_)) => Some(&[]),
            _ => None,
        }
    }
}

pub struct RocksdbAccess {
    engine: Arc<Rocksdb>,
    /// Pins the value of the last get, in the block cache or the write buffer's copy.
    slice: Handle,
    value: (*const u8, usize),
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
            self.value = (address, size_bytes);
        }
        !slice.is_null()
    }

    /// Changes a value with nobody else's write in between; false if there was nothing to do.
    fn change(&mut self, table: usize, key: &[u8], mut change: Change<'_, '_>) -> Result<bool, Failure> {
        let family = self.engine.families[table];
        loop {
            match self.try_to_change(family, key, &mut change) {
                Err(message) if message.starts_with("Resource busy") || message.contains("Try again") => {}
                result => return result.map_err(failure),
            }
        }
    }

    /// Tries a change once. RocksDB refuses at commit if somebody else wrote the key meanwhile.
    fn try_to_change(&mut self, family: Handle, key: &[u8], change: &mut Change<'_, '_>) -> Result<bool, String> {
        let Rocksdb { c, transactions, writing, reading, transaction_options, .. } = &*Arc::clone(&self.engine);
        let (key, key_size) = (key.as_ptr(), key.len());
        // SAFETY: a transaction is begun anew or made of the last, and used by this thread only; key and value outlive the calls.
        unsafe {
            self.transaction =
                (c.optimistictransaction_begin)(*transactions, *writing, *transaction_options, self.transaction);
            let all = self.transaction;
            let get = c.transaction_get_pinned_for_update_cf;
            let slice = c.checked(|error| get(all, *reading, family, key, key_size, 1, error))?;
            let is_there = self.pin(slice);
            let is_removal = matches!(change, Change::Removal);
            let changed = change.value(is_there.then(|| self.value()));
            let Some(value) = changed else {
                self.release();
                return c.checked(|error| (c.transaction_rollback)(all, error)).map(|()| false);
            };
            self.release();
            c.checked(|error| match is_removal {
                true => (c.transaction_delete_cf)(all, family, key, key_size, error),
                false => (c.transaction_put_cf)(all, family, key, key_size, value.as_ptr(), value.len(), error),
            })?;
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
        for (position, (slice, error)) in slices.into_iter().zip(errors).enumerate() {
            let is_there = self.pin(slice);
            if !error.is_null() {
                result = Err(failure(c.taken(error)));
            } else if result.is_ok() {
                result = each(position, is_there.then(|| self.value()));
            }
            self.release();
        }
        result
    }

    #[inline]
    fn value(&self) -> &[u8] {
        // SAFETY: the slice that keeps it in its place is destroyed by `release` only, which needs `&mut self` and forgets the address.
        unsafe { bytes_at(self.value.0, self.value.1) }
    }

    #[inline]
    fn release(&mut self) {
        if !self.slice.is_null() {
            self.value = (ptr::null(), 0);
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

    fn insert(&mut self, table: usize, key: &[u8], value: &[u8]) -> Result<bool, Failure> {
        self.change(table, key, Change::Insertion(value))
    }

    fn delete(&mut self, table: usize, key: &[u8]) -> Result<bool, Failure> {
        self.change(table, key, Change::Removal)
    }

    fn scan(&mut self, table: usize, first: &[u8], most: u64, each: &mut Scanned<'_>) -> Result<(), Failure> {
        let Rocksdb { c, database, reading, families, .. } = &*self.engine;
        let (mut result, mut left) = (Ok(()), most);
        // SAFETY: the iterator is destroyed once, and a value is handed out only until it moves on.
        let end = unsafe {
            let iterator = (c.create_iterator_cf)(*database, *reading, families[table]);
            (c.iter_seek)(iterator, first.as_ptr(), first.len());
            while left > 0 && result.is_ok() && (c.iter_valid)(iterator) != 0 {
                let mut size_bytes = 0;
                let address = (c.iter_value)(iterator, &mut size_bytes);
                result = each(bytes_at(address, size_bytes));
                left -= 1;
                (c.iter_next)(iterator);
            }
            let end = c.checked(|error| (c.iter_get_error)(iterator, error));
            (c.iter_destroy)(iterator);
            end
        };
        end.map_err(failure)?;
        result
    }

    fn add(&mut self, table: usize, key: &[u8], addition: &mut Addition<'_>) -> Result<bool, Failure> {
        self.change(table, key, Change::Addition(addition))
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
