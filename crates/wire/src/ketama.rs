//! Ketama: which node of a pool has a key, as clients of memcached agree on it (Richard Jones, last.fm, 2007; libmemcached's
//! `MEMCACHED_BEHAVIOR_KETAMA_WEIGHTED`).
//!
//! Each node has about 160 points on a circle of 2³² places, in proportion to its weight: four from each MD5 of `name-0`, `name-1` … A key belongs
//! to the first point at or behind its own MD5. So a node that leaves gives away its own keys, and no others move.

use md5::{Digest, Md5};

/// Four points each.
const DIGESTS_PER_NODE: u64 = 40;

/// The points of a pool's nodes, rising, each with its node's number.
#[derive(Clone, Debug)]
pub struct Continuum {
    points: Vec<(u32, u32)>,
}

impl Continuum {
    /// The continuum of nodes by name (`host:port`) and weight, of which there is at least one above 0.
    pub fn new<'a>(nodes: impl Iterator<Item = (&'a str, u64)> + Clone) -> Self {
        let (count, total) = nodes.clone().fold((0, 0), |(count, total), (_, weight)| (count + 1, total + weight));
        let mut points = Vec::new();
        for (node, (name, weight)) in nodes.enumerate() {
            for number in 0..DIGESTS_PER_NODE * count * weight / total {
                let digest = Md5::digest(format!("{name}-{number}"));
                points.extend(digest.chunks_exact(4).map(|bytes| (little_endian(bytes), node as u32)));
            }
        }
        points.sort_unstable();
        Self { points }
    }

    /// The number of the node that a key belongs to.
    #[inline]
    pub fn node(&self, key: &[u8]) -> usize {
        self.node_at(little_endian(&Md5::digest(key)[..4]))
    }

    #[inline]
    fn node_at(&self, hash: u32) -> usize {
        let next = self.points.partition_point(|&(point, _)| point < hash);
        self.points[if next == self.points.len() { 0 } else { next }].1 as usize
    }
}

/// The MD5 of a text.
#[inline]
pub fn digest(text: &[u8]) -> [u8; 16] {
    Md5::digest(text).into()
}

#[inline]
fn little_endian(bytes: &[u8]) -> u32 {
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn continuum(names: &[&str]) -> Continuum {
        Continuum::new(names.iter().map(|&name| (name, 1)))
    }

    /// The share of 100,000 keys that have another node in `after`.
    fn moved(before: impl Fn(&[u8]) -> usize, after: impl Fn(&[u8]) -> usize) -> f64 {
        let keys = (0..100_000).map(|n: u32| format!("key-{n}"));
        keys.filter(|key| before(key.as_bytes()) != after(key.as_bytes())).count() as f64 / 1e5
    }

    const FOUR: [&str; 4] = ["10.0.1.1:11211", "10.0.1.2:11211", "10.0.1.3:11211", "10.0.1.4:11211"];

    #[test]
    fn a_node_that_joins_takes_its_share_and_nothing_else_moves() {
        let (three, four) = (continuum(&FOUR[..3]), continuum(&FOUR));
        let share = moved(|key| three.node(key), |key| four.node(key));
        assert!((0.20..0.30).contains(&share), "{share}");
        for key in (0..10_000).map(|n| format!("key-{n}")) {
            let (before, after) = (three.node(key.as_bytes()), four.node(key.as_bytes()));
            assert!(after == before || after == 3, "{key}");
        }
        let modulo = |nodes: u64| move |key: &[u8]| (u64::from(little_endian(&Md5::digest(key)[..4])) % nodes) as usize;
        assert!(moved(modulo(3), modulo(4)) > 0.7);
    }

    #[test]
    fn nodes_have_keys_in_the_measure_of_their_weights() {
        let weighted = Continuum::new(FOUR.iter().zip([1, 1, 1, 3]).map(|(&name, weight)| (name, weight)));
        assert_eq!(weighted.points.iter().filter(|(_, node)| *node == 3).count(), 4 * 80);
        let heavy = moved(|_| 3, |key| weighted.node(key));
        assert!((0.42..0.58).contains(&heavy), "{heavy}");
    }
}
