//! smallbank: customers of a small bank, each with a savings and a checking account, and the transactions of Alomari, Cahill, Fekete and Röhm
//! ("The cost of serializability on platforms that use snapshot isolation", ICDE 2008).
//!
//! Balances are changed in place, and money only moves or is paid in or out: the sum of all balances grows by what was acknowledged.

use std::io::Write;

use dbdyno_model::{Choices, Column, Failed, Index, Kind, Operation, Operations, Source, Step, Table, Value};

use crate::options::Options;
use crate::weights::{total, weighted};
use crate::{Access, Check, Workload};

/// The hot spot: 1,000 of the 18,000 customers, whom 90 % of the choices are of.
const HOT_ROWS: f64 = 1.0 / 18.0;
const HOT_CHOICES: f64 = 0.9;

/// Balances at first, in cents.
const LEAST_BALANCE: i64 = 1_000_000;
const BALANCES: u32 = 4_000_001;
/// The amounts of `SmallBankConstants` in BenchBase, in cents.
const DEPOSIT: i64 = 130;
const SAVING: i64 = 2020;
const CHECK: i64 = 500;
const PAYMENT: i64 = 500;
/// A check that is not covered costs so much more.
const PENALTY: i64 = 100;

/// More than an account ever has, in cents, where no transaction's change is lost. Where a store lets two move the same
/// money, debts and credits would double each time until they are too large for their column.
const MOST_MOVED: i64 = 10_000_000_000;

const NAME_WIDTH: usize = 20;

const ACCOUNT: usize = 0;
const SAVINGS: usize = 1;
const CHECKING: usize = 2;

const NAME: usize = 1;
const BALANCE: usize = 1;

const FIND: usize = 0;
const GET_SAVINGS: usize = 1;
const GET_CHECKING: usize = 2;
const ADD_SAVINGS: usize = 3;
const ADD_CHECKING: usize = 4;
const BEGIN: usize = 5;
const BEGIN_READ_ONLY: usize = 6;
const COMMIT: usize = 7;
const ROLLBACK: usize = 8;
const KINDS: usize = 9;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Transaction {
    Balance,
    DepositChecking,
    TransactSavings,
    Amalgamate,
    WriteCheck,
    SendPayment,
}

/// Transactions, the names of the steps that stand for them, and their weights.
type Mix = &'static [(Transaction, &'static str, u64)];

/// As in the paper: each as often.
const UNIFORM: Mix = &[
    (Transaction::Balance, "balance", 20),
    (Transaction::DepositChecking, "deposit_checking", 20),
    (Transaction::TransactSavings, "transact_savings", 20),
    (Transaction::Amalgamate, "amalgamate", 20),
    (Transaction::WriteCheck, "write_check", 20),
];
/// As in BenchBase, which has one more.
const PAYMENTS: Mix = &[
    (Transaction::Balance, "balance", 15),
    (Transaction::DepositChecking, "deposit_checking", 15),
    (Transaction::TransactSavings, "transact_savings", 15),
    (Transaction::Amalgamate, "amalgamate", 15),
    (Transaction::WriteCheck, "write_check", 15),
    (Transaction::SendPayment, "send_payment", 25),
];
/// The values of the option `mix`, the default first.
const MIXES: [(&str, Mix); 2] = [("uniform", UNIFORM), ("payments", PAYMENTS)];

#[derive(Clone, Debug)]
pub struct SmallBank {
    rows: u64,
    access: Access,
    mix: Mix,
    tables: [Table; 3],
    steps: Vec<Step>,
    checks: [Check; 4],
}

impl SmallBank {
    fn new(rows: u64, mix: Mix) -> Self {
        let count = |table| Check::RowCount { table };
        let money = Check::SumOfIncrements { columns: vec![(SAVINGS, BALANCE), (CHECKING, BALANCE)] };
        Self {
            rows,
            access: Access::HotSet { rows: HOT_ROWS, choices: HOT_CHOICES },
            mix,
            tables: tables(),
            steps: steps(mix),
            checks: [count(ACCOUNT), count(SAVINGS), count(CHECKING), money],
        }
    }

    /// The index of a transaction in the mix.
    fn drawn(&self, choices: &mut Choices) -> usize {
        let weight = |&(_, _, weight): &(_, _, u64)| weight;
        weighted(self.mix, weight, choices.below(total(self.mix, weight)))
    }

    /// Two customers; they are the same only if there is no other.
    fn customers(&self, choices: &mut Choices) -> [u64; 2] {
        let [first, second] = [(); 2].map(|()| self.access.key(choices, self.rows));
        [first, if first == second { 1 + second % self.rows } else { second }]
    }
}

fn tables() -> [Table; 3] {
    let id = || Column::new("custid", Kind::Int, Source::Key);
    let name = Column::new("name", Kind::Varchar(NAME_WIDTH as u16), Source::Padded(b'x'));
    let balance = |salt| {
        let source = Source::Balance { salt, least: LEAST_BALANCE, below: BALANCES };
        Column::new("balance", Kind::BigInt, source)
    };
    let account = Table::new("account", vec![id(), name]);
    [
        Table { indexes: vec![Index::unique(&[NAME])], ..account },
        Table::new("savings", vec![id(), balance(1)]),
        Table::new("checking", vec![id(), balance(2)]),
    ]
}

fn steps(mix: Mix) -> Vec<Step> {
    let steps = [
        ("find_account", Operation::Find { table: ACCOUNT, column: NAME }),
        ("get_savings", Operation::Get { table: SAVINGS }),
        ("get_checking", Operation::Get { table: CHECKING }),
        ("add_to_savings", Operation::Add { table: SAVINGS, column: BALANCE }),
        ("add_to_checking", Operation::Add { table: CHECKING, column: BALANCE }),
        ("begin", Operation::Begin { read_only: false }),
        ("begin_read_only", Operation::Begin { read_only: true }),
        ("commit", Operation::Commit),
        ("rollback", Operation::Rollback),
    ];
    let kinds = mix.iter().map(|&(_, name, _)| (name, Operation::Transaction));
    steps.into_iter().chain(kinds).map(|(name, operation)| Step::new(name, operation)).collect()
}

/// The name that a customer is looked up by.
fn name_of(customer: u64) -> [u8; NAME_WIDTH] {
    let mut name = [b'x'; NAME_WIDTH];
    // The digits always fit.
    let _ = write!(&mut name[..], "{customer}");
    name
}

async fn find<O: Operations>(operations: &mut O, customer: u64) -> Result<(), Failed> {
    operations.find(FIND, Value::Text(&name_of(customer)), customer).await
}

/// Reads a balance by one of the steps for it.
async fn balance<O: Operations>(operations: &mut O, step: usize, customer: u64) -> Result<i64, Failed> {
    operations.get(step, customer).await?;
    match operations.row().value(BALANCE) {
        Value::Int(cents) => Ok(cents),
        Value::Null | Value::Text(_) => Ok(0),
    }
}

/// Moves money from a checking account to another; false if there is not enough.
async fn send_payment<O: Operations>(operations: &mut O, [from, to]: [u64; 2]) -> Result<bool, Failed> {
    find(operations, from).await?;
    find(operations, to).await?;
    if balance(operations, GET_CHECKING, from).await? < PAYMENT {
        return Ok(false);
    }
    operations.add(ADD_CHECKING, from, -PAYMENT).await?;
    operations.add(ADD_CHECKING, to, PAYMENT).await?;
    Ok(true)
}

/// Moves all that a customer has to the checking account of another.
async fn amalgamate<O: Operations>(operations: &mut O, [from, to]: [u64; 2]) -> Result<bool, Failed> {
    find(operations, from).await?;
    find(operations, to).await?;
    let moved = |cents: i64| cents.clamp(-MOST_MOVED, MOST_MOVED);
    let savings = moved(balance(operations, GET_SAVINGS, from).await?);
    let checking = moved(balance(operations, GET_CHECKING, from).await?);
    operations.add(ADD_SAVINGS, from, -savings).await?;
    operations.add(ADD_CHECKING, from, -checking).await?;
    operations.add(ADD_CHECKING, to, savings + checking).await?;
    Ok(true)
}

async fn write_check<O: Operations>(operations: &mut O, customer: u64) -> Result<bool, Failed> {
    find(operations, customer).await?;
    let savings = balance(operations, GET_SAVINGS, customer).await?;
    let is_covered = savings + balance(operations, GET_CHECKING, customer).await? >= CHECK;
    operations.add(ADD_CHECKING, customer, if is_covered { -CHECK } else { -CHECK - PENALTY }).await?;
    Ok(true)
}

/// Pays in or out; false if there is not enough.
async fn transact_savings<O: Operations>(operations: &mut O, customer: u64, amount: i64) -> Result<bool, Failed> {
    find(operations, customer).await?;
    if balance(operations, GET_SAVINGS, customer).await? + amount < 0 {
        return Ok(false);
    }
    operations.add(ADD_SAVINGS, customer, amount).await?;
    Ok(true)
}

impl Workload for SmallBank {
    const NAME: &'static str = "smallbank";
    const TRANSACTION: &'static str = "transaction";

    fn from_options(options: &mut Options<'_>) -> Result<Self, String> {
        Ok(Self::new(options.rows, options.one_of("mix", &MIXES)?))
    }

    fn tables(&self) -> &[Table] {
        &self.tables
    }

    fn steps(&self) -> &[Step] {
        &self.steps
    }

    fn checks(&self) -> &[Check] {
        &self.checks
    }

    async fn transaction<O: Operations>(&self, operations: &mut O, choices: &mut Choices) -> Result<(), Failed> {
        let drawn = self.drawn(choices);
        let customers = self.customers(choices);
        let saving = if choices.below(2) == 0 { SAVING } else { -SAVING };
        let (transaction, ..) = self.mix[drawn];
        operations.kind(KINDS + drawn);
        let is_reading = transaction == Transaction::Balance;
        operations.control(if is_reading { BEGIN_READ_ONLY } else { BEGIN }).await?;
        let is_kept = match transaction {
            Transaction::Balance => {
                find(operations, customers[0]).await?;
                operations.get(GET_SAVINGS, customers[0]).await?;
                operations.get(GET_CHECKING, customers[0]).await?;
                true
            }
            Transaction::DepositChecking => {
                find(operations, customers[0]).await?;
                operations.add(ADD_CHECKING, customers[0], DEPOSIT).await?;
                true
            }
            Transaction::TransactSavings => transact_savings(operations, customers[0], saving).await?,
            Transaction::Amalgamate => amalgamate(operations, customers).await?,
            Transaction::WriteCheck => write_check(operations, customers[0]).await?,
            Transaction::SendPayment => send_payment(operations, customers).await?,
        };
        operations.control(if is_kept { COMMIT } else { ROLLBACK }).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_model::{Row, RowBuffer};
    use std::collections::BTreeMap;

    /// The balances by (table, customer), what the transaction changed, and how often each step was issued.
    #[derive(Default)]
    struct Bank {
        balances: BTreeMap<(usize, u64), i64>,
        open: Vec<((usize, u64), i64)>,
        counts: BTreeMap<usize, u64>,
        customers: Vec<u64>,
        row: RowBuffer,
    }

    impl Bank {
        fn of(customers: u64, cents: i64) -> Self {
            let accounts = (1..=customers).flat_map(|customer| [(SAVINGS, customer), (CHECKING, customer)]);
            Self { balances: accounts.map(|account| (account, cents)).collect(), ..Self::default() }
        }

        fn table(step: usize) -> usize {
            steps(PAYMENTS)[step].operation.table()
        }

        fn money(&self) -> i64 {
            self.balances.values().sum()
        }
    }

    impl Operations for Bank {
        async fn find(&mut self, step: usize, value: Value<'_>, key: u64) -> Result<(), Failed> {
            assert_eq!((step, value), (FIND, Value::Text(&name_of(key))));
            self.customers.push(key);
            Ok(())
        }
        async fn get(&mut self, step: usize, key: u64) -> Result<(), Failed> {
            self.row.clear();
            self.row.push(Value::Int(key as i64));
            self.row.push(Value::Int(self.balances[&(Self::table(step), key)]));
            Ok(())
        }
        async fn add(&mut self, step: usize, key: u64, delta: i64) -> Result<(), Failed> {
            self.open.push(((Self::table(step), key), delta));
            Ok(())
        }
        async fn control(&mut self, step: usize) -> Result<(), Failed> {
            let changes = std::mem::take(&mut self.open);
            *self.counts.entry(step).or_default() += 1;
            if step == COMMIT {
                for (account, delta) in changes {
                    *self.balances.get_mut(&account).unwrap() += delta;
                }
            }
            Ok(())
        }
        fn kind(&mut self, step: usize) {
            *self.counts.entry(step).or_default() += 1;
        }
        fn row(&self) -> Row<'_> {
            self.row.row()
        }
    }

    fn run(bank: &mut Bank, workload: &SmallBank, step: u64) {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        let mut choices = Choices::new(1, 0, 1, step);
        assert!(std::pin::pin!(workload.transaction(bank, &mut choices)).poll(&mut context).is_ready());
    }

    /// The change of all money by 2,000 transactions of one kind.
    fn change(transaction: Transaction, cents: i64) -> (i64, Bank) {
        let only: Mix = Box::leak(Box::new([(transaction, "only", 1)]));
        let (workload, mut bank) = (SmallBank::new(180, only), Bank::of(180, cents));
        (0..2000).for_each(|step| run(&mut bank, &workload, step));
        (bank.money() - 360 * cents, bank)
    }

    #[test]
    fn the_tables_hold_what_the_transactions_look_for() {
        let (tables, mut row) = (tables(), RowBuffer::default());
        tables[ACCOUNT].generate(4711, 0, &mut row);
        assert_eq!(row.row().value(NAME), Value::Text(&name_of(4711)));
        tables[SAVINGS].generate(4711, 0, &mut row);
        let Value::Int(cents) = row.row().value(BALANCE) else { panic!() };
        assert!((1_000_000..=5_000_000).contains(&cents));
    }

    #[test]
    fn each_transaction_changes_the_money_by_what_it_pays_in_or_out() {
        use Transaction::{Amalgamate, Balance, DepositChecking, SendPayment, TransactSavings, WriteCheck};
        let total = |transaction| change(transaction, 1_000_000).0;
        assert_eq!([Balance, Amalgamate, SendPayment].map(total), [0, 0, 0]);
        assert_eq!((total(DepositChecking), total(WriteCheck)), (2000 * DEPOSIT, -2000 * CHECK));
        // As many are paid in as out, but for four standard deviations.
        assert!(total(TransactSavings).abs() < 180 * SAVING && total(TransactSavings) % SAVING == 0);
    }

    #[test]
    fn an_account_without_money_pays_nothing_and_a_check_on_it_costs_more() {
        let (sent, bank) = change(Transaction::SendPayment, 0);
        assert_eq!((sent, bank.counts[&ROLLBACK]), (0, 2000));
        let (paid, bank) = change(Transaction::TransactSavings, 0);
        assert!(paid > 0 && bank.counts[&ROLLBACK] > 0 && bank.balances.values().all(|&cents| cents >= 0));
        assert_eq!(change(Transaction::WriteCheck, 0).0, -2000 * (CHECK + PENALTY));
        let (_, bank) = change(Transaction::Amalgamate, 500);
        assert!(bank.balances.iter().filter(|((table, _), _)| *table == SAVINGS).any(|(_, &cents)| cents == 0));
    }

    #[test]
    fn money_that_was_moved_twice_does_not_grow_without_end() {
        let large = i64::MAX / 8000;
        let (moved, bank) = change(Transaction::Amalgamate, large);
        assert_eq!(moved, 0);
        assert!(bank.balances.values().all(|&cents| cents <= large + 2000 * 2 * MOST_MOVED));
    }

    #[test]
    fn transactions_come_in_the_mix_and_customers_of_the_hot_spot() {
        for mix in [UNIFORM, PAYMENTS] {
            let (workload, mut bank) = (SmallBank::new(1800, mix), Bank::of(1800, 1_000_000));
            (0..20_000).for_each(|step| run(&mut bank, &workload, step));
            for (i, (_, name, weight)) in mix.iter().enumerate() {
                let expected = 20_000.0 * *weight as f64 / 100.0;
                let allowed = 4.0 * (expected * (1.0 - expected / 20_000.0)).sqrt();
                assert!((bank.counts[&(KINDS + i)] as f64 - expected).abs() < allowed, "{name}: {:?}", bank.counts);
            }
            let hot = bank.customers.iter().filter(|&&customer| customer <= 100).count() as f64;
            let share = hot / bank.customers.len() as f64;
            assert!((share - 0.9).abs() < 0.01, "{share}");
        }
    }

    #[test]
    fn a_bank_of_one_customer_moves_the_money_to_itself() {
        let (workload, mut bank) = (SmallBank::new(1, PAYMENTS), Bank::of(1, 5000));
        (0..200).for_each(|step| run(&mut bank, &workload, step));
        assert_eq!(workload.customers(&mut Choices::new(1, 0, 1, 0)), [1, 1]);
    }
}
