//! Entries of php.ini for the scripts of a port or host (`php_values`, `php_admin_values`), as pools of php-fpm have
//! them.

use apus_options::Settings;

/// What PHP reads once, when it starts.
const AT_START: [&str; 5] = ["disable_functions", "disable_classes", "extension", "extension_dir", "zend_extension"];

/// The entries, each once: those of more special settings rule.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Entries {
    /// What `.user.ini` and `ini_set()` may change.
    pub values: Vec<(String, String)>,
    /// What they may not.
    pub admin: Vec<(String, String)>,
}

impl Entries {
    /// Those of the server, then of a port, then of a host.
    ///
    /// # Errors
    /// When one cannot be set so.
    pub fn of<'s>(settings: impl IntoIterator<Item = &'s Settings>) -> Result<Self, String> {
        let mut all = Self::default();
        for settings in settings {
            for (setting, given, into) in [
                ("php_values", &settings.php_values, &mut all.values),
                ("php_admin_values", &settings.php_admin_values, &mut all.admin),
            ] {
                for (name, value) in given {
                    check(setting, name)?;
                    into.retain(|(other, _)| other != name);
                    into.push((name.clone(), value.clone()));
                }
            }
        }
        Ok(all)
    }

    /// The value of an entry.
    pub fn get(&self, name: &str) -> Option<&str> {
        let all = self.admin.iter().chain(&self.values);
        all.into_iter().find(|(other, _)| other == name).map(|(_, value)| &value[..])
    }

    /// All their names, with the settings that they stand in.
    pub fn names(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let values = self.values.iter().map(|(name, _)| ("php_values", &name[..]));
        values.chain(self.admin.iter().map(|(name, _)| ("php_admin_values", &name[..])))
    }
}

fn check(setting: &str, name: &str) -> Result<(), String> {
    if AT_START.contains(&name) {
        return Err(format!("{setting}: PHP reads {name} once, when it starts: write it below [php]"));
    }
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    if name.is_empty() || !name.bytes().all(fits) {
        return Err(format!("{setting}: \"{}\" is no name of an entry of php.ini", name.escape_debug()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(values: &[(&str, &str)], admin: &[(&str, &str)]) -> Settings {
        let owned = |pairs: &[(&str, &str)]| pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        Settings { php_values: owned(values), php_admin_values: owned(admin), ..Settings::default() }
    }

    #[test]
    fn those_of_a_host_rule_over_those_of_the_server() {
        let server = settings(&[("memory_limit", "1M"), ("precision", "3")], &[("open_basedir", "/a")]);
        let host = settings(&[("memory_limit", "2M")], &[("open_basedir", "/b"), ("error_log", "/x")]);
        let all = Entries::of([&server, &host]).expect("sound");
        assert_eq!((all.get("memory_limit"), all.get("precision"), all.get("none")), (Some("2M"), Some("3"), None));
        assert_eq!((all.get("open_basedir"), all.admin.len(), all.values.len()), (Some("/b"), 2, 2));
    }

    #[test]
    fn what_cannot_be_set_so_is_refused() {
        for (name, why) in
            [("disable_functions", "below [php]"), ("", "no name"), ("a b", "no name"), ("a\n", "no name")]
        {
            let error = Entries::of([&settings(&[], &[(name, "x")])]).expect_err(name);
            assert!(error.starts_with("php_admin_values: ") && error.contains(why), "{error}");
        }
    }
}
