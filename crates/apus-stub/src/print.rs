//! What users see of the stub files.

use std::fmt::Write as _;

use crate::model::{Class, Member};

/// How a line begins that gives a class a further name.
pub(crate) const ALIAS: &str = "\\class_alias(";

/// The files one after the other, without what speaks to the build alone.
pub fn print<'a>(version: &str, files: impl Iterator<Item = &'a str>) -> String {
    let mut out = format!(
        "<?php\n\n// The PHP API of Apus {version}, printed by `apus stubs`. All of it is there since 0.1.0, unless it says otherwise.\n\n\
         /** @noinspection ALL */\n"
    );
    for file in files {
        let body = file.strip_prefix("<?php\n").unwrap_or(file);
        for line in body.lines().filter(|line| !line.trim_start_matches([' ', '*', '/']).starts_with("@rust ")) {
            out.push_str(line);
            out.push('\n');
        }
    }
    // Docblocks of which nothing is left, and what stood around a comment.
    out.replace("/**\n     */\n    ", "").replace("/**\n */\n", "").replace("{\n\n", "{\n").replace("\n\n\n", "\n\n")
}

/// The further names of classes, as PHP gives them.
pub fn further_names<'a>(classes: impl Iterator<Item = &'a Member<Class>>) -> String {
    let mut out = String::new();
    for class in classes {
        let names = ["also", "short"].into_iter().filter_map(|word| class.doc.rust(word));
        for name in names.flat_map(str::split_whitespace) {
            let _ = writeln!(out, "\n{ALIAS}'{}', '{name}');", class.full(&class.item.name));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hides_what_is_for_the_build() {
        let file = "<?php\n\nnamespace A;\n\n/**\n * B.\n * @rust plain\n */\nclass B\n{\n    /** @rust f */\n    public function g(): void {}\n\n    \
            /**\n     * @rust x::h\n     */\n    public function h(): void {}\n}\n";
        let text = print("1.0", [file].into_iter());
        assert!(text.starts_with("<?php\n"));
        assert_eq!(text.matches("<?php").count(), 1);
        assert!(text.contains("namespace A;\n\n/**\n * B.\n */\nclass B\n{\n    public function g(): void {}\n\n    public function h(): void {}\n}\n"), "{text}");
    }
}
