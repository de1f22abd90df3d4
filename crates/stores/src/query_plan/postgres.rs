//! `EXPLAIN (COSTS OFF)` of PostgreSQL.

use dbdyno_wire::TextRows;

const ARROW: &str = "->  ";
/// Characters by which a node is indented more than its parent.
const INDENT: usize = 6;

/// Returns a line for each node of the plan; its conditions are part of the statement.
pub fn steps(rows: &TextRows) -> Vec<String> {
    let lines = rows.iter().filter_map(|row| row.first()?.as_deref());
    let node = |(i, line): (usize, &str)| {
        let text = line.trim_start();
        let depth = (line.len() - text.len()).div_ceil(INDENT);
        match text.strip_prefix(ARROW) {
            Some(node) => Some(format!("{}{node}", "  ".repeat(depth))),
            None => (i == 0).then(|| text.to_string()),
        }
    };
    lines.enumerate().filter_map(node).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps_of(text: &str) -> Vec<String> {
        steps(&text.lines().map(|line| vec![Some(line.to_string())]).collect())
    }

    #[test]
    fn nodes_are_kept_and_conditions_are_not() {
        let plan = "Index Scan using dbdyno_bm_pkey on dbdyno_bm\n  Index Cond: (id = 5)";
        assert_eq!(steps_of(plan), ["Index Scan using dbdyno_bm_pkey on dbdyno_bm"]);
    }

    #[test]
    fn a_node_is_below_the_one_that_it_feeds() {
        let plan = "Limit
  ->  Sort
        Sort Key: c
        ->  Bitmap Heap Scan on dbdyno_t
              Recheck Cond: (k = 5)
              ->  Bitmap Index Scan on dbdyno_t_k
                    Index Cond: (k = 5)";
        let nodes = ["Limit", "  Sort", "    Bitmap Heap Scan on dbdyno_t", "      Bitmap Index Scan on dbdyno_t_k"];
        assert_eq!(steps_of(plan), nodes);
    }
}
