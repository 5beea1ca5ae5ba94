//! Embeds the web page in the binary: a table of its files, or an empty table if it was not built.

use std::{env, fs, io::Result, path::Path};

fn main() -> Result<()> {
    let manifest = env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let dist = Path::new(&manifest).join("../../web/dist");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={}", dist.display());
    let mut files = Vec::new();
    collect(&dist, "", &mut files)?;
    files.retain(|(name, _)| name != "/.made-of");
    files.sort();
    let out = env::var("OUT_DIR").unwrap_or_default();
    let mut table = String::from("&[\n");
    for (number, (name, path)) in files.iter().enumerate() {
        // Copy the files: the page may be rebuilt before the compiler reads them.
        let copy = Path::new(&out).join(format!("page-{number}"));
        fs::copy(path, &copy)?;
        table += &format!("    ({name:?}, include_bytes!({copy:?}).as_slice()),\n");
    }
    fs::write(Path::new(&out).join("pages.rs"), table + "]\n")
}

/// All files below a directory, with their relative paths.
fn collect(dir: &Path, prefix: &str, files: &mut Vec<(String, String)>) -> Result<()> {
    let Ok(entries) = fs::read_dir(dir) else { return Ok(()) };
    for entry in entries {
        let entry = entry?;
        let name = format!("{prefix}/{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), &name, files)?;
        } else {
            files.push((name, entry.path().canonicalize()?.display().to_string()));
        }
    }
    Ok(())
}
