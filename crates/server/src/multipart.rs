//! The file of an uploaded form (`multipart/form-data`), streamed.
//!
//! Other fields before the file are skipped, and what follows it is discarded. RFC 7578 describes the
//! format.

use std::io;

use bytes::{Buf, Bytes, BytesMut};
use helmdeck_store::Pieces;
use memchr::memmem;

/// Maximum size of the headers of one field.
const MAX_HEAD: usize = 16 << 10;
/// Maximum size of what surrounds the file.
const MAX_SURROUNDINGS: usize = 1 << 20;
/// Maximum length of a boundary, by RFC 2046.
const MAX_BOUNDARY: usize = 70;

/// Why a form has no file. The message is for the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadForm {
    /// The content type has no boundary.
    #[error("the content type multipart/form-data has no valid boundary")]
    Boundary,
    /// The form is not what the content type says.
    #[error("the form is malformed, or ended early")]
    Malformed,
    /// The form has no such field.
    #[error("the form has no field named file: send one, as `curl -F file=@report.pdf` does")]
    NoFile,
}

/// The boundary in a content type; `None` if it is not a form.
pub fn boundary(content_type: &str) -> Option<Result<String, BadForm>> {
    let (kind, parameters) = content_type.split_once(';').unwrap_or((content_type, ""));
    if !kind.trim().eq_ignore_ascii_case("multipart/form-data") {
        return None;
    }
    let boundary = parameter(parameters, "boundary");
    let valid = |text: &String| (1..=MAX_BOUNDARY).contains(&text.len()) && text.is_ascii();
    Some(boundary.filter(valid).ok_or(BadForm::Boundary))
}

/// The file of a form.
pub struct FormFile<P> {
    /// Its name, as the client wrote it.
    pub name: Option<String>,
    /// Its media type, as the client wrote it.
    pub content_type: Option<String>,
    form: Form<P>,
    at_end: bool,
}

impl<P: Pieces> FormFile<P> {
    /// Finds the field `file`.
    pub async fn find(body: P, boundary: &str) -> Result<Self, BadForm> {
        let mut form = Form::new(body, boundary);
        form.skip().await?;
        while let Some(head) = form.head().await? {
            let disposition = header(&head, "content-disposition").unwrap_or_default();
            if parameter(&disposition, "name").as_deref() == Some("file") {
                let name = parameter(&disposition, "filename");
                let content_type = header(&head, "content-type");
                return Ok(Self { name, content_type, form, at_end: false });
            }
            form.skip().await?;
        }
        Err(BadForm::NoFile)
    }
}

impl<P: Pieces> Pieces for FormFile<P> {
    async fn next(&mut self) -> io::Result<Option<Bytes>> {
        if self.at_end {
            return Ok(None);
        }
        let piece = self.form.until_delimiter().await.map_err(io::Error::other)?;
        if piece.is_none() {
            self.at_end = true;
            self.form.discard_rest().await?;
        }
        Ok(piece)
    }
}

/// A form that is being read.
struct Form<P> {
    body: P,
    /// Received bytes that are not used yet.
    buffer: BytesMut,
    /// A line break, two dashes and the boundary.
    delimiter: memmem::Finder<'static>,
    skipped: usize,
}

impl<P: Pieces> Form<P> {
    fn new(body: P, boundary: &str) -> Self {
        let delimiter = format!("\r\n--{boundary}");
        let delimiter = memmem::Finder::new(delimiter.as_bytes()).into_owned();
        // The first delimiter need not follow a line break.
        Self { body, buffer: BytesMut::from(&b"\r\n"[..]), delimiter, skipped: 0 }
    }

    /// Receives more bytes.
    async fn fill(&mut self) -> Result<(), BadForm> {
        match self.body.next().await {
            Ok(Some(piece)) => {
                self.buffer.extend_from_slice(&piece);
                Ok(())
            }
            Ok(None) | Err(_) => Err(BadForm::Malformed),
        }
    }

    /// Bytes before the next delimiter; `None` once the delimiter was reached and skipped.
    async fn until_delimiter(&mut self) -> Result<Option<Bytes>, BadForm> {
        let length = self.delimiter.needle().len();
        loop {
            match self.delimiter.find(&self.buffer) {
                Some(0) => {
                    self.buffer.advance(length);
                    return Ok(None);
                }
                Some(at) => return Ok(Some(self.buffer.split_to(at).freeze())),
                // The last bytes can be the beginning of a delimiter.
                None if self.buffer.len() >= length => {
                    let safe = self.buffer.len() - length + 1;
                    return Ok(Some(self.buffer.split_to(safe).freeze()));
                }
                None => self.fill().await?,
            }
        }
    }

    /// Skips everything up to the next delimiter.
    async fn skip(&mut self) -> Result<(), BadForm> {
        while let Some(piece) = self.until_delimiter().await? {
            self.skipped += piece.len();
            if self.skipped > MAX_SURROUNDINGS {
                return Err(BadForm::Malformed);
            }
        }
        Ok(())
    }

    /// The headers of the next field; `None` at the end of the form.
    async fn head(&mut self) -> Result<Option<String>, BadForm> {
        loop {
            if self.buffer.starts_with(b"--") {
                return Ok(None);
            }
            // The line of the delimiter ends with a line break, and the headers with an empty line.
            if let Some(at) = memmem::find(&self.buffer, b"\r\n\r\n") {
                let head = self.buffer.split_to(at);
                self.buffer.advance(4);
                return Ok(Some(String::from_utf8_lossy(&head).into_owned()));
            }
            if self.buffer.len() > MAX_HEAD {
                return Err(BadForm::Malformed);
            }
            self.fill().await?;
        }
    }

    /// Receives what follows the file, so that the connection can be used again.
    async fn discard_rest(&mut self) -> io::Result<()> {
        let mut discarded = 0;
        while let Some(piece) = self.body.next().await? {
            discarded += piece.len();
            if discarded > MAX_SURROUNDINGS {
                return Err(io::Error::other("too much follows the file"));
            }
        }
        Ok(())
    }
}

/// The value of a header among lines.
fn header(head: &str, name: &str) -> Option<String> {
    let fields = head.split("\r\n").filter_map(|line| line.split_once(':'));
    let mut fields = fields.filter(|(field, _)| field.trim().eq_ignore_ascii_case(name));
    fields.next().map(|(_, value)| value.trim().to_owned())
}

/// The value of a parameter such as `name="file"`, in quotes or not.
fn parameter(text: &str, name: &str) -> Option<String> {
    let mut rest = text;
    loop {
        let (key, after) = rest.split_once('=')?;
        let key = key.rsplit(';').next().unwrap_or_default().trim();
        let (value, after) = match after.strip_prefix('"') {
            Some(quoted) => unquoted(quoted)?,
            None => {
                let end = after.find(';').unwrap_or(after.len());
                let (value, after) = after.split_at(end);
                (value.trim().to_owned(), after)
            }
        };
        if key.eq_ignore_ascii_case(name) {
            return Some(value);
        }
        rest = after;
    }
}

/// A quoted value and what follows it. Browsers write `"` in it as `%22`, curl as `\"`.
fn unquoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some((value.replace("%22", "\""), text.get(at + 1..)?)),
            '\\' if text.get(at + 1..).is_some_and(|rest| rest.starts_with(['"', '\\'])) => {
                value.extend(letters.next().map(|(_, escaped)| escaped));
            }
            other => value.push(other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    /// A body that arrives in pieces of this size.
    struct Chunks(VecDeque<Bytes>);

    impl Chunks {
        fn of(text: &[u8], size: usize) -> Self {
            Self(text.chunks(size).map(Bytes::copy_from_slice).collect())
        }
    }

    impl Pieces for Chunks {
        async fn next(&mut self) -> io::Result<Option<Bytes>> {
            Ok(self.0.pop_front())
        }
    }

    /// Name, media type and content of the file of a form.
    async fn read(body: &[u8], size: usize) -> Result<(String, String, Vec<u8>), BadForm> {
        let mut file = FormFile::find(Chunks::of(body, size), "XX").await?;
        let mut content = Vec::new();
        while let Some(piece) = file.next().await.map_err(|_| BadForm::Malformed)? {
            content.extend_from_slice(&piece);
        }
        let (name, content_type) = (file.name.take(), file.content_type.take());
        Ok((name.unwrap_or_default(), content_type.unwrap_or_default(), content))
    }

    #[tokio::test]
    async fn the_file_is_found_however_the_body_arrives() {
        let form = b"--XX\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\nhi\r\n--XX\r\n\
            content-disposition: form-data; name=\"file\"; filename=\"a \\\"b\\\"; c.png\"\r\n\
            Content-Type: image/png\r\n\r\n\r\n--X\r\n--\r\n\x00\xffX\r\n\r\n--XX\r\n\
            Content-Disposition: form-data; name=after\r\n\r\nx\r\n--XX--\r\n";
        for size in [1, 2, 3, 5, 7, 64, 1000] {
            let (name, content_type, content) = read(form, size).await.unwrap();
            assert_eq!((name.as_str(), content_type.as_str()), ("a \"b\"; c.png", "image/png"));
            assert_eq!(content, b"\r\n--X\r\n--\r\n\x00\xffX\r\n", "in pieces of {size}");
        }
    }

    #[tokio::test]
    async fn an_empty_file_and_a_preamble_are_allowed() {
        let form = b"preamble\r\n--XX\r\ncontent-disposition:form-data;name=file\r\n\r\n\r\n--XX--";
        assert_eq!(read(form, 4).await.unwrap(), (String::new(), String::new(), Vec::new()));
    }

    #[tokio::test]
    async fn a_form_without_the_field_or_without_an_end_is_refused() {
        let other = b"--XX\r\nContent-Disposition: form-data; name=\"f\"\r\n\r\nhi\r\n--XX--\r\n";
        assert_eq!(read(other, 9).await.unwrap_err(), BadForm::NoFile);
        for early in [
            &b""[..],
            b"--XX",
            b"--XX\r\nContent-Disposition: form-data; name=\"file\"\r\n",
            b"--XX\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\nhi",
            b"no form at all",
        ] {
            assert_eq!(read(early, 9).await.unwrap_err(), BadForm::Malformed, "{early:?}");
        }
        let long = [b"--XX\r\na: ".to_vec(), vec![b'x'; 2 * MAX_HEAD]].concat();
        assert_eq!(read(&long, 1000).await.unwrap_err(), BadForm::Malformed);
    }

    #[test]
    fn a_boundary_is_read_from_the_content_type() {
        assert_eq!(boundary("multipart/form-data; boundary=abc"), Some(Ok("abc".into())));
        assert_eq!(boundary("Multipart/Form-Data;boundary=\"a b\""), Some(Ok("a b".into())));
        assert_eq!(boundary("multipart/form-data"), Some(Err(BadForm::Boundary)));
        assert_eq!(boundary("multipart/form-data; boundary="), Some(Err(BadForm::Boundary)));
        assert_eq!(boundary("image/png"), None);
    }
}
