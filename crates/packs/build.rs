//! Lists the packs: every file of `src/packs` is one, so that a new pack is one new file.

use std::{env, error::Error, fmt::Write as _, fs, path::Path};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("src/packs");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "rs")
            && let Some(name) = path.file_stem().and_then(|name| name.to_str())
        {
            names.push(name.to_owned());
        }
    }
    names.sort();
    let mut code = String::new();
    for name in &names {
        writeln!(code, "#[path = {:?}]\nmod {name};", folder.join(format!("{name}.rs")))?;
    }
    let calls: Vec<_> = names.iter().map(|name| format!("{name}::pack()")).collect();
    write!(
        code,
        "\n/// Every pack.\npub fn all() -> Vec<Pack> {{\n    vec![{}]\n}}\n",
        calls.join(", ")
    )?;
    fs::write(Path::new(&env::var("OUT_DIR")?).join("packs.rs"), code)?;
    Ok(())
}
