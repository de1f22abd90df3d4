//! game: read a player, store it changed, look up the account by the e-mail that was read.

use dbdyno_model::{Choices, Failed, Operation, Operations, Step, Table, Value};

use crate::options::Options;
use crate::tables::{EMAIL, account, player};
use crate::{Access, Check, Workload};

#[derive(Clone, Debug)]
pub struct Game {
    rows: u64,
    access: Access,
    tables: [Table; 2],
    steps: [Step; 3],
}

const PLAYER: usize = 0;
const ACCOUNT: usize = 1;

const READ_PLAYER: usize = 0;
const STORE_PLAYER: usize = 1;
const FIND_ACCOUNT: usize = 2;

const MAX_EMAIL_SIZE_BYTES: usize = 64;

impl Game {
    pub fn new(rows: u64, access: Access) -> Self {
        let steps = [
            Step::new("read_player", Operation::Get { table: PLAYER }),
            Step::new("store_player", Operation::Update { table: PLAYER }),
            Step::new("find_account", Operation::Find { table: ACCOUNT, column: EMAIL }),
        ];
        Self { rows, access, tables: [player(), account()], steps }
    }
}

impl Workload for Game {
    const NAME: &'static str = "game";
    const TRANSACTION: &'static str = "game";

    fn from_options(options: &mut Options<'_>) -> Result<Self, String> {
        Ok(Self::new(options.rows, options.access()?))
    }

    fn tables(&self) -> &[Table] {
        &self.tables
    }

    fn steps(&self) -> &[Step] {
        &self.steps
    }

    fn checks(&self) -> &[Check] {
        &[Check::RowCount { table: PLAYER }, Check::RowCount { table: ACCOUNT }]
    }

    #[inline]
    async fn transaction<O: Operations>(&self, operations: &mut O, choices: &mut Choices) -> Result<(), Failed> {
        let key = self.access.key(choices, self.rows);
        operations.get(READ_PLAYER, key).await?;
        let row = operations.row();
        let version = self.tables[PLAYER].version_of(row);
        let mut email = [0; MAX_EMAIL_SIZE_BYTES];
        let len = match row.value(EMAIL) {
            Value::Text(text) => copy(text, &mut email),
            Value::Int(_) | Value::Null => 0,
        };
        operations.update(STORE_PLAYER, key, version + 1).await?;
        operations.find(FIND_ACCOUNT, Value::Text(&email[..len]), key).await
    }
}

/// Copies what fits and says how much that was.
fn copy(from: &[u8], to: &mut [u8]) -> usize {
    let len = from.len().min(to.len());
    to[..len].copy_from_slice(&from[..len]);
    len
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_model::{Row, RowBuffer};

    /// Remembers what was asked and answers from the generator.
    #[derive(Default)]
    struct Recorded {
        calls: Vec<String>,
        row: RowBuffer,
    }

    impl Operations for Recorded {
        async fn get(&mut self, step: usize, key: u64) -> Result<(), Failed> {
            self.calls.push(format!("get {step} {key}"));
            player().generate(key, 6, &mut self.row);
            Ok(())
        }
        async fn find(&mut self, step: usize, value: Value<'_>, key: u64) -> Result<(), Failed> {
            self.calls.push(format!("find {step} {value} {key}"));
            Ok(())
        }
        async fn update(&mut self, step: usize, key: u64, version: u64) -> Result<(), Failed> {
            self.calls.push(format!("update {step} {key} {version}"));
            Ok(())
        }
        fn row(&self) -> Row<'_> {
            self.row.row()
        }
    }

    fn run(future: impl Future<Output = Result<(), Failed>>) {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(std::pin::pin!(future).poll(&mut context).is_ready());
    }

    #[test]
    fn a_request_reads_stores_the_next_version_and_looks_up_what_it_read() {
        let mut operations = Recorded::default();
        let game = Game::new(50, Access::Sequential);
        run(game.transaction(&mut operations, &mut Choices::new(1, 6, 8, 0)));
        let email = operations.row.row().value(EMAIL).to_string();
        assert_eq!(operations.calls, ["get 0 7", "update 1 7 7", &format!("find 2 {email} 7")]);
    }
}
