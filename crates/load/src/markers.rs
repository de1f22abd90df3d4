//! The markers of tables and keys: which run made them, for which workload, and for keys which rows.
//!
//! A table carries the marker itself. A key-value store has no tables, so there each table's rows are claimed before the first is written.
//! The claim is a marker with the table and the numbers of its rows (docs/contract.md).

use std::sync::Arc;

use dbdyno_stores::{Administration, Claim, Claimed, Cleaning, MARKER, ResultQuery, Schema, Store, Withdrawn};
use dbdyno_workloads::AnyWorkload;
use serde::Deserialize;
use serde_json::json;

use crate::outcome::Outcome;
use crate::plan::{Plan, WorkloadPlan};
use crate::session::with_session;

/// The content of a marker.
#[derive(Debug, Deserialize)]
struct Marked {
    #[serde(default)]
    run_id: String,
    workload: WorkloadPlan,
    /// The table of a claim; a marker of before claims has none and is about all tables of its workload.
    table: Option<String>,
    last: Option<u64>,
    /// True if it names the results of the workload's queries of that table, and not its rows.
    #[serde(default)]
    results: bool,
}

/// The marker of the tables of a plan's workload.
pub fn marker(plan: &Plan, workload: &WorkloadPlan) -> String {
    let workload = json!({"name": workload.name, "rows": workload.rows});
    format!("{MARKER}{}", json!({"run_id": plan.run_id, "workload": workload}))
}

/// The claims of a plan's workload, one of each table.
pub fn claims(plan: &Plan, workload_plan: &WorkloadPlan, workload: &AnyWorkload) -> Vec<String> {
    let growing = workload.growing_tables();
    let (name, rows, options) = (&workload_plan.name, workload_plan.rows, &workload_plan.options);
    let made = json!({"name": name, "rows": rows, "options": options});
    let claim = |(number, table): (usize, &dbdyno_model::Table)| {
        // Behind the last row, too: a run adds some there.
        let last = (!growing.contains(&number)).then(|| table.numbers(rows).end - 1);
        let claim = json!({"run_id": plan.run_id, "workload": made, "table": table.name, "first": 1, "last": last});
        format!("{MARKER}{claim}")
    };
    workload.tables().iter().enumerate().map(claim).collect()
}

/// The workload that a marker is about.
///
/// # Errors
/// It is no marker of this dbdyno's.
pub fn workload_of(marker: &str) -> Result<WorkloadPlan, Outcome> {
    Ok(read(marker)?.workload)
}

/// Returns whether a marker is one of those.
pub fn is_of(marker: &str, whose: Whose<'_>) -> bool {
    match whose {
        // A table's marker need only begin as dbdyno's do.
        Whose::Anybodys => true,
        _ => read(marker).is_ok_and(|marked| is_one(&marked, whose)),
    }
}

/// The claims of a store that are to be withdrawn.
#[derive(Clone, Copy, Debug)]
pub enum Whose<'a> {
    Anybodys,
    /// Those of one run.
    Run(&'a str),
    /// Those that are about one of these tables.
    Tables(&'a [String]),
}

/// Withdraws claims with the rows that they name, or says what that would remove. `open` makes the store for another schema.
///
/// # Errors
/// As the store has them; a claim that this dbdyno did not make, and then nothing was changed.
pub fn withdraw(
    store: &Arc<Store>,
    whose: Whose<'_>,
    cleaning: Cleaning,
    open: impl Fn(Schema) -> Result<Arc<Store>, Outcome>,
) -> Result<Withdrawn, Outcome> {
    let mut chosen = Vec::new();
    for text in with_session(store, async |session| session.claims().await)? {
        match read(&text) {
            Ok(marked) if is_one(&marked, whose) => chosen.push((schema(&marked, &text)?, claim(marked, text)?)),
            Err(unknown) if matches!(whose, Whose::Anybodys) => return Err(unknown),
            _ => {}
        }
    }
    let mut withdrawn = Withdrawn::default();
    for (schema, claim) in chosen {
        let store = open(schema)?;
        withdrawn.extend(with_session(&store, async move |session| session.withdraw(&claim, cleaning).await)?);
    }
    withdrawn.removed.sort();
    withdrawn.removed.dedup();
    Ok(withdrawn)
}

fn is_one(marked: &Marked, whose: Whose<'_>) -> bool {
    match whose {
        Whose::Anybodys => true,
        Whose::Run(run_id) => marked.run_id == run_id,
        Whose::Tables(names) => match &marked.table {
            Some(table) => names.contains(table),
            None => {
                let made = marked.workload.build();
                made.is_ok_and(|workload| workload.tables().iter().any(|table| names.contains(&table.name)))
            }
        },
    }
}

/// The tables alone: a store of other settings may not be able to do the workload's steps.
fn schema(marked: &Marked, text: &str) -> Result<Schema, Outcome> {
    let workload = marked.workload.build().map_err(|_| unknown(text))?;
    Ok(Schema { steps: vec![], statements: vec![], ..marked.workload.schema(&workload) })
}

fn claim(marked: Marked, text: String) -> Result<Claim, Outcome> {
    let workload = marked.workload.build().map_err(|_| unknown(&text))?;
    let growing = workload.growing_tables();
    let tables = workload.tables().iter().enumerate();
    let tables: Vec<Claimed> = match &marked.table {
        Some(name) => tables
            .filter(|(_, table)| table.name == *name)
            .map(|(table, _)| Claimed { table, last: marked.last })
            .collect(),
        None => tables
            .map(|(number, table)| {
                let last = (!growing.contains(&number)).then(|| table.numbers(marked.workload.rows).end - 1);
                Claimed { table: number, last }
            })
            .collect(),
    };
    match &tables[..] {
        [] => Err(unknown(&text)),
        &[Claimed { table, .. }] if marked.results => {
            let results = ResultQuery::all(&marked.workload.schema(&workload), table);
            Ok(Claim { text, tables: vec![], results })
        }
        _ => Ok(Claim { text, tables, results: vec![] }),
    }
}

fn unknown(marker: &str) -> Outcome {
    Outcome::Refused(format!("this version of dbdyno did not write the marker {marker:?}: nothing was changed"))
}

fn read(marker: &str) -> Result<Marked, Outcome> {
    let text = marker.strip_prefix(MARKER).unwrap_or_default();
    serde_json::from_str(text).map_err(|_| unknown(marker))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = r#"dbdyno:{"run_id":"r","workload":{"name":"insert-indexes","rows":7,"options":{}}}"#;

    fn plan(run_id: &str) -> Plan {
        let plan = json!({"contract": 1, "phases": ["prepare"], "run_id": run_id, "store": {"kind": "memcached",
            "address": {"host": "127.0.0.1", "port": 1}}, "workload": {"name": "insert-indexes", "rows": 7}});
        serde_json::from_value(plan).unwrap()
    }

    #[test]
    fn a_claim_names_run_table_and_rows() {
        let plan = plan("r");
        let made = plan.workload.as_ref().unwrap();
        let [text] = &claims(&plan, made, &made.build().unwrap())[..] else { panic!() };
        let said: serde_json::Value = serde_json::from_str(text.strip_prefix(MARKER).unwrap()).unwrap();
        assert_eq!((&said["table"], &said["first"], &said["last"]), (&json!("inserted"), &json!(1), &json!(null)));
        let read = claim(read(text).unwrap(), text.clone()).unwrap();
        assert_eq!(read.tables, [Claimed { table: 0, last: None }]);
        assert!(is_of(text, Whose::Run("r")) && !is_of(text, Whose::Run("s")));
        assert!(is_of(text, Whose::Tables(&["inserted".into()])) && !is_of(text, Whose::Tables(&["bm".into()])));
    }

    #[test]
    fn a_table_is_known_by_the_beginning_of_its_marker() {
        let plan = plan("r");
        assert!(marker(&plan, plan.workload.as_ref().unwrap()).starts_with(dbdyno_stores::TABLE_MARKER));
    }

    #[test]
    fn a_marker_of_before_claims_is_one_of_all_tables() {
        assert!(is_of(OLD, Whose::Tables(&["inserted".into()])) && !is_of(OLD, Whose::Tables(&["bm".into()])));
        let point_get = OLD.replace("insert-indexes", "point-get");
        let read = claim(read(&point_get).unwrap(), point_get).unwrap();
        assert_eq!(read.tables, [Claimed { table: 0, last: Some(7) }]);
    }

    #[test]
    fn a_claim_of_results_names_the_queries_of_its_table() {
        let plan = plan("r");
        let made = WorkloadPlan { name: "result-cache".into(), ..plan.workload.clone().unwrap() };
        let [text] = &claims(&plan, &made, &made.build().unwrap())[..] else { panic!() };
        let text = format!(r#"{},"results":true}}"#, text.strip_suffix('}').unwrap());
        let read = claim(read(&text).unwrap(), text).unwrap();
        assert_eq!((read.tables.len(), read.results.len(), read.results[0].results()), (0, 1, 7));
    }

    #[test]
    fn what_this_dbdyno_did_not_make_is_refused() {
        for text in ["dbdyno:", "precious", r#"dbdyno:{"workload":{"name":"unheard-of","rows":1}}"#] {
            let claimed = read(text).and_then(|marked| claim(marked, text.into()));
            assert!(matches!(claimed, Err(Outcome::Refused(_))), "{text}");
        }
        let other = format!(r#"{},"table":"bm","last":3}}"#, OLD.strip_suffix('}').unwrap());
        assert!(matches!(read(&other).and_then(|marked| claim(marked, other)), Err(Outcome::Refused(_))));
    }
}
