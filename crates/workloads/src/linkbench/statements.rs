//! The steps of linkbench, and the SQL of links, after those of LinkBench.

use dbdyno_model::{Dialect, Kind, Operation, Statement, Step};

use super::graph::{HIDDEN, VISIBLE};
use super::{LONGEST_LIST, NODE};

pub const GET_NODE: usize = 0;
pub const UPDATE_NODE: usize = 1;
pub const ADD_NODE: usize = 2;
pub const DELETE_NODE: usize = 3;
pub const BEGIN: usize = 4;
pub const COMMIT: usize = 5;
pub const GET_LINK_LIST: usize = 6;
pub const GET_LINK: usize = 7;
pub const COUNT_LINKS: usize = 8;
pub const INSERT_LINK: usize = 9;
pub const REVIVE_LINK: usize = 10;
pub const UPDATE_LINK: usize = 11;
pub const HIDE_LINK: usize = 12;
pub const COUNT_UP: usize = 13;
pub const COUNT_DOWN: usize = 14;
/// The steps that stand for kinds of requests.
pub const KINDS: usize = 15;

const FIRST_STATEMENT: usize = GET_LINK_LIST;

const ID: Kind = Kind::BigInt;
const TYPE: Kind = Kind::BigInt;
const TIME: Kind = Kind::BigInt;
const VERSION: Kind = Kind::Int;

/// The steps; each of these kinds has one that stands for it.
pub fn steps(kinds: &[&str]) -> Vec<Step> {
    let nodes = [
        ("get_node", Operation::Get { table: NODE }),
        ("update_node", Operation::Update { table: NODE }),
        ("add_node", Operation::Insert { table: NODE }),
        ("delete_node", Operation::Delete { table: NODE }),
        ("begin", Operation::Begin { read_only: false }),
        ("commit", Operation::Commit),
    ];
    let links = [
        ("get_link_list", GET_LINK_LIST),
        ("get_link", GET_LINK),
        ("count_links", COUNT_LINKS),
        ("insert_link", INSERT_LINK),
        ("revive_link", REVIVE_LINK),
        ("update_link", UPDATE_LINK),
        ("hide_link", HIDE_LINK),
        ("count_up", COUNT_UP),
        ("count_down", COUNT_DOWN),
    ];
    let links = links.map(|(name, step)| (name, Operation::Sql { statement: step - FIRST_STATEMENT }));
    let kinds = kinds.iter().map(|&name| (name, Operation::Transaction));
    nodes.into_iter().chain(links).chain(kinds).map(|(name, operation)| Step::new(name, operation)).collect()
}

/// The statements of the steps, in their order; `data` is the kind of a link's data.
pub fn statements(data: Kind) -> Vec<Statement> {
    let change = "UPDATE {link} SET data = ?, time = ?, version = ?";
    let of_link = "WHERE link_type = ? AND id1 = ? AND id2 = ?";
    let columns = "(link_type, id1, id2, visibility, data, time, version) VALUES (?, ?, ?, ?, ?, ?, ?)";
    let numbers = "INSERT INTO {linkcount} (id, link_type, links, time, version) VALUES (?, ?, 1, ?, 0)";
    let changed = [data, TIME, VERSION, TYPE, ID, ID];
    let insert = [TYPE, ID, ID, Kind::TinyInt, data, TIME, VERSION];
    vec![
        Statement::new(
            &format!(
                "SELECT id2, data, time, version FROM {{link}} WHERE id1 = ? AND link_type = ? AND visibility = {VISIBLE} \
                 ORDER BY time DESC LIMIT {LONGEST_LIST}"
            ),
            &[ID, TYPE],
            &[ID, data, TIME, VERSION],
        ),
        Statement::new(
            &format!(
                "SELECT id2, data, time, version FROM {{link}} \
                 WHERE id1 = ? AND link_type = ? AND id2 = ? AND visibility = {VISIBLE}"
            ),
            &[ID, TYPE, ID],
            &[ID, data, TIME, VERSION],
        ),
        Statement::new("SELECT links FROM {linkcount} WHERE id = ? AND link_type = ?", &[ID, TYPE], &[Kind::Int]),
        Statement::new(&format!("INSERT INTO {{link}} {columns} ON CONFLICT DO NOTHING"), &insert, &[])
            .on(Dialect::Mysql, &format!("INSERT IGNORE INTO {{link}} {columns}")),
        Statement::new(&format!("{change}, visibility = {VISIBLE} {of_link} AND visibility = {HIDDEN}"), &changed, &[]),
        Statement::new(&format!("{change} {of_link} AND visibility = {VISIBLE}"), &changed, &[]),
        Statement::new(
            &format!("UPDATE {{link}} SET visibility = {HIDDEN} {of_link} AND visibility = {VISIBLE}"),
            &[TYPE, ID, ID],
            &[],
        ),
        Statement::new(
            &format!(
                "{numbers} ON CONFLICT (id, link_type) DO UPDATE \
                 SET links = {{linkcount}}.links + 1, version = {{linkcount}}.version + 1"
            ),
            &[ID, TYPE, TIME],
            &[],
        )
        .on(Dialect::Mysql, &format!("{numbers} ON DUPLICATE KEY UPDATE links = links + 1, version = version + 1")),
        Statement::new(
            "UPDATE {linkcount} SET links = links - 1, version = version + 1 WHERE id = ? AND link_type = ?",
            &[ID, TYPE],
            &[],
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_has_its_statement_and_every_statement_as_many_parameters_as_it_has_marks() {
        let (steps, statements) = (steps(&["one", "two"]), statements(Kind::Varchar(9)));
        for (name, step) in [("get_link_list", GET_LINK_LIST), ("hide_link", HIDE_LINK), ("count_down", COUNT_DOWN)] {
            assert_eq!(steps[step].name, name);
        }
        assert_eq!((steps.len(), statements.len()), (KINDS + 2, KINDS - FIRST_STATEMENT));
        for (i, statement) in statements.iter().enumerate() {
            assert_eq!(steps[FIRST_STATEMENT + i].operation, Operation::Sql { statement: i });
            for dialect in Dialect::ALL {
                let text = statement.text(dialect, &[], |table| table.name.clone());
                assert_eq!(text.matches('?').count(), statement.parameters.len(), "{text}");
            }
        }
    }
}
