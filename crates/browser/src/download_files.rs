//! Stores downloads under a number, and renames them once they are complete.
//!
//! Chromium overwrites existing files when a program sets the download folder. Numbers are unique,
//! and renaming here never replaces a file.

use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
};

use parking_lot::Mutex;
use rustix::{
    fs::{CWD, Mode, OFlags, RenameFlags, openat, renameat_with},
    io::Errno,
};

use crate::downloads::FOLDER;

/// Limit on remembered names.
const REMEMBERED: usize = 1000;
/// Limit on files with the same name.
const MOST_OF_A_NAME: usize = 10_000;

/// The downloads folder of a home.
pub struct DownloadFiles {
    home: PathBuf,
    /// The assigned names, by number.
    named: Mutex<VecDeque<(String, String)>>,
}

impl DownloadFiles {
    /// The downloads folder of this home.
    pub fn new(home: PathBuf) -> Self {
        Self { home, named: Mutex::default() }
    }

    /// The home folder.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Renames a complete download and returns its path: `report (1).pdf` if there is a
    /// `report.pdf`. Repeated calls return the same path.
    pub fn finish(&self, guid: &str, suggested: &str) -> Option<PathBuf> {
        let plain = |c: char| c.is_ascii_hexdigit() || c == '-';
        if guid.is_empty() || !guid.chars().all(plain) {
            return None;
        }
        let folder = self.home.join(FOLDER);
        let mut named = self.named.lock();
        if let Some((_, name)) = named.iter().find(|(known, _)| known == guid) {
            return Some(folder.join(name));
        }
        let name = self.rename(guid, suggested).ok()?;
        if named.len() >= REMEMBERED {
            named.pop_front();
        }
        named.push_back((guid.to_owned(), name.clone()));
        Some(folder.join(name))
    }

    fn rename(&self, guid: &str, suggested: &str) -> Result<String, Errno> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let home = openat(CWD, &self.home, flags, Mode::empty())?;
        let folder = openat(&home, FOLDER, flags, Mode::empty())?;
        for number in 0..MOST_OF_A_NAME {
            let name = numbered(suggested, number);
            match renameat_with(&folder, guid, &folder, &name, RenameFlags::NOREPLACE) {
                Err(Errno::EXIST) => {}
                renamed => return renamed.map(|()| name),
            }
        }
        Err(Errno::EXIST)
    }
}

/// Makes a name unique in the way Chromium does.
fn numbered(suggested: &str, number: usize) -> String {
    let name = Path::new(suggested).file_name().map(|name| name.to_string_lossy().into_owned());
    let name = name.unwrap_or_else(|| "download".to_owned());
    if number == 0 {
        return name;
    }
    match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() => format!("{stem} ({number}).{extension}"),
        _ => format!("{name} ({number})"),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_second_download_of_the_same_name_does_not_replace_the_first() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join(FOLDER);
        fs::create_dir(&folder).unwrap();
        let files = DownloadFiles::new(home.path().to_owned());
        for (guid, content) in [("a-1", "first"), ("a-2", "second")] {
            fs::write(folder.join(guid), content).unwrap();
        }
        assert_eq!(files.finish("a-1", "r.pdf"), Some(folder.join("r.pdf")));
        assert_eq!(files.finish("a-2", "r.pdf"), Some(folder.join("r (1).pdf")));
        // A repeated call returns the same path.
        assert_eq!(files.finish("a-2", "r.pdf"), Some(folder.join("r (1).pdf")));
        assert_eq!(fs::read_to_string(folder.join("r.pdf")).unwrap(), "first");
        assert_eq!(fs::read_to_string(folder.join("r (1).pdf")).unwrap(), "second");
    }

    #[test]
    fn a_name_or_number_cannot_leave_the_folder() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join(FOLDER);
        fs::create_dir(&folder).unwrap();
        fs::write(home.path().join("secret"), "").unwrap();
        fs::write(folder.join("b-1"), "").unwrap();
        let files = DownloadFiles::new(home.path().to_owned());
        assert_eq!(files.finish("../secret", "x"), None);
        assert_eq!(files.finish("b-1", "../../x.txt"), Some(folder.join("x.txt")));
        assert_eq!(files.finish("b-2", "x"), None);
    }
}
