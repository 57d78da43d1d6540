//! Reads a stub file: PHP, of which declarations with docblocks are all there is.

use crate::decl;
use crate::model::{Class, Doc, File, Function, Member};
use crate::print::ALIAS;

/// What is wrong with a file, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub text: String,
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// The number of each line, where it is not that of the text.
    lines: &'a [usize],
    /// Where the functions of the methods that follow are.
    module: Option<String>,
    /// They take typed arguments.
    typed: bool,
}

/// Reads the text of a file.
pub fn parse(text: &str) -> Result<File, Error> {
    parse_lines(text, &[])
}

/// The same of a text whose lines had other numbers before.
pub(crate) fn parse_lines(text: &str, lines: &[usize]) -> Result<File, Error> {
    let mut reader = Reader { text, at: 0, lines, module: None, typed: false };
    let mut file = File::default();
    let mut namespace = String::new();
    if !reader.take("<?php") {
        return Err(reader.error("a stub file begins with <?php"));
    }
    loop {
        let doc = reader.doc()?;
        if reader.rest().is_empty() {
            return Ok(file);
        }
        let line = reader.line();
        let (head, end) = reader.statement()?;
        let fail = |text: String| Error { line, text };
        if head.starts_with(ALIAS) {
            continue;
        }
        if let Some(name) = head.strip_prefix("namespace ") {
            name.trim().clone_into(&mut namespace);
        } else if let Some(rest) = head.strip_prefix("const ") {
            let item = decl::constant(rest).map_err(fail)?;
            file.constants.push(Member::new(item, &namespace, doc, head, line));
        } else if head.starts_with("function ") {
            let item = function(&mut reader, head, end)?;
            file.functions.push(Member::new(item, &namespace, doc, head, line));
        } else if end == '{' {
            let item = class(&mut reader, head, line)?;
            file.classes.push(Member::new(item, &namespace, doc, head, line));
        } else {
            return Err(fail(format!("\"{head}\" is no declaration")));
        }
    }
}

/// A function whose head was read, and what ended the head.
fn function(reader: &mut Reader<'_>, head: &str, end: char) -> Result<Function, Error> {
    let function = decl::function(head).map_err(|text| reader.error(text))?;
    if (end == '{') == function.is_abstract() {
        return Err(reader.error("an abstract method ends with \";\", any other with \"{}\""));
    }
    if end == '{' {
        reader.space();
        if !reader.take("}") {
            return Err(reader.error("a stub has no body: \"{}\""));
        }
    }
    Ok(function)
}

fn class(reader: &mut Reader<'_>, head: &str, line: usize) -> Result<Class, Error> {
    let (modifiers, rest) = decl::modifiers(head);
    let mut words = rest.split([' ', ',', '\n']).filter(|word| !word.is_empty());
    if words.next() != Some("class") {
        return Err(Error { line, text: format!("\"{head}\" is no declaration") });
    }
    let name = words.next().unwrap_or_default().to_owned();
    let mut class = Class {
        name,
        modifiers,
        extends: None,
        implements: Vec::new(),
        constants: Vec::new(),
        properties: Vec::new(),
        methods: Vec::new(),
    };
    let mut key = "";
    for word in words {
        match (key, word.strip_prefix('\\')) {
            (_, None) if matches!(word, "extends" | "implements") => key = word,
            ("extends", Some(parent)) => class.extends = Some(parent.to_owned()),
            ("implements", Some(interface)) => class.implements.push(interface.to_owned()),
            _ => return Err(Error { line, text: format!("\"{word}\" needs its full name, with a leading backslash") }),
        }
    }
    members(reader, &mut class)?;
    Ok(class)
}

fn members(reader: &mut Reader<'_>, class: &mut Class) -> Result<(), Error> {
    loop {
        let doc = reader.doc()?;
        if reader.take("}") {
            reader.module = None;
            reader.typed = false;
            return Ok(());
        }
        let line = reader.line();
        let (head, end) = reader.statement()?;
        let fail = |text: String| Error { line, text };
        if let Some(rest) = head.strip_prefix("public const ") {
            let item = decl::constant(rest).map_err(fail)?;
            class.constants.push(Member::new(item, "", doc, head, line));
        } else if decl::modifiers(head).1.starts_with("function ") {
            let item = function(reader, head, end)?;
            class.methods.push(Member::new(item, "", doc, head, line));
        } else {
            let item = decl::property(head).map_err(fail)?;
            class.properties.push(Member::new(item, "", doc, head, line));
        }
    }
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn line(&self) -> usize {
        let before = self.text[..self.at].matches('\n').count();
        self.lines.get(before).copied().unwrap_or(before + 1)
    }

    fn error(&self, text: impl Into<String>) -> Error {
        Error { line: self.line(), text: text.into() }
    }

    fn take(&mut self, word: &str) -> bool {
        let found = self.rest().starts_with(word);
        if found {
            self.at += word.len();
        }
        found
    }

    /// Skips white space and comments that are no docblocks.
    fn space(&mut self) {
        loop {
            self.at += self.rest().len() - self.rest().trim_start().len();
            if !self.rest().starts_with("//") {
                return;
            }
            let line = self.rest().lines().next().unwrap_or_default();
            if let Some(path) = line.strip_prefix("// @rust module ") {
                self.module = Some(path.trim().to_owned());
            }
            self.typed |= line.trim_end() == "// @rust typed";
            self.at += line.len();
        }
    }

    /// The docblock that stands here, or an empty one.
    fn doc(&mut self) -> Result<Doc, Error> {
        let mut doc = Doc::default();
        self.space();
        while self.rest().starts_with("/**") {
            let end = self.rest().find("*/").ok_or_else(|| self.error("the docblock does not end"))?;
            doc = Doc::default();
            for line in self.rest()[3..end].lines() {
                let line = line.trim().strip_prefix('*').unwrap_or(line).trim();
                match line.strip_prefix("@rust ") {
                    Some(rest) => doc.rust.push(rest.trim().to_owned()),
                    None if line.is_empty() && doc.text.is_empty() => {}
                    None => {
                        doc.text += line;
                        doc.text.push('\n');
                    }
                }
            }
            doc.text.truncate(doc.text.trim_end().len());
            self.at += end + 2;
            self.space();
        }
        doc.module.clone_from(&self.module);
        doc.typed = self.typed;
        Ok(doc)
    }

    /// The text up to `;` or `{` outside brackets and quotes, and which of them it was.
    fn statement(&mut self) -> Result<(&'a str, char), Error> {
        let (mut depth, mut quoted) = (0_u32, false);
        for (at, c) in self.rest().char_indices() {
            match c {
                '\'' => quoted = !quoted,
                '(' | '[' if !quoted => depth += 1,
                ')' | ']' if !quoted => depth = depth.saturating_sub(1),
                ';' | '{' if !quoted && depth == 0 => {
                    let head = self.rest()[..at].trim();
                    self.at += at + 1;
                    return Ok((head, c));
                }
                _ => {}
            }
        }
        Err(self.error("the declaration does not end"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Literal;

    const FILE: &str = "<?php\n\n// A comment.\nnamespace Apus\\X;\n\n/** One. */\nconst ONE = 1;\n\n/**\n * Does it.\n * @rust deep::f\n */\n\
        function f(int $a, string $b = ';{'): void {}\n\n/**\n * A class.\n *\n * Of two parts.\n */\n\
        final class A extends \\Apus\\B implements \\Iterator, \\Countable\n{\n    /** Two. */\n    public const TWO = 'two';\n\n\
            /** It. */\n    public ?int $it = null;\n\n    public static function g(): \\Apus\\B {}\n}\n";

    #[test]
    fn passes_over_further_names() {
        let file = parse("<?php\nnamespace A;\nclass B\n{\n}\n\n\\class_alias('A\\B', 'C');\n").unwrap();
        assert_eq!(file.classes.len(), 1);
    }

    #[test]
    fn reads_all_kinds() {
        let file = parse(FILE).unwrap();
        assert_eq!(file.constants[0].full(&file.constants[0].item.name), "Apus\\X\\ONE");
        let f = &file.functions[0];
        assert_eq!(
            (f.doc.text.as_str(), f.doc.rust.as_slice(), f.line),
            ("Does it.", ["deep::f".to_owned()].as_slice(), 13)
        );
        assert_eq!(f.item.params[1].default.as_deref(), Some("';{'"));
        let class = &file.classes[0];
        assert_eq!(class.doc.text, "A class.\n\nOf two parts.");
        assert_eq!((class.item.extends.as_deref(), class.item.implements.len()), (Some("Apus\\B"), 2));
        assert_eq!(class.item.constants[0].item.value, Literal::Str("two".into()));
        assert_eq!(class.item.properties[0].item.default, Some(Literal::Null));
        assert_eq!(class.item.methods[0].item.ret.class.as_deref(), Some("Apus\\B"));
    }

    #[test]
    fn names_the_line() {
        let wrong = |text: &str| parse(text).map(|_| ()).unwrap_err();
        assert_eq!(wrong("<?php\nnamespace A;\nclass B extends C {}").line, 3);
        assert_eq!(wrong("<?php\nclass B\n{\n    public int\n}").line, 4);
        assert_eq!(wrong("<?php\nfunction f(): void { return; }").line, 2);
        assert!(wrong("namespace A;").text.contains("<?php"));
        assert!(wrong("<?php\n/** x").text.contains("does not end"));
        assert!(wrong("<?php\necho 1;").text.contains("no declaration"));
        assert!(wrong("<?php\nclass A\n{\n    abstract public function f(): int {}\n}").text.contains("abstract"));
    }
}
