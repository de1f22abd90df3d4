//! Before and after a run: the records that are there. Its servers are dbdyno's own, so nobody else writes meanwhile: there is no request
//! that removes a record only if it has not changed.

use std::collections::BTreeSet;
use std::ops::Range;

use dbdyno_model::{Failure, Operation};
use dbdyno_wire::Decoded;
use dbdyno_wire::tokyotyrant::{self as wire, Command};

use super::layout::Layout;
use super::{TokyotyrantSession, refused};
use crate::claim::{Claimed, Held, foreign_key, is_row};
use crate::keys::batches;
use crate::{Administration, Claim, Cleaning, MARKER, SharedSchema, Trouble, Withdrawn};

/// Records in one pipelined batch.
const BATCH: u64 = 500;
/// A claim is a record under its own key, so none is lost by another's. No table has a name with such a sign.
const CLAIM: &[u8] = b"dbdyno:=";
/// The value under a claim, as records of both layouts have it.
const CLAIMED: &[u8] = b"claim\0yes";
/// Kinds of index (`tctdb.h`): of texts, of numbers.
const OF_TEXTS: &[u8] = b"0";
const OF_NUMBERS: &[u8] = b"1";

fn key_in_list(bytes: &[u8]) -> Decoded<(Vec<u8>, usize)> {
    Ok(wire::element(bytes)?.map(|((start, end), next)| (bytes[start..end].to_vec(), next)))
}

impl TokyotyrantSession {
    /// The keys that begin so, without that beginning.
    async fn keys(&mut self, prefix: &[u8], most: Option<u32>) -> Result<Vec<Vec<u8>>, Failure> {
        wire::keys(self.exchange.begin(), prefix, most);
        self.exchange.send().await?;
        let count = self.exchange.next(wire::list).await?.ok_or_else(|| refused("list its keys"))?;
        let mut keys = Vec::new();
        for _ in 0..count {
            let key = self.exchange.next(key_in_list).await?;
            keys.extend(key.strip_prefix(prefix).map(<[u8]>::to_vec));
        }
        Ok(keys)
    }

    /// The numbers in the keys of a table, each once; a table that rows are added to is filed under these.
    async fn numbers(&mut self, table: usize) -> Result<BTreeSet<u64>, Failure> {
        let prefix = self.prefixes[table].clone();
        let keys = self.keys(&prefix, None).await?;
        Ok(keys.iter().filter_map(|key| std::str::from_utf8(key).ok()?.parse().ok()).collect())
    }

    /// Returns whether a run adds rows to the table: which keys it has then does not follow from the number of rows.
    fn is_growing(&self, table: usize) -> bool {
        self.schema.steps.iter().any(|step| step.operation == Operation::Insert { table })
    }

    async fn write_claims(&mut self, claims: &[String]) -> Result<(), Trouble> {
        for claim in claims {
            let key = [CLAIM, claim.as_bytes()].concat();
            wire::store(self.exchange.begin(), Command::Put, &key, CLAIMED);
            if !self.exchange.ask(wire::done).await? {
                return Err(refused("store a claim").into());
            }
        }
        Ok(())
    }

    fn key_of(&mut self, table: usize, number: u64) -> Vec<u8> {
        self.write_key_of(table, number);
        self.key.clone()
    }

    /// The content of the keys of these rows.
    async fn held(&mut self, table: usize, numbers: &[u64]) -> Result<Vec<Held>, Failure> {
        self.send_for_rows(table, numbers.iter().copied(), Command::Get).await?;
        let (mut held, mut scratch) = (Vec::with_capacity(numbers.len()), Vec::new());
        let Self { exchange, schema, records, fields, .. } = self;
        let (columns, records) = (&schema.tables[table], &records[table]);
        for &number in numbers {
            let judge = |bytes: &[u8]| {
                Ok(wire::value(bytes)?.map(|(value, next)| match value {
                    None => (Held::Nothing, next),
                    Some(range)
                        if records.decode(columns, bytes, range, fields)
                            && is_row(columns, number, bytes, fields, &mut scratch) =>
                    {
                        (Held::Row(()), next)
                    }
                    Some(_) => (Held::Other, next),
                }))
            };
            held.push(exchange.next(judge).await?);
        }
        Ok(held)
    }

    /// Removes the keys of these rows that hold them; returns those that hold anything else.
    async fn remove_rows_of(
        &mut self,
        table: usize,
        numbers: &[u64],
        cleaning: Cleaning,
    ) -> Result<Vec<Vec<u8>>, Failure> {
        let held = self.held(table, numbers).await?;
        let of = |wanted: Held| numbers.iter().zip(&held).filter(move |(_, held)| **held == wanted).map(|(&n, _)| n);
        let (rows, others): (Vec<u64>, Vec<u64>) = (of(Held::Row(())).collect(), of(Held::Other).collect());
        if cleaning == Cleaning::Remove {
            self.send_for_rows(table, rows.iter().copied(), Command::Remove).await?;
            for _ in rows {
                self.exchange.next(wire::done).await?;
            }
        }
        Ok(others.into_iter().map(|number| self.key_of(table, number)).collect())
    }

    /// Stores rows, each if there is no key yet. One that is there may be a row that an attempt before has stored; anything else is
    /// refused.
    async fn load_rows(&mut self, table: usize, numbers: Range<u64>) -> Result<(), Trouble> {
        self.exchange.begin();
        for number in numbers.clone() {
            self.encode(table, number, 0);
            wire::store(&mut self.exchange.request, Command::PutNew, &self.key, &self.value);
        }
        self.exchange.send().await?;
        let mut taken = Vec::new();
        for number in numbers {
            if !self.exchange.next(wire::done).await? {
                taken.push(number);
            }
        }
        let held = self.held(table, &taken).await?;
        match taken.into_iter().zip(held).find(|(_, held)| *held != Held::Row(())) {
            None => Ok(()),
            Some((_, Held::Nothing)) => Err(refused("store a record").into()),
            Some((number, _)) => Err(foreign_key(&self.key_of(table, number))),
        }
    }
}

impl Administration for TokyotyrantSession {
    async fn claim(&mut self, claims: &[String]) -> Result<(), Trouble> {
        for table in 0..self.schema.tables.len() {
            let prefix = self.prefixes[table].clone();
            if !self.keys(&prefix, Some(1)).await?.is_empty() {
                let name = &self.schema.tables[table].name;
                return Err(Trouble::Refused(format!(
                    "keys {MARKER}{name}:* exist without dbdyno's marker, and dbdyno does not overwrite them"
                )));
            }
        }
        self.write_claims(claims).await
    }

    async fn renew(&mut self, claims: &[String]) -> Result<(), Trouble> {
        self.write_claims(claims).await
    }

    async fn claims(&mut self) -> Result<Vec<String>, Trouble> {
        let claims = self.keys(CLAIM, None).await?;
        Ok(claims.into_iter().filter_map(|claim| String::from_utf8(claim).ok()).collect())
    }

    async fn withdraw(&mut self, claim: &Claim, cleaning: Cleaning) -> Result<Withdrawn, Trouble> {
        let mut withdrawn = Withdrawn::default();
        for &Claimed { table, last } in &claim.tables {
            let numbers: Vec<u64> = match last {
                Some(last) => (1..=last).collect(),
                None => self.numbers(table).await?.into_iter().collect(),
            };
            let mut left = Vec::new();
            for batch in numbers.chunks(BATCH as usize) {
                left.extend(self.remove_rows_of(table, batch, cleaning).await?);
            }
            withdrawn.add(&self.schema.tables[table], &left);
        }
        if cleaning == Cleaning::Remove {
            let key = [CLAIM, claim.text.as_bytes()].concat();
            wire::of_key(self.exchange.begin(), Command::Remove, &key);
            self.exchange.ask(wire::done).await?;
        }
        Ok(withdrawn)
    }

    async fn load(&mut self, table: usize, keys: Range<u64>) -> Result<(), Trouble> {
        for batch in batches(keys, BATCH) {
            self.load_rows(table, batch).await?;
        }
        Ok(())
    }

    fn loads_by(&self) -> &'static str {
        "pipelined putkeep"
    }

    async fn present(&mut self, table: usize, keys: Range<u64>) -> Result<Option<u64>, Trouble> {
        let mut count = 0;
        for batch in batches(keys, BATCH) {
            let numbers: Vec<u64> = batch.collect();
            let held = self.held(table, &numbers).await?;
            count += held.iter().filter(|&&held| held == Held::Row(())).count() as u64;
        }
        Ok(Some(count))
    }

    async fn index(&mut self, table: usize) -> Result<(), Trouble> {
        if self.layout == Layout::Value {
            return Ok(());
        }
        let schema = SharedSchema::clone(&self.schema);
        for index in &schema.tables[table].indexes {
            let Some(&column) = index.columns.first() else { continue };
            let kind = if schema.tables[table].columns[column].is_number() { OF_NUMBERS } else { OF_TEXTS };
            let arguments: [&[u8]; 2] = [&self.records[table].names[column], kind];
            wire::call(self.exchange.begin(), "setindex", true, &arguments);
            if self.exchange.ask(wire::list).await?.is_none() {
                return Err(refused("make an index").into());
            }
        }
        Ok(())
    }

    async fn count(&mut self, table: usize) -> Result<Option<u64>, Trouble> {
        if self.is_growing(table) {
            return Ok(Some(self.numbers(table).await?.len() as u64));
        }
        let mut count = 0;
        for batch in batches(self.schema.tables[table].numbers(self.schema.rows), BATCH) {
            self.send_for_rows(table, batch.clone(), Command::Size).await?;
            for _ in batch {
                count += u64::from(self.exchange.next(wire::value_size).await?.is_some());
            }
        }
        Ok(Some(count))
    }

    async fn last_key(&mut self, table: usize) -> Result<Option<u64>, Trouble> {
        Ok(self.numbers(table).await?.last().copied())
    }

    async fn sum(&mut self, _: usize, _: usize) -> Result<Option<i128>, Trouble> {
        Ok(None)
    }
}
