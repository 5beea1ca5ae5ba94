//! Values of D-Bus messages: reading any, and writing the few that our calls need.
//!
//! Only little-endian messages are read: a bus does not convert, and peers are on the same machine.

/// The deepest nesting that is read; the specification allows 64 levels.
const MAX_DEPTH: usize = 16;

/// A value of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Any integer or boolean.
    Integer(i64),
    Double(f64),
    /// A string, object path or signature.
    Text(String),
    Array(Vec<Value>),
    /// A structure, or an entry of a dictionary.
    Struct(Vec<Value>),
    Variant(Box<Value>),
}

impl Value {
    pub fn integer(&self) -> Option<i64> {
        match self {
            Self::Integer(number) => Some(*number),
            Self::Variant(inner) => inner.integer(),
            _ => None,
        }
    }

    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Double(number) => Some(*number),
            Self::Variant(inner) => inner.number(),
            // Integers of this size are exact.
            Self::Integer(number) => i32::try_from(*number).ok().map(f64::from),
            _ => None,
        }
    }

    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Variant(inner) => inner.text(),
            _ => None,
        }
    }

    /// The items of an array or structure.
    pub fn items(&self) -> &[Value] {
        match self {
            Self::Array(items) | Self::Struct(items) => items,
            Self::Variant(inner) => inner.items(),
            _ => &[],
        }
    }
}

/// A message that breaks the rules of the protocol.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("a message breaks the rules of D-Bus")]
pub struct Malformed;

/// Reads values from a message.
pub struct Reader<'a> {
    data: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub fn new(data: &'a [u8]) -> Self {
        Self { data, at: 0 }
    }

    pub fn position(&self) -> usize {
        self.at
    }

    pub fn align(&mut self, to: usize) -> Result<(), Malformed> {
        self.at = self.at.next_multiple_of(to);
        if self.at <= self.data.len() { Ok(()) } else { Err(Malformed) }
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], Malformed> {
        let end = self.at.checked_add(length).ok_or(Malformed)?;
        let bytes = self.data.get(self.at..end).ok_or(Malformed)?;
        self.at = end;
        Ok(bytes)
    }

    fn fixed<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        self.align(N)?;
        self.take(N)?.try_into().map_err(|_| Malformed)
    }

    pub fn byte(&mut self) -> Result<u8, Malformed> {
        self.fixed().map(u8::from_le_bytes)
    }

    pub fn u32(&mut self) -> Result<u32, Malformed> {
        self.fixed().map(u32::from_le_bytes)
    }

    fn length(&mut self) -> Result<usize, Malformed> {
        usize::try_from(self.u32()?).map_err(|_| Malformed)
    }

    fn string(&mut self, length: usize) -> Result<String, Malformed> {
        let bytes = self.take(length)?;
        // The terminating zero.
        self.take(1)?;
        Ok(String::from_utf8_lossy(bytes).into_owned())
    }

    /// Reads the values of a signature.
    pub fn values(&mut self, signature: &str) -> Result<Vec<Value>, Malformed> {
        let mut left = signature.as_bytes();
        let mut values = Vec::new();
        while !left.is_empty() {
            let (kind, rest) = split(left)?;
            values.push(self.value(kind, 0)?);
            left = rest;
        }
        Ok(values)
    }

    fn value(&mut self, kind: &[u8], depth: usize) -> Result<Value, Malformed> {
        if depth > MAX_DEPTH {
            return Err(Malformed);
        }
        let (first, inner) = kind.split_first().ok_or(Malformed)?;
        Ok(match first {
            b'y' => Value::Integer(self.byte()?.into()),
            b'b' | b'u' | b'h' => Value::Integer(self.u32()?.into()),
            b'n' => Value::Integer(i16::from_le_bytes(self.fixed()?).into()),
            b'q' => Value::Integer(u16::from_le_bytes(self.fixed()?).into()),
            b'i' => Value::Integer(i32::from_le_bytes(self.fixed()?).into()),
            b'x' | b't' => Value::Integer(i64::from_le_bytes(self.fixed()?)),
            b'd' => Value::Double(f64::from_le_bytes(self.fixed()?)),
            b's' | b'o' => {
                let length = self.length()?;
                Value::Text(self.string(length)?)
            }
            b'g' => {
                let length = self.byte()?.into();
                Value::Text(self.string(length)?)
            }
            b'v' => {
                let length = self.byte()?.into();
                let signature = self.string(length)?;
                let (kind, rest) = split(signature.as_bytes())?;
                if !rest.is_empty() {
                    return Err(Malformed);
                }
                Value::Variant(Box::new(self.value(kind, depth + 1)?))
            }
            b'a' => self.array(inner, depth)?,
            b'(' | b'{' => {
                self.align(8)?;
                let mut left = inner.get(..inner.len().saturating_sub(1)).unwrap_or_default();
                let mut fields = Vec::new();
                while !left.is_empty() {
                    let (kind, rest) = split(left)?;
                    fields.push(self.value(kind, depth + 1)?);
                    left = rest;
                }
                Value::Struct(fields)
            }
            _ => return Err(Malformed),
        })
    }

    fn array(&mut self, kind: &[u8], depth: usize) -> Result<Value, Malformed> {
        let length = self.length()?;
        self.align(alignment(kind))?;
        let end = self.at.checked_add(length).filter(|end| *end <= self.data.len());
        let end = end.ok_or(Malformed)?;
        let mut items = Vec::new();
        while self.at < end {
            let before = self.at;
            items.push(self.value(kind, depth + 1)?);
            // An empty structure would never advance.
            if self.at == before {
                return Err(Malformed);
            }
        }
        if self.at == end { Ok(Value::Array(items)) } else { Err(Malformed) }
    }
}

fn alignment(kind: &[u8]) -> usize {
    match kind.first() {
        Some(b'y' | b'g' | b'v') => 1,
        Some(b'n' | b'q') => 2,
        Some(b'x' | b't' | b'd' | b'(' | b'{') => 8,
        _ => 4,
    }
}

/// Splits the first complete type off a signature.
fn split(signature: &[u8]) -> Result<(&[u8], &[u8]), Malformed> {
    let mut open = 0_usize;
    for (at, kind) in signature.iter().enumerate() {
        match kind {
            b'(' | b'{' => open += 1,
            b')' | b'}' => open = open.checked_sub(1).ok_or(Malformed)?,
            b'a' => continue,
            _ => {}
        }
        if open == 0 {
            return signature.split_at_checked(at + 1).ok_or(Malformed);
        }
    }
    Err(Malformed)
}

/// Writes the values of a message.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Writer {
    pub bytes: Vec<u8>,
}

impl Writer {
    pub fn align(&mut self, to: usize) {
        self.bytes.resize(self.bytes.len().next_multiple_of(to), 0);
    }

    pub fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    pub fn u32(&mut self, number: u32) {
        self.align(4);
        self.bytes.extend(number.to_le_bytes());
    }

    pub fn i32(&mut self, number: i32) {
        self.align(4);
        self.bytes.extend(number.to_le_bytes());
    }

    /// A string or object path. Longer ones than the protocol can express are left empty.
    pub fn string(&mut self, text: &str) {
        let length = u32::try_from(text.len()).unwrap_or(0);
        self.u32(length);
        if length > 0 {
            self.bytes.extend(text.as_bytes());
        }
        self.byte(0);
    }

    /// A signature, which is short.
    pub fn signature(&mut self, signature: &str) {
        self.byte(u8::try_from(signature.len()).unwrap_or(0));
        self.bytes.extend(signature.as_bytes());
        self.byte(0);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(signature: &str, bytes: &[u8]) -> Result<Vec<Value>, Malformed> {
        Reader::new(bytes).values(signature)
    }

    #[test]
    fn structures_arrays_and_variants_are_read_with_their_padding() {
        let mut writer = Writer::default();
        writer.byte(7);
        // An array of (so), as in a list of children.
        writer.u32(0);
        let start = writer.bytes.len();
        for (name, path) in [(":1.5", "/a"), (":1.10", "/b")] {
            writer.align(8);
            writer.string(name);
            writer.string(path);
        }
        let length = u32::try_from(writer.bytes.len() - start).unwrap();
        writer.bytes[start - 4..start].copy_from_slice(&length.to_le_bytes());
        writer.signature("i");
        writer.i32(-3);
        let values = read("ya(so)v", &writer.bytes).unwrap();
        let pair = |a: &str, b: &str| {
            Value::Struct(vec![Value::Text(a.to_owned()), Value::Text(b.to_owned())])
        };
        assert_eq!(values[0].integer(), Some(7));
        assert_eq!(values[1].items(), [pair(":1.5", "/a"), pair(":1.10", "/b")]);
        assert_eq!(values[2].integer(), Some(-3));
    }

    #[test]
    fn messages_that_break_the_rules_are_refused() {
        let nested = "a".repeat(30) + "u";
        let mut deep = Writer::default();
        for _ in 0..40 {
            deep.u32(4);
        }
        for (signature, bytes) in [
            ("s", &[255, 255, 255, 255][..]),
            ("u", &[1, 2][..]),
            ("a()", &[4, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4][..]),
            ("(u", &[0, 0, 0, 0][..]),
            (")", &[0][..]),
            ("r", &[0][..]),
            ("a", &[0, 0, 0, 0][..]),
            (&nested, &deep.bytes[..]),
        ] {
            assert_eq!(read(signature, bytes), Err(Malformed), "{signature}");
        }
    }

    proptest! {
        #[test]
        fn no_message_makes_the_reader_fail(
            signature in "[ybnqiuxtdsogva(){}]{0,12}",
            bytes in prop::collection::vec(any::<u8>(), 0..200),
        ) {
            let _ = read(&signature, &bytes);
        }
    }
}
