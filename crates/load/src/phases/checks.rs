//! Checks of a plan's workload: of the rows that were loaded, and of the store after the run.

use std::sync::Arc;

use dbdyno_model::Statement;
use dbdyno_stores::Administration;
use dbdyno_wire::TextRows;
use dbdyno_workloads::Check;
use serde_json::{Value, json};

use super::Execution;
use crate::ledger::Ledger;
use crate::outcome::Outcome;
use crate::plan::{Clients, Phase};
use crate::read_back::{Read, read_back};
use crate::recorder::Totals;
use crate::session::{with_session, with_session_within};

impl Execution<'_> {
    pub(super) fn check_loaded(&self) -> Result<(), Outcome> {
        for table in 0..self.workload.tables().len() {
            let count = with_session(&self.store, async move |session| session.count(table).await)?;
            let rows = self.rows_of(table);
            if let Some(count) = count.filter(|&count| count != rows) {
                let name = &self.workload.tables()[table].name;
                return Err(Outcome::Failed(format!("{rows} rows of {name} were loaded, but the store has {count}")));
            }
        }
        Ok(())
    }

    /// How many rows a table has when it is loaded.
    fn rows_of(&self, table: usize) -> u64 {
        let table = &self.workload.tables()[table];
        table.count(table.numbers(self.workload_plan.rows))
    }

    /// A condition of every state after a run must hold before the first.
    pub(super) fn check_queries_of_loaded(&self) -> Result<(), Outcome> {
        let mut violated = vec![];
        for check in self.workload.checks() {
            if let Check::FindsNothing { what, query } = check {
                let check = self.check_query(what, query)?;
                if check["ok"] == false {
                    violated.push(format!("{what}: {}", check["note"].as_str().unwrap_or_default()));
                }
                self.records.write(&check);
            }
        }
        if violated.is_empty() {
            return Ok(());
        }
        Err(Outcome::Failed(format!("the loaded rows violate the workload's rules: {}", violated.join("; "))))
    }

    /// Asks what must find nothing, and shows what it found.
    fn check_query(&self, what: &str, query: &Statement) -> Result<Value, Outcome> {
        let asked = query.clone();
        let rows = with_session(&self.store, async move |session| session.ask(&asked).await)?;
        Ok(finding(what, &rows))
    }

    /// For each check what the run will add to, as it is now: a sum, or a number of rows.
    pub(super) fn before(&self) -> Result<Vec<Option<i128>>, Outcome> {
        // The first of several programs tells the one that verifies.
        let Clients { first, .. } = self.plan.clients;
        let is_checked = self.plan.has(Phase::Verify) || (self.plan.clients.is_part() && first == 0);
        let now = |check: &Check| match *check {
            Check::SumOfIncrements { ref columns } if is_checked => self.sum(columns),
            Check::RowsInserted { table } if is_checked => {
                let rows = with_session(&self.store, async move |session| session.count(table).await)?;
                Ok(rows.map(i128::from))
            }
            _ => Ok(None),
        };
        self.workload.checks().iter().map(now).collect()
    }

    /// After a run at whose end no client had an answer, the store must answer within the timeout of an operation: the checks
    /// themselves may wait for an hour.
    pub(super) fn check_answering(&self, totals: &Totals) -> Result<(), Outcome> {
        if self.workload.checks().is_empty() || totals.unanswered < self.plan.clients.count {
            return Ok(());
        }
        let counting = async |session: &mut _| Administration::count(session, 0).await;
        let answered = with_session_within(&self.store, self.plan.timeout_ns(), counting)?;
        answered.map(|_| ()).ok_or_else(|| {
            let timeout_s = self.plan.operation_timeout_s;
            let hangs = format!(
                "the store hangs: no client had an answer at the end, and rows were not counted in {timeout_s} s"
            );
            Outcome::Failed(format!("{hangs}. So nothing was verified"))
        })
    }

    pub(super) fn verify(&self, before: &[Option<i128>], totals: &Totals) -> Result<Value, Outcome> {
        for (i, check) in self.workload.checks().iter().enumerate() {
            let before = before.get(i).copied().flatten();
            match *check {
                Check::RowCount { table } => self.records.write(&self.check_count(table)?),
                Check::SumOfIncrements { .. } | Check::RowsInserted { .. }
                    if !self.plan.has(Phase::Run) && self.plan.changes.is_none() => {}
                Check::SumOfIncrements { ref columns } => {
                    self.records.write(&self.check_sum(columns, before, totals)?);
                }
                Check::FindsNothing { ref what, ref query } => self.records.write(&self.check_query(what, query)?),
                Check::RowsInserted { table } => self.check_inserted(table, before, totals)?,
                Check::Acknowledged { reads } => self.read_back(reads)?,
            }
        }
        Ok(json!({}))
    }

    /// Reads back the writes that were acknowledged; the store's promise decides whether that is enough.
    fn read_back(&self, reads: [usize; 2]) -> Result<(), Outcome> {
        let Some(path) = &self.plan.acknowledged else { return Ok(()) };
        let entries = Ledger::read(path).map_err(Outcome::Failed)?;
        let steps = reads.map(|step| (step, self.workload.steps()[step].clone()));
        let pairs =
            steps.map(|(at, step)| Read { at, table: self.workload.tables()[step.operation.table()].clone(), step });
        let records = Arc::clone(self.records);
        let record =
            with_session(&self.store, async move |session| read_back(session, &pairs, &entries, &records).await)?;
        self.records.write(&record);
        Ok(())
    }

    /// The table, and each of its indexes, has as many rows more as were acknowledged.
    fn check_inserted(&self, table: usize, before: Option<i128>, totals: &Totals) -> Result<(), Outcome> {
        let (schema, store) = (&self.workload.tables()[table], &self.store);
        let rows = with_session(store, async move |session| session.count(table).await)?;
        let mut counted = vec![(format!("rows added to {}", schema.name), rows)];
        for (i, index) in schema.indexes.iter().enumerate() {
            let rows = with_session(store, async move |session| session.count_by_index(table, i).await)?;
            let columns: Vec<&str> = index.columns.iter().map(|&i| schema.columns[i].name.as_str()).collect();
            counted.push((format!("rows added to the index {}.{}", schema.name, columns.join(",")), rows));
        }
        let (least, unknown) = totals.written.growth_of_rows();
        let has_deleted = totals.written.surely.deleted > 0;
        for (name, rows) in counted {
            let grown = before.zip(rows).map(|(before, rows)| i128::from(rows) - before);
            let mut check = self.growth(&name, least, unknown, grown);
            if has_deleted && !self.store.tells_deletions() {
                check["ok"] = Value::Null;
                check["note"] = "a deletion does not say whether the row was there, so their number is unknown".into();
            }
            self.records.write(&check);
        }
        Ok(())
    }

    fn check_count(&self, table: usize) -> Result<Value, Outcome> {
        let (name, rows) = (&self.workload.tables()[table].name, self.rows_of(table));
        let counted = with_session(&self.store, async move |session| session.count(table).await)?;
        let note = if counted.is_none() { Some("this store cannot tell") } else { None };
        Ok(json!({"record": "check", "name": format!("rows of {name}"), "expected": rows, "found": counted,
            "ok": counted.map(|n| n == rows), "note": note}))
    }

    /// The sum of all these columns; `None` if the store cannot tell.
    fn sum(&self, columns: &[(usize, usize)]) -> Result<Option<i128>, Outcome> {
        let mut all = Some(0);
        for &(table, column) in columns {
            let sum = with_session(&self.store, async move |session| session.sum(table, column).await)?;
            all = all.zip(sum).map(|(all, sum)| all + sum);
        }
        Ok(all)
    }

    fn check_sum(&self, columns: &[(usize, usize)], before: Option<i128>, totals: &Totals) -> Result<Value, Outcome> {
        let after = self.sum(columns)?;
        let named = |&(table, column): &(usize, usize)| {
            let table = &self.workload.tables()[table];
            format!("{}.{}", table.name, table.columns[column].name)
        };
        let names = columns.iter().map(named).collect::<Vec<_>>().join(" and ");
        let grown = before.zip(after).map(|(before, after)| after - before);
        let (least, unknown) = totals.written.growth_of_sum();
        Ok(self.growth(&format!("growth of the sum of {names}"), least, unknown, grown))
    }

    /// As [`growth`]; of writes that nobody acknowledged nothing is claimed.
    fn growth(&self, name: &str, least: i128, unknown: i128, grown: Option<i128>) -> Value {
        let mut check = growth(name, least, unknown, grown);
        if !self.store.is_acknowledging() {
            check["ok"] = Value::Null;
            check["note"] = "these writes were sent without acknowledgement, so their result is unknown".into();
        }
        check
    }
}

/// How many rows a finding shows.
const SHOWN: usize = 3;

/// The check that a query found nothing: no row, or one of a single 0 or NULL.
fn finding(what: &str, rows: &TextRows) -> Value {
    let in_words =
        |row: &Vec<Option<String>>| row.iter().map(|v| v.as_deref().unwrap_or("NULL")).collect::<Vec<_>>().join(", ");
    let (number, is_nothing) = match &rows[..] {
        [] => (0, true),
        [row] if row.len() == 1 => match row[0].as_deref() {
            None => (0, true),
            Some(value) => (value.parse().unwrap_or(1), value.parse() == Ok(0.0)),
        },
        rows => (rows.len() as i64, false),
    };
    let note = (!is_nothing).then(|| rows.iter().take(SHOWN).map(in_words).collect::<Vec<_>>().join("; "));
    json!({"record": "check", "name": what, "expected": 0, "found": number, "ok": is_nothing, "note": note})
}

/// The check that something has grown by `least`, and by at most `unknown` more, of which nothing is known.
fn growth(name: &str, least: i128, unknown: i128, grown: Option<i128>) -> Value {
    let note = match (grown, unknown) {
        (None, _) => Some("this store cannot tell".to_string()),
        (_, 0) => None,
        _ => Some(format!("{unknown} more had no answer, so they may or may not have taken effect")),
    };
    json!({"record": "check", "name": name, "expected": least as i64, "found": grown.map(|n| n as i64),
        "ok": grown.map(|n| (least..=least + unknown).contains(&n)), "note": note})
}
