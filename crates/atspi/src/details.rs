//! Reads texts, values and labels of elements that have them.

use std::collections::HashMap;

use crate::{
    connection::{Arguments, Call, ConnectionError, Reply},
    message::Node,
    vocabulary::{State, role, roles},
    walk::{ACCESSIBLE, MAX_NAME, SCREEN, Walk, integer, property, text},
};

const TEXT: &str = "org.a11y.atspi.Text";
/// The relation of a field to its label.
const LABELLED_BY: i64 = 2;
/// The longest value, in characters.
const MAX_VALUE: usize = 4000;
/// Roles with text. The text of password fields is not read.
const TEXTS: [u32; 4] = [roles::TEXT, roles::ENTRY, roles::TERMINAL, roles::DATE_EDITOR];
/// The interface of elements with a number.
pub const VALUE: &str = "org.a11y.atspi.Value";
/// Roles with a number.
pub const NUMBERS: [u32; 3] = [roles::SLIDER, roles::PROGRESS_BAR, roles::SPIN_BUTTON];
/// Elements of these roles are used by name.
const NAMED: [&str; 12] = [
    "button",
    "checkbox",
    "combobox",
    "date",
    "link",
    "menuitem",
    "radio",
    "slider",
    "spinbutton",
    "switch",
    "tab",
    "textbox",
];

/// A number of a reply, to three places.
pub fn number(reply: &Reply) -> Option<String> {
    let number = reply.as_deref()?.first()?.number()?;
    Some(((number * 1000.0).round() / 1000.0).to_string())
}

impl Walk<'_> {
    /// Completes the elements that were found.
    pub fn details(&mut self) -> Result<(), ConnectionError> {
        self.texts()?;
        self.numbers()?;
        // The name of a combo box is what is selected.
        for node in self.nodes.iter_mut().filter(|node| node.role == roles::COMBO_BOX) {
            node.value = std::mem::take(&mut node.name);
        }
        self.labels()
    }

    /// The indices and paths of some elements.
    fn select(&self, wanted: impl Fn(&Node) -> bool) -> (Vec<usize>, Vec<String>) {
        let nodes = self.nodes.iter().enumerate().filter(|(_, node)| wanted(node));
        nodes.map(|(at, node)| (at, node.path.clone())).unzip()
    }

    /// Reads texts, from the first character that is shown.
    fn texts(&mut self) -> Result<(), ConnectionError> {
        let long = |node: &Node| TEXTS.contains(&node.role) && State::MultiLine.is_in(node.states);
        let (at, paths) = self.select(long);
        let corners = at.iter().map(|at| {
            let rect = self.nodes.get(*at).and_then(|node| node.rect).unwrap_or_default();
            Arguments::point(rect.0.saturating_add(4), rect.1.saturating_add(4), SCREEN)
        });
        let offsets = self.each(&paths, "GetOffsetAtPoint", corners.collect())?;
        let starts: HashMap<usize, i32> = at
            .into_iter()
            .zip(offsets)
            .filter_map(|(at, offset)| Some((at, i32::try_from(integer(&offset)?).ok()?.max(0))))
            .collect();
        let (at, paths) = self.select(|node| TEXTS.contains(&node.role));
        let most = i32::try_from(MAX_VALUE).unwrap_or(i32::MAX);
        let ranges = at.iter().map(|at| {
            let start = starts.get(at).copied().unwrap_or(0);
            Arguments::range(start, start.saturating_add(most))
        });
        let texts = self.each(&paths, "GetText", ranges.collect())?;
        for (at, reply) in at.into_iter().zip(texts) {
            if let Some(node) = self.nodes.get_mut(at) {
                node.value = text(&reply, MAX_VALUE);
            }
        }
        Ok(())
    }

    /// Calls a method of texts, with other arguments for each.
    fn each(
        &mut self,
        paths: &[String],
        member: &'static str,
        arguments: Vec<Arguments>,
    ) -> Result<Vec<Reply>, ConnectionError> {
        let destination = self.destination;
        let call =
            |(path, arguments)| Call { destination, path, interface: TEXT, member, arguments };
        let paths = paths.iter().map(String::as_str);
        let calls: Vec<Call<'_>> = paths.zip(arguments).map(call).collect();
        self.connection.calls(&calls, self.deadline)
    }

    fn numbers(&mut self) -> Result<(), ConnectionError> {
        let (at, paths) = self.select(|node| NUMBERS.contains(&node.role));
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let [numbers] = self.ask(&paths, [property(VALUE, "CurrentValue")])?;
        for (at, reply) in at.into_iter().zip(numbers) {
            if let (Some(node), Some(number)) = (self.nodes.get_mut(at), number(&reply)) {
                node.value = number;
            }
        }
        Ok(())
    }

    /// Names elements without a name after their label or description.
    fn labels(&mut self) -> Result<(), ConnectionError> {
        let nameless =
            |node: &Node| node.name.trim().is_empty() && NAMED.contains(&role(node.role));
        let (at, paths) = self.select(nameless);
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let relations = (ACCESSIBLE, "GetRelationSet", Arguments::default());
        let [described, relations] =
            self.ask(&paths, [property(ACCESSIBLE, "Description"), relations])?;
        let labels: Vec<Option<String>> = relations.iter().map(label).collect();
        let known: Vec<&str> = labels.iter().flatten().map(String::as_str).collect();
        let [names] = self.ask(&known, [property(ACCESSIBLE, "Name")])?;
        let mut names = names.iter();
        for ((at, label), described) in at.into_iter().zip(&labels).zip(described) {
            let name = label.as_ref().and_then(|_| names.next());
            let name = name.map(|name| text(name, MAX_NAME)).filter(|name| !name.trim().is_empty());
            if let Some(node) = self.nodes.get_mut(at) {
                node.name = name.unwrap_or_else(|| text(&described, MAX_NAME));
            }
        }
        Ok(())
    }
}

/// The path of an element's label.
fn label(relations: &Reply) -> Option<String> {
    let relations = relations.as_deref()?.first()?.items();
    let targets = relations.iter().find_map(|relation| match relation.items() {
        [kind, targets] if kind.integer() == Some(LABELLED_BY) => Some(targets.items()),
        _ => None,
    })?;
    targets.first()?.items().get(1)?.text().map(str::to_owned)
}
