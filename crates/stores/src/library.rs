//! C libraries that are loaded when a store is opened, so that dbdyno can be installed and run without them.

use std::error::Error;
use std::ffi::{CStr, CString, c_char, c_void};
use std::mem::ManuallyDrop;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use dbdyno_model::Failure;

/// A handle that a library hands out and takes back, and only it looks into.
pub type Handle = *mut c_void;

/// A loaded library. It is never unloaded, so what was found in it is there as long as the program.
pub struct Library {
    name: String,
    loaded: ManuallyDrop<libloading::Library>,
}

impl Library {
    /// Loads a library by the name that the system's loader knows it by: `libtkrzw.so.1`.
    ///
    /// # Errors
    /// There is none, in the loader's words.
    ///
    /// # Safety
    /// Loading it does no harm: it is the library that `name` says.
    pub unsafe fn load(name: &str) -> Result<Self, String> {
        // SAFETY: as above.
        let loaded = unsafe { libloading::Library::new(name) };
        let loaded = loaded.map_err(|error| match error.source() {
            Some(loader) => format!("{name} cannot be loaded: {loader}"),
            None => format!("{name} cannot be loaded: {error}"),
        })?;
        Ok(Self { name: name.into(), loaded: ManuallyDrop::new(loaded) })
    }

    /// Finds a function, or a variable's address.
    ///
    /// # Errors
    /// The library has none of this name.
    ///
    /// # Safety
    /// `T` is its type.
    pub unsafe fn find<T: Copy>(&self, name: &str) -> Result<T, String> {
        // SAFETY: as above.
        let symbol = unsafe { self.loaded.get::<T>(name) };
        symbol.map(|symbol| *symbol).map_err(|_| format!("{} has no {name}: install another version", self.name))
    }
}

/// Declares functions of a C library and how they are found: `functions! { Name { fn f(c_int) -> bool; } }` makes a struct of
/// pointers to functions, whose names in the library are a prefix and these.
macro_rules! functions {
    ($name:ident { $(fn $function:ident($($type:ty),*) $(-> $result:ty)?;)+ }) => {
        #[allow(non_snake_case)] // The names are the library's.
        #[derive(Clone, Copy)]
        pub struct $name { $(pub $function: unsafe extern "C" fn($($type),*) $(-> $result)?,)+ }

        impl $name {
            /// # Errors
            /// The library lacks one.
            ///
            /// # Safety
            /// The library's functions have these types.
            pub unsafe fn find(library: &$crate::library::Library, prefix: &str) -> Result<Self, String> {
                // SAFETY: as above.
                Ok(Self { $($function: unsafe { library.find(&format!("{prefix}{}", stringify!($function)))? },)+ })
            }
        }
    };
}
pub(crate) use functions;

/// The bytes that a library has at an address, which is 0 if it has none.
///
/// # Safety
/// They are there, and nobody writes them, for as long as `'a`.
#[inline]
pub unsafe fn bytes_at<'a>(address: *const u8, size_bytes: usize) -> &'a [u8] {
    if address.is_null() {
        return &[];
    }
    // SAFETY: as above.
    unsafe { std::slice::from_raw_parts(address, size_bytes) }
}

/// A copy of a library's text.
///
/// # Safety
/// It ends with 0, or its address is 0.
pub unsafe fn text_at(address: *const c_char) -> String {
    if address.is_null() {
        return String::new();
    }
    // SAFETY: as above.
    unsafe { CStr::from_ptr(address) }.to_string_lossy().into_owned()
}

/// A failure in a library's words, told apart if the disk is full.
#[cold]
pub fn failure(message: String) -> Failure {
    let is_full = message.contains("No space left on device")
        || std::io::Error::last_os_error().kind() == std::io::ErrorKind::StorageFull;
    if is_full { Failure::Full(message) } else { Failure::Server(message) }
}

/// A path as C has it; one with a 0 in it cannot be, and becomes empty, which no library opens.
pub fn c_path(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::c_int;

    functions!(Numbers {
        fn abs(c_int) -> c_int;
    });

    #[test]
    fn functions_are_found_by_prefix_and_name_and_what_is_missing_is_named() {
        // SAFETY: the C library is loaded already, and its abs and labs take and return an int and a long.
        let (c, numbers) = unsafe {
            let c = Library::load("libc.so.6").unwrap();
            let numbers = Numbers::find(&c, "").unwrap();
            (c, numbers)
        };
        // SAFETY: abs may be called with this.
        assert_eq!(unsafe { (numbers.abs)(-3) }, 3);
        // SAFETY: what is not there is not called.
        let (no_function, no_library) =
            unsafe { (Numbers::find(&c, "no_such_").err(), Library::load("no-such.so").err()) };
        assert_eq!(no_function.unwrap(), "libc.so.6 has no no_such_abs: install another version");
        let said = no_library.unwrap();
        assert!(said.starts_with("no-such.so cannot be loaded: ") && said.contains("No such file"), "{said}");
    }

    #[test]
    fn a_full_disk_is_told_from_other_errors() {
        assert!(matches!(failure("IO error: No space left on device: /x".into()), Failure::Full(_)));
    }
}
