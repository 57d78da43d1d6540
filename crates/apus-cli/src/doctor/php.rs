//! PHP, the module, opcache, the JIT and Xdebug.

use crate::cli::PhpArgs;
use crate::fpm::Files;
use crate::php::minor;
use crate::php::{self, Info, Php};

use super::{Finding, Level};

pub(crate) fn examine(args: &PhpArgs) -> Vec<Finding> {
    match Php::find(args) {
        Ok(php) => {
            let from = php.module.as_ref().map_or_else(|| "php.ini".to_owned(), |file| file.display().to_string());
            let mut findings = vec![suitable(&php.binary.display().to_string(), &php.info)];
            findings.push(module(&php.info, &from));
            findings.extend(accelerators(&php.info));
            findings
        }
        Err(failure) => without_module(args, &failure.to_string()),
    }
}

fn suitable(binary: &str, info: &Info) -> Finding {
    let build = if info.debug { "NTS, debug build" } else { "NTS" };
    let found = format!("PHP {} ({build}) at {binary}, memory_limit {}", info.version, info.memory_limit);
    let level = if info.debug { Level::Warn } else { Level::Ok };
    Finding::new("php", level, found)
}

fn module(info: &Info, from: &str) -> Finding {
    let version = info.module.as_deref().unwrap_or("unknown");
    let own = env!("CARGO_PKG_VERSION");
    // What PHP loads was built for its version.
    let found = format!("apus {version} for PHP {} loads, from {from}", minor(&info.version));
    if version == own {
        return Finding::new("module", Level::Ok, found);
    }
    Finding::new("module", Level::Warn, format!("{found}; this command is {own}"))
        .fix(["make install in the source tree installs both of one version"])
}

/// What makes PHP fast, and what makes it slow.
fn accelerators(info: &Info) -> Vec<Finding> {
    let mut findings = vec![opcache(info)];
    let jit = if info.jit_on { "the JIT is on" } else { "the JIT is off; apus run --jit switches it on" };
    findings.push(Finding::new("jit", Level::Note, jit));
    if let Some(version) = &info.xdebug {
        let found = format!("Xdebug {version} is loaded, mode {}", info.xdebug_mode);
        findings.push(if info.xdebug_active() {
            Finding::new("xdebug", Level::Warn, format!("{found}: it slows every call and switches the JIT off")).fix([
                "XDEBUG_MODE=off apus run FILE".to_owned(),
                format!("sudo phpdismod -v {} xdebug", minor(&info.version)),
            ])
        } else {
            Finding::new("xdebug", Level::Ok, found)
        });
    }
    if let Some(version) = &info.swoole {
        findings.push(Finding::new("swoole", Level::Note, format!("swoole {version} is loaded beside Apus")));
    }
    findings
}

fn opcache(info: &Info) -> Finding {
    if info.opcache_on {
        return Finding::new("opcache", Level::Ok, "opcache is on");
    }
    let fix = if info.opcache {
        "remove opcache.enable=0 from php.ini, and --ini entries that switch it off".to_owned()
    } else {
        format!("sudo apt-get install php{}-opcache", minor(&info.version))
    };
    let found = if info.opcache { "opcache is loaded but off" } else { "opcache is not installed" };
    Finding::new("opcache", Level::Warn, found).fix([fix])
}

/// Which of the two is missing: PHP or the module.
fn without_module(args: &PhpArgs, why: &str) -> Vec<Finding> {
    let usable = php::candidates(args).unwrap_or_default().into_iter().find_map(|binary| {
        let bare = php::probe(&binary, &[], &Files::default()).ok()?.info;
        if bare.unsuitable().is_some() {
            return None;
        }
        let info = php::probe(&binary, &php::arguments(args, &bare, None), &Files::default()).ok()?.info;
        Some((binary, info))
    });
    let first = why.lines().next().unwrap_or_default().to_owned();
    let Some((binary, info)) = usable else {
        return vec![Finding::new("php", Level::Fail, first).fix([
            "sudo apt-get install php8.2-cli php8.2-opcache",
            "or name a PHP of your own: APUS_PHP=/path/to/php apus doctor",
        ])];
    };
    let fix = [
        format!("make build PHP_CONFIG=php-config{} in the source tree builds it for this PHP", minor(&info.version)),
        "or name it: APUS_EXTENSION=/path/to/apus.so apus doctor".to_owned(),
        "or the PHP that it fits: APUS_PHP=/path/to/php apus doctor".to_owned(),
    ];
    let mut findings = vec![suitable(&binary.display().to_string(), &info)];
    findings.push(Finding::new("module", Level::Fail, first).fix(fix));
    findings.extend(accelerators(&info));
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::php::tests::info;

    #[test]
    fn xdebug_is_warned_of_unless_it_is_off() {
        let on = Info { xdebug: Some("3.2.0".into()), xdebug_mode: "develop".into(), ..info() };
        let findings = accelerators(&on);
        let found = findings.iter().find(|finding| finding.id == "xdebug").expect("a finding");
        assert_eq!(found.level, Level::Warn);
        assert_eq!(found.fix[1], "sudo phpdismod -v 8.2 xdebug");
        let off = Info { xdebug_mode: "off".into(), ..on };
        assert!(accelerators(&off).iter().all(|finding| finding.level < Level::Warn));
    }

    #[test]
    fn opcache_that_is_off_differs_from_one_that_is_missing() {
        let off = opcache(&Info { opcache_on: false, ..info() });
        assert!(off.fix[0].contains("php.ini"));
        let missing = opcache(&Info { opcache_on: false, opcache: false, ..info() });
        assert_eq!(missing.fix, ["sudo apt-get install php8.2-opcache"]);
    }

    #[test]
    fn a_module_of_another_version_is_warned_of() {
        let same = module(&info(), "php.ini");
        assert_eq!((same.level, same.found.as_str()), (Level::Ok, "apus 0.1.0 for PHP 8.2 loads, from php.ini"));
        assert_eq!(module(&Info { module: Some("9.9.9".into()), ..info() }, "php.ini").level, Level::Warn);
    }

    #[test]
    fn without_any_php_the_mend_installs_one() {
        let args = PhpArgs {
            ini: vec![],
            swoole: false,
            jit: None,
            php: Some("/bin/true".into()),
            extension: None,
            as_fpm: false,
        };
        let findings = examine(&args);
        assert_eq!((findings[0].id, findings[0].level), ("php", Level::Fail));
        assert!(findings[0].fix[0].contains("php8.2-cli"));
    }
}
