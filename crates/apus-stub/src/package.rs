//! The stubs as a package for Composer, for editors and static analysis: what `apus stubs --package` writes.

use crate::reference::{Output, version};

/// The files of the package.
pub fn package(stubs: &str) -> Vec<Output> {
    let version = version(stubs);
    let composer = format!(
        r#"{{
    "name": "apus/stubs",
    "description": "Declarations of the PHP extension Apus, for editors and static analysis. Nothing in it is run.",
    "type": "library",
    "license": "Apache-2.0",
    "version": "{version}",
    "require": {{
        "php": ">=8.2"
    }},
    "extra": {{
        "phpstan": {{
            "includes": ["extension.neon"]
        }}
    }}
}}
"#
    );
    let neon = "parameters:\n    scanFiles:\n        - apus.stub.php\n".to_owned();
    let readme = "# Stubs of Apus\n\nFor editors and static analysis; nothing in it is run or autoloaded.\n\n\
        ```sh\ncomposer config repositories.apus path /path/to/this/directory\ncomposer require --dev apus/stubs\n```\n\n\
        Editors that index `vendor/` find the declarations. So does PHPStan with `phpstan/extension-installer`; without it,\n\
        include `vendor/apus/stubs/extension.neon` in `phpstan.neon`.\n"
        .to_owned();
    vec![
        ("composer.json".to_owned(), composer),
        ("extension.neon".to_owned(), neon),
        ("README.md".to_owned(), readme),
        ("apus.stub.php".to_owned(), stubs.to_owned()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_version_of_the_stubs() {
        let files = package("<?php\n\n// The PHP API of Apus 1.2.3, printed by `apus stubs`.\n");
        assert!(files[0].1.contains("\"version\": \"1.2.3\""), "{}", files[0].1);
    }
}
