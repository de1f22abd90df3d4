//! Counted writes: increments, insertions and deletions, which the checks after a run hold against the store.

use dbdyno_model::{Failure, Operation};

/// How many rows, and how much of a column's sum, a transaction or a run has written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Writes {
    /// The positive increments, and the amount of the negative ones.
    pub added: i64,
    pub subtracted: i64,
    /// Rows that are new, and rows that were there and are removed.
    pub inserted: u64,
    pub deleted: u64,
}

/// The writes whose transaction is acknowledged, and those whose fate is unknown as no answer came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    pub surely: Writes,
    pub maybe: Writes,
}

impl Writes {
    pub fn increment(delta: i64) -> Self {
        Self { added: delta.max(0), subtracted: -delta.min(0), ..Self::default() }
    }

    pub fn insertion() -> Self {
        Self { inserted: 1, ..Self::default() }
    }

    pub fn deletion() -> Self {
        Self { deleted: 1, ..Self::default() }
    }

    pub fn merge(&mut self, other: &Self) {
        self.added += other.added;
        self.subtracted += other.subtracted;
        self.inserted += other.inserted;
        self.deleted += other.deleted;
    }
}

impl Written {
    pub fn merge(&mut self, other: &Self) {
        self.surely.merge(&other.surely);
        self.maybe.merge(&other.maybe);
    }

    /// How much the sum has grown at least, and how much more it may have.
    pub fn growth_of_sum(&self) -> (i128, i128) {
        let Self { surely, maybe } = self;
        let least = i128::from(surely.added) - i128::from(surely.subtracted) - i128::from(maybe.subtracted);
        (least, i128::from(maybe.added) + i128::from(maybe.subtracted))
    }

    /// How many rows there are more at least, and how many more there may be.
    pub fn growth_of_rows(&self) -> (i128, i128) {
        let Self { surely, maybe } = self;
        let least = i128::from(surely.inserted) - i128::from(surely.deleted) - i128::from(maybe.deleted);
        (least, i128::from(maybe.inserted) + i128::from(maybe.deleted))
    }
}

/// The writes of a client's open transaction, which take effect with its commit or not at all.
#[derive(Debug, Default)]
pub struct Open(Option<Writes>);

impl Open {
    /// Counts the writes of one operation, whose result says whether it did anything.
    #[inline]
    pub fn wrote(&mut self, result: &Result<bool, Failure>, writes: &Writes, all: &mut Written) {
        match (result, &mut self.0) {
            (Ok(true), Some(open)) => open.merge(writes),
            (Ok(true), None) => all.surely.merge(writes),
            (Err(failure), None) if failure.ends_session() => all.maybe.merge(writes),
            _ => {}
        }
    }

    /// The transaction was begun, committed or rolled back.
    pub fn control(&mut self, operation: Operation, result: &Result<(), Failure>, all: &mut Written) {
        let open = self.0.take();
        match (operation, result, open) {
            (Operation::Begin { .. }, Ok(()), _) => self.0 = Some(Writes::default()),
            (Operation::Commit, Ok(()), Some(writes)) => all.surely.merge(&writes),
            (Operation::Commit, Err(failure), Some(writes)) if failure.ends_session() => all.maybe.merge(&writes),
            _ => {}
        }
    }

    /// The transaction has failed, and nothing of it takes effect.
    pub fn abandon(&mut self) {
        self.0 = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEGIN: Operation = Operation::Begin { read_only: false };

    fn lost() -> Failure {
        Failure::Connection("lost".into())
    }

    #[test]
    fn writes_outside_a_transaction_count_at_once() {
        let (mut open, mut all) = (Open::default(), Written::default());
        open.wrote(&Ok(true), &Writes::increment(5), &mut all);
        open.wrote(&Ok(true), &Writes::increment(-2), &mut all);
        open.wrote(&Ok(false), &Writes::deletion(), &mut all);
        open.wrote(&Err(lost()), &Writes::increment(-7), &mut all);
        open.wrote(&Err(lost()), &Writes::insertion(), &mut all);
        open.wrote(&Err(Failure::Server("no".into())), &Writes::insertion(), &mut all);
        assert_eq!(all.growth_of_sum(), (3 - 7, 7));
        assert_eq!(all.growth_of_rows(), (0, 1));
    }

    #[test]
    fn writes_of_a_transaction_count_with_its_commit() {
        let (mut open, mut all) = (Open::default(), Written::default());
        let mut transaction = |end: Operation, result: Result<(), Failure>| {
            open.control(BEGIN, &Ok(()), &mut all);
            open.wrote(&Ok(true), &Writes::increment(4), &mut all);
            open.wrote(&Ok(true), &Writes::deletion(), &mut all);
            open.control(end, &result, &mut all);
            all
        };
        let committed = transaction(Operation::Commit, Ok(()));
        assert_eq!((committed.growth_of_sum(), committed.growth_of_rows()), ((4, 0), (-1, 0)));
        assert_eq!(transaction(Operation::Rollback, Ok(())), committed);
        assert_eq!(transaction(Operation::Commit, Err(Failure::Conflict("again".into()))), committed);
        let unknown = transaction(Operation::Commit, Err(lost()));
        assert_eq!((unknown.growth_of_sum(), unknown.growth_of_rows()), ((4, 4), (-2, 1)));
    }

    #[test]
    fn a_transaction_that_fails_or_loses_its_session_has_written_nothing() {
        let (mut open, mut all) = (Open::default(), Written::default());
        open.control(BEGIN, &Ok(()), &mut all);
        open.wrote(&Ok(true), &Writes::insertion(), &mut all);
        open.wrote(&Err(lost()), &Writes::insertion(), &mut all);
        open.abandon();
        assert_eq!(all, Written::default());
        open.wrote(&Ok(true), &Writes::insertion(), &mut all);
        assert_eq!(all.growth_of_rows(), (1, 0));
    }
}
