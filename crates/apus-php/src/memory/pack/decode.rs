//! Bytes into a value. They may come from anywhere. Scalars, strings and arrays are the [`Reader`]'s; here is what has
//! a number of its own or runs PHP code.

use std::collections::HashSet;

use apus_zend::assemble::{self, Reference};
use apus_zend::reader::{Failed, Read, Reader};
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
    let [f::VERSION, packed @ ..] = bytes else {
        return Err(exception::throw(
            exception::code::pack::MALFORMED,
            "these bytes were not made by Apus\\pack(), or by another version of it",
        ));
    };
    let mut reader = Reader::new(packed);
    if bytes.len() > f::LONGEST {
        return Err(malformed(&reader, bytes.len(), "it is too long"));
    }
    let read = reader.value();
    if matches!(read, Ok(Read::Whole)) && reader.rest().is_empty() {
        return Ok(reader.end());
    }
    others(Decoder { len: bytes.len(), reader, allowed, nodes: Vec::new(), calls: Vec::new() }, read)
}

/// A value that has more than scalars, strings and arrays in it, or that has failed.
fn others(mut decoder: Decoder<'_>, read: Result<Read, Failed>) -> Result<Value, Raise> {
    let done = decoder.whole(read);
    if done.is_err() {
        decoder.spoil();
    }
    let value = done?;
    decoder.finish()?;
    Ok(value)
}

#[cold]
fn malformed(reader: &Reader<'_>, len: usize, what: &str) -> Raise {
    let at = len - reader.rest().len();
    exception::throw(exception::code::pack::MALFORMED, &format!("no packed value: {what}, at byte {at} of {len}"))
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
    len: usize,
    reader: Reader<'a>,
    allowed: &'a Allowed,
    nodes: Vec<Node>,
    calls: Vec<Call>,
}

impl Decoder<'_> {
    /// The whole value, whose reading came that far.
    fn whole(&mut self, read: Result<Read, Failed>) -> Result<Value, Raise> {
        let value = self.fill(read)?;
        if assemble::is_reference(&value) {
            return Err(self.malformed("a reference that nothing holds"));
        }
        if self.reader.rest().is_empty() { Ok(value) } else { Err(self.malformed("bytes follow the value")) }
    }

    #[cold]
    fn malformed(&self, what: &str) -> Raise {
        malformed(&self.reader, self.len, what)
    }

    #[cold]
    fn failed(&self, failed: Failed) -> Raise {
        self.malformed(match failed {
            Failed::Short => "it breaks off",
            Failed::Count(count) => {
                return self.malformed(&format!("a count of {count} with {} bytes left", self.reader.rest().len()));
            }
            Failed::LongCount => "a count of more than 5 bytes",
            Failed::Again => "a string is mentioned before it came",
            Failed::NoKey => "a key is missing",
            Failed::NoText => "a string is missing",
            Failed::Twice => "an array has a key twice",
            Failed::Deep => return self.malformed(&format!("arrays and objects more than {} deep", f::DEPTH)),
            Failed::Raised(raise) => return raise,
        })
    }

    fn byte(&mut self) -> Result<u8, Raise> {
        let found = *self.reader.rest().first().ok_or_else(|| self.failed(Failed::Short))?;
        self.reader.skip();
        Ok(found)
    }

    /// The number of something that came before.
    fn number_before(&mut self) -> Result<usize, Raise> {
        let mut number = 0;
        for shift in (0..35).step_by(7) {
            let byte = self.byte()?;
            number |= usize::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(self.failed(Failed::LongCount))
    }

    /// A string where only a string may be; `name`: one that PHP may have already.
    fn text(&mut self, name: bool) -> Result<PhpString, Raise> {
        self.reader.text(name).map_err(|failed| self.failed(failed))
    }

    /// A value by itself. A reference that waits for it is given objects before their contents, which may mention it.
    fn value(&mut self, waiting: Option<usize>) -> Result<Value, Raise> {
        if self.reader.rest().first().is_some_and(|tag| *tag >= f::OBJECT) {
            return self.node(waiting);
        }
        let read = self.reader.value();
        self.fill(read)
    }

    /// The rest of what the reader has begun, and where it came that far.
    fn fill(&mut self, mut read: Result<Read, Failed>) -> Result<Value, Raise> {
        loop {
            match read {
                Ok(Read::Whole) => return Ok(self.reader.end()),
                Ok(Read::Other) => {
                    let value = self.node(None)?;
                    self.reader.put(value);
                }
                Err(failed) => return Err(self.failed(failed)),
            }
            read = self.reader.read();
        }
    }

    /// A value that has a number of its own, or is one that has.
    fn node(&mut self, waiting: Option<usize>) -> Result<Value, Raise> {
        self.reader.expect_code();
        match self.byte()? {
            f::REFERENCE => self.reference(),
            f::SAME => self.same(),
            f::NOTHING => {
                self.nodes.push(Node::Nothing);
                Ok(Value::null())
            }
            f::CASE => self.case(),
            f::WROTE => self.nested(|this| this.wrote(waiting)),
            f::OBJECT => self.nested(|this| this.object(waiting)),
            tag => Err(self.malformed(&format!("an unknown tag {tag:#04x}"))),
        }
    }

    fn nested(&mut self, body: impl FnOnce(&mut Self) -> Result<Value, Raise>) -> Result<Value, Raise> {
        self.reader.enter().map_err(|failed| self.failed(failed))?;
        if assemble::is_exhausted() {
            return Err(Raise::Thrown);
        }
        let value = body(self)?;
        self.reader.leave();
        Ok(value)
    }

    fn reference(&mut self) -> Result<Value, Raise> {
        let number = self.nodes.len();
        let reference = Reference::new()?;
        let value = reference.share();
        self.nodes.push(Node::Reference(reference));
        // A typed property inside may refer to this before it is whole: it then sees a value of the right type.
        let array = self.reader.rest().first().is_some_and(|tag| is_array(*tag));
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
        let number = self.number_before()?;
        match self.nodes.get(number) {
            Some(Node::Object(object)) => Ok(object.share()),
            Some(Node::Reference(reference)) => Ok(reference.share()),
            Some(Node::Nothing) => Ok(Value::null()),
            None => Err(self.malformed("an object is mentioned before it came")),
        }
    }

    fn case(&mut self) -> Result<Value, Raise> {
        let (class, name) = (self.text(true)?, self.text(true)?);
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
        let class = self.text(true)?;
        let mut made = assemble::object(&class, self.allows(&class))?;
        let text = self.text(false)?;
        if !made.serialized {
            let text = format!("{} has no unserialize() for what its serialize() wrote", class.to_text());
            return Err(exception::throw(exception::code::pack::MISMATCH, &text));
        }
        made.read(text.as_bytes())?;
        self.number(&made.object, waiting);
        Ok(made.object)
    }

    fn object(&mut self, waiting: Option<usize>) -> Result<Value, Raise> {
        let class = self.text(true)?;
        let made = assemble::object(&class, self.allows(&class))?;
        if made.serialized {
            let text = format!("{} is Serializable, and was packed before it was", class.to_text());
            return Err(exception::throw(exception::code::pack::MISMATCH, &text));
        }
        self.number(&made.object, waiting);
        let data = if made.unserialize { Some(self.contents()?) } else { None };
        if data.is_none() {
            let read = self.reader.properties(&made);
            self.fill(read)?;
        }
        if made.unserialize || made.wakeup {
            self.calls.push(Call { object: made.object.share(), data });
        }
        Ok(made.object)
    }

    /// What `__unserialize()` gets.
    fn contents(&mut self) -> Result<Value, Raise> {
        let read = self.reader.table();
        self.fill(read)
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
fn is_array(tag: u8) -> bool {
    (f::SHORT_LIST..f::NULL).contains(&tag) || (f::LIST..=f::FLOATS).contains(&tag)
}
