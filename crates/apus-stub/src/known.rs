//! What all stub files together declare: constants that may be defaults, and where the properties of classes lie.

use std::collections::HashMap;

use crate::model::{File, Literal};
use crate::names::static_name;

/// What other files need to know of each.
#[derive(Default)]
pub(crate) struct Known {
    /// By the full name; of a class `Class::NAME`.
    constants: HashMap<String, Literal>,
    /// By the full name.
    classes: HashMap<String, KnownClass>,
}

/// What is known of a class.
struct KnownClass {
    extends: Option<String>,
    /// The properties that it declares itself, its parent's among them where it declares these anew.
    own: Vec<String>,
    /// The static that it is in.
    in_static: String,
    /// The class of which it is the second declaration.
    second_of: Option<String>,
}

impl Known {
    /// Takes in a file.
    pub(crate) fn add(&mut self, file: &File) {
        for constant in &file.constants {
            self.constants.insert(constant.full(&constant.item.name), constant.item.value.clone());
        }
        for class in &file.classes {
            let name = class.full(&class.item.name);
            for constant in &class.item.constants {
                self.constants.insert(format!("{name}::{}", constant.item.name), constant.item.value.clone());
            }
            let own = class.item.properties.iter().filter(|property| property.item.has_slot());
            let known = KnownClass {
                extends: class.item.extends.clone(),
                own: own.map(|property| property.item.name.clone()).collect(),
                in_static: static_name(class),
                second_of: class.doc.rust("second").map(str::to_owned),
            };
            self.classes.insert(name, known);
        }
    }

    /// The value of a constant that is written as a default: `\Apus\NAME`, `\Apus\Lock::NAME`, or `self::NAME` in the
    /// class.
    pub(crate) fn constant(&self, text: &str, class: Option<&str>) -> Option<&Literal> {
        match text.strip_prefix("self::") {
            Some(name) => self.constants.get(&format!("{}::{name}", class?)),
            None => self.constants.get(text.strip_prefix('\\')?),
        }
    }

    /// The properties of a class by their places; `None` below a class that no stub declares.
    pub(crate) fn slots(&self, class: &str) -> Option<Vec<&str>> {
        let known = self.classes.get(class)?;
        let mut slots = known.extends.as_ref().map_or_else(|| Some(Vec::new()), |parent| self.slots(parent))?;
        // What is declared anew keeps its place.
        let new = known.own.iter().map(String::as_str).filter(|name| !slots.contains(name)).collect::<Vec<_>>();
        slots.extend(new);
        Some(slots)
    }

    /// The static whose class has the objects that are good as `class`: of a second declaration that of the first,
    /// which knows both. The module that includes the code must have it in scope.
    pub(crate) fn class_static(&self, class: &str) -> Option<&str> {
        let known = self.classes.get(class)?;
        let first = known.second_of.as_ref().map_or(Some(known), |first| self.classes.get(first))?;
        Some(&first.in_static)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_and_slots_of_several_files() {
        let mut known = Known::default();
        let a = "<?php\nnamespace A;\nconst X = 3;\nclass B\n{\n    public const Y = 'y';\n    public int $one = 1;\n    public static int $none = 0;\n}\n";
        known.add(&crate::parse(a).unwrap());
        known.add(
            &crate::parse("<?php\nclass C extends \\A\\B\n{\n    public int $two = 2;\n}\nclass D extends \\E {}\n")
                .unwrap(),
        );
        assert_eq!(known.constant("\\A\\X", None), Some(&Literal::Int(3)));
        assert_eq!(known.constant("self::Y", Some("A\\B")), Some(&Literal::Str("y".into())));
        assert_eq!(known.constant("self::Y", None), None);
        known.add(
            &crate::parse("<?php\nnamespace S;\n/** @rust second A\\B\n * @rust static OTHER */\nclass B {}\n")
                .unwrap(),
        );
        assert_eq!(
            ["A\\B", "S\\B", "D", "E"].map(|class| known.class_static(class)),
            [Some("B"), Some("B"), Some("D"), None]
        );
        known.add(
            &crate::parse("<?php\nclass F extends \\C\n{\n    public int $one = 9;\n    public int $own = 0;\n}\n")
                .unwrap(),
        );
        assert_eq!(known.slots("F"), Some(vec!["one", "two", "own"]));
        assert_eq!([known.slots("A\\B"), known.slots("D")], [Some(vec!["one"]), None]);
    }
}
