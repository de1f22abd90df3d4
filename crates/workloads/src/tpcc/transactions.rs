//! The five transactions (TPC-C rev. 5.11, clauses 2.4 to 2.8), and the random input of each.
//!
//! A transaction reads what the specification has it read. Values that only a terminal would show are read and not computed.

use std::io::Write;

use dbdyno_model::{Choices, Difference, Failed, Operations, Row, Value};

use super::population::{
    CUSTOMERS, DISTRICTS, FEWEST_LINES, ITEMS, MOST_LINES, customer_discount, district_tax, item_price, warehouse_tax,
};
use super::random::{LastName, asked_name, between, customer, item, percent};
use super::statements::{
    Ask, BEGIN, BEGIN_READ_ONLY, COMMIT, DELIVERY, NEW_ORDER, ORDER_STATUS, PAYMENT, ROLLBACK, STOCK_LEVEL,
};

/// More customers of a district never have one name.
pub const MOST_NAMESAKES: usize = 128;
const DATA_SIZE_BYTES: usize = 500;
/// The sizes of the names of a warehouse and of a district, and of the text between them.
const NAMES_SIZE_BYTES: usize = 24;
const BETWEEN_NAMES: &[u8] = b"    ";
const DIST_SIZE_BYTES: usize = 24;

/// A client's terminal: its home warehouse, and how many there are.
#[derive(Clone, Copy, Debug)]
pub struct Terminal {
    pub warehouse: u64,
    pub warehouses: u64,
    /// The district whose stock level it asks for, always the same (2.8.1.1).
    pub district: u64,
}

impl Terminal {
    /// Clients are given warehouses in turn, and those of one warehouse its districts.
    pub fn of(choices: &Choices, warehouses: u64) -> Self {
        let (client, round) = (choices.client % warehouses, choices.client / warehouses);
        Self { warehouse: client + 1, warehouses, district: round % DISTRICTS + 1 }
    }

    /// Another warehouse, or the only one.
    fn another(&self, choices: &mut Choices) -> u64 {
        if self.warehouses == 1 {
            return 1;
        }
        let other = between(choices, 1, self.warehouses - 1);
        if other < self.warehouse { other } else { other + 1 }
    }
}

fn id(number: u64) -> Value<'static> {
    Value::Int(number as i64)
}

fn number(value: Value<'_>) -> i64 {
    match value {
        Value::Int(n) => n,
        Value::Null | Value::Text(_) => 0,
    }
}

/// A short text of a row that is needed longer than the row.
#[derive(Clone, Copy)]
struct Kept<const N: usize> {
    bytes: [u8; N],
    size: usize,
}

impl<const N: usize> Kept<N> {
    const EMPTY: Self = Self { bytes: [0; N], size: 0 };

    fn keep(&mut self, value: Value<'_>) {
        if let Value::Text(text) = value {
            self.append(text);
        }
    }

    /// Appends what fits.
    fn append(&mut self, text: &[u8]) {
        let size = text.len().min(N - self.size);
        self.bytes[self.size..self.size + size].copy_from_slice(&text[..size]);
        self.size += size;
    }

    fn text(&self) -> &[u8] {
        &self.bytes[..self.size]
    }
}

fn as_expected(what: &str, expected: i64, actual: i64) -> Result<(), Box<Difference>> {
    if expected == actual { Ok(()) } else { Err(Difference::new(what, expected, actual)) }
}

/// Reads the one row that there must be.
async fn read<O: Operations>(
    operations: &mut O,
    ask: Ask,
    params: &[Value<'_>],
    mut each: impl FnMut(Row<'_>),
) -> Result<(), Failed> {
    let rows = operations.sql(ask.step(), params, &mut each).await?;
    operations.verify(ask.step(), 1, || as_expected("rows", 1, rows as i64))
}

/// Writes one row.
async fn write<O: Operations>(operations: &mut O, ask: Ask, params: &[Value<'_>]) -> Result<(), Failed> {
    let rows = operations.sql(ask.step(), params, &mut |_| {}).await?;
    operations.verify(ask.step(), 0, || as_expected("rows written", 1, rows as i64))
}

/// How a transaction says which customer it means.
enum Asked {
    Number(u64),
    Name(LastName),
}

impl Asked {
    /// By name in 60 of 100 cases.
    fn draw(choices: &mut Choices) -> Self {
        match percent(choices, 60) {
            true => Asked::Name(LastName::new(asked_name(choices))),
            false => Asked::Number(customer(choices, CUSTOMERS)),
        }
    }

    /// The customer's number; of several of one name that in the middle, by first name (2.5.2.2).
    async fn find<O: Operations>(&self, operations: &mut O, warehouse: u64, district: u64) -> Result<u64, Failed> {
        let name = match self {
            Asked::Number(number) => return Ok(*number),
            Asked::Name(name) => name,
        };
        let (mut ids, mut count) = ([0; MOST_NAMESAKES], 0);
        let params = [id(warehouse), id(district), Value::Text(name.letters())];
        let mut each = |row: Row<'_>| {
            if let Some(slot) = ids.get_mut(count) {
                *slot = number(row.value(0)) as u64;
                count += 1;
            }
        };
        let step = Ask::CustomersByName.step();
        let rows = operations.sql(step, &params, &mut each).await?;
        let is_some = || if count > 0 { Ok(()) } else { Err(Difference::new("customers", "some", 0)) };
        operations.verify(step, rows, is_some)?;
        Ok(ids[count.saturating_sub(1) / 2])
    }
}

/// A line of a new order. An item of 0 is one that there is not.
#[derive(Clone, Copy)]
struct Line {
    item: u64,
    supplier: u64,
    quantity: i64,
}

struct Order {
    district: u64,
    customer: u64,
    lines: [Line; MOST_LINES as usize],
    count: usize,
}

impl Order {
    /// 2.4.1: 1 % of the orders have an unused item last, and 1 % of the lines come from another warehouse.
    fn draw(choices: &mut Choices, terminal: &Terminal) -> Self {
        let (district, customer) = (between(choices, 1, DISTRICTS), customer(choices, CUSTOMERS));
        let (count, is_rolled_back) = (between(choices, FEWEST_LINES, MOST_LINES) as usize, percent(choices, 1));
        let mut lines = [Line { item: 0, supplier: terminal.warehouse, quantity: 0 }; MOST_LINES as usize];
        for line in &mut lines[..count] {
            line.item = item(choices, ITEMS);
            if percent(choices, 1) {
                line.supplier = terminal.another(choices);
            }
            line.quantity = between(choices, 1, 10) as i64;
        }
        if is_rolled_back {
            lines[count - 1].item = 0;
        }
        Self { district, customer, lines, count }
    }

    fn lines(&self) -> &[Line] {
        &self.lines[..self.count]
    }
}

/// The rest of a stock: never less than 10 when enough can be ordered anew (2.4.2.2).
fn left_of(stock: i64, quantity: i64) -> i64 {
    if stock >= quantity + 10 { stock - quantity } else { stock - quantity + 91 }
}

pub async fn new_order<O: Operations>(
    terminal: Terminal,
    operations: &mut O,
    choices: &mut Choices,
) -> Result<(), Failed> {
    operations.kind(NEW_ORDER);
    let order = Order::draw(choices, &terminal);
    let (warehouse, district) = (id(terminal.warehouse), id(order.district));
    operations.control(BEGIN).await?;
    let number = open_order(&terminal, operations, &order).await?;
    let is_local = order.lines().iter().all(|line| line.supplier == terminal.warehouse);
    let head = [warehouse, district, Value::Int(number), id(order.customer)];
    let tail = [id(order.count as u64), Value::Int(i64::from(is_local))];
    write(operations, Ask::AddOrder, &[head[0], head[1], head[2], head[3], tail[0], tail[1]]).await?;
    write(operations, Ask::AddNewOrder, &head[..3]).await?;
    for (number_of_line, line) in (1..).zip(order.lines()) {
        if !add_line(&terminal, operations, [district, head[2], Value::Int(number_of_line)], line).await? {
            return operations.control(ROLLBACK).await;
        }
    }
    operations.control(COMMIT).await
}

/// Reads who orders where, and takes the next order's number.
async fn open_order<O: Operations>(terminal: &Terminal, operations: &mut O, order: &Order) -> Result<i64, Failed> {
    let (warehouse, district) = (terminal.warehouse, order.district);
    let (mut discount, mut tax) = (0, 0);
    let customer = [id(warehouse), id(district), id(order.customer)];
    read(operations, Ask::CustomerOfOrder, &customer, |row| {
        (discount, tax) = (number(row.value(0)), number(row.value(3)))
    })
    .await?;
    operations.verify(Ask::CustomerOfOrder.step(), 0, || {
        as_expected("c_discount", customer_discount(warehouse, district, order.customer), discount)?;
        as_expected("w_tax", warehouse_tax(warehouse), tax)
    })?;
    let mut next = 0;
    let read_district = |row: Row<'_>| (next, tax) = (number(row.value(0)), number(row.value(1)));
    read(operations, Ask::District, &customer[..2], read_district).await?;
    operations.verify(Ask::District.step(), 0, || as_expected("d_tax", district_tax(warehouse, district), tax))?;
    write(operations, Ask::NextOrder, &customer[..2]).await?;
    Ok(next)
}

/// Takes a line's item from the stock and adds it to the order; false if there is no such item. `place`: district, order, line.
async fn add_line<O: Operations>(
    terminal: &Terminal,
    operations: &mut O,
    head: [Value<'_>; 3],
    line: &Line,
) -> Result<bool, Failed> {
    let [district, order, number_of_line] = head;
    let mut price = 0;
    let rows = operations.sql(Ask::Item.step(), &[id(line.item)], &mut |row| price = number(row.value(0))).await?;
    operations.verify(Ask::Item.step(), rows, || {
        as_expected("rows", i64::from(line.item > 0), rows as i64)?;
        if line.item > 0 { as_expected("i_price", item_price(line.item), price) } else { Ok(()) }
    })?;
    if rows == 0 {
        return Ok(false);
    }
    let stock = [id(line.supplier), id(line.item)];
    let (mut quantity, mut dist) = (0, Kept::<DIST_SIZE_BYTES>::EMPTY);
    read(operations, Ask::Stock, &[district, stock[0], stock[1]], |row| {
        quantity = number(row.value(0));
        dist.keep(row.value(2));
    })
    .await?;
    let left = Value::Int(left_of(quantity, line.quantity));
    let (ordered, is_remote) = (Value::Int(line.quantity), Value::Int(i64::from(line.supplier != terminal.warehouse)));
    write(operations, Ask::TakeStock, &[left, ordered, is_remote, stock[0], stock[1]]).await?;
    let amount = Value::Int(price * line.quantity);
    let key = [id(terminal.warehouse), district, order, number_of_line];
    let [w, d, o, n] = key;
    let line = [w, d, o, n, stock[1], stock[0], ordered, amount, Value::Text(dist.text())];
    write(operations, Ask::AddLine, &line).await?;
    Ok(true)
}

/// A payment, and who makes it: in 15 of 100 cases a customer of another warehouse (2.5.1.2).
struct Paid {
    warehouse: u64,
    district: u64,
    of_warehouse: u64,
    of_district: u64,
    cents: i64,
}

impl Paid {
    fn draw(choices: &mut Choices, terminal: &Terminal) -> Self {
        let (warehouse, district) = (terminal.warehouse, between(choices, 1, DISTRICTS));
        let cents = between(choices, 100, 500_000) as i64;
        let (of_warehouse, of_district) = match percent(choices, 15) {
            true => (terminal.another(choices), between(choices, 1, DISTRICTS)),
            false => (warehouse, district),
        };
        Self { warehouse, district, of_warehouse, of_district, cents }
    }

    /// The C_DATA of a customer with bad credit afterwards: this payment first (2.5.2.2).
    fn data(&self, customer: u64, before: &[u8]) -> Kept<DATA_SIZE_BYTES> {
        let mut data = Kept::EMPTY;
        let mut rest = &mut data.bytes[..];
        let (of_district, of_warehouse) = (self.of_district, self.of_warehouse);
        let (district, warehouse, cents) = (self.district, self.warehouse, self.cents);
        // Six numbers always have room in 500 bytes.
        let _ = write!(
            rest,
            "{customer} {of_district} {of_warehouse} {district} {warehouse} {}.{:02}|",
            cents / 100,
            cents % 100
        );
        data.size = DATA_SIZE_BYTES - rest.len();
        data.append(before);
        data
    }
}

pub async fn payment<O: Operations>(
    terminal: Terminal,
    operations: &mut O,
    choices: &mut Choices,
) -> Result<(), Failed> {
    operations.kind(PAYMENT);
    let paid = Paid::draw(choices, &terminal);
    let asked = Asked::draw(choices);
    let (warehouse, district, amount) = (id(paid.warehouse), id(paid.district), Value::Int(paid.cents));
    let mut names = Kept::<NAMES_SIZE_BYTES>::EMPTY;
    operations.control(BEGIN).await?;
    write(operations, Ask::PayWarehouse, &[amount, warehouse]).await?;
    read(operations, Ask::PaidWarehouse, &[warehouse], |row| names.keep(row.value(0))).await?;
    names.append(BETWEEN_NAMES);
    write(operations, Ask::PayDistrict, &[amount, warehouse, district]).await?;
    read(operations, Ask::PaidDistrict, &[warehouse, district], |row| names.keep(row.value(0))).await?;
    let customer = asked.find(operations, paid.of_warehouse, paid.of_district).await?;
    pay_by(&paid, operations, customer).await?;
    let of = [id(customer), id(paid.of_district), id(paid.of_warehouse)];
    let history = [of[0], of[1], of[2], district, warehouse, amount, Value::Text(names.text())];
    write(operations, Ask::AddHistory, &history).await?;
    operations.control(COMMIT).await
}

/// Reads the customer and takes the payment from its balance.
async fn pay_by<O: Operations>(paid: &Paid, operations: &mut O, customer: u64) -> Result<(), Failed> {
    const CREDIT: usize = 9;
    let key = [id(paid.of_warehouse), id(paid.of_district), id(customer)];
    let amount = Value::Int(paid.cents);
    let mut has_bad_credit = false;
    let each = |row: Row<'_>| has_bad_credit = row.value(CREDIT) == Value::Text(b"BC");
    read(operations, Ask::PayingCustomer, &key, each).await?;
    if !has_bad_credit {
        return write(operations, Ask::PayCustomer, &[amount, amount, key[0], key[1], key[2]]).await;
    }
    let mut data = Kept::EMPTY;
    let each = |row: Row<'_>| {
        if let Value::Text(before) = row.value(0) {
            data = paid.data(customer, before);
        }
    };
    read(operations, Ask::CustomerData, &key, each).await?;
    let data = Value::Text(data.text());
    write(operations, Ask::PayCustomerWithData, &[amount, amount, data, key[0], key[1], key[2]]).await
}

pub async fn order_status<O: Operations>(
    terminal: Terminal,
    operations: &mut O,
    choices: &mut Choices,
) -> Result<(), Failed> {
    operations.kind(ORDER_STATUS);
    let (warehouse, district) = (terminal.warehouse, between(choices, 1, DISTRICTS));
    let asked = Asked::draw(choices);
    operations.control(BEGIN_READ_ONLY).await?;
    let customer = asked.find(operations, warehouse, district).await?;
    let of = [id(warehouse), id(district), id(customer)];
    read(operations, Ask::CustomerStatus, &of, |_| {}).await?;
    let mut order = 0;
    read(operations, Ask::LastOrder, &of, |row| order = number(row.value(0))).await?;
    let lines = operations.sql(Ask::Lines.step(), &[of[0], of[1], Value::Int(order)], &mut |_| {}).await?;
    operations.verify(Ask::Lines.step(), lines, || match lines {
        FEWEST_LINES..=MOST_LINES => Ok(()),
        other => Err(Difference::new("lines", format!("{FEWEST_LINES} to {MOST_LINES}"), other)),
    })?;
    operations.control(COMMIT).await
}

/// The oldest order of every district that has one to deliver, all in one transaction.
pub async fn delivery<O: Operations>(
    terminal: Terminal,
    operations: &mut O,
    choices: &mut Choices,
) -> Result<(), Failed> {
    operations.kind(DELIVERY);
    let carrier = id(between(choices, 1, 10));
    operations.control(BEGIN).await?;
    for district in 1..=DISTRICTS {
        let of = [id(terminal.warehouse), id(district)];
        let mut order = 0;
        let step = Ask::OldestNewOrder.step();
        if operations.sql(step, &of, &mut |row| order = number(row.value(0))).await? > 0 {
            deliver([of[0], of[1], Value::Int(order)], operations, carrier).await?;
        }
    }
    operations.control(COMMIT).await
}

async fn deliver<O: Operations>(order: [Value<'_>; 3], operations: &mut O, carrier: Value<'_>) -> Result<(), Failed> {
    let [warehouse, district, number_of_order] = order;
    write(operations, Ask::RemoveNewOrder, &order).await?;
    let mut customer = 0;
    read(operations, Ask::CustomerOfDelivery, &order, |row| customer = number(row.value(0))).await?;
    write(operations, Ask::DeliverOrder, &[carrier, warehouse, district, number_of_order]).await?;
    operations.sql(Ask::DeliverLines.step(), &order, &mut |_| {}).await?;
    let mut cents = 0;
    read(operations, Ask::SumOfLines, &order, |row| cents = number(row.value(0))).await?;
    let to = [Value::Int(cents), warehouse, district, Value::Int(customer)];
    write(operations, Ask::DeliverToCustomer, &to).await
}

pub async fn stock_level<O: Operations>(
    terminal: Terminal,
    operations: &mut O,
    choices: &mut Choices,
) -> Result<(), Failed> {
    operations.kind(STOCK_LEVEL);
    const LAST_ORDERS: i64 = 20;
    let least = id(between(choices, 10, 20));
    let of = [id(terminal.warehouse), id(terminal.district)];
    let mut next = 0;
    operations.control(BEGIN_READ_ONLY).await?;
    read(operations, Ask::NextOrderOfDistrict, &of, |row| next = number(row.value(0))).await?;
    let orders = [Value::Int(next), Value::Int(next - LAST_ORDERS)];
    read(operations, Ask::LowStock, &[of[0], of[1], orders[0], orders[1], least], |_| {}).await?;
    operations.control(COMMIT).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_are_given_warehouses_in_turn_and_then_districts() {
        let of = |client| {
            let terminal = Terminal::of(&Choices::new(1, client, 99, 0), 4);
            (terminal.warehouse, terminal.district)
        };
        assert_eq!([0, 3, 4, 43].map(of), [(1, 1), (4, 1), (1, 2), (4, 1)]);
    }

    #[test]
    fn another_warehouse_is_never_the_own_one() {
        let mut choices = Choices::new(1, 2, 3, 4);
        let mut others = |warehouse, warehouses| {
            let terminal = Terminal { warehouse, warehouses, district: 1 };
            let mut warehouses: Vec<u64> = (0..200).map(|_| terminal.another(&mut choices)).collect();
            warehouses.sort_unstable();
            warehouses.dedup();
            warehouses
        };
        assert_eq!(others(2, 4), [1, 3, 4]);
        assert_eq!(others(1, 1), [1]);
    }

    #[test]
    fn one_order_of_a_hundred_has_an_unused_item_and_one_line_of_a_hundred_comes_from_elsewhere() {
        let terminal = Terminal { warehouse: 2, warehouses: 5, district: 1 };
        let (mut rolled_back, mut remote, mut lines) = (0, 0, 0);
        for step in 0..20_000 {
            let order = Order::draw(&mut Choices::new(1, 0, 1, step), &terminal);
            let (last, others) = order.lines().split_last().unwrap();
            assert!(others.iter().all(|line| line.item > 0) && (4..15).contains(&others.len()));
            rolled_back += usize::from(last.item == 0);
            remote += order.lines().iter().filter(|line| line.supplier != 2).count();
            lines += order.count;
        }
        assert!((150..250).contains(&rolled_back), "{rolled_back} of 20000");
        assert!((lines / 125..lines / 80).contains(&remote), "{remote} of {lines}");
    }

    #[test]
    fn fifteen_payers_of_a_hundred_are_of_another_warehouse_and_sixty_are_asked_for_by_name() {
        let (mut remote, mut named) = (0, 0);
        for step in 0..20_000 {
            let choices = &mut Choices::new(1, 0, 1, step);
            let paid = Paid::draw(choices, &Terminal { warehouse: 2, warehouses: 5, district: 1 });
            assert!(paid.of_warehouse != 2 || paid.of_district == paid.district);
            remote += usize::from(paid.of_warehouse != 2);
            named += usize::from(matches!(Asked::draw(choices), Asked::Name(_)));
        }
        assert!((2700..3300).contains(&remote) && (11_600..12_400).contains(&named), "{remote}, {named} of 20000");
    }

    #[test]
    fn stock_is_filled_up_before_it_falls_below_ten() {
        assert_eq!(
            [(20, 10), (19, 10), (10, 1), (100, 3)].map(|(stock, quantity)| left_of(stock, quantity)),
            [10, 100, 100, 97]
        );
    }

    #[test]
    fn bad_credit_is_written_before_what_was_there_and_the_end_is_lost() {
        let paid = Paid { warehouse: 1, district: 2, of_warehouse: 3, of_district: 4, cents: 123_405 };
        assert_eq!(paid.data(5, b"old").text(), b"5 4 3 2 1 1234.05|old");
        let long = paid.data(5, &[b'x'; 500]);
        assert_eq!((long.text().len(), long.text().last()), (500, Some(&b'x')));
    }
}
