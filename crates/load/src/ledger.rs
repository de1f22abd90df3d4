//! The acknowledged writes, by key, in a file. The kernel has an entry as soon as it is made, so that it outlives this program, which is
//! killed if the store runs inside it.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Two numbers, little-endian.
const ENTRY_BYTES: usize = 16;

/// The newest version of a row that was acknowledged, 0: none since it was loaded; and when that was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub version: u64,
    pub at_ns: u64,
}

impl Entry {
    fn to_bytes(self) -> [u8; ENTRY_BYTES] {
        (u128::from(self.version) | u128::from(self.at_ns) << 64).to_le_bytes()
    }

    fn from_bytes(bytes: [u8; ENTRY_BYTES]) -> Self {
        let both = u128::from_le_bytes(bytes);
        Self { version: both as u64, at_ns: (both >> 64) as u64 }
    }
}

/// Shared by all clients; each enters its own keys.
#[derive(Debug)]
pub struct Ledger {
    file: File,
}

impl Ledger {
    /// Makes the file, with nothing acknowledged of keys 1 to `rows`.
    ///
    /// # Errors
    /// It cannot be made: in words for the user.
    pub fn create(path: &Path, rows: u64) -> Result<Self, String> {
        let made = File::create(path).and_then(|file| file.set_len(rows * ENTRY_BYTES as u64).map(|()| file));
        made.map(|file| Self { file }).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// A loss here would look like something the store lost, so it ends the program.
    pub fn enter(&self, key: u64, entry: Entry) {
        if let Err(error) = self.file.write_all_at(&entry.to_bytes(), (key - 1) * ENTRY_BYTES as u64) {
            eprintln!("dbdyno-load: cannot record the acknowledged writes, so it ends: {error}");
            std::process::exit(1);
        }
    }

    /// The entries of keys 1, 2 and so on.
    ///
    /// # Errors
    /// The file cannot be read: in words for the user.
    pub fn read(path: &Path) -> Result<Vec<Entry>, String> {
        let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let (entries, _) = bytes.as_chunks::<ENTRY_BYTES>();
        Ok(entries.iter().copied().map(Entry::from_bytes).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_entered_is_read_without_the_file_being_closed() {
        let path = std::env::temp_dir().join(format!("dbdyno-ledger-{}", std::process::id()));
        let ledger = Ledger::create(&path, 3).unwrap();
        let last = Entry { version: 7, at_ns: u64::MAX };
        ledger.enter(1, Entry { version: 1, at_ns: 2 });
        ledger.enter(1, Entry { version: 2, at_ns: 3 });
        ledger.enter(3, last);
        let none = Entry { version: 0, at_ns: 0 };
        assert_eq!(Ledger::read(&path), Ok(vec![Entry { version: 2, at_ns: 3 }, none, last]));
        std::fs::remove_file(&path).unwrap();
        assert!(Ledger::read(&path).unwrap_err().contains("dbdyno-ledger"));
        assert!(Ledger::create(&path.join("x"), 3).unwrap_err().contains("dbdyno-ledger"));
    }
}
