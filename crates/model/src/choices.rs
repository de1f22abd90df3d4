//! Random choices as a pure function of (seed, client, step), so that any run can be replayed.

/// The finalizer of splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014, fig. 16).
#[inline]
pub fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The choices of one transaction: those of client `client` (of `clients`) in its `step`-th transaction.
#[derive(Clone, Debug)]
pub struct Choices {
    pub client: u64,
    pub clients: u64,
    pub step: u64,
    /// How many transactions of this client before it have inserted, and the first of them from which on all were acknowledged.
    pub inserted: u64,
    pub sure_from: u64,
    of_client: u64,
    state: u64,
}

impl Choices {
    pub fn new(seed: u64, client: u64, clients: u64, step: u64) -> Self {
        let of_seed = mix(seed.wrapping_add(GOLDEN));
        let of_client = mix(of_seed ^ client.wrapping_mul(GOLDEN));
        Self { client, clients, step: 0, inserted: 0, sure_from: 0, of_client, state: 0 }.at(step)
    }

    /// The choices of the same client in another transaction.
    #[inline]
    pub fn at(&self, step: u64) -> Self {
        Self { step, state: mix(self.of_client ^ step.wrapping_mul(GOLDEN)), ..*self }
    }

    /// Takes over what the client has inserted from its last transaction's choices.
    #[inline]
    pub fn follow(&mut self, last: &Self, is_acknowledged: bool) {
        if !is_acknowledged && last.inserted > self.inserted {
            self.sure_from = last.inserted;
        }
        self.inserted = last.inserted;
    }

    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GOLDEN);
        mix(self.state)
    }

    /// A number in `0..bound`, uniform to within `bound` / 2⁶⁴ (multiply-shift; Lemire, TOMACS 2019).
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// A number of the exponential distribution with the mean 1.
    #[inline]
    pub fn exponential(&mut self) -> f64 {
        // In (0, 1], so that the logarithm is finite.
        let uniform = ((self.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64;
        -uniform.ln()
    }

    /// A key in `1..=rows`, uniform.
    #[inline]
    pub fn key(&mut self, rows: u64) -> u64 {
        1 + self.below(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_client_and_step_choose_the_same() {
        let choose = |seed, client, step| Choices::new(seed, client, 4, step).next_u64();
        assert_eq!(choose(1, 2, 3), choose(1, 2, 3));
        assert_eq!(choose(1, 2, 3), Choices::new(1, 2, 4, 7).at(3).next_u64());
        assert_ne!(choose(1, 2, 3), choose(2, 2, 3));
        assert_ne!(choose(1, 2, 3), choose(1, 3, 3));
        assert_ne!(choose(1, 2, 3), choose(1, 2, 4));
    }

    #[test]
    fn insertions_are_counted_and_those_before_a_failed_one_are_not_sure() {
        let mut client = Choices::new(1, 0, 1, 0);
        for (inserts, is_acknowledged) in [(1, true), (0, false), (1, false), (1, true)] {
            let mut choices = client.at(9);
            choices.inserted += inserts;
            client.follow(&choices, is_acknowledged);
        }
        assert_eq!((client.inserted, client.sure_from), (3, 2));
    }

    #[test]
    fn keys_are_uniform() {
        let mut counts = [0u32; 10];
        for step in 0..100_000 {
            counts[Choices::new(7, step % 16, 16, step / 16).key(10) as usize - 1] += 1;
        }
        // Chi-square with 9 degrees of freedom: above 27.9 once in a thousand seeds.
        let chi: f64 = counts.iter().map(|&n| (f64::from(n) - 10_000.0).powi(2) / 10_000.0).sum();
        assert!(chi < 27.9, "chi-square {chi}, counts {counts:?}");
    }
}
