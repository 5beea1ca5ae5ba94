//! Reads the elements of one program that are shown, level by level.

use std::time::Instant;

use crate::{
    connection::{Arguments, Call, Connection, ConnectionError, Reply},
    marshal::Value,
    message::{Node, Request},
    vocabulary::{State, roles},
};

pub const ACCESSIBLE: &str = "org.a11y.atspi.Accessible";
pub const COMPONENT: &str = "org.a11y.atspi.Component";
const PROPERTIES: &str = "org.freedesktop.DBus.Properties";
/// Where the elements of a program begin.
pub const ROOT: &str = "/org/a11y/atspi/accessible/root";
/// The path of no element.
const NULL: &str = "/org/a11y/atspi/null";
/// Coordinates of the screen.
pub const SCREEN: u32 = 0;
/// The deepest level that is read.
pub const MAX_LEVELS: usize = 80;
/// A table with more children than this is read point by point: a spreadsheet has billions.
const MANY_CHILDREN: i64 = 400;
/// The distances between such points, and the limit on them.
const PROBE: (i32, i32) = (48, 14);
const MAX_PROBES: usize = 1000;
/// Roles of elements that may have that many children.
pub const LARGE: [u32; 5] =
    [roles::TABLE, roles::TREE_TABLE, roles::TREE, roles::LIST, roles::LIST_BOX];
/// The longest name, in characters.
pub const MAX_NAME: usize = 500;

/// A method of an element, with its arguments.
pub type Method<'a> = (&'static str, &'static str, Arguments);

/// A program being read.
pub struct Walk<'a> {
    pub connection: &'a mut Connection,
    /// Its name on the bus; empty on a direct connection.
    pub destination: &'a str,
    /// Its name on the bus.
    pub bus_name: &'a str,
    pub request: &'a Request,
    pub deadline: Instant,
    /// What was found so far.
    pub nodes: Vec<Node>,
    pub truncated: bool,
}

/// An element that was reached.
struct Reached {
    path: String,
    parent: Option<usize>,
}

impl Walk<'_> {
    /// Reads everything. After an error, what was found so far is kept.
    pub fn run(&mut self) -> Result<(), ConnectionError> {
        let top = self.children(&[ROOT])?;
        let mut level: Vec<Reached> =
            top.into_iter().flatten().map(|path| Reached { path, parent: None }).collect();
        for _ in 0..MAX_LEVELS {
            if level.is_empty() {
                break;
            }
            level = self.level(level)?;
        }
        self.details()
    }

    /// Reads the elements of one level and returns those of the next.
    fn level(&mut self, level: Vec<Reached>) -> Result<Vec<Reached>, ConnectionError> {
        let first = self.nodes.len();
        let paths: Vec<&str> = level.iter().map(|reached| reached.path.as_str()).collect();
        let none = Arguments::default;
        let state = (ACCESSIBLE, "GetState", none());
        let [states, roles] = self.ask(&paths, [state, (ACCESSIBLE, "GetRole", none())])?;
        let mut shown = Vec::new();
        for ((Reached { path, parent }, state), role) in level.into_iter().zip(states).zip(roles) {
            let states = bits(&state);
            if State::Showing.is_in(states) && !State::Defunct.is_in(states) {
                let role = integer(&role).and_then(|role| u32::try_from(role).ok());
                let role = role.unwrap_or_default();
                shown.push(Node { path, parent, role, states, ..Node::default() });
            }
        }
        let room = self.request.max_nodes.saturating_sub(first);
        self.truncated |= shown.len() > room;
        shown.truncate(room);
        let paths: Vec<&str> = shown.iter().map(|node| node.path.as_str()).collect();
        let extents = (COMPONENT, "GetExtents", Arguments::u32(SCREEN));
        let [names, rects] = self.ask(&paths, [property(ACCESSIBLE, "Name"), extents])?;
        for ((node, name), rect) in shown.iter_mut().zip(names).zip(rects) {
            node.name = text(&name, MAX_NAME);
            node.rect = rectangle(&rect);
        }
        let parents: Vec<(usize, &Node)> =
            shown.iter().enumerate().filter(|(_, node)| self.descends(node)).collect();
        let below = self.below(&parents)?;
        let next = parents.iter().zip(below).flat_map(|((at, _), paths)| {
            let parent = Some(first + at);
            paths.into_iter().map(move |path| Reached { path, parent })
        });
        let next = next.collect();
        self.nodes.append(&mut shown);
        Ok(next)
    }

    /// Whether the children of an element are read.
    fn descends(&self, node: &Node) -> bool {
        if self.request.without_pages && node.role == roles::DOCUMENT_WEB {
            return false;
        }
        let Some((x, y)) = self.request.at else { return true };
        // Menus open outside of what they belong to.
        let apart = [roles::MENU, roles::MENU_BAR, roles::COMBO_BOX, roles::PAGE_TAB];
        match node.rect {
            Some((left, top, width, height)) if !apart.contains(&node.role) => {
                (left..left.saturating_add(width)).contains(&x)
                    && (top..top.saturating_add(height)).contains(&y)
            }
            _ => true,
        }
    }

    /// The children of these elements.
    fn below(&mut self, parents: &[(usize, &Node)]) -> Result<Vec<Vec<String>>, ConnectionError> {
        let paths = |wanted: &dyn Fn(&Node) -> bool| -> Vec<&str> {
            let wanted = parents.iter().filter(|(_, node)| wanted(node));
            wanted.map(|(_, node)| node.path.as_str()).collect()
        };
        let tables = paths(&|node| LARGE.contains(&node.role));
        let [counts] = self.ask(&tables, [property(ACCESSIBLE, "ChildCount")])?;
        let huge: Vec<&str> = tables
            .into_iter()
            .zip(&counts)
            .filter(|(_, count)| integer(count).is_none_or(|count| count > MANY_CHILDREN))
            .map(|(path, _)| path)
            .collect();
        let usual = paths(&|node| !huge.contains(&node.path.as_str()));
        let mut children = self.children(&usual)?.into_iter();
        let mut below = Vec::with_capacity(parents.len());
        for (_, node) in parents {
            below.push(if huge.contains(&node.path.as_str()) {
                self.probe(node)?
            } else {
                children.next().unwrap_or_default()
            });
        }
        Ok(below)
    }

    pub fn children(&mut self, paths: &[&str]) -> Result<Vec<Vec<String>>, ConnectionError> {
        let [replies] = self.ask(paths, [(ACCESSIBLE, "GetChildren", Arguments::default())])?;
        let own = self.bus_name;
        let child = |value: &Value| match value.items() {
            [name, path] if name.text() == Some(own) => {
                path.text().filter(|path| *path != NULL).map(str::to_owned)
            }
            _ => None,
        };
        let list = |reply: &Reply| match reply.as_deref() {
            Some([list, ..]) => list.items().iter().filter_map(child).collect(),
            _ => Vec::new(),
        };
        Ok(replies.iter().map(list).collect())
    }

    /// The children of a large table that are shown.
    fn probe(&mut self, table: &Node) -> Result<Vec<String>, ConnectionError> {
        let Some((left, top, width, height)) = table.rect else { return Ok(Vec::new()) };
        let step = |from: i32, length: i32, by: i32| {
            let to = from.saturating_add(length);
            (from.saturating_add(by / 2)..to).step_by(usize::try_from(by).unwrap_or(1))
        };
        let points: Vec<(i32, i32)> = match self.request.at {
            Some(at) => vec![at],
            None => step(top, height, PROBE.1)
                .flat_map(|y| step(left, width, PROBE.0).map(move |x| (x, y)))
                .take(MAX_PROBES)
                .collect(),
        };
        let calls: Vec<Call<'_>> = points
            .into_iter()
            .map(|(x, y)| Call {
                destination: self.destination,
                path: &table.path,
                interface: COMPONENT,
                member: "GetAccessibleAtPoint",
                arguments: Arguments::point(x, y, SCREEN),
            })
            .collect();
        let mut found: Vec<String> = Vec::new();
        for reply in self.connection.calls(&calls, self.deadline)?.into_iter().flatten() {
            let path = reply.first().and_then(|value| value.items().get(1)).and_then(Value::text);
            if let Some(path) = path
                && ![NULL, table.path.as_str()].contains(&path)
                && !found.iter().any(|known| known == path)
            {
                found.push(path.to_owned());
            }
        }
        Ok(found)
    }

    /// Calls methods on each of these elements. The replies are in the order of the methods.
    pub fn ask<const N: usize>(
        &mut self,
        paths: &[&str],
        methods: [Method<'_>; N],
    ) -> Result<[Vec<Reply>; N], ConnectionError> {
        let mut calls = Vec::with_capacity(paths.len() * N);
        for (interface, member, arguments) in &methods {
            calls.extend(paths.iter().map(|path| Call {
                destination: self.destination,
                path,
                interface,
                member,
                arguments: arguments.clone(),
            }));
        }
        let mut replies = self.connection.calls(&calls, self.deadline)?.into_iter();
        Ok(std::array::from_fn(|_| replies.by_ref().take(paths.len()).collect()))
    }
}

/// The call that reads a property.
pub fn property(interface: &'static str, name: &'static str) -> Method<'static> {
    (PROPERTIES, "Get", Arguments::strings(&[interface, name]))
}

/// The states in a reply.
pub fn bits(reply: &Reply) -> u64 {
    let words = reply.as_deref().and_then(|values| values.first()).map(Value::items);
    let word = |at: usize| {
        let number = words.and_then(|words| words.get(at)).and_then(Value::integer);
        number.and_then(|number| u64::try_from(number).ok()).unwrap_or(0)
    };
    word(0) | word(1) << 32
}

/// The first value of a reply, if it is an integer.
pub fn integer(reply: &Reply) -> Option<i64> {
    reply.as_deref()?.first()?.integer()
}

/// The first value of a reply, if it is a text, cut after some characters.
pub fn text(reply: &Reply, most: usize) -> String {
    let text = reply.as_deref().and_then(|values| values.first()).and_then(Value::text);
    text.unwrap_or_default().chars().take(most).collect()
}

/// The rectangle in a reply. Toolkits report strange ones for what has no place on the screen.
pub fn rectangle(reply: &Reply) -> Option<(i32, i32, i32, i32)> {
    let [x, y, width, height] = reply.as_deref()?.first()?.items() else { return None };
    let number = |value: &Value| value.integer().and_then(|number| i32::try_from(number).ok());
    let (x, y, width, height) = (number(x)?, number(y)?, number(width)?, number(height)?);
    let near = |at: i32| (-100_000..=100_000).contains(&at);
    (near(x) && near(y) && width > 0 && height > 0 && near(width) && near(height))
        .then_some((x, y, width, height))
}
