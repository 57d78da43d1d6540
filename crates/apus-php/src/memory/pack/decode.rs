//! Bytes into a value. They may come from anywhere: every count is compared with the bytes that are left before
//! anything is made.

use std::collections::HashSet;

use apus_zend::assemble::{self, Made, Reference};
use apus_zend::steps::{Builder, Failed, Numbers};
use apus_zend::value::PhpString;
use apus_zend::{Raise, Value};

use super::format as f;
use crate::exception::{self};

/// Which classes may be made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Allowed {
    /// All.
    #[default]
    All,
    /// These, in lower case.
    Only(HashSet<Vec<u8>>),
}

/// The value that `bytes` are.
pub(super) fn decode(bytes: &[u8], allowed: &Allowed) -> Result<Value, Raise> {
    let build = Builder::default();
    let mut decoder = Decoder { bytes, at: 0, allowed, build, nodes: Vec::new(), calls: Vec::new(), depth: 0 };
    let done = decoder.whole();
    if done.is_err() {
        decoder.spoil();
    }
    let value = done?;
    decoder.finish()?;
    Ok(value)
}

/// What was numbered.
enum Node {
    Object(Value),
    Reference(Reference),
    Nothing,
}

/// What is called on an object when all is there: for `serialize()` does so, too.
struct Call {
    object: Value,
    /// What `__unserialize()` is given; `None`: `__wakeup()`.
    data: Option<Value>,
}

struct Decoder<'a> {
    bytes: &'a [u8],
    at: usize,
    allowed: &'a Allowed,
    build: Builder<'a>,
    nodes: Vec<Node>,
    calls: Vec<Call>,
    depth: usize,
}

/// A string: its bytes, or the number of the one that it is again.
enum Text<'a> {
    New(&'a [u8]),
    Again(usize),
}

/// A key or a name.
enum Key<'a> {
    Text(Text<'a>),
    Index(i64),
    End,
}

impl<'a> Decoder<'a> {
    fn whole(&mut self) -> Result<Value, Raise> {
        if self.bytes.first() != Some(&f::VERSION) {
            return Err(exception::throw(
                exception::code::pack::MALFORMED,
                "these bytes were not made by Apus\\pack(), or by another version of it",
            ));
        }
        self.at = 1;
        if self.bytes.len() > f::LONGEST {
            return Err(self.malformed("it is too long"));
        }
        let value = self.value(None)?;
        if assemble::is_reference(&value) {
            return Err(self.malformed("a reference that nothing holds"));
        }
        if self.at == self.bytes.len() { Ok(value) } else { Err(self.malformed("bytes follow the value")) }
    }

    #[cold]
    fn malformed(&self, what: &str) -> Raise {
        let text = format!("no packed value: {what}, at byte {} of {}", self.at, self.bytes.len());
        exception::throw(exception::code::pack::MALFORMED, &text)
    }

    #[inline]
    fn take(&mut self, len: usize) -> Result<&'a [u8], Raise> {
        match self.bytes[self.at..].get(..len) {
            Some(found) => {
                self.at += len;
                Ok(found)
            }
            None => Err(self.malformed("it breaks off")),
        }
    }

    #[inline]
    fn byte(&mut self) -> Result<u8, Raise> {
        match self.bytes.get(self.at) {
            Some(found) => {
                self.at += 1;
                Ok(*found)
            }
            None => Err(self.malformed("it breaks off")),
        }
    }

    #[inline]
    fn fixed<const N: usize>(&mut self) -> Result<[u8; N], Raise> {
        let mut out = [0; N];
        out.copy_from_slice(self.take(N)?);
        Ok(out)
    }

    /// A count of things that take at least `each` bytes.
    fn count(&mut self, each: usize) -> Result<usize, Raise> {
        let mut count = 0usize;
        for shift in (0..35).step_by(7) {
            let byte = self.byte()?;
            count |= usize::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                let left = self.bytes.len() - self.at;
                return if count <= left / each.max(1) || each == 0 {
                    Ok(count)
                } else {
                    Err(self.malformed(&format!("a count of {count} with {left} bytes left")))
                };
            }
        }
        Err(self.malformed("a count of more than 5 bytes"))
    }

    /// A value by itself. A reference that waits for it is given objects before their contents, which may mention it.
    fn value(&mut self, waiting: Option<usize>) -> Result<Value, Raise> {
        let tag = self.byte()?;
        if let Some(plain) = self.plain(tag)? {
            return Ok(plain);
        }
        if is_text(tag) {
            return Ok(self.text(tag, false)?.into());
        }
        if is_array(tag) {
            self.build.begin();
            self.array(tag)?;
            let done = self.build.finish();
            return done.map_err(|failed| self.failed(failed));
        }
        self.node(tag, waiting)
    }

    /// A value that is no more than its tag and a number.
    #[inline]
    fn plain(&mut self, tag: u8) -> Result<Option<Value>, Raise> {
        Ok(Some(match tag {
            0..f::SMALL_INTS => Value::int(tag.into()),
            f::NULL => Value::null(),
            f::FALSE => Value::bool(false),
            f::TRUE => Value::bool(true),
            f::FLOAT | f::FLOAT_4 => Value::float(self.float(tag)?),
            f::INT_1..=f::INT_8 => Value::int(self.int(tag)?),
            _ => return Ok(None),
        }))
    }

    /// A value that has a number of its own, or is one that has.
    fn node(&mut self, tag: u8, waiting: Option<usize>) -> Result<Value, Raise> {
        match tag {
            f::REFERENCE => self.reference(),
            f::SAME => self.same(),
            f::NOTHING => {
                self.nodes.push(Node::Nothing);
                Ok(Value::null())
            }
            f::CASE => self.case(),
            f::WROTE => self.nested(|this| this.wrote(waiting)),
            f::OBJECT => self.nested(|this| this.object(waiting)),
            _ => Err(self.malformed(&format!("an unknown tag {tag:#04x}"))),
        }
    }

    /// The next value of an array that is being built.
    #[inline]
    fn element(&mut self) -> Result<(), Raise> {
        let tag = self.byte()?;
        let noted = match tag {
            0..f::SMALL_INTS => self.build.int(tag.into()),
            f::SHORT_TEXT..f::NEAR_TEXT => {
                let bytes = self.take(usize::from(tag - f::SHORT_TEXT))?;
                self.build.text(bytes, f::numbered(bytes.len()))
            }
            f::NEAR_TEXT..f::SHORT_LIST => self.build.again(usize::from(tag - f::NEAR_TEXT)),
            f::NULL => self.build.null(),
            f::FALSE | f::TRUE => self.build.bool(tag == f::TRUE),
            f::FLOAT | f::FLOAT_4 => {
                let value = self.float(tag)?;
                self.build.float(value)
            }
            f::INT_1..=f::INT_8 => {
                let value = self.int(tag)?;
                self.build.int(value)
            }
            f::TEXT_1..=f::AGAIN => match self.read_text(tag)? {
                Text::New(bytes) => self.build.text(bytes, f::numbered(bytes.len())),
                Text::Again(number) => self.build.again(number),
            },
            _ if is_array(tag) => return self.array(tag),
            _ => return self.node_inside(tag),
        };
        noted.map_err(|failed| self.failed(failed))
    }

    /// What PHP code may see while it is made comes after what stands before it.
    fn node_inside(&mut self, tag: u8) -> Result<(), Raise> {
        self.build.flush().map_err(|failed| self.failed(failed))?;
        let value = self.node(tag, None)?;
        self.build.put(value).map_err(|failed| self.failed(failed))
    }

    #[cold]
    fn failed(&self, failed: Failed) -> Raise {
        match failed {
            Failed::Twice => self.malformed("an array has a key twice"),
            Failed::Wrong => self.malformed("a string is mentioned before it came"),
            Failed::Raised(raise) => raise,
        }
    }

    fn nested(&mut self, body: impl FnOnce(&mut Self) -> Result<Value, Raise>) -> Result<Value, Raise> {
        self.deeper()?;
        if assemble::is_exhausted() {
            return Err(Raise::Thrown);
        }
        let value = body(self)?;
        self.depth -= 1;
        Ok(value)
    }

    #[inline]
    fn deeper(&mut self) -> Result<(), Raise> {
        self.depth += 1;
        if self.depth > f::DEPTH {
            return Err(self.malformed(&format!("arrays and objects more than {} deep", f::DEPTH)));
        }
        Ok(())
    }

    #[inline]
    fn int(&mut self, tag: u8) -> Result<i64, Raise> {
        Ok(match tag {
            f::INT_1 => i8::from_le_bytes(self.fixed()?).into(),
            f::INT_2 => i16::from_le_bytes(self.fixed()?).into(),
            f::INT_4 => i32::from_le_bytes(self.fixed()?).into(),
            _ => i64::from_le_bytes(self.fixed()?),
        })
    }

    #[inline]
    fn float(&mut self, tag: u8) -> Result<f64, Raise> {
        let eight = tag == f::FLOAT;
        Ok(if eight { f64::from_le_bytes(self.fixed()?) } else { f32::from_le_bytes(self.fixed()?).into() })
    }

    /// A string whose tag was read.
    #[inline]
    fn read_text(&mut self, tag: u8) -> Result<Text<'a>, Raise> {
        let len = match tag {
            f::SHORT_TEXT..f::NEAR_TEXT => usize::from(tag - f::SHORT_TEXT),
            f::NEAR_TEXT..f::SHORT_LIST => return self.again(usize::from(tag - f::NEAR_TEXT)),
            f::TEXT_1 => usize::from(self.byte()?),
            f::TEXT => self.count(1)?,
            f::AGAIN_1 => {
                let number = usize::from(self.byte()?) + usize::from(f::NEAR_TEXTS);
                return self.again(number);
            }
            _ => {
                let number = self.count(0)?;
                return self.again(number);
            }
        };
        self.take(len).map(Text::New)
    }

    #[inline]
    fn again(&self, number: usize) -> Result<Text<'a>, Raise> {
        if number < self.build.numbered() {
            Ok(Text::Again(number))
        } else {
            Err(self.malformed("a string is mentioned before it came"))
        }
    }

    /// A string by itself, whose tag was read; `name`: it serves as a key or a name.
    fn text(&mut self, tag: u8, name: bool) -> Result<PhpString, Raise> {
        let text = self.read_text(tag)?;
        self.string(&text, name)
    }

    fn string(&mut self, text: &Text<'a>, name: bool) -> Result<PhpString, Raise> {
        let bytes = match *text {
            Text::New(bytes) => bytes,
            Text::Again(number) => {
                let known = self.build.known(number);
                return known.ok_or_else(|| self.failed(Failed::Wrong));
            }
        };
        if assemble::is_exhausted() {
            return Err(Raise::Thrown);
        }
        let text = if name && bytes.len() > 1 { assemble::name(bytes)? } else { PhpString::new(bytes)? };
        if f::numbered(bytes.len()) {
            self.build.know(&text);
        }
        Ok(text)
    }

    /// A string where only a string may be.
    fn only_text(&mut self, name: bool) -> Result<PhpString, Raise> {
        let tag = self.byte()?;
        if is_text(tag) { self.text(tag, name) } else { Err(self.malformed("a string is missing")) }
    }

    fn key(&mut self) -> Result<Key<'a>, Raise> {
        let tag = self.byte()?;
        if tag < f::SMALL_INTS {
            return Ok(Key::Index(tag.into()));
        }
        match tag {
            _ if is_text(tag) => Ok(Key::Text(self.read_text(tag)?)),
            f::INT_1..=f::INT_8 => Ok(Key::Index(self.int(tag)?)),
            f::END => Ok(Key::End),
            _ => Err(self.malformed("a key is missing")),
        }
    }

    /// An array whose tag was read.
    fn array(&mut self, tag: u8) -> Result<(), Raise> {
        if (f::INTS_1..=f::FLOATS).contains(&tag) {
            return self.numbers(tag);
        }
        let (list, count) = match tag {
            f::SHORT_LIST..f::SHORT_MAP => (true, usize::from(tag - f::SHORT_LIST)),
            f::SHORT_MAP..f::NULL => (false, usize::from(tag - f::SHORT_MAP)),
            f::LIST => (true, self.count(1)?),
            _ => (false, self.count(2)?),
        };
        let least = if list { count } else { count * 2 };
        if least > self.bytes.len() - self.at {
            return Err(self.malformed(if list { "a list breaks off" } else { "an array breaks off" }));
        }
        self.deeper()?;
        self.build.array(list, count as u32).map_err(|failed| self.failed(failed))?;
        for _ in 0..count {
            if !list {
                self.element_key()?;
            }
            self.element()?;
        }
        self.depth -= 1;
        Ok(())
    }

    /// The next key of a map that is being built.
    #[inline]
    fn element_key(&mut self) -> Result<(), Raise> {
        let noted = match self.bytes.get(self.at) {
            Some(&tag @ f::NEAR_TEXT..f::SHORT_LIST) => {
                self.at += 1;
                self.build.key_again(usize::from(tag - f::NEAR_TEXT))
            }
            Some(&tag @ f::SHORT_TEXT..f::NEAR_TEXT) => {
                self.at += 1;
                let bytes = self.take(usize::from(tag - f::SHORT_TEXT))?;
                self.build.key_text(bytes, f::numbered(bytes.len()))
            }
            _ => {
                let key = self.key()?;
                return self.note_key(&key);
            }
        };
        noted.map_err(|failed| self.failed(failed))
    }

    fn note_key(&mut self, key: &Key<'a>) -> Result<(), Raise> {
        let noted = match *key {
            Key::Text(Text::New(bytes)) => self.build.key_text(bytes, f::numbered(bytes.len())),
            Key::Text(Text::Again(number)) => self.build.key_again(number),
            Key::Index(index) => self.build.key_index(index),
            Key::End => return Err(self.malformed("a key is missing")),
        };
        noted.map_err(|failed| self.failed(failed))
    }

    fn numbers(&mut self, tag: u8) -> Result<(), Raise> {
        let (of, width) = match tag {
            f::INTS_1 => (Numbers::Ints1, 1),
            f::INTS_2 => (Numbers::Ints2, 2),
            f::INTS_4 => (Numbers::Ints4, 4),
            f::INTS_8 => (Numbers::Ints8, 8),
            _ => (Numbers::Floats, 8),
        };
        let count = self.count(width)?;
        let bytes = self.take(count * width)?;
        let noted = self.build.numbers(of, bytes);
        noted.map_err(|failed| self.failed(failed))
    }

    fn reference(&mut self) -> Result<Value, Raise> {
        let number = self.nodes.len();
        let reference = Reference::new()?;
        let value = reference.share();
        self.nodes.push(Node::Reference(reference));
        // A typed property inside may refer to this before it is whole: it then sees a value of the right type.
        let array = self.bytes.get(self.at).is_some_and(|tag| is_array(*tag));
        if array {
            self.refer(number, apus_zend::Array::new(0)?.into());
        }
        let target = self.nested(|this| this.value(Some(number)))?;
        if assemble::is_reference(&target) {
            return Err(self.malformed("a reference to a reference"));
        }
        self.refer(number, target);
        Ok(value)
    }

    fn refer(&self, number: usize, target: Value) {
        if let Some(Node::Reference(reference)) = self.nodes.get(number) {
            reference.set(target);
        }
    }

    fn same(&mut self) -> Result<Value, Raise> {
        let number = self.count(0)?;
        match self.nodes.get(number) {
            Some(Node::Object(object)) => Ok(object.share()),
            Some(Node::Reference(reference)) => Ok(reference.share()),
            Some(Node::Nothing) => Ok(Value::null()),
            None => Err(self.malformed("an object is mentioned before it came")),
        }
    }

    fn case(&mut self) -> Result<Value, Raise> {
        let (class, name) = (self.only_text(true)?, self.only_text(true)?);
        let what = || format!("{}::{}", class.to_text(), name.to_text());
        if !self.allows(&class) {
            return Err(exception::throw(
                exception::code::pack::MISMATCH,
                &format!("{} is of a class that is not allowed", what()),
            ));
        }
        let Some(case) = assemble::case(&class, &name)? else {
            return Err(exception::throw(exception::code::pack::MISMATCH, &format!("there is no case {}", what())));
        };
        self.nodes.push(Node::Object(case.share()));
        Ok(case)
    }

    fn allows(&self, class: &PhpString) -> bool {
        match self.allowed {
            Allowed::All => true,
            Allowed::Only(names) => names.contains(&class.as_bytes().to_ascii_lowercase()),
        }
    }

    /// Numbers an object, and gives it to the reference that waits for it.
    fn number(&mut self, object: &Value, waiting: Option<usize>) {
        self.nodes.push(Node::Object(object.share()));
        if let Some(number) = waiting {
            self.refer(number, object.share());
        }
    }

    fn wrote(&mut self, waiting: Option<usize>) -> Result<Value, Raise> {
        let class = self.only_text(true)?;
        let mut made = assemble::object(&class, self.allows(&class))?;
        let text = self.only_text(false)?;
        if !made.serialized {
            let text = format!("{} has no unserialize() for what its serialize() wrote", class.to_text());
            return Err(exception::throw(exception::code::pack::MISMATCH, &text));
        }
        made.read(text.as_bytes())?;
        self.number(&made.object, waiting);
        Ok(made.object)
    }

    fn object(&mut self, waiting: Option<usize>) -> Result<Value, Raise> {
        let class = self.only_text(true)?;
        let made = assemble::object(&class, self.allows(&class))?;
        if made.serialized {
            let text = format!("{} is Serializable, and was packed before it was", class.to_text());
            return Err(exception::throw(exception::code::pack::MISMATCH, &text));
        }
        self.number(&made.object, waiting);
        let data = if made.unserialize { Some(self.contents()?) } else { None };
        if data.is_none() {
            self.properties(&made)?;
        }
        if made.unserialize || made.wakeup {
            self.calls.push(Call { object: made.object.share(), data });
        }
        Ok(made.object)
    }

    fn properties(&mut self, made: &Made) -> Result<(), Raise> {
        loop {
            let name = match self.key()? {
                Key::Text(text) => self.string(&text, true)?,
                Key::Index(index) => PhpString::new(index.to_string().as_bytes())?,
                Key::End => return Ok(()),
            };
            let value = self.value(None)?;
            made.set(&name, value)?;
        }
    }

    /// What `__unserialize()` gets.
    fn contents(&mut self) -> Result<Value, Raise> {
        self.build.begin();
        self.build.table().map_err(|failed| self.failed(failed))?;
        loop {
            match self.key()? {
                Key::End => break,
                key => self.note_key(&key)?,
            }
            self.element()?;
        }
        let done = self.build.end().and_then(|()| self.build.finish());
        done.map_err(|failed| self.failed(failed))
    }

    /// Calls what objects want called, in the order of their ends.
    fn finish(mut self) -> Result<(), Raise> {
        let mut calls = std::mem::take(&mut self.calls).into_iter();
        let mut failed = None;
        for call in calls.by_ref() {
            if let Err(raise) = assemble::finish(&call.object, call.data.as_ref()) {
                assemble::spoil(&call.object);
                failed = Some(raise);
                break;
            }
        }
        for call in calls {
            assemble::spoil(&call.object);
        }
        failed.map_or(Ok(()), Err)
    }

    /// No destructor is to see an object that was not finished.
    fn spoil(&self) {
        for node in &self.nodes {
            if let Node::Object(object) = node {
                assemble::spoil(object);
            }
        }
    }
}

#[inline]
fn is_text(tag: u8) -> bool {
    (f::SHORT_TEXT..f::SHORT_LIST).contains(&tag) || (f::TEXT_1..=f::AGAIN).contains(&tag)
}

#[inline]
fn is_array(tag: u8) -> bool {
    (f::SHORT_LIST..f::NULL).contains(&tag) || (f::LIST..=f::FLOATS).contains(&tag)
}
