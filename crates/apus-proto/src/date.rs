//! HTTP dates (RFC 9110 section 5.6.7), without a clock: the caller brings the seconds.

const DAYS: [&[u8; 3]; 7] = [b"Sun", b"Mon", b"Tue", b"Wed", b"Thu", b"Fri", b"Sat"];
const MONTHS: [&[u8; 3]; 12] =
    [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];

/// 9999-12-31 23:59:59: the last second an IMF-fixdate can name.
pub const MAX_SECONDS: u64 = 253_402_300_799;

/// Seconds since 1970 as an IMF-fixdate: `Sun, 06 Nov 1994 08:49:37 GMT`. Later than [`MAX_SECONDS`] counts as that.
pub fn imf_fixdate(seconds: u64) -> [u8; 29] {
    let seconds = seconds.min(MAX_SECONDS);
    let (days, second_of_day) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil_from_days(days);
    let mut text = *b"Sun, 00 Jan 0000 00:00:00 GMT";
    // 1970-01-01 was a Thursday.
    text[..3].copy_from_slice(DAYS[((days + 4) % 7) as usize]);
    two_digits(&mut text[5..7], day);
    text[8..11].copy_from_slice(MONTHS[(month - 1) as usize]);
    two_digits(&mut text[12..14], year / 100);
    two_digits(&mut text[14..16], year % 100);
    two_digits(&mut text[17..19], second_of_day / 3600);
    two_digits(&mut text[20..22], second_of_day / 60 % 60);
    two_digits(&mut text[23..25], second_of_day % 60);
    text
}

fn two_digits(out: &mut [u8], value: u64) {
    out[0] = b'0' + (value / 10 % 10) as u8;
    out[1] = b'0' + (value % 10) as u8;
}

/// Days since 1970-01-01 to year, month 1..=12, day 1..=31, in the proleptic Gregorian calendar.
///
/// Years are counted from March, in eras of 400 years (146,097 days), so that the leap day is the last of its year.
fn civil_from_days(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

/// Days from 1970-01-01 to that date, which must exist and not lie before 1970.
fn days_from_civil(year: u64, month: u64, day: u64) -> Option<u64> {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let last = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 => 28 + u64::from(leap),
        _ => return None,
    };
    if !(1..=last).contains(&day) || !(1970..=9999).contains(&year) {
        return None;
    }
    let year = year - u64::from(month <= 2);
    let march_month = (month + 9) % 12;
    let (era, year_of_era) = (year / 400, year % 400);
    let day_of_year = (153 * march_month + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    Some(era * 146_097 + day_of_era - 719_468)
}

/// Reads an HTTP date in any of the three forms of RFC 9110 section 5.6.7; `None` for anything else, and for dates
/// before 1970. `now` (seconds since 1970) settles the century of the two-digit form.
pub fn parse_http_date(text: &[u8], now: u64) -> Option<u64> {
    let text = std::str::from_utf8(text).ok()?;
    let mut words = text.split(' ');
    let first = words.next()?;
    let (day, month, year, time) = if let Some(day_name) = first.strip_suffix(',') {
        let second = words.next()?;
        if second.contains('-') {
            // RFC 850: `Sunday, 06-Nov-94 08:49:37 GMT`.
            let mut parts = second.split('-');
            let (day, month, year) = (parts.next()?, parts.next()?, parts.next()?);
            if day_name.len() < 6 || parts.next().is_some() || year.len() != 2 {
                return None;
            }
            let year = full_year(number(year, 2)?, now);
            (number(day, 2)?, month, year, words.next()?)
        } else {
            if day_name.len() != 3 {
                return None;
            }
            (number(second, 2)?, words.next()?, number(words.next()?, 4)?, words.next()?)
        }
    } else {
        return asctime(words);
    };
    (words.next() == Some("GMT") && words.next().is_none()).then_some(())?;
    seconds_of(day, month, year, time)
}

/// `Sun Nov  6 08:49:37 1994`, after the day name.
fn asctime<'a>(mut words: impl Iterator<Item = &'a str>) -> Option<u64> {
    let month = words.next()?;
    let day = match words.next()? {
        "" => number(words.next()?, 1)?,
        day => number(day, 2)?,
    };
    let time = words.next()?;
    let year = number(words.next()?, 4)?;
    if words.next().is_some() {
        return None;
    }
    seconds_of(day, month, year, time)
}

/// RFC 9110: a two-digit year that seems more than 50 years ahead is the past one with the same digits.
fn full_year(two_digits: u64, now: u64) -> u64 {
    let this_year = civil_from_days(now.min(MAX_SECONDS) / 86_400).0;
    let year = this_year / 100 * 100 + two_digits;
    if year > this_year + 50 { year - 100 } else { year }
}

fn seconds_of(day: u64, month: &str, year: u64, time: &str) -> Option<u64> {
    let month = MONTHS.iter().position(|name| name.as_slice() == month.as_bytes())? as u64 + 1;
    let mut parts = time.split(':');
    let (hour, minute, second) = (number(parts.next()?, 2)?, number(parts.next()?, 2)?, number(parts.next()?, 2)?);
    // 60 is a leap second.
    if parts.next().is_some() || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    Some(days_from_civil(year, month, day)? * 86_400 + hour * 3600 + minute * 60 + second)
}

/// Exactly `len` digits.
fn number(text: &str, len: usize) -> Option<u64> {
    (text.len() == len && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok())?
}

/// The Date field line, formatted once a second.
#[derive(Debug, Clone)]
pub struct DateCache {
    seconds: u64,
    line: [u8; 37],
}

impl Default for DateCache {
    fn default() -> Self {
        let mut cache = Self { seconds: 0, line: *b"Date: Thu, 01 Jan 1970 00:00:00 GMT\r\n" };
        cache.fill(0);
        cache
    }
}

impl DateCache {
    /// `Date: …CRLF` for that second (since 1970); formats only when the second has changed.
    #[inline]
    pub fn line(&mut self, seconds: u64) -> &[u8; 37] {
        if seconds != self.seconds {
            self.fill(seconds);
        }
        &self.line
    }

    /// The date alone, as an IMF-fixdate.
    #[inline]
    pub fn date(&mut self, seconds: u64) -> &[u8] {
        &self.line(seconds)[6..35]
    }

    fn fill(&mut self, seconds: u64) {
        self.seconds = seconds;
        self.line[6..35].copy_from_slice(&imf_fixdate(seconds));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(seconds: u64) -> String {
        String::from_utf8(imf_fixdate(seconds).to_vec()).unwrap()
    }

    #[test]
    fn known_dates() {
        assert_eq!(text(0), "Thu, 01 Jan 1970 00:00:00 GMT");
        assert_eq!(text(784_111_777), "Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(text(951_782_400), "Tue, 29 Feb 2000 00:00:00 GMT");
        assert_eq!(text(1_000_000_000), "Sun, 09 Sep 2001 01:46:40 GMT");
        assert_eq!(text(4_102_444_799), "Thu, 31 Dec 2099 23:59:59 GMT");
        assert_eq!(text(4_107_542_400), "Mon, 01 Mar 2100 00:00:00 GMT");
        assert_eq!(text(MAX_SECONDS), "Fri, 31 Dec 9999 23:59:59 GMT");
        assert_eq!(text(u64::MAX), text(MAX_SECONDS));
    }

    #[test]
    fn every_day_reads_back() {
        // Steps of a day and an hour, over four centuries.
        for seconds in (0..400 * 366 * 86_400).step_by(90_000) {
            assert_eq!(parse_http_date(&imf_fixdate(seconds), 0), Some(seconds));
        }
    }

    #[test]
    fn the_three_forms() {
        let now = 1_700_000_000;
        for form in ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"] {
            assert_eq!(parse_http_date(form.as_bytes(), now), Some(784_111_777), "{form}");
        }
        assert_eq!(parse_http_date(b"Sun Nov 16 08:49:37 1994", now), Some(784_111_777 + 864_000));
        let century = parse_http_date(b"Friday, 01-Jan-60 00:00:00 GMT", now).unwrap();
        assert_eq!(text(century), "Thu, 01 Jan 2060 00:00:00 GMT", "within 50 years it is the future");
        assert_eq!(parse_http_date(b"Monday, 01-Jan-90 00:00:00 GMT", now), Some(631_152_000));
    }

    #[test]
    fn malformed_dates() {
        for bad in [
            "",
            "0",
            "Sun, 06 Nov 1994 08:49:37",
            "Sun, 06 Nov 1994 08:49:37 CET",
            "Sun, 06 Nov 1994 08:49:37 GMT ",
            "Sun, 6 Nov 1994 08:49:37 GMT",
            "Sun, 06 nov 1994 08:49:37 GMT",
            "Sun, 31 Feb 1994 08:49:37 GMT",
            "Sun, 29 Feb 2100 08:49:37 GMT",
            "Sun, 00 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 24:00:00 GMT",
            "Sun, 06 Nov 1994 08:60:00 GMT",
            "Sun, 06 Nov 1994 08:49 GMT",
            "Sun, 06 Nov 1969 08:49:37 GMT",
            "Sun, 06 Nov +994 08:49:37 GMT",
            "Sun, 06-Nov-94 08:49:37 GMT",
            "Sun Nov 6 08:49:37 1994 GMT",
            "Sun, 06 Nov 1994 08:49:37 GMT\u{e9}",
        ] {
            assert_eq!(parse_http_date(bad.as_bytes(), 0), None, "{bad}");
        }
    }

    #[test]
    fn cache_follows_the_second() {
        let mut cache = DateCache::default();
        assert_eq!(cache.line(0), b"Date: Thu, 01 Jan 1970 00:00:00 GMT\r\n");
        assert_eq!(cache.line(784_111_777), b"Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n");
        assert_eq!(cache.date(784_111_778), b"Sun, 06 Nov 1994 08:49:38 GMT");
    }
}
