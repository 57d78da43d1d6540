//! Bytes into a value. They may come from anywhere: every count is compared with the bytes that are left before
//! anything is made.

use std::collections::HashSet;

use apus_zend::assemble::{self, ListBuilder, Made, MapBuilder, Reference};
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
    let mut decoder =
        Decoder { bytes, at: 0, allowed, texts: Vec::new(), nodes: Vec::new(), calls: Vec::new(), depth: 0, made: 0 };
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
    texts: Vec<PhpString>,
    nodes: Vec<Node>,
    calls: Vec<Call>,
    depth: usize,
    /// Strings made since the memory limit was looked at.
    made: u8,
}

/// A key or a name.
enum Key {
    Text(PhpString),
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

    /// A value. A reference that waits for it is given objects before their contents, which may mention it.
    fn value(&mut self, waiting: Option<usize>) -> Result<Value, Raise> {
        let tag = self.byte()?;
        if tag < f::SMALL_INTS {
            return Ok(Value::int(tag.into()));
        }
        if is_text(tag) {
            return Ok(self.text(tag, false)?.into());
        }
        match tag {
            f::NULL => Ok(Value::null()),
            f::FALSE => Ok(Value::bool(false)),
            f::TRUE => Ok(Value::bool(true)),
            f::FLOAT => Ok(Value::float(f64::from_le_bytes(self.fixed()?))),
            f::FLOAT_4 => Ok(Value::float(f32::from_le_bytes(self.fixed()?).into())),
            f::INT_1..=f::INT_8 => self.int(tag).map(Value::int),
            f::INTS_1..=f::INTS_8 | f::FLOATS => self.numbers(tag),
            f::REFERENCE => self.reference(),
            f::SAME => self.same(),
            f::NOTHING => {
                self.nodes.push(Node::Nothing);
                Ok(Value::null())
            }
            f::CASE => self.case(),
            f::WROTE => self.nested(|this| this.wrote(waiting)),
            f::OBJECT => self.nested(|this| this.object(waiting)),
            _ => self.nested(|this| this.array(tag)),
        }
    }

    fn nested(&mut self, body: impl FnOnce(&mut Self) -> Result<Value, Raise>) -> Result<Value, Raise> {
        self.depth += 1;
        if assemble::is_exhausted() {
            return Err(Raise::Thrown);
        }
        if self.depth > f::DEPTH {
            return Err(self.malformed(&format!("arrays and objects more than {} deep", f::DEPTH)));
        }
        let value = body(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn int(&mut self, tag: u8) -> Result<i64, Raise> {
        Ok(match tag {
            f::INT_1 => i8::from_le_bytes(self.fixed()?).into(),
            f::INT_2 => i16::from_le_bytes(self.fixed()?).into(),
            f::INT_4 => i32::from_le_bytes(self.fixed()?).into(),
            _ => i64::from_le_bytes(self.fixed()?),
        })
    }

    /// A string whose tag was read; `name`: it serves as a key or a name.
    fn text(&mut self, tag: u8, name: bool) -> Result<PhpString, Raise> {
        let number = match tag {
            f::NEAR_TEXT..f::SHORT_LIST => usize::from(tag - f::NEAR_TEXT),
            f::AGAIN_1 => usize::from(self.byte()?) + usize::from(f::NEAR_TEXTS),
            f::AGAIN => self.count(0)?,
            _ => return self.new_text(tag, name),
        };
        match self.texts.get(number) {
            Some(text) => Ok(text.share()),
            None => Err(self.malformed("a string is mentioned before it came")),
        }
    }

    fn new_text(&mut self, tag: u8, name: bool) -> Result<PhpString, Raise> {
        let len = match tag {
            f::TEXT_1 => usize::from(self.byte()?),
            f::TEXT => self.count(1)?,
            _ => usize::from(tag - f::SHORT_TEXT),
        };
        let bytes = self.take(len)?;
        self.made = self.made.wrapping_add(1);
        if self.made == 0 && assemble::is_exhausted() {
            return Err(Raise::Thrown);
        }
        let text = if name && len > 1 { assemble::name(bytes)? } else { PhpString::new(bytes)? };
        if f::numbered(len) {
            self.texts.push(text.share());
        }
        Ok(text)
    }

    /// A string where only a string may be.
    fn only_text(&mut self, name: bool) -> Result<PhpString, Raise> {
        let tag = self.byte()?;
        if is_text(tag) { self.text(tag, name) } else { Err(self.malformed("a string is missing")) }
    }

    #[inline]
    fn key(&mut self) -> Result<Key, Raise> {
        let tag = self.byte()?;
        if tag < f::SMALL_INTS {
            return Ok(Key::Index(tag.into()));
        }
        match tag {
            _ if is_text(tag) => Ok(Key::Text(self.text(tag, true)?)),
            f::INT_1..=f::INT_8 => Ok(Key::Index(self.int(tag)?)),
            f::END => Ok(Key::End),
            _ => Err(self.malformed("a key is missing")),
        }
    }

    fn array(&mut self, tag: u8) -> Result<Value, Raise> {
        match tag {
            f::SHORT_LIST..f::SHORT_MAP => self.list(usize::from(tag - f::SHORT_LIST)),
            f::SHORT_MAP..f::NULL => self.map(usize::from(tag - f::SHORT_MAP)),
            f::LIST => {
                let count = self.count(1)?;
                self.list(count)
            }
            f::MAP => {
                let count = self.count(2)?;
                self.map(count)
            }
            _ => Err(self.malformed(&format!("an unknown tag {tag:#04x}"))),
        }
    }

    fn list(&mut self, count: usize) -> Result<Value, Raise> {
        if count == 0 {
            return apus_zend::Array::new(0).map(Value::from);
        }
        if count > self.bytes.len() - self.at {
            return Err(self.malformed("a list breaks off"));
        }
        let mut list = ListBuilder::new(count as u32)?;
        for _ in 0..count {
            list.push(self.value(None)?);
        }
        Ok(list.finish())
    }

    fn map(&mut self, count: usize) -> Result<Value, Raise> {
        if count * 2 > self.bytes.len() - self.at {
            return Err(self.malformed("an array breaks off"));
        }
        let mut map = MapBuilder::new(count as u32)?;
        for _ in 0..count {
            let key = self.key()?;
            let value = self.value(None)?;
            let added = match key {
                Key::Text(text) => map.add_text(&text, value),
                Key::Index(index) => map.add_index(index, value),
                Key::End => return Err(self.malformed("a key is missing")),
            };
            if !added {
                return Err(self.malformed("an array has a key twice"));
            }
        }
        Ok(map.finish())
    }

    fn numbers(&mut self, tag: u8) -> Result<Value, Raise> {
        let width = match tag {
            f::INTS_1 => 1,
            f::INTS_2 => 2,
            f::INTS_4 => 4,
            _ => 8,
        };
        let count = self.count(width)?;
        let bytes = self.take(count * width)?;
        let mut list = ListBuilder::new(count as u32)?;
        match tag {
            f::INTS_1 => list.extend(fixed(bytes, |number| Value::int(i8::from_le_bytes(number).into()))),
            f::INTS_2 => list.extend(fixed(bytes, |number| Value::int(i16::from_le_bytes(number).into()))),
            f::INTS_4 => list.extend(fixed(bytes, |number| Value::int(i32::from_le_bytes(number).into()))),
            f::INTS_8 => list.extend(fixed(bytes, |number| Value::int(i64::from_le_bytes(number)))),
            _ => list.extend(fixed(bytes, |number| Value::float(f64::from_le_bytes(number)))),
        }
        Ok(list.finish())
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
                Key::Text(text) => text,
                Key::Index(index) => PhpString::new(index.to_string().as_bytes())?,
                Key::End => return Ok(()),
            };
            let value = self.value(None)?;
            made.set(&name, value)?;
        }
    }

    /// What `__unserialize()` gets.
    fn contents(&mut self) -> Result<Value, Raise> {
        let mut pairs = Vec::new();
        loop {
            match self.key()? {
                Key::End => break,
                key => pairs.push((key, self.value(None)?)),
            }
        }
        let mut map = MapBuilder::new(pairs.len() as u32)?;
        for (key, value) in pairs {
            let added = match key {
                Key::Text(text) => map.add_text(&text, value),
                Key::Index(index) => map.add_index(index, value),
                Key::End => true,
            };
            if !added {
                return Err(self.malformed("an object has a key twice"));
            }
        }
        Ok(map.finish())
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

/// Numbers of `N` bytes each.
#[inline]
fn fixed<const N: usize>(bytes: &[u8], value: impl Fn([u8; N]) -> Value) -> impl Iterator<Item = Value> {
    bytes.as_chunks::<N>().0.iter().map(move |number| value(*number))
}

#[inline]
fn is_text(tag: u8) -> bool {
    (f::SHORT_TEXT..f::SHORT_LIST).contains(&tag) || (f::TEXT_1..=f::AGAIN).contains(&tag)
}

fn is_array(tag: u8) -> bool {
    (f::SHORT_LIST..f::NULL).contains(&tag) || (f::LIST..=f::FLOATS).contains(&tag)
}
