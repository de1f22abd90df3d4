//! db-stress: objects with a history of 20 rows each. A transaction reads an object with its place and its history. One in `rw` then changes
//! one row of the history, deletes another and inserts that anew.
//!
//! The tables stay as large as they are, so what a store may fall behind with is its old row versions.

mod rows;

use dbdyno_model::{Choices, Dialect, Difference, Failed, Kind, Operation, Operations};
use dbdyno_model::{Row, Statement, Step, Table, Value, Variant};

use crate::options::Options;
use crate::{Access, Check, Workload};
use rows::{DATE, Entry, MINUTES, NAME, NOTE, OBJECT_NAME, Of, PLACE_REF, REF, ROWS_PER_OBJECT, STAT_REF, digits};

const MAX_PARTITIONS: u64 = 1024;

const OBJECT: usize = 3;
const HISTORY: usize = 4;

const READ_OBJECT: usize = 0;
const READ_HISTORY: usize = 1;
const READS: usize = 2;
const BEGIN: usize = 3;
const CHANGE: usize = 4;
const DELETE: usize = 5;
const INSERT: usize = 6;
const COMMIT: usize = 7;
const READS_AND_WRITES: usize = 8;

#[derive(Clone, Debug)]
pub struct DbStress {
    objects: u64,
    access: Access,
    /// One transaction in so many also writes; 0: none does.
    rw: u64,
    tables: [Table; 5],
    steps: Vec<Step>,
    statements: [Statement; 5],
    checks: [Check; 3],
}

/// The writes of a transaction: the row it changes, and the one it deletes and inserts anew, both as they then are.
struct Change {
    changed: Entry,
    replaced: Entry,
}

impl DbStress {
    pub fn new(objects: u64, access: Access, rw: u64, partitions: u64) -> Self {
        let mut tables = rows::tables(objects);
        tables[HISTORY].options = partitioned(partitions);
        Self { objects, access, rw, tables, steps: steps(rw), statements: statements(), checks: checks() }
    }

    /// The writes of this transaction, if it has any.
    fn change(&self, object: u64, choices: &mut Choices) -> Option<Change> {
        if self.rw == 0 || choices.below(self.rw) > 0 {
            return None;
        }
        let first = choices.below(ROWS_PER_OBJECT);
        let second = (first + 1 + choices.below(ROWS_PER_OBJECT - 1)) % ROWS_PER_OBJECT;
        let mut entry = |index| Entry { object, horder: 1 + index, minute: choices.below(MINUTES) };
        Some(Change { changed: entry(first), replaced: entry(second) })
    }

    async fn read_object<O: Operations>(&self, operations: &mut O, object: u64) -> Result<(), Failed> {
        let mut different = None;
        let mut each = |row: Row<'_>| different = different.take().or(check_object(object, row).err());
        let rows = operations.sql(READ_OBJECT, &[Value::Text(&digits::<10>(object))], &mut each).await?;
        operations.verify(READ_OBJECT, rows, || exactly("rows of an object", 1, rows, different))
    }

    async fn read_history<O: Operations>(&self, operations: &mut O, object: u64) -> Result<(), Failed> {
        let (mut different, mut horder) = (None, 0);
        let mut each = |row: Row<'_>| {
            horder += 1;
            different = different.take().or(check_entry(object, horder, row).err());
        };
        let rows = operations.sql(READ_HISTORY, &[Value::Text(&digits::<10>(object))], &mut each).await?;
        operations.verify(READ_HISTORY, rows, || exactly("rows of a history", ROWS_PER_OBJECT, rows, different))
    }

    async fn write<O: Operations>(&self, operations: &mut O, change: &Change) -> Result<(), Failed> {
        let (changed, replaced) = (change.changed.texts(), change.replaced.texts());
        let [object, horder, stat, begin, end, note] = changed.values();
        operations.control(BEGIN).await?;
        write_one(operations, CHANGE, &[stat, begin, end, note, object, horder]).await?;
        write_one(operations, DELETE, &replaced.values()[..2]).await?;
        write_one(operations, INSERT, &replaced.values()).await?;
        operations.control(COMMIT).await
    }
}

/// Under read committed, some stores look no further than the row they waited for. They do not find a row that another transaction
/// deleted and inserted anew meanwhile. A row that is really lost fails the checks.
async fn write_one<O: Operations>(operations: &mut O, step: usize, values: &[Value<'_>]) -> Result<(), Failed> {
    let rows = operations.sql(step, values, &mut |_| {}).await?;
    if rows == 0 {
        return Err(operations.conflict(step, "the row is gone: another transaction has replaced it"));
    }
    operations.verify(step, 0, || exactly("rows written", 1, rows, None))
}

/// The first row that differs, or else a wrong number of rows.
fn exactly(what: &str, expected: u64, actual: u64, different: Option<Box<Difference>>) -> Result<(), Box<Difference>> {
    match different {
        Some(difference) => Err(difference),
        None if expected != actual => Err(Difference::new(what, expected, actual)),
        None => Ok(()),
    }
}

fn same(column: &str, expected: &[u8], actual: Value<'_>) -> Result<(), Box<Difference>> {
    match actual {
        Value::Text(text) if text == expected => Ok(()),
        _ => Err(Difference::new(column, Value::Text(expected), actual)),
    }
}

fn check_object(object: u64, row: Row<'_>) -> Result<(), Box<Difference>> {
    let section = rows::section_of(object);
    let zone = rows::zone_of(section);
    same("object.name", &rows::object_name(object), row.value(0))?;
    same("object.create_date", &rows::date(object), row.value(1))?;
    same("object.note", &rows::object_note(object), row.value(2))?;
    same("section.ref", &digits::<2>(section), row.value(3))?;
    same("section.name", &rows::name(Of::Section, section), row.value(4))?;
    same("zone.ref", &digits::<2>(zone), row.value(5))?;
    same("zone.name", &rows::name(Of::Zone, zone), row.value(6))
}

/// A row is right if it is whole: all its columns are of the minute that its `begin_date` names.
fn check_entry(object: u64, horder: u64, row: Row<'_>) -> Result<(), Box<Difference>> {
    if row.value(0) != Value::Int(horder as i64) {
        return Err(Difference::new("history.horder", horder, row.value(0)));
    }
    let minute = match row.value(2) {
        Value::Text(begin) => rows::minute_of(begin),
        _ => None,
    };
    let Some(minute) = minute else { return Err(Difference::new("history.begin_date", "a date", row.value(2))) };
    let entry = Entry { object, horder, minute };
    same("history.ref_stat", &digits::<3>(entry.stat()), row.value(1))?;
    same("history.end_date", &entry.end_date(), row.value(3))?;
    same("history.note", &entry.note(), row.value(4))?;
    same("stat.name", &rows::name(Of::Stat, entry.stat()), row.value(5))
}

fn steps(rw: u64) -> Vec<Step> {
    let sql = |name, statement| Step::new(name, Operation::Sql { statement });
    let mut steps = vec![sql("read_object", 0), sql("read_history", 1), Step::new("reads", Operation::Transaction)];
    if rw > 0 {
        steps.push(Step::new("begin", Operation::Begin { read_only: false }));
        steps.extend([sql("change_history", 2), sql("delete_history", 3), sql("insert_history", 4)]);
        steps.push(Step::new("commit", Operation::Commit));
        steps.push(Step::new("reads_and_writes", Operation::Transaction));
    }
    steps
}

fn statements() -> [Statement; 5] {
    [
        Statement::new(
            "SELECT o.name, o.create_date, o.note, s.ref, s.name, z.ref, z.name FROM {object} o, {section} s, {zone} z \
             WHERE o.ref = ? AND s.ref = o.ref_section AND z.ref = s.ref_zone",
            &[REF],
            &[OBJECT_NAME, DATE, NOTE, PLACE_REF, NAME, PLACE_REF, NAME],
        ),
        Statement::new(
            "SELECT h.horder, h.ref_stat, h.begin_date, h.end_date, h.note, s.name FROM {history} h, {stat} s \
             WHERE h.ref_object = ? AND s.ref = h.ref_stat ORDER BY h.horder",
            &[REF],
            &[Kind::Int, STAT_REF, DATE, DATE, NOTE, NAME],
        ),
        Statement::new(
            "UPDATE {history} SET ref_stat = ?, begin_date = ?, end_date = ?, note = ? WHERE ref_object = ? AND horder = ?",
            &[STAT_REF, DATE, DATE, NOTE, REF, Kind::Int],
            &[],
        ),
        Statement::new("DELETE FROM {history} WHERE ref_object = ? AND horder = ?", &[REF, Kind::Int], &[]),
        Statement::new(
            "INSERT INTO {history} (ref_object, horder, ref_stat, begin_date, end_date, note) VALUES (?, ?, ?, ?, ?, ?)",
            &[REF, Kind::Int, STAT_REF, DATE, DATE, NOTE],
            &[],
        ),
    ]
}

fn checks() -> [Check; 3] {
    let incomplete = "SELECT ref_object FROM {history} GROUP BY ref_object \
                      HAVING COUNT(*) <> 20 OR MIN(horder) <> 1 OR MAX(horder) <> 20 LIMIT 5";
    let query = Statement::new(incomplete, &[], &[REF]);
    let what = "objects without their 20 rows of history".into();
    [Check::RowCount { table: OBJECT }, Check::RowCount { table: HISTORY }, Check::FindsNothing { what, query }]
}

/// The text after the table of the history. HASH may take only numbers; KEY is then the hash of a text.
fn partitioned(partitions: u64) -> Vec<Variant> {
    if partitions == 1 {
        return vec![];
    }
    let part = |n| {
        let values = format!("FOR VALUES WITH (MODULUS {partitions}, REMAINDER {n})");
        format!("; CREATE TABLE {{history}}_{n} PARTITION OF {{history}} {values}")
    };
    let parts: String = (0..partitions).map(part).collect();
    vec![
        (Dialect::Mysql, format!("PARTITION BY KEY (ref_object) PARTITIONS {partitions}")),
        (Dialect::Postgres, format!("PARTITION BY HASH (ref_object){parts}")),
    ]
}

impl Workload for DbStress {
    const NAME: &'static str = "db-stress";
    const TRANSACTION: &'static str = "db-stress";

    fn from_options(options: &mut Options<'_>) -> Result<Self, String> {
        let access = options.access()?;
        let rw = options.number("rw", 0..=u64::from(u32::MAX), 1)?;
        let partitions = options.number("partitions", 1..=MAX_PARTITIONS, 1)?;
        Ok(Self::new(options.rows, access, rw, partitions))
    }

    fn tables(&self) -> &[Table] {
        &self.tables
    }

    fn steps(&self) -> &[Step] {
        &self.steps
    }

    fn checks(&self) -> &[Check] {
        &self.checks
    }

    fn statements(&self) -> &[Statement] {
        &self.statements
    }

    async fn transaction<O: Operations>(&self, operations: &mut O, choices: &mut Choices) -> Result<(), Failed> {
        let object = self.access.key(choices, self.objects);
        let change = self.change(object, choices);
        operations.kind(if change.is_some() { READS_AND_WRITES } else { READS });
        self.read_object(operations, object).await?;
        self.read_history(operations, object).await?;
        match change {
            Some(change) => self.write(operations, &change).await,
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers each statement with these rows and remembers what was asked.
    #[derive(Default)]
    struct Store {
        history: Vec<Entry>,
        calls: Vec<String>,
        wrong: Vec<Difference>,
        /// Writes find no row, and how often that was called a conflict.
        is_replaced: bool,
        conflicts: usize,
    }

    fn answer(values: &[Value<'_>], each: &mut dyn FnMut(Row<'_>)) {
        let mut row = dbdyno_model::RowBuffer::default();
        values.iter().for_each(|&value| row.push(value));
        each(row.row());
    }

    impl Store {
        fn of(object: u64) -> Self {
            let entry = |horder| Entry { object, horder, minute: 77 * horder };
            Self { history: (1..=20).map(entry).collect(), ..Self::default() }
        }

        fn read_history(&self, each: &mut dyn FnMut(Row<'_>)) -> u64 {
            for entry in &self.history {
                let (texts, name) = (entry.texts(), rows::name(Of::Stat, entry.stat()));
                let [_, horder, stat, begin, end, note] = texts.values();
                answer(&[horder, stat, begin, end, note, Value::Text(&name)], each);
            }
            self.history.len() as u64
        }
    }

    impl Operations for Store {
        async fn control(&mut self, step: usize) -> Result<(), Failed> {
            self.calls.push(step.to_string());
            Ok(())
        }
        async fn sql(
            &mut self,
            step: usize,
            params: &[Value<'_>],
            each: &mut dyn FnMut(Row<'_>),
        ) -> Result<u64, Failed> {
            assert!(statements()[[0, 1, 9, 9, 2, 3, 4][step]].takes(params), "{step}");
            let words: Vec<String> = params.iter().map(|value| value.to_string()).collect();
            self.calls.push(format!("{step} {}", words.join(" ")));
            match step {
                READ_OBJECT => {
                    let texts = (rows::object_name(34), rows::date(34), rows::object_note(34));
                    let (section, zone) = (rows::name(Of::Section, 34), rows::name(Of::Zone, 4));
                    let places = (digits::<2>(34), digits::<2>(4));
                    let text: [&[u8]; 7] = [&texts.0, &texts.1, &texts.2, &places.0, &section, &places.1, &zone];
                    answer(&text.map(Value::Text), each);
                    Ok(1)
                }
                READ_HISTORY => Ok(self.read_history(each)),
                _ => Ok(u64::from(!self.is_replaced)),
            }
        }
        fn verify(
            &mut self,
            _: usize,
            _: u64,
            check: impl FnOnce() -> Result<(), Box<Difference>>,
        ) -> Result<(), Failed> {
            check().map_err(|difference| {
                self.wrong.push(*difference);
                Failed
            })
        }
        fn conflict(&mut self, _: usize, _: &str) -> Failed {
            self.conflicts += 1;
            Failed
        }
    }

    fn run(workload: &DbStress, store: &mut Store) -> Result<(), Failed> {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        let mut choices = Choices::new(1, 33, 34, 0);
        let future = std::pin::pin!(workload.transaction(store, &mut choices));
        match future.poll(&mut context) {
            std::task::Poll::Ready(result) => result,
            std::task::Poll::Pending => panic!("nothing here waits"),
        }
    }

    #[test]
    fn one_row_is_changed_and_another_replaced_in_one_transaction() {
        let mut store = Store::of(34);
        assert_eq!(run(&DbStress::new(100, Access::Sequential, 1, 1), &mut store), Ok(()), "{:?}", store.wrong);
        let calls: Vec<Vec<&str>> = store.calls.iter().map(|call| call.split(' ').collect()).collect();
        assert_eq!(calls.iter().map(|call| call[0]).collect::<String>(), "0134567");
        let (changed, deleted, inserted) = (calls[3][6], calls[4][2], calls[5][2]);
        assert!(calls[4][1] == "0000000034" && calls[5][1] == "0000000034" && calls[3][5] == "0000000034");
        assert!(deleted == inserted && deleted != changed);
    }

    #[test]
    fn a_row_that_another_transaction_has_replaced_is_a_conflict() {
        let mut store = Store { is_replaced: true, ..Store::of(34) };
        assert_eq!(run(&DbStress::new(100, Access::Sequential, 1, 1), &mut store), Err(Failed));
        assert_eq!((store.conflicts, store.wrong.len(), store.calls.len()), (1, 0, 4));
    }

    #[test]
    fn one_transaction_in_rw_writes() {
        let writes = |rw| {
            let workload = DbStress::new(100, Access::Uniform, rw, 1);
            (0..10_000).filter(|&step| workload.change(7, &mut Choices::new(1, 2, 3, step)).is_some()).count()
        };
        assert_eq!((writes(0), writes(1)), (0, 10_000));
        // 10,000 with a probability of 1/10 each; 5 standard deviations.
        assert!((850..1150).contains(&writes(10)));
        assert_eq!(DbStress::new(1, Access::Uniform, 0, 1).steps().len(), READS + 1);
    }

    #[test]
    fn a_history_that_is_not_whole_in_order_and_of_one_minute_a_row_is_seen() {
        let seen = |spoil: fn(&mut Vec<Entry>)| {
            let mut store = Store::of(34);
            spoil(&mut store.history);
            assert_eq!(run(&DbStress::new(100, Access::Sequential, 0, 1), &mut store), Err(Failed));
            store.wrong.remove(0).column
        };
        assert_eq!(seen(|history| history.swap(3, 4)), "history.horder");
        assert_eq!(seen(|history| history.truncate(19)), "rows of a history");
        assert_eq!(seen(|history| history[7].object = 35), "history.ref_stat");
        assert_eq!(run(&DbStress::new(100, Access::Sequential, 0, 1), &mut Store::of(34)), Ok(()));
        let torn = Entry { object: 34, horder: 1, minute: 0 };
        let (texts, name) = (torn.texts(), rows::name(Of::Stat, torn.stat()));
        let mut difference = None;
        let [_, horder, stat, begin, end, _] = texts.values();
        let values = [horder, stat, begin, end, Value::Text(b"another"), Value::Text(&name)];
        answer(&values, &mut |row| difference = check_entry(34, 1, row).err());
        assert_eq!(difference.map(|difference| difference.column), Some("history.note".into()));
    }

    #[test]
    fn the_history_is_partitioned_where_asked_for() {
        assert!(DbStress::new(1, Access::Uniform, 1, 1).tables()[HISTORY].options.is_empty());
        let options = DbStress::new(1, Access::Uniform, 1, 2).tables()[HISTORY].options.clone();
        assert_eq!(options[0].1, "PARTITION BY KEY (ref_object) PARTITIONS 2");
        assert!(options[1].1.ends_with("{history}_1 PARTITION OF {history} FOR VALUES WITH (MODULUS 2, REMAINDER 1)"));
    }
}
