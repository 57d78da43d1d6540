//! Second declarations: the same class under another name, with other parameters, defaults and ways to fail.
//!
//! They stand in `NAME.second.stub.php` beside the `NAME.stub.php` of the first ones. A class there names its first by
//! `@rust second Full\\Name`; its methods are those of the first with the same names, or what `@rust PATH` names.
//! Parameters fit by their places; those that only the first has keep their defaults there.

use crate::model::{Class, File, Function, Member, Param};
use crate::names::{path, static_name};
use crate::parse::Error;

/// A second declaration, with all that the first gives it.
pub(crate) struct Second {
    /// The full name of the first.
    pub(crate) of: String,
    /// The class to emit.
    pub(crate) class: Member<Class>,
}

/// The classes of a file of second declarations.
pub(crate) fn resolve(first: &File, file: &File) -> Result<Vec<Second>, Error> {
    if let Some(line) = file.functions.first().map(|it| it.line).or(file.constants.first().map(|it| it.line)) {
        return Err(Error { line, text: "only classes are declared a second time".to_owned() });
    }
    file.classes.iter().map(|class| second(first, class.clone())).collect()
}

fn second(first: &File, mut class: Member<Class>) -> Result<Second, Error> {
    let fail = |text: String| Error { line: class.line, text };
    let of =
        class.doc.rust("second").ok_or_else(|| fail("@rust second NAME must tell which class it is".to_owned()))?;
    let of = of.to_owned();
    let one = first.classes.iter().find(|one| one.full(&one.item.name) == of);
    let one = one.ok_or_else(|| fail(format!("there is no class {of} in the file beside this one")))?;
    same_places(one, &class)?;
    let around = |word: &str| class.doc.rust(word).map(|around| format!("within {around}"));
    let (within, made) = (around("within"), around("made"));
    for method in &mut class.item.methods {
        let made = made.as_deref().filter(|_| method.item.name == "__construct");
        implement(one, method, made.or(within.as_deref()))?;
    }
    // What the objects are made of is the first's.
    class.doc.rust.retain(|line| !line.starts_with("static "));
    class.doc.rust.push(format!("static SECOND_{}", static_name(one)));
    for word in ["plain", "native", "lazy"] {
        class.doc.rust.extend(one.doc.rust(word).map(|rest| format!("{word} {rest}").trim_end().to_owned()));
    }
    if one.item.methods.is_empty() && one.doc.rust("native").is_none() {
        class.doc.rust.push("plain".to_owned());
    }
    Ok(Second { of, class })
}

/// The implementation writes properties by their places.
fn same_places(one: &Member<Class>, class: &Member<Class>) -> Result<(), Error> {
    for (at, property) in one.item.properties.iter().enumerate() {
        let name = &property.item.name;
        let own = class.item.properties.get(at);
        if own.is_none_or(|own| own.item.name != *name) {
            let line = own.map_or(class.line, |own| own.line);
            return Err(Error { line, text: format!("property {at} must be ${name}, as in the first declaration") });
        }
    }
    Ok(())
}

fn implement(one: &Member<Class>, method: &mut Member<Function>, within: Option<&str>) -> Result<(), Error> {
    if method.doc.rust("within").is_none() {
        method.doc.rust.extend(within.map(str::to_owned));
    }
    if method.doc.path().is_some() {
        return Ok(());
    }
    let line = method.line;
    let name = &method.item.name;
    let first = one.item.methods.iter().find(|first| first.item.name.eq_ignore_ascii_case(name)).ok_or_else(|| {
        let text = format!("the first declaration has no method {name}(): @rust PATH must name its function");
        Error { line, text }
    })?;
    method.doc.rust.push(path(first));
    method.doc.typed = first.doc.is_typed();
    if !method.doc.typed {
        return same_defaults(first, method);
    }
    // What the caller cannot pass has the first's default.
    let passed = method.item.params.len();
    method.assumed = first.item.params.iter().skip(passed).cloned().collect();
    match method.assumed.iter().find(|param| param.default.is_none() && !param.variadic) {
        Some(param) => Err(Error { line, text: format!("${} has no default, and must be a parameter", param.name) }),
        None => Ok(()),
    }
}

/// A function that reads its arguments itself knows only its first defaults.
fn same_defaults(first: &Member<Function>, method: &Member<Function>) -> Result<(), Error> {
    let wrong = |text: String| Err(Error { line: method.line, text });
    for (own, param) in method.item.params.iter().zip(&first.item.params) {
        let number = |param: &Param| param.default.as_ref().and_then(|text| text.parse::<f64>().ok());
        if own.default != param.default && (number(own).is_none() || number(own) != number(param)) {
            return wrong(format!("${}: only a typed function can have another default", own.name));
        }
    }
    if method.item.params.len() > first.item.params.len() {
        return wrong(format!("{}() has more parameters than the first declaration", method.item.name));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known::Known;
    use crate::{emit, parse};

    const FIRST: &str = "<?php\nnamespace A;\n/** @rust static ONE */\nclass One\n{\n    public int $a = 0;\n    // @rust typed\n    \
        public function __construct() {}\n    public function get(int $from = 1, int $to = 2): int {}\n    \
        /** @rust raw */\n    public function raw(int $x = 3): int {}\n}\n";

    fn seconds(text: &str) -> Result<Vec<Second>, Error> {
        resolve(&parse(FIRST).unwrap(), &parse(&format!("<?php\nnamespace B;\n{text}")).unwrap())
    }

    fn wrong(text: &str) -> (usize, String) {
        let error = seconds(text).map(|_| ()).unwrap_err();
        (error.line, error.text)
    }

    #[test]
    fn a_second_declaration_has_its_own_parameters_and_the_first_ones_functions() {
        let found = seconds(
            "/** @rust second A\\One\n * @rust within crate::around */\nfinal class Two\n{\n    public int $a = 7;\n    \
             public function get(int $begin = 9): int {}\n    /** @rust within nothing */\n    public function raw(int $y = 3): int {}\n}\n",
        );
        let code = emit::seconds("two", &found.unwrap(), &Known::default(), "pub(crate)").unwrap();
        assert!(code.contains("static SECOND_ONE: "), "{code}");
        assert!(code.contains("name: c\"B\\\\Two\""), "{code}");
        let get = "within crate::around, SECOND_ONE, apus_zend::given!(|call| get(apus_zend::arg::This::this(call)?, \
                   apus_zend::arg::want(0, call.int(0, 9)?)?, apus_zend::arg::want(1, call.int(1, 2)?)?)), 0, 1)";
        assert!(code.contains(get), "{code}");
        assert!(code.contains("apus_zend::handler!(raw, 0, 1)"), "{code}");
        let found = seconds("/** @rust second A\\One */\nclass Two\n{\n    public int $a;\n}\n").unwrap();
        let first = emit::file("one", &parse(FIRST).unwrap(), &found, &Known::default(), "pub(crate)");
        assert!(first.unwrap().contains("second: Some(&SECOND_ONE)"));
    }

    #[test]
    fn a_constructor_fails_in_a_way_of_its_own() {
        let found = seconds("/** @rust second A\\One\n * @rust within crate::around\n * @rust made crate::making */\nclass Two\n{\n    public int $a = 7;\n    public function __construct() {}\n}\n").unwrap();
        let code = emit::seconds("two", &found, &Known::default(), "pub(crate)").unwrap();
        assert!(code.contains("within crate::making, SECOND_ONE"), "{code}");
    }

    #[test]
    fn what_does_not_fit_the_first_is_refused_with_its_line() {
        assert_eq!(wrong("class Two\n{\n}\n").0, 3);
        assert!(wrong("/** @rust second A\\None */\nclass Two\n{\n}\n").1.contains("no class A\\None"));
        let head = "/** @rust second A\\One */\nclass Two\n{\n";
        assert!(wrong(&format!("{head}}}\n")).1.contains("property 0 must be $a"));
        let head = format!("{head}    public int $a;\n");
        assert_eq!(wrong(&format!("{head}    public function none() {{}}\n}}\n")).0, 7);
        assert!(wrong(&format!("{head}    public function raw(int $x = 4) {{}}\n}}\n")).1.contains("typed"));
        assert!(wrong(&format!("{head}}}\nfunction f(): void {{}}\n")).1.contains("only classes"));
    }
}
