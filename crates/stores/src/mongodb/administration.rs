//! Before and after a run: collections, their markers, rows and indexes.
//!
//! A collection can carry no marker, so markers are documents of a separate collection. A marker is there before its collection, and then
//! has the collection's identity, so one of the same name that somebody else has made since is known as such.

use std::ops::Range;

use dbdyno_model::{Failure, Field, Row, Value};
use dbdyno_wire::mongodb::{self as wire, Answer, Command, array, document, int, text};

use super::{MongodbSession, awaited, begin, field_name, refused, unexpected, write_row};
use crate::sql::{TABLE_PREFIX, table_name};
use crate::{Administration, Cleaning, SharedSchema, TABLE_MARKER, Trouble};

/// The collection of markers: the name of a collection is the `_id`.
const MARKERS: &str = "dbdyno_marker";
/// An hour, for what reads or writes a whole table.
const WHOLE_TABLE_NS: u64 = 3600 * 1_000_000_000;
/// A minute, for a server that flushes what it was given while the next comes.
const LOAD_NS: u64 = 60 * 1_000_000_000;
/// Documents of one insert are together about this large.
const LOAD_SIZE_BYTES: usize = 1 << 20;
/// More markers than collections are ever made.
const MOST_MARKERS: i64 = 1000;
const NAMESPACE_NOT_FOUND: i64 = 26;

/// A collection's marker. Its identity is empty until the collection is made.
struct Marked {
    name: String,
    marker: String,
    identity: Option<String>,
}

impl MongodbSession {
    /// Runs a command outside of the run, which is always answered; documents' columns `names` end up as texts or numbers.
    async fn run(
        &mut self,
        verb: &str,
        collection: &str,
        names: &[&str],
        write: impl FnOnce(&mut Vec<u8>),
    ) -> Result<Answer, Failure> {
        let command = Command::new(0, |out| begin(out, verb, collection, &self.database));
        self.number = self.number.wrapping_add(1);
        command.write(self.exchange.begin(), self.number, write);
        let names: Vec<_> = names.iter().map(|name| wire::name(name)).collect();
        let Self { exchange, fields, number, .. } = self;
        match exchange.ask(|bytes| awaited(bytes, *number, true, &names, fields)).await? {
            Answer::Error(error) => Err(refused(&error)),
            answer => Ok(answer),
        }
    }

    /// The number in the first column of the only document; `None` if there is no document.
    fn first_number(&self) -> Option<i64> {
        self.fields.first().and_then(|field| if let Field::Int(n) = *field { Some(n) } else { None })
    }

    fn text(&self, field: usize) -> String {
        match Row::new(self.exchange.bytes(), &self.fields).value(field) {
            Value::Text(text) => String::from_utf8_lossy(text).into_owned(),
            _ => String::new(),
        }
    }

    /// The UUID that the server has for a collection and for no other, in digits; `None` if there is no such collection.
    async fn identity(&mut self, collection: &str) -> Result<Option<String>, Failure> {
        let filter = |out: &mut Vec<u8>| document(out, "filter", |out| text(out, "name", collection.as_bytes()));
        let command = Command::new(0, |out| {
            int(out, "listCollections", 1);
            text(out, "$db", self.database.as_bytes());
        });
        self.number = self.number.wrapping_add(1);
        command.write(self.exchange.begin(), self.number, filter);
        let Self { exchange, fields, number, .. } = &mut *self;
        let names = [wire::name("info")];
        match exchange.ask(|bytes| awaited(bytes, *number, true, &names, fields)).await? {
            Answer::Rows(0) => return Ok(None),
            Answer::Rows(_) => {}
            other => return Err(unexpected(&other)),
        }
        let digits = |info: &[u8]| info.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Some(match Row::new(self.exchange.bytes(), &self.fields).value(0) {
            Value::Text(info) => digits(info),
            _ => String::new(),
        }))
    }

    /// The markers: those of the schema's collections, or all if it is empty.
    async fn marked(&mut self) -> Result<Vec<Marked>, Failure> {
        let all = |out: &mut Vec<u8>| {
            int(out, "batchSize", MOST_MARKERS);
            document(out, "filter", |_| {});
        };
        self.run("find", MARKERS, &["_id", "marker", "identity"], all).await?;
        let collections = (0..self.fields.len()).step_by(3).map(|i| {
            let identity = (self.fields[i + 2] != Field::Null).then(|| self.text(i + 2));
            Marked { name: self.text(i), marker: self.text(i + 1), identity }
        });
        let ours: Vec<String> = self.schema.tables.iter().map(table_name).collect();
        let is_ours = |name: &String| ours.is_empty() && name.starts_with(TABLE_PREFIX) || ours.contains(name);
        Ok(collections.filter(|marked| is_ours(&marked.name) && marked.marker.starts_with(TABLE_MARKER)).collect())
    }

    /// Returns whether a collection, which has this identity, is the one that the marker was written for.
    async fn is_marked(&mut self, marked: &Marked, identity: &str) -> Result<bool, Failure> {
        match marked.identity.as_deref() {
            // A marker of a version that kept no identity.
            None => Ok(true),
            // It was about to be made, and nothing was in it yet.
            Some("") => Ok(matches!(self.run("count", &marked.name, &[], |_| {}).await?, Answer::Number(0))),
            Some(known) => Ok(known == identity),
        }
    }

    /// Drops a collection; none of that name is as good.
    async fn drop_collection(&mut self, name: &str) -> Result<(), Failure> {
        let missing = format!("(code {NAMESPACE_NOT_FOUND})");
        match self.run("drop", name, &[], |_| {}).await {
            Err(Failure::Server(message)) if message.ends_with(&missing) => Ok(()),
            result => result.map(drop),
        }
    }

    async fn create(&mut self, name: &str, marker: &str) -> Result<(), Trouble> {
        let marked = self.marked().await?.into_iter().find(|marked| marked.name == name);
        if let Some(identity) = self.identity(name).await? {
            let is_ours = match &marked {
                Some(marked) => self.is_marked(marked, &identity).await?,
                None => false,
            };
            if !is_ours {
                return Err(Trouble::Refused(format!(
                    "a collection {name} without dbdyno's marker exists, and dbdyno does not drop it. Use another database"
                )));
            }
            self.drop_collection(name).await?;
        }
        // The marker first: what is there without one is never dbdyno's.
        self.mark(name, marker, "").await?;
        self.run("create", name, &[], |_| {}).await?;
        let identity = self.identity(name).await?.unwrap_or_default();
        Ok(self.mark(name, marker, &identity).await?)
    }

    async fn mark(&mut self, name: &str, marker: &str, identity: &str) -> Result<(), Failure> {
        let set = |out: &mut Vec<u8>| {
            text(out, "marker", marker.as_bytes());
            text(out, "identity", identity.as_bytes());
        };
        let mark = |out: &mut Vec<u8>| {
            array(out, "updates", |out| {
                document(out, "0", |out| {
                    document(out, "q", |out| text(out, "_id", name.as_bytes()));
                    document(out, "u", |out| document(out, "$set", set));
                    wire::boolean(out, "upsert", true);
                });
            });
        };
        self.run("update", MARKERS, &[], mark).await.map(drop)
    }

    async fn unmark(&mut self, name: &str) -> Result<(), Failure> {
        let unmark = |out: &mut Vec<u8>| {
            array(out, "deletes", |out| {
                document(out, "0", |out| {
                    document(out, "q", |out| text(out, "_id", name.as_bytes()));
                    int(out, "limit", 1);
                });
            });
        };
        self.run("delete", MARKERS, &[], unmark).await.map(drop)
    }
}

impl Administration for MongodbSession {
    async fn prepare(&mut self, marker: &str) -> Result<(), Trouble> {
        let names: Vec<String> = self.schema.tables.iter().map(table_name).collect();
        for name in names {
            self.create(&name, marker).await?;
        }
        Ok(())
    }

    async fn load(&mut self, table: usize, keys: Range<u64>) -> Result<(), Trouble> {
        self.exchange.be_patient(LOAD_NS);
        let name = table_name(&self.schema.tables[table]);
        let insert = Command::new(0, |out| begin(out, "insert", &name, &self.database)).sequence("documents");
        let mut keys = keys.peekable();
        while keys.peek().is_some() {
            let Self { exchange, schema, generated, number, .. } = self;
            *number = number.wrapping_add(1);
            let (table, mut sent) = (&schema.tables[table], 0);
            insert.write(exchange.begin(), *number, |out| {
                while out.len() < LOAD_SIZE_BYTES
                    && let Some(key) = keys.next()
                {
                    table.generate(key, 0, generated);
                    write_row(out, table, generated.row());
                    sent += 1;
                }
            });
            let Self { exchange, fields, number, .. } = self;
            match exchange.ask(|bytes| awaited(bytes, *number, true, &[], fields)).await? {
                Answer::Number(n) if n == sent => {}
                Answer::Number(n) => return Err(Failure::Server(format!("{n} of {sent} rows were inserted")).into()),
                other => return Err(unexpected(&other).into()),
            }
        }
        Ok(())
    }

    fn loads_by(&self) -> &'static str {
        "insert of many documents"
    }

    async fn present(&mut self, table: usize, keys: Range<u64>) -> Result<Option<u64>, Trouble> {
        self.exchange.be_patient(WHOLE_TABLE_NS);
        let query = |out: &mut Vec<u8>| {
            document(out, "query", |out| {
                document(out, "_id", |out| {
                    int(out, "$gte", keys.start as i64);
                    int(out, "$lt", keys.end as i64);
                });
            });
        };
        let name = table_name(&self.schema.tables[table]);
        match self.run("count", &name, &[], query).await? {
            Answer::Number(n) => Ok(u64::try_from(n).ok()),
            other => Err(unexpected(&other).into()),
        }
    }

    async fn index(&mut self, table: usize) -> Result<(), Trouble> {
        self.exchange.be_patient(WHOLE_TABLE_NS);
        let schema = SharedSchema::clone(&self.schema);
        let table = &schema.tables[table];
        for index in &table.indexes {
            let columns: Vec<&str> = index.columns.iter().map(|&column| field_name(table, column)).collect();
            let indexes = |out: &mut Vec<u8>| {
                array(out, "indexes", |out| {
                    document(out, "0", |out| {
                        document(out, "key", |out| columns.iter().for_each(|column| int(out, column, 1)));
                        text(out, "name", format!("{}_{}", table_name(table), columns.join("_")).as_bytes());
                        wire::boolean(out, "unique", index.unique);
                    });
                });
            };
            self.run("createIndexes", &table_name(table), &[], indexes).await?;
        }
        Ok(())
    }

    /// Counted, as the number that a server keeps can be wrong after a crash.
    async fn count(&mut self, table: usize) -> Result<Option<u64>, Trouble> {
        self.present(table, 0..i64::MAX as u64).await
    }

    async fn last_key(&mut self, table: usize) -> Result<Option<u64>, Trouble> {
        self.exchange.be_patient(WHOLE_TABLE_NS);
        let last = |out: &mut Vec<u8>| {
            document(out, "sort", |out| int(out, "_id", -1));
            int(out, "limit", 1);
            wire::boolean(out, "singleBatch", true);
        };
        let name = table_name(&self.schema.tables[table]);
        self.run("find", &name, &["_id"], last).await?;
        Ok(self.first_number().and_then(|n| u64::try_from(n).ok()))
    }

    async fn sum(&mut self, table: usize, column: usize) -> Result<Option<i128>, Trouble> {
        self.exchange.be_patient(WHOLE_TABLE_NS);
        let table = &self.schema.tables[table];
        let (name, column) = (table_name(table), format!("${}", field_name(table, column)));
        let total = |out: &mut Vec<u8>| {
            array(out, "pipeline", |out| {
                document(out, "0", |out| {
                    document(out, "$group", |out| {
                        int(out, "_id", 0);
                        document(out, "sum", |out| text(out, "$sum", column.as_bytes()));
                    });
                });
            });
            document(out, "cursor", |_| {});
        };
        self.run("aggregate", &name, &["sum"], total).await?;
        Ok(self.first_number().map(i128::from))
    }

    async fn marker(&mut self) -> Result<Option<String>, Trouble> {
        Ok(self.marked().await?.pop().map(|marked| marked.marker))
    }

    async fn remove(&mut self, cleaning: Cleaning) -> Result<Vec<String>, Trouble> {
        let mut removed = Vec::new();
        for marked in self.marked().await? {
            let is_ours = match self.identity(&marked.name).await? {
                Some(identity) => self.is_marked(&marked, &identity).await?,
                None => false,
            };
            if cleaning == Cleaning::Remove {
                if is_ours {
                    self.drop_collection(&marked.name).await?;
                }
                self.unmark(&marked.name).await?;
            }
            removed.extend(is_ours.then_some(marked.name));
        }
        if cleaning == Cleaning::Remove
            && let Answer::Number(0) = self.run("count", MARKERS, &[], |_| {}).await?
        {
            self.drop_collection(MARKERS).await?;
        }
        Ok(removed)
    }
}
