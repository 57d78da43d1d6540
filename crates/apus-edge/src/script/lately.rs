//! What was at a name a moment ago, so that a script that is asked for all the time is not looked for each time. What
//! was not there is not remembered: a file that was just written is found at once.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::fs::FileType;

/// How long it is taken for what it was.
const FRESH: Duration = Duration::from_secs(1);
/// Names that are remembered.
const MOST: usize = 1024;

#[derive(Debug, Default)]
pub(super) struct Lately {
    seen: Mutex<HashMap<Box<str>, (FileType, Instant)>>,
}

impl Lately {
    /// What is at the names: as it was found a moment ago, or as `look` finds it now.
    pub(super) fn kind<E>(
        &self,
        names: &str,
        now: Instant,
        look: impl FnOnce() -> Result<Option<FileType>, E>,
    ) -> Result<Option<FileType>, E> {
        if let Some((kind, at)) = self.seen.lock().unwrap_or_else(PoisonError::into_inner).get(names)
            && now.saturating_duration_since(*at) < FRESH
        {
            return Ok(Some(*kind));
        }
        let found = look()?;
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        match found {
            Some(kind) => {
                if seen.len() >= MOST && !seen.contains_key(names) {
                    seen.retain(|_, (_, at)| now.saturating_duration_since(*at) < FRESH);
                    if seen.len() >= MOST {
                        seen.clear();
                    }
                }
                seen.insert(names.into(), (kind, now));
            }
            None => drop(seen.remove(names)),
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn what_is_there_is_looked_for_once_a_second_and_what_is_not_each_time() {
        let (lately, begun, looks) = (Lately::default(), Instant::now(), Cell::new(0));
        let ask = |names: &str, found: Option<FileType>, millis: u64| {
            let look = || {
                looks.set(looks.get() + 1);
                Ok::<_, ()>(found)
            };
            (lately.kind(names, begun + Duration::from_millis(millis), look).unwrap(), looks.get())
        };
        let (file, folder) = (Some(FileType::RegularFile), Some(FileType::Directory));
        assert_eq!(ask("a.php", None, 0), (None, 1));
        assert_eq!(ask("a.php", file, 0), (file, 2));
        assert_eq!(ask("a.php", None, 999), (file, 2));
        assert_eq!(ask("b", folder, 999), (folder, 3));
        assert_eq!(ask("a.php", None, 1000), (None, 4));
        assert_eq!(ask("a.php", folder, 1001), (folder, 5));
    }

    #[test]
    fn a_bounded_number_is_remembered() {
        let (lately, now) = (Lately::default(), Instant::now());
        for number in 0..3 * MOST {
            let kind = lately.kind(&number.to_string(), now, || Ok::<_, ()>(Some(FileType::RegularFile)));
            assert_eq!(kind, Ok(Some(FileType::RegularFile)));
        }
        assert!(lately.seen.lock().unwrap().len() <= MOST);
    }
}
