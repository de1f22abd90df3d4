//! Answers to commands: documents of a cursor's first batch, a number, or an error.

use super::bson::{Element, Elements, read};
use super::message::message;
use crate::{Cell, Decoded, Malformed};

/// An error as the server worded it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerMessage {
    pub code: i64,
    pub text: String,
}

/// The answer to a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// So many documents.
    Rows(u64),
    /// How many documents a write found, or were counted; 0 for commands that count nothing.
    Number(i64),
    Error(ServerMessage),
}

/// A column as [`answer`] looks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// With the zero byte that ends it.
    bytes: Vec<u8>,
    is_double: bool,
}

impl Name {
    /// The same column, whose numbers are read in double precision; without that only whole numbers are.
    #[must_use]
    pub fn in_double_precision(self) -> Self {
        Self { is_double: true, ..self }
    }

    /// A whole number as this column has it.
    #[inline]
    fn read(&self, cell: Cell) -> Cell {
        match cell {
            Cell::Int(n) if self.is_double => Cell::Int((n as f64).to_bits() as i64),
            cell => cell,
        }
    }

    #[inline]
    fn is(&self, name: &[u8]) -> bool {
        self.bytes.split_last().is_some_and(|(_, of_column)| of_column == name)
    }
}

/// The column of this name.
pub fn name(column: &str) -> Name {
    Name { bytes: [column.as_bytes(), b"\0"].concat(), is_double: false }
}

/// Decodes the answer that begins at `at`: to which number it is one, what it says, and where it ends. `values` is replaced by what `make`
/// makes of the columns `names` of every document, in that order, `Cell::Null` if a document lacks one.
///
/// # Errors
/// The bytes are no such answer.
#[inline]
pub fn answer<T: Clone>(
    bytes: &[u8],
    at: usize,
    names: &[Name],
    values: &mut Vec<T>,
    make: impl Fn(Cell) -> T,
) -> Decoded<((u32, Answer), usize)> {
    let Some(message) = message(bytes, at)? else { return Ok(None) };
    if bytes.get(message.start) != Some(&0) || message.flags & super::MORE_TO_COME != 0 {
        return Err(Malformed::expected("an answer in one document", &bytes[at..]));
    }
    let mut all = read(bytes, message.start + 1, message.end)?;
    values.clear();
    let mut said = Said::default();
    while let Some(element) = all.next(bytes)? {
        match element.name {
            b"cursor" => said.rows = Some(cursor(bytes, &element, names, values, &make)?),
            _ => said.take(bytes, &element)?,
        }
    }
    Ok(Some(((message.answers, said.answer(bytes, at)?), message.next)))
}

/// The elements of an answer so far.
#[derive(Default)]
struct Said {
    ok: Option<i64>,
    number: i64,
    rows: Option<u64>,
    error: Option<ServerMessage>,
}

impl Said {
    #[inline]
    fn take(&mut self, bytes: &[u8], element: &Element<'_>) -> Result<(), Malformed> {
        match element.name {
            b"ok" => self.ok = element.number(bytes),
            b"n" => self.number = element.number(bytes).unwrap_or_default(),
            b"errmsg" | b"code" => refusal(bytes, element, self.error.get_or_insert_default()),
            b"writeConcernError" => self.error = inner_error(bytes, element)?.or(self.error.take()),
            b"writeErrors" => {
                if let Some(first) = element.inside(bytes).map(|mut all| all.next(bytes)).transpose()?.flatten() {
                    self.error = inner_error(bytes, &first)?.or(self.error.take());
                }
            }
            _ => {}
        }
        Ok(())
    }

    #[inline]
    fn answer(self, bytes: &[u8], at: usize) -> Result<Answer, Malformed> {
        match (self.ok, self.error, self.rows) {
            (None, ..) => Err(Malformed::expected("an answer that says whether it is ok", &bytes[at..])),
            (_, Some(error), _) => Ok(Answer::Error(error)),
            (Some(1), None, Some(rows)) => Ok(Answer::Rows(rows)),
            (Some(1), None, None) => Ok(Answer::Number(self.number)),
            (Some(_), None, _) => Ok(Answer::Error(ServerMessage { code: 0, text: "no word why".into() })),
        }
    }
}

#[cold]
pub(super) fn refusal(bytes: &[u8], element: &Element<'_>, error: &mut ServerMessage) {
    match (element.name, element.bytes(bytes)) {
        (b"errmsg", Some(text)) => error.text = String::from_utf8_lossy(text).into_owned(),
        (b"code", _) => error.code = element.number(bytes).unwrap_or_default(),
        _ => {}
    }
}

#[cold]
fn inner_error(bytes: &[u8], element: &Element<'_>) -> Result<Option<ServerMessage>, Malformed> {
    let Some(mut all) = element.inside(bytes) else { return Ok(None) };
    let mut error = ServerMessage::default();
    while let Some(element) = all.next(bytes)? {
        refusal(bytes, &element, &mut error);
    }
    Ok(Some(error))
}

/// Reads the documents of a cursor's first batch and says how many they are.
#[inline]
fn cursor<T: Clone>(
    bytes: &[u8],
    cursor: &Element<'_>,
    names: &[Name],
    values: &mut Vec<T>,
    make: &impl Fn(Cell) -> T,
) -> Result<u64, Malformed> {
    let wrong = || Malformed::expected("a cursor's first batch", &bytes[cursor.value..]);
    let mut all = cursor.inside(bytes).ok_or_else(wrong)?;
    while let Some(element) = all.next(bytes)? {
        if element.name == b"firstBatch" {
            let mut documents = element.inside(bytes).ok_or_else(wrong)?;
            let mut rows = 0;
            while let Some(document) = documents.next(bytes)? {
                row(bytes, document.inside(bytes).ok_or_else(wrong)?, names, values, make)?;
                rows += 1;
            }
            return Ok(rows);
        }
    }
    Err(wrong())
}

/// Appends one document's values. Servers keep the order in which fields were written, so the next is nearly always the one looked for.
#[inline]
fn row<T: Clone>(
    bytes: &[u8],
    mut document: Elements,
    names: &[Name],
    values: &mut Vec<T>,
    make: &impl Fn(Cell) -> T,
) -> Result<(), Malformed> {
    let first = values.len();
    for name in names {
        let Some(cell) = document.next_named(bytes, &name.bytes) else { break };
        values.push(make(name.read(cell)));
    }
    values.resize(first + names.len(), make(Cell::Null));
    while let Some(element) = document.next(bytes)? {
        if let Some(column) = names.iter().position(|name| name.is(element.name)) {
            let is_double = names[column].is_double;
            values[first + column] = make(if is_double { element.double(bytes) } else { element.cell(bytes) });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::bson::{array, document, double, int, text};
    use super::super::message::answering;
    use super::*;

    fn decoded(write: impl FnOnce(&mut Vec<u8>)) -> (Result<Answer, Malformed>, Vec<Cell>) {
        let (mut bytes, mut cells) = (vec![9], vec![]);
        answering(&mut bytes, 3, write);
        let names = [name("_id"), name("c")];
        for cut in 1..bytes.len() {
            assert_eq!(answer(&bytes[..cut], 1, &names, &mut cells, |cell| cell), Ok(None));
        }
        let said = answer(&bytes, 1, &names, &mut cells, |cell| cell).map(|decoded| {
            let ((number, answer), end) = decoded.unwrap();
            assert_eq!((number, end), (3, bytes.len()));
            answer
        });
        (said, cells)
    }

    type Write<'w> = &'w dyn Fn(&mut Vec<u8>);

    fn batch(out: &mut Vec<u8>, documents: &[Write<'_>]) {
        document(out, "cursor", |out| {
            array(out, "firstBatch", |out| documents.iter().for_each(|write| document(out, "0", write)));
            int(out, "id", 0);
        });
        int(out, "ok", 1);
    }

    #[test]
    fn rows_are_found_in_whatever_order_their_fields_are() {
        let (said, cells) = decoded(|out| {
            batch(
                out,
                &[
                    &|out| {
                        int(out, "_id", 1);
                        text(out, "c", b"x");
                    },
                    &|out| {
                        text(out, "more", b"y");
                        int(out, "c", 8);
                        int(out, "_id", 1 << 33);
                    },
                    &|out| int(out, "_id", 2),
                ],
            );
        });
        assert_eq!(said, Ok(Answer::Rows(3)));
        assert!(matches!(cells[1], Cell::Text { start, end } if end == start + 1));
        assert_eq!(
            (cells[0], &cells[2..]),
            (Cell::Int(1), &[Cell::Int(1 << 33), Cell::Int(8), Cell::Int(2), Cell::Null][..])
        );
    }

    #[test]
    fn numbers_in_double_precision_are_their_bits() {
        let (mut bytes, mut cells) = (vec![], vec![]);
        let of = |number: f64| number.to_bits();
        answering(&mut bytes, 3, |out| {
            batch(out, &[&|out| double(out, "x", of(2.0)), &|out| double(out, "x", of(0.1)), &|out| int(out, "x", 7)]);
        });
        let names = [name("x").in_double_precision()];
        answer(&bytes, 0, &names, &mut cells, |cell| cell).unwrap().unwrap();
        assert_eq!(cells, [2.0, 0.1, 7.0].map(|number| Cell::Int(of(number) as i64)));
        answer(&bytes, 0, &[name("x")], &mut cells, |cell| cell).unwrap().unwrap();
        assert_eq!(cells, [Cell::Int(2), Cell::Null, Cell::Int(7)]);
    }

    #[test]
    fn numbers_and_refusals() {
        let number = decoded(|out| {
            int(out, "n", 4);
            int(out, "ok", 1);
        });
        assert_eq!(number.0, Ok(Answer::Number(4)));
        let error = |code, text: &str| Ok(Answer::Error(ServerMessage { code, text: text.into() }));
        let refused = decoded(|out| {
            int(out, "ok", 0);
            text(out, "errmsg", b"no");
            int(out, "code", 13);
        });
        assert_eq!(refused.0, error(13, "no"));
        let not_written = decoded(|out| {
            int(out, "n", 0);
            array(out, "writeErrors", |out| {
                document(out, "0", |out| {
                    int(out, "index", 0);
                    int(out, "code", 11_000);
                    text(out, "errmsg", b"E11000 duplicate key");
                });
            });
            int(out, "ok", 1);
        });
        assert_eq!(not_written.0, error(11_000, "E11000 duplicate key"));
        let not_kept = decoded(|out| {
            int(out, "ok", 1);
            document(out, "writeConcernError", |out| int(out, "code", 64));
        });
        assert_eq!(not_kept.0, error(64, ""));
        assert!(decoded(|out| int(out, "n", 0)).0.is_err());
        assert_eq!(decoded(|out| int(out, "ok", 0)).0, error(0, "no word why"));
    }
}
