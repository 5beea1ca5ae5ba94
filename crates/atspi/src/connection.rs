//! A connection to a bus, or directly to a program. Calls are sent together, and their replies are
//! awaited together: a program answers a hundred calls in little more time than one.

use std::{
    collections::HashMap,
    io::{self, ErrorKind, Read, Write},
    os::{
        fd::AsFd,
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr, UnixStream},
    },
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with},
};

use crate::marshal::{Malformed, Reader, Value, Writer};

/// The largest message that is accepted.
const MAX_MESSAGE: usize = 4 << 20;
/// Calls that are sent before their replies are read.
const TOGETHER: usize = 256;
/// Types of messages.
const CALL: u8 = 1;
const RETURN: u8 = 2;
const ERROR: u8 = 3;
/// Header fields.
const PATH: u8 = 1;
const INTERFACE: u8 = 2;
const MEMBER: u8 = 3;
const REPLY_SERIAL: u8 = 5;
const DESTINATION: u8 = 6;
const SIGNATURE: u8 = 8;
/// A call that must not start its receiver.
const NO_AUTO_START: u8 = 2;

/// Why a connection cannot be used any longer.
#[derive(Debug, thiserror::Error)]
pub enum ConnectionError {
    /// The other side did not answer in time.
    #[error("no answer in time")]
    Deadline,
    #[error(transparent)]
    Malformed(#[from] Malformed),
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("the address {0:?} cannot be used")]
    Address(String),
}

/// A method call.
#[derive(Debug, Clone)]
pub struct Call<'a> {
    /// Empty on a direct connection.
    pub destination: &'a str,
    pub path: &'a str,
    pub interface: &'static str,
    pub member: &'static str,
    pub arguments: Arguments,
}

/// The arguments of a call.
#[derive(Debug, Clone, Default)]
pub struct Arguments {
    signature: &'static str,
    body: Writer,
}

impl Arguments {
    pub fn strings(strings: &[&str]) -> Self {
        let mut body = Writer::default();
        for string in strings {
            body.string(string);
        }
        let signature = match strings.len() {
            0 => "",
            1 => "s",
            _ => "ss",
        };
        Self { signature, body }
    }

    pub fn u32(number: u32) -> Self {
        let mut body = Writer::default();
        body.u32(number);
        Self { signature: "u", body }
    }

    pub fn range(start: i32, end: i32) -> Self {
        let mut body = Writer::default();
        body.i32(start);
        body.i32(end);
        Self { signature: "ii", body }
    }

    /// A point, and the kind of its coordinates.
    pub fn point(x: i32, y: i32, kind: u32) -> Self {
        let mut body = Writer::default();
        body.i32(x);
        body.i32(y);
        body.u32(kind);
        Self { signature: "iiu", body }
    }
}

/// A reply: its values, or `None` for an error.
pub type Reply = Option<Vec<Value>>;

/// An open connection. After an error it cannot be used any longer.
pub struct Connection {
    stream: UnixStream,
    received: Vec<u8>,
    serial: u32,
}

impl Connection {
    /// Connects and authenticates.
    pub fn open(address: &str, deadline: Instant) -> Result<Self, ConnectionError> {
        let stream = UnixStream::from(dial(address)?);
        let mut connection = Self { stream, received: Vec::new(), serial: 0 };
        let uid: String = rustix::process::getuid()
            .as_raw()
            .to_string()
            .bytes()
            .map(|digit| format!("{digit:02x}"))
            .collect();
        connection.write(format!("\0AUTH EXTERNAL {uid}\r\n").as_bytes(), deadline)?;
        loop {
            if let Some(end) = connection.received.windows(2).position(|pair| pair == b"\r\n") {
                let line: Vec<u8> = connection.received.drain(..end + 2).collect();
                if !line.starts_with(b"OK ") {
                    return Err(ConnectionError::Address(address.to_owned()));
                }
                break;
            }
            if connection.received.len() > 4096 {
                return Err(Malformed.into());
            }
            connection.wait(PollFlags::IN, deadline)?;
            connection.read()?;
        }
        connection.write(b"BEGIN\r\n", deadline)?;
        Ok(connection)
    }

    /// Connects to a bus.
    pub fn to_bus(address: &str, deadline: Instant) -> Result<Self, ConnectionError> {
        let mut connection = Self::open(address, deadline)?;
        let hello = Call {
            destination: "org.freedesktop.DBus",
            path: "/org/freedesktop/DBus",
            interface: "org.freedesktop.DBus",
            member: "Hello",
            arguments: Arguments::default(),
        };
        connection.calls(&[hello], deadline)?;
        Ok(connection)
    }

    /// Makes calls and waits for all replies, which have the order of the calls.
    pub fn calls(
        &mut self,
        calls: &[Call<'_>],
        deadline: Instant,
    ) -> Result<Vec<Reply>, ConnectionError> {
        let mut replies = Vec::with_capacity(calls.len());
        for some in calls.chunks(TOGETHER) {
            let mut bytes = Vec::new();
            let mut waiting = HashMap::with_capacity(some.len());
            for (at, call) in some.iter().enumerate() {
                self.serial = self.serial.wrapping_add(1).max(1);
                waiting.insert(self.serial, at);
                bytes.extend(written(call, self.serial));
            }
            let mut answers: Vec<Reply> = vec![None; some.len()];
            self.write(&bytes, deadline)?;
            while !waiting.is_empty() {
                while let Some(message) = self.message()? {
                    if let Some(at) = waiting.remove(&message.answers)
                        && let Some(answer) = answers.get_mut(at)
                    {
                        *answer = message.values;
                    }
                }
                if !waiting.is_empty() {
                    self.wait(PollFlags::IN, deadline)?;
                    self.read()?;
                }
            }
            replies.append(&mut answers);
        }
        Ok(replies)
    }

    /// Writes everything, and reads meanwhile: both sides could otherwise wait for each other.
    fn write(&mut self, mut bytes: &[u8], deadline: Instant) -> Result<(), ConnectionError> {
        while !bytes.is_empty() {
            match self.stream.write(bytes) {
                Ok(0) => return Err(io::Error::from(ErrorKind::WriteZero).into()),
                Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.wait(PollFlags::IN | PollFlags::OUT, deadline)?;
                    self.read()?;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Reads what has arrived.
    fn read(&mut self) -> Result<(), ConnectionError> {
        let mut some = [0; 64 << 10];
        loop {
            match self.stream.read(&mut some) {
                Ok(0) => return Err(io::Error::from(ErrorKind::UnexpectedEof).into()),
                Ok(length) => {
                    self.received.extend(some.get(..length).unwrap_or_default());
                    // A flood of signals must not fill the memory before it is looked at.
                    if self.received.len() > 2 * MAX_MESSAGE {
                        return Ok(());
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn wait(&self, flags: PollFlags, deadline: Instant) -> Result<(), ConnectionError> {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ConnectionError::Deadline);
        }
        let left = left.max(Duration::from_millis(1));
        let left = Timespec::try_from(left).map_err(|_| ConnectionError::Deadline)?;
        match poll(&mut [PollFd::from_borrowed_fd(self.stream.as_fd(), flags)], Some(&left)) {
            Ok(0) => Err(ConnectionError::Deadline),
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(io::Error::from(error).into()),
        }
    }

    /// Takes the next complete message.
    fn message(&mut self) -> Result<Option<Message>, ConnectionError> {
        let Some(length) = length(&self.received)? else { return Ok(None) };
        if self.received.len() < length {
            return Ok(None);
        }
        let bytes: Vec<u8> = self.received.drain(..length).collect();
        Ok(Some(Message::read(&bytes)?))
    }
}

/// A received message that may answer a call.
struct Message {
    /// The serial of the call; 0 if it answers none.
    answers: u32,
    values: Reply,
}

impl Message {
    fn read(bytes: &[u8]) -> Result<Self, Malformed> {
        let kind = bytes.get(1).copied().unwrap_or_default();
        if !matches!(kind, RETURN | ERROR) {
            return Ok(Self { answers: 0, values: None });
        }
        let mut reader = Reader::new(bytes);
        let head = reader.values("yyyyuua(yv)")?;
        let (mut answers, mut signature) = (0, String::new());
        for field in head.last().map(Value::items).unwrap_or_default() {
            let [code, value] = field.items() else { return Err(Malformed) };
            match code.integer().and_then(|code| u8::try_from(code).ok()) {
                Some(REPLY_SERIAL) => {
                    let serial = value.integer().and_then(|serial| u32::try_from(serial).ok());
                    answers = serial.ok_or(Malformed)?;
                }
                Some(SIGNATURE) => value.text().unwrap_or_default().clone_into(&mut signature),
                _ => {}
            }
        }
        if kind == ERROR {
            return Ok(Self { answers, values: None });
        }
        reader.align(8)?;
        let body = bytes.get(reader.position()..).ok_or(Malformed)?;
        Ok(Self { answers, values: Some(Reader::new(body).values(&signature)?) })
    }
}

/// The length of the message that begins here, once its header has arrived.
fn length(bytes: &[u8]) -> Result<Option<usize>, Malformed> {
    let Some(head) = bytes.get(..16) else { return Ok(None) };
    if head.first() != Some(&b'l') {
        return Err(Malformed);
    }
    let mut reader = Reader::new(head);
    let values = reader.values("yyyyuuu")?;
    let field = |at: usize| {
        values.get(at).and_then(Value::integer).and_then(|length| usize::try_from(length).ok())
    };
    let (body, fields) = (field(4).ok_or(Malformed)?, field(6).ok_or(Malformed)?);
    let length = fields.saturating_add(16).next_multiple_of(8).saturating_add(body);
    if length > MAX_MESSAGE { Err(Malformed) } else { Ok(Some(length)) }
}

fn written(call: &Call<'_>, serial: u32) -> Vec<u8> {
    let body = &call.arguments.body.bytes;
    let mut message = Writer::default();
    for byte in [b'l', CALL, NO_AUTO_START, 1] {
        message.byte(byte);
    }
    message.u32(u32::try_from(body.len()).unwrap_or_default());
    message.u32(serial);
    message.u32(0);
    let start = message.bytes.len();
    let mut field = |code: u8, kind: &str, text: &str| {
        if text.is_empty() {
            return;
        }
        message.align(8);
        message.byte(code);
        message.signature(kind);
        if kind == "g" { message.signature(text) } else { message.string(text) }
    };
    field(PATH, "o", call.path);
    field(INTERFACE, "s", call.interface);
    field(MEMBER, "s", call.member);
    field(DESTINATION, "s", call.destination);
    field(SIGNATURE, "g", call.arguments.signature);
    let length = u32::try_from(message.bytes.len() - start).unwrap_or_default();
    if let Some(place) = message.bytes.get_mut(start - 4..start) {
        place.copy_from_slice(&length.to_le_bytes());
    }
    message.align(8);
    message.bytes.extend(body);
    message.bytes
}

/// Connects to the first address that can be used. A full queue is an error: it belongs to a program
/// that does not accept connections.
fn dial(address: &str) -> Result<rustix::fd::OwnedFd, ConnectionError> {
    let refused = || ConnectionError::Address(address.to_owned());
    let mut last = refused();
    for one in address.split(';') {
        let Some(place) = place(one) else { continue };
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None);
        let socket = socket.map_err(io::Error::from)?;
        match connect(&socket, &place) {
            Ok(()) => return Ok(socket),
            Err(error) => last = io::Error::from(error).into(),
        }
    }
    Err(last)
}

/// The socket of an address such as `unix:path=/run/user/1000/bus,guid=…`.
fn place(address: &str) -> Option<SocketAddrUnix> {
    let options = address.strip_prefix("unix:")?;
    options.split(',').find_map(|option| {
        let (key, value) = option.split_once('=')?;
        let value = unescaped(value);
        match key {
            "path" => SocketAddrUnix::new(value).ok(),
            // Checked by the standard library, which knows the limits.
            "abstract" => {
                SocketAddr::from_abstract_name(&value).ok()?;
                SocketAddrUnix::new_abstract_name(&value).ok()
            }
            _ => None,
        }
    })
}

fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = text.bytes();
    let mut plain = Vec::new();
    while let Some(byte) = bytes.next() {
        let code = (byte == b'%').then(|| [bytes.next(), bytes.next()]);
        match code {
            Some([Some(high), Some(low)]) => {
                let digits = [high, low];
                let code = std::str::from_utf8(&digits).ok();
                plain.extend(code.and_then(|code| u8::from_str_radix(code, 16).ok()));
            }
            Some(_) => {}
            None => plain.push(byte),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_written_as_the_specification_says() {
        let call = Call {
            destination: ":1.2",
            path: "/a",
            interface: "i.f",
            member: "M",
            arguments: Arguments::u32(9),
        };
        let bytes = written(&call, 3);
        assert_eq!(length(&bytes), Ok(Some(bytes.len())));
        let mut reader = Reader::new(&bytes);
        let head = reader.values("yyyyuua(yv)").unwrap();
        assert_eq!((head[1].integer(), head[5].integer()), (Some(1), Some(3)));
        let fields: Vec<_> = head[6]
            .items()
            .iter()
            .map(|field| (field.items()[0].integer().unwrap(), field.items()[1].text().unwrap()))
            .collect();
        assert_eq!(fields, [(1, "/a"), (2, "i.f"), (3, "M"), (6, ":1.2"), (8, "u")]);
        reader.align(8).unwrap();
        assert_eq!(reader.values("u").unwrap(), [Value::Integer(9)]);
    }

    #[test]
    fn addresses_of_unix_sockets_are_understood() {
        for (address, known) in [
            ("unix:path=/run/user/1000/at%2dspi/bus_1,guid=12", true),
            ("unix:abstract=/tmp/x", true),
            ("tcp:host=localhost,port=1", false),
            ("unix:dir=/tmp", false),
            ("", false),
        ] {
            assert_eq!(place(address).is_some(), known, "{address}");
        }
        assert_eq!(unescaped("a%2db"), b"a-b");
    }

    #[test]
    fn oversized_and_foreign_messages_end_the_connection() {
        let mut head = [b'l', 2, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(length(&head), Ok(Some(16)));
        assert_eq!(length(&head[..10]), Ok(None));
        head[7] = 0x7f;
        assert_eq!(length(&head), Err(Malformed));
        head[0] = b'B';
        assert_eq!(length(&head), Err(Malformed));
    }

    #[test]
    fn a_program_that_does_not_answer_costs_its_deadline() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bus");
        let _listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        let address = format!("unix:path={}", path.display());
        let opened = Connection::open(&address, Instant::now() + Duration::from_millis(20));
        assert!(matches!(opened, Err(ConnectionError::Deadline)));
        let missing = Connection::open("unix:path=/nowhere", Instant::now());
        assert!(matches!(missing, Err(ConnectionError::Io(_))));
    }
}
