//! The cost of choosing a key by each access, and of drawing a size by each distribution, in nanoseconds of one processor.
//!
//! `cargo bench -p dbdyno-workloads`; the first line is uniform, and the others have their ratio to it.

use std::hint::black_box;
use std::time::Instant;

use dbdyno_model::{Choices, Sizes, mix};
use dbdyno_workloads::{Reach, ReachPlan};

const ROWS: u64 = 10_000_000;
const DRAWN: u64 = 5_000_000;
const ROUNDS: usize = 5;

const ACCESSES: [&str; 12] = [
    r#""uniform""#,
    r#""sequential""#,
    r#""zipfian""#,
    r#"{"kind": "zipfian", "exponent": 0.99}"#,
    r#"{"kind": "zipfian", "exponent": 1.0}"#,
    r#"{"kind": "zipfian", "exponent": 2.1}"#,
    r#"{"kind": "zipfian", "exponent": 0.99, "scrambled": true}"#,
    r#"{"kind": "latest", "exponent": 0.99}"#,
    r#"{"kind": "hot-set", "rows": 0.01, "choices": 0.9}"#,
    r#"{"kind": "uniform", "subset": 0.1, "moves": 0.5}"#,
    r#""gaussian""#,
    r#""pareto""#,
];
const SIZES: [&str; 5] = [
    r#"{"kind": "uniform", "from": 1, "to": 100}"#,
    r#"{"kind": "table", "sizes": [[2, 0.4], [9, 0.6]]}"#,
    r#"{"kind": "pareto", "location": 15, "scale": 214.476, "shape": 0.348238}"#,
    r#"{"kind": "gev", "location": 30.7984, "scale": 8.20449, "shape": 0.078688}"#,
    r#"{"kind": "log-normal", "median": 128, "sigma": 1}"#,
];

/// The least of some rounds: what else the host does only adds to it.
fn ns(draw: impl Fn(u64) -> u64) -> f64 {
    let round = |_| {
        let begun = Instant::now();
        let sum = (0..DRAWN).fold(0, |sum: u64, step| sum.wrapping_add(draw(step)));
        black_box(sum);
        begun.elapsed().as_nanos() as f64 / DRAWN as f64
    };
    (0..ROUNDS).map(round).fold(f64::INFINITY, f64::min)
}

fn main() {
    let client = Choices::new(1, 3, 16, 0);
    let mut uniform = f64::NAN;
    for text in ACCESSES {
        let plan: ReachPlan = serde_json::from_str(text).expect(text);
        let reach = Reach::new(&plan, ROWS).expect(text);
        let cost = ns(|step| reach.key(&mut client.at(step), ROWS));
        uniform = if uniform.is_nan() { cost } else { uniform };
        println!("{cost:7.1} ns a key   {:5.1} x uniform   {text}", cost / uniform);
    }
    for text in SIZES {
        let sizes: Sizes = serde_json::from_str(text).expect(text);
        let cost = ns(|seed| sizes.of(mix(seed), 100_000) as u64);
        println!("{cost:7.1} ns a size                     {text}");
    }
}
