//! A value into bytes.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use apus_zend::graph::{self, Elements, Form, Identity, Item, KeyText, Node, Plain, Text};
use apus_zend::value::PhpString;
use apus_zend::{Raise, Value};

use super::format::{self as f, put_count};
use super::texts::Texts;
use crate::exception::{self};

/// Lists of at least so many numbers are written without a tag for each.
const WORTH_A_LIST: usize = 4;

/// Appends `value`.
pub(super) fn encode(value: &Value, into: &mut Vec<u8>) -> Result<(), Raise> {
    into.push(f::VERSION);
    let begin = into.len() - 1;
    let mut encoder = Encoder {
        begin,
        into,
        texts: Texts::take(begin),
        nodes: HashMap::default(),
        plain: None,
        held: Vec::new(),
        depth: 0,
    };
    let done = encoder.item(Item::of(value).target());
    encoder.texts.give_back();
    done
}

/// Hashes an address: nobody outside chooses it.
#[derive(Default)]
struct Address(u64);

impl Hasher for Address {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_usize((*byte).into());
        }
    }

    fn write_usize(&mut self, value: usize) {
        let mixed = (self.0 ^ value as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 32);
    }
}

struct Encoder<'a> {
    into: &'a mut Vec<u8>,
    /// Where this value's bytes begin.
    begin: usize,
    texts: Texts,
    /// Objects and references that were written, by identity.
    nodes: HashMap<Identity, usize, BuildHasherDefault<Address>>,
    /// The class of the last object that was all declared properties.
    plain: Option<Plain>,
    /// The same, held: an address means one thing as long as its owner lives.
    held: Vec<Value>,
    depth: usize,
}

impl Encoder<'_> {
    fn item(&mut self, item: Item<'_>) -> Result<(), Raise> {
        match item.node() {
            Node::Null => self.into.push(f::NULL),
            Node::Bool(value) => self.into.push(if value { f::TRUE } else { f::FALSE }),
            Node::Int(value) => self.int(value),
            Node::Float(value) => self.float(value),
            Node::Text(text) => return self.text(text),
            Node::Array => {
                let held = item.hold();
                return self.array(Item::of(&held).elements());
            }
            Node::Object(identity) => return self.object(identity, item),
            Node::Reference(identity) => return self.reference(identity, item),
            Node::Resource => {
                return Err(refuse(
                    exception::code::pack::UNSUPPORTED,
                    "a resource cannot be packed: it means something in its own process alone",
                ));
            }
        }
        Ok(())
    }

    fn int(&mut self, value: i64) {
        if (0..i64::from(f::SMALL_INTS)).contains(&value) {
            self.into.push(value as u8);
        } else if let Ok(small) = i8::try_from(value) {
            self.into.extend([f::INT_1, small as u8]);
        } else if let Ok(small) = i16::try_from(value) {
            self.into.push(f::INT_2);
            self.into.extend(small.to_le_bytes());
        } else if let Ok(small) = i32::try_from(value) {
            self.into.push(f::INT_4);
            self.into.extend(small.to_le_bytes());
        } else {
            self.into.push(f::INT_8);
            self.into.extend(value.to_le_bytes());
        }
    }

    fn float(&mut self, value: f64) {
        let short = value as f32;
        if f64::from(short).to_bits() == value.to_bits() {
            self.into.push(f::FLOAT_4);
            self.into.extend(short.to_le_bytes());
        } else {
            self.into.push(f::FLOAT);
            self.into.extend(value.to_le_bytes());
        }
    }

    #[inline]
    fn text(&mut self, text: Text<'_>) -> Result<(), Raise> {
        let bytes = text.bytes();
        if f::numbered(bytes.len())
            && let Some(number) = self.texts.number(self.into, text.hash(), bytes, f::SHORT_TEXTS)
        {
            if number < usize::from(f::NEAR_TEXTS) {
                self.into.push(f::NEAR_TEXT + number as u8);
            } else if let Ok(near) = u8::try_from(number - usize::from(f::NEAR_TEXTS)) {
                self.into.extend([f::AGAIN_1, near]);
            } else {
                self.into.push(f::AGAIN);
                put_count(self.into, number);
            }
            return Ok(());
        }
        if bytes.len() < usize::from(f::SHORT_TEXTS) {
            self.into.push(f::SHORT_TEXT + bytes.len() as u8);
        } else if let Ok(len) = u8::try_from(bytes.len()) {
            self.into.extend([f::TEXT_1, len]);
        } else {
            self.room(bytes.len())?;
            self.into.push(f::TEXT);
            put_count(self.into, bytes.len());
        }
        self.into.extend_from_slice(bytes);
        Ok(())
    }

    /// Throws when `more` bytes would be too many.
    fn room(&self, more: usize) -> Result<(), Raise> {
        if self.into.len() - self.begin + more <= f::LONGEST {
            return Ok(());
        }
        Err(refuse(
            exception::code::pack::TOO_LARGE,
            &format!("the packed value would be longer than {} bytes", f::LONGEST),
        ))
    }

    fn deeper(&mut self) -> Result<(), Raise> {
        self.room(0)?;
        self.depth += 1;
        if self.depth <= f::DEPTH {
            return Ok(());
        }
        let text = format!("arrays and objects lie more than {} deep inside each other", f::DEPTH);
        Err(refuse(exception::code::pack::DEPTH, &text))
    }

    fn array(&mut self, elements: Elements<'_>) -> Result<(), Raise> {
        self.deeper()?;
        let count = elements.length();
        let list = elements.is_list();
        if list && count >= WORTH_A_LIST && (self.ints(&elements) || self.floats(&elements)) {
            self.depth -= 1;
            return Ok(());
        }
        let (short, long) = if list { (f::SHORT_LIST, f::LIST) } else { (f::SHORT_MAP, f::MAP) };
        if count < usize::from(f::SHORT_ARRAYS) {
            self.into.push(short + count as u8);
        } else {
            self.into.push(long);
            put_count(self.into, count);
        }
        if list {
            for (_, item) in elements {
                self.item(item)?;
            }
        } else {
            self.pairs(elements)?;
        }
        self.depth -= 1;
        Ok(())
    }

    fn pairs(&mut self, elements: Elements<'_>) -> Result<(), Raise> {
        for (key, item) in elements {
            match key {
                KeyText::Text(text) => self.text(text)?,
                KeyText::Index(index) => self.int(index),
            }
            self.item(item)?;
        }
        Ok(())
    }

    fn ints(&mut self, elements: &Elements<'_>) -> bool {
        let Some(ints) = elements.ints() else { return false };
        let (mut low, mut high) = (0, 0);
        for value in ints {
            (low, high) = (value.min(low), value.max(high));
        }
        let fits = |least: i64, most: i64| low >= least && high <= most;
        let (tag, width) = if fits(i8::MIN.into(), i8::MAX.into()) {
            (f::INTS_1, 1)
        } else if fits(i16::MIN.into(), i16::MAX.into()) {
            (f::INTS_2, 2)
        } else if fits(i32::MIN.into(), i32::MAX.into()) {
            (f::INTS_4, 4)
        } else {
            (f::INTS_8, 8)
        };
        self.into.push(tag);
        put_count(self.into, elements.length());
        self.into.reserve(elements.length() * width);
        for value in elements.ints().into_iter().flatten() {
            self.into.extend_from_slice(&value.to_le_bytes()[..width]);
        }
        true
    }

    fn floats(&mut self, elements: &Elements<'_>) -> bool {
        let Some(floats) = elements.floats() else { return false };
        self.into.push(f::FLOATS);
        put_count(self.into, elements.length());
        self.into.reserve(elements.length() * 8);
        for value in floats {
            self.into.extend_from_slice(&value.to_le_bytes());
        }
        true
    }

    /// Whether it was written before: then its number is. Else it has one now.
    fn seen(&mut self, identity: Identity, item: Item<'_>) -> bool {
        if let Some(number) = self.nodes.get(&identity) {
            self.into.push(f::SAME);
            put_count(self.into, *number);
            return true;
        }
        self.nodes.insert(identity, self.held.len());
        self.held.push(item.hold());
        false
    }

    fn reference(&mut self, identity: Identity, item: Item<'_>) -> Result<(), Raise> {
        if self.seen(identity, item) {
            return Ok(());
        }
        let held = item.hold();
        self.deeper()?;
        self.into.push(f::REFERENCE);
        self.item(Item::of(&held).target())?;
        self.depth -= 1;
        Ok(())
    }

    fn object(&mut self, identity: Identity, item: Item<'_>) -> Result<(), Raise> {
        if self.seen(identity, item) {
            return Ok(());
        }
        self.deeper()?;
        let object = item.hold();
        if let Some(plain) = self.plain.filter(|plain| plain.is_of(&object)) {
            self.into.push(f::OBJECT);
            self.text(plain.name(&object))?;
            self.slots(&object)?;
            self.depth -= 1;
            return Ok(());
        }
        let (form, class) = graph::describe(&object)?;
        match form {
            Form::Slots(plain) => {
                self.plain = Some(plain);
                self.named(f::OBJECT, &class)?;
                self.slots(&object)?;
            }
            Form::Table(table) => {
                self.named(f::OBJECT, &class)?;
                self.pairs(Item::of(&table).elements())?;
                self.into.push(f::END);
            }
            Form::Text(text) => {
                self.named(f::WROTE, &class)?;
                self.text(Text::of(&text))?;
            }
            Form::Case(name) => {
                self.named(f::CASE, &class)?;
                self.text(Text::of(&name))?;
            }
            Form::Null => self.into.push(f::NOTHING),
        }
        self.depth -= 1;
        Ok(())
    }

    fn slots(&mut self, object: &Value) -> Result<(), Raise> {
        for (name, item) in graph::slots(object) {
            self.text(name)?;
            self.item(item)?;
        }
        self.into.push(f::END);
        Ok(())
    }

    fn named(&mut self, tag: u8, class: &PhpString) -> Result<(), Raise> {
        self.into.push(tag);
        self.text(Text::of(class))
    }
}

fn refuse(code: exception::Code, message: &str) -> Raise {
    exception::throw(code, message)
}
