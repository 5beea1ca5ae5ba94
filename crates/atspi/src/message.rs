//! Messages between the guest and the reader: a line of JSON each.
//!
//! Roles and states travel as the numbers of AT-SPI, so that a program cannot invent any.

use serde::{Deserialize, Serialize};

/// A request for the elements of programs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// Repeated in the answer.
    pub id: u64,
    /// Milliseconds that each program has to answer.
    pub deadline_ms: u64,
    /// Limit on elements of each program.
    pub max_nodes: usize,
    /// Read only what is at this point of the screen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<(i32, i32)>,
    /// Leave out the content of web pages, which the browser's debugging protocol reports.
    #[serde(default)]
    pub without_pages: bool,
    /// Read only the program with this process id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// Read the element with the keyboard focus, and of the others only those at the point.
    #[serde(default)]
    pub focus: bool,
}

/// The answer to a request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The id of the request.
    pub id: u64,
    /// Programs that have accessible elements.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<Program>,
    /// Why there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A program and its elements.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// Its process id, as the bus sees it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// Its unique name on the bus.
    pub bus_name: String,
    /// Its name.
    #[serde(default)]
    pub name: String,
    /// The toolkit and its version, such as `gtk 3.24.38`.
    #[serde(default)]
    pub toolkit: String,
    /// It did not answer in time; some or all of its elements are missing.
    #[serde(default)]
    pub unresponsive: bool,
    /// It has more elements than the limit.
    #[serde(default)]
    pub truncated: bool,
    /// The element with the keyboard focus, if that was asked for and is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub focus: Option<Node>,
    /// Its elements, parents before children.
    #[serde(default)]
    pub nodes: Vec<Node>,
}

/// An element of a program.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// Its path, which identifies it within the program.
    pub path: String,
    /// The index of its parent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<usize>,
    /// See [`crate::role`].
    pub role: u32,
    /// See [`crate::State`].
    pub states: u64,
    /// Its name, or that of its label.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Its text or value.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub value: String,
    /// Left, top, width and height on the screen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rect: Option<(i32, i32, i32, i32)>,
}
