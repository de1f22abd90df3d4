//! How keys are chosen: distributions over 1 to a number of rows, each a pure function of a transaction's choices.

use dbdyno_model::Choices;

/// sysbench's defaults for `special`: so many percent of the rows, in the middle, get so many percent of the choices, and the others are
/// means of so many uniform numbers.
const SPECIAL_PERCENT: f64 = 1.0;
const SPECIAL_SHARE: f64 = 0.75;
const MEAN_OF: u32 = 12;
/// sysbench's default for `pareto`: this share of the rows gets 1 − this share of the choices.
const PARETO_H: f64 = 0.2;
/// sysbench's default for `zipfian`.
pub const ZIPF_EXPONENT: f64 = 0.8;
/// The default of `hot-set`, YCSB's hot spot: this share of the rows gets that share of the choices.
pub const HOT_ROWS: f64 = 0.2;
pub const HOT_CHOICES: f64 = 0.8;

/// How keys are chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Access {
    Uniform,
    /// All clients together walk the keys in order: the worst case of a cache smaller than the data.
    Sequential,
    /// sysbench's: most choices among a few rows in the middle.
    Special,
    /// sysbench's: means of uniform numbers, around the middle.
    Gaussian,
    /// sysbench's: 80 % of the choices among the first 20 % of the rows, and of these again.
    Pareto,
    /// Key k as often as k to the power of −exponent.
    Zipfian(Zipf),
    /// The same, but the popular rows lie anywhere among the others.
    Scrambled(Zipf),
    /// The same, counted from the last row.
    Latest(Zipf),
    /// This share of the choices, uniform, among this share of the rows, the first ones, uniform.
    HotSet {
        rows: f64,
        choices: f64,
    },
}

/// Makes an access to tables of so many rows.
pub type Distribution = fn(u64) -> Access;

/// The values of the option `access`, the default first: each is a function of the number of rows.
pub const DISTRIBUTIONS: [(&str, Distribution); 8] = [
    ("uniform", |_| Access::Uniform),
    ("sequential", |_| Access::Sequential),
    ("zipfian", |rows| Access::Zipfian(Zipf::new(rows, ZIPF_EXPONENT))),
    ("latest", |rows| Access::Latest(Zipf::new(rows, ZIPF_EXPONENT))),
    ("hot-set", |_| Access::HotSet { rows: HOT_ROWS, choices: HOT_CHOICES }),
    ("special", |_| Access::Special),
    ("gaussian", |_| Access::Gaussian),
    ("pareto", |_| Access::Pareto),
];

impl Access {
    /// The distribution of this name over tables of so many rows.
    pub fn named(name: &str, rows: u64) -> Option<Self> {
        let (_, distribution) = DISTRIBUTIONS.iter().find(|(known, _)| *known == name)?;
        Some(distribution(rows))
    }

    /// The key of this transaction, or its next, in `1..=rows`.
    #[inline]
    pub fn key(self, choices: &mut Choices, rows: u64) -> u64 {
        match self {
            Access::Uniform => choices.key(rows),
            Access::Sequential => 1 + (choices.step * choices.clients + choices.client) % rows,
            other => other.skewed(choices, rows),
        }
    }

    fn skewed(self, choices: &mut Choices, rows: u64) -> u64 {
        let share = match self {
            Access::Zipfian(zipf) => return zipf.key(choices),
            Access::Scrambled(zipf) => return scrambled(zipf.key(choices), rows),
            Access::Latest(zipf) => return rows + 1 - zipf.key(choices),
            Access::Gaussian => mean(choices),
            Access::Pareto => fraction(choices).powf(PARETO_H.ln() / (1.0 - PARETO_H).ln()),
            Access::Special => special(choices),
            Access::HotSet { rows, choices: share } if fraction(choices) < share => fraction(choices) * rows,
            Access::HotSet { rows, .. } => rows + fraction(choices) * (1.0 - rows),
            Access::Uniform | Access::Sequential => fraction(choices),
        };
        1 + ((share * rows as f64) as u64).min(rows - 1)
    }
}

/// Another key for each key in `1..=rows`: a bijection of the next power of two, walked until it is within the rows (Black and Rogaway,
/// "Ciphers with arbitrary finite domains", CT-RSA 2002, section 3). So a scrambled distribution keeps each of its frequencies.
fn scrambled(key: u64, rows: u64) -> u64 {
    let bits = (u64::BITS - (rows - 1).leading_zeros()).max(1);
    let (mask, shift) = (u64::MAX >> (u64::BITS - bits), bits.div_ceil(2));
    let mut x = key - 1;
    loop {
        // An addition, a product with an odd number and a shift to the right can each be undone, within these bits.
        for odd in SCRAMBLING {
            x = x.wrapping_add(odd).wrapping_mul(odd) & mask;
            x ^= x >> shift;
        }
        if x < rows {
            return x + 1;
        }
    }
}

/// Odd numbers without a pattern, those of splitmix64's finalizer.
const SCRAMBLING: [u64; 2] = [0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb];

/// A number in `0..1`, uniform, of 53 bits.
#[inline]
fn fraction(choices: &mut Choices) -> f64 {
    (choices.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// As in sysbench's `sb_rand_special` (1.0.20): the number that says which of both it is also says where in the middle, so that of these
/// rows the first quarter is left out.
fn special(choices: &mut Choices) -> f64 {
    let drawn = fraction(choices);
    if drawn < 1.0 - SPECIAL_SHARE { mean(choices) } else { 0.5 + (drawn - 0.5) * SPECIAL_PERCENT / 100.0 }
}

fn mean(choices: &mut Choices) -> f64 {
    (0..MEAN_OF).map(|_| fraction(choices)).sum::<f64>() / f64::from(MEAN_OF)
}

/// The Zipf distribution over `1..=rows`, without a table (Hörmann and Derflinger, "Rejection-inversion to generate variates from monotone
/// discrete distributions", TOMACS 6.3, 1996; with the integral of the hat that has a limit at exponent 1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Zipf {
    rows: u64,
    exponent: f64,
    /// The hat's integral at 1.5 less 1, and behind the last row.
    first: f64,
    last: f64,
    /// Nearer than this to a whole number a candidate is taken without another look.
    sure: f64,
}

impl Zipf {
    /// `exponent` ≥ 0; 0 is the uniform distribution.
    pub fn new(rows: u64, exponent: f64) -> Self {
        let mut zipf = Self { rows, exponent, first: 0.0, last: 0.0, sure: 0.0 };
        zipf.first = zipf.integral(1.5) - 1.0;
        zipf.last = zipf.integral(rows as f64 + 0.5);
        zipf.sure = 2.0 - zipf.inverse(zipf.integral(2.5) - zipf.hat(2.0));
        zipf
    }

    pub fn key(&self, choices: &mut Choices) -> u64 {
        loop {
            let u = self.last + fraction(choices) * (self.first - self.last);
            let x = self.inverse(u);
            let key = ((x + 0.5) as u64).clamp(1, self.rows);
            let k = key as f64;
            if k - x <= self.sure || u >= self.integral(k + 0.5) - self.hat(k) {
                return key;
            }
        }
    }

    /// k to the power of −exponent.
    fn hat(&self, x: f64) -> f64 {
        x.powf(-self.exponent)
    }

    /// The integral of the hat, from 1.
    fn integral(&self, x: f64) -> f64 {
        let power = 1.0 - self.exponent;
        if power.abs() < 1e-8 { x.ln() } else { (power * x.ln()).exp_m1() / power }
    }

    fn inverse(&self, integral: f64) -> f64 {
        let power = 1.0 - self.exponent;
        if power.abs() < 1e-8 { integral.exp() } else { ((integral * power).max(-1.0).ln_1p() / power).exp() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWN: u64 = 200_000;

    fn keys(access: Access, rows: u64) -> Vec<u64> {
        let draw = |step| access.key(&mut Choices::new(5, step % 8, 8, step / 8), rows);
        (0..DRAWN).map(draw).inspect(|key| assert!((1..=rows).contains(key), "{access:?}: {key}")).collect()
    }

    fn share(keys: &[u64], of: impl Fn(u64) -> bool) -> f64 {
        keys.iter().filter(|&&key| of(key)).count() as f64 / keys.len() as f64
    }

    fn assert_near(actual: f64, expected: f64, what: &str) {
        // Four standard deviations of a share.
        let allowed = 4.0 * (expected * (1.0 - expected) / DRAWN as f64).sqrt();
        assert!((actual - expected).abs() < allowed, "{what}: {actual}, expected {expected} within {allowed}");
    }

    #[test]
    fn sequential_clients_together_visit_every_key_in_order() {
        let keys: Vec<u64> = (0..3)
            .flat_map(|step| (0..4).map(move |client| (client, step)))
            .map(|(client, step)| Access::Sequential.key(&mut Choices::new(1, client, 4, step), 10))
            .collect();
        assert_eq!(keys, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 1, 2]);
    }

    #[test]
    fn zipfian_keys_have_the_frequencies_of_the_law() {
        for exponent in [0.0, 0.5, 0.8, 0.99, 1.0, 1.21, 1.5, 3.0] {
            let keys = keys(Access::Zipfian(Zipf::new(20, exponent)), 20);
            let weights: Vec<f64> = (1..=20).map(|k| f64::from(k).powf(-exponent)).collect();
            let all: f64 = weights.iter().sum();
            let chi = (1..=20u64).zip(&weights).map(|(key, weight)| {
                let expected = DRAWN as f64 * weight / all;
                (share(&keys, |k| k == key) * DRAWN as f64 - expected).powi(2) / expected
            });
            // 19 degrees of freedom: above 43.8 once in a thousand seeds.
            let chi: f64 = chi.sum();
            assert!(chi < 43.8, "exponent {exponent}: chi-square {chi}");
        }
        let latest = keys(Access::named("latest", 20).unwrap(), 20);
        assert!(share(&latest, |key| key == 20) > share(&latest, |key| key == 19));
    }

    #[test]
    fn scrambled_keys_are_the_same_distribution_over_other_rows() {
        for rows in [1, 2, 3, 20, 1000, 1025] {
            let mut others: Vec<u64> = (1..=rows).map(|key| scrambled(key, rows)).collect();
            assert!(rows < 20 || others.iter().zip(1..).filter(|(other, key)| *other == key).count() < 5, "{others:?}");
            others.sort_unstable();
            assert!(others.into_iter().eq(1..=rows), "{rows}");
        }
        let zipf = Zipf::new(20, 0.99);
        let (plain, other) = (keys(Access::Zipfian(zipf), 20), keys(Access::Scrambled(zipf), 20));
        assert!(plain.iter().map(|&key| scrambled(key, 20)).eq(other));
    }

    #[test]
    fn skewed_keys_are_where_they_are_said_to_be() {
        let of = |name| keys(Access::named(name, 10_000).unwrap(), 10_000);
        assert_near(share(&of("hot-set"), |key| key <= 2000), 0.8, "hot-set");
        let pareto = of("pareto");
        assert_near(share(&pareto, |key| key <= 2000), 0.8, "pareto");
        assert_near(share(&pareto, |key| key <= 400), 0.64, "pareto, again");
        // The mean of 12 uniform numbers has a standard deviation of 1/12; within one of it lies 68 % of the normal distribution.
        let gaussian = share(&of("gaussian"), |key| key.abs_diff(5000) < 833);
        assert!((gaussian - 0.683).abs() < 0.01, "gaussian: {gaussian}");
        // Also 3.6 % of the quarter that is such a mean fall into these 75 rows.
        let special = of("special");
        let middle = share(&special, |key| (4976..=5050).contains(&key));
        assert!((middle - 0.759).abs() < 0.005, "special: {middle}");
        assert!(share(&special, |key| (4951..=4975).contains(&key)) < 0.005, "a quarter of the middle is left out");
    }

    #[test]
    fn a_single_row_is_always_chosen() {
        for name in ["uniform", "sequential", "special", "gaussian", "pareto", "zipfian", "latest", "hot-set"] {
            let access = Access::named(name, 1).unwrap();
            assert_eq!(access.key(&mut Choices::new(1, 0, 1, 0), 1), 1, "{name}");
        }
        assert_eq!(Access::named("zipf", 1), None);
    }
}
