//! Finds the element of one program that has the keyboard focus.
//!
//! The element that had it the last time is asked first: one round trip, if the focus has not
//! moved. Otherwise only states are read, level by level, until the element is found.

use crate::{
    connection::{Arguments, ConnectionError},
    details::{NUMBERS, VALUE, number},
    message::Node,
    vocabulary::{State, roles},
    walk::{
        ACCESSIBLE, COMPONENT, LARGE, MAX_LEVELS, MAX_NAME, ROOT, SCREEN, Walk, bits, integer,
        property, rectangle, text,
    },
};

/// Roles that contain the element, and are not meant by it.
const CONTAINERS: [u32; 2] = [roles::APPLICATION, roles::DOCUMENT_WEB];

impl Walk<'_> {
    /// The focused element; `known` is the path of the one that had the focus the last time.
    pub fn focus(&mut self, known: Option<&str>) -> Result<Option<Node>, ConnectionError> {
        if let Some(path) = known
            && let Some(node) = self.focused_of(&[path])?.0
        {
            return self.described(node).map(Some);
        }
        let top = self.children(&[ROOT])?;
        let mut level: Vec<String> = top.into_iter().flatten().collect();
        let mut read = 0;
        for _ in 0..MAX_LEVELS {
            read += level.len();
            if level.is_empty() || read > self.request.max_nodes {
                break;
            }
            let paths: Vec<&str> = level.iter().map(String::as_str).collect();
            let (found, parents) = self.focused_of(&paths)?;
            if let Some(node) = found {
                return self.described(node).map(Some);
            }
            let parents: Vec<&str> = parents.iter().map(String::as_str).collect();
            level = self.children(&parents)?.into_iter().flatten().collect();
        }
        Ok(None)
    }

    /// The focused one of these elements, and those whose children may have the focus.
    fn focused_of(
        &mut self,
        paths: &[&str],
    ) -> Result<(Option<Node>, Vec<String>), ConnectionError> {
        let none = Arguments::default;
        let methods = [(ACCESSIBLE, "GetState", none()), (ACCESSIBLE, "GetRole", none())];
        let [states, kinds] = self.ask(paths, methods)?;
        let mut parents = Vec::new();
        for ((path, states), role) in paths.iter().zip(states).zip(kinds) {
            let states = bits(&states);
            if !State::Showing.is_in(states) || State::Defunct.is_in(states) {
                continue;
            }
            let role = integer(&role).and_then(|role| u32::try_from(role).ok()).unwrap_or_default();
            let page = role == roles::DOCUMENT_WEB && self.request.without_pages;
            if State::Focused.is_in(states) && !CONTAINERS.contains(&role) {
                let path = (*path).to_owned();
                return Ok((Some(Node { path, role, states, ..Node::default() }), parents));
            }
            if !page && !LARGE.contains(&role) {
                parents.push((*path).to_owned());
            }
        }
        Ok((None, parents))
    }

    /// The element with its name and place, and the number of a slider.
    fn described(&mut self, mut node: Node) -> Result<Node, ConnectionError> {
        let extents = (COMPONENT, "GetExtents", Arguments::u32(SCREEN));
        let methods = [property(ACCESSIBLE, "Name"), extents];
        let [names, rects] = self.ask(&[node.path.as_str()], methods)?;
        if NUMBERS.contains(&node.role) {
            let [numbers] = self.ask(&[node.path.as_str()], [property(VALUE, "CurrentValue")])?;
            node.value = numbers.first().and_then(number).unwrap_or_default();
        }
        node.name = names.first().map(|name| text(name, MAX_NAME)).unwrap_or_default();
        node.rect = rects.first().and_then(rectangle);
        Ok(node)
    }
}
