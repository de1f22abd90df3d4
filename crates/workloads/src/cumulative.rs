//! Published distributions of whole numbers, as the percent of them that are at most so large.

/// A number, and the percent that are at most as large: both rise. Between two of them all numbers are as likely.
pub type Cumulative = [(u64, f64)];

/// The number at this percent; the last behind the last.
pub fn quantile(cumulative: &Cumulative, percent: f64) -> u64 {
    let mut last = (0, 0.0);
    for &(number, at_most) in cumulative {
        if percent < at_most {
            let share = (percent - last.1) / (at_most - last.1);
            return last.0 + (share * (number - last.0) as f64).ceil() as u64;
        }
        last = (number, at_most);
    }
    last.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_as_often_as_they_are_said_to() {
        let cumulative = [(0, 10.0), (1, 30.0), (5, 70.0), (6, 100.0)];
        let counted =
            |number| (0..1000).filter(|i| quantile(&cumulative, f64::from(*i) / 10.0 + 0.05) == number).count();
        assert_eq!((0..=7).map(counted).collect::<Vec<_>>(), [100, 200, 100, 100, 100, 100, 300, 0]);
        assert_eq!(quantile(&cumulative, 100.0), 6);
    }
}
