//! `helmdeck backup` and `helmdeck restore`: the data directory as one file.

use std::{
    error::Error,
    fs::{self, File, OpenOptions},
    io::{self, BufReader, BufWriter, IsTerminal, Write, stdin, stdout},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use helmdeck_server::{Config, backup};
use helmdeck_store::backup::{BackupSize, Contents};
use helmdeck_task::block_on;
use time::format_description::well_known::Rfc3339;

/// Bytes that are written or read at once.
const BUFFER: usize = 1 << 18;

#[derive(clap::Args)]
pub struct BackupArgs {
    /// The new file, in the tar format; `-` for standard output.
    file: PathBuf,
}

#[derive(clap::Args)]
pub struct RestoreArgs {
    /// The backup; `-` for standard input.
    file: PathBuf,
    /// Replace the data that the directory has. Keys and settings stay.
    #[arg(long)]
    force: bool,
}

/// Writes a backup, and says what it leaves out.
pub fn back_up(config: &Config, args: &BackupArgs) -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let size = if args.file == Path::new("-") {
        if stdout().is_terminal() {
            return Err("standard output is a terminal: write the backup to a file".into());
        }
        let mut out = BufWriter::with_capacity(BUFFER, stdout().lock());
        block_on(&runtime, backup::back_up(config, &mut out))?
    } else {
        let shown = |error: io::Error| format!("{}: {error}", args.file.display());
        let mut options = OpenOptions::new();
        let options = options.write(true).create_new(true).mode(0o600);
        let file = options.open(&args.file).map_err(shown)?;
        let mut out = BufWriter::with_capacity(BUFFER, &file);
        let written = block_on(&runtime, backup::back_up(config, &mut out));
        let size = written.inspect_err(|_| {
            // Part of a backup is worse than none.
            let _ = fs::remove_file(&args.file);
        })?;
        file.sync_all().map_err(shown)?;
        size
    };
    let BackupSize { files, bytes } = size;
    // Standard output may be the backup itself.
    let mut out = io::stderr().lock();
    writeln!(out, "Files in the backup: {files} ({bytes} bytes).")?;
    if let Some(bucket) = &config.s3.bucket {
        writeln!(
            out,
            "It has no content of artifacts that is in the S3 bucket {bucket}: back up the bucket, too."
        )?;
    }
    writeln!(out, "It has no keys. Keep copies of these elsewhere:")?;
    for it in backup::left_out(config) {
        writeln!(out, "  {} {}", it.what, it.purpose)?;
    }
    Ok(())
}

/// Restores a backup, and says what is still missing.
pub fn restore(config: &Config, args: &RestoreArgs) -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let contents = if args.file == Path::new("-") {
        let mut from = BufReader::with_capacity(BUFFER, stdin().lock());
        block_on(&runtime, backup::restore(config, &mut from, args.force))?
    } else {
        let shown = |error: io::Error| format!("{}: {error}", args.file.display());
        let file = File::open(&args.file).map_err(shown)?;
        let mut from = BufReader::with_capacity(BUFFER, file);
        block_on(&runtime, backup::restore(config, &mut from, args.force))?
    };
    let Contents { created_at, size: BackupSize { files, bytes }, credentials } = contents;
    let made = created_at.replace_nanosecond(0).unwrap_or(created_at).format(&Rfc3339)?;
    let dir = config.data_dir.display();
    println!("Restored files: {files} ({bytes} bytes), as of {made}, in {dir}.");
    if credentials > 0 && !backup::has_vault_key(config) {
        println!(
            "Before you start the server, put the old vault.key into {dir}, or set \
             HELMDECK_VAULT_KEY: the {credentials} credentials of the vault need it."
        );
    }
    if !backup::has_token_key(config) {
        println!(
            "To keep tokens and links valid, also put the old jwt.secret there, or set \
             HELMDECK_JWT_SECRET."
        );
    }
    Ok(())
}
