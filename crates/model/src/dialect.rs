//! The dialect of SQL that a text is in, and texts that differ by dialect.

/// The dialect of SQL that a text is in, if stores differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    Mysql,    // dialect
    Postgres, // dialect
    Sqlite,   // dialect
}

impl Dialect {
    pub const ALL: [Dialect; 3] = [Dialect::Mysql, Dialect::Postgres, Dialect::Sqlite];

    /// As a declaration writes it.
    pub fn name(self) -> String {
        format!("{self:?}").to_ascii_lowercase()
    }
}

/// The text after the table's closing parenthesis, or instead of a statement's text, in one dialect.
pub type Variant = (Dialect, String);

/// The text for a dialect among several.
pub fn variant(variants: &[Variant], dialect: Dialect) -> Option<&str> {
    variants.iter().find(|(of, _)| *of == dialect).map(|(_, text)| text.as_str())
}
