//! Programs beyond those of every session. `scripts/packages.sh` installs them by toolset.

use std::path::Path;

use helmdeck_wire::ErrorCode;

use crate::PackError;

/// Programs that are installed together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Toolset {
    /// Name of the group in `scripts/packages.sh`.
    pub name: &'static str,
    /// Its programs.
    pub programs: &'static [&'static str],
    /// What it is for.
    pub used_for: &'static str,
}

/// All toolsets.
pub const TOOLSETS: [Toolset; 3] = [
    Toolset { name: "code", programs: &["python3", "node"], used_for: "python.run, node.run" },
    Toolset {
        name: "documents",
        programs: &["pdfinfo", "pdftohtml", "pdftoppm", "tesseract"],
        used_for: "doc.parse of PDF and pictures, doc.ocr",
    },
    Toolset { name: "media", programs: &["ffprobe", "ffmpeg"], used_for: "av.validate" },
];

/// Where sandboxes look for programs: they have only the machine's /usr.
const FOLDERS: [&str; 3] = ["/usr/local/bin", "/usr/bin", "/bin"];

impl Toolset {
    /// The toolset that has a program.
    pub fn of(program: &str) -> Option<&'static Self> {
        TOOLSETS.iter().find(|toolset| toolset.programs.contains(&program))
    }

    /// The command that installs it.
    pub fn install(&self) -> String {
        format!("scripts/packages.sh install {}", self.name)
    }

    /// Its programs that are not installed on this machine.
    pub fn missing(&self) -> Vec<&'static str> {
        let is_missing = |program: &&&str| !is_installed(program, &FOLDERS);
        self.programs.iter().filter(is_missing).copied().collect()
    }
}

/// Why a pack that needs these programs cannot run on this machine.
pub fn unavailable(programs: &[&str]) -> Option<String> {
    unavailable_in(programs, &FOLDERS)
}

fn unavailable_in(programs: &[&str], folders: &[&str]) -> Option<String> {
    let is_missing = |program: &&&str| !is_installed(program, folders);
    let missing: Vec<_> = programs.iter().filter(is_missing).copied().collect();
    let first = missing.first()?;
    let verb = if missing.len() == 1 { "is" } else { "are" };
    let fix = match Toolset::of(first) {
        Some(toolset) => format!("on the server, run {}", toolset.install()),
        None => format!("install {} on the server", missing.join(" and ")),
    };
    Some(format!("{} {verb} not installed: {fix}", missing.join(", ")))
}

fn is_installed(program: &str, folders: &[&str]) -> bool {
    folders.iter().any(|folder| Path::new(folder).join(program).is_file())
}

/// The error for a program that the session does not have.
pub fn not_installed(program: &str) -> PackError {
    let error =
        PackError::new(ErrorCode::NotReady, format!("{program} is not installed")).permanent();
    match Toolset::of(program) {
        Some(toolset) => error.hint(format!("on the server, run {}", toolset.install())),
        None => error.hint(format!("install {program} on the server")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_names_the_command_that_installs_the_toolset() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().to_str().unwrap();
        std::fs::write(dir.path().join("ffprobe"), "").unwrap();
        assert_eq!(unavailable_in(&["ffprobe"], &[folder]), None);
        assert_eq!(
            unavailable_in(&["ffprobe", "ffmpeg"], &[folder]).unwrap(),
            "ffmpeg is not installed: on the server, run scripts/packages.sh install media"
        );
        assert_eq!(
            unavailable_in(&["node"], &[folder]).unwrap(),
            "node is not installed: on the server, run scripts/packages.sh install code"
        );
        let other = unavailable_in(&["no-such-program"], &[folder]).unwrap();
        assert!(other.ends_with("install no-such-program on the server"), "{other}");
    }

    #[test]
    fn a_missing_program_is_not_a_reason_to_try_again() {
        let error = not_installed("tesseract");
        assert_eq!((error.code(), error.body().retryable), (ErrorCode::NotReady, Some(false)));
        let hint = error.body().hint.as_deref().unwrap();
        assert_eq!(hint, "on the server, run scripts/packages.sh install documents");
    }
}
