//! Loading from JSON and CSV: what is loaded, wherever the source is cut into parts, and what is refused, with its
//! place.

use std::io::{self, Read};

use super::bulk_json::JsonOptions;
use super::order_tests::Dice;
use super::{
    Cell, Column, CsvOptions, Index, Key, KeyList, Keys, Kind, Layout, Loaded, Mode, RowBuffer, Schema, Table,
    TableError, Window,
};

fn table(keys: Keys) -> Table {
    table_of(keys, 40_000)
}

fn table_of(keys: Keys, rows: u64) -> Table {
    let column = |name: &str, kind| Column { name: name.into(), kind };
    Table::new(Schema {
        keys,
        layout: Layout::Columns,
        rows,
        columns: vec![
            column("user", Kind::Int { bytes: 4, signed: false }),
            column("at", Kind::Int { bytes: 4, signed: true }),
            column("name", Kind::Text { longest: 40 }),
            column("score", Kind::Float),
        ],
        indexes: vec![Index { name: "user".into(), columns: vec![0, 1] }],
    })
    .unwrap()
}

const IDS: Keys = Keys::Ids { most: 40_000 };
const TEXTS: Keys = Keys::Text { longest: 30 };

/// Gives a few bytes a time, as a network does.
struct Parts<'a>(&'a [u8], usize);

impl Read for Parts<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let (len, now) = (self.1.min(into.len()).min(self.0.len()), self.0);
        into[..len].copy_from_slice(&now[..len]);
        self.0 = &now[len..];
        Ok(len)
    }
}

fn json(table: &Table, source: &str, member: &str) -> Result<Loaded, String> {
    let options = JsonOptions { member, ..JsonOptions::default() };
    table.load_json(source.as_bytes(), &options, |_, _| true).map_err(|error| error.to_string())
}

fn csv(table: &Table, source: &str, options: &CsvOptions<'_>) -> Result<Loaded, String> {
    table.load_csv(source.as_bytes(), options, |_, _| true).map_err(|error| error.to_string())
}

fn row(table: &Table, key: Key<'_>) -> Option<String> {
    let mut row = RowBuffer::new();
    let shown = |cell: Cell<'_>| match cell {
        Cell::Int(value) => value.to_string(),
        Cell::Float(value) => format!("{value:?}"),
        Cell::Text(text) => String::from_utf8_lossy(text).into_owned(),
    };
    table.get(key, &[0, 1, 2, 3], &mut row).then(|| row.cells().map(shown).collect::<Vec<_>>().join("|"))
}

#[test]
fn forms_of_json() {
    let rows = [
        r#"{"id":1,"user":7,"at":-5,"name":"short","score":1.5}"#,
        "\n{ \"at\" : 2147483647 , \"id\": 2,\t\"user\":4294967295, \"name\": \"\", \"score\": 3 }",
        r#"{"id":3,"user":0,"at":-2147483648,"name":"a \"quote\", a } and \u00e9\ud83d\ude00\n","score":-1e-3}"#,
        "{\"id\":4,\"user\":1,\"at\":0,\"name\":\"gr\u{fc}n ]} \u{1f600}\",\"score\":-0}",
    ];
    let want = [
        "7|-5|short|1.5",
        "4294967295|2147483647||3.0",
        "0|-2147483648|a \"quote\", a } and \u{e9}\u{1f600}\n|-0.001",
        "1|0|gr\u{fc}n ]} \u{1f600}|-0.0",
    ];
    let array = format!(" [ {} ] ", rows.join(" , "));
    let sources = [
        (array.clone(), ""),
        (format!("\u{feff}{array}"), ""),
        (rows.join(""), ""),
        (rows.join("\n") + "\n", ""),
        (format!("{{\"visits\":{array}}}"), "visits"),
        (
            format!(
                "{{\"a\":[{{\"b\\\"]\":[1,2,{{}}]}}],\"c\":-1.5e3,\"d\":null,\"v\\u0069sits\":{array},\"z\":\"[{{\\\"\"}}\n"
            ),
            "visits",
        ),
    ];
    for (source, member) in &sources {
        for part in [1, 2, 3, 7, 50, 1000] {
            let table = table(IDS);
            let options = JsonOptions { member, ..JsonOptions::default() };
            let loaded = table.load_json(Parts(source.as_bytes(), part), &options, |_, _| true).unwrap();
            assert_eq!(loaded, Loaded { rows: 4, bytes: source.len() as u64, stopped: false }, "{source}");
            for (id, want) in want.iter().enumerate() {
                assert_eq!(row(&table, Key::Id(id as u64 + 1)).as_deref(), Some(*want), "{source}");
            }
            let mut found = KeyList::new();
            table.find(0, &[Cell::Int(7)], Window::default(), &mut found).unwrap();
            assert!(found.iter().eq([Key::Id(1)]));
        }
    }
    for (source, member) in [("", ""), ("[]", ""), ("{\"visits\": [ ]}", "visits"), (" \n", "")] {
        assert_eq!(json(&table(IDS), source, member).unwrap().rows, 0, "{source}");
    }
}

#[test]
fn keys_of_text_tables() {
    let table = table(TEXTS);
    let source = r#"[{"user":1,"at":1,"score":1,"name":"Ann"},{"user":2,"at":2,"score":2,"name":"Bob \u0041"}]"#;
    let options = JsonOptions { key: "name", ..JsonOptions::default() };
    assert_eq!(table.load_json(source.as_bytes(), &options, |_, _| true).unwrap().rows, 2);
    // The key's member is a column, too.
    assert_eq!(row(&table, Key::Text(b"Bob A")).as_deref(), Some("2|2|Bob A|2.0"));
    let source = r#"{"user":1,"at":1,"score":1,"name":"x","id":-9223372036854775808}{"user":1,"at":1,"score":1,"name":"x","id":90}"#;
    assert_eq!(json(&table, source, "").unwrap().rows, 2);
    assert!(row(&table, Key::Text(b"-9223372036854775808")).is_some() && row(&table, Key::Text(b"90")).is_some());
}

#[test]
fn wrong_json_is_refused_with_its_place() {
    let good = r#"{"id":1,"user":7,"at":5,"name":"n","score":1}"#;
    let with = |bad: &str| format!("[{good},{bad}]");
    let cases = [
        (with(r#"{"id":2,"user":7,"at":5,"name":"n"}"#), "", "row 2, byte 47: it has no member \"score\""),
        (
            with(r#"{"user":7,"at":5,"name":"n","score":1}"#),
            "",
            "row 2, byte 47: it has no member \"id\", which is its key",
        ),
        (with(r#"{"id":2,"color":7}"#), "", "row 2, byte 61: the table has no column \"color\""),
        (with(r#"{"id":2,"user":7,"user":5}"#), "", "the member \"user\" is there twice"),
        (with(r#"{"id":2,"id":7}"#), "", "the member \"id\" is there twice"),
        (with(r#"{"id":2,"user":null}"#), "", "the member \"user\" is null; a column holds a number or a text"),
        (
            with(r#"{"id":2,"user":true}"#),
            "",
            "the member \"user\" is true or false; a column holds a number or a text",
        ),
        (with(r#"{"id":2,"user":[1]}"#), "", "the member \"user\" is an array; a column holds a number or a text"),
        (with(r#"{"id":2,"user":{"a":1}}"#), "", "the member \"user\" is an object; a column holds a number or a text"),
        (
            with(r#"{"id":2,"user":18446744073709551615}"#),
            "",
            "the member \"user\" is greater than 9223372036854775807",
        ),
        (
            with(r#"{"id":2,"user":4294967296,"at":5,"name":"n","score":1}"#),
            "",
            "row 2, byte 47: column \"user\" holds 0 to 4294967295; 4294967296 does not fit",
        ),
        (
            with(r#"{"id":2,"user":-1,"at":5,"name":"n","score":1}"#),
            "",
            "column \"user\" holds 0 to 4294967295; -1 does not fit",
        ),
        (
            with(r#"{"id":-2,"user":1,"at":5,"name":"n","score":1}"#),
            "",
            "row 2, byte 47: its key must be an integer from 0 on",
        ),
        (with(r#"{"id":"2","user":1,"at":5,"name":"n","score":1}"#), "", "its key must be an integer from 0 on"),
        (with(r#"{"id":2,"user":01,"at":5,"name":"n","score":1}"#), "", "row 2, byte 63: invalid number"),
        (with("{\"id\":2,\n\"user\":x}"), "", "row 2, byte 63: expected value"),
        (with("{\"id\":2,\"name\":\"a\tb\"}"), "", "control character"),
        (with(r#"{"id":2 "user":1}"#), "", "expected `,` or `}`"),
        (with("7"), "", "byte 47: a row must come here, not \"7\""),
        (format!("[{good} {good}]"), "", "byte 47: a comma or the array's end must come here, not \"{\""),
        (format!("[{good},]"), "", "byte 47: a row must come here, not \"]\""),
        (format!("[{good}"), "", "byte 46: a comma or the array's end must come here, not the end"),
        (format!("[{good},{{\"id\":1"), "", "byte 47: what starts here has no end"),
        (format!("[{good}] 8"), "", "byte 48: the end must come here, not \"8\""),
        ("7".into(), "", "byte 0: an array of rows, or a row must come here, not \"7\""),
        (format!("[{good}]"), "visits", "byte 0: an object with the member \"visits\" must come here, not \"[\""),
        ("{\"a\":1}".into(), "visits", "there is no member \"visits\""),
        ("{\"visits\":{}}".into(), "visits", "byte 10: an array of rows must come here, not \"{\""),
        ("{\"a\":,}".into(), "visits", "byte 5: a value must come here, not \",\""),
        ("{\"a\":[1".into(), "visits", "the end comes within a value"),
        ("{a:1}".into(), "visits", "byte 1: the name of a member must come here, not \"a\""),
        (format!("{{\"a\":{}", "[".repeat(200)), "visits", "nested deeper than 128"),
    ];
    for (source, member, why) in &cases {
        for part in [1, 9, 4000] {
            let table = table(IDS);
            let options = JsonOptions { member, ..JsonOptions::default() };
            let error = table.load_json(Parts(source.as_bytes(), part), &options, |_, _| true).unwrap_err();
            assert!(matches!(error, TableError::File(_)));
            let error = error.to_string();
            assert!(error.ends_with(why) || why.starts_with("control") && error.contains(why), "{source}: {error}");
            assert_eq!(table.len(), u64::from(source.contains(good) && member.is_empty()), "{source}");
        }
    }
    let invalid = [b"[{\"id\":1,\"name\":\"".as_slice(), &[0xff], b"\"}]"].concat();
    let error = table(IDS).load_json(invalid.as_slice(), &JsonOptions::default(), |_, _| true).unwrap_err();
    assert!(error.to_string().contains("invalid unicode"), "{error}");
}

/// The quick way and the full parser must take the same, byte for byte.
#[test]
fn damaged_json_is_never_half_understood() {
    let good = "{\"id\":12,\"user\":7,\"at\":-5,\"name\":\"n\u{e9}\",\"score\":1}";
    let mut dice = Dice(4);
    let (mut taken, mut refused) = (0, 0);
    for _ in 0..3000 {
        let mut bytes = good.as_bytes().to_vec();
        for _ in 0..=dice.below(2) {
            let at = dice.below(bytes.len() as u64) as usize;
            match dice.below(3) {
                0 => {
                    bytes[at] = *b"{}[]\",:-0123456789eE.\\ \n\0\xc3\xff".get(dice.below(30) as usize).unwrap_or(&b'x');
                }
                1 => drop(bytes.remove(at)),
                _ => bytes.insert(at, bytes[dice.below(at as u64 + 1) as usize]),
            }
        }
        // The first row teaches the quick way the names; the second is the damaged one.
        let both = [good.replace("12", "11").as_bytes(), &bytes].concat();
        let few = Keys::Ids { most: 140 };
        let (quick, full) = (table_of(few, 140), table_of(few, 140));
        let one = quick.load_json(both.as_slice(), &JsonOptions::default(), |_, _| true);
        let two = full.load_json(bytes.as_slice(), &JsonOptions::default(), |_, _| true);
        let known = serde_json::from_slice::<serde_json::Value>(&bytes).is_ok();
        assert_eq!(one.is_ok(), two.is_ok(), "{}", bytes.escape_ascii());
        assert!(one.is_err() || known, "{}", bytes.escape_ascii());
        *(if one.is_ok() { &mut taken } else { &mut refused }) += 1;
        for id in (0..140).filter(|id| *id != 11) {
            assert_eq!(row(&quick, Key::Id(id)), row(&full, Key::Id(id)), "{}", bytes.escape_ascii());
        }
    }
    assert!(taken > 100 && refused > 1000, "{taken} {refused}");
}

#[test]
fn progress_is_told_and_may_end_it() {
    let line = |id: u64| format!("{{\"id\":{id},\"user\":1,\"at\":{id},\"name\":\"\",\"score\":0}}\n");
    let source: String = (0..39_000).map(line).collect();
    let mut told = Vec::new();
    let loaded = table(IDS).load_json(source.as_bytes(), &JsonOptions::default(), |rows, bytes| {
        told.push((rows, bytes));
        true
    });
    assert_eq!(loaded.unwrap(), Loaded { rows: 39_000, bytes: source.len() as u64, stopped: false });
    let at = |rows: u64| (0..rows).map(line).map(|line| line.len() as u64).sum::<u64>();
    assert_eq!(told, [(16_384, at(16_384) - 1), (32_768, at(32_768) - 1), (39_000, at(39_000))]);
    let other = table(IDS);
    let loaded = other.load_json(source.as_bytes(), &JsonOptions::default(), |rows, _| rows < 20_000).unwrap();
    assert_eq!((loaded.rows, loaded.stopped, other.len()), (32_768, true, 32_768));
    let source: String = std::iter::once("id,user\n".into()).chain((0..39_000).map(|id| format!("{id},5\n"))).collect();
    let mut told = Vec::new();
    let loaded = table(IDS).load_csv(source.as_bytes(), &CsvOptions::default(), |rows, _| {
        told.push(rows);
        rows < 20_000
    });
    assert_eq!((loaded.unwrap().stopped, told), (true, vec![16_384, 32_768]));
}

struct Broken;

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::other("the line is dead"))
    }
}

#[test]
fn modes_limits_and_broken_sources() {
    let table = table(IDS);
    let row = r#"{"id":1,"user":7,"at":5,"name":"n","score":1}"#;
    let insert = JsonOptions { mode: Mode::Insert, ..JsonOptions::default() };
    assert_eq!(table.load_json(row.as_bytes(), &insert, |_, _| true).unwrap().rows, 1);
    let again = table.load_json(row.as_bytes(), &insert, |_, _| true).unwrap_err().to_string();
    assert_eq!(again, "row 1, byte 0: a row of this key is there");
    let short = JsonOptions { row_longest: 1000, ..JsonOptions::default() };
    let endless = io::repeat(b'a').take(1 << 30);
    let error = table.load_json(b"{\"id\":\"".chain(endless), &short, |_, _| true).unwrap_err().to_string();
    assert_eq!(error, "byte 0: what starts here is longer than 1000 bytes");
    let error = table.load_json(row.as_bytes().chain(Broken), &JsonOptions::default(), |_, _| true).unwrap_err();
    assert_eq!(error.to_string(), "reading failed at byte 45: the line is dead");
    let error = table.load_csv(b"id,user\n1,2\n".chain(Broken), &CsvOptions::default(), |_, _| true).unwrap_err();
    assert!(error.to_string().ends_with("the line is dead"), "{error}");
    let short = CsvOptions { row_longest: 1000, ..CsvOptions::default() };
    let endless = io::repeat(b'a').take(1 << 30);
    let error = table.load_csv(b"id,name\n1,\"".chain(endless), &short, |_, _| true).unwrap_err().to_string();
    assert_eq!(error, "line 2: it is longer than 1000 bytes; is a quote not closed?");
}

#[test]
fn forms_of_csv() {
    let source = "\u{feff}user,id,,name,at,score\r\n7,1,x,\"a, \"\"b\"\"\nc\",-5,1.5\r\n4294967295,2,,,0,-3\r\n";
    for part in [1, 3, 1000] {
        let table = table(IDS);
        let loaded = table.load_csv(Parts(source.as_bytes(), part), &CsvOptions::default(), |_, _| true).unwrap();
        assert_eq!(loaded, Loaded { rows: 2, bytes: source.len() as u64, stopped: false });
        assert_eq!(row(&table, Key::Id(1)).as_deref(), Some("7|-5|a, \"b\"\nc|1.5"));
        assert_eq!(row(&table, Key::Id(2)).as_deref(), Some("4294967295|0||-3.0"));
    }
    let table = table(TEXTS);
    let options =
        CsvOptions { columns: Some(&["name", "user"]), key: "name", separator: b';', ..CsvOptions::default() };
    assert_eq!(csv(&table, "Ann;1\nBob;2", &options).unwrap().rows, 2);
    assert_eq!(row(&table, Key::Text(b"Bob")).as_deref(), Some("2|0|Bob|0.0"));
    assert_eq!(csv(&table, "", &CsvOptions::default()).unwrap().rows, 0);
}

#[test]
fn wrong_csv_is_refused_with_its_line() {
    let refused = |source: &str| csv(&table(IDS), source, &CsvOptions::default()).unwrap_err();
    assert_eq!(refused("id,color\n"), "line 1: the table has no column \"color\"");
    assert_eq!(refused("user\n"), "line 1: no field is named \"id\", which is the key");
    assert_eq!(refused("id,user,user\n"), "line 1: \"user\" is there twice");
    assert_eq!(refused("id,user\n1,2\n3\n"), "row 2, line 3: it has 1 fields, 2 are named");
    assert_eq!(refused("id,user\n1,2\n3,4x\n"), "row 2, line 3: \"user\" must be an integer (of 64 bits), not \"4x\"");
    assert_eq!(refused("id,user\n,2\n"), "row 1, line 2: \"id\" must be an integer (of 64 bits), not \"\"");
    assert_eq!(refused("id,score\n1,\n"), "row 1, line 2: \"score\" must be a number (of 64 bits), not \"\"");
    assert_eq!(refused("id,user\n1,-2\n"), "row 1, line 2: column \"user\" holds 0 to 4294967295; -2 does not fit");
    let long = format!("id,name\n1,{}\n", "a".repeat(41));
    assert!(refused(&long).starts_with("row 1, line 2: column \"name\" takes 40 bytes, the text has 41"));
    assert_eq!(refused("id,name\n1,\"x\ny\"\n2,\"open\n\n"), "line 4: a quote is not closed");
    assert_eq!(refused("id,name\n1,\"x\"y\n"), "line 2: something follows a closing quote");
    assert_eq!(refused("id,name\n1,x\"y\"\n"), "line 2: a quote stands in a field that does not begin with one");
    let options = CsvOptions { columns: Some(&["id", "user"]), ..CsvOptions::default() };
    assert_eq!(csv(&table(IDS), "1,2,3\n", &options).unwrap_err(), "row 1, line 1: it has 3 fields, 2 are named");
    let options = CsvOptions { separator: b'"', ..CsvOptions::default() };
    assert!(csv(&table(IDS), "", &options).unwrap_err().contains("separator"));
}
