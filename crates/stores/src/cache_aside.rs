//! Cache-aside: read from the cache; on a miss read the store and fill the cache; on a write, write the store and remove the key from
//! the cache.

use std::ops::Range;
use std::sync::Arc;

use dbdyno_model::{Failure, Row, RowBuffer, Session, Value};

use crate::acknowledged_versions::AcknowledgedVersions;
use crate::cache::CacheSession;
use crate::single::SingleSession;
use crate::{Administration, Cache, CacheCounters, Claim, Cleaning, QueryPlan, Trouble, Withdrawn};

pub struct CacheAsideSession {
    /// The acknowledged writes, if staleness is watched for.
    acknowledged: Option<Arc<AcknowledgedVersions>>,
    pub cache: CacheSession,
    pub store: SingleSession,
    pub counters: CacheCounters,
    /// True if the last row came from the cache.
    from_cache: bool,
    /// The last sums that came from the store.
    sums: RowBuffer,
}

impl CacheAsideSession {
    pub fn new(cache: CacheSession, store: SingleSession, acknowledged: Option<Arc<AcknowledgedVersions>>) -> Self {
        Self {
            acknowledged,
            cache,
            store,
            counters: CacheCounters::default(),
            from_cache: false,
            sums: RowBuffer::default(),
        }
    }

    #[inline]
    fn hit(&mut self) -> Result<bool, Failure> {
        self.counters.hits += 1;
        self.from_cache = true;
        Ok(true)
    }

    fn miss(&mut self) {
        self.counters.misses += 1;
        self.from_cache = false;
    }

    async fn fill(&mut self, step: usize, filed: Value<'_>, is_there: bool) -> Result<bool, Failure> {
        self.miss();
        if is_there {
            self.cache.fill(step, filed, self.store.row()).await?;
        }
        Ok(is_there)
    }
}

impl Session for CacheAsideSession {
    async fn quit(&mut self) {
        self.store.quit().await;
    }

    #[inline]
    async fn get(&mut self, step: usize, key: u64) -> Result<bool, Failure> {
        let written = self.acknowledged.as_ref().map_or(0, |versions| versions.version(step, key));
        if self.cache.get(step, key).await? {
            if self.acknowledged.as_ref().is_some_and(|seen| seen.is_stale(step, self.cache.row(), written)) {
                self.counters.stale += 1;
            }
            return self.hit();
        }
        let is_there = self.store.get(step, key).await?;
        self.fill(step, Value::Int(key as i64), is_there).await
    }

    #[inline]
    async fn find(&mut self, step: usize, value: Value<'_>) -> Result<bool, Failure> {
        if self.cache.find(step, value).await? {
            return self.hit();
        }
        let is_there = self.store.find(step, value).await?;
        self.fill(step, value, is_there).await
    }

    #[inline]
    async fn update(&mut self, step: usize, key: u64, version: u64) -> Result<bool, Failure> {
        let is_changed = self.store.update(step, key, version).await?;
        self.cache.forget(step, key).await?;
        if let Some(acknowledged) = &self.acknowledged {
            acknowledged.written(step, key, version);
        }
        Ok(is_changed)
    }

    async fn add(&mut self, step: usize, key: u64, delta: i64) -> Result<bool, Failure> {
        let is_changed = self.store.add(step, key, delta).await?;
        self.cache.forget(step, key).await?;
        Ok(is_changed)
    }

    /// Sums over a range of rows, the only statement that is kept.
    #[inline]
    async fn sql(&mut self, step: usize, params: &[Value<'_>], each: &mut dyn FnMut(Row<'_>)) -> Result<u64, Failure> {
        let Some(&Value::Int(first)) = params.first() else { return Ok(0) };
        let acknowledged = self.acknowledged.as_deref();
        let written = acknowledged.map_or(0, |versions| versions.version(step, first.unsigned_abs()));
        let mut is_stale = false;
        let mut judged = |row: Row<'_>| {
            is_stale = acknowledged.is_some_and(|versions| versions.is_stale(step, row, written));
            each(row);
        };
        if self.cache.sql(step, params, &mut judged).await? > 0 {
            self.counters.stale += u64::from(is_stale);
            return self.hit().map(u64::from);
        }
        self.miss();
        let sums = &mut self.sums;
        let mut kept = |row: Row<'_>| {
            sums.clear();
            (0..row.len()).for_each(|column| sums.push(row.value(column)));
            each(row);
        };
        let rows = self.store.sql(step, params, &mut kept).await?;
        self.cache.fill(step, Value::Int(first), self.sums.row()).await?;
        Ok(rows)
    }

    #[inline]
    fn row(&self) -> Row<'_> {
        if self.from_cache { self.cache.row() } else { self.store.row() }
    }

    fn release(&mut self) {
        self.store.release();
    }
}

impl Administration for CacheAsideSession {
    async fn prepare(&mut self, marker: &str) -> Result<(), Trouble> {
        self.store.prepare(marker).await
    }

    async fn claim(&mut self, claims: &[String]) -> Result<(), Trouble> {
        self.cache.claim(claims).await?;
        self.store.claim(claims).await
    }

    async fn renew(&mut self, claims: &[String]) -> Result<(), Trouble> {
        self.cache.renew(claims).await?;
        self.store.renew(claims).await
    }

    async fn claims(&mut self) -> Result<Vec<String>, Trouble> {
        let mut claims = self.cache.claims().await?;
        for claim in self.store.claims().await? {
            if !claims.contains(&claim) {
                claims.push(claim);
            }
        }
        Ok(claims)
    }

    /// A claim that only one of the two has says nothing of the other's keys.
    async fn withdraw(&mut self, claim: &Claim, cleaning: Cleaning) -> Result<Withdrawn, Trouble> {
        let mut withdrawn = Withdrawn::default();
        if self.cache.claims().await?.contains(&claim.text) {
            withdrawn.extend(self.cache.withdraw(claim, cleaning).await?);
        }
        if self.store.claims().await?.contains(&claim.text) {
            withdrawn.extend(self.store.withdraw(claim, cleaning).await?);
        }
        Ok(withdrawn)
    }

    async fn cannot_know(&mut self) -> Result<Option<String>, Trouble> {
        Ok(self.cache.cannot_know().await?.or(self.store.cannot_know().await?))
    }

    /// The cache begins empty.
    async fn load(&mut self, table: usize, keys: Range<u64>) -> Result<(), Trouble> {
        self.store.load(table, keys).await
    }

    fn loads_by(&self) -> &'static str {
        self.store.loads_by()
    }

    async fn present(&mut self, table: usize, keys: Range<u64>) -> Result<Option<u64>, Trouble> {
        self.store.present(table, keys).await
    }

    async fn index(&mut self, table: usize) -> Result<(), Trouble> {
        self.store.index(table).await
    }

    async fn settle(&mut self, table: usize) -> Result<(), Trouble> {
        self.store.settle(table).await
    }

    async fn count(&mut self, table: usize) -> Result<Option<u64>, Trouble> {
        self.store.count(table).await
    }

    async fn query_plan(&mut self, step: usize) -> Result<Option<QueryPlan>, Trouble> {
        self.store.query_plan(step).await
    }

    async fn sum(&mut self, table: usize, column: usize) -> Result<Option<i128>, Trouble> {
        self.store.sum(table, column).await
    }

    async fn marker(&mut self) -> Result<Option<String>, Trouble> {
        self.store.marker().await
    }

    async fn remove(&mut self, cleaning: Cleaning) -> Result<Vec<String>, Trouble> {
        self.store.remove(cleaning).await
    }
}
