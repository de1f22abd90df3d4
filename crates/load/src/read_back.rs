//! The acknowledged writes that a store still has.

use dbdyno_model::{Failure, Session, Step, Table};
use dbdyno_net::unix_now_s;
use dbdyno_stores::Trouble;
use serde_json::{Value, json};

use crate::ledger::Entry;
use crate::records::{Place, Records};

/// How one of a pair's rows is read.
pub struct Read {
    pub at: usize,
    pub step: Step,
    pub table: Table,
}

/// A row as it was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    Version(u64),
    Gone,
    /// It is not what its generator makes of any version.
    Damaged,
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    acknowledged: u64,
    missing: u64,
    half_applied: u64,
    unacknowledged: u64,
    gone: u64,
    damaged: u64,
    /// When the oldest write that is missing was acknowledged, as far as that is known, and when the newest of all.
    missing_since_ns: Option<u64>,
    last_ns: u64,
    /// A pair lost several versions, and only the newest one's time is known.
    is_older: bool,
}

impl Counts {
    fn add(&mut self, entry: Entry, pair: [Found; 2]) {
        self.acknowledged += entry.version;
        self.last_ns = self.last_ns.max(entry.at_ns);
        let is = |kind| pair.iter().filter(|&&row| row == kind).count() as u64;
        self.gone += is(Found::Gone);
        self.damaged += is(Found::Damaged);
        self.half_applied += u64::from(pair[0] != pair[1]);
        let [first, second] = pair.map(|row| if let Found::Version(version) = row { version } else { 0 });
        self.missing += entry.version.saturating_sub(first.min(second));
        self.unacknowledged += first.max(second).saturating_sub(entry.version);
        if first.min(second) < entry.version {
            self.is_older |= first.min(second) + 1 < entry.version;
            self.missing_since_ns = Some(self.missing_since_ns.map_or(entry.at_ns, |ns| ns.min(entry.at_ns)));
        }
    }

    fn record(&self, first_read_unix_s: Option<f64>) -> Value {
        let lost_back_s = self.missing_since_ns.map(|ns| (self.last_ns - ns) as f64 / 1e9);
        json!({"record": "read_back", "acknowledged": self.acknowledged, "missing": self.missing,
            "half_applied": self.half_applied, "unacknowledged": self.unacknowledged, "gone": self.gone,
            "damaged": self.damaged, "lost_back_s": lost_back_s, "lost_back_is_least": self.is_older,
            "first_read_unix_s": first_read_unix_s})
    }
}

/// Reads every pair and returns the record of what is there.
///
/// # Errors
/// The store does not answer.
pub async fn read_back(
    session: &mut impl Session,
    pair: &[Read; 2],
    entries: &[Entry],
    records: &Records,
) -> Result<Value, Trouble> {
    let (mut counts, mut first_read_unix_s) = (Counts::default(), None);
    for (key, &entry) in (1..).zip(entries) {
        let first = find(session, &pair[0], key, records).await?;
        first_read_unix_s.get_or_insert_with(unix_now_s);
        counts.add(entry, [first, find(session, &pair[1], key, records).await?]);
    }
    Ok(counts.record(first_read_unix_s))
}

async fn find(session: &mut impl Session, read: &Read, key: u64, records: &Records) -> Result<Found, Failure> {
    if !session.get(read.at, key).await? {
        return Ok(Found::Gone);
    }
    match read.table.check(session.row(), key, &mut vec![]) {
        Ok(()) => Ok(Found::Version(read.table.version_of(session.row()))),
        Err(difference) => {
            let origin = Place { operation: Some(&read.step.name), client: 0, at_s: 0.0 };
            records.mismatch(Some(key), &difference, &origin);
            Ok(Found::Damaged)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Found::{Damaged, Gone, Version};

    fn counted(entries: &[(u64, [Found; 2])]) -> Counts {
        let mut counts = Counts::default();
        for (at_ns, &(version, pair)) in (1..).zip(entries) {
            counts.add(Entry { version, at_ns }, pair);
        }
        counts
    }

    #[test]
    fn what_is_there_as_acknowledged_is_counted_as_nothing_else() {
        let counts = counted(&[(3, [Version(3); 2]), (0, [Version(0); 2])]);
        assert_eq!(counts, Counts { acknowledged: 3, last_ns: 2, ..Counts::default() });
        assert_eq!(counts.record(None)["lost_back_s"], Value::Null);
    }

    #[test]
    fn writes_are_missing_half_there_or_there_without_an_acknowledgement() {
        let counts = counted(&[(3, [Version(1); 2]), (2, [Version(3); 2]), (2, [Version(2), Version(1)])]);
        let expected = Counts { acknowledged: 7, missing: 3, half_applied: 1, unacknowledged: 1, ..Counts::default() };
        assert_eq!(counts, Counts { missing_since_ns: Some(1), last_ns: 3, is_older: true, ..expected });
        let counts = counted(&[(1, [Version(2), Version(1)])]);
        assert_eq!((counts.missing, counts.half_applied, counts.unacknowledged), (0, 1, 1));
    }

    #[test]
    fn rows_that_are_gone_or_damaged_have_lost_all_that_was_acknowledged_of_them() {
        let counts = counted(&[(2, [Gone; 2]), (0, [Version(0), Gone]), (1, [Version(1), Damaged])]);
        let expected =
            Counts { acknowledged: 3, missing: 3, half_applied: 2, gone: 3, damaged: 1, ..Counts::default() };
        assert_eq!(counts, Counts { missing_since_ns: Some(1), last_ns: 3, is_older: true, ..expected });
        assert_eq!(counts.record(Some(5.5))["lost_back_s"], 2e-9);
    }
}
