//! Lists the migrations for `src/migrations.rs`. The macro of sqlx that does this builds SQLite a
//! second time, for the compiler.

use std::{env, error::Error, fmt::Write, fs, path::Path};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=migrations");
    let dir = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("migrations");
    let mut names = Vec::new();
    for entry in fs::read_dir(&dir)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort_unstable();
    let mut list = String::from("&[\n");
    for name in names {
        let parts = name.strip_suffix(".sql").and_then(|stem| stem.split_once('_'));
        let (number, title) = parts.ok_or(format!("{name}: expected NNNN_what_it_does.sql"))?;
        let (number, title): (i64, _) = (number.parse()?, title.replace('_', " "));
        writeln!(list, "({number}, {title:?}, include_str!({:?})),", dir.join(name))?;
    }
    list.push_str("]\n");
    fs::write(Path::new(&env::var("OUT_DIR")?).join("migrations.rs"), list)?;
    Ok(())
}
