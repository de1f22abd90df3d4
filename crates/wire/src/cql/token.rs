//! A row's place in the ring of nodes: the token of its partition key.

const C1: u64 = 0x87c3_7b91_1142_53d5;
const C2: u64 = 0x4cf5_ad43_2745_937f;

/// The token that Murmur3Partitioner gives a key of the type `int`.
///
/// It is the first half of MurmurHash3_x64_128 (Appleby, 2011) with the seed 0, but for bytes above 127, which Cassandra takes as negative numbers.
#[inline]
pub fn token_of_int(key: i32) -> i64 {
    let bytes = key.to_be_bytes();
    let tail = bytes.iter().enumerate().fold(0, |tail, (i, &byte)| tail ^ ((byte as i8 as i64 as u64) << (8 * i)));
    let len = bytes.len() as u64;
    let mut first = (tail.wrapping_mul(C1).rotate_left(31).wrapping_mul(C2)) ^ len;
    let mut second = len;
    first = first.wrapping_add(second);
    second = second.wrapping_add(first);
    let token = finish(first).wrapping_add(finish(second)) as i64;
    // The lowest number stands for "before all tokens".
    if token == i64::MIN { i64::MAX } else { token }
}

#[inline]
fn finish(mut n: u64) -> u64 {
    n = (n ^ (n >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    n = (n ^ (n >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    n ^ (n >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `SELECT id, token(id)` says on Cassandra 5.0.2.
    #[test]
    fn tokens_are_the_servers() {
        let seen = [
            (1, -4_069_959_284_402_364_209),
            (2, -3_248_873_570_005_575_792),
            (3, 9_010_454_139_840_013_625),
            (128, -9_081_975_895_656_599_623),
            (255, -8_423_851_636_648_339_959),
            (200_000, 5_963_427_919_972_784_359),
            (i32::MAX, -765_994_672_030_311_617),
            (-1, 7_297_452_126_230_313_552),
        ];
        for (key, token) in seen {
            assert_eq!(token_of_int(key), token, "{key}");
        }
    }
}
