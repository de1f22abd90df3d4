//! The statement of each step: prepared once a session, or sent as text each time.

use dbdyno_model::{Dialect as Sql, Failure, Kind, Operation};
use dbdyno_wire::TextKind;
use dbdyno_wire::mysql::{self as wire, Answer, Dialect, Param, Prepared};

use super::config::{AccessPath, StatementProtocol};
use super::{MysqlSession, refused};
use crate::params::{field, scale, text_kind};
use crate::query_plan::{self, Example, QueryPlan, example};
use crate::sql::{handler, statement};
use crate::{Schema, SharedSchema, declared_as};

/// The server cannot prepare this kind of statement: of HANDLER MySQL says so, and MariaDB prepares it.
const NOT_TO_BE_PREPARED: u16 = 1295;

pub struct Statement {
    /// The kinds of its parameters.
    pub parameters: Vec<Kind>,
    form: Form,
}

enum Form {
    /// It begins or ends a transaction. MySQL cannot prepare START TRANSACTION, so these go as text; this only keeps the place.
    Control,
    /// And whether the server has been told the types of its parameters.
    Prepared { prepared: Prepared, is_bound: bool },
    /// The text between the parameters, and the kinds of the columns.
    Text { parts: Vec<Vec<u8>>, columns: Vec<TextKind> },
}

impl Statement {
    fn text(schema: &Schema, step: usize, sql: &str) -> Self {
        let parts = sql.split('?').map(|part| part.as_bytes().to_vec()).collect();
        let columns = schema.answer_kinds(step).into_iter().map(text_kind).collect();
        Self { parameters: schema.parameter_kinds(step), form: Form::Text { parts, columns } }
    }

    /// How many columns its rows have.
    pub fn columns(&self) -> usize {
        match &self.form {
            Form::Control => 0,
            Form::Prepared { prepared, .. } => prepared.columns.len(),
            Form::Text { columns, .. } => columns.len(),
        }
    }

    /// Takes a statement as the server described it, if it is as the workload declared it.
    fn adopt(schema: &Schema, step: usize, mut prepared: Prepared) -> Result<Self, Failure> {
        let (parameters, kinds) = (schema.parameter_kinds(step), schema.answer_kinds(step));
        let actual = (prepared.params, prepared.columns.len());
        declared_as(&schema.steps[step], (parameters.len(), kinds.len()), actual)?;
        prepared.columns.iter_mut().zip(kinds).for_each(|(column, kind)| column.scale = scale(kind));
        Ok(Self { parameters, form: Form::Prepared { prepared, is_bound: false } })
    }
}

/// Appends text to a quoted SQL string. A quote is doubled, which every `sql_mode` understands.
pub fn escape_into(sql: &mut String, text: &str) {
    for c in text.chars() {
        if matches!(c, '\'' | '\\') {
            sql.push(c);
        }
        sql.push(c);
    }
}

impl MysqlSession {
    /// Prepares a statement for each step, the first time one is needed: loading needs none, and the tables must exist.
    #[cold]
    pub(super) async fn prepare_statements(&mut self) -> Result<(), Failure> {
        let mut handlers = vec![];
        let mut statements = Vec::with_capacity(self.schema.steps.len());
        for step in 0..self.schema.steps.len() {
            statements.push(self.prepare_statement(step, &mut handlers).await?);
        }
        self.statements = statements;
        Ok(())
    }

    /// `handlers` has the statements by which this session has opened tables.
    async fn prepare_statement(&mut self, number: usize, handlers: &mut Vec<String>) -> Result<Statement, Failure> {
        let schema = SharedSchema::clone(&self.schema);
        let (tables, step) = (&schema.tables, &schema.steps[number]);
        if step.operation.is_control() || step.operation == Operation::Transaction {
            return Ok(Statement { parameters: vec![], form: Form::Control });
        }
        let mut sql = statement(&schema, step, Sql::Mysql);
        if let (AccessPath::Handler, Some((open, read))) = (self.access, handler(tables, step)) {
            sql = read;
            if !handlers.contains(&open) {
                self.query(&open).await?;
                handlers.push(open);
            }
        }
        let (prepared, dialect) = (self.protocol == StatementProtocol::Prepared, self.dialect);
        if prepared {
            wire::prepare(self.exchange.begin(), &sql);
            match self.exchange.ask(|bytes| wire::prepared(bytes, dialect)).await? {
                Ok(prepared) => return Statement::adopt(&schema, number, prepared),
                Err(error) if error.code == NOT_TO_BE_PREPARED => {}
                Err(error) => return Err(refused(&error)),
            }
        }
        Ok(Statement::text(&schema, number, &sql))
    }

    /// Returns the plan of a step's statement; `None` if there is none, as of a `HANDLER … READ`.
    pub(super) async fn explain(&mut self, step: usize) -> Result<Option<QueryPlan>, Failure> {
        let is_by_handler = self.access == AccessPath::Handler
            && self.schema.steps[step].operation.has_table()
            && handler(&self.schema.tables, &self.schema.steps[step]).is_some();
        let Some(Example { sql, with_values }) = example(&self.schema, step, Sql::Mysql).filter(|_| !is_by_handler)
        else {
            return Ok(None);
        };
        let rows = self.query(&format!("EXPLAIN {with_values}")).await?;
        Ok(Some(QueryPlan { sql, steps: query_plan::mysql::steps(&rows) }))
    }

    /// Executes a step's statement; rows end up in `self.fields`.
    #[inline]
    pub(super) async fn execute<'p>(
        &mut self,
        step: usize,
        params: impl ExactSizeIterator<Item = Param<'p>> + Clone,
    ) -> Result<Answer, Failure> {
        let Self { exchange, statements, fields, dialect, .. } = self;
        let answer = match &mut statements[step].form {
            Form::Prepared { prepared, is_bound } => {
                // A NULL says nothing of its parameter's type, so the next execution does.
                let has_null = params.clone().any(|param| param == Param::Null);
                wire::execute(exchange.begin(), prepared.id, params, has_null || !*is_bound);
                *is_bound = !has_null;
                let decode = |bytes: &[u8]| {
                    fields.clear();
                    wire::answer(bytes, 0, &prepared.columns, *dialect, |cell| fields.push(field(cell)))
                };
                exchange.ask(decode).await?
            }
            Form::Text { parts, columns } => {
                wire::query_with(exchange.begin(), parts, params);
                let dialect = Dialect { cached_metadata: false, ..*dialect };
                let kind = |column: usize| columns.get(column).copied().unwrap_or(TextKind::Text);
                let decode = |bytes: &[u8]| {
                    fields.clear();
                    wire::text_cells(bytes, dialect, kind, |cell| fields.push(field(cell)))
                };
                exchange.ask(decode).await?
            }
            Form::Control => {
                return Err(Failure::Protocol("a transaction's begin or end has no parameters".into()));
            }
        };
        match answer {
            Answer::Error(error) => Err(refused(&error)),
            // This is known of what was prepared; what goes as text is described with each answer.
            Answer::Rows(rows) if fields.len() as u64 != rows * statements[step].columns() as u64 => Err(
                Failure::Server(format!("{} values in {rows} rows of {}", fields.len(), statements[step].columns())),
            ),
            answer => Ok(answer),
        }
    }
}
