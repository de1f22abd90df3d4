//! The file OPTIONS-…, which RocksDB writes whenever it has opened a database: every option that it uses.

use std::collections::BTreeMap;
use std::path::Path;

/// Options by section (`CFOptions "player"`) and name.
pub struct Options(BTreeMap<(String, String), String>);

impl Options {
    /// Reads the newest of the files in the directory of an open database.
    ///
    /// # Errors
    /// There is none, or it cannot be read.
    pub fn newest(directory: &Path) -> Result<Self, String> {
        let failed = |error: std::io::Error| format!("its options: {error}");
        let names = std::fs::read_dir(directory)
            .map_err(failed)?
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        // The numbers in their names have leading zeros.
        let newest = names.filter(|name| name.starts_with("OPTIONS-") && !name.ends_with(".dbtmp")).max();
        let newest = newest.ok_or("RocksDB wrote no options file")?;
        Ok(Self::of(&std::fs::read_to_string(directory.join(newest)).map_err(failed)?))
    }

    fn of(text: &str) -> Self {
        let (mut all, mut section) = (BTreeMap::new(), String::new());
        for line in text.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
            if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                section = name.into();
            } else if let Some((key, value)) = line.split_once('=') {
                all.insert((section.clone(), key.into()), value.into());
            }
        }
        Self(all)
    }

    /// An option's value, or that it is not there, in words.
    pub fn get(&self, section: &str, key: &str) -> &str {
        let value = self.0.get(&(section.into(), key.into()));
        value.map_or("no value that it reports", String::as_str)
    }

    /// Every option of these sections, by `section.name` without the section's table.
    pub fn of_sections<'a>(&'a self, sections: &'a [String]) -> impl Iterator<Item = (String, &'a str)> {
        let chosen = self.0.iter().filter(|((section, _), _)| sections.contains(section));
        chosen.map(|((section, key), value)| {
            let kind = section.split(['/', ' ']).next().unwrap_or_default();
            (format!("{kind}.{key}"), value.as_str())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# written by RocksDB\n[Version]\n  rocksdb_version=7.8.3\n\n[CFOptions \"a\"]\n  compression=kSnappyCompression\n\
        [TableOptions/BlockBasedTable \"a\"]\n  filter_policy=a=b\n[CFOptions \"b\"]\n  compression=kNoCompression\n";

    #[test]
    fn options_are_read_by_section() {
        let options = Options::of(TEXT);
        assert_eq!(options.get("Version", "rocksdb_version"), "7.8.3");
        assert_eq!(options.get("CFOptions \"b\"", "compression"), "kNoCompression");
        assert_eq!(options.get("CFOptions \"c\"", "compression"), "no value that it reports");
        let sections = ["CFOptions \"a\"".into(), "TableOptions/BlockBasedTable \"a\"".into()];
        let pairs: Vec<_> = options.of_sections(&sections).collect();
        let expected = [("CFOptions.compression", "kSnappyCompression"), ("TableOptions.filter_policy", "a=b")];
        assert_eq!(pairs, expected.map(|(key, value)| (key.to_string(), value)));
    }

    #[test]
    fn the_newest_file_counts() {
        let folder = std::env::temp_dir().join(format!("dbdyno-options-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        assert!(Options::newest(&folder).is_err());
        for (name, version) in [("OPTIONS-000007", "7"), ("OPTIONS-000012", "8"), ("OPTIONS-000013.dbtmp", "9")] {
            std::fs::write(folder.join(name), format!("[Version]\nrocksdb_version={version}\n")).unwrap();
        }
        assert_eq!(Options::newest(&folder).unwrap().get("Version", "rocksdb_version"), "8");
        std::fs::remove_dir_all(folder).unwrap();
    }
}
