//! The initial rows of every table (TPC-C rev. 5.11, clause 4.3.3), each a function of its number.

use dbdyno_model::{Choices, Population, RowBuffer, Value, mix};

use super::random::{LastName, between, loaded_name, percent, push_data, push_digits, push_text};

pub const DISTRICTS: u64 = 10;
/// The customers of each district. It has as many orders, and each of its customers one of them.
pub const CUSTOMERS: u64 = 3000;
pub const ITEMS: u64 = 100_000;
pub const MOST_LINES: u64 = 15;
pub const FEWEST_LINES: u64 = 5;
/// The orders from here on are not delivered.
const FIRST_NEW_ORDER: u64 = 2101;
const NEW_ORDERS: u64 = CUSTOMERS - FIRST_NEW_ORDER + 1;

/// When everything was loaded. The specification has the time of loading; this is the same in every run.
const LOADED_AT: i64 = 20260101000000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    Warehouses,
    Districts,
    Customers,
    History,
    NewOrders,
    Orders,
    OrderLines,
    Items,
    Stock,
}

/// The owner of a row: a warehouse, a district of it, and a number within that, all from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    warehouse: u64,
    district: u64,
    id: u64,
}

impl Place {
    /// The position of the row with this number, if every district has `each`.
    fn new(number: u64, each: u64) -> Self {
        let index = number - 1;
        let (district, id) = (index / each, index % each + 1);
        Self { warehouse: district / DISTRICTS + 1, district: district % DISTRICTS + 1, id }
    }
}

impl Rows {
    /// How many numbers there are for so many warehouses.
    pub fn numbers(self, warehouses: u64) -> u64 {
        let per_district = match self {
            Rows::Warehouses => return warehouses,
            Rows::Items => return ITEMS,
            Rows::Stock => return warehouses * ITEMS,
            Rows::Districts => 1,
            Rows::Customers | Rows::History | Rows::Orders => CUSTOMERS,
            Rows::NewOrders => NEW_ORDERS,
            Rows::OrderLines => CUSTOMERS * MOST_LINES,
        };
        warehouses * DISTRICTS * per_district
    }

    /// The random values of the row with this number; those that are also needed alone are drawn first.
    fn choices(self, number: u64) -> Choices {
        Choices::new(self as u64, number, 1, 0)
    }
}

/// An item's price, in cents.
pub fn item_price(item: u64) -> i64 {
    price(&mut Rows::Items.choices(item))
}

fn price(choices: &mut Choices) -> i64 {
    between(choices, 100, 10_000) as i64
}

/// A warehouse's sales tax, in units of 0.0001.
pub fn warehouse_tax(warehouse: u64) -> i64 {
    tax(&mut Rows::Warehouses.choices(warehouse))
}

/// A district's sales tax, in units of 0.0001.
pub fn district_tax(warehouse: u64, district: u64) -> i64 {
    tax(&mut Rows::Districts.choices((warehouse - 1) * DISTRICTS + district))
}

fn tax(choices: &mut Choices) -> i64 {
    choices.below(2001) as i64
}

/// A customer's discount, in units of 0.0001.
pub fn customer_discount(warehouse: u64, district: u64, customer: u64) -> i64 {
    let number = ((warehouse - 1) * DISTRICTS + district - 1) * CUSTOMERS + customer;
    discount(&mut Rows::Customers.choices(number))
}

fn discount(choices: &mut Choices) -> i64 {
    choices.below(5001) as i64
}

fn lines_of_order(order: u64) -> u64 {
    lines(&mut Rows::Orders.choices(order))
}

fn lines(choices: &mut Choices) -> u64 {
    between(choices, FEWEST_LINES, MOST_LINES)
}

/// The customer of an order: a permutation of the district's customers. Four Feistel rounds on 12 bits permute 0..4096, and are repeated until
/// they come to 0..3000 (Black, Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002: cycle walking).
fn customer_of_order(position: Place) -> u64 {
    let district = position.warehouse * DISTRICTS + position.district;
    let mut x = position.id - 1;
    loop {
        let (mut left, mut right) = (x >> 6, x & 63);
        for round in 0..4 {
            (left, right) = (right, left ^ (mix(district << 8 | round << 6 | right) & 63));
        }
        x = left << 6 | right;
        if x < CUSTOMERS {
            return x + 1;
        }
    }
}

fn push_numbers(numbers: impl IntoIterator<Item = u64>, out: &mut RowBuffer) {
    numbers.into_iter().for_each(|n| out.push(Value::Int(n as i64)));
}

/// Two streets, city, state and zip code (4.3.2.7).
fn push_address(choices: &mut Choices, out: &mut RowBuffer) {
    for _ in 0..3 {
        push_text(choices, 10, 20, out);
    }
    push_text(choices, 2, 2, out);
    push_digits(choices, 4, b"11111", out);
}

impl Population for Rows {
    fn has(&self, number: u64) -> bool {
        *self != Rows::OrderLines || (number - 1) % MOST_LINES < lines_of_order((number - 1) / MOST_LINES + 1)
    }

    fn make(&self, number: u64, out: &mut RowBuffer) {
        let choices = &mut self.choices(number);
        match self {
            Rows::Warehouses => warehouse(number, choices, out),
            Rows::Districts => district(number, choices, out),
            Rows::Customers => customer(number, choices, out),
            Rows::History => history(number, choices, out),
            Rows::NewOrders => new_order(number, out),
            Rows::Orders => order(number, choices, out),
            Rows::OrderLines => order_line(number, choices, out),
            Rows::Items => item(number, choices, out),
            Rows::Stock => stock(number, choices, out),
        }
    }
}

/// Amounts are in cents.
fn warehouse(number: u64, choices: &mut Choices, out: &mut RowBuffer) {
    let tax = tax(choices);
    push_numbers([number], out);
    push_text(choices, 6, 10, out);
    push_address(choices, out);
    out.push(Value::Int(tax));
    out.push(Value::Int(30_000_000));
}

fn district(number: u64, choices: &mut Choices, out: &mut RowBuffer) {
    let (tax, position) = (tax(choices), Place::new(number, 1));
    push_numbers([position.warehouse, position.district], out);
    push_text(choices, 6, 10, out);
    push_address(choices, out);
    out.push(Value::Int(tax));
    out.push(Value::Int(3_000_000));
    push_numbers([CUSTOMERS + 1], out);
}

fn customer(number: u64, choices: &mut Choices, out: &mut RowBuffer) {
    let (discount, position) = (discount(choices), Place::new(number, CUSTOMERS));
    push_numbers([position.warehouse, position.district, position.id], out);
    push_text(choices, 8, 16, out);
    out.push(Value::Text(b"OE"));
    let name = if position.id <= 1000 { position.id - 1 } else { loaded_name(choices) };
    out.push(Value::Text(LastName::new(name).letters()));
    push_address(choices, out);
    push_digits(choices, 16, b"", out);
    out.push(Value::Int(LOADED_AT));
    out.push(Value::Text(if percent(choices, 10) { b"BC" } else { b"GC" }));
    for number in [5_000_000, discount, -1000, 1000, 1, 0] {
        out.push(Value::Int(number));
    }
    push_text(choices, 300, 500, out);
}

fn history(number: u64, choices: &mut Choices, out: &mut RowBuffer) {
    let position = Place::new(number, CUSTOMERS);
    push_numbers([position.id, position.district, position.warehouse, position.district, position.warehouse], out);
    out.push(Value::Int(LOADED_AT));
    out.push(Value::Int(1000));
    push_text(choices, 12, 24, out);
}

fn new_order(number: u64, out: &mut RowBuffer) {
    let position = Place::new(number, NEW_ORDERS);
    push_numbers([position.warehouse, position.district, FIRST_NEW_ORDER - 1 + position.id], out);
}

fn order(number: u64, choices: &mut Choices, out: &mut RowBuffer) {
    let (lines, position) = (lines(choices), Place::new(number, CUSTOMERS));
    push_numbers([position.warehouse, position.district, position.id, customer_of_order(position)], out);
    out.push(Value::Int(LOADED_AT));
    let carrier = between(choices, 1, 10);
    out.push(if position.id < FIRST_NEW_ORDER { Value::Int(carrier as i64) } else { Value::Null });
    push_numbers([lines, 1], out);
}

fn order_line(number: u64, choices: &mut Choices, out: &mut RowBuffer) {
    let position = Place::new((number - 1) / MOST_LINES + 1, CUSTOMERS);
    let line = (number - 1) % MOST_LINES + 1;
    push_numbers([position.warehouse, position.district, position.id, line], out);
    push_numbers([between(choices, 1, ITEMS), position.warehouse], out);
    let (delivered, amount) = match position.id {
        FIRST_NEW_ORDER.. => (Value::Null, between(choices, 1, 999_999)),
        _ => (Value::Int(LOADED_AT), 0),
    };
    out.push(delivered);
    push_numbers([5, amount], out);
    push_text(choices, 24, 24, out);
}

fn item(number: u64, choices: &mut Choices, out: &mut RowBuffer) {
    let price = price(choices);
    push_numbers([number, between(choices, 1, 10_000)], out);
    push_text(choices, 14, 24, out);
    out.push(Value::Int(price));
    push_data(choices, out);
}

fn stock(number: u64, choices: &mut Choices, out: &mut RowBuffer) {
    let (warehouse, item) = ((number - 1) / ITEMS + 1, (number - 1) % ITEMS + 1);
    push_numbers([warehouse, item, between(choices, 10, 100)], out);
    for _ in 0..DISTRICTS {
        push_text(choices, 24, 24, out);
    }
    push_numbers([0, 0, 0], out);
    push_data(choices, out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{HashMap, HashSet};

    const ALL: [Rows; 9] = [
        Rows::Warehouses,
        Rows::Districts,
        Rows::Customers,
        Rows::History,
        Rows::NewOrders,
        Rows::Orders,
        Rows::OrderLines,
        Rows::Items,
        Rows::Stock,
    ];

    fn made(rows: Rows, number: u64) -> RowBuffer {
        let mut out = RowBuffer::default();
        rows.make(number, &mut out);
        out
    }

    fn numbers(rows: Rows, number: u64, columns: std::ops::Range<usize>) -> Vec<String> {
        let made = made(rows, number);
        columns.map(|i| made.row().value(i).to_string()).collect()
    }

    #[test]
    fn there_are_as_many_rows_as_clause_1_2_1_says() {
        let counts = ALL.map(|rows| rows.numbers(2));
        assert_eq!(counts, [2, 20, 60_000, 60_000, 18_000, 60_000, 900_000, 100_000, 200_000]);
        let lines = (1..=900_000).filter(|&n| Rows::OrderLines.has(n)).count();
        assert!((590_000..610_000).contains(&lines), "{lines} lines, 10 an order");
    }

    #[test]
    fn rows_belong_to_their_warehouse_and_district() {
        assert_eq!(numbers(Rows::Districts, 11, 0..2), ["2", "1"]);
        assert_eq!(numbers(Rows::Customers, 33_000, 0..3), ["2", "1", "3000"]);
        assert_eq!(numbers(Rows::History, 3001, 0..5), ["1", "2", "1", "2", "1"]);
        assert_eq!(numbers(Rows::NewOrders, 901, 0..3), ["1", "2", "2101"]);
        assert_eq!(numbers(Rows::OrderLines, 45_000 + 16, 0..4), ["1", "2", "2", "1"]);
        assert_eq!(numbers(Rows::Stock, 100_007, 0..2), ["2", "7"]);
    }

    #[test]
    fn every_customer_of_a_district_has_one_order_and_the_last_900_are_not_delivered() {
        let customers: HashSet<String> =
            (1..=CUSTOMERS).map(|order| numbers(Rows::Orders, order, 3..4).remove(0)).collect();
        assert_eq!(customers.len(), CUSTOMERS as usize);
        assert_ne!(numbers(Rows::Orders, 1, 3..4), numbers(Rows::Orders, 3001, 3..4));
        let is_delivered = |order| made(Rows::Orders, order).row().value(5) != Value::Null;
        assert_eq!((is_delivered(2100), is_delivered(2101)), (true, false));
        let line = |order: u64| numbers(Rows::OrderLines, (order - 1) * MOST_LINES + 1, 6..9);
        assert_eq!(line(2100), ["20260101000000", "5", "0"]);
        assert_eq!(line(2101)[..2], ["NULL", "5"]);
        assert_ne!(line(2101)[2], "0");
    }

    #[test]
    fn what_is_asked_for_alone_is_what_the_row_has() {
        assert_eq!(numbers(Rows::Items, 77, 3..4), [item_price(77).to_string()]);
        assert_eq!(numbers(Rows::Warehouses, 3, 7..8), [warehouse_tax(3).to_string()]);
        assert_eq!(numbers(Rows::Districts, 25, 8..9), [district_tax(3, 5).to_string()]);
        assert_eq!(numbers(Rows::Customers, 33_000, 15..16), [customer_discount(2, 1, 3000).to_string()]);
        assert_eq!(numbers(Rows::Orders, 9, 6..7), [lines_of_order(9).to_string()]);
    }

    #[test]
    fn names_repeat_and_a_tenth_of_the_customers_has_bad_credit() {
        let (mut names, mut bad) = (HashMap::new(), 0);
        for customer in 1..=CUSTOMERS {
            let row = made(Rows::Customers, customer);
            *names.entry(row.row().value(5).to_string()).or_insert(0) += 1;
            bad += usize::from(row.row().value(13) == Value::Text(b"BC"));
            let Value::Text(data) = row.row().value(20) else { panic!() };
            assert!((300..=500).contains(&data.len()));
        }
        assert_eq!(names.len(), 1000);
        assert!(*names.values().max().unwrap() < super::super::transactions::MOST_NAMESAKES);
        assert!((220..380).contains(&bad), "{bad} of 3000");
    }
}
