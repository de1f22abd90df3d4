//! Claims, and the keys that they name: none is written or removed that holds anything but a row of dbdyno's. `WATCH` guards the time
//! between the read and the change, so somebody else's change in between undoes ours.

use std::ops::Range;

use dbdyno_model::{Failure, Table};
use dbdyno_wire::Malformed;
use dbdyno_wire::redis::{Reply, command, part, reply, whole_command};

use super::administration::texts;
use super::{BATCH, RedisSession, append_hset, hash_fields, refused, reply_or_error, unexpected, value};
use crate::claim::{Claim, Claimed, Held, Withdrawn, foreign_key, is_row};
use crate::key_set::KeySet;
use crate::keys::{MARKER_KEY, MARKERS_KEY, batches};
use crate::{Cleaning, MARKER, Trouble};

/// How often keys are looked at anew that somebody else has changed meanwhile.
const ATTEMPTS: usize = 10;

impl RedisSession {
    /// The texts of all claims; a marker of before claims is one too.
    pub(super) async fn read_claims(&mut self) -> Result<Vec<String>, Trouble> {
        whole_command(self.exchange.begin(), &[b"SMEMBERS", MARKERS_KEY]);
        let members = |bytes: &[u8]| {
            let Some((head, at)) = reply(bytes, 0)? else { return Ok(None) };
            match head {
                Reply::Array { len } => texts(bytes, at, len),
                Reply::Error { start, end } => Ok(Some((vec![bytes[start..end].to_vec()], at))),
                other => Err(Malformed(format!("expected the members of a set, got {other:?}"))),
            }
        };
        let members = self.exchange.ask(members).await?;
        if let Some(error) = members.iter().find(|text| text.starts_with(b"WRONGTYPE")) {
            let (key, error) = (MARKERS_KEY.escape_ascii(), String::from_utf8_lossy(error));
            return Err(Trouble::Refused(format!("the key {key} is not dbdyno's: {error}")));
        }
        let mut claims: Vec<_> = members.iter().map(|text| String::from_utf8_lossy(text).into_owned()).collect();
        claims.extend(self.read_old_marker().await?);
        claims.retain(|text| text.starts_with(MARKER));
        Ok(claims)
    }

    async fn read_old_marker(&mut self) -> Result<Option<String>, Failure> {
        whole_command(self.exchange.begin(), &[b"GET", MARKER_KEY]);
        Ok(match self.exchange.ask(reply_or_error).await? {
            Ok(Reply::Bulk { start, end }) => {
                Some(String::from_utf8_lossy(&self.exchange.bytes()[start..end]).into_owned())
            }
            Err(message) if !message.starts_with("WRONGTYPE") => return Err(refused(message)),
            _ => None,
        })
    }

    pub(super) async fn write_claims(&mut self, claims: &[String]) -> Result<(), Failure> {
        let mut parts = vec![&b"SADD"[..], MARKERS_KEY];
        parts.extend(claims.iter().map(String::as_bytes));
        self.command(&parts).await.map(drop)
    }

    pub(super) async fn withdraw_claim(&mut self, claim: &Claim, cleaning: Cleaning) -> Result<Withdrawn, Trouble> {
        let mut withdrawn = Withdrawn::default();
        let schema = self.schema.clone();
        for &Claimed { table: number, last } in &claim.tables {
            let key_set = KeySet::rows(&schema.tables[number]);
            let left = match last {
                Some(last) => self.remove_range(&key_set, last, cleaning).await?,
                None => self.remove_scanned(number, &key_set, cleaning).await?,
            };
            withdrawn.add(&schema.tables[number], &left);
        }
        for query in &claim.results {
            withdrawn.add_results(&self.remove_range(&KeySet::Results(query), query.results(), cleaning).await?);
        }
        if cleaning == Cleaning::Remove {
            self.remove_claim(claim).await?;
        }
        Ok(withdrawn)
    }

    async fn remove_claim(&mut self, claim: &Claim) -> Result<(), Failure> {
        self.command(&[b"SREM", MARKERS_KEY, claim.text.as_bytes()]).await?;
        self.command(&[b"WATCH", MARKER_KEY]).await?;
        if self.read_old_marker().await?.as_ref() == Some(&claim.text) {
            whole_command(self.exchange.begin(), &[b"MULTI"]);
            whole_command(&mut self.exchange.request, &[b"DEL", MARKER_KEY]);
            whole_command(&mut self.exchange.request, &[b"EXEC"]);
            self.pipeline(2, drop).await?;
            self.executed().await?;
        } else {
            self.command(&[b"UNWATCH"]).await?;
        }
        Ok(())
    }

    async fn remove_range(
        &mut self,
        key_set: &KeySet<'_>,
        last: u64,
        cleaning: Cleaning,
    ) -> Result<Vec<Vec<u8>>, Failure> {
        let mut left = Vec::new();
        for batch in batches(1..last + 1, BATCH) {
            let numbers: Vec<u64> = batch.collect();
            left.extend(self.remove_filed(key_set, &numbers, cleaning).await?);
        }
        Ok(left)
    }

    /// For a table that rows were added to, their numbers are in the names of the keys alone.
    async fn remove_scanned(
        &mut self,
        table: usize,
        key_set: &KeySet<'_>,
        cleaning: Cleaning,
    ) -> Result<Vec<Vec<u8>>, Failure> {
        let numbers: Vec<u64> = self.numbers(table).await?.into_iter().collect();
        let mut left = Vec::new();
        for batch in numbers.chunks(BATCH as usize) {
            left.extend(self.remove_filed(key_set, batch, cleaning).await?);
        }
        Ok(left)
    }

    /// Removes the keys with these numbers that hold what is filed there; returns those that hold anything else.
    async fn remove_filed(
        &mut self,
        key_set: &KeySet<'_>,
        numbers: &[u64],
        cleaning: Cleaning,
    ) -> Result<Vec<Vec<u8>>, Failure> {
        for _ in 0..ATTEMPTS {
            self.exchange.begin();
            self.append_keys(b"WATCH", key_set, numbers.iter().copied());
            self.pipeline(1, drop).await?;
            let held = self.held(key_set, numbers).await?;
            let those = |wanted: Held| numbers.iter().zip(&held).filter(move |(_, held)| **held == wanted);
            let mut rows: Vec<u64> = those(Held::Row(())).map(|(&number, _)| number).collect();
            rows.retain(|_| cleaning == Cleaning::Remove);
            let others: Vec<u64> = those(Held::Other).map(|(&number, _)| number).collect();
            let append = |session: &mut Self| session.append_keys(b"DEL", key_set, rows.iter().copied());
            let is_done = match self.change_watched(rows.len().min(1), append).await {
                Err(Failure::Full(_)) => self.remove_by_script(key_set, &rows).await?,
                done => done?,
            };
            if is_done {
                return Ok(others.into_iter().map(|number| key_set.key(number)).collect());
            }
        }
        Err(changing(&key_set.key(numbers[0])))
    }

    /// Executes as one transaction what `append` appends, so many commands; false if a watched key has changed and nothing was done.
    async fn change_watched(&mut self, commands: usize, append: impl FnOnce(&mut Self)) -> Result<bool, Failure> {
        if commands == 0 {
            return self.command(&[b"UNWATCH"]).await.map(|_| true);
        }
        whole_command(self.exchange.begin(), &[b"MULTI"]);
        append(self);
        whole_command(&mut self.exchange.request, &[b"EXEC"]);
        self.pipeline(1 + commands as u64, drop).await?;
        self.executed().await
    }

    /// Reads the answer to EXEC: false if nothing was done.
    async fn executed(&mut self) -> Result<bool, Failure> {
        match self.exchange.next(reply_or_error).await?.map_err(refused)? {
            Reply::Nil => Ok(false),
            Reply::Array { len } => {
                for _ in 0..len {
                    self.exchange.next(reply_or_error).await?.map_err(refused)?;
                }
                Ok(true)
            }
            other => Err(unexpected(&other)),
        }
    }

    /// How many of these keys hold their rows.
    pub(super) async fn count_rows(&mut self, table: usize, numbers: Range<u64>) -> Result<u64, Failure> {
        let (schema, mut count) = (self.schema.clone(), 0);
        let key_set = KeySet::rows(&schema.tables[table]);
        for batch in batches(numbers, BATCH) {
            let numbers: Vec<u64> = batch.collect();
            count += self.held(&key_set, &numbers).await?.iter().filter(|held| **held == Held::Row(())).count() as u64;
        }
        Ok(count)
    }

    /// Appends one command over the keys with these numbers.
    pub(super) fn append_keys(
        &mut self,
        name: &[u8],
        key_set: &KeySet<'_>,
        numbers: impl ExactSizeIterator<Item = u64>,
    ) {
        let request = &mut self.exchange.request;
        command(request, 1 + numbers.len());
        part(request, name);
        for number in numbers {
            key_set.write_key(number, &mut self.generated, &mut self.key);
            part(request, &self.key);
        }
    }

    /// The content of the keys with these numbers, whichever layout rows were stored in.
    pub(super) async fn held(&mut self, key_set: &KeySet<'_>, numbers: &[u64]) -> Result<Vec<Held>, Failure> {
        let mut held = self.held_as_strings(key_set, numbers).await?;
        let KeySet::Rows { table, .. } = key_set else { return Ok(held) };
        let hashes: Vec<usize> = (0..held.len()).filter(|&i| held[i] == Held::Other).collect();
        let of_hashes: Vec<u64> = hashes.iter().map(|&i| numbers[i]).collect();
        for (i, is_row) in hashes.into_iter().zip(self.are_hashes(table, key_set, &of_hashes).await?) {
            held[i] = if is_row { Held::Row(()) } else { Held::Other };
        }
        Ok(held)
    }

    async fn held_as_strings(&mut self, key_set: &KeySet<'_>, numbers: &[u64]) -> Result<Vec<Held>, Failure> {
        let most = key_set.most_bytes().to_string();
        self.exchange.begin();
        for &number in numbers {
            key_set.write_key(number, &mut self.generated, &mut self.key);
            // No more than is filed there: a value of somebody else's may be as large as memory.
            whole_command(&mut self.exchange.request, &[b"GETRANGE", &self.key, b"0", most.as_bytes()]);
        }
        self.exchange.send().await?;
        let (mut held, mut scratch) = (Vec::with_capacity(numbers.len()), Vec::new());
        for &number in numbers {
            let fields = &mut self.fields;
            let judge = |bytes: &[u8]| {
                let Some((answer, next)) = value(bytes)? else { return Ok(None) };
                let held = match answer {
                    Ok(None) => Ok(Held::Nothing),
                    Ok(Some((start, end))) if start == end => Ok(Held::Nothing),
                    Ok(Some(range)) if key_set.is_encoded(number, bytes, range, fields, &mut scratch) => {
                        Ok(Held::Row(()))
                    }
                    Ok(Some(_)) => Ok(Held::Other),
                    Err(failure) if failure.message().starts_with("WRONGTYPE") => Ok(Held::Other),
                    Err(failure) => Err(failure),
                };
                Ok(Some((held, next)))
            };
            held.push(self.exchange.next(judge).await??);
        }
        Ok(held)
    }

    /// Returns whether these keys hold their rows as hashes.
    async fn are_hashes(&mut self, table: &Table, key_set: &KeySet<'_>, numbers: &[u64]) -> Result<Vec<bool>, Failure> {
        if numbers.is_empty() {
            return Ok(vec![]);
        }
        self.exchange.begin();
        for &number in numbers {
            key_set.write_key(number, &mut self.generated, &mut self.key);
            let mut parts = vec![&b"HMGET"[..], &self.key];
            parts.extend(table.columns.iter().map(|column| column.name.as_bytes()));
            whole_command(&mut self.exchange.request, &parts);
        }
        self.exchange.send().await?;
        let (mut are, mut scratch) = (Vec::with_capacity(numbers.len()), Vec::new());
        for &number in numbers {
            let fields = &mut self.fields;
            let judge = |bytes: &[u8]| {
                let Some((answer, next)) = hash_fields(bytes, table, fields)? else { return Ok(None) };
                let is_row = match answer {
                    Ok(is_there) => Ok(is_there && is_row(table, number, bytes, fields, &mut scratch)),
                    Err(message) if message.starts_with("WRONGTYPE") => Ok(false),
                    Err(message) => Err(refused(message)),
                };
                Ok(Some((is_row, next)))
            };
            are.push(self.exchange.next(judge).await??);
        }
        Ok(are)
    }

    /// Stores rows as strings, each if there is no key yet.
    pub(super) async fn load_strings(&mut self, table: usize, numbers: Range<u64>) -> Result<(), Trouble> {
        self.exchange.begin();
        for number in numbers.clone() {
            self.encode_row(table, number, 0);
            whole_command(&mut self.exchange.request, &[b"SET", &self.key, &self.value, b"NX"]);
        }
        let (mut taken, mut next) = (Vec::new(), numbers.clone());
        self.pipeline(numbers.end - numbers.start, |reply| {
            let number = next.next().unwrap_or_default();
            if reply == Reply::Nil {
                taken.push(number);
            }
        })
        .await?;
        self.refuse_others(table, &taken).await
    }

    /// The same as hashes, for which there is no such command: a batch is a transaction that is not done if a key came meanwhile.
    pub(super) async fn load_hashes(&mut self, table: usize, numbers: Range<u64>) -> Result<(), Trouble> {
        let schema = self.schema.clone();
        let key_set = KeySet::rows(&schema.tables[table]);
        for _ in 0..ATTEMPTS {
            self.exchange.begin();
            self.append_keys(b"WATCH", &key_set, numbers.clone().collect::<Vec<_>>().into_iter());
            for number in numbers.clone() {
                self.append_keys(b"EXISTS", &key_set, [number].into_iter());
            }
            let (mut replies, mut next) = (Vec::new(), numbers.clone());
            self.pipeline(1 + numbers.end - numbers.start, |reply| replies.push(reply)).await?;
            let are_there = replies.iter().skip(1).map(|reply| *reply == Reply::Integer(1));
            let (taken, free): (Vec<_>, Vec<_>) = next.by_ref().zip(are_there).partition(|(_, is_there)| *is_there);
            let taken: Vec<u64> = taken.into_iter().map(|(number, _)| number).collect();
            self.refuse_others(table, &taken).await?;
            let append = |session: &mut Self| {
                for &(number, _) in &free {
                    session.generate_row(table, number, 0);
                    let (request, columns) = (&mut session.exchange.request, &session.schema.tables[table]);
                    append_hset(request, &session.key, columns, session.generated.row(), |_| true);
                }
            };
            if self.change_watched(free.len(), append).await? {
                return Ok(());
            }
        }
        Err(changing(&key_set.key(numbers.start)).into())
    }

    /// A key that was there already may be a row that an attempt before has stored; anything else is refused.
    async fn refuse_others(&mut self, table: usize, taken: &[u64]) -> Result<(), Trouble> {
        let schema = self.schema.clone();
        let key_set = KeySet::rows(&schema.tables[table]);
        let held = self.held(&key_set, taken).await?;
        match taken.iter().zip(held).find(|(_, held)| *held != Held::Row(())) {
            Some((&number, _)) => Err(foreign_key(&key_set.key(number))),
            None => Ok(()),
        }
    }
}

#[cold]
fn changing(key: &[u8]) -> Failure {
    Failure::Server(format!("keys from {} on keep changing: other programs write to them", key.escape_ascii()))
}
