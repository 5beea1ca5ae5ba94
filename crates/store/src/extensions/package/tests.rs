//! Valid and invalid uploads, and the messages about them.

use std::io::{Cursor, Seek, SeekFrom};

use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

use super::*;

const GOOD: &str = r#"{"manifest_version": 3, "name": "Marker", "version": "1.2"}"#;

type Files<'a> = &'a [(&'a str, &'a [u8])];

fn zipped(files: Files<'_>) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    for (name, content) in files {
        zip.start_file(*name, options).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn package(bytes: &[u8]) -> Result<Package, BadPackage> {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file.seek(SeekFrom::Start(0)).unwrap();
    Package::open(file)
}

/// The message for a refused upload.
fn refusal(bytes: &[u8]) -> String {
    let refused = package(bytes).and_then(|mut package| {
        package.manifest()?;
        package.write_to(&mut io::sink())
    });
    match refused {
        Err(BadPackage::Wrong(why)) => why,
        other => panic!("{other:?}"),
    }
}

/// The names and contents that tar reads in an archive.
fn unpacked(archive: &[u8]) -> Vec<(String, Vec<u8>)> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("archive.tar");
    std::fs::write(&path, archive).unwrap();
    let run = |arguments: &[&str]| {
        let mut tar = std::process::Command::new("tar");
        let output = tar.arg("--file").arg(&path).args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    let names = String::from_utf8(run(&["--list"])).unwrap();
    let content = |name: &str| run(&["--extract", "--to-stdout", name]);
    names.lines().map(|name| (name.to_owned(), content(name))).collect()
}

#[test]
fn a_zip_or_crx_becomes_an_archive_with_its_manifest_at_the_root() {
    let long = format!("scripts/{}/{}.js", "a".repeat(90), "b".repeat(90));
    let big = vec![b'x'; 70_000];
    let messages = br#"{"APPname": {"message": "Say it"}}"#;
    let manifest = br#"{"manifest_version": 2, "name": "__MSG_appName__", "version": "1",
                        "default_locale": "en"}"#;
    let files: &[(&str, &[u8])] = &[
        ("top/manifest.json", manifest),
        (&format!("top/{long}"), &big),
        ("top/_locales/en/messages.json", messages),
        ("top/_metadata/verified_contents.json", b"{}"),
        ("__MACOSX/top/._manifest.json", b"x"),
    ];
    let zip = zipped(files);
    // Version 3: a length, and that many bytes before the archive.
    let crx = [b"Cr24\x03\0\0\0\x04\0\0\0abcd".as_slice(), &zip].concat();
    for bytes in [zip, crx] {
        let mut package = package(&bytes).unwrap();
        let manifest = package.manifest().unwrap();
        assert_eq!((manifest.title.as_str(), manifest.manifest_version), ("Say it", 2));
        assert_eq!(package.files(), 3);
        let mut archive = Vec::new();
        package.write_to(&mut archive).unwrap();
        let found = unpacked(&archive);
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["manifest.json", &long, "_locales/en/messages.json"]);
        assert_eq!(found[1].1, big);
    }
}

#[test]
fn an_invalid_extension_is_refused_with_a_reason() {
    let manifest = |text: &str| refusal(&zipped(&[("manifest.json", text.as_bytes())]));
    assert!(refusal(b"hello").contains("neither a .zip nor a .crx"));
    assert!(refusal(&zipped(&[])).contains("no manifest.json"));
    let two: Files<'_> = &[("a/manifest.json", GOOD.as_bytes()), ("b/x.js", b"")];
    assert!(refusal(&zipped(two)).contains("no manifest.json"));
    assert!(manifest("{").contains("manifest.json cannot be used"));
    assert!(manifest(r#"{"name": "x"}"#).contains("version"));
    assert!(manifest(&GOOD.replace('3', "1")).contains("expected 2 or 3"));
    assert!(manifest(&GOOD.replace("Marker", " ")).contains("empty name"));
}

#[test]
fn names_that_lead_out_links_and_bombs_are_refused() {
    let with = |name: &str| refusal(&zipped(&[("manifest.json", GOOD.as_bytes()), (name, b"x")]));
    for name in ["../x", "a/../../x", "/etc/x", "a//x", "./x", "a\\x", "a\nx", &"x".repeat(300)] {
        assert!(with(name).contains("not a valid file name"), "{name}");
    }
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    zip.add_symlink("manifest.json", "/etc/passwd", SimpleFileOptions::default()).unwrap();
    assert!(refusal(&zip.finish().unwrap().into_inner()).contains("links"));

    let zeros = vec![0; 65 << 20];
    let bomb: Files<'_> = &[("a", &zeros), ("b", &zeros), ("c", &zeros), ("d", &zeros)];
    let bomb = zipped(bomb);
    assert!(bomb.len() < 1 << 20, "the upload is small");
    assert!(refusal(&bomb).contains("more than 256 MB"));
    let names: Vec<String> = (0..=MAX_FILES).map(|n| n.to_string()).collect();
    let many: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b""[..])).collect();
    assert!(refusal(&zipped(&many)).contains("at most 10000"));

    // An entry that declares a smaller size than it has.
    let mut lying = zipped(&[("manifest.json", GOOD.as_bytes()), ("big", &[7; 5000])]);
    let size = 5000_u32.to_le_bytes();
    while let Some(at) = lying.windows(4).position(|bytes| bytes == size) {
        lying[at..at + 4].copy_from_slice(&10_u32.to_le_bytes());
    }
    assert!(refusal(&lying).contains("damaged"));
}
