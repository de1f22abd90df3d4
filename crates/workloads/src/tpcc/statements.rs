//! The SQL of the five transactions, as the programs of the specification's appendix A ask, one statement after the other.

use dbdyno_model::{Dialect, Kind, Operation, Statement, Step};

use super::population::DISTRICTS;

const ID: Kind = Kind::Int;
const SMALL: Kind = Kind::TinyInt;
const MONEY: Kind = Kind::Decimal(12, 2);
const AMOUNT: Kind = Kind::Decimal(6, 2);
const RATE: Kind = Kind::Decimal(4, 4);
const NAME: Kind = Kind::Varchar(24);
const COUNT: Kind = Kind::BigInt;

/// The time, if it is a whole number.
const NOW_AS_NUMBER: &str = "CAST(strftime('%Y%m%d%H%M%S', 'now') AS INTEGER)";

/// The kinds of transaction, as steps that stand for them.
pub const NEW_ORDER: usize = 0;
pub const PAYMENT: usize = 1;
pub const ORDER_STATUS: usize = 2;
pub const DELIVERY: usize = 3;
pub const STOCK_LEVEL: usize = 4;
const KINDS: [&str; 5] = ["new_order", "payment", "order_status", "delivery", "stock_level"];

pub const BEGIN: usize = 5;
pub const BEGIN_READ_ONLY: usize = 6;
pub const COMMIT: usize = 7;
pub const ROLLBACK: usize = 8;
const FIRST_STATEMENT: usize = 9;

/// The statements of transactions, in the order of [`statements`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    CustomerOfOrder,
    District,
    NextOrder,
    AddOrder,
    AddNewOrder,
    Item,
    Stock,
    TakeStock,
    AddLine,
    PayWarehouse,
    PaidWarehouse,
    PayDistrict,
    PaidDistrict,
    CustomersByName,
    PayingCustomer,
    CustomerData,
    PayCustomer,
    PayCustomerWithData,
    AddHistory,
    CustomerStatus,
    LastOrder,
    Lines,
    OldestNewOrder,
    RemoveNewOrder,
    CustomerOfDelivery,
    DeliverOrder,
    DeliverLines,
    SumOfLines,
    DeliverToCustomer,
    NextOrderOfDistrict,
    LowStock,
}

impl Ask {
    #[inline]
    pub fn step(self) -> usize {
        FIRST_STATEMENT + self as usize
    }
}

type Named = (Ask, &'static str, Statement);

/// A statement that locks the rows it reads; a store with one writer has nothing to lock.
fn locking(sql: &str, parameters: &[Kind], columns: &[Kind]) -> Statement {
    Statement::new(&format!("{sql} FOR UPDATE"), parameters, columns).on(Dialect::Sqlite, sql)
}

/// A statement that has the time.
fn timed(sql: &str, parameters: &[Kind]) -> Statement {
    let as_number = sql.replace("CURRENT_TIMESTAMP", NOW_AS_NUMBER);
    Statement::new(sql, parameters, &[]).on(Dialect::Sqlite, &as_number)
}

fn new_order() -> Vec<Named> {
    let dist = |number| format!("WHEN {number} THEN s_dist_{number:02}");
    let dist = (1..=DISTRICTS).map(dist).collect::<Vec<_>>().join(" ");
    let customer = "SELECT c_discount, c_last, c_credit, w_tax FROM {customer} JOIN {warehouse} ON w_id = c_w_id \
         WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?";
    let district = "SELECT d_next_o_id, d_tax FROM {district} WHERE d_w_id = ? AND d_id = ?";
    let next = "UPDATE {district} SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = ? AND d_id = ?";
    let order = "INSERT INTO {orders} (o_w_id, o_d_id, o_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local) \
         VALUES (?, ?, ?, ?, CURRENT_TIMESTAMP, NULL, ?, ?)";
    // A parameter alone is of no type, and some stores take it for a text.
    let stock =
        format!("SELECT s_quantity, s_data, CASE ? + 0 {dist} END FROM {{stock}} WHERE s_w_id = ? AND s_i_id = ?");
    let take = "UPDATE {stock} SET s_quantity = ?, s_ytd = s_ytd + ?, s_order_cnt = s_order_cnt + 1, \
         s_remote_cnt = s_remote_cnt + ? WHERE s_w_id = ? AND s_i_id = ?";
    let line = "INSERT INTO {order_line} (ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d, \
         ol_quantity, ol_amount, ol_dist_info) VALUES (?, ?, ?, ?, ?, ?, NULL, ?, ?, ?)";
    let of_line = [ID, SMALL, ID, SMALL, ID, ID, SMALL, AMOUNT, Kind::Char(24)];
    let price = Kind::Decimal(5, 2);
    vec![
        (
            Ask::CustomerOfOrder,
            "read_customer_of_order",
            Statement::new(customer, &[ID, SMALL, ID], &[RATE, NAME, NAME, RATE]),
        ),
        (Ask::District, "read_district", locking(district, &[ID, SMALL], &[ID, RATE])),
        (Ask::NextOrder, "count_order", Statement::new(next, &[ID, SMALL], &[])),
        (Ask::AddOrder, "add_order", timed(order, &[ID, SMALL, ID, ID, SMALL, SMALL])),
        (
            Ask::AddNewOrder,
            "add_new_order",
            Statement::new(
                "INSERT INTO {new_order} (no_w_id, no_d_id, no_o_id) VALUES (?, ?, ?)",
                &[ID, SMALL, ID],
                &[],
            ),
        ),
        (
            Ask::Item,
            "read_item",
            Statement::new("SELECT i_price, i_name, i_data FROM {item} WHERE i_id = ?", &[ID], &[price, NAME, NAME]),
        ),
        (Ask::Stock, "read_stock", locking(&stock, &[ID, ID, ID], &[Kind::SmallInt, NAME, Kind::Char(24)])),
        (Ask::TakeStock, "take_stock", Statement::new(take, &[Kind::SmallInt, ID, ID, ID, ID], &[])),
        (Ask::AddLine, "add_line", Statement::new(line, &of_line, &[])),
    ]
}

fn payment() -> Vec<Named> {
    let address = |prefix: &str| {
        ["street_1", "street_2", "city", "state", "zip"].map(|name| format!("{prefix}_{name}")).join(", ")
    };
    let warehouse = format!("SELECT w_name, {} FROM {{warehouse}} WHERE w_id = ?", address("w"));
    let district = format!("SELECT d_name, {} FROM {{district}} WHERE d_w_id = ? AND d_id = ?", address("d"));
    let customer = format!(
        "SELECT c_first, c_middle, c_last, {}, c_phone, c_credit, c_credit_lim, c_discount, c_balance, c_since FROM {{customer}} \
         WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
        address("c")
    );
    let of_customer = [&[NAME; 10][..], &[MONEY, RATE, MONEY, Kind::DateTime]].concat();
    let by_name = "SELECT c_id FROM {customer} WHERE c_w_id = ? AND c_d_id = ? AND c_last = ? ORDER BY c_first";
    let data = "SELECT c_data FROM {customer} WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?";
    let pay = |and: &str| {
        format!(
            "UPDATE {{customer}} SET c_balance = c_balance - ?, c_ytd_payment = c_ytd_payment + ?, \
             c_payment_cnt = c_payment_cnt + 1{and} WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?"
        )
    };
    let history = "INSERT INTO {history} (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data) \
         VALUES (?, ?, ?, ?, ?, CURRENT_TIMESTAMP, ?, ?)";
    let long = Kind::Varchar(500);
    vec![
        (
            Ask::PayWarehouse,
            "pay_warehouse",
            Statement::new("UPDATE {warehouse} SET w_ytd = w_ytd + ? WHERE w_id = ?", &[MONEY, ID], &[]),
        ),
        (Ask::PaidWarehouse, "read_paid_warehouse", Statement::new(&warehouse, &[ID], &[NAME; 6])),
        (
            Ask::PayDistrict,
            "pay_district",
            Statement::new(
                "UPDATE {district} SET d_ytd = d_ytd + ? WHERE d_w_id = ? AND d_id = ?",
                &[MONEY, ID, SMALL],
                &[],
            ),
        ),
        (Ask::PaidDistrict, "read_paid_district", Statement::new(&district, &[ID, SMALL], &[NAME; 6])),
        (Ask::CustomersByName, "read_customers_by_name", Statement::new(by_name, &[ID, SMALL, NAME], &[ID])),
        (Ask::PayingCustomer, "read_paying_customer", locking(&customer, &[ID, SMALL, ID], &of_customer)),
        (Ask::CustomerData, "read_customer_data", Statement::new(data, &[ID, SMALL, ID], &[long])),
        (Ask::PayCustomer, "pay_customer", Statement::new(&pay(""), &[MONEY, MONEY, ID, SMALL, ID], &[])),
        (
            Ask::PayCustomerWithData,
            "pay_customer_with_data",
            Statement::new(&pay(", c_data = ?"), &[MONEY, MONEY, long, ID, SMALL, ID], &[]),
        ),
        (Ask::AddHistory, "add_history", timed(history, &[ID, SMALL, ID, SMALL, ID, AMOUNT, NAME])),
    ]
}

fn order_status() -> Vec<Named> {
    let customer =
        "SELECT c_balance, c_first, c_middle, c_last FROM {customer} WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?";
    let order = "SELECT o_id, o_entry_d, o_carrier_id FROM {orders} WHERE o_w_id = ? AND o_d_id = ? AND o_c_id = ? \
         ORDER BY o_id DESC LIMIT 1";
    let lines = "SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM {order_line} \
         WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?";
    let key = [ID, SMALL, ID];
    vec![
        (Ask::CustomerStatus, "read_customer_status", Statement::new(customer, &key, &[MONEY, NAME, NAME, NAME])),
        (Ask::LastOrder, "read_last_order", Statement::new(order, &key, &[ID, Kind::DateTime, SMALL])),
        (Ask::Lines, "read_lines", Statement::new(lines, &key, &[ID, ID, SMALL, AMOUNT, Kind::DateTime])),
    ]
}

fn delivery() -> Vec<Named> {
    let oldest = "SELECT no_o_id FROM {new_order} WHERE no_w_id = ? AND no_d_id = ? ORDER BY no_o_id LIMIT 1";
    let remove = "DELETE FROM {new_order} WHERE no_w_id = ? AND no_d_id = ? AND no_o_id = ?";
    let customer = "SELECT o_c_id FROM {orders} WHERE o_w_id = ? AND o_d_id = ? AND o_id = ?";
    let order = "UPDATE {orders} SET o_carrier_id = ? WHERE o_w_id = ? AND o_d_id = ? AND o_id = ?";
    let lines = "UPDATE {order_line} SET ol_delivery_d = CURRENT_TIMESTAMP \
         WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?";
    let sum = "SELECT SUM(ol_amount) FROM {order_line} WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?";
    let balance = "UPDATE {customer} SET c_balance = c_balance + ?, c_delivery_cnt = c_delivery_cnt + 1 \
         WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?";
    let key = [ID, SMALL, ID];
    vec![
        (Ask::OldestNewOrder, "read_oldest_new_order", locking(oldest, &[ID, SMALL], &[ID])),
        (Ask::RemoveNewOrder, "remove_new_order", Statement::new(remove, &key, &[])),
        (Ask::CustomerOfDelivery, "read_customer_of_delivery", locking(customer, &key, &[ID])),
        (Ask::DeliverOrder, "deliver_order", Statement::new(order, &[SMALL, ID, SMALL, ID], &[])),
        (Ask::DeliverLines, "deliver_lines", timed(lines, &key)),
        (Ask::SumOfLines, "sum_lines", Statement::new(sum, &key, &[MONEY])),
        (Ask::DeliverToCustomer, "deliver_to_customer", Statement::new(balance, &[MONEY, ID, SMALL, ID], &[])),
    ]
}

fn stock_level() -> Vec<Named> {
    let next = "SELECT d_next_o_id FROM {district} WHERE d_w_id = ? AND d_id = ?";
    let low = "SELECT COUNT(DISTINCT s_i_id) FROM {order_line} JOIN {stock} ON s_w_id = ol_w_id AND s_i_id = ol_i_id \
         WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id < ? AND ol_o_id >= ? AND s_quantity < ?";
    vec![
        (Ask::NextOrderOfDistrict, "read_next_order_of_district", Statement::new(next, &[ID, SMALL], &[ID])),
        (Ask::LowStock, "count_low_stock", Statement::new(low, &[ID, SMALL, ID, ID, Kind::SmallInt], &[COUNT])),
    ]
}

fn named() -> Vec<Named> {
    [new_order(), payment(), order_status(), delivery(), stock_level()].concat()
}

/// Every statement, in the order of [`Ask`].
pub fn statements() -> Vec<Statement> {
    named().into_iter().map(|(_, _, statement)| statement).collect()
}

/// The kinds of transaction, what begins and ends them, and the statements.
pub fn steps() -> Vec<Step> {
    let control = [
        ("begin", Operation::Begin { read_only: false }),
        ("begin_read_only", Operation::Begin { read_only: true }),
        ("commit", Operation::Commit),
        ("rollback", Operation::Rollback),
    ];
    let kinds = KINDS.iter().map(|name| Step::new(name, Operation::Transaction));
    let control = control.into_iter().map(|(name, operation)| Step::new(name, operation));
    let sql = named().into_iter().map(|(ask, name, _)| Step::new(name, Operation::Sql { statement: ask as usize }));
    kinds.chain(control).chain(sql).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_is_where_its_name_says() {
        let steps = steps();
        let names: std::collections::HashSet<&str> = steps.iter().map(|step| step.name.as_str()).collect();
        assert_eq!(names.len(), steps.len());
        assert_eq!(steps[ROLLBACK].operation, Operation::Rollback);
        assert_eq!(steps[STOCK_LEVEL].name, "stock_level");
        for (position, (ask, name, _)) in named().into_iter().enumerate() {
            assert_eq!(ask as usize, position, "{name}");
            assert_eq!(steps[ask.step()].name, name);
        }
        assert_eq!(Ask::LowStock.step(), steps.len() - 1);
    }

    #[test]
    fn statements_have_as_many_parameters_as_are_declared_in_every_dialect() {
        let tables = super::super::tables::tables(1);
        for (_, name, statement) in named() {
            for dialect in [Dialect::Mysql, Dialect::Postgres, Dialect::Sqlite] {
                let text = statement.text(dialect, &tables, |table| table.name.clone());
                assert_eq!(text.matches('?').count(), statement.parameters.len(), "{name}: {text}");
                assert!(!text.contains('{'), "{name}: {text}");
                assert!(!(text.contains("FOR UPDATE") && dialect == Dialect::Sqlite), "{name}");
            }
        }
    }
}
