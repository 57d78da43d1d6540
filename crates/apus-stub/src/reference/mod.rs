//! The API as HTML, by class: what `apus stubs --html` writes. It works from a folder, without a server or a network.

mod page;
mod text;

use std::fmt::Write as _;

use crate::model::{Class, File, Function, Member};
use page::page;
use text::{Links, Text, escape};

/// A file of a reference or a package: its name and text.
pub type Output = (String, String);

/// Makes the pages of what `apus stubs` prints. An error names the line.
pub fn html(stubs: &str) -> Result<Vec<Output>, String> {
    let file = crate::parse(stubs).map_err(|error| format!("line {}: {}", error.line, error.text))?;
    let reference = Reference::new(&file, version(stubs));
    let mut files = vec![
        ("index.html".to_owned(), reference.index()),
        ("functions.html".to_owned(), reference.functions()),
        ("constants.html".to_owned(), reference.constants()),
        ("index.js".to_owned(), reference.search_index()),
        ("search.js".to_owned(), include_str!("search.js").to_owned()),
        ("style.css".to_owned(), include_str!("style.css").to_owned()),
    ];
    files.extend(file.classes.iter().map(|class| (of_class(&name(class)), reference.class(class))));
    Ok(files)
}

/// The version that the stubs name.
pub(crate) fn version(stubs: &str) -> &str {
    let after = stubs.split_once("of Apus ").map_or("", |(_, rest)| rest);
    after.split(',').next().unwrap_or_default()
}

fn name(class: &Member<Class>) -> String {
    class.full(&class.item.name)
}

fn of_class(name: &str) -> String {
    format!("{}.html", name.replace('\\', "."))
}

/// An entry of the search: name, place, what it is.
type Entry = (String, String, String);

struct Reference<'a> {
    file: &'a File,
    version: &'a str,
    links: Links,
}

impl<'a> Reference<'a> {
    fn new(file: &'a File, version: &'a str) -> Self {
        let pages = file.classes.iter().map(|class| (name(class), of_class(&name(class))));
        Self { file, version, links: Links(pages.collect()) }
    }

    fn index(&self) -> String {
        let mut body = format!(
            "<h1>Apus {}</h1>\n<p>Every class, method, function and constant. A method that waits lets other coroutines run meanwhile. \
             Press / to search.</p>\n",
            escape(self.version)
        );
        let mut classes: Vec<_> = self.file.classes.iter().collect();
        classes.sort_by_key(|class| (class.namespace.clone(), class.item.name.clone()));
        let mut namespace = None;
        for class in classes {
            if namespace != Some(&class.namespace) {
                if namespace.is_some() {
                    body.push_str("</table>\n");
                }
                namespace = Some(&class.namespace);
                let _ = write!(body, "<h2>{}</h2>\n<table>\n", escape(&class.namespace));
            }
            let _ = writeln!(
                body,
                "<tr><td><a href=\"{}\">{}</a></td><td>{}</td></tr>",
                of_class(&name(class)),
                escape(&class.item.name),
                self.links.prose(Text::of(&class.doc.text).summary())
            );
        }
        if namespace.is_some() {
            body.push_str("</table>\n");
        }
        page("Apus", "index", &body)
    }

    fn functions(&self) -> String {
        let mut functions: Vec<_> = self.file.functions.iter().collect();
        functions.sort_by_key(|function| function.full(&function.item.name));
        let mut body = "<h1>Functions</h1>\n".to_owned();
        for function in functions {
            let full = function.full(&function.item.name);
            self.function(&mut body, function, &full, &anchor(&full));
        }
        page("Functions", "functions", &body)
    }

    fn constants(&self) -> String {
        let mut body = "<h1>Constants</h1>\n<table>\n".to_owned();
        for constant in &self.file.constants {
            let full = constant.full(&constant.item.name);
            self.row(&mut body, &anchor(&full), &full, &constant.text, &constant.doc.text);
        }
        body.push_str("</table>\n");
        page("Constants", "constants", &body)
    }

    fn class(&self, class: &Member<Class>) -> String {
        let full = name(class);
        let mut body = format!("<h1>{}</h1>\n", escape(&full));
        let _ = writeln!(body, "<pre>{}</pre>", self.links.linked(&class.text));
        self.description(&mut body, &Text::of(&class.doc.text));
        self.family(&mut body, &full);
        if Text::of(&class.doc.text).since.is_none() {
            body.push_str("<p class=\"waits\">Since 0.1.0, unless it says otherwise.</p>\n");
        }
        let item = &class.item;
        if !item.methods.is_empty() {
            body.push_str("<p class=\"list\">");
            for method in &item.methods {
                let _ = writeln!(body, "<a href=\"#{0}\">{0}()</a>", escape(&method.item.name));
            }
            body.push_str("</p>\n");
        }
        if !item.constants.is_empty() {
            body.push_str("<h2>Constants</h2>\n<table>\n");
            for constant in &item.constants {
                let name = &constant.item.name;
                self.row(&mut body, name, name, &constant.text, &constant.doc.text);
            }
            body.push_str("</table>\n");
        }
        if !item.properties.is_empty() {
            body.push_str("<h2>Properties</h2>\n<table>\n");
            for property in &item.properties {
                let name = format!("${}", property.item.name);
                self.row(&mut body, &name, &name, &property.text, &property.doc.text);
            }
            body.push_str("</table>\n");
        }
        if !item.methods.is_empty() {
            body.push_str("<h2>Methods</h2>\n");
        }
        for method in &item.methods {
            self.function(&mut body, method, &format!("{}()", method.item.name), &method.item.name);
        }
        page(&full, "", &body)
    }

    /// The classes that extend a class.
    fn family(&self, body: &mut String, full: &str) {
        let is_child = |class: &&Member<Class>| {
            class.item.extends.as_deref().is_some_and(|parent| parent.trim_start_matches('\\') == full)
        };
        let children: Vec<_> = self.file.classes.iter().filter(is_child).map(name).collect();
        if !children.is_empty() {
            let links: Vec<_> = children.iter().map(|child| self.links.linked(child)).collect();
            let _ = writeln!(body, "<p>Extended by {}.</p>", links.join(", "));
        }
    }

    fn row(&self, body: &mut String, id: &str, name: &str, declaration: &str, doc: &str) {
        let text = Text::of(doc);
        let value = declaration.split_once('=').map_or("", |(_, value)| value.trim());
        let kind = declaration.split(&['=', '$'][..]).next().unwrap_or_default();
        let kind: Vec<_> = kind.split_whitespace().filter(|word| !matches!(*word, "public" | "const")).collect();
        let kind = if name.starts_with('$') { kind.join(" ") } else { String::new() };
        let _ = writeln!(
            body,
            "<tr id=\"{}\"><td><code>{}</code></td><td><code>{}{}</code></td><td>{}</td></tr>",
            escape(id),
            escape(name),
            self.links.linked(&kind),
            if value.is_empty() { String::new() } else { format!(" = {}", escape(value)) },
            self.links.prose(&text.paragraphs.join(" "))
        );
    }

    fn function(&self, body: &mut String, function: &Member<Function>, title: &str, id: &str) {
        let text = Text::of(&function.doc.text);
        let _ = writeln!(body, "<section id=\"{}\">\n<h3>{}</h3>", escape(id), escape(title));
        let _ = writeln!(body, "<pre>{}</pre>", self.links.linked(&function.text));
        self.description(body, &text);
        body.push_str("</section>\n");
    }

    fn description(&self, body: &mut String, text: &Text) {
        for paragraph in &text.paragraphs {
            let _ = writeln!(body, "<p>{}</p>", self.links.prose(paragraph));
        }
        let mut rows = Vec::new();
        for (name, kind, meaning) in &text.params {
            let kind = self.links.linked(kind);
            rows.push((escape(name), format!("<code>{kind}</code> {}", self.links.prose(meaning))));
        }
        if let Some((kind, meaning)) = &text.returns {
            let kind = self.links.linked(kind);
            rows.push(("Returns".to_owned(), format!("<code>{kind}</code> {}", self.links.prose(meaning))));
        }
        for (class, occasion) in &text.throws {
            let class = self.links.linked(class);
            rows.push(("Throws".to_owned(), format!("<code>{class}</code> {}", self.links.prose(occasion))));
        }
        if let Some(since) = &text.since {
            rows.push(("Since".to_owned(), escape(since)));
        }
        if !rows.is_empty() {
            body.push_str("<table>\n");
            for (what, meaning) in rows {
                let _ = writeln!(body, "<tr><th>{what}</th><td>{}</td></tr>", meaning.trim_end());
            }
            body.push_str("</table>\n");
        }
        if let Some(waits) = &text.waits {
            let _ = writeln!(body, "<p class=\"waits\">{}</p>", self.links.prose(waits));
        }
    }

    /// A script with all names, for the search.
    fn search_index(&self) -> String {
        let mut all: Vec<Entry> = Vec::new();
        let summary = |doc: &str| Text::of(doc).summary().replace('`', "");
        for class in &self.file.classes {
            let (full, page) = (name(class), of_class(&name(class)));
            all.push((full.clone(), page.clone(), summary(&class.doc.text)));
            for method in &class.item.methods {
                let name = &method.item.name;
                all.push((format!("{full}::{name}()"), format!("{page}#{name}"), summary(&method.doc.text)));
            }
            for constant in &class.item.constants {
                let name = &constant.item.name;
                all.push((format!("{full}::{name}"), format!("{page}#{name}"), summary(&constant.doc.text)));
            }
            for property in &class.item.properties {
                let name = &property.item.name;
                all.push((format!("{full}::${name}"), format!("{page}#${name}"), summary(&property.doc.text)));
            }
        }
        for function in &self.file.functions {
            let full = function.full(&function.item.name);
            all.push((format!("{full}()"), format!("functions.html#{}", anchor(&full)), summary(&function.doc.text)));
        }
        for constant in &self.file.constants {
            let full = constant.full(&constant.item.name);
            all.push((full.clone(), format!("constants.html#{}", anchor(&full)), summary(&constant.doc.text)));
        }
        let lines: Vec<_> =
            all.iter().map(|(a, b, c)| format!("[{},{},{}]", quoted(a), quoted(b), quoted(c))).collect();
        format!("const INDEX = [\n{}\n];\n", lines.join(",\n"))
    }
}

/// A full name as the id of a place.
fn anchor(full: &str) -> String {
    full.replace('\\', ".")
}

/// A text as JSON writes it.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            // What would end the script, or is no part of JSON text.
            '<' | '\0'..='\x1f' | '\u{2028}' | '\u{2029}' => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            _ => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const STUBS: &str = "<?php\n\n// The PHP API of Apus 1.2.3, printed.\n\nnamespace A;\n\n/** A <thing>. More. */\nclass B\n{\n    /** One. */\n    \
        public const X = 1;\n\n    /** Its `name`. */\n    public ?string $name = null;\n\n    /**\n     * Makes it.\n     * @param \\A\\B $b another\n     \
        * @throws \\A\\C when not\n     * Does not wait.\n     */\n    public function make(\\A\\B $b, int $n = 1): static {}\n}\n\n/** Gone. */\nclass C \
        extends \\A\\B\n{\n}\n\n/** Does. */\nfunction does(): void {}\n\n/** Two. */\nconst Y = 2;\n";

    #[test]
    fn writes_a_page_a_class() {
        let files = html(STUBS).unwrap();
        let text = |name: &str| &files.iter().find(|(file, _)| file == name).unwrap().1;
        let class = text("A.B.html");
        assert!(class.contains("A &lt;thing&gt;. More."), "{class}");
        assert!(class.contains("<section id=\"make\">"), "{class}");
        assert!(
            class.contains("<tr><th>$b</th><td><code><a href=\"A.B.html\">A\\B</a></code> another</td></tr>"),
            "{class}"
        );
        assert!(class.contains("<p class=\"waits\">Does not wait.</p>"), "{class}");
        assert!(class.contains("Extended by <a href=\"A.C.html\">A\\C</a>."), "{class}");
        assert!(
            class.contains("<tr id=\"$name\"><td><code>$name</code></td><td><code>?string = null</code></td>"),
            "{class}"
        );
        assert!(text("index.html").contains("<h1>Apus 1.2.3</h1>"));
        assert!(text("index.html").contains("<td>A &lt;thing&gt;.</td>"));
        assert!(text("functions.html").contains("id=\"A.does\""));
        assert!(text("constants.html").contains("id=\"A.Y\""));
        assert!(text("index.js").contains(r#"["A\\B::make()","A.B.html#make","Makes it."]"#));
        assert!(text("index.js").contains(r"A \u003cthing>."));
    }
}
