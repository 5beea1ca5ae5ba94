//! Reads all programs on an accessibility bus, each on its own thread and with its own deadline.

use std::{
    collections::HashMap,
    env, fs,
    time::{Duration, Instant},
};

use crate::{
    connection::{Arguments, Call, Connection, ConnectionError, Reply},
    marshal::Value,
    message::{Answer, Program, Request},
    walk::{ACCESSIBLE, MAX_NAME, ROOT, Walk, integer, text},
};

/// Limit on programs.
const MAX_PROGRAMS: usize = 100;
/// The bus and the registry answer at once.
const BUS_DEADLINE: Duration = Duration::from_secs(2);
/// What a program gets that did not answer the last time.
const IMPATIENT: Duration = Duration::from_millis(60);
const BUS: &str = "org.freedesktop.DBus";
const APPLICATION: &str = "org.a11y.atspi.Application";
const PROPERTIES: &str = "org.freedesktop.DBus.Properties";
const REGISTRY: &str = "org.a11y.atspi.Registry";

/// Reads programs, and keeps the connections to them.
#[derive(Default)]
pub struct Reader {
    bus: Option<(String, Connection)>,
    known: HashMap<String, Known>,
}

/// A program as of the last request.
#[derive(Default)]
struct Known {
    line: Option<Line>,
    pid: Option<u32>,
    name: String,
    toolkit: String,
    /// It did not answer the last time.
    silent: bool,
    /// The path of the element that had the focus the last time.
    focus: Option<String>,
}

/// A connection to a program.
struct Line {
    connection: Connection,
    /// Whether it leads to the program itself, not to the bus.
    direct: bool,
}

impl Reader {
    /// Reads all programs.
    pub fn read(&mut self, request: &Request) -> Answer {
        match self.programs() {
            Ok(names) => {
                let programs = self.read_all(request, &names);
                Answer { id: request.id, programs, error: None }
            }
            Err(error) => {
                self.bus = None;
                let error = Some(format!("the accessibility bus cannot be used: {error}"));
                Answer { id: request.id, programs: Vec::new(), error }
            }
        }
    }

    /// The names of all programs on the bus.
    fn programs(&mut self) -> Result<Vec<String>, ConnectionError> {
        let deadline = Instant::now() + BUS_DEADLINE;
        let (address, mut connection) = match self.bus.take() {
            Some(bus) => bus,
            None => {
                let address = address(deadline)?;
                let connection = Connection::to_bus(&address, deadline)?;
                (address, connection)
            }
        };
        let children = Call {
            destination: REGISTRY,
            path: ROOT,
            interface: ACCESSIBLE,
            member: "GetChildren",
            arguments: Arguments::default(),
        };
        let replies = connection.calls(&[children], deadline)?;
        let children = replies.first().and_then(Option::as_deref).and_then(|values| values.first());
        let mut names: Vec<String> = Vec::new();
        for child in children.map(Value::items).unwrap_or_default() {
            let name = child.items().first().and_then(Value::text).unwrap_or_default();
            if !name.is_empty() && !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
        names.truncate(MAX_PROGRAMS);
        self.known.retain(|name, _| names.contains(name));
        let new: Vec<&String> =
            names.iter().filter(|name| !self.known.contains_key(*name)).collect();
        let pids: Vec<Call<'_>> = new
            .iter()
            .map(|name| Call {
                destination: BUS,
                path: "/org/freedesktop/DBus",
                interface: BUS,
                member: "GetConnectionUnixProcessID",
                arguments: Arguments::strings(&[name]),
            })
            .collect();
        for (name, pid) in new.iter().zip(connection.calls(&pids, deadline)?) {
            let pid = integer(&pid).and_then(|pid| u32::try_from(pid).ok());
            self.known.insert((*name).clone(), Known { pid, ..Known::default() });
        }
        self.bus = Some((address, connection));
        Ok(names)
    }

    fn read_all(&mut self, request: &Request, names: &[String]) -> Vec<Program> {
        let Some((address, _)) = &self.bus else { return Vec::new() };
        let known = &mut self.known;
        let mut programs: Vec<(String, Known)> =
            names.iter().filter_map(|name| known.remove_entry(name)).collect();
        let wanted = |known: &Known| request.pid.is_none() || request.pid == known.pid;
        let read = std::thread::scope(|scope| {
            let threads: Vec<_> = programs
                .iter_mut()
                .filter(|(_, known)| wanted(known))
                .map(|(name, known)| scope.spawn(|| read_one(name, known, address, request)))
                .collect();
            // A thread that failed has read nothing.
            threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
        });
        known.extend(programs);
        read
    }
}

fn read_one(name: &str, known: &mut Known, bus: &str, request: &Request) -> Program {
    let whole = Duration::from_millis(request.deadline_ms);
    let patience = if known.silent { whole.min(IMPATIENT) } else { whole };
    let deadline = Instant::now() + patience;
    let mut program = Program { bus_name: name.to_owned(), pid: known.pid, ..Program::default() };
    let result = if known.pid.is_some_and(is_stopped) {
        Err(ConnectionError::Deadline)
    } else {
        known.read(name, bus, request, deadline, &mut program)
    };
    program.unresponsive = matches!(result, Err(ConnectionError::Deadline));
    known.silent = program.unresponsive;
    if result.is_err() {
        known.line = None;
    }
    program.name.clone_from(&known.name);
    program.toolkit.clone_from(&known.toolkit);
    program
}

impl Known {
    fn read(
        &mut self,
        name: &str,
        bus: &str,
        request: &Request,
        deadline: Instant,
        program: &mut Program,
    ) -> Result<(), ConnectionError> {
        let mut line = match self.line.take() {
            Some(line) => line,
            None => self.meet(name, bus, deadline)?,
        };
        let mut walk = Walk {
            connection: &mut line.connection,
            destination: if line.direct { "" } else { name },
            bus_name: name,
            request,
            deadline,
            nodes: Vec::new(),
            truncated: false,
        };
        // A point limits what is read; without one, the focus alone is wanted.
        let mut result = Ok(());
        if !request.focus || request.at.is_some() {
            result = walk.run();
        }
        if request.focus && result.is_ok() {
            result = walk.focus(self.focus.as_deref()).map(|focus| program.focus = focus);
            self.focus = program.focus.as_ref().map(|node| node.path.clone());
        }
        (program.nodes, program.truncated) = (walk.nodes, walk.truncated);
        self.line = Some(line);
        result
    }

    /// Learns a program's name, and connects to it directly if it allows that.
    fn meet(&mut self, name: &str, bus: &str, deadline: Instant) -> Result<Line, ConnectionError> {
        let mut connection = Connection::to_bus(bus, deadline)?;
        let call = |interface, member, arguments| Call {
            destination: name,
            path: ROOT,
            interface,
            member,
            arguments,
        };
        let get = |interface: &'static str, property: &str| {
            call(PROPERTIES, "Get", Arguments::strings(&[interface, property]))
        };
        let calls = [
            get(ACCESSIBLE, "Name"),
            get(APPLICATION, "ToolkitName"),
            get(APPLICATION, "Version"),
            call(APPLICATION, "GetApplicationBusAddress", Arguments::default()),
        ];
        let replies = connection.calls(&calls, deadline)?;
        let said = |at: usize| replies.get(at).map(|reply: &Reply| text(reply, MAX_NAME));
        self.name = said(0).unwrap_or_default();
        let (toolkit, version) = (said(1).unwrap_or_default(), said(2).unwrap_or_default());
        self.toolkit = format!("{toolkit} {version}").trim().to_owned();
        let address = said(3).filter(|address| !address.is_empty());
        let direct = address.and_then(|address| Connection::open(&address, deadline).ok());
        Ok(match direct {
            Some(connection) => Line { connection, direct: true },
            None => Line { connection, direct: false },
        })
    }
}

/// Whether a process is stopped by a signal, and so cannot answer.
fn is_stopped(pid: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    status.lines().any(|line| line.starts_with("State:") && line.contains('T'))
}

/// The address of the accessibility bus: the environment names it, or the session bus.
fn address(deadline: Instant) -> Result<String, ConnectionError> {
    if let Some(address) = env::var("AT_SPI_BUS_ADDRESS").ok().filter(|text| !text.is_empty()) {
        return Ok(address);
    }
    let session = env::var("DBUS_SESSION_BUS_ADDRESS").unwrap_or_default();
    let mut connection = Connection::to_bus(&session, deadline)?;
    let call = Call {
        destination: "org.a11y.Bus",
        path: "/org/a11y/bus",
        interface: "org.a11y.Bus",
        member: "GetAddress",
        arguments: Arguments::default(),
    };
    let replies = connection.calls(&[call], deadline)?;
    let address = replies.first().map(|reply| text(reply, 1000)).unwrap_or_default();
    if address.is_empty() { Err(ConnectionError::Address(address)) } else { Ok(address) }
}
