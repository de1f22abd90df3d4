//! Rows: read in place in a store's receive buffer, or generated into a buffer of one's own.

/// One value of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    Null,
    Int(i64),
    Text(&'a [u8]),
}

impl std::fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Null => write!(f, "NULL"),
            Value::Int(i) => write!(f, "{i}"),
            Value::Text(t) => write!(f, "{}", String::from_utf8_lossy(t)),
        }
    }
}

/// The location of a value in a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    Null,
    Int(i64),
    Text { start: u32, end: u32 },
}

impl Field {
    /// The text between two offsets. Offsets behind 4 GiB are cut, so that such a text is taken for another and never for its own.
    #[inline]
    pub fn text(start: usize, end: usize) -> Self {
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Field::Text { start: offset(start), end: offset(end) }
    }
}

/// A row in place: its fields, and the bytes they point into.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    bytes: &'a [u8],
    fields: &'a [Field],
}

impl<'a> Row<'a> {
    #[inline]
    pub fn new(bytes: &'a [u8], fields: &'a [Field]) -> Self {
        Self { bytes, fields }
    }

    pub fn len(&self) -> usize {
        self.fields.len()
    }

    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// The value of column `i`; `Null` if the row has no such column or its bytes are not there.
    #[inline]
    pub fn value(&self, i: usize) -> Value<'a> {
        match self.fields.get(i) {
            Some(&Field::Int(n)) => Value::Int(n),
            Some(&Field::Text { start, end }) => {
                self.bytes.get(start as usize..end as usize).map_or(Value::Null, Value::Text)
            }
            Some(Field::Null) | None => Value::Null,
        }
    }
}

/// A row of one's own, written again and again without allocating.
#[derive(Clone, Debug, Default)]
pub struct RowBuffer {
    pub bytes: Vec<u8>,
    pub fields: Vec<Field>,
}

impl RowBuffer {
    #[inline]
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.fields.clear();
    }

    #[inline]
    pub fn push(&mut self, value: Value<'_>) {
        let field = match value {
            Value::Null => Field::Null,
            Value::Int(i) => Field::Int(i),
            Value::Text(text) => {
                let start = self.bytes.len();
                self.bytes.extend_from_slice(text);
                Field::text(start, self.bytes.len())
            }
        };
        self.fields.push(field);
    }

    #[inline]
    pub fn row(&self) -> Row<'_> {
        Row::new(&self.bytes, &self.fields)
    }
}
