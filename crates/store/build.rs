//! Lists the migrations, so that a new one is one new file. `sqlx::migrate!` does the same, but
//! needs the database driver a second time, compiled for the macro.

use std::{env, error::Error, fmt::Write as _, fs, path::Path};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("migrations");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files: Vec<_> = fs::read_dir(&folder)?.collect::<Result<_, _>>()?;
    files.sort_by_key(fs::DirEntry::file_name);
    let mut code = String::from("[\n");
    for file in files {
        let path = file.path();
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let (version, name) = stem.split_once('_').ok_or("a migration is named NUMBER_name.sql")?;
        let (version, name) = (version.parse::<i64>()?, name.replace('_', " "));
        writeln!(code, "    ({version}, {name:?}, include_str!({path:?})),")?;
    }
    code.push_str("]\n");
    fs::write(Path::new(&env::var("OUT_DIR")?).join("migrations.rs"), code)?;
    Ok(())
}
