//! What workers were given of files (certificates) and the master reads anew: workers may not, and go on serving.

use std::rc::Rc;
use std::time::{Duration, Instant};

use super::{Master, processes_mut};
use crate::log;
use crate::program::Program;
use crate::role::Role;

/// When files are looked at next.
pub(super) fn next(interval: Duration) -> Option<Instant> {
    (!interval.is_zero()).then(|| Instant::now() + interval)
}

impl Master<'_> {
    /// Looks whether the files have changed, now and then.
    pub(crate) fn look_at_files(&mut self, program: &mut dyn Program) {
        if let Some((interval, Some(at))) = self.renewals
            && at <= Instant::now()
        {
            self.renewals = Some((interval, next(interval)));
            let _ = self.renew(program, false);
        }
    }

    /// Reads what workers were given anew, and hands it to them. Whether it differs from what they had.
    pub(crate) fn renew(&mut self, program: &mut dyn Program, asked: bool) -> Result<bool, String> {
        match program.renew(asked) {
            Ok(None) => Ok(false),
            Ok(Some(parcel)) => {
                let parcel = Rc::new(parcel);
                processes_mut(&mut self.replicas, &mut self.leaving)
                    .filter(|process| process.role == Role::Worker)
                    .for_each(|process| process.renew(&parcel));
                log::notice(format_args!("certificates were read anew"));
                Ok(true)
            }
            Err(why) => {
                log::error(format_args!("certificates are not replaced, the server goes on with those it has: {why}"));
                Err(why)
            }
        }
    }

    /// The answer to who asked for it.
    pub(crate) fn renew_answer(&mut self, program: &mut dyn Program) -> String {
        let answer = if self.renewals.is_none() {
            serde_json::json!({ "ok": false, "error": "no port of the server has a certificate" })
        } else {
            match self.renew(program, true) {
                Ok(changed) => serde_json::json!({ "ok": true, "changed": changed }),
                Err(why) => serde_json::json!({ "ok": false, "error": why }),
            }
        };
        answer.to_string()
    }
}
