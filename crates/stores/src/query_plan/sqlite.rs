//! `EXPLAIN QUERY PLAN` of SQLite.

use dbdyno_wire::TextRows;

/// Returns a line for each node of the plan: a row has its number, its parent's, a number of no meaning, and the words.
pub fn steps(rows: &TextRows) -> Vec<String> {
    let parent = |row: &[Option<String>]| row.get(1).cloned().flatten();
    let depth = |row: &[Option<String>]| {
        let mut above = parent(row);
        let mut depth = 0;
        while let Some(next) = rows.iter().find(|row| row.first() == Some(&above)).filter(|_| depth < rows.len()) {
            (above, depth) = (parent(next), depth + 1);
        }
        depth
    };
    let line = |row: &Vec<Option<String>>| Some(format!("{}{}", "  ".repeat(depth(row)), row.get(3)?.as_deref()?));
    rows.iter().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_below_its_parent() {
        let row = |texts: [&str; 4]| texts.map(|text| Some(text.to_string())).to_vec();
        let plan = vec![
            row(["4", "0", "0", "MULTI-INDEX OR"]),
            row(["5", "4", "0", "SEARCH dbdyno_t USING INTEGER PRIMARY KEY (rowid=?)"]),
        ];
        assert_eq!(steps(&plan), ["MULTI-INDEX OR", "  SEARCH dbdyno_t USING INTEGER PRIMARY KEY (rowid=?)"]);
    }
}
