//! Uploaded extensions: a .zip, or a .crx, which is a .zip with a signature in front.

use std::{
    fs::File,
    io::{self, BufRead as _, BufReader, Read, Seek as _, Write},
};

use serde::Deserialize;
use serde_json::Value;
use tar::{Builder, EntryType, Header};
use zip::{ZipArchive, result::ZipError};

/// Maximum unpacked size of all files.
const MAX_BYTES: u64 = 256 << 20;
const MAX_FILES: usize = 10_000;
const MAX_PATH: usize = 500;
const MAX_MANIFEST: u64 = 1 << 20;
const MAX_TITLE: usize = 200;
const MANIFEST: &str = "manifest.json";
/// Entries that archivers and stores add, and that browsers refuse or ignore.
const LEFT_OUT: [&str; 3] = ["__MACOSX", "_metadata", ".DS_Store"];

/// Why an upload is refused.
#[derive(Debug)]
pub(super) enum BadPackage {
    /// It is not a valid extension.
    Wrong(String),
    /// The owner has reached the limit.
    NoRoom,
    /// A local I/O error.
    Io(io::Error),
}

impl From<io::Error> for BadPackage {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            // Errors of reading a damaged archive.
            io::ErrorKind::InvalidData
            | io::ErrorKind::InvalidInput
            | io::ErrorKind::UnexpectedEof => wrong(format!("the archive is damaged: {error}")),
            _ => Self::Io(error),
        }
    }
}

impl From<ZipError> for BadPackage {
    fn from(error: ZipError) -> Self {
        match error {
            ZipError::Io(error) => error.into(),
            other => wrong(format!("the archive cannot be read: {other}")),
        }
    }
}

fn wrong(why: impl Into<String>) -> BadPackage {
    BadPackage::Wrong(why.into())
}

/// An archive whose names and sizes were checked.
pub(super) struct Package {
    zip: ZipArchive<BufReader<File>>,
    /// Folder of the manifest with a trailing slash, or empty.
    root: String,
    files: Vec<Packed>,
    size: u64,
}

struct Packed {
    index: usize,
    /// Path relative to the manifest's folder.
    name: String,
    size: u64,
}

/// Fields of the manifest.
#[derive(Debug)]
pub(super) struct Manifest {
    pub title: String,
    pub version: String,
    pub manifest_version: u8,
}

#[derive(Deserialize)]
struct RawManifest {
    name: String,
    version: String,
    manifest_version: u8,
    default_locale: Option<String>,
}

/// Upper bound of the number of files: each entry begins with these bytes.
fn entries(file: &mut BufReader<File>) -> io::Result<usize> {
    const ENTRY: [u8; 4] = *b"PK\x01\x02";
    let (mut found, mut last) = (0, [0; 4]);
    loop {
        let chunk = file.fill_buf()?;
        if chunk.is_empty() {
            break;
        }
        for byte in chunk {
            let [_, second, third, fourth] = last;
            last = [second, third, fourth, *byte];
            found += usize::from(last == ENTRY);
        }
        let length = chunk.len();
        file.consume(length);
    }
    file.rewind()?;
    Ok(found)
}

impl Package {
    pub fn open(file: File) -> Result<Self, BadPackage> {
        let mut file = BufReader::new(file);
        // Checked before the list of files is allocated.
        let listed = entries(&mut file)?;
        if listed > MAX_FILES {
            return Err(wrong(format!("{listed} files: at most {MAX_FILES} are allowed")));
        }
        let mut zip = ZipArchive::new(file)
            .map_err(|error| wrong(format!("the upload is neither a .zip nor a .crx: {error}")))?;
        if zip.len() > MAX_FILES {
            return Err(wrong(format!("{} files: at most {MAX_FILES} are allowed", zip.len())));
        }
        let (mut files, mut size) = (Vec::new(), 0_u64);
        for index in 0..zip.len() {
            let entry = zip.by_index_raw(index)?;
            let name = entry.name()?.into_owned();
            let left_out = |part: &str| LEFT_OUT.contains(&part);
            if entry.is_dir() || name.split('/').any(left_out) {
                continue;
            }
            check_name(&name)?;
            // The file type is in the highest bits of the mode, if there is one.
            let kind = entry.unix_mode().unwrap_or_default() & 0o170_000;
            if entry.is_symlink() || !matches!(kind, 0 | 0o100_000) {
                return Err(wrong(format!("{name:?} is not a file: links are not allowed")));
            }
            if entry.encrypted() {
                return Err(wrong(format!("{name:?} is encrypted")));
            }
            size = size.saturating_add(entry.size());
            if size > MAX_BYTES {
                return Err(wrong(format!("more than {} MB unpacked", MAX_BYTES >> 20)));
            }
            files.push(Packed { index, name, size: entry.size() });
        }
        let root = root(&files)?;
        for file in &mut files {
            file.name = file.name.split_off(root.len());
        }
        Ok(Self { zip, root, files, size })
    }

    pub fn size(&self) -> u64 {
        self.size
    }

    pub fn files(&self) -> u32 {
        u32::try_from(self.files.len()).unwrap_or(u32::MAX)
    }

    /// Reads and checks the manifest.
    pub fn manifest(&mut self) -> Result<Manifest, BadPackage> {
        let Some(text) = self.read(MANIFEST)? else {
            return Err(wrong(format!("{}{MANIFEST} is missing", self.root)));
        };
        let text = text.trim_start_matches('\u{feff}');
        let manifest: RawManifest = serde_json::from_str(text)
            .map_err(|error| wrong(format!("{MANIFEST} cannot be used: {error}")))?;
        if !matches!(manifest.manifest_version, 2 | 3) {
            let version = manifest.manifest_version;
            return Err(wrong(format!("manifest_version is {version}: expected 2 or 3")));
        }
        let title = self.title(manifest.name, manifest.default_locale)?;
        let (version, manifest_version) = (printable(&manifest.version), manifest.manifest_version);
        if title.is_empty() || version.is_empty() {
            return Err(wrong(format!("{MANIFEST} has an empty name or version")));
        }
        Ok(Manifest { title, version, manifest_version })
    }

    /// Writes all files as a tar archive with the manifest at its root. The reader creates missing
    /// folders.
    pub fn write_to(&mut self, out: &mut impl Write) -> Result<(), BadPackage> {
        let mut archive = Builder::new(out);
        for Packed { index, name, size } in &self.files {
            // Bytes beyond the declared size would be read as the next header.
            let mut content = self.zip.by_index(*index)?.take(size + 1);
            archive.append_data(&mut header(*size), name, &mut content)?;
            if content.limit() != 1 {
                return Err(wrong(
                    "the archive is damaged: a file does not have its declared size",
                ));
            }
        }
        Ok(archive.finish()?)
    }

    /// The title, which may refer to a message in the extension's default language.
    fn title(&mut self, name: String, locale: Option<String>) -> Result<String, BadPackage> {
        let key = name.strip_prefix("__MSG_").and_then(|rest| rest.strip_suffix("__"));
        let (Some(key), Some(locale)) = (key, locale) else { return Ok(printable(&name)) };
        let messages = self.read(&format!("_locales/{locale}/messages.json"))?;
        let messages: Value =
            messages.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        let all = messages.as_object().into_iter().flatten();
        let message = all.filter(|(known, _)| known.eq_ignore_ascii_case(key));
        let message = message.filter_map(|(_, value)| value.get("message")?.as_str()).next();
        Ok(printable(message.unwrap_or(&name)))
    }

    fn read(&mut self, name: &str) -> Result<Option<String>, BadPackage> {
        let Some(file) = self.files.iter().find(|file| file.name == name) else { return Ok(None) };
        if file.size > MAX_MANIFEST {
            return Err(wrong(format!("{name} is larger than {} MB", MAX_MANIFEST >> 20)));
        }
        let mut text = String::new();
        self.zip.by_index(file.index)?.take(MAX_MANIFEST).read_to_string(&mut text)?;
        Ok(Some(text))
    }
}

/// The tar header of a file of this size, without its name.
fn header(size: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(EntryType::Regular);
    header.set_mode(0o644);
    header.set_uid(0);
    header.set_gid(0);
    header.set_size(size);
    header
}

/// Folder of the manifest: the archive's root, or the single folder that holds everything.
fn root(files: &[Packed]) -> Result<String, BadPackage> {
    if files.iter().any(|file| file.name == MANIFEST) {
        return Ok(String::new());
    }
    let first = files.first().and_then(|file| file.name.split_once('/'));
    let root = first.map(|(folder, _)| format!("{folder}/")).unwrap_or_default();
    let inside = files.iter().all(|file| file.name.starts_with(&root));
    let manifest = format!("{root}{MANIFEST}");
    if inside && files.iter().any(|file| file.name == manifest) {
        return Ok(root);
    }
    Err(wrong(format!("there is no {MANIFEST} at the root or in a single folder")))
}

/// Refuses names that could lead outside the root.
fn check_name(name: &str) -> Result<(), BadPackage> {
    let odd = |part: &str| matches!(part, "" | "." | "..") || part.len() > 255;
    let control = |c: char| c.is_control() || c == '\\';
    if name.len() > MAX_PATH || name.contains(control) || name.split('/').any(odd) {
        let name: String = name.chars().take(80).collect();
        return Err(wrong(format!("{name:?} is not a valid file name in an extension")));
    }
    Ok(())
}

fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(MAX_TITLE).collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests;
