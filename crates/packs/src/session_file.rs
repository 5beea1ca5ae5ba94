//! Files that a pack puts into its session.

use std::io;

use bytes::Bytes;
use helmdeck_sessions::Outgoing;
use helmdeck_store::Pieces;
use helmdeck_wire::{file::HomePath, guest::OneFile};
use http_body_util::{BodyExt, channel::Channel};

use crate::{Context, PackError, PackResult};

/// The home of the session's programs.
pub const HOME: &str = "/home/agent";
/// How many pieces wait for the session.
const WAITING: usize = 4;
/// Longest name of a file.
const MAX_NAME: usize = 100;

/// A folder in the session's home for the files of a job. The engine removes it when the job ends.
pub struct JobFolder {
    folder: String,
}

impl JobFolder {
    /// The folder of a job. The first file creates it.
    pub fn of(context: &Context) -> Self {
        Self { folder: format!(".helmdeck/{}", context.job) }
    }

    /// Its absolute path.
    pub fn path(&self) -> String {
        format!("{HOME}/{}", self.folder)
    }

    /// Stores a file and returns its absolute path.
    pub async fn put(
        &self,
        context: &Context,
        name: &str,
        mut content: impl Pieces,
    ) -> PackResult<String> {
        context.leftovers.add(&self.path());
        let path = format!("{}/{}", self.folder, plain_name(name));
        let parsed = HomePath::parse(&path).map_err(PackError::failed)?;
        let file = OneFile { replace: true, ..OneFile::new(parsed) };
        let (mut pieces, body) = Channel::<Bytes, io::Error>::new(WAITING);
        let body: Outgoing = body.map_err(Into::into).boxed_unsync();
        let feeding = async move {
            loop {
                match content.next().await {
                    Ok(Some(piece)) => {
                        if pieces.send_data(piece).await.is_err() {
                            // The session ended the transfer, and says why.
                            return None;
                        }
                    }
                    Ok(None) => return None,
                    Err(error) => {
                        let why = error.to_string();
                        pieces.abort(error);
                        return Some(why);
                    }
                }
            }
        };
        let storing = context.session()?.write_file(&context.caller, &file, body);
        let (stored, broken) = tokio::join!(storing, feeding);
        if let Some(why) = broken {
            return Err(PackError::failed(format!("{name} cannot be read: {why}")));
        }
        stored?;
        Ok(format!("{HOME}/{path}"))
    }
}

/// A name without characters that mean something elsewhere.
fn plain_name(name: &str) -> String {
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let plain = name.chars().map(|c| if is_plain(c) { c } else { '_' });
    let plain: String = plain.collect();
    // Endings matter to programs, so the end is kept.
    let start = plain.len().saturating_sub(MAX_NAME);
    let plain = plain.get(start..).unwrap_or_default().trim_start_matches(['.', '-']);
    if plain.is_empty() { "file".to_owned() } else { plain.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_plain_and_keeps_its_ending() {
        assert_eq!(plain_name("../../etc/pass wd;.pdf"), "pass_wd_.pdf");
        assert_eq!(plain_name("-rf"), "rf");
        assert_eq!(plain_name(".."), "file");
        assert!(plain_name(&format!("{}.pdf", "ä".repeat(300))).ends_with("__.pdf"));
    }
}
