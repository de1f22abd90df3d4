//! Claims, and the keys that they name: none is written or removed that holds anything but a row of dbdyno's. A key is changed only if
//! it is as it was when it was read (`add`, `cas`).

use std::ops::Range;

use dbdyno_model::Failure;
use dbdyno_wire::memcached::{self as wire, Got};

use super::{BATCH, MemcachedSession, answer, refused};
use crate::claim::{Claim, Claimed, Held, Withdrawn, foreign_key};
use crate::key_set::KeySet;
use crate::keys::{MARKER_KEY, batches};
use crate::{Cleaning, MARKER, Trouble};

/// How often the markers are read anew that somebody else has changed meanwhile.
const ATTEMPTS: usize = 10;
/// Flags and a time that has passed: what is stored is gone at once. There is no `delete` of what has not changed.
const EXPIRED: &[u8] = b" 0 -1 ";

impl MemcachedSession {
    /// The texts of all claims, and what tells whether they have changed; `None` if there are no markers.
    async fn read_markers(&mut self) -> Result<Option<(Vec<u8>, u64)>, Failure> {
        wire::gets(self.exchange.begin(), MARKER_KEY);
        self.exchange.send().await?;
        let markers = |bytes: &[u8]| {
            Ok(wire::got(bytes)?.map(|(got, next)| {
                let markers = match got {
                    Got::Hit { start, end } => Ok(Some((bytes[start..end].to_vec(), wire::unique(bytes)))),
                    Got::Miss => Ok(None),
                    Got::Error { start, end } => Err(refused(&bytes[start..end])),
                };
                (markers, next)
            }))
        };
        self.exchange.next(markers).await?
    }

    pub(super) async fn read_claims(&mut self) -> Result<Vec<String>, Failure> {
        Ok(self.read_markers().await?.map(|(text, _)| lines(&text)).unwrap_or_default())
    }

    /// Changes the list of claims, however many runs do so at once.
    async fn change_claims(&mut self, change: impl Fn(&mut Vec<String>)) -> Result<(), Trouble> {
        for _ in 0..ATTEMPTS {
            let markers = self.read_markers().await?;
            if markers.as_ref().is_some_and(|(text, _)| !text.starts_with(MARKER.as_bytes())) {
                let key = MARKER_KEY.escape_ascii();
                return Err(Trouble::Refused(format!(
                    "another program wrote the key {key}, and dbdyno does not overwrite it"
                )));
            }
            let mut claims = markers.as_ref().map(|(text, _)| lines(text)).unwrap_or_default();
            change(&mut claims);
            let (text, request) = (claims.join("\n"), self.exchange.begin());
            match markers {
                None if claims.is_empty() => return Ok(()),
                None => wire::add(request, MARKER_KEY, text.as_bytes()),
                Some((_, unique)) => {
                    let expiry = if claims.is_empty() { EXPIRED } else { b" 0 0 " };
                    wire::cas(request, MARKER_KEY, expiry, text.as_bytes(), unique);
                }
            }
            // An expired item is counted until somebody asks for it.
            wire::get(request, MARKER_KEY);
            self.exchange.send().await?;
            let is_stored = self.exchange.next(|bytes| answer(bytes, b"STORED")).await??;
            self.exchange.next(wire::got).await?;
            if is_stored {
                return Ok(());
            }
        }
        Err(Trouble::Failed(Failure::Server("the markers keep changing: other programs write to them".into())))
    }

    pub(super) async fn write_claims(&mut self, claims: &[String]) -> Result<(), Trouble> {
        self.change_claims(|there| {
            let missing: Vec<String> = claims.iter().filter(|claim| !there.contains(claim)).cloned().collect();
            there.extend(missing);
        })
        .await
    }

    pub(super) async fn withdraw_claim(&mut self, claim: &Claim, cleaning: Cleaning) -> Result<Withdrawn, Trouble> {
        let mut withdrawn = Withdrawn::default();
        let schema = self.schema.clone();
        for &Claimed { table, last } in &claim.tables {
            let (table, last) = (&schema.tables[table], last.unwrap_or(schema.rows));
            withdrawn.add(table, &self.remove_filed(&KeySet::rows(table), last, cleaning).await?);
        }
        for query in &claim.results {
            withdrawn.add_results(&self.remove_filed(&KeySet::Results(query), query.results(), cleaning).await?);
        }
        if cleaning == Cleaning::Remove {
            self.change_claims(|claims| claims.retain(|text| *text != claim.text)).await?;
        }
        Ok(withdrawn)
    }

    /// Removes the keys up to this number that hold what is filed there; returns those that hold anything else.
    async fn remove_filed(
        &mut self,
        key_set: &KeySet<'_>,
        last: u64,
        cleaning: Cleaning,
    ) -> Result<Vec<Vec<u8>>, Failure> {
        let mut left = Vec::new();
        for batch in batches(1..last + 1, BATCH) {
            left.extend(self.remove_batch(key_set, batch, cleaning).await?);
        }
        Ok(left)
    }

    async fn remove_batch(
        &mut self,
        key_set: &KeySet<'_>,
        numbers: Range<u64>,
        cleaning: Cleaning,
    ) -> Result<Vec<Vec<u8>>, Failure> {
        let numbers: Vec<u64> = numbers.collect();
        let (mut rows, mut others) = (0, Vec::new());
        let held = self.held(key_set, &numbers).await?;
        self.exchange.begin();
        for (number, held) in numbers.into_iter().zip(held) {
            let key = key_set.key(number);
            match held {
                Held::Other => others.push(key),
                Held::Row(unique) if cleaning == Cleaning::Remove => {
                    rows += 1;
                    wire::cas(&mut self.exchange.request, &key, EXPIRED, b"", unique);
                    wire::get(&mut self.exchange.request, &key);
                }
                Held::Nothing | Held::Row(_) => {}
            }
        }
        self.exchange.send().await?;
        for _ in 0..rows {
            self.exchange.next(|bytes| answer(bytes, b"STORED")).await??;
            self.exchange.next(wire::got).await?;
        }
        Ok(others)
    }

    /// The content of the keys of these numbers, and the number that tells whether a value has changed.
    async fn held(&mut self, key_set: &KeySet<'_>, numbers: &[u64]) -> Result<Vec<Held<u64>>, Failure> {
        self.exchange.begin();
        for &number in numbers {
            key_set.write_key(number, &mut self.generated, &mut self.key);
            wire::gets(&mut self.exchange.request, &self.key);
        }
        self.exchange.send().await?;
        let (mut held, mut scratch) = (Vec::with_capacity(numbers.len()), Vec::new());
        for &number in numbers {
            let fields = &mut self.fields;
            let judge = |bytes: &[u8]| {
                let Some((got, next)) = wire::got(bytes)? else { return Ok(None) };
                let held = match got {
                    Got::Miss => Ok(Held::Nothing),
                    Got::Hit { start, end }
                        if key_set.is_encoded(number, bytes, (start, end), fields, &mut scratch) =>
                    {
                        Ok(Held::Row(wire::unique(bytes)))
                    }
                    Got::Hit { .. } => Ok(Held::Other),
                    Got::Error { start, end } => Err(refused(&bytes[start..end])),
                };
                Ok(Some((held, next)))
            };
            held.push(self.exchange.next(judge).await??);
        }
        Ok(held)
    }

    /// Stores rows, each if there is no key yet. One that is there may be a row that an attempt before has stored; anything else is
    /// refused.
    pub(super) async fn load_rows(&mut self, table: usize, numbers: Range<u64>) -> Result<(), Trouble> {
        self.exchange.begin();
        for number in numbers.clone() {
            self.encode_row(table, number, 0);
            wire::add(&mut self.exchange.request, &self.key, &self.value);
        }
        self.exchange.send().await?;
        let mut taken = Vec::new();
        for number in numbers {
            if !self.exchange.next(|bytes| answer(bytes, b"STORED")).await?? {
                taken.push(number);
            }
        }
        let schema = self.schema.clone();
        let key_set = KeySet::rows(&schema.tables[table]);
        let held = self.held(&key_set, &taken).await?;
        match taken.into_iter().zip(held).find(|(_, held)| *held == Held::Other) {
            Some((number, _)) => Err(foreign_key(&key_set.key(number))),
            None => Ok(()),
        }
    }
}

/// The claims in the text of the markers.
fn lines(text: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(text);
    text.lines().filter(|line| line.starts_with(MARKER)).map(str::to_owned).collect()
}
