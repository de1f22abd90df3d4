//! The open loop: when each client's transactions are due, a pure function of (rate, seed, client), computed ahead and never skipped.

use std::ops::Range;
use std::sync::Arc;

use dbdyno_model::Choices;
use serde::Deserialize;

const MAX_RATE_PER_S: f64 = 10_000_000.0;
/// Keeps the gaps apart from the workload's own choices, which the same seed makes.
const GAP_SALT: u64 = 0x6172_7269_7661_6c73;

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Gaps {
    Constant,
    Poisson,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Segment {
    pub seconds: f64,
    pub from_per_s: f64,
    pub to_per_s: f64,
}

/// `arrivals` of a plan.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArrivalsPlan {
    pub kind: Gaps,
    pub segments: Vec<Segment>,
}

/// The rate over time of the whole trial.
#[derive(Clone, Debug)]
pub struct Arrivals {
    gaps: Gaps,
    segments: Vec<Segment>,
}

impl Arrivals {
    /// # Errors
    /// A rate or a length that makes no sense: in words for the user.
    pub fn new(plan: &ArrivalsPlan) -> Result<Self, String> {
        if plan.segments.is_empty() {
            return Err("arrivals.segments: at least one".into());
        }
        for segment in &plan.segments {
            for rate in [segment.from_per_s, segment.to_per_s] {
                if !(rate > 0.0 && rate <= MAX_RATE_PER_S) {
                    return Err(format!(
                        "a rate of {rate}: from_per_s and to_per_s are above 0, at most {MAX_RATE_PER_S}"
                    ));
                }
            }
            if !(segment.seconds > 0.0 && segment.seconds.is_finite()) {
                return Err(format!("a segment of {} seconds: above 0", segment.seconds));
            }
        }
        Ok(Self { gaps: plan.kind, segments: plan.segments.clone() })
    }

    /// When the trial's arrival number `n` (from 0, fractions allowed) is due, in seconds from the start: the inverse of the
    /// rate's integral, which is quadratic within a segment.
    fn due_s(&self, mut n: f64) -> f64 {
        let mut begun_s = 0.0;
        for segment in &self.segments {
            let arrivals = segment.seconds * (segment.from_per_s + segment.to_per_s) / 2.0;
            if n < arrivals {
                let slope = (segment.to_per_s - segment.from_per_s) / segment.seconds;
                let root = (segment.from_per_s.powi(2) + 2.0 * slope * n).max(0.0).sqrt();
                return begun_s + 2.0 * n / (segment.from_per_s + root);
            }
            n -= arrivals;
            begun_s += segment.seconds;
        }
        let last = self.segments.last().map_or(1.0, |segment| segment.to_per_s);
        begun_s + n / last
    }
}

/// One client's arrivals, in order, without end.
#[derive(Clone, Debug)]
pub struct ClientArrivals {
    arrivals: Arc<Arrivals>,
    seed: u64,
    client: u64,
    /// Among so many clients that share the rate, which of them it is.
    clients: u64,
    position: u64,
    start_ns: u64,
    k: u64,
    /// The sum of the exponential gaps so far, in arrivals of the whole trial.
    passed: f64,
}

impl ClientArrivals {
    /// The arrivals of `client`, one of `group` that share the rate from `start_ns` on.
    pub fn new(arrivals: Arc<Arrivals>, seed: u64, client: u64, group: &Range<u64>, start_ns: u64) -> Self {
        let (clients, position) = (group.end - group.start, client - group.start);
        Self { arrivals, seed, client, clients, position, start_ns, k: 0, passed: 0.0 }
    }

    /// When the next arrival is due, in nanoseconds from the start.
    pub fn next_ns(&mut self) -> u64 {
        let n = match self.arrivals.gaps {
            Gaps::Constant => (self.k * self.clients + self.position) as f64,
            Gaps::Poisson => {
                let mut choices = Choices::new(self.seed ^ GAP_SALT, self.client, self.clients, self.k);
                self.passed += choices.exponential() * self.clients as f64;
                self.passed
            }
        };
        self.k += 1;
        self.start_ns + (self.arrivals.due_s(n) * 1e9) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrivals(kind: Gaps, segments: &[(f64, f64, f64)]) -> Arc<Arrivals> {
        let segment = |&(seconds, from_per_s, to_per_s): &(f64, f64, f64)| Segment { seconds, from_per_s, to_per_s };
        Arc::new(Arrivals::new(&ArrivalsPlan { kind, segments: segments.iter().map(segment).collect() }).unwrap())
    }

    /// The arrivals of all clients that are due before `seconds`, in order.
    fn all(arrivals: &Arc<Arrivals>, clients: u64, seconds: u64) -> Vec<u64> {
        let mut due = vec![];
        for client in 0..clients {
            let mut of_client = ClientArrivals::new(Arc::clone(arrivals), 1, client, &(0..clients), 0);
            due.extend(std::iter::repeat_with(|| of_client.next_ns()).take_while(|&ns| ns < seconds * 1_000_000_000));
        }
        due.sort_unstable();
        due
    }

    #[test]
    fn constant_arrivals_of_all_clients_together_are_equally_spaced() {
        let due = all(&arrivals(Gaps::Constant, &[(1.0, 1000.0, 1000.0)]), 7, 3);
        assert_eq!(due.len(), 3000);
        assert!(due.windows(2).all(|pair| pair[1] - pair[0] > 999_990 && pair[1] - pair[0] < 1_000_010));
    }

    #[test]
    fn a_ramp_has_the_arrivals_of_its_mean_rate_and_steps_their_own() {
        let ramp = all(&arrivals(Gaps::Constant, &[(10.0, 100.0, 300.0)]), 3, 10);
        assert_eq!(ramp.len(), 2000);
        let halfway = ramp.partition_point(|&ns| ns < 5_000_000_000);
        assert_eq!(halfway, 750);
        let steps = all(&arrivals(Gaps::Constant, &[(1.0, 100.0, 100.0), (1.0, 200.0, 200.0)]), 2, 4);
        assert_eq!(steps.len(), 100 + 3 * 200);
    }

    #[test]
    fn poisson_arrivals_have_the_rate_and_exponential_gaps() {
        let due = all(&arrivals(Gaps::Poisson, &[(1.0, 10_000.0, 10_000.0)]), 5, 10);
        // 100,000 expected, standard deviation 316.
        assert!(due.len().abs_diff(100_000) < 1_300, "{}", due.len());
        let gaps: Vec<f64> = due.windows(2).map(|pair| (pair[1] - pair[0]) as f64 / 100_000.0).collect();
        let longer = gaps.iter().filter(|&&gap| gap > 1.0).count() as f64 / gaps.len() as f64;
        assert!((longer - (-1.0f64).exp()).abs() < 0.01, "{longer} of the gaps are above the mean");
    }

    #[test]
    fn a_group_of_clients_has_the_rate_from_its_start_on() {
        let arrivals = arrivals(Gaps::Constant, &[(1.0, 1000.0, 1000.0)]);
        let first = |client| ClientArrivals::new(Arc::clone(&arrivals), 1, client, &(4..6), 2_000_000_000).next_ns();
        assert_eq!([first(4), first(5)], [2_000_000_000, 2_001_000_000]);
    }

    #[test]
    fn senseless_rates_are_refused() {
        for (seconds, rate) in [(1.0, 0.0), (1.0, -1.0), (1.0, f64::NAN), (1.0, 2e7), (0.0, 1.0), (f64::INFINITY, 1.0)]
        {
            let segments = vec![Segment { seconds, from_per_s: rate, to_per_s: rate }];
            assert!(Arrivals::new(&ArrivalsPlan { kind: Gaps::Constant, segments }).is_err(), "{seconds} {rate}");
        }
    }
}
