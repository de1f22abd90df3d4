//! declared: a workload that an experiment declares: tables, statements, and transactions with weights.
//!
//! A transaction draws a key; its operations are about that, or draw one of their own. Nothing is allocated for an operation: its
//! parameters are made in a buffer that the thread's transactions lend each other.

mod building;
mod declaration;

use std::collections::BTreeMap;

use dbdyno_model::{Choices, Column, Difference, Failed, Operations, RowBuffer, Sizes, Statement, Step, Table, Value};

use crate::buffers::{give_back, lent};
use crate::options::Options;
use crate::reach::{Insertions, Reach, ReachPlan};
use crate::{Check, Workload};
use building::Building;
use declaration::Declaration;

/// The most parameters of one statement: they are kept on the stack.
const MOST_PARAMETERS: usize = 16;
/// An answer is held whole.
const LONGEST_SCAN: usize = 1000;
/// Versions are below this: they fit a column of 32 bits.
const VERSIONS: u64 = 1 << 31;

/// The source of a parameter's values.
#[derive(Clone, Debug)]
enum Parameter {
    /// The value of the column in the row so many behind the key's.
    Of { column: Column, offset: i64 },
    /// A text that fills the column, drawn.
    Drawn { column: Column },
    /// A number from the first to the last.
    Number { from: i64, to: i64 },
}

#[derive(Clone, Debug)]
enum What {
    Get,
    Find(Column),
    Update,
    Insert,
    Put,
    Delete,
    Scan(Sizes),
    /// The step that is the write.
    ReadModifyWrite(usize),
    Add(i64),
    Sql {
        parameters: Vec<Parameter>,
        rows: Option<(u64, u64)>,
    },
}

#[derive(Clone, Debug)]
struct Action {
    step: usize,
    /// The table it is about; a statement names its own.
    table: Option<usize>,
    access: Option<Reach>,
    what: What,
}

#[derive(Clone, Debug)]
struct Transaction {
    /// The choices below it are its own, or an earlier transaction's.
    below: u64,
    access: Reach,
    /// The steps that stand for its kind, begin it and commit it.
    kind: Option<usize>,
    around: Option<(usize, usize)>,
    actions: Vec<Action>,
    /// The one table that its key is of, if there is one, and whether it adds rows.
    table: Option<usize>,
    inserts: bool,
}

#[derive(Clone, Debug)]
pub struct Declared {
    rows: u64,
    transactions: Vec<Transaction>,
    tables: Vec<Table>,
    steps: Vec<Step>,
    statements: Vec<Statement>,
    checks: Vec<Check>,
    insertions: Insertions,
    /// The only table that gets rows: what is the latest of it moves on.
    growing: Option<usize>,
}

impl Declared {
    /// `access`: instead of the declaration's.
    ///
    /// # Errors
    /// The declaration cannot be read or contradicts itself: in words for the user.
    pub fn new(rows: u64, declaration: &serde_json::Value, access: Option<ReachPlan>) -> Result<Self, String> {
        let mut declaration: Declaration =
            serde_json::from_value(declaration.clone()).map_err(|error| format!("declaration: {error}"))?;
        if let Some(access) = access {
            declaration.access = access;
        }
        Building::new(rows, &declaration)?.all()
    }

    /// Only these of its transactions are issued, each as often as it weighs here.
    ///
    /// # Errors
    /// There is no such transaction: in words for the user.
    fn only(mut self, names: &[String], weights: &BTreeMap<String, u64>) -> Result<Self, String> {
        let unknown = weights.iter().find(|(name, weight)| !names.contains(name) || **weight == 0);
        if let Some((name, weight)) = unknown {
            return Err(format!("transactions: {name:?} = {weight}: there are {}, each above 0", names.join(", ")));
        }
        let mut below = 0;
        let all = std::mem::take(&mut self.transactions);
        for (name, transaction) in names.iter().zip(all) {
            if let Some(weight) = weights.get(name) {
                below += weight;
                self.transactions.push(Transaction { below, ..transaction });
            }
        }
        if self.transactions.is_empty() { Err("transactions: at least one".into()) } else { Ok(self) }
    }

    fn chosen(&self, choices: &mut Choices) -> &Transaction {
        let all = self.transactions.last().map_or(0, |last| last.below);
        let choice = if self.transactions.len() > 1 { choices.below(all) } else { 0 };
        let position = self.transactions.partition_point(|transaction| transaction.below <= choice);
        &self.transactions[position.min(self.transactions.len() - 1)]
    }

    /// `table`: what the key is of, if it is of one table.
    #[inline]
    fn key(&self, reach: Reach, table: Option<usize>, choices: &mut Choices) -> u64 {
        if self.growing.is_some() && table == self.growing {
            return reach.key_of_growing(choices, self.rows, self.insertions);
        }
        reach.key(choices, self.rows)
    }

    /// The rows of a table up to this key are there, none left out.
    fn surely_there(&self, table: Option<usize>) -> u64 {
        if table.is_some_and(|table| self.tables[table].is_volatile) { 0 } else { self.rows }
    }

    async fn execute_all<O: Operations>(
        &self,
        transaction: &Transaction,
        operations: &mut O,
        choices: &mut Choices,
    ) -> Result<(), Failed> {
        let key = self.key(transaction.access, transaction.table, choices);
        if let Some((begin, _)) = transaction.around {
            operations.control(begin).await?;
        }
        for action in &transaction.actions {
            self.execute(action, operations, choices, key).await?;
        }
        match transaction.around {
            Some((_, commit)) => operations.control(commit).await,
            None => Ok(()),
        }
    }

    async fn execute<O: Operations>(
        &self,
        action: &Action,
        operations: &mut O,
        choices: &mut Choices,
        of_transaction: u64,
    ) -> Result<(), Failed> {
        let key = action.access.map_or(of_transaction, |access| self.key(access, action.table, choices));
        let step = action.step;
        match &action.what {
            What::Get => operations.get(step, key).await,
            What::Update => operations.update(step, key, choices.below(VERSIONS)).await,
            What::Put => operations.put(step, key, choices.below(VERSIONS)).await,
            What::Delete => operations.delete(step, key).await,
            What::Scan(length) => {
                let most = length.of(choices.next_u64(), LONGEST_SCAN).max(1) as u64;
                operations.scan(step, key, most, self.surely_there(action.table)).await
            }
            &What::ReadModifyWrite(write) => {
                operations.get(step, key).await?;
                let table = &self.tables[self.steps[step].operation.table()];
                let version = (table.version_of(operations.row()) + 1) % VERSIONS;
                operations.update(write, key, version).await
            }
            What::Add(by) => operations.add(step, key, *by).await,
            What::Insert => operations.insert(step, self.insertions.key(choices, choices.inserted)).await,
            What::Find(column) => {
                let mut buffer = lent();
                column.generate(key, 0, &mut buffer);
                let rows_found = operations.find(step, buffer.row().value(0), key).await;
                give_back(buffer);
                rows_found
            }
            What::Sql { parameters, rows } => {
                let mut buffer = lent();
                parameters.iter().for_each(|parameter| parameter.write(key, choices, &mut buffer));
                let mut values = [Value::Null; MOST_PARAMETERS];
                for (i, value) in values[..parameters.len()].iter_mut().enumerate() {
                    *value = buffer.row().value(i);
                }
                let done = operations.sql(step, &values[..parameters.len()], &mut |_| {}).await;
                give_back(buffer);
                let rows_found = done?;
                operations.verify(step, rows_found, || within(*rows, rows_found))
            }
        }
    }
}

fn within(rows: Option<(u64, u64)>, actual: u64) -> Result<(), Box<Difference>> {
    match rows {
        Some((fewest, most)) if !(fewest..=most).contains(&actual) => {
            Err(Difference::new("rows", format!("{fewest} to {most}"), actual))
        }
        _ => Ok(()),
    }
}

impl Parameter {
    #[inline]
    fn write(&self, key: u64, choices: &mut Choices, out: &mut RowBuffer) {
        match self {
            Parameter::Of { column, offset } => column.generate(key.wrapping_add_signed(*offset), 0, out),
            Parameter::Drawn { column } => column.generate(choices.next_u64(), 0, out),
            &Parameter::Number { from, to } => {
                out.push(Value::Int(from + choices.below(to.abs_diff(from) + 1) as i64));
            }
        }
    }
}

impl Workload for Declared {
    const NAME: &'static str = "declared";
    const TRANSACTION: &'static str = "transaction";

    fn from_options(options: &mut Options<'_>) -> Result<Self, String> {
        let access = options.take("access").map(serde_json::from_value).transpose();
        let declaration = options.take("declaration").ok_or("declared: there is no declaration")?;
        let made = Self::new(options.rows, &declaration, access.map_err(|error| format!("access: {error}"))?)?;
        let Some(weights) = options.take("transactions") else { return Ok(made) };
        let weights = serde_json::from_value(weights).map_err(|error| format!("transactions: {error}"))?;
        let named = declaration["transactions"].as_array().into_iter().flatten().filter_map(|of| of["name"].as_str());
        made.only(&named.map(String::from).collect::<Vec<_>>(), &weights)
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

    fn continue_after(&mut self, last: u64) {
        self.insertions = Insertions { last };
    }

    async fn transaction<O: Operations>(&self, operations: &mut O, choices: &mut Choices) -> Result<(), Failed> {
        let transaction = self.chosen(choices);
        if let Some(kind) = transaction.kind {
            operations.kind(kind);
        }
        let done = self.execute_all(transaction, operations, choices).await;
        choices.inserted += u64::from(transaction.inserts);
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_model::Kind;
    use serde_json::json;

    fn events() -> serde_json::Value {
        json!({
            "access": "zipfian",
            "tables": [{
                "name": "event",
                "columns": [
                    {"name": "id", "kind": "int", "generator": "key"},
                    {"name": "at", "kind": "bigint", "generator": "linear", "first": 1000, "step": 10},
                    {"name": "hits", "kind": "int", "generator": "counter"},
                    {"name": "mail", "kind": "varchar(64)", "generator": "email"},
                    {"name": "note", "kind": "varchar(20)", "generator": "letters"}
                ],
                "indexes": [{"columns": ["at"]}, {"columns": ["mail"], "unique": true}]
            }],
            "statements": [{
                "name": "recent",
                "sql": "SELECT id, note FROM {event} WHERE at BETWEEN ? AND ?",
                "parameters": [{"column": "event.at"}, {"column": "event.at", "offset": 9}],
                "columns": ["int", "varchar(20)"],
                "rows": [1, 10]
            }],
            "transactions": [
                {"name": "append", "weight": 3, "operations": [{"operation": "insert", "table": "event"}]},
                {"name": "read", "weight": 1, "within": "read-only", "operations": [
                    {"operation": "sql", "statement": "recent"},
                    {"operation": "get", "table": "event", "access": "latest"}
                ]}
            ]
        })
    }

    fn refused(change: impl FnOnce(&mut serde_json::Value)) -> String {
        let mut declaration = events();
        change(&mut declaration);
        Declared::new(100, &declaration, None).unwrap_err()
    }

    #[test]
    fn a_declaration_becomes_tables_steps_and_checks() {
        let workload = Declared::new(100, &events(), None).unwrap();
        let steps: Vec<&str> = workload.steps.iter().map(|step| step.name.as_str()).collect();
        assert_eq!(steps, ["append", "insert_event", "begin_read_only", "commit", "read", "recent", "get_event"]);
        assert_eq!(workload.statements[0].parameters, [Kind::BigInt; 2]);
        assert_eq!(workload.checks, [Check::RowsInserted { table: 0 }]);
        assert_eq!(workload.tables[0].filed_under, 0);
        assert_eq!(workload.tables[0].columns[1].source, dbdyno_model::Source::Linear { first: 1000, step: 10 });
    }

    #[test]
    fn texts_have_the_sizes_of_their_distribution() {
        let mut declaration = events();
        declaration["tables"][0]["columns"][4]["size"] = json!({"kind": "table", "sizes": [[3, 0.5], [9, 0.5]]});
        let table = &Declared::new(100, &declaration, None).unwrap().tables[0];
        let mut row = RowBuffer::default();
        for key in 1..50 {
            table.generate(key, 0, &mut row);
            let Value::Text(note) = row.row().value(4) else { panic!() };
            assert!(matches!(note.len(), 3 | 9));
            assert_eq!(table.check(row.row(), key, &mut vec![]), Ok(()));
        }
    }

    #[test]
    fn dates_bytes_and_characters_are_columns_like_others() {
        let mut declaration = events();
        let columns = declaration["tables"][0]["columns"].as_array_mut().unwrap();
        columns[1] = json!({"name": "at", "kind": "datetime", "generator": "linear", "first": 0, "step": 86_400});
        columns.push(json!({"name": "blob", "kind": "binary(90)", "generator": "bytes", "size": 50}));
        columns.push(json!({"name": "any", "kind": "unicode(9)", "generator": "characters"}));
        columns.push(json!({"name": "doc", "kind": "json(60)", "generator": "document", "size": 44}));
        columns.push(json!({"name": "part", "kind": "double", "generator": "number", "below": 3}));
        columns.push(json!({"name": "line", "kind": "double", "generator": "linear", "first": 2, "step": -3}));
        let table = &Declared::new(100, &declaration, None).unwrap().tables[0];
        let mut row = RowBuffer::default();
        table.generate(32, 0, &mut row);
        let size = |column| if let Value::Text(text) = row.row().value(column) { text.len() } else { 0 };
        assert_eq!((row.row().value(1), size(5), size(6)), (Value::Int(19_700_201_000_000), 50, 21));
        let double =
            |column| if let Value::Int(bits) = row.row().value(column) { f64::from_bits(bits as u64) } else { -1.0 };
        assert!(size(7) == 44 && (0.0..3.0).contains(&double(8)) && double(9).to_bits() == (-91.0f64).to_bits());
        assert_eq!(table.check(row.row(), 32, &mut vec![]), Ok(()));
    }

    #[test]
    fn transactions_come_as_often_as_they_weigh() {
        let workload = Declared::new(100, &events(), Some(ReachPlan::default())).unwrap();
        let is_append = |step: &u64| workload.chosen(&mut Choices::new(1, 0, 1, *step)).below == 3;
        let appends = (0..10_000).filter(is_append).count();
        assert!(appends.abs_diff(7500) < 200, "{appends}");
        assert_eq!(workload.transactions[1].access, Reach::new(&ReachPlan::default(), 100).unwrap());
    }

    #[test]
    fn a_group_issues_its_own_transactions_by_its_own_weights_and_keeps_all_steps() {
        let with = |transactions: serde_json::Value| {
            let options = json!({"declaration": events(), "transactions": transactions, "access": {"kind": "uniform"}});
            let options = options.as_object().unwrap();
            Declared::from_options(&mut Options::new("declared", 100, options).unwrap())
        };
        let all = Declared::new(100, &events(), None).unwrap();
        let readers = with(json!({"read": 2})).unwrap();
        assert_eq!((readers.transactions.len(), readers.steps == all.steps), (1, true));
        assert_eq!(readers.transactions[0].kind, all.transactions[1].kind);
        assert_eq!((readers.growing, readers.checks == all.checks), (Some(0), true));
        let mixed = with(json!({"append": 1, "read": 3})).unwrap();
        let is_append = |step: &u64| mixed.chosen(&mut Choices::new(1, 0, 1, *step)).below == 1;
        assert!((0..10_000).filter(is_append).count().abs_diff(2500) < 200);
        assert!(with(json!({"raed": 1})).unwrap_err().contains("raed"));
        assert!(with(json!({"read": 0})).unwrap_err().contains("read"));
        assert!(with(json!({})).unwrap_err().contains("at least one"));
    }

    #[test]
    fn parameters_are_of_rows_near_the_key() {
        let workload = Declared::new(100, &events(), None).unwrap();
        let What::Sql { parameters, rows } = &workload.transactions[1].actions[0].what else { panic!() };
        let (mut out, mut choices) = (RowBuffer::default(), Choices::new(1, 0, 1, 0));
        parameters.iter().for_each(|parameter| parameter.write(5, &mut choices, &mut out));
        assert_eq!((out.row().value(0), out.row().value(1)), (Value::Int(1040), Value::Int(1130)));
        assert!(within(*rows, 10).is_ok());
        assert_eq!(within(*rows, 0).unwrap_err().expected, "1 to 10");
        for _ in 0..100 {
            out.clear();
            Parameter::Number { from: -2, to: 2 }.write(1, &mut choices, &mut out);
            assert!(matches!(out.row().value(0), Value::Int(-2..=2)));
        }
    }

    #[test]
    fn a_table_only_looked_up_by_a_unique_column_is_filed_under_it() {
        let mut declaration = events();
        declaration["transactions"] = json!([{"name": "look", "weight": 1,
            "operations": [{"operation": "find", "table": "event", "column": "mail"}]}]);
        assert_eq!(Declared::new(100, &declaration, None).unwrap().tables[0].filed_under, 3);
    }

    fn declared(operations: serde_json::Value) -> Declared {
        let mut declaration = events();
        declaration["tables"][0]["columns"][4]["generator"] = "versioned-letters".into();
        declaration["tables"][0]["columns"]
            .as_array_mut()
            .unwrap()
            .push(json!({"name": "version", "kind": "int", "generator": "version"}));
        declaration["transactions"] = json!([{"name": "one", "weight": 1, "operations": operations}]);
        Declared::new(100, &declaration, None).unwrap()
    }

    #[test]
    fn rows_that_come_and_go_are_counted_where_they_can_be() {
        let delete = json!({"operation": "delete", "table": "event"});
        let insert = json!({"operation": "insert", "table": "event"});
        let update = json!({"operation": "read-modify-write", "table": "event"});
        let put = json!({"operation": "put", "table": "event"});
        let expiring = json!({"operation": "put", "table": "event", "ttl_s": 60});
        let of = |operations: &[&serde_json::Value]| {
            let made = declared(json!(operations));
            (made.tables[0].is_volatile, made.checks)
        };
        let (constant, changed) = (vec![Check::RowCount { table: 0 }], vec![Check::RowsInserted { table: 0 }]);
        assert_eq!(of(&[&put, &update]), (false, constant));
        assert_eq!(of(&[&delete]), (true, changed.clone()));
        assert_eq!(of(&[&delete, &insert]), (true, changed));
        assert_eq!(of(&[&delete, &update]), (true, vec![]));
        assert_eq!(of(&[&delete, &put]), (true, vec![]));
        assert_eq!(of(&[&expiring, &insert]), (true, vec![]));
        let made = declared(json!([update, expiring, {"operation": "scan", "table": "event", "length": 9}]));
        let steps: Vec<&str> = made.steps.iter().map(|step| step.name.as_str()).collect();
        assert_eq!(steps, ["update_event", "get_event", "put_event_ttl_60", "scan_event"]);
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert!(refused(|d| d["access"] = "zipf".into()).contains("zipf"));
        assert!(refused(|d| d["access"] = json!({"kind": "zipfian", "exponent": 4})).contains("exponent = 4"));
        assert!(refused(|d| d["tables"][0]["columns"][1]["kind"] = "text".into()).contains("\"text\""));
        assert!(refused(|d| d["tables"][0]["columns"][4]["generator"] = "lettres".into()).contains("lettres"));
        assert!(refused(|d| d["tables"][0]["columns"][4]["generator"] = "key".into()).contains("note"));
        assert!(refused(|d| d["tables"][0]["columns"][1]["size"] = 4.into()).contains("at"));
        assert!(refused(|d| d["tables"][0]["columns"][4]["kind"] = "binary(9)".into()).contains("note"));
        assert!(refused(|d| d["tables"][0]["columns"][2]["kind"] = "datetime".into()).contains("hits"));
        assert!(
            refused(|d| d["tables"][0]["columns"][4]["size"] = json!({"kind": "uniform", "from": 2, "to": 1}))
                .contains("parameters")
        );
        assert!(refused(|d| d["tables"][0]["indexes"][0]["columns"] = json!(["when"])).contains("when"));
        assert!(refused(|d| d["transactions"][0]["operations"][0]["table"] = "evnt".into()).contains("evnt"));
        assert!(refused(|d| d["transactions"][1]["operations"][0]["statement"] = "last".into()).contains("last"));
        assert!(refused(|d| d["statements"][0]["parameters"][0] = json!({"kind": "int"})).contains("from"));
        assert!(refused(|d| d["surprise"] = 1.into()).contains("surprise"));
    }
}
