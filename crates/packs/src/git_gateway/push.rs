//! What a push changes: the commands at the beginning of its request.

use bytes::{Bytes, BytesMut};
use futures_util::{StreamExt, stream};
use http::{Request, header};
use http_body_util::{BodyExt, BodyStream, StreamBody};
use hyper::body::{Frame, Incoming};
use tokio::io::{AsyncRead, AsyncReadExt};

use super::Outgoing;
use crate::{PackError, PackResult};

/// How long all commands may be.
const MAX_COMMANDS: usize = 64 << 10;

/// A branch and the commit that it gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Update {
    /// The branch, as `refs/heads/main`.
    pub reference: String,
    /// The commit.
    pub commit: String,
}

/// The body of a push, if it changes only what was asked for.
pub async fn checked(request: Request<Incoming>, allowed: &Update) -> PackResult<Outgoing> {
    if request.headers().contains_key(header::CONTENT_ENCODING) {
        return Err(PackError::failed("git sent a compressed push"));
    }
    let mut body = request.into_body();
    let mut begun = BytesMut::new();
    let updates = loop {
        if let Some(updates) = updates(&begun).map_err(PackError::failed)? {
            break updates;
        }
        if begun.len() > MAX_COMMANDS {
            return Err(PackError::failed("the push changes too many branches"));
        }
        let frame = body.frame().await;
        let broken = || PackError::failed("git broke off its push");
        let frame = frame.ok_or_else(broken)?.map_err(|_| broken())?;
        if let Ok(data) = frame.into_data() {
            begun.extend_from_slice(&data);
        }
    };
    only(&updates, allowed)?;
    let begun = stream::iter([Ok::<Frame<Bytes>, hyper::Error>(Frame::data(begun.freeze()))]);
    Ok(StreamBody::new(begun.chain(BodyStream::new(body))).boxed_unsync())
}

/// Reads the beginning of a push by SSH, up to the end of its commands, if it changes only what was
/// asked for.
pub async fn checked_start(
    from: &mut (impl AsyncRead + Unpin),
    allowed: &Update,
) -> PackResult<BytesMut> {
    let mut begun = BytesMut::new();
    loop {
        if let Some(updates) = updates(&begun).map_err(PackError::failed)? {
            only(&updates, allowed)?;
            return Ok(begun);
        }
        if begun.len() > MAX_COMMANDS {
            return Err(PackError::failed("the push changes too many branches"));
        }
        let broken = |_| PackError::failed("git broke off its push");
        if from.read_buf(&mut begun).await.map_err(broken)? == 0 {
            // Nothing to push, or git does not like what the server has.
            return Ok(begun);
        }
    }
}

/// Refuses any update but one.
fn only(updates: &[Update], allowed: &Update) -> PackResult<()> {
    let Some(other) = updates.iter().find(|update| *update != allowed) else { return Ok(()) };
    let message = format!(
        "the push would set {} to {}, and not {} to {}",
        other.reference, other.commit, allowed.reference, allowed.commit
    );
    Err(PackError::failed(message))
}

/// The commands of a push; `None` if more bytes are needed. Git first sends an empty list to see
/// whether the server accepts it.
fn updates(bytes: &[u8]) -> Result<Option<Vec<Update>>, &'static str> {
    const BAD: &str = "the push is not in git's format";
    let mut rest = bytes;
    let mut found = Vec::new();
    loop {
        let Some((digits, after)) = rest.split_at_checked(4) else { return Ok(None) };
        let digits = std::str::from_utf8(digits).map_err(|_| BAD)?;
        let length = usize::from_str_radix(digits, 16).map_err(|_| BAD)?;
        if length == 0 {
            return Ok(Some(found));
        }
        let length = length.checked_sub(4).filter(|length| *length > 0).ok_or(BAD)?;
        let Some((line, after)) = after.split_at_checked(length) else { return Ok(None) };
        rest = after;
        let line = line.split(|byte| *byte == 0).next().unwrap_or_default();
        let line = std::str::from_utf8(line).map_err(|_| BAD)?.trim_end_matches('\n');
        if line.starts_with("shallow ") {
            continue;
        }
        let mut words = line.splitn(3, ' ');
        match (words.next(), words.next(), words.next()) {
            (Some(_), Some(commit), Some(reference)) => {
                let (commit, reference) = (commit.to_owned(), reference.to_owned());
                found.push(Update { reference, commit });
            }
            _ => return Err(BAD),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> String {
        format!("{:04x}{text}", text.len() + 4)
    }

    #[test]
    fn the_commands_of_a_push_are_read_as_soon_as_they_are_complete() {
        let (old, new) = ("a".repeat(40), "b".repeat(40));
        let first = line(&format!("{old} {new} refs/heads/main\0 report-status agent=git/2"));
        let second = line(&format!("{old} {new} refs/heads/other\n"));
        let shallow = line(&format!("shallow {old}"));
        let push = format!("{shallow}{first}{second}0000PACK…");
        let update = |name: &str| Update { reference: name.to_owned(), commit: new.clone() };
        let expected = vec![update("refs/heads/main"), update("refs/heads/other")];
        assert_eq!(updates(push.as_bytes()), Ok(Some(expected)));
        let commands = shallow.len() + first.len() + second.len();
        for cut in [0, 3, 4, 60, commands, commands + 3] {
            assert_eq!(updates(&push.as_bytes()[..cut]), Ok(None), "{cut}");
        }
        assert_eq!(updates(b"0000"), Ok(Some(Vec::new())));
    }

    #[test]
    fn a_push_in_another_format_is_refused() {
        for bad in ["zzzz", "0003", "0004", "0008abcd", "push-cert"] {
            assert!(updates(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
