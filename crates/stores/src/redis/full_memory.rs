//! Removal if the server's memory is full: then it refuses what a transaction queues, and takes a script that only removes.

use dbdyno_model::Failure;
use dbdyno_wire::redis::{Reply, whole_command};

use super::{RedisSession, reply_or_error, value};
use crate::claim::Held;
use crate::key_set::KeySet;

/// Removes each key whose serialised value is what was read of it, and returns how many it removed.
const REMOVE_UNCHANGED: &[u8] = b"local removed = 0
for i, key in ipairs(KEYS) do
  if redis.call('DUMP', key) == ARGV[i] then removed = removed + redis.call('DEL', key) end
end
return removed";

impl RedisSession {
    /// Removes the keys of these rows, after the transaction for that was refused; false if one of them has changed.
    pub(super) async fn remove_by_script(&mut self, key_set: &KeySet<'_>, rows: &[u64]) -> Result<bool, Failure> {
        // The answer to EXEC: the transaction is discarded.
        let _ = self.exchange.next(reply_or_error).await?;
        let keys: Vec<Vec<u8>> = rows.iter().map(|&number| key_set.key(number)).collect();
        let Some(dumps) = self.dumps(&keys).await? else { return Ok(false) };
        // Looked at after they were read: a key is removed only if it is as it was before, so what it held is known.
        if self.held(key_set, rows).await?.iter().any(|held| *held != Held::Row(())) {
            return Ok(false);
        }
        let count = keys.len().to_string();
        let mut parts = vec![&b"EVAL"[..], REMOVE_UNCHANGED, count.as_bytes()];
        parts.extend(keys.iter().chain(&dumps).map(Vec::as_slice));
        Ok(self.command(&parts).await? == Reply::Integer(keys.len() as i64))
    }

    /// The serialised values of keys; `None` if one is gone.
    async fn dumps(&mut self, keys: &[Vec<u8>]) -> Result<Option<Vec<Vec<u8>>>, Failure> {
        self.exchange.begin();
        for key in keys {
            whole_command(&mut self.exchange.request, &[b"DUMP", key]);
        }
        self.exchange.send().await?;
        let mut dumps = Vec::with_capacity(keys.len());
        for _ in keys {
            let copy = |bytes: &[u8]| {
                let Some((answer, next)) = value(bytes)? else { return Ok(None) };
                Ok(Some((answer.map(|range| range.map(|(start, end)| bytes[start..end].to_vec())), next)))
            };
            dumps.push(self.exchange.next(copy).await??);
        }
        Ok(dumps.into_iter().collect())
    }
}
