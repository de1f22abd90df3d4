//! Implements `Session` and `Administration` for an enum of sessions: every call goes to the variant.

/// Implements traits for an enum by handing every call to the variant.
macro_rules! forward {
    ($any:ident, $($variant:ident),+) => {
        impl Session for $any {
            #[inline]
            async fn get(&mut self, step: usize, key: u64) -> Result<bool, Failure> {
                match self { $($any::$variant(s) => s.get(step, key).await),+ }
            }
            #[inline]
            async fn find(&mut self, step: usize, value: Value<'_>) -> Result<bool, Failure> {
                match self { $($any::$variant(s) => s.find(step, value).await),+ }
            }
            #[inline]
            async fn update(&mut self, step: usize, key: u64, version: u64) -> Result<bool, Failure> {
                match self { $($any::$variant(s) => s.update(step, key, version).await),+ }
            }
            #[inline]
            async fn add(&mut self, step: usize, key: u64, delta: i64) -> Result<bool, Failure> {
                match self { $($any::$variant(s) => s.add(step, key, delta).await),+ }
            }
            #[inline]
            async fn insert(&mut self, step: usize, key: u64) -> Result<bool, Failure> {
                match self { $($any::$variant(s) => s.insert(step, key).await),+ }
            }
            #[inline]
            async fn put(&mut self, step: usize, key: u64, version: u64) -> Result<(), Failure> {
                match self { $($any::$variant(s) => s.put(step, key, version).await),+ }
            }
            #[inline]
            async fn delete(&mut self, step: usize, key: u64) -> Result<bool, Failure> {
                match self { $($any::$variant(s) => s.delete(step, key).await),+ }
            }
            async fn scan(
                &mut self,
                step: usize,
                first: u64,
                most: u64,
                each: &mut dyn FnMut(Row<'_>),
            ) -> Result<(), Failure> {
                match self { $($any::$variant(s) => s.scan(step, first, most, each).await),+ }
            }
            #[inline]
            async fn control(&mut self, step: usize) -> Result<(), Failure> {
                match self { $($any::$variant(s) => s.control(step).await),+ }
            }
            async fn quit(&mut self) {
                match self { $($any::$variant(s) => s.quit().await),+ }
            }
            async fn abandon(&mut self) -> Result<(), Failure> {
                match self { $($any::$variant(s) => s.abandon().await),+ }
            }
            async fn sql(
                &mut self,
                step: usize,
                params: &[Value<'_>],
                each: &mut dyn FnMut(Row<'_>),
            ) -> Result<u64, Failure> {
                match self { $($any::$variant(s) => s.sql(step, params, each).await),+ }
            }
            async fn get_many(
                &mut self,
                step: usize,
                keys: &[u64],
                each: &mut dyn FnMut(usize, Option<Row<'_>>),
            ) -> Result<(), Failure> {
                match self { $($any::$variant(s) => s.get_many(step, keys, each).await),+ }
            }
            #[inline]
            fn row(&self) -> Row<'_> {
                match self { $($any::$variant(s) => s.row()),+ }
            }
            #[inline]
            fn release(&mut self) {
                match self { $($any::$variant(s) => s.release()),+ }
            }
        }

        impl Administration for $any {
            async fn prepare(&mut self, marker: &str) -> Result<(), Trouble> {
                match self { $($any::$variant(s) => s.prepare(marker).await),+ }
            }
            async fn claim(&mut self, claims: &[String]) -> Result<(), Trouble> {
                match self { $($any::$variant(s) => s.claim(claims).await),+ }
            }
            async fn renew(&mut self, claims: &[String]) -> Result<(), Trouble> {
                match self { $($any::$variant(s) => s.renew(claims).await),+ }
            }
            async fn claims(&mut self) -> Result<Vec<String>, Trouble> {
                match self { $($any::$variant(s) => s.claims().await),+ }
            }
            async fn withdraw(&mut self, claim: &Claim, cleaning: Cleaning) -> Result<Withdrawn, Trouble> {
                match self { $($any::$variant(s) => s.withdraw(claim, cleaning).await),+ }
            }
            async fn cannot_know(&mut self) -> Result<Option<String>, Trouble> {
                match self { $($any::$variant(s) => s.cannot_know().await),+ }
            }
            async fn load(&mut self, table: usize, keys: Range<u64>) -> Result<(), Trouble> {
                match self { $($any::$variant(s) => s.load(table, keys).await),+ }
            }
            fn loads_by(&self) -> &'static str {
                match self { $($any::$variant(s) => s.loads_by()),+ }
            }
            async fn present(&mut self, table: usize, keys: Range<u64>) -> Result<Option<u64>, Trouble> {
                match self { $($any::$variant(s) => s.present(table, keys).await),+ }
            }
            async fn index(&mut self, table: usize) -> Result<(), Trouble> {
                match self { $($any::$variant(s) => s.index(table).await),+ }
            }
            async fn settle(&mut self, table: usize) -> Result<(), Trouble> {
                match self { $($any::$variant(s) => s.settle(table).await),+ }
            }
            async fn count(&mut self, table: usize) -> Result<Option<u64>, Trouble> {
                match self { $($any::$variant(s) => s.count(table).await),+ }
            }
            async fn count_by_index(&mut self, table: usize, index: usize) -> Result<Option<u64>, Trouble> {
                match self { $($any::$variant(s) => s.count_by_index(table, index).await),+ }
            }
            async fn last_key(&mut self, table: usize) -> Result<Option<u64>, Trouble> {
                match self { $($any::$variant(s) => s.last_key(table).await),+ }
            }
            async fn remove_rows(&mut self, table: usize) -> Result<(), Trouble> {
                match self { $($any::$variant(s) => s.remove_rows(table).await),+ }
            }
            async fn ask(&mut self, query: &Statement) -> Result<TextRows, Trouble> {
                match self { $($any::$variant(s) => s.ask(query).await),+ }
            }
            async fn query_plan(&mut self, step: usize) -> Result<Option<QueryPlan>, Trouble> {
                match self { $($any::$variant(s) => s.query_plan(step).await),+ }
            }
            async fn sum(&mut self, table: usize, column: usize) -> Result<Option<i128>, Trouble> {
                match self { $($any::$variant(s) => s.sum(table, column).await),+ }
            }
            async fn marker(&mut self) -> Result<Option<String>, Trouble> {
                match self { $($any::$variant(s) => s.marker().await),+ }
            }
            async fn remove(&mut self, cleaning: Cleaning) -> Result<Vec<String>, Trouble> {
                match self { $($any::$variant(s) => s.remove(cleaning).await),+ }
            }
        }
    };
}

pub(crate) use forward;
