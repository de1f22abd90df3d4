//! The keys of one request, and which of them are answered: stores answer in their own order, or leave out absent keys.

use dbdyno_model::{Failure, Field, Row, Value};

pub struct MultiGet<'k> {
    keys: &'k [u64],
    is_answered: Vec<bool>,
    /// The position at which the next row is looked for first: most stores answer in the order of the keys.
    next: usize,
}

/// Hands over the rows of an answer in which their fields follow each other, `columns` of them a row, and then the keys without one.
///
/// # Errors
/// As of [`MultiGet::hand_over`].
pub fn hand_over_all(
    keys: &[u64],
    bytes: &[u8],
    (fields, columns): (&[Field], usize),
    each: &mut dyn FnMut(usize, Option<Row<'_>>),
) -> Result<(), Failure> {
    let mut multi_get = MultiGet::new(keys);
    fields.chunks_exact(columns).try_for_each(|fields| multi_get.hand_over(Row::new(bytes, fields), each))?;
    multi_get.finish(each);
    Ok(())
}

impl<'k> MultiGet<'k> {
    /// `keys` rise.
    pub fn new(keys: &'k [u64]) -> Self {
        Self { keys, is_answered: vec![false; keys.len()], next: 0 }
    }

    /// Hands a row over under the key that it says it has.
    ///
    /// # Errors
    /// That key was not asked for, or has been answered.
    pub fn hand_over(&mut self, row: Row<'_>, each: &mut dyn FnMut(usize, Option<Row<'_>>)) -> Result<(), Failure> {
        let wrong = |what: &str| Failure::Mismatch(format!("row {}: {what}", row.value(0)));
        let Value::Int(key) = row.value(0) else { return Err(wrong("its key is not a number")) };
        let key = key as u64;
        let position = match self.keys.get(self.next) {
            Some(&next) if next == key => Ok(self.next),
            _ => self.keys.binary_search(&key),
        };
        let position = position.map_err(|_| wrong("it was not requested"))?;
        if std::mem::replace(&mut self.is_answered[position], true) {
            return Err(wrong("came twice"));
        }
        self.next = position + 1;
        each(position, Some(row));
        Ok(())
    }

    /// Hands over the keys without a row.
    pub fn finish(self, each: &mut dyn FnMut(usize, Option<Row<'_>>)) {
        let absent = self.is_answered.iter().enumerate().filter(|(_, is_answered)| !**is_answered);
        absent.for_each(|(position, _)| each(position, None));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(fields: &[Field]) -> Row<'_> {
        Row::new(&[], fields)
    }

    #[test]
    fn rows_in_any_order_find_their_keys_and_what_is_missing_is_handed_over() {
        let (mut multi_get, mut handed) = (MultiGet::new(&[3, 5, 9]), vec![]);
        let mut each = |position: usize, row: Option<Row<'_>>| handed.push((position, row.is_some()));
        for key in [9, 3] {
            multi_get.hand_over(row(&[Field::Int(key)]), &mut each).unwrap();
        }
        multi_get.finish(&mut each);
        assert_eq!(handed, [(2, true), (0, true), (1, false)]);
    }

    #[test]
    fn fields_that_follow_each_other_are_rows() {
        let (mut keys, fields) = (vec![], [3, 30, 9, 90].map(Field::Int));
        let mut each = |position, row: Option<Row<'_>>| keys.push((position, row.map(|row| row.value(1).to_string())));
        hand_over_all(&[3, 5, 9], &[], (&fields, 2), &mut each).unwrap();
        assert_eq!(keys, [(0, Some("30".into())), (2, Some("90".into())), (1, None)]);
        assert!(hand_over_all(&[3], &[], (&fields, 2), &mut |_, _| {}).is_err());
    }

    #[test]
    fn a_row_nobody_asked_for_or_that_comes_twice_is_a_mismatch() {
        let mut multi_get = MultiGet::new(&[3, 5]);
        let mut refused = |key: Field| multi_get.hand_over(row(&[key]), &mut |_, _| {}).map_err(|e| e.to_string());
        assert_eq!(refused(Field::Int(3)), Ok(()));
        assert!(refused(Field::Int(3)).unwrap_err().contains("came twice"));
        assert!(refused(Field::Int(4)).unwrap_err().contains("not requested"));
        assert!(refused(Field::Null).unwrap_err().contains("not a number"));
    }
}
