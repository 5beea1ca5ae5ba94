//! The certificate that the server makes for itself.

use std::{
    fs::{self, DirBuilder, OpenOptions},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::Path,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use helmdeck_tls::{FileError, certificates, provider};
use rcgen::{CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair};
use rustls::{
    RootCertStore,
    client::{WebPkiServerVerifier, danger::ServerCertVerifier},
    pki_types::{CertificateDer, ServerName, UnixTime},
};
use time::OffsetDateTime;

use super::{Files, TlsError};
use crate::Config;

/// How long it is valid. Apple's systems refuse more than 825 days.
const LIFE: time::Duration = time::Duration::days(824);
/// How far the clock of a client may be behind.
const BEFORE: time::Duration = time::Duration::days(1);
/// One that expires sooner is replaced at the server's start.
const LEAST_LIFE: Duration = Duration::from_secs(30 * 24 * 3600);

/// Where it is kept.
pub fn files(data_dir: &Path) -> Files {
    let dir = data_dir.join("tls");
    Files { cert: dir.join("self-signed.pem"), key: dir.join("self-signed.key") }
}

/// Makes the certificate, unless there is one that is still good for these settings.
pub fn ensure(config: &Config) -> Result<(), TlsError> {
    let files = files(&config.data_dir);
    let names = required_names(config);
    if is_good(&files, &names, SystemTime::now() + LEAST_LIFE) {
        return Ok(());
    }
    make(&files, names)
}

/// The names that clients certainly use.
fn required_names(config: &Config) -> Vec<String> {
    let mut names: Vec<_> = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).into();
    if !config.addr.ip().is_unspecified() {
        names.push(config.addr.ip().to_string());
    }
    let public = config.live.vnc_public_base.as_ref().and_then(http::Uri::host);
    names.extend(public.map(|host| host.trim_matches(['[', ']']).to_owned()));
    names
}

/// Whether there is a certificate with its key for all these names that is valid until then.
fn is_good(files: &Files, names: &[String], until: SystemTime) -> bool {
    let Ok(since_1970) = until.duration_since(UNIX_EPOCH) else { return false };
    let until = UnixTime::since_unix_epoch(since_1970);
    let Ok(chain) = certificates(&files.cert) else { return false };
    let [certificate] = chain.as_slice() else { return false };
    let Some(verifier) = verifier(certificate) else { return false };
    files.load().is_ok()
        && names.iter().all(|name| {
            let Ok(name) = ServerName::try_from(name.as_str()) else { return false };
            verifier.verify_server_cert(certificate, &[], &name, &[], until).is_ok()
        })
}

/// Trusts this certificate and no other.
fn verifier(certificate: &CertificateDer<'static>) -> Option<Arc<WebPkiServerVerifier>> {
    let mut roots = RootCertStore::empty();
    roots.add(certificate.clone()).ok()?;
    WebPkiServerVerifier::builder_with_provider(roots.into(), provider()).build().ok()
}

fn make(files: &Files, mut names: Vec<String>) -> Result<(), TlsError> {
    // A name for some networks. The certificate stays when the machine is renamed.
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    if ServerName::try_from(host.as_str()).is_ok() {
        names.push(host);
    }
    names.sort();
    names.dedup();
    let mut about = CertificateParams::new(names).map_err(TlsError::NotMade)?;
    let now = OffsetDateTime::now_utc();
    (about.not_before, about.not_after) = (now - BEFORE, now + LIFE);
    about.distinguished_name = DistinguishedName::new();
    about.distinguished_name.push(DnType::CommonName, "helmdeck");
    // A client that trusts it trusts this server, and no other certificate.
    about.is_ca = IsCa::ExplicitNoCa;
    about.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let key = KeyPair::generate().map_err(TlsError::NotMade)?;
    let certificate = about.self_signed(&key).map_err(TlsError::NotMade)?;
    if let Some(dir) = files.key.parent() {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(dir);
        made.map_err(|source| FileError::io(dir, source))?;
    }
    put(&files.key, &pem("PRIVATE KEY", key.serialized_der()))?;
    put(&files.cert, &pem("CERTIFICATE", certificate.der()))
}

fn pem(what: &str, der: &[u8]) -> String {
    let mut text = format!("-----BEGIN {what}-----\n");
    // 64 characters on each line.
    for bytes in der.chunks(48) {
        STANDARD.encode_string(bytes, &mut text);
        text.push('\n');
    }
    text + &format!("-----END {what}-----\n")
}

/// Writes a file that only its owner can read, whole or not at all.
fn put(path: &Path, content: &str) -> Result<(), TlsError> {
    let draft = path.with_extension("new");
    let written = || -> io::Result<()> {
        let mut options = OpenOptions::new();
        let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
        file.write_all(content.as_bytes())?;
        file.sync_all()?;
        fs::rename(&draft, path)
    };
    written().map_err(|source| FileError::io(path, source).into())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn config(dir: &Path, env: &[(&str, &str)]) -> Config {
        let dir = ("HELMDECK_DATA_DIR", dir.to_str().unwrap());
        let env = env.iter().copied().chain([dir]);
        Config::load(None, env.map(|(name, value)| (name.to_owned(), value.to_owned()))).unwrap()
    }

    #[test]
    fn the_certificate_is_made_once_and_its_key_is_private() {
        let dir = tempfile::tempdir().unwrap();
        let (config, files) = (config(dir.path(), &[]), files(dir.path()));
        ensure(&config).unwrap();
        let first = fs::read(&files.cert).unwrap();
        ensure(&config).unwrap();
        assert_eq!(fs::read(&files.cert).unwrap(), first);
        let mode = fs::metadata(&files.key).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(fs::read_dir(dir.path().join("tls")).unwrap().count(), 2);
    }

    #[test]
    fn the_certificate_names_loopback_the_public_address_and_the_machine() {
        let dir = tempfile::tempdir().unwrap();
        let public = [("HELMDECK_VNC_PUBLIC_BASE", "https://desk.example.com:8443/x")];
        let (config, files) = (config(dir.path(), &public), files(dir.path()));
        ensure(&config).unwrap();
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        for name in ["localhost", "127.0.0.1", "::1", "desk.example.com", &host] {
            assert!(is_good(&files, &[name.to_owned()], SystemTime::now()), "{name}");
        }
        assert!(!is_good(&files, &["other.example.com".to_owned()], SystemTime::now()));
    }

    #[test]
    fn a_certificate_is_replaced_for_another_public_address_or_before_it_expires() {
        let dir = tempfile::tempdir().unwrap();
        let files = files(dir.path());
        ensure(&config(dir.path(), &[])).unwrap();
        let first = fs::read(&files.cert).unwrap();
        let public = config(dir.path(), &[("HELMDECK_VNC_PUBLIC_BASE", "https://[2001:db8::1]")]);
        ensure(&public).unwrap();
        assert_ne!(fs::read(&files.cert).unwrap(), first);

        let names = required_names(&public);
        let after = |days: u64| SystemTime::now() + Duration::from_secs(days * 24 * 3600);
        assert!(is_good(&files, &names, after(820)));
        assert!(!is_good(&files, &names, after(830)));
    }

    #[test]
    fn a_certificate_that_lost_its_key_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let (config, files) = (config(dir.path(), &[]), files(dir.path()));
        ensure(&config).unwrap();
        let other = KeyPair::generate().unwrap();
        fs::write(&files.key, pem("PRIVATE KEY", other.serialized_der())).unwrap();
        assert!(files.load().is_err());
        ensure(&config).unwrap();
        files.load().unwrap();
    }
}
