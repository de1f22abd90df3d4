//! Seconds of the calendar as their digits, 20240229235959, which order as the seconds do.

const SECONDS_PER_DAY: i64 = 86_400;
/// From 0000-03-01, with which these years begin so that a leap day is the last of one, to 2000-01-01.
const DAYS_TO_2000: i64 = 730_425;
const DAYS_PER_ERA: i64 = 146_097;

/// The digits of a date and a time.
#[inline]
pub fn digits(date: [i64; 3], time: [i64; 3]) -> i64 {
    date.into_iter().chain(time).fold(0, |digits, part| digits * 100 + part)
}

/// Seconds since the year 2000 began (the proleptic Gregorian calendar; Hinnant, "chrono-compatible low-level date algorithms",
/// `days_from_civil`).
pub fn seconds_since_2000(digits: i64) -> i64 {
    let part = |unit: i64| digits / unit % 100;
    let (year, month, day) = (digits / 10_000_000_000, part(100_000_000), part(1_000_000));
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    let days = era * DAYS_PER_ERA + day_of_era - DAYS_TO_2000;
    days * SECONDS_PER_DAY + part(10_000) * 3600 + part(100) * 60 + part(1)
}

/// The inverse (`civil_from_days`).
pub fn digits_of_seconds_since_2000(seconds: i64) -> i64 {
    let (days, second) = (seconds.div_euclid(SECONDS_PER_DAY) + DAYS_TO_2000, seconds.rem_euclid(SECONDS_PER_DAY));
    let (era, day_of_era) = (days.div_euclid(DAYS_PER_ERA), days.rem_euclid(DAYS_PER_ERA));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let (day, month) =
        (day_of_year - (153 * shifted + 2) / 5 + 1, if shifted < 10 { shifted + 3 } else { shifted - 9 });
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    digits([year, month, day], [second / 3600, second / 60 % 60, second % 60])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_seconds_and_back() {
        let cases = [
            (20000101000000, 0),
            (20000229235959, 59 * SECONDS_PER_DAY + 86_399),
            (20000301000000, 60 * SECONDS_PER_DAY),
            (19700101000000, -946_684_800),
            (20380119031408, (1 << 31) - 946_684_800),
        ];
        for (digits, seconds) in cases {
            assert_eq!(seconds_since_2000(digits), seconds, "{digits}");
            assert_eq!(digits_of_seconds_since_2000(seconds), digits);
        }
        for day in (-700_000..700_000).step_by(97) {
            let digits = digits_of_seconds_since_2000(day * SECONDS_PER_DAY);
            assert_eq!(seconds_since_2000(digits), day * SECONDS_PER_DAY, "{digits}");
        }
    }
}
