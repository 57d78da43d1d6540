//! The `Date` header (RFC 9110 section 6.6.1), formatted once a second.

use std::io::Write;
use std::time::{SystemTime, UNIX_EPOCH};

const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// The current second as an IMF-fixdate.
pub struct Clock {
    second: u64,
    text: Vec<u8>,
}

impl Clock {
    pub fn new() -> Self {
        let mut clock = Self { second: 0, text: Vec::new() };
        clock.tick();
        clock
    }

    /// Called once for each batch of events.
    pub fn tick(&mut self) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        if now != self.second || self.text.is_empty() {
            self.second = now;
            format(now, &mut self.text);
        }
    }

    pub fn date(&self) -> &[u8] {
        &self.text
    }
}

fn format(second: u64, out: &mut Vec<u8>) {
    let (days, rest) = (second / 86_400, second % 86_400);
    let (year, month, day) = civil(days);
    let (name, month) = (DAYS[(days % 7) as usize], MONTHS[month as usize - 1]);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    out.clear();
    // Writing to a Vec cannot fail.
    let _ = write!(out, "{name}, {day:02} {month} {year} {hour:02}:{minute:02}:{second:02} GMT");
}

/// Days since 1970-01-01 to (year, month, day), Gregorian calendar counted in years that begin in March.
fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let day_of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::format;

    fn date(second: u64) -> String {
        let mut out = Vec::new();
        format(second, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn formats_imf_fixdate() {
        assert_eq!(date(0), "Thu, 01 Jan 1970 00:00:00 GMT");
        assert_eq!(date(784_111_777), "Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(date(951_826_554), "Tue, 29 Feb 2000 12:15:54 GMT");
    }
}
