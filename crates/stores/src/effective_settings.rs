//! The version and the settings that an embedded store's library reports once it is open.

use std::collections::BTreeMap;
use std::ffi::c_char;
use std::fmt::Display;

use serde::Serialize;

use crate::library::{Library, text_at};

/// The value of `store` in the record `hello`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct EffectiveSettings {
    pub version: Option<String>,
    /// Every setting that the library shows: by the plan's name if the plan has it, else by the library's own.
    pub settings: BTreeMap<String, String>,
    /// Settings of the plan that the library takes without an error, and shows nobody.
    pub not_readable: Vec<&'static str>,
}

impl EffectiveSettings {
    pub fn of_version(version: impl Into<String>) -> Self {
        Self { version: Some(version.into()), ..Self::default() }
    }

    /// Adds a setting that the library reports and the plan does not name.
    pub fn reported(&mut self, name: &str, actual: impl Display) {
        self.settings.insert(name.into(), actual.to_string());
    }

    /// Adds a requested setting, as the library shows it.
    ///
    /// # Errors
    /// It has another value: with both.
    pub fn held_against(&mut self, name: &str, given: impl Display, actual: impl Display) -> Result<(), String> {
        let (given, actual) = (given.to_string(), actual.to_string());
        if given != actual {
            return Err(format!("{name}={given} was given, and the library has {actual}"));
        }
        self.reported(name, actual);
        Ok(())
    }

    /// The buckets of a hash: the libraries take a prime number that is not much larger than the given one. So that is no error, and what they
    /// have is recorded.
    ///
    /// # Errors
    /// It has fewer, or more than a rounding explains.
    pub fn buckets(&mut self, given: u64, actual: u64) -> Result<(), String> {
        let rounded = given..=given + given / 4 + 1;
        if !rounded.contains(&actual) {
            return self.held_against("buckets", given, actual);
        }
        self.reported("buckets", actual);
        Ok(())
    }
}

/// The version that a text in a library states.
///
/// # Errors
/// The library has none of this name.
///
/// # Safety
/// It is a pointer to a text that ends with 0.
pub unsafe fn version_text(library: &Library, name: &str) -> Result<String, String> {
    // SAFETY: as above.
    unsafe { Ok(text_at(*library.find::<*const *const c_char>(name)?)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_value_than_was_given_is_an_error_with_both() {
        let mut all = EffectiveSettings::of_version("1.2");
        assert_eq!(all.held_against("mmap_mib", 64, "64"), Ok(()));
        let refused = all.held_against("sync", "full", "none").unwrap_err();
        assert_eq!(refused, "sync=full was given, and the library has none");
        assert_eq!(all.settings.into_iter().collect::<Vec<_>>(), [("mmap_mib".into(), "64".into())]);
    }

    #[test]
    fn buckets_may_be_rounded_up_to_a_prime_and_no_further() {
        for (given, actual) in [(1, 1), (2, 2), (400, 409), (2000, 2039), (40_000, 46_349), (7, 7)] {
            let mut all = EffectiveSettings::default();
            assert_eq!(all.buckets(given, actual), Ok(()), "{given}");
            assert_eq!(all.settings["buckets"], actual.to_string());
        }
        for (given, actual) in [(7, 409), (400, 397), (100, 200)] {
            let refused = EffectiveSettings::default().buckets(given, actual).unwrap_err();
            assert_eq!(refused, format!("buckets={given} was given, and the library has {actual}"));
        }
    }
}
