//! What all pages have around their text.

use super::text::escape;

/// A page; `here` is the part that it belongs to.
pub(super) fn page(title: &str, here: &str, body: &str) -> String {
    let parts = [("index", "Classes"), ("functions", "Functions"), ("constants", "Constants")];
    let links: Vec<_> = parts
        .iter()
        .map(|(name, shown)| {
            let current = if *name == here { " aria-current=\"page\"" } else { "" };
            format!("<a href=\"{name}.html\"{current}>{shown}</a>")
        })
        .collect();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}</title>\n<link rel=\"stylesheet\" href=\"style.css\">\n</head>\n<body>\n\
         <header>\n<nav>{}</nav>\n\
         <input id=\"search\" type=\"search\" placeholder=\"Search\" aria-label=\"Search\" autocomplete=\"off\">\n\
         <ul id=\"found\"></ul>\n</header>\n<main>\n{body}</main>\n\
         <script src=\"index.js\"></script>\n<script src=\"search.js\"></script>\n</body>\n</html>\n",
        escape(title),
        links.join("\n")
    )
}
