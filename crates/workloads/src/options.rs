//! The options of a workload as a plan gives them: each workload takes its own, and what is left over is an error.

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use crate::access::{self, Access};

/// A plan's values for one workload: its number of rows, and the options it has not yet taken.
pub struct Options<'a> {
    workload: &'a str,
    /// The rows of the workload's first table.
    pub rows: u64,
    remaining: Map<String, Value>,
}

impl<'a> Options<'a> {
    /// # Errors
    /// The number of rows is impossible: in words for the user.
    pub fn new(workload: &'a str, rows: u64, options: &Map<String, Value>) -> Result<Self, String> {
        if rows == 0 || rows > i32::MAX as u64 {
            return Err(format!("workload.rows = {rows}: keys are 32-bit, so 1 to {} rows are possible", i32::MAX));
        }
        Ok(Self { workload, rows, remaining: options.clone() })
    }

    /// How keys are chosen: any distribution, uniform by default.
    pub fn access(&mut self) -> Result<Access, String> {
        self.access_to(self.rows)
    }

    /// The same, of keys up to this one.
    pub fn access_to(&mut self, rows: u64) -> Result<Access, String> {
        self.one_of("access", &access::DISTRIBUTIONS).map(|distribution| distribution(rows))
    }

    /// The choice that the plan names, by default the first.
    pub fn one_of<T: Copy>(&mut self, key: &str, choices: &[(&str, T)]) -> Result<T, String> {
        let given = self.remaining.remove(key);
        let chosen = match &given {
            None => choices.first(),
            Some(value) => choices.iter().find(|(name, _)| value == name),
        };
        let names = || choices.iter().map(|(name, _)| format!("{name:?}")).collect::<Vec<_>>().join(", ");
        chosen
            .map(|(_, choice)| *choice)
            .ok_or_else(|| format!("{key} = {}: there are {}", given.unwrap_or_default(), names()))
    }

    /// A whole number, also as text.
    pub fn number(&mut self, key: &str, range: RangeInclusive<u64>, default: u64) -> Result<u64, String> {
        let Some(given) = self.remaining.remove(key) else { return Ok(default) };
        let number = given.as_u64().or_else(|| given.as_str()?.parse().ok());
        let (first, last) = (range.start(), range.end());
        number
            .filter(|n| range.contains(n))
            .ok_or_else(|| format!("{key} = {given}: give a number from {first} to {last}"))
    }

    /// The option as it is in the plan.
    pub fn take(&mut self, key: &str) -> Option<Value> {
        self.remaining.remove(key)
    }

    /// # Errors
    /// The plan has an option that the workload did not take.
    pub fn all_taken(&self) -> Result<(), String> {
        match self.remaining.keys().next() {
            None => Ok(()),
            Some(unknown) => Err(format!("{} has no option {unknown:?}", self.workload)),
        }
    }
}
