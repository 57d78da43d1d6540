//! The content of a directory as HTML.

use std::fmt::Write;
use std::io;
use std::os::fd::OwnedFd;

use apus_net::proto::date::imf_fixdate;
use rustix::fs::{Dir, Mode, OFlags, openat};

use crate::path::Decoded;
use crate::root::{Opened, Patience, Root};

/// Entries that are shown; the rest is counted.
const ENTRIES: usize = 10_000;

/// Lists what can be asked for below `names`: directories first, nothing hidden, nothing that leads out of the root.
pub(super) fn html(root: &Root, directory: OwnedFd, names: &str) -> io::Result<String> {
    // The descriptor may be one that can only be resolved against.
    let readable = openat(&directory, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let (mut entries, mut more) = (Vec::new(), 0u64);
    for entry in Dir::new(readable)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().to_str() else { continue };
        let below = if names.is_empty() { name.to_owned() } else { format!("{names}/{name}") };
        if name.starts_with('.') || Decoded::read(format!("/{}", Decoded::encoded(&below)).as_bytes()).is_none() {
            continue;
        }
        if entries.len() == ENTRIES {
            more += 1;
            continue;
        }
        match root.get(&below, Patience::Disk) {
            Ok(Opened::Directory(_)) => entries.push((false, format!("{name}/"), None)),
            Ok(Opened::File(_, about)) => entries.push((true, name.to_owned(), Some(about))),
            Err(_) => {}
        }
    }
    entries.sort_unstable_by(|(a_file, a, _), (b_file, b, _)| (a_file, a).cmp(&(b_file, b)));
    let title = escape(&format!("/{names}{}", if names.is_empty() { "" } else { "/" }));
    let mut text = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>Index of {title}</title>\n<h1>Index of {title}</h1>\n<table>\n"
    );
    if !names.is_empty() {
        text.push_str("<tr><td><a href=\"../\">../</a><td><td>\n");
    }
    for (_, name, about) in &entries {
        // The colon of a name would end a scheme.
        let (link, shown) = (Decoded::encoded(name), escape(name));
        let (size, changed) = about.map_or_else(Default::default, |about| {
            let date = imf_fixdate(about.modified_seconds());
            (about.len.to_string(), String::from_utf8_lossy(&date).into_owned())
        });
        // Writing to a String cannot fail.
        let _ = writeln!(text, "<tr><td><a href=\"./{}\">{shown}</a><td>{size}<td>{changed}", escape(&link));
    }
    text.push_str("</table>\n");
    if more > 0 {
        let _ = writeln!(text, "<p>{more} more are not shown.");
    }
    text.push_str("</html>\n");
    Ok(text)
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
