//! `EXPLAIN` of servers that speak the MySQL protocol.

use dbdyno_wire::TextRows;

/// Columns of `EXPLAIN` up to MySQL 5.6 and of MariaDB: select type, table, access type, key, remarks.
const NARROW: (usize, [usize; 5]) = (10, [1, 2, 3, 5, 9]);
/// The same since MySQL 5.7, which adds partitions and the filtered share.
const WIDE: (usize, [usize; 5]) = (12, [1, 2, 4, 6, 11]);
/// Columns of TiDB's: the operator, its estimate, its task, the object that it reads, and remarks.
const TIDB_COLUMNS: usize = 5;
/// Select types that every plain statement has.
const PLAIN: [&str; 4] = ["SIMPLE", "PRIMARY", "UPDATE", "DELETE"];

/// The select types of what a statement writes without reading it, which MySQL 5.7 and later list as a table, and others as none.
const WRITTEN: [&str; 2] = ["INSERT", "REPLACE"];
const NOTHING_READ: &str = "No tables used";

/// Returns a line for each table that the plan reads, in the order of the join; none if the answer has another form.
pub fn steps(rows: &TextRows) -> Vec<String> {
    match rows.first().map_or(0, Vec::len) {
        TIDB_COLUMNS => rows.iter().map(|row| operator(row)).collect(),
        n if n == NARROW.0 => rows.iter().filter_map(|row| line(row, NARROW.1)).collect(),
        n if n == WIDE.0 => rows.iter().filter_map(|row| line(row, WIDE.1)).collect(),
        _ => vec![],
    }
}

fn line(row: &[Option<String>], columns: [usize; 5]) -> Option<String> {
    let [select, table, access, key, extra] = columns.map(|i| row[i].as_deref());
    if select.is_some_and(|select| WRITTEN.contains(&select)) || extra == Some(NOTHING_READ) {
        return None;
    }
    // The conditions are part of the statement, so they say nothing of its plan.
    let remarks = extra.unwrap_or_default().split(';').map(str::trim);
    let remarks: Vec<&str> =
        remarks.filter(|remark| !remark.is_empty() && !remark.starts_with("Using where")).collect();
    let select = select.filter(|select| !PLAIN.contains(select)).map(|select| format!("{} ", select.to_lowercase()));
    let access = match (table, access) {
        (Some(table), Some(access)) => format!("{table}: {access}"),
        (Some(table), None) => table.into(),
        _ => "no table".into(),
    };
    let key = key.map(|key| format!(" by {key}")).unwrap_or_default();
    let remarks = if remarks.is_empty() { String::new() } else { format!(" ({})", remarks.join(", ")) };
    Some(format!("{}{access}{key}{remarks}", select.unwrap_or_default()))
}

/// An operator of TiDB's plan without its number, which differs from one statement to the next.
fn operator(row: &[Option<String>]) -> String {
    let [id, object] = [0, 3].map(|i| row[i].as_deref().unwrap_or_default());
    let (name, role) = id.split_once('(').map_or((id, String::new()), |(name, role)| (name, format!("({role}")));
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('_');
    format!("{name}{role} {object}").trim_end().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(lines: &[&str]) -> TextRows {
        let value = |text: &str| Some(text.to_string()).filter(|text| text != "NULL");
        lines.iter().map(|line| line.split('|').map(value).collect()).collect()
    }

    #[test]
    fn a_table_has_its_access_and_index_and_no_estimate() {
        let narrow = "1|SIMPLE|dbdyno_bm|ref|sid|sid|4|const|17|Using where; Using filesort";
        let wide = "1|SIMPLE|dbdyno_bm|NULL|ref|sid|sid|4|const|9|100.00|Using where; Using filesort";
        let expected = ["dbdyno_bm: ref by sid (Using filesort)"];
        assert_eq!(steps(&rows(&[narrow])), expected);
        assert_eq!(steps(&rows(&[wide])), expected);
        let scan = "1|UPDATE|dbdyno_bm|NULL|ALL|NULL|NULL|NULL|NULL|9|100.00|Using where";
        assert_eq!(steps(&rows(&[scan])), ["dbdyno_bm: ALL"]);
    }

    #[test]
    fn a_join_keeps_its_order_and_a_subquery_is_told() {
        let join =
            ["1|PRIMARY|a|index|NULL|x|4|NULL|17|Using index", "2|DERIVED|b|eq_ref|PRIMARY|PRIMARY|4|a.id|1|NULL"];
        assert_eq!(steps(&rows(&join)), ["a: index by x (Using index)", "derived b: eq_ref by PRIMARY"]);
        let none = "1|SIMPLE|NULL|NULL|NULL|NULL|NULL|NULL|NULL|no matching row in const table";
        assert_eq!(steps(&rows(&[none])), ["no table (no matching row in const table)"]);
    }

    #[test]
    fn what_is_only_written_has_no_plan_in_any_version() {
        let narrow = "1|SIMPLE|NULL|NULL|NULL|NULL|NULL|NULL|NULL|No tables used";
        let wide = "1|INSERT|dbdyno_bm|NULL|ALL|NULL|NULL|NULL|NULL|NULL|NULL|NULL";
        assert!(steps(&rows(&[narrow])).is_empty() && steps(&rows(&[wide])).is_empty());
        let copied = "1|SIMPLE|b|NULL|ALL|NULL|NULL|NULL|NULL|9|100.00|NULL";
        assert_eq!(steps(&rows(&[wide, copied])), ["b: ALL"]);
    }

    #[test]
    fn an_operator_of_tidb_has_no_number() {
        let plan = [
            "IndexLookUp_10|1.00|root|NULL|NULL",
            "├─IndexRangeScan_8(Build)|1.00|cop[tikv]|table:t, index:sid(sid)|r",
        ];
        assert_eq!(steps(&rows(&plan)), ["IndexLookUp", "├─IndexRangeScan(Build) table:t, index:sid(sid)"]);
    }

    #[test]
    fn an_unknown_form_says_nothing() {
        assert_eq!(steps(&rows(&["a|b"])), [""; 0]);
        assert_eq!(steps(&vec![]), [""; 0]);
    }
}
