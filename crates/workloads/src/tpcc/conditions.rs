//! The consistency conditions of TPC-C (rev. 5.11, clause 3.3.2), each as a query that must find nothing.
//!
//! Sums that must be equal are added up with opposite signs in one pass over the rows, grouped by their owner. Every optimizer does that
//! well, and joins of sums not.

use dbdyno_model::Statement;

use crate::Check;

/// The most violating rows that are read: a wrong load violates a condition everywhere.
const MOST_FOUND: u64 = 100;

/// Groups, by these columns of `parts`, whose amounts do not add up to 0.
fn unbalanced(columns: &str, parts: &[&str]) -> String {
    let all = parts.join(" UNION ALL ");
    format!("SELECT {columns}, SUM(amount) FROM ({all}) AS parts GROUP BY {columns} HAVING SUM(amount) <> 0")
}

/// The sum of the delivered lines, by customer. Each part is added up by itself first: stores keep what they unite.
const DELIVERED: &str = "SELECT o_w_id, o_d_id, o_c_id, -SUM(ol_amount) FROM {orders} JOIN {order_line} \
     ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE ol_delivery_d IS NOT NULL \
     GROUP BY o_w_id, o_d_id, o_c_id";

fn sums_of_payments() -> [(u8, &'static str, String); 3] {
    let paid = |columns: &str| format!("SELECT {columns}, -SUM(h_amount) FROM {{history}} GROUP BY {columns}");
    let warehouses = unbalanced(
        "w",
        &["SELECT w_id AS w, w_ytd AS amount FROM {warehouse}", "SELECT d_w_id, -d_ytd FROM {district}"],
    );
    let warehouse = unbalanced("w", &["SELECT w_id AS w, w_ytd AS amount FROM {warehouse}", &paid("h_w_id")]);
    let district = unbalanced(
        "w, d",
        &["SELECT d_w_id AS w, d_id AS d, d_ytd AS amount FROM {district}", &paid("h_w_id, h_d_id")],
    );
    [
        (1, "W_YTD = sum(D_YTD)", warehouses),
        (8, "W_YTD = sum(H_AMOUNT)", warehouse),
        (9, "D_YTD = sum(H_AMOUNT)", district),
    ]
}

fn numbers_of_orders() -> [(u8, &'static str, String); 3] {
    let last = "SELECT d_w_id, d_id, d_next_o_id FROM {district} \
         LEFT JOIN (SELECT o_w_id, o_d_id, MAX(o_id) AS last_order FROM {orders} GROUP BY o_w_id, o_d_id) AS o \
         ON o_w_id = d_w_id AND o_d_id = d_id \
         LEFT JOIN (SELECT no_w_id, no_d_id, MAX(no_o_id) AS last_new FROM {new_order} GROUP BY no_w_id, no_d_id) AS n \
         ON no_w_id = d_w_id AND no_d_id = d_id \
         WHERE COALESCE(last_order, 0) <> d_next_o_id - 1 OR COALESCE(last_new, last_order) <> d_next_o_id - 1";
    let gaps = "SELECT no_w_id, no_d_id, MIN(no_o_id), MAX(no_o_id), COUNT(*) FROM {new_order} GROUP BY no_w_id, no_d_id \
         HAVING MAX(no_o_id) - MIN(no_o_id) + 1 <> COUNT(*)";
    // The 2,100 of the specification are those that are loaded as delivered; each delivery is also counted with its customer.
    let delivered = unbalanced(
        "w, d",
        &[
            "SELECT d_w_id AS w, d_id AS d, -2100 AS amount FROM {district}",
            "SELECT o_w_id, o_d_id, COUNT(*) FROM {orders} GROUP BY o_w_id, o_d_id",
            "SELECT no_w_id, no_d_id, -COUNT(*) FROM {new_order} GROUP BY no_w_id, no_d_id",
            "SELECT c_w_id, c_d_id, -SUM(c_delivery_cnt) FROM {customer} GROUP BY c_w_id, c_d_id",
        ],
    );
    [
        (2, "D_NEXT_O_ID - 1 = max(O_ID) = max(NO_O_ID)", last.into()),
        (3, "max(NO_O_ID) - min(NO_O_ID) + 1 = rows of NEW-ORDER", gaps.into()),
        (11, "rows of ORDER - rows of NEW-ORDER = 2100 + deliveries", delivered),
    ]
}

fn lines_of_orders() -> [(u8, &'static str, String); 4] {
    let counted = unbalanced(
        "w, d",
        &[
            "SELECT o_w_id AS w, o_d_id AS d, SUM(o_ol_cnt) AS amount FROM {orders} GROUP BY o_w_id, o_d_id",
            "SELECT ol_w_id, ol_d_id, -COUNT(*) FROM {order_line} GROUP BY ol_w_id, ol_d_id",
        ],
    );
    let carriers = "SELECT o_w_id, o_d_id, o_id, o_carrier_id FROM {orders} \
         LEFT JOIN {new_order} ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id \
         WHERE (o_carrier_id IS NULL) <> (no_o_id IS NOT NULL)";
    let of_each = "SELECT o_w_id, o_d_id, o_id, o_ol_cnt FROM {orders} WHERE o_ol_cnt <> \
         (SELECT COUNT(*) FROM {order_line} WHERE ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id)";
    let delivered = "SELECT ol_w_id, ol_d_id, ol_o_id, ol_number FROM {order_line} \
         LEFT JOIN {orders} ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id \
         WHERE (ol_delivery_d IS NULL) <> (o_carrier_id IS NULL)";
    [
        (4, "sum(O_OL_CNT) = rows of ORDER-LINE", counted),
        (5, "O_CARRIER_ID is null if and only if there is a row of NEW-ORDER", carriers.into()),
        (6, "O_OL_CNT = rows of ORDER-LINE of each order", of_each.into()),
        (7, "OL_DELIVERY_D is null if and only if O_CARRIER_ID is", delivered.into()),
    ]
}

fn balances() -> [(u8, &'static str, String); 2] {
    let customer =
        |amount: &str| format!("SELECT c_w_id AS w, c_d_id AS d, c_id AS c, {amount} AS amount FROM {{customer}}");
    let paid = "SELECT h_c_w_id, h_c_d_id, h_c_id, SUM(h_amount) FROM {history} GROUP BY h_c_w_id, h_c_d_id, h_c_id";
    let balance = unbalanced("w, d, c", &[&customer("c_balance"), DELIVERED, paid]);
    let both = unbalanced("w, d, c", &[&customer("c_balance + c_ytd_payment"), DELIVERED]);
    [
        (10, "C_BALANCE = sum(OL_AMOUNT) delivered - sum(H_AMOUNT)", balance),
        (12, "C_BALANCE + C_YTD_PAYMENT = sum(OL_AMOUNT) delivered", both),
    ]
}

/// Conditions 1 to 12, in this order.
pub fn conditions() -> Vec<Check> {
    let mut all: Vec<(u8, &str, String)> = vec![];
    all.extend(sums_of_payments());
    all.extend(numbers_of_orders());
    all.extend(lines_of_orders());
    all.extend(balances());
    all.sort_by_key(|(number, ..)| *number);
    let check = |(number, what, sql): (u8, &str, String)| Check::FindsNothing {
        what: format!("condition 3.3.2.{number}: {what}"),
        query: Statement::new(&format!("{sql} LIMIT {MOST_FOUND}"), &[], &[]),
    };
    all.into_iter().map(check).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_model::Dialect;

    #[test]
    fn there_are_twelve_in_order_and_they_name_tables_that_there_are() {
        let (conditions, tables) = (conditions(), super::super::tables::tables(1));
        assert_eq!(conditions.len(), 12);
        for (number, condition) in (1..).zip(&conditions) {
            let Check::FindsNothing { what, query } = condition else { panic!() };
            assert!(what.starts_with(&format!("condition 3.3.2.{number}: ")), "{what}");
            let text = query.text(Dialect::Mysql, &tables, |table| table.name.clone());
            assert!(!text.contains(['{', '?']), "{text}");
        }
    }
}
