//! When clients begin their transactions, and how long they keep a connection, as a plan has it.

use dbdyno_model::Choices;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::arrivals::{Arrivals, ArrivalsPlan};

/// Keeps the pauses apart from the workload's own choices, which the same seed makes.
const PAUSE_SALT: u64 = 0x7468_696e_6b69_6e67;
const LONGEST_THINK_US: u64 = 60_000_000;

/// How a client pauses between two transactions of a closed loop.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ThinkTime {
    pub kind: Pauses,
    pub mean_us: u64,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Pauses {
    Constant,
    Exponential,
}

impl ThinkTime {
    /// The pause before the transaction that `choices` are of.
    pub fn pause_ns(self, seed: u64, choices: &Choices) -> u64 {
        let mean_ns = self.mean_us * 1000;
        match self.kind {
            Pauses::Constant => mean_ns,
            Pauses::Exponential => {
                let mut pause = Choices::new(seed ^ PAUSE_SALT, choices.client, choices.clients, choices.step);
                (pause.exponential() * mean_ns as f64) as u64
            }
        }
    }
}

/// When clients begin their transactions, and how long they keep a connection.
#[derive(Clone, Copy, Debug)]
pub struct Pace<'a> {
    pub arrivals: Option<&'a ArrivalsPlan>,
    pub think_time: Option<ThinkTime>,
    /// 0: one connection for all.
    pub transactions_per_connection: u64,
}

impl Pace<'_> {
    /// # Errors
    /// A value makes no sense, or two contradict each other: in words for the user.
    pub fn check(self) -> Result<(), String> {
        self.arrivals.map_or(Ok(()), |arrivals| Arrivals::new(arrivals).map(drop))?;
        let Some(think_time) = self.think_time else { return Ok(()) };
        if self.arrivals.is_some() {
            return Err("think_time and arrivals: an open loop begins each transaction at its own time".into());
        }
        if !(1..=LONGEST_THINK_US).contains(&think_time.mean_us) {
            return Err(format!("think_time.mean_us = {}: 1 to {LONGEST_THINK_US}", think_time.mean_us));
        }
        Ok(())
    }

    pub fn is_plain(self) -> bool {
        self.arrivals.is_none() && self.think_time.is_none() && self.transactions_per_connection == 0
    }
}

/// One of a plan's `groups`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupPlan {
    pub name: String,
    pub count: u64,
    /// In the place of the workload's own.
    #[serde(default)]
    pub options: Map<String, Value>,
    #[serde(default)]
    pub start_s: u64,
    pub arrivals: Option<ArrivalsPlan>,
    pub think_time: Option<ThinkTime>,
    #[serde(default)]
    pub transactions_per_connection: u64,
}

impl GroupPlan {
    pub fn pace(&self) -> Pace<'_> {
        let &Self { think_time, transactions_per_connection, .. } = self;
        Pace { arrivals: self.arrivals.as_ref(), think_time, transactions_per_connection }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn group(change: impl FnOnce(&mut Value)) -> Result<(), String> {
        let mut plan = json!({"name": "readers", "count": 2});
        change(&mut plan);
        serde_json::from_value::<GroupPlan>(plan).map_err(|error| error.to_string())?.pace().check()
    }

    #[test]
    fn a_pace_that_makes_no_sense_is_named() {
        let think = |mean_us: u64| json!({"kind": "constant", "mean_us": mean_us});
        let arrivals = |per_s: u64| json!({"kind": "constant", "segments": [{"seconds": 1, "from_per_s": per_s, "to_per_s": per_s}]});
        assert_eq!(group(|p| p["think_time"] = think(5)), Ok(()));
        assert!(group(|p| p["think_time"] = think(0)).unwrap_err().contains("mean_us = 0"));
        assert!(group(|p| p["think_time"] = json!({"kind": "even", "mean_us": 1})).unwrap_err().contains("even"));
        assert!(group(|p| p["arrivals"] = arrivals(0)).unwrap_err().contains("per_s"));
        assert!(group(|p| p["surprise"] = 1.into()).unwrap_err().contains("surprise"));
        let both = |p: &mut Value| (p["arrivals"], p["think_time"]) = (arrivals(1), think(1));
        assert!(group(both).unwrap_err().contains("arrivals"));
    }

    #[test]
    fn pauses_have_their_mean_and_are_a_function_of_seed_client_and_step() {
        let exponential = ThinkTime { kind: Pauses::Exponential, mean_us: 100 };
        let pause = |seed, client, step| exponential.pause_ns(seed, &Choices::new(seed, client, 4, step));
        assert_eq!(pause(1, 2, 3), pause(1, 2, 3));
        assert_ne!(pause(1, 2, 3), pause(1, 3, 3));
        let mean_ns = (0..100_000).map(|step| pause(1, 0, step)).sum::<u64>() / 100_000;
        assert!(mean_ns.abs_diff(100_000) < 1_300, "{mean_ns}");
        let longer = (0..100_000).filter(|&step| pause(1, 0, step) > 100_000).count();
        assert!((longer as f64 / 1e5 - (-1f64).exp()).abs() < 0.006, "{longer}");
        let constant = ThinkTime { kind: Pauses::Constant, mean_us: 100 };
        assert_eq!(constant.pause_ns(1, &Choices::new(1, 0, 1, 9)), 100_000);
    }
}
