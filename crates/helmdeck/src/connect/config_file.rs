//! Settings files of other programs: read, back up, replace atomically.

use std::{
    fs::{self, OpenOptions},
    io::{ErrorKind, Write},
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

/// A settings file, which may not exist yet.
pub struct ConfigFile {
    path: PathBuf,
    text: String,
    exists: bool,
}

impl ConfigFile {
    /// Reads the file. Follows symbolic links, so that they are kept.
    pub fn read(path: PathBuf) -> Result<Self, String> {
        let path = fs::canonicalize(&path).unwrap_or(path);
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Self { path, text, exists: true }),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                Ok(Self { path, text: String::new(), exists: false })
            }
            Err(error) => Err(format!("{}: {error}", path.display())),
        }
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its content.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Replaces the file atomically. Returns the path of the backup.
    pub fn replace(&self, text: &str) -> Result<Option<PathBuf>, String> {
        let failed = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
        if let Some(dir) = self.path.parent() {
            fs::create_dir_all(dir).map_err(|error| failed(dir, error))?;
        }
        let backup = self.exists.then(|| self.beside("bak"));
        if let Some(backup) = &backup {
            fs::copy(&self.path, backup).map_err(|error| failed(backup, error))?;
        }
        let new = self.beside("new");
        let written = write_new(&new, text)
            .and_then(|()| match fs::metadata(&self.path) {
                Ok(old) => fs::set_permissions(&new, old.permissions()),
                Err(_) => Ok(()),
            })
            .and_then(|()| fs::rename(&new, &self.path));
        written.map_err(|error| {
            let _ = fs::remove_file(&new);
            failed(&self.path, error)
        })?;
        Ok(backup)
    }

    /// Whether other users of this machine can read it.
    pub fn is_readable_by_others(&self) -> bool {
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            fs::metadata(&self.path).is_ok_and(|it| it.permissions().mode() & 0o044 != 0)
        }
        #[cfg(not(unix))]
        false
    }

    /// An unused path in the same directory.
    fn beside(&self, ending: &str) -> PathBuf {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut name = self.path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".helmdeck-{}.{ending}", now.as_millis()));
        self.path.with_file_name(name)
    }
}

/// Writes a file that only this user can read.
fn write_new(path: &Path, text: &str) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    let mut file = options.open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_new_file_is_private_and_an_existing_one_keeps_its_mode_and_gets_a_backup() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("deep/settings.json");
        let file = ConfigFile::read(path.clone()).unwrap();
        assert_eq!(file.replace("one").unwrap(), None);
        assert_eq!((mode(&path), file.is_readable_by_others()), (0o600, false));

        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let file = ConfigFile::read(path.clone()).unwrap();
        let backup = file.replace("two").unwrap().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(fs::read_to_string(&backup).unwrap(), "one");
        assert_eq!((mode(&path), file.is_readable_by_others()), (0o644, true));
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 2);
    }

    #[test]
    fn symbolic_links_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let (real, link) = (dir.path().join("real"), dir.path().join("link"));
        fs::write(&real, "one").unwrap();
        symlink(&real, &link).unwrap();
        ConfigFile::read(link.clone()).unwrap().replace("two").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&real).unwrap(), "two");
    }
}
