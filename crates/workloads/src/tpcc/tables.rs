//! The nine tables (TPC-C rev. 5.11, clause 1.3), keys first, as a primary key is its table's leading columns.

use std::sync::Arc;

use dbdyno_model::{Column, Index, Kind, Source, Table};

use super::population::Rows;

const ID: Kind = Kind::Int;
const SMALL: Kind = Kind::TinyInt;
const MONEY: Kind = Kind::Decimal(12, 2);
const AMOUNT: Kind = Kind::Decimal(6, 2);
const RATE: Kind = Kind::Decimal(4, 4);

/// A column that may be NULL: an order or a line that is not delivered.
const NULLABLE: [&str; 2] = ["o_carrier_id", "ol_delivery_d"];

fn table(name: &str, rows: Rows, warehouses: u64, primary_key: usize, columns: &[(String, Kind)]) -> Table {
    let column = |(name, kind): &(String, Kind)| {
        let column = Column::new(name, *kind, Source::Population);
        if NULLABLE.contains(&name.as_str()) { column.nullable() } else { column }
    };
    let columns = columns.iter().map(column).collect();
    let (rows, population) = (Some(rows.numbers(warehouses)), Some(Arc::new(rows) as Arc<_>));
    Table { primary_key, rows, population, ..Table::new(name, columns) }
}

/// Columns that begin with a table's prefix.
fn named(prefix: &str, columns: &[(&str, Kind)]) -> Vec<(String, Kind)> {
    columns.iter().map(|(name, kind)| (format!("{prefix}_{name}"), *kind)).collect()
}

fn address(prefix: &str) -> Vec<(String, Kind)> {
    let (street, city) = (Kind::Varchar(20), Kind::Varchar(20));
    let (state, zip) = (Kind::Char(2), Kind::Char(9));
    named(prefix, &[("street_1", street), ("street_2", street), ("city", city), ("state", state), ("zip", zip)])
}

fn warehouse(warehouses: u64) -> Table {
    let mut columns = named("w", &[("id", ID), ("name", Kind::Varchar(10))]);
    columns.extend(address("w"));
    columns.extend(named("w", &[("tax", RATE), ("ytd", MONEY)]));
    table("warehouse", Rows::Warehouses, warehouses, 1, &columns)
}

fn district(warehouses: u64) -> Table {
    let mut columns = named("d", &[("w_id", ID), ("id", SMALL), ("name", Kind::Varchar(10))]);
    columns.extend(address("d"));
    columns.extend(named("d", &[("tax", RATE), ("ytd", MONEY), ("next_o_id", ID)]));
    table("district", Rows::Districts, warehouses, 2, &columns)
}

fn customer(warehouses: u64) -> Table {
    let name = [("first", Kind::Varchar(16)), ("middle", Kind::Char(2)), ("last", Kind::Varchar(16))];
    let mut columns = named("c", &[("w_id", ID), ("d_id", SMALL), ("id", ID)]);
    columns.extend(named("c", &name));
    columns.extend(address("c"));
    columns.extend(named("c", &[("phone", Kind::Char(16)), ("since", Kind::DateTime), ("credit", Kind::Char(2))]));
    columns.extend(named("c", &[("credit_lim", MONEY), ("discount", RATE), ("balance", MONEY)]));
    columns.extend(named("c", &[("ytd_payment", MONEY), ("payment_cnt", ID), ("delivery_cnt", ID)]));
    columns.extend(named("c", &[("data", Kind::Varchar(500))]));
    let by_name = vec![Index::new(&[0, 1, 5, 3])];
    Table { indexes: by_name, ..table("customer", Rows::Customers, warehouses, 3, &columns) }
}

fn history(warehouses: u64) -> Table {
    let of = [("c_id", ID), ("c_d_id", SMALL), ("c_w_id", ID), ("d_id", SMALL), ("w_id", ID)];
    let mut columns = named("h", &of);
    columns.extend(named("h", &[("date", Kind::DateTime), ("amount", AMOUNT), ("data", Kind::Varchar(24))]));
    table("history", Rows::History, warehouses, 0, &columns)
}

fn new_order(warehouses: u64) -> Table {
    let columns = named("no", &[("w_id", ID), ("d_id", SMALL), ("o_id", ID)]);
    table("new_order", Rows::NewOrders, warehouses, 3, &columns)
}

fn orders(warehouses: u64) -> Table {
    let mut columns = named("o", &[("w_id", ID), ("d_id", SMALL), ("id", ID), ("c_id", ID)]);
    columns.extend(named("o", &[("entry_d", Kind::DateTime), ("carrier_id", SMALL)]));
    columns.extend(named("o", &[("ol_cnt", SMALL), ("all_local", SMALL)]));
    let by_customer = vec![Index::new(&[0, 1, 3, 2])];
    Table { indexes: by_customer, ..table("orders", Rows::Orders, warehouses, 3, &columns) }
}

fn order_line(warehouses: u64) -> Table {
    let mut columns = named("ol", &[("w_id", ID), ("d_id", SMALL), ("o_id", ID), ("number", SMALL)]);
    columns.extend(named("ol", &[("i_id", ID), ("supply_w_id", ID), ("delivery_d", Kind::DateTime)]));
    columns.extend(named("ol", &[("quantity", SMALL), ("amount", AMOUNT), ("dist_info", Kind::Char(24))]));
    table("order_line", Rows::OrderLines, warehouses, 4, &columns)
}

fn item(warehouses: u64) -> Table {
    let mut columns = named("i", &[("id", ID), ("im_id", ID), ("name", Kind::Varchar(24))]);
    columns.extend(named("i", &[("price", Kind::Decimal(5, 2)), ("data", Kind::Varchar(50))]));
    table("item", Rows::Items, warehouses, 1, &columns)
}

fn stock(warehouses: u64) -> Table {
    let mut columns = named("s", &[("w_id", ID), ("i_id", ID), ("quantity", Kind::SmallInt)]);
    columns.extend((1..=10).map(|district| (format!("s_dist_{district:02}"), Kind::Char(24))));
    columns.extend(named("s", &[("ytd", ID), ("order_cnt", ID), ("remote_cnt", ID), ("data", Kind::Varchar(50))]));
    table("stock", Rows::Stock, warehouses, 2, &columns)
}

/// All tables of so many warehouses; those whose number of rows no transaction changes first.
pub fn tables(warehouses: u64) -> Vec<Table> {
    let makers = [warehouse, district, customer, item, stock, history, new_order, orders, order_line];
    makers.into_iter().map(|make| make(warehouses)).collect()
}

/// How many of [`tables`] always have as many rows.
pub const FIXED_TABLES: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_model::{RowBuffer, Value};

    #[test]
    fn every_row_has_a_value_for_each_column_of_its_kind_and_width() {
        for table in tables(2) {
            let (mut row, numbers) = (RowBuffer::default(), table.numbers(2));
            for number in [1, 2, 7, numbers.end - 1].into_iter().filter(|n| numbers.contains(n)) {
                if !table.make(number, &mut row) {
                    continue;
                }
                assert_eq!(row.row().len(), table.columns.len(), "{}", table.name);
                for (i, column) in table.columns.iter().enumerate() {
                    let fits = match (column.kind, row.row().value(i)) {
                        (Kind::Char(width), Value::Text(text)) => text.len() == usize::from(width),
                        (Kind::Varchar(width), Value::Text(text)) => text.len() <= usize::from(width),
                        (_, Value::Int(_)) => column.kind.is_number(),
                        (_, value) => value == Value::Null && column.is_nullable,
                    };
                    assert!(fits, "{}: {}", column.name, row.row().value(i));
                }
            }
        }
    }

    #[test]
    fn indexes_are_of_the_columns_that_are_looked_up() {
        let all = tables(1);
        let indexed = all.iter().flat_map(|table| table.indexes.iter().map(move |index| (table, index)));
        let names: Vec<Vec<&str>> = indexed
            .map(|(table, index)| index.columns.iter().map(|&i| table.columns[i].name.as_str()).collect())
            .collect();
        assert_eq!(names, [["c_w_id", "c_d_id", "c_last", "c_first"], ["o_w_id", "o_d_id", "o_c_id", "o_id"]]);
    }
}
