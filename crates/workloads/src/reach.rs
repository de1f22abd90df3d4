//! How a declared operation chooses its key: a distribution over all rows, or over a part of them that may move.

use dbdyno_model::Choices;
use serde::Deserialize;

use crate::access::{Access, HOT_CHOICES, HOT_ROWS, ZIPF_EXPONENT, Zipf};

/// An access as a plan has it: a name, or a table with the parameters (docs/contract.md, "Which rows are chosen").
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(untagged)]
pub enum ReachPlan {
    Named(String),
    With(Parameters),
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    kind: String,
    exponent: Option<f64>,
    #[serde(default)]
    scrambled: bool,
    rows: Option<f64>,
    choices: Option<f64>,
    subset: Option<f64>,
    #[serde(default)]
    moves: f64,
}

impl Default for ReachPlan {
    fn default() -> Self {
        Self::Named("uniform".into())
    }
}

const LARGEST_EXPONENT: f64 = 3.0;
const FASTEST: f64 = 1e6;

/// A distribution over the first keys of a part of the rows, and how far that part moves on with each transaction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reach {
    access: Access,
    size: u64,
    moves: f64,
}

/// The target of a client's insertions: behind `last`, those of all clients by turns.
#[derive(Clone, Copy, Debug)]
pub struct Insertions {
    pub last: u64,
}

impl Insertions {
    /// The key of the client's insertion with this number, from 0.
    #[inline]
    pub fn key(self, choices: &Choices, number: u64) -> u64 {
        self.last + 1 + number * choices.clients + choices.client
    }
}

impl Reach {
    /// # Errors
    /// There is no such access, or a parameter is outside its range: in words for the user.
    pub fn new(plan: &ReachPlan, rows: u64) -> Result<Self, String> {
        let named = |kind: &String| Parameters { kind: kind.clone(), ..Parameters::default() };
        let plan = match plan {
            ReachPlan::Named(kind) => &named(kind),
            ReachPlan::With(parameters) => parameters,
        };
        let subset = checked(plan.subset.unwrap_or(1.0), "subset", f64::MIN_POSITIVE, 1.0)?;
        let size = ((subset * rows as f64).round() as u64).clamp(1, rows);
        let moves = checked(plan.moves, "moves", 0.0, FASTEST)?;
        Ok(Self { access: plan.access(size)?, size, moves })
    }

    /// The key of this transaction, or its next, among the rows that were loaded.
    #[inline]
    pub fn key(self, choices: &mut Choices, rows: u64) -> u64 {
        let key = self.access.key(choices, self.size);
        if self.moves == 0.0 {
            return key;
        }
        let first = (self.moves * (choices.step * choices.clients + choices.client) as f64) as u64;
        1 + (key - 1 + first) % rows
    }

    /// The same, of a table that grows: `latest` counts from the last insertion. A client reads its own insertions only, those that are
    /// surely there, each for as many as there are clients.
    #[inline]
    pub fn key_of_growing(self, choices: &mut Choices, rows: u64, insertions: Insertions) -> u64 {
        let key = self.key(choices, rows);
        if !matches!(self.access, Access::Latest(_)) {
            return key;
        }
        let (back, own) = (rows - key, choices.inserted - choices.sure_from);
        if back / choices.clients < own {
            return insertions.key(choices, choices.inserted - 1 - back / choices.clients);
        }
        rows - (back - own * choices.clients)
    }
}

impl Parameters {
    fn access(&self, rows: u64) -> Result<Access, String> {
        let is_zipf = matches!(&*self.kind, "zipfian" | "latest");
        let is_hot_set = self.kind == "hot-set";
        let given = [
            ("exponent", self.exponent.is_some(), is_zipf),
            ("scrambled", self.scrambled, self.kind == "zipfian"),
            ("rows", self.rows.is_some(), is_hot_set),
            ("choices", self.choices.is_some(), is_hot_set),
            ("subset", self.subset.is_some(), self.kind != "latest"),
            ("moves", self.moves != 0.0, self.kind != "latest"),
        ];
        if let Some((name, ..)) = given.iter().find(|(_, is_given, is_taken)| *is_given && !is_taken) {
            return Err(format!("the access {:?} takes no {name}", self.kind));
        }
        if is_zipf {
            let zipf = Zipf::new(rows, self.exponent()?);
            return Ok(match self.scrambled {
                _ if self.kind == "latest" => Access::Latest(zipf),
                true => Access::Scrambled(zipf),
                false => Access::Zipfian(zipf),
            });
        }
        if is_hot_set {
            let share = |value: Option<f64>, usual, name| checked(value.unwrap_or(usual), name, 0.0, 1.0);
            return Ok(Access::HotSet {
                rows: share(self.rows, HOT_ROWS, "rows")?,
                choices: share(self.choices, HOT_CHOICES, "choices")?,
            });
        }
        Access::named(&self.kind, rows).ok_or_else(|| format!("there is no access {:?}", self.kind))
    }

    fn exponent(&self) -> Result<f64, String> {
        checked(self.exponent.unwrap_or(ZIPF_EXPONENT), "exponent", 0.0, LARGEST_EXPONENT)
    }
}

fn checked(value: f64, name: &str, least: f64, most: f64) -> Result<f64, String> {
    if (least..=most).contains(&value) { Ok(value) } else { Err(format!("{name} = {value}: from {least} to {most}")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn reach(plan: Value, rows: u64) -> Result<Reach, String> {
        Reach::new(&serde_json::from_value(plan).unwrap(), rows)
    }

    fn choices(client: u64, step: u64) -> Choices {
        Choices::new(3, client, 4, step)
    }

    #[test]
    fn names_mean_what_they_mean_for_every_workload() {
        for name in ["uniform", "sequential", "zipfian", "latest", "hot-set", "special", "gaussian", "pareto"] {
            let (reach, access) = (reach(json!(name), 100).unwrap(), Access::named(name, 100).unwrap());
            for step in 0..50 {
                assert_eq!(reach.key(&mut choices(1, step), 100), access.key(&mut choices(1, step), 100), "{name}");
            }
        }
    }

    #[test]
    fn parameters_are_taken_and_wrong_ones_named() {
        let half = reach(json!({"kind": "hot-set", "rows": 0.5, "choices": 1.0}), 100).unwrap();
        assert!((0..100).all(|step| half.key(&mut choices(0, step), 100) <= 50));
        assert_eq!(
            reach(json!({"kind": "zipfian", "exponent": 1.2}), 9).unwrap().access,
            Access::Zipfian(Zipf::new(9, 1.2))
        );
        for (plan, said) in [
            (json!({"kind": "zipfian", "exponent": 3.5}), "exponent = 3.5: from 0 to 3"),
            (json!({"kind": "hot-set", "rows": 1.5}), "rows = 1.5"),
            (json!({"kind": "uniform", "subset": 0.0}), "subset = 0"),
            (json!({"kind": "uniform", "exponent": 1.0}), "takes no exponent"),
            (json!({"kind": "latest", "moves": 1.0}), "takes no moves"),
            (json!({"kind": "zipf"}), "no access \"zipf\""),
        ] {
            assert!(reach(plan, 100).unwrap_err().contains(said), "{said}");
        }
    }

    #[test]
    fn a_subset_stays_or_moves_on_and_comes_round() {
        let stays = reach(json!({"kind": "uniform", "subset": 0.1}), 100).unwrap();
        assert!((0..200).all(|step| (1..=10).contains(&stays.key(&mut choices(2, step), 100))));
        let moves = reach(json!({"kind": "uniform", "subset": 0.1, "moves": 0.25}), 100).unwrap();
        for step in [0, 7, 90, 99] {
            let first = step % 100;
            let key = moves.key(&mut choices(0, step), 100) - 1;
            assert!((key + 100 - first) % 100 < 10, "step {step}: {key}");
        }
    }

    #[test]
    fn latest_follows_the_insertions_of_the_client_itself_that_are_surely_there() {
        let latest = reach(json!({"kind": "latest", "exponent": 2.0}), 100).unwrap();
        let insertions = Insertions { last: 100 };
        let keys = |inserted, sure_from| -> Vec<u64> {
            let mut of_client = choices(1, 0);
            (of_client.inserted, of_client.sure_from) = (inserted, sure_from);
            (0..500).map(|step| latest.key_of_growing(&mut of_client.at(step), 100, insertions)).collect()
        };
        assert!(keys(0, 0).iter().all(|&key| key <= 100) && keys(5, 5).iter().all(|&key| key <= 100));
        let own = |number: u64| 101 + number * 4 + 1;
        let after_three = keys(3, 0);
        for key in after_three.iter().filter(|&&key| key > 100) {
            assert!((0..3).any(|number| own(number) == *key), "{key}");
        }
        let count = |key| after_three.iter().filter(|&&other| other == key).count();
        assert!(count(own(2)) > count(own(1)) && count(own(1)) > 0 && count(100) > 0);
        assert!(keys(3, 2).iter().all(|&key| key <= 100 || key == own(2)));
    }
}
