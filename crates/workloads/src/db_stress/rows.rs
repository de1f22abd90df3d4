//! The rows of db-stress, each a function of its number and, in the history, of the minute it was last written.

use dbdyno_model::{Column, Kind, Population, RowBuffer, Source, Table, Value, mix};
use std::sync::Arc;

pub const ZONES: u64 = 10;
pub const SECTIONS: u64 = 100;
pub const STATS: u64 = 1000;
pub const ROWS_PER_OBJECT: u64 = 20;
/// A hundred years of twelve months of 28 days, so that a date is made and understood by division.
pub const MINUTES: u64 = 100 * 12 * 28 * 24 * 60;

pub const REF: Kind = Kind::Char(10);
pub const PLACE_REF: Kind = Kind::Char(2);
pub const STAT_REF: Kind = Kind::Char(3);
pub const DATE: Kind = Kind::Char(12);
pub const OBJECT_NAME: Kind = Kind::Char(30);
pub const NAME: Kind = Kind::Char(40);
pub const NOTE: Kind = Kind::Char(100);

pub type Date = [u8; 12];
pub type Note = [u8; 100];

/// The owner of letters: those of two tables, or of name and note, are not alike.
#[derive(Clone, Copy, Debug)]
pub enum Of {
    Zone = 1,
    Section,
    Stat,
    Object,
    History,
    Note,
}

/// A number in decimal, with zeros before it; of one too long the last digits.
pub fn digits<const WIDTH: usize>(mut number: u64) -> [u8; WIDTH] {
    let mut text = [b'0'; WIDTH];
    for digit in text.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
    text
}

/// Letters `a` … `p` from some numbers.
pub fn letters<const WIDTH: usize>(of: Of, number: u64, version: u64) -> [u8; WIDTH] {
    let mut state = mix(mix(number ^ ((of as u64) << 56)) ^ version);
    let mut text = [0; WIDTH];
    for eight in text.chunks_mut(8) {
        state = mix(state.wrapping_add(0x9e37_79b9_7f4a_7c15));
        let chosen = (state & 0x0f0f_0f0f_0f0f_0f0f) + 0x6161_6161_6161_6161;
        eight.copy_from_slice(&chosen.to_le_bytes()[..eight.len()]);
    }
    text
}

/// A minute as `YYYYMMDDHHMM`, of the years 2000 to 2099.
pub fn date(minute: u64) -> Date {
    let (minute, days) = (minute % MINUTES, minute % MINUTES / (24 * 60));
    let (year, month, day) = (2000 + days / (12 * 28), 1 + days / 28 % 12, 1 + days % 28);
    digits((((year * 100 + month) * 100 + day) * 100 + minute / 60 % 24) * 100 + minute % 60)
}

/// The minute that [`date`] writes so; `None` of anything else.
pub fn minute_of(text: &[u8]) -> Option<u64> {
    let number: u64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    let part = |divisor: u64| number / divisor % 100;
    let (year, month, day) = (number / 100_000_000, part(1_000_000), part(10_000));
    let days = (year.checked_sub(2000)? * 12 + month.checked_sub(1)?) * 28 + day.checked_sub(1)?;
    let minute = (days * 24 + part(100)) * 60 + part(1);
    (date(minute) == text).then_some(minute)
}

pub fn section_of(object: u64) -> u64 {
    object % SECTIONS
}

pub fn zone_of(section: u64) -> u64 {
    section % ZONES
}

/// A row of the history as of the minute it was written.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    pub object: u64,
    pub horder: u64,
    pub minute: u64,
}

impl Entry {
    pub fn stat(&self) -> u64 {
        (self.object + 10 * self.horder + self.minute) % STATS
    }

    pub fn end_date(&self) -> Date {
        date(self.minute + 1 + (self.object + self.horder) % 10_000)
    }

    pub fn note(&self) -> Note {
        letters(Of::Note, self.object * ROWS_PER_OBJECT + self.horder, self.minute)
    }

    /// The row as a store has it.
    pub fn texts(&self) -> EntryTexts {
        EntryTexts {
            object: digits(self.object),
            horder: self.horder as i64,
            stat: digits(self.stat()),
            begin: date(self.minute),
            end: self.end_date(),
            note: self.note(),
        }
    }
}

/// A row of the history as a store has it.
#[derive(Debug)]
pub struct EntryTexts {
    object: [u8; 10],
    horder: i64,
    stat: [u8; 3],
    begin: Date,
    end: Date,
    note: Note,
}

impl EntryTexts {
    /// The values of its columns, in order.
    pub fn values(&self) -> [Value<'_>; 6] {
        [
            Value::Text(&self.object),
            Value::Int(self.horder),
            Value::Text(&self.stat),
            Value::Text(&self.begin),
            Value::Text(&self.end),
            Value::Text(&self.note),
        ]
    }
}

/// The rows of a table as they are loaded: the history in the version of minute 0.
#[derive(Debug)]
struct Loaded(Of);

impl Population for Loaded {
    fn make(&self, number: u64, out: &mut RowBuffer) {
        let index = number - 1;
        let mut push = |values: &[Value<'_>]| values.iter().for_each(|&value| out.push(value));
        let Loaded(of) = *self;
        let (name, note): ([u8; 40], Note) = (letters(of, index, 0), letters(Of::Note, index, of as u64));
        let (name, note) = (Value::Text(&name), Value::Text(&note));
        match of {
            Of::Zone => push(&[Value::Text(&digits::<2>(index)), name, note]),
            Of::Section => {
                push(&[Value::Text(&digits::<2>(index)), Value::Text(&digits::<2>(zone_of(index))), name, note]);
            }
            Of::Stat => push(&[Value::Text(&digits::<3>(index)), name, note]),
            Of::History | Of::Note => {
                let (object, horder) = (1 + index / ROWS_PER_OBJECT, 1 + index % ROWS_PER_OBJECT);
                push(&Entry { object, horder, minute: 0 }.texts().values());
            }
            Of::Object => push(&[
                Value::Text(&digits::<10>(number)),
                Value::Text(&digits::<2>(section_of(number))),
                Value::Text(&object_name(number)),
                Value::Text(&date(number)),
                Value::Text(&object_note(number)),
            ]),
        }
    }
}

pub fn object_name(object: u64) -> [u8; 30] {
    letters(Of::Object, object, 0)
}

pub fn object_note(object: u64) -> Note {
    letters(Of::Note, object, Of::Object as u64)
}

/// The name of a zone, a section or a stat.
pub fn name(of: Of, index: u64) -> [u8; 40] {
    letters(of, index, 0)
}

/// ZONE, SECTION, STAT, OBJECT and HISTORY.
pub fn tables(objects: u64) -> [Table; 5] {
    [
        table("zone", Of::Zone, ZONES, &[("ref", PLACE_REF), ("name", NAME), ("note", NOTE)]),
        table(
            "section",
            Of::Section,
            SECTIONS,
            &[("ref", PLACE_REF), ("ref_zone", PLACE_REF), ("name", NAME), ("note", NOTE)],
        ),
        table("stat", Of::Stat, STATS, &[("ref", STAT_REF), ("name", NAME), ("note", NOTE)]),
        table(
            "object",
            Of::Object,
            objects,
            &[("ref", REF), ("ref_section", PLACE_REF), ("name", OBJECT_NAME), ("create_date", DATE), ("note", NOTE)],
        ),
        Table {
            primary_key: 2,
            ..table(
                "history",
                Of::History,
                objects * ROWS_PER_OBJECT,
                &[
                    ("ref_object", REF),
                    ("horder", Kind::Int),
                    ("ref_stat", STAT_REF),
                    ("begin_date", DATE),
                    ("end_date", DATE),
                    ("note", NOTE),
                ],
            )
        },
    ]
}

fn table(name: &str, of: Of, rows: u64, columns: &[(&str, Kind)]) -> Table {
    let columns = columns.iter().map(|&(name, kind)| Column::new(name, kind, Source::Population)).collect();
    Table { rows: Some(rows), population: Some(Arc::new(Loaded(of))), ..Table::new(name, columns) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(table: usize, number: u64) -> Vec<String> {
        let (tables, mut out) = (tables(1_000_000), RowBuffer::default());
        assert!(tables[table].make(number, &mut out));
        assert_eq!(out.fields.len(), tables[table].columns.len());
        (0..out.fields.len()).map(|i| out.row().value(i).to_string()).collect()
    }

    #[test]
    fn every_text_fills_its_column() {
        for table in tables(7) {
            let mut out = RowBuffer::default();
            table.make(7, &mut out);
            for (i, column) in table.columns.iter().enumerate() {
                match (column.kind, out.row().value(i)) {
                    (Kind::Char(width), Value::Text(text)) => assert_eq!(text.len(), usize::from(width)),
                    (kind, value) => assert_eq!((kind, value), (Kind::Int, Value::Int(7))),
                }
            }
        }
    }

    #[test]
    fn rows_lead_to_each_other() {
        assert_eq!(row(3, 1234)[..2], ["0000001234", "34"]);
        assert_eq!(row(1, 35)[..2], ["34", "04"]);
        assert_eq!(row(0, 5)[0], "04");
        assert_eq!(row(2, 1000)[0], "999");
        // The third row of object 1234: 1234 + 30 of 1000.
        assert_eq!(row(4, 1233 * 20 + 3)[..4], ["0000001234", "3", "264", "200001010000"]);
        assert_eq!(row(4, 20_000_000)[..2], ["0001000000", "20"]);
    }

    #[test]
    fn a_date_is_understood_and_nothing_else_is() {
        assert_eq!(date(0), *b"200001010000");
        assert_eq!(date(MINUTES - 1), *b"209912282359");
        for minute in [0, 59, 60, 1439, 1440, 28 * 1440, 48_383_999] {
            assert_eq!(minute_of(&date(minute)), Some(minute));
        }
        for wrong in ["", "200001290000", "200013010000", "199901010000", "20000101000x", "20000101000", "210001010000"]
        {
            assert_eq!(minute_of(wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    fn another_minute_makes_another_row() {
        let at = |minute| Entry { object: 5, horder: 6, minute };
        assert_eq!(at(0).stat(), 65);
        assert_eq!(at(7).stat(), 72);
        assert_ne!(at(0).note(), at(7).note());
        assert_ne!(at(0).end_date(), at(7).end_date());
    }
}
