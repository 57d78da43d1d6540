//! Dates of tasks: cron expressions and the time zones that they are read in.

use std::time::{SystemTime, UNIX_EPOCH};

use croner::Cron;
use croner::parser::{CronParser, Seconds};
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

/// The longest expression, in bytes.
const LONGEST: usize = 256;

/// A cron expression and its time zone, as they stand before a task's data.
pub(super) struct Calendar {
    cron: Cron,
    zone: TimeZone,
    expression: String,
    zone_name: String,
}

impl Calendar {
    /// Reads both; the error says what is wrong. Without a zone it is the system's (`TZ`, else `/etc/localtime`).
    pub(super) fn parse(expression: &str, zone_name: &str) -> Result<Self, String> {
        if expression.len() > LONGEST {
            return Err(format!("a cron expression has at most {LONGEST} bytes, {} given", expression.len()));
        }
        let parser = CronParser::builder().seconds(Seconds::Optional).build();
        let cron = parser.parse(expression).map_err(|error| {
            format!(
                "\"{expression}\" is no cron expression: {error}; it has five fields (minute, hour, day of the month, month, \
                 day of the week), or six with seconds before them"
            )
        })?;
        let zone = match zone_name {
            "" => TimeZone::system(),
            name => TimeZone::get(name).map_err(|error| format!("the time zone \"{name}\" cannot be used: {error}"))?,
        };
        Ok(Self { cron, zone, expression: expression.to_owned(), zone_name: zone_name.to_owned() })
    }

    /// The first date after now, in milliseconds since 1970; `None` when there is none in the years that calendars
    /// have.
    pub(super) fn next(&self) -> Option<u64> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_millis();
        self.after(u64::try_from(now).ok()?)
    }

    fn after(&self, millis: u64) -> Option<u64> {
        let from = Zoned::new(Timestamp::from_millisecond(i64::try_from(millis).ok()?).ok()?, self.zone.clone());
        let next = self.cron.find_next_occurrence(&from, false).ok()?;
        u64::try_from(next.timestamp().as_millisecond()).ok()
    }

    /// Puts it before a task's data.
    pub(super) fn write(&self, into: &mut Vec<u8>) {
        for text in [&self.expression, &self.zone_name] {
            into.push(text.len() as u8);
            into.push((text.len() >> 8) as u8);
            into.extend_from_slice(text.as_bytes());
        }
    }

    /// What [`write`](Self::write) wrote, and what stands behind it.
    pub(super) fn read(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (expression, rest) = text(bytes)?;
        let (zone, rest) = text(rest)?;
        Some((Self::parse(expression, zone).ok()?, rest))
    }
}

fn text(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let (len, rest) = bytes.split_at_checked(2)?;
    let (text, rest) = rest.split_at_checked(usize::from(u16::from_le_bytes([len[0], len[1]])))?;
    Some((std::str::from_utf8(text).ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utc(text: &str) -> u64 {
        text.parse::<Timestamp>().unwrap().as_millisecond() as u64
    }

    fn next(expression: &str, zone: &str, from: &str) -> String {
        let millis = Calendar::parse(expression, zone).unwrap().after(utc(from)).unwrap();
        Timestamp::from_millisecond(millis as i64).unwrap().to_string()
    }

    #[test]
    fn the_next_date_comes_after_now() {
        assert_eq!(next("30 4 * * *", "UTC", "2026-01-31T04:30:00Z"), "2026-02-01T04:30:00Z");
        assert_eq!(next("*/15 * * * *", "UTC", "2026-01-31T23:59:59Z"), "2026-02-01T00:00:00Z");
        assert_eq!(next("*/2 * * * * *", "UTC", "2026-01-31T00:00:01.5Z"), "2026-01-31T00:00:02Z");
        assert_eq!(next("0 9 * * MON-FRI", "UTC", "2026-01-31T10:00:00Z"), "2026-02-02T09:00:00Z");
    }

    #[test]
    fn expressions_are_read_in_their_zone() {
        assert_eq!(next("0 8 * * *", "Europe/Berlin", "2026-01-10T00:00:00Z"), "2026-01-10T07:00:00Z");
        assert_eq!(next("0 8 * * *", "Europe/Berlin", "2026-07-10T00:00:00Z"), "2026-07-10T06:00:00Z");
    }

    #[test]
    fn mistakes_are_told() {
        let told = |expression, zone| Calendar::parse(expression, zone).err().unwrap();
        assert!(told("* * *", "").contains("five fields"));
        assert!(told("61 * * * *", "").contains("\"61 * * * *\""));
        assert!(told("* * * * *", "Mars/Olympus").contains("Mars/Olympus"));
        assert!(told(&"1,".repeat(500), "").contains("256"));
    }

    #[test]
    fn a_calendar_stands_before_the_data() {
        let mut bytes = Vec::new();
        Calendar::parse("0 8 * * *", "UTC").unwrap().write(&mut bytes);
        bytes.extend_from_slice(b"data");
        let (calendar, rest) = Calendar::read(&bytes).unwrap();
        assert_eq!((calendar.expression.as_str(), rest), ("0 8 * * *", &b"data"[..]));
        assert!(Calendar::read(&bytes[..5]).is_none());
    }
}
