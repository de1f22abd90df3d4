//! A workload's declaration as a plan has it (docs/contract.md), and the tables and statements it declares.

use std::collections::BTreeMap;

use dbdyno_model::{Column, Dialect, Index, Kind, Sizes, Source, Statement, Table};
use serde::Deserialize;

use crate::reach::ReachPlan;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Declaration {
    #[serde(default)]
    pub access: ReachPlan,
    pub tables: Vec<TablePlan>,
    #[serde(default)]
    pub statements: Vec<StatementPlan>,
    pub transactions: Vec<TransactionPlan>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TablePlan {
    pub name: String,
    columns: Vec<ColumnPlan>,
    #[serde(default)]
    indexes: Vec<IndexPlan>,
}

#[derive(Clone, Debug, Deserialize)]
struct ColumnPlan {
    name: String,
    kind: String,
    /// How long the texts are, if they do not fill the column: a number, or a distribution.
    size: Option<SizesPlan>,
    #[serde(flatten)]
    generator: Generator,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum SizesPlan {
    Constant(f64),
    Drawn(Sizes),
}

impl SizesPlan {
    pub fn build(&self) -> Result<Sizes, String> {
        let sizes = match self {
            SizesPlan::Constant(size) => Sizes::Constant { size: *size },
            SizesPlan::Drawn(sizes) => sizes.clone(),
        };
        sizes.check().map(|()| sizes)
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "generator", rename_all = "kebab-case")]
enum Generator {
    Key,
    Counter,
    Version,
    Number { below: u32 },
    Linear { first: i64, step: i64 },
    Padded { pad: String },
    Email,
    Name,
    Letters,
    VersionedLetters,
    Characters,
    Bytes,
    Document,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct IndexPlan {
    columns: Vec<String>,
    #[serde(default)]
    unique: bool,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatementPlan {
    pub name: String,
    sql: String,
    /// The texts of dialects that need another, by their names.
    #[serde(default)]
    dialects: BTreeMap<String, String>,
    #[serde(default)]
    pub parameters: Vec<ParameterPlan>,
    #[serde(default)]
    columns: Vec<String>,
    /// The fewest and the most rows that it may read or write.
    pub rows: Option<(u64, u64)>,
}

/// The value that a column has in the row of the transaction's key and so many further, a number of a range, or letters.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParameterPlan {
    pub column: Option<String>,
    #[serde(default)]
    pub offset: i64,
    kind: Option<String>,
    pub from: Option<i64>,
    pub to: Option<i64>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TransactionPlan {
    pub name: String,
    pub weight: u64,
    pub access: Option<ReachPlan>,
    pub within: Option<Within>,
    pub operations: Vec<OperationPlan>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Within {
    ReadOnly,
    ReadWrite,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OperationPlan {
    pub operation: Verb,
    pub table: Option<String>,
    pub column: Option<String>,
    #[serde(default = "unit_delta")]
    pub by: i64,
    pub statement: Option<String>,
    pub access: Option<ReachPlan>,
    /// The seconds after which the row of a put expires.
    #[serde(default)]
    pub ttl_s: u32,
    /// The rows of a scan.
    pub length: Option<SizesPlan>,
}

fn unit_delta() -> i64 {
    1
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Verb {
    Get,
    Find,
    Update,
    Insert,
    Put,
    Delete,
    Scan,
    ReadModifyWrite,
    Add,
    Sql,
}

impl Verb {
    pub fn name(self) -> &'static str {
        match self {
            Verb::Get => "get",
            Verb::Find => "find",
            Verb::Update => "update",
            Verb::Insert => "insert",
            Verb::Put => "put",
            Verb::Delete => "delete",
            Verb::Scan => "scan",
            Verb::ReadModifyWrite => "read-modify-write",
            Verb::Add => "add",
            Verb::Sql => "sql",
        }
    }
}

/// A kind as it is written: `int`, `decimal(12,2)`, `varchar(40)`.
fn kind(text: &str) -> Result<Kind, String> {
    let (name, rest) = text.split_once('(').unwrap_or((text, ")"));
    let numbers: Vec<u16> = rest.trim_end_matches(')').split(',').filter_map(|n| n.trim().parse().ok()).collect();
    match (name, &numbers[..]) {
        ("tinyint", []) => Ok(Kind::TinyInt),
        ("smallint", []) => Ok(Kind::SmallInt),
        ("int", []) => Ok(Kind::Int),
        ("bigint", []) => Ok(Kind::BigInt),
        ("double", []) => Ok(Kind::Double),
        ("datetime", []) => Ok(Kind::DateTime),
        ("decimal", &[digits, scale]) if digits <= 18 && scale <= digits => {
            Ok(Kind::Decimal(digits as u8, scale as u8))
        }
        ("char", &[width]) if width > 0 => Ok(Kind::Char(width)),
        ("varchar", &[width]) if width > 0 => Ok(Kind::Varchar(width)),
        ("unicode", &[width]) if width > 0 => Ok(Kind::Unicode(width)),
        ("binary", &[width]) if width > 0 => Ok(Kind::Binary(width.into())),
        ("json", &[width]) if width > 0 => Ok(Kind::Json(width)),
        _ => Err(format!(
            "unknown kind {text:?}: use tinyint, smallint, int, bigint, decimal(digits,scale), double, datetime, char(n), \
             varchar(n), unicode(n), binary(n), json(n)"
        )),
    }
}

impl TablePlan {
    pub fn build(&self) -> Result<Table, String> {
        let columns: Result<Vec<Column>, String> =
            self.columns.iter().enumerate().map(|(i, column)| column.build(i as u64)).collect();
        let table = Table::new(&self.name, columns?);
        if table.columns.first().is_none_or(|column| column.source != Source::Key) {
            return Err(format!("the first column of {} must have the generator \"key\"", self.name));
        }
        let indexes: Result<Vec<Index>, String> = self.indexes.iter().map(|index| index.build(&table)).collect();
        Ok(Table { indexes: indexes?, ..table })
    }
}

impl ColumnPlan {
    /// `salt` makes columns with the same generator differ.
    fn build(&self, salt: u64) -> Result<Column, String> {
        let kind = kind(&self.kind)?;
        let source = match &self.generator {
            Generator::Key => Source::Key,
            Generator::Counter => Source::Counter,
            Generator::Version => Source::Version,
            &Generator::Number { below } if below > 0 && kind == Kind::Double => Source::Fraction { salt, below },
            &Generator::Number { below } if below > 0 => Source::Number { salt, below },
            Generator::Number { .. } => return Err(format!("the numbers of {} are below 0", self.name)),
            &Generator::Linear { first, step } if kind == Kind::DateTime => Source::Moments { first, step },
            &Generator::Linear { first, step } if kind == Kind::Double => Source::Doubles { first, step },
            &Generator::Linear { first, step } => Source::Linear { first, step },
            Generator::Padded { pad } => Source::Padded(pad.bytes().next().unwrap_or(b'x')),
            Generator::Email => Source::Email,
            Generator::Name => Source::Name,
            Generator::Letters => Source::Letters { salt },
            Generator::VersionedLetters => Source::VersionedLetters { salt },
            Generator::Characters => Source::Characters { salt },
            Generator::Bytes => Source::Bytes { salt },
            Generator::Document => Source::Document { salt },
        };
        if !source.makes(kind) {
            return Err(format!("the generator of {} cannot make values of the kind {}", self.name, self.kind));
        }
        let column = Column::new(&self.name, kind, source);
        match &self.size {
            None => Ok(column),
            Some(plan) => self.sized(column, plan),
        }
    }

    fn sized(&self, column: Column, plan: &SizesPlan) -> Result<Column, String> {
        let is_text =
            matches!(column.source, Source::Padded(_) | Source::Letters { .. } | Source::VersionedLetters { .. });
        let is_sizable = match column.kind {
            Kind::Varchar(_) => is_text,
            Kind::Binary(_) | Kind::Json(_) => true,
            _ => false,
        };
        if !is_sizable {
            return Err(format!(
                "only letters and padded numbers in a varchar, bytes and documents take a size, so {} takes none",
                self.name
            ));
        }
        Ok(column.sized(plan.build()?))
    }
}

impl IndexPlan {
    fn build(&self, table: &Table) -> Result<Index, String> {
        let columns: Result<Vec<usize>, String> = self.columns.iter().map(|name| column_of(table, name)).collect();
        Ok(Index { columns: columns?, unique: self.unique })
    }
}

pub fn column_of(table: &Table, name: &str) -> Result<usize, String> {
    let position = table.columns.iter().position(|column| column.name == name);
    position.ok_or_else(|| format!("{} has no column {name:?}", table.name))
}

pub fn table_of(tables: &[Table], name: &str) -> Result<usize, String> {
    tables.iter().position(|table| table.name == name).ok_or_else(|| format!("there is no table {name:?}"))
}

impl StatementPlan {
    pub fn build(&self, parameters: &[Kind]) -> Result<Statement, String> {
        let columns: Result<Vec<Kind>, String> = self.columns.iter().map(|text| kind(text)).collect();
        let mut statement = Statement::new(&self.sql, parameters, &columns?);
        for (name, sql) in &self.dialects {
            let dialect = Dialect::ALL.into_iter().find(|dialect| dialect.name() == *name);
            statement = statement.on(dialect.ok_or_else(|| format!("there is no dialect {name:?}"))?, sql);
        }
        Ok(statement)
    }

    /// Returns whether it reads.
    pub fn answers(&self) -> bool {
        !self.columns.is_empty()
    }
}

impl ParameterPlan {
    /// The column, with its source, that makes its values; `None` if they are numbers of a range.
    pub fn column(&self, tables: &[Table]) -> Result<Option<Column>, String> {
        let Some(name) = &self.column else {
            let kind = self.kind()?;
            return Ok((!kind.is_number()).then(|| Column::new("", kind, Source::Letters { salt: 0 })));
        };
        let (table, column) = name.split_once('.').ok_or_else(|| format!("{name:?} is not a table.column"))?;
        let table = &tables[table_of(tables, table)?];
        Ok(Some(table.columns[column_of(table, column)?].clone()))
    }

    pub fn kind(&self) -> Result<Kind, String> {
        kind(self.kind.as_deref().ok_or("a parameter needs a column or a kind")?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_read_and_others_refused() {
        assert_eq!(kind("bigint"), Ok(Kind::BigInt));
        assert_eq!(kind("decimal(12, 2)"), Ok(Kind::Decimal(12, 2)));
        assert_eq!(kind("varchar(40)"), Ok(Kind::Varchar(40)));
        assert_eq!(kind("datetime"), Ok(Kind::DateTime));
        assert_eq!((kind("double"), kind("json(80)")), (Ok(Kind::Double), Ok(Kind::Json(80))));
        assert_eq!((kind("unicode(9)"), kind("binary(300)")), (Ok(Kind::Unicode(9)), Ok(Kind::Binary(300))));
        for wrong in
            ["integer", "varchar", "varchar(0)", "int(4)", "decimal(2,4)", "datetime(3)", "binary", "json", "double(3)"]
        {
            assert!(kind(wrong).unwrap_err().contains(wrong), "{wrong}");
        }
    }
}
