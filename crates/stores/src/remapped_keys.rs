//! The keys requested from a pool, so that those remapped to another node since the pool changed can be counted.

use std::sync::atomic::{AtomicU64, Ordering};

/// A bit for each row and step, shared by all clients.
#[derive(Debug)]
pub struct RequestedKeys {
    steps: Vec<Vec<AtomicU64>>,
}

/// Counts over all keys requested during the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RemappedKeys {
    pub asked: u64,
    /// Keys that had another node before the pool changed.
    pub moved: u64,
    /// How many must move at least: the share, by weight, of the node that left or joined.
    pub due: f64,
}

impl RequestedKeys {
    pub fn new(steps: usize, rows: u64) -> Self {
        let bits = || (0..=rows / 64).map(|_| AtomicU64::new(0)).collect();
        Self { steps: (0..steps).map(|_| bits()).collect() }
    }

    /// Most are marked already, and reading disturbs no other thread.
    #[inline]
    pub fn mark(&self, step: usize, key: u64) {
        if let Some(word) = self.steps[step].get((key / 64) as usize)
            && word.load(Ordering::Relaxed) & (1 << (key % 64)) == 0
        {
            word.fetch_or(1 << (key % 64), Ordering::Relaxed);
        }
    }

    /// Each step and row that was marked.
    pub fn each(&self) -> impl Iterator<Item = (usize, u64)> {
        let of_word = |word: &AtomicU64| word.load(Ordering::Relaxed);
        self.steps.iter().enumerate().flat_map(move |(step, words)| {
            words.iter().zip(0..).flat_map(move |(word, index)| {
                let marked = of_word(word);
                (0..64).filter(move |bit| marked & (1 << bit) != 0).map(move |bit| (step, 64 * index + bit))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_for_is_there_once() {
        let asked = RequestedKeys::new(2, 128);
        for (step, key) in [(0, 1), (0, 64), (1, 128), (0, 1), (1, 999)] {
            asked.mark(step, key);
        }
        assert_eq!(asked.each().collect::<Vec<_>>(), [(0, 1), (0, 64), (1, 128)]);
    }
}
