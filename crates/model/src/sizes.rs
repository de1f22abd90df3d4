//! Sizes of texts by distribution: each a function of a row's seed, by the distribution's quantile.

use serde::Deserialize;

/// How many characters a text has. Each distribution is rounded to whole characters and cut at 0 and at the column's width.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Sizes {
    Constant {
        size: f64,
    },
    Uniform {
        from: f64,
        to: f64,
    },
    /// Each size with its share; the rest of the shares, if any, is drawn from the other distribution.
    Table {
        sizes: Vec<(f64, f64)>,
        otherwise: Option<Box<Sizes>>,
    },
    /// Generalised Pareto.
    Pareto {
        location: f64,
        scale: f64,
        shape: f64,
    },
    /// Generalised extreme value.
    Gev {
        location: f64,
        scale: f64,
        shape: f64,
    },
    LogNormal {
        median: f64,
        sigma: f64,
    },
}

/// Sums of shares are compared within this.
const ROUNDED: f64 = 1e-6;
const LARGEST_SHAPE: f64 = 5.0;

impl Sizes {
    /// # Errors
    /// A parameter is outside its domain: in words for the user.
    pub fn check(&self) -> Result<(), String> {
        let is_right = match self {
            Sizes::Constant { size } => *size >= 0.0,
            Sizes::Uniform { from, to } => *from >= 0.0 && from <= to,
            Sizes::Table { sizes, otherwise } => {
                otherwise.as_ref().map_or(Ok(()), |other| other.check())?;
                let shares: f64 = sizes.iter().map(|(_, share)| share).sum();
                let is_whole = if otherwise.is_some() { shares < 1.0 } else { (shares - 1.0).abs() < ROUNDED };
                !sizes.is_empty() && is_whole && sizes.iter().all(|&(size, share)| size >= 0.0 && share > 0.0)
            }
            Sizes::Pareto { scale, shape, .. } | Sizes::Gev { scale, shape, .. } => {
                *scale > 0.0 && shape.abs() <= LARGEST_SHAPE
            }
            Sizes::LogNormal { median, sigma } => *median > 0.0 && *sigma > 0.0,
        };
        if is_right { Ok(()) } else { Err(format!("invalid parameters of a size distribution: {self:?}")) }
    }

    /// The size of what has this seed, at most `width`.
    #[inline]
    pub fn of(&self, seed: u64, width: usize) -> usize {
        // 53 bits, and neither 0 nor 1.
        let u = ((seed >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
        (self.quantile(u).round().max(0.0) as usize).min(width)
    }

    /// The size below which a share `u` of the sizes is.
    fn quantile(&self, u: f64) -> f64 {
        match *self {
            Sizes::Constant { size } => size,
            // Each whole size has the same share.
            Sizes::Uniform { from, to } => (from + u * (to - from + 1.0)).floor(),
            Sizes::Table { ref sizes, ref otherwise } => of_table(sizes, otherwise.as_deref(), u),
            Sizes::Pareto { location, scale, shape } => location + scale * power(1.0 - u, shape),
            Sizes::Gev { location, scale, shape } => location + scale * power(-u.ln(), shape),
            Sizes::LogNormal { median, sigma } => median * (sigma * normal_quantile(u)).exp(),
        }
    }
}

fn of_table(sizes: &[(f64, f64)], otherwise: Option<&Sizes>, u: f64) -> f64 {
    let mut below = 0.0;
    for &(size, share) in sizes {
        below += share;
        if u < below {
            return size;
        }
    }
    let last = || sizes.last().map_or(0.0, |&(size, _)| size);
    otherwise.map_or_else(last, |other| other.quantile((u - below) / (1.0 - below)))
}

/// (x to the power of −shape − 1) / shape, which is −ln x at shape 0.
fn power(x: f64, shape: f64) -> f64 {
    let ln = -x.ln();
    if shape.abs() < 1e-9 { ln } else { (shape * ln).exp_m1() / shape }
}

/// The quantile of the normal distribution to about seven digits (Wichura, "Algorithm AS 241: The percentage points of the normal
/// distribution", Applied Statistics 37, 1988, PPND7).
fn normal_quantile(u: f64) -> f64 {
    let q = u - 0.5;
    if q.abs() <= 0.425 {
        let r = 0.180_625 - q * q;
        let above = [59.109_374_720, 159.291_132_02, 50.434_271_938, 3.387_132_717_9];
        return q * polynomial(&above, r) / polynomial(&[67.187_563_600, 78.757_757_664, 17.895_169_469, 1.0], r);
    }
    let r = (-u.min(1.0 - u).ln()).sqrt();
    let x = if r <= 5.0 {
        let above = [0.170_238_211_03, 1.306_728_481_6, 2.756_815_390_0, 1.423_437_277_7];
        polynomial(&above, r - 1.6) / polynomial(&[0.120_211_329_75, 0.737_001_642_50, 1.0], r - 1.6)
    } else {
        let above = [0.017_337_203_997, 0.428_682_943_37, 3.081_226_386_0, 6.657_905_115_0];
        polynomial(&above, r - 5.0) / polynomial(&[0.012_258_202_635, 0.241_978_942_25, 1.0], r - 5.0)
    };
    x.copysign(q)
}

/// The factor of the highest power first.
fn polynomial(factors: &[f64], x: f64) -> f64 {
    factors.iter().fold(0.0, |sum, factor| sum * x + factor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mix;

    fn near(actual: f64, expected: f64) {
        assert!((actual - expected).abs() < 1e-5 * (1.0 + expected.abs()), "{actual}, expected {expected}");
    }

    #[test]
    fn quantiles_are_those_of_the_distributions() {
        for (u, x) in [(0.5, 0.0), (0.975, 1.959_964), (0.1, -1.281_552), (0.999, 3.090_232), (1e-13, -7.348_796)] {
            near(normal_quantile(u), x);
        }
        near(Sizes::LogNormal { median: 128.0, sigma: 0.5 }.quantile(0.975), 128.0 * (0.5f64 * 1.959_964).exp());
        let pareto = |shape| Sizes::Pareto { location: 15.0, scale: 214.476, shape };
        near(pareto(0.348_238).quantile(0.9), 15.0 + 214.476 * (0.1f64.powf(-0.348_238) - 1.0) / 0.348_238);
        near(pareto(0.0).quantile(0.5), 15.0 + 214.476 * std::f64::consts::LN_2);
        let gev = Sizes::Gev { location: 30.7984, scale: 8.20449, shape: 0.078_688 };
        near(gev.quantile((-1f64).exp()), 30.7984);
        near(gev.quantile(0.5), 33.849_456);
    }

    #[test]
    fn sizes_come_in_their_shares_and_never_beyond_the_column() {
        let rest = Box::new(Sizes::Uniform { from: 5.0, to: 6.0 });
        let table = Sizes::Table { sizes: vec![(0.0, 0.25), (2.0, 0.5)], otherwise: Some(rest) };
        let mut counts = [0u32; 8];
        (0..100_000).for_each(|i| counts[table.of(mix(i), 7)] += 1);
        for (size, share) in [(0, 0.25), (2, 0.5), (5, 0.125), (6, 0.125)] {
            assert!((f64::from(counts[size]) / 1e5 - share).abs() < 0.006, "{counts:?}");
        }
        assert_eq!(counts.iter().sum::<u32>() - counts[0] - counts[2] - counts[5] - counts[6], 0);
        assert_eq!(Sizes::Constant { size: 9.0 }.of(mix(1), 7), 7);
        assert_eq!(Sizes::Gev { location: -100.0, scale: 1.0, shape: 0.0 }.of(mix(1), 7), 0);
    }

    #[test]
    fn parameters_outside_their_domain_are_refused() {
        let table = |share| Sizes::Table { sizes: vec![(1.0, share)], otherwise: None };
        assert_eq!(table(1.0).check(), Ok(()));
        for wrong in [
            table(0.9),
            Sizes::Constant { size: -1.0 },
            Sizes::Uniform { from: 3.0, to: 2.0 },
            Sizes::Pareto { location: 0.0, scale: 0.0, shape: 0.1 },
            Sizes::Gev { location: 0.0, scale: 1.0, shape: f64::NAN },
            Sizes::LogNormal { median: 0.0, sigma: 1.0 },
        ] {
            assert!(wrong.check().is_err(), "{wrong:?}");
        }
    }
}
