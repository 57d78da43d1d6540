//! What all stub files together declare: constants that may be defaults, and where the properties of classes lie.

use std::collections::HashMap;

use crate::model::{File, Literal};

/// What other files need to know of each.
#[derive(Default)]
pub(crate) struct Known {
    /// By the full name; of a class `Class::NAME`.
    constants: HashMap<String, Literal>,
    /// Of a class by its full name: its parent, and how many properties it declares itself.
    classes: HashMap<String, (Option<String>, usize)>,
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
            let own = class.item.properties.iter().filter(|property| property.item.has_slot()).count();
            self.classes.insert(name, (class.item.extends.clone(), own));
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

    /// The place of the first property that a class declares itself; `None` below a class that no stub declares.
    pub(crate) fn first_slot(&self, class: &str) -> Option<usize> {
        let (parent, _) = self.classes.get(class)?;
        let Some(parent) = parent else { return Some(0) };
        Some(self.first_slot(parent)? + self.classes.get(parent)?.1)
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
        assert_eq!([known.first_slot("A\\B"), known.first_slot("C"), known.first_slot("D")], [Some(0), Some(1), None]);
    }
}
