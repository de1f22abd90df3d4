//! Seconds of the calendar as the digits of [`crate::Kind::DateTime`]: 20240229235959.

const DAY_S: i64 = 24 * 3600;
/// The seconds from 1970 to the end of the year 9999, which every store's dates reach.
const ALL_S: i64 = 253_402_300_800;
/// Days of 400 years, and from 1 March of the year 0 to 1970.
const ERA_DAYS: i64 = 146_097;
const EPOCH_DAYS: i64 = 719_468;

/// The second with this number from the beginning of 1970 on. Behind the year 9999 it begins anew.
#[inline]
pub fn digits(second: i64) -> i64 {
    let second = second.rem_euclid(ALL_S);
    let (days, of_day) = (second / DAY_S, second % DAY_S);
    let time = of_day / 3600 * 10_000 + of_day / 60 % 60 * 100 + of_day % 60;
    date(days) * 1_000_000 + time
}

/// A day from 1970 on as 20240229 (Hinnant, "chrono-compatible low-level date algorithms", `civil_from_days`): years begin in March, so that
/// the day that only some have is the last.
fn date(days: i64) -> i64 {
    let days = days + EPOCH_DAYS;
    let (era, of_era) = (days / ERA_DAYS, days % ERA_DAYS);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (year * 100 + month) * 100 + day
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_those_of_the_calendar() {
        for (second, expected) in [
            (0, 19_700_101_000_000),
            (951_782_399, 20_000_228_235_959),
            (951_782_400, 20_000_229_000_000),
            (1_709_251_199, 20_240_229_235_959),
            (1_767_225_600, 20_260_101_000_000),
            (4_107_542_400, 21_000_301_000_000),
            (ALL_S - 1, 99_991_231_235_959),
            (ALL_S, 19_700_101_000_000),
            (-1, 99_991_231_235_959),
        ] {
            assert_eq!(digits(second), expected, "{second}");
        }
    }

    #[test]
    fn every_day_follows_the_one_before() {
        let days_of = |year: i64, month: i64| match month {
            2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        let (mut year, mut month, mut day) = (1970, 1, 1);
        for number in 0..ALL_S / DAY_S {
            assert_eq!(date(number), (year * 100 + month) * 100 + day);
            day += 1;
            if day > days_of(year, month) {
                (month, day) = (month + 1, 1);
            }
            if month > 12 {
                (year, month) = (year + 1, 1);
            }
        }
        assert_eq!((year, month, day), (10_000, 1, 1));
    }
}
