//! Addresses of repositories that are reached by SSH.

use helmdeck_egress::Target;

use crate::{PackError, PackResult};

/// The port of SSH.
const PORT: u16 = 22;
/// The user of an address that names none.
const USER: &str = "git";

/// A repository on an SSH server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SshAddress {
    /// Who logs in.
    pub user: String,
    /// The server.
    pub target: Target,
    /// The repository's path, as the server gets it.
    pub path: String,
}

impl SshAddress {
    /// Reads `ssh://[user@]host[:port]/path` or `[user@]host:path`. `None` if it is neither.
    pub fn parse(url: &str) -> PackResult<Option<Self>> {
        let wrong = |what: &str| PackError::invalid("url", format!("url: {what}"));
        let (authority, path) = match (url.strip_prefix("ssh://"), url.split_once("://")) {
            (Some(rest), _) => {
                let (authority, path) = rest.split_once('/').ok_or_else(|| wrong("no path"))?;
                let path = decoded(path).ok_or_else(|| wrong("the path is not valid"))?;
                // A path in a home begins with `~`; others begin at the root.
                let path = if path.starts_with('~') { path } else { format!("/{path}") };
                (authority, path)
            }
            (None, Some(_)) => return Ok(None),
            (None, None) => match url.split_once(':') {
                Some((authority, path)) if !authority.contains('/') => (authority, path.to_owned()),
                _ => return Ok(None),
            },
        };
        let (user, host) = authority.rsplit_once('@').unwrap_or((USER, authority));
        let target = Target::parse(host, Some(PORT)).map_err(|error| wrong(&error.to_string()))?;
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        if user.is_empty() || user.starts_with('-') || !user.chars().all(plain) {
            return Err(wrong("the user name is not valid"));
        }
        if matches!(path.as_str(), "" | "/")
            || path.starts_with('-')
            || path.contains(char::is_control)
        {
            return Err(wrong("the path is not valid"));
        }
        Ok(Some(Self { user: user.to_owned(), target, path }))
    }

    /// The server's name in `known_hosts`.
    pub fn known_as(&self) -> String {
        let host = self.target.host.to_string();
        let host = host.trim_matches(['[', ']']);
        match self.target.port {
            PORT => host.to_owned(),
            port => format!("[{host}]:{port}"),
        }
    }

    /// The command that a server runs for git.
    pub fn command(&self, service: &str) -> String {
        let path = self.path.replace('\'', r"'\''").replace('!', r"'\!'");
        format!("{service} '{path}'")
    }
}

/// A text without percent-encoding; `None` if it is not UTF-8 then.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((plain, after)) = rest.split_once('%') {
        bytes.extend_from_slice(plain.as_bytes());
        let (digits, after) = after.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = after;
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_an_address_are_read() {
        for (url, user, known_as, command) in [
            ("git@a.example:b/c.git", "git", "a.example", "git-upload-pack 'b/c.git'"),
            ("a.example:c", "git", "a.example", "git-upload-pack 'c'"),
            ("ssh://a.example/b%20c", "git", "a.example", "git-upload-pack '/b c'"),
            ("ssh://me@a.example:2222/~me/c", "me", "[a.example]:2222", "git-upload-pack '~me/c'"),
            ("ssh://[::1]:2222/c", "git", "[::1]:2222", "git-upload-pack '/c'"),
            ("git@a.example:x'; id #", "git", "a.example", r"git-upload-pack 'x'\''; id #'"),
        ] {
            let address = SshAddress::parse(url).unwrap().unwrap();
            assert_eq!((address.user.as_str(), address.known_as().as_str()), (user, known_as));
            assert_eq!(address.command("git-upload-pack"), command, "{url}");
        }
    }

    #[test]
    fn other_addresses_are_left_alone_and_wrong_ones_are_refused() {
        for url in ["https://a.example/b", "/srv/app.git", "../a:b/c", "file:///a"] {
            assert_eq!(SshAddress::parse(url).unwrap(), None, "{url}");
        }
        for url in [
            "ssh://-oProxyCommand=id/x",
            "ssh://-l@a.example/x",
            "ssh://a.example",
            "ssh://a.example/",
            "ssh://a.example/%zz",
            "ssh://a.example/%0a",
            "git@a.example:-u",
            "git@a b:c",
        ] {
            assert!(SshAddress::parse(url).is_err(), "{url}");
        }
    }
}
