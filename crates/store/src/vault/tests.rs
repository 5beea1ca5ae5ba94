//! Sealing, keys, grants and destinations, with a real database.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use helmdeck_wire::vault::UsageResult;
use secrecy::SecretString;
use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::AuditFilter;

const SECRET: &str = "ghp_0123456789abcdefSECRET";

fn caller(subject: &str, label: Option<&str>, scopes: &[&str]) -> Caller {
    Caller {
        subject: subject.into(),
        label: label.map(Into::into),
        scopes: scopes.iter().map(|scope| (*scope).to_owned()).collect(),
        ..Caller::default()
    }
}

fn agent(subject: &str) -> Caller {
    caller(subject, None, &["sessions:*", "vault:*"])
}

fn admin() -> Caller {
    caller("root", None, &["admin"])
}

fn new(name: &str, host: &str) -> NewCredential {
    serde_json::from_value(json!({ "name": name, "type": "api_key", "host_pattern": host }))
        .unwrap()
}

struct Fixture {
    dir: TempDir,
    store: Store,
    vault: Vault,
}

impl Fixture {
    async fn start() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        let vault = Vault::open(&store, from_file(dir.path())).await.unwrap();
        Self { dir, store, vault }
    }

    async fn add(&self, owner: &str, name: &str, host: &str) -> String {
        self.vault.add(&agent(owner), new(name, host), SECRET.into()).await.unwrap().id
    }

    async fn reopened(&self, setup: VaultSetup) -> Result<Vault, VaultError> {
        Vault::open(&self.store, setup).await
    }

    async fn run(&self, sql: &'static str) {
        sqlx::raw_sql(sql).execute(&self.store.pool).await.unwrap();
    }

    fn file(&self) -> PathBuf {
        key_file(self.dir.path())
    }

    async fn results(&self, owner: &str, id: &str) -> Vec<UsageResult> {
        let usage = self.vault.usage(&agent(owner), id).await.unwrap();
        usage.into_iter().map(|it| it.result).collect()
    }
}

fn from_file(dir: &Path) -> VaultSetup {
    VaultSetup { key: KeySource::File(key_file(dir)), old: None, environment: Vec::new() }
}

fn configured(key: char, old: Option<char>) -> VaultSetup {
    let key_of = |digit: char| VaultKey::parse(&digit.to_string().repeat(64)).unwrap();
    let key = KeySource::Configured(key_of(key).into());
    VaultSetup { key, old: old.map(key_of), environment: Vec::new() }
}

#[tokio::test]
async fn the_key_is_made_once_in_a_private_file_and_no_secret_is_in_the_database() {
    let it = Fixture::start().await;
    let id = it.add("ann", "github-token", "api.github.com").await;
    it.vault.resolve(&agent("ann"), "github-token", "api.github.com").await.unwrap();
    let mode = fs::metadata(it.file()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let again = it.reopened(from_file(it.dir.path())).await.unwrap();
    let secret = again.resolve(&agent("ann"), "github-token", "api.github.com").await.unwrap();
    assert_eq!(secret.text().unwrap(), SECRET);
    assert!(!format!("{secret:?}").contains(SECRET));
    assert!(id.starts_with("cred_"));
    it.store.close().await;
    for file in fs::read_dir(it.dir.path()).unwrap() {
        let bytes = fs::read(file.unwrap().path()).unwrap();
        assert!(!bytes.windows(SECRET.len()).any(|part| part == SECRET.as_bytes()));
    }
}

#[tokio::test]
async fn swapped_moved_and_changed_rows_are_detected() {
    let it = Fixture::start().await;
    it.add("ann", "one", "a.example").await;
    it.add("ann", "two", "b.example").await;
    let used = async |name, host| it.vault.resolve(&agent("ann"), name, host).await;
    let damaged = |result| matches!(result, Err(VaultError::Damaged { .. }));
    used("one", "a.example").await.unwrap();

    // The secret of one for the host of the other.
    it.run(
        "CREATE TEMP TABLE before AS SELECT name, sealed FROM credential;
         UPDATE credential SET sealed =
             (SELECT sealed FROM before WHERE before.name != credential.name)",
    )
    .await;
    assert!(damaged(used("one", "a.example").await) && damaged(used("two", "b.example").await));
    it.run("DELETE FROM credential").await;

    it.add("ann", "one", "a.example").await;
    it.run("UPDATE credential SET host_pattern = 'evil.example'").await;
    assert!(damaged(used("one", "evil.example").await));
    it.run("UPDATE credential SET host_pattern = 'a.example'").await;
    used("one", "a.example").await.unwrap();
    it.run("UPDATE credential SET sealed = substr(sealed, 1, length(sealed) - 1)").await;
    assert!(damaged(used("one", "a.example").await));
}

#[tokio::test]
async fn a_wrong_key_is_refused_when_the_vault_is_opened() {
    let it = Fixture::start().await;
    // Nothing is sealed yet: any key will do.
    let vault = it.reopened(configured('a', None)).await.unwrap();
    vault.add(&agent("ann"), new("one", "a.example"), SECRET.into()).await.unwrap();

    let refused = it.reopened(configured('b', None)).await.err().unwrap();
    assert!(matches!(refused, VaultError::WrongKey), "{refused}");
    let refused = it.reopened(from_file(it.dir.path())).await.err().unwrap();
    assert!(matches!(refused, VaultError::WrongKey), "{refused}");
    let refused = it.reopened(configured('b', Some('c'))).await.err().unwrap();
    assert!(matches!(refused, VaultError::WrongOldKey), "{refused}");
    let refused = vault.rekey().await.err().unwrap();
    assert!(matches!(refused, VaultError::KeyConfigured), "{refused}");

    let vault = it.reopened(configured('b', Some('a'))).await.unwrap();
    vault.resolve(&agent("ann"), "one", "a.example").await.unwrap();
    // The old key may stay in the settings.
    it.reopened(configured('b', Some('a'))).await.unwrap();
    assert!(it.reopened(configured('a', None)).await.is_err());

    fs::remove_file(it.file()).unwrap();
    let refused = it.reopened(from_file(it.dir.path())).await.err().unwrap();
    assert!(matches!(refused, VaultError::KeyMissing { .. }), "{refused}");
    assert!(!it.file().exists(), "a key that opens nothing is not made");
    assert_eq!(Vault::clear(&it.store).await.unwrap(), 1);
    it.reopened(from_file(it.dir.path())).await.unwrap();
}

#[tokio::test]
async fn a_new_key_opens_everything_and_the_old_one_nothing() {
    let it = Fixture::start().await;
    it.add("ann", "one", "a.example").await;
    let before = fs::read_to_string(it.file()).unwrap();
    let shown = it.vault.list(&agent("ann"), None).await.unwrap();
    let rekeyed = it.vault.rekey().await.unwrap();
    assert_eq!(rekeyed, Rekeyed { key_version: 2, credentials: 1 });
    assert_ne!(fs::read_to_string(it.file()).unwrap(), before);
    it.vault.resolve(&agent("ann"), "one", "a.example").await.unwrap();
    it.add("ann", "two", "a.example").await;
    let again = it.reopened(from_file(it.dir.path())).await.unwrap();
    for name in ["one", "two"] {
        again.resolve(&agent("ann"), name, "a.example").await.unwrap();
    }
    let after = again.list(&agent("ann"), None).await.unwrap();
    assert_eq!(after[0].updated_at, shown[0].updated_at, "the secret did not change");

    fs::write(it.file(), before).unwrap();
    assert!(matches!(it.reopened(from_file(it.dir.path())).await, Err(VaultError::WrongKey)));
}

#[tokio::test]
async fn an_interrupted_change_of_the_key_is_completed_or_undone() {
    let it = Fixture::start().await;
    it.add("ann", "one", "a.example").await;
    let old = fs::read_to_string(it.file()).unwrap();
    it.vault.rekey().await.unwrap();
    let new = fs::read_to_string(it.file()).unwrap();
    // After the database changed, before the file did.
    let next = it.file().with_extension("key.new");
    fs::write(&next, &new).unwrap();
    fs::write(it.file(), &old).unwrap();
    it.reopened(from_file(it.dir.path())).await.unwrap();
    assert_eq!(fs::read_to_string(it.file()).unwrap(), new);
    assert!(!next.exists());
    // Before the database changed.
    fs::write(&next, &old).unwrap();
    it.reopened(from_file(it.dir.path())).await.unwrap();
    assert_eq!(fs::read_to_string(it.file()).unwrap(), new);
}

#[tokio::test]
async fn a_credential_is_used_by_its_owner_and_by_those_it_is_granted_to_only() {
    let it = Fixture::start().await;
    let id = it.add("ann", "github-token", "api.github.com").await;
    let used = async |by: &Caller| it.vault.resolve(by, "github-token", "api.github.com").await;
    used(&agent("ann")).await.unwrap();
    let denied = used(&agent("bob")).await.unwrap_err().to_string();
    assert!(denied.starts_with("vault: github-token not found"), "{denied}");
    // Not even an admin uses what is not granted.
    assert!(matches!(used(&admin()).await, Err(VaultError::NotFound { .. })));
    let denied = UsageResult::Denied;
    assert_eq!(it.results("ann", &id).await, [denied, denied, UsageResult::Allowed]);

    let (ann, ci) = (agent("ann"), caller("bob", Some("ci"), &[]));
    it.vault.grant(&ann, &id, "bob", Some("ci")).await.unwrap();
    used(&ci).await.unwrap();
    assert!(used(&agent("bob")).await.is_err());
    assert!(used(&caller("bob", Some("other"), &[])).await.is_err());
    it.vault.grant(&ann, &id, "bob", Some("ci")).await.unwrap();
    assert_eq!(it.vault.grants(&ann, &id).await.unwrap().len(), 2, "granting twice is once");
    it.vault.revoke(&ann, &id, "bob", Some("ci")).await.unwrap();
    assert!(used(&ci).await.is_err());
    let none = it.vault.revoke(&ann, &id, "bob", None).await.unwrap_err();
    assert!(matches!(none, VaultError::UnknownGrant));

    let refused = it.vault.grant(&ann, &id, "*", None).await.unwrap_err();
    assert!(matches!(refused, VaultError::AdminOnly(_)));
    it.vault.grant(&admin(), &id, "*", None).await.unwrap();
    used(&agent("carol")).await.unwrap();

    // The owner's own grant can be narrowed.
    it.vault.revoke(&ann, &id, "*", None).await.unwrap();
    it.vault.revoke(&ann, &id, "ann", None).await.unwrap();
    assert!(used(&ann).await.is_err());
}

#[tokio::test]
async fn a_secret_is_sent_to_its_host_only() {
    let it = Fixture::start().await;
    let id = it.add("ann", "github-token", "api.github.com").await;
    let evil = Destination { host: "evil.example", port: Some(443), path: "/collect?x=1" };
    let refused = it.vault.resolve(&agent("ann"), "github-token", evil).await.unwrap_err();
    let message = "vault: github-token may not be sent to evil.example: it is for api.github.com";
    assert_eq!(refused.to_string(), message);
    let usage = it.vault.usage(&agent("ann"), &id).await.unwrap();
    assert_eq!(usage[0].result, UsageResult::NoMatch);
    assert_eq!(
        (usage[0].host_matched.as_str(), usage[0].path_matched.as_str()),
        ("evil.example", "/collect")
    );
    assert!(it.vault.show(&agent("ann"), &id).await.unwrap().last_used_at.is_none());
}

#[tokio::test]
async fn own_credentials_come_before_granted_ones_with_the_same_name() {
    let it = Fixture::start().await;
    let theirs = it.vault.add(&agent("ann"), new("key", "a.example"), b"from ann".into()).await;
    it.vault.grant(&agent("ann"), &theirs.unwrap().id, "bob", None).await.unwrap();
    let used = async || it.vault.resolve(&agent("bob"), "key", "a.example").await.unwrap();
    assert_eq!(used().await.reveal(), b"from ann");
    it.vault.add(&agent("bob"), new("key", "a.example"), b"from bob".into()).await.unwrap();
    assert_eq!(used().await.reveal(), b"from bob");
    let again = it.vault.add(&agent("bob"), new("key", "b.example"), b"again".into()).await;
    assert!(matches!(again, Err(VaultError::Duplicate { .. })));
}

#[tokio::test]
async fn placeholders_are_replaced_and_the_secrets_are_known_to_the_redactor() {
    let it = Fixture::start().await;
    it.vault.add(&agent("ann"), new("a", "a.example"), b"p/ss word".into()).await.unwrap();
    let mut redactor = Redactor::default();
    let to = Destination::from("a.example");
    let ann = agent("ann");
    let text = "Bearer ${vault:a} and ${vault:a}";
    let plain = it.vault.substitute(&ann, text, Encoding::Plain, to, &mut redactor).await.unwrap();
    assert_eq!(plain, "Bearer p/ss word and p/ss word");
    let url = "https://a.example/${vault:a}/x";
    let url = it.vault.substitute(&ann, url, Encoding::Url, to, &mut redactor).await.unwrap();
    assert_eq!(url, "https://a.example/p%2Fss%20word/x");
    assert_eq!(
        redactor.apply(&format!("{plain} {url}")),
        "Bearer ••• and ••• https://a.example/•••/x"
    );
    let missing = "${vault:nope}";
    let refused = it.vault.substitute(&ann, missing, Encoding::Plain, to, &mut redactor).await;
    assert!(refused.unwrap_err().to_string().contains("vault: nope not found"));
    let line = redact_used(b"sent p/ss word").into_owned();
    assert_eq!(String::from_utf8(line).unwrap(), "sent •••");
}

#[tokio::test]
async fn a_variable_stands_in_for_a_missing_credential_at_its_own_host() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).await.unwrap();
    let known = KNOWN_CREDENTIALS.iter().find(|it| it.name == "elevenlabs-key").unwrap();
    let set = EnvironmentCredential::new(known, SecretString::from("from the environment"));
    let setup = VaultSetup { environment: vec![set], ..from_file(dir.path()) };
    let vault = Vault::open(&store, setup).await.unwrap();
    let used = async |name, host| vault.resolve(&agent("ann"), name, host).await;
    for name in ["elevenlabs-key", "elevenlabs-api-key"] {
        let secret = used(name, "api.elevenlabs.io").await.unwrap();
        assert_eq!(secret.reveal(), b"from the environment");
        assert!(matches!(used(name, "a.example").await, Err(VaultError::NotForHost { .. })));
    }
    let listed = vault.list(&agent("ann"), None).await.unwrap();
    assert_eq!(listed[0].source, CredentialSource::Environment);
    let refused = vault.delete(&agent("ann"), &listed[0].id).await.unwrap_err();
    assert!(refused.to_string().contains("HELMDECK_ELEVENLABS_API_KEY"), "{refused}");

    let own = new("elevenlabs-api-key", "api.elevenlabs.io");
    vault.add(&agent("ann"), own, b"from the vault".into()).await.unwrap();
    let secret = used("elevenlabs-key", "api.elevenlabs.io").await.unwrap();
    assert_eq!(secret.reveal(), b"from the vault");
}

#[tokio::test]
async fn a_key_of_codes_yields_the_current_code_and_ssh_keys_are_found_by_host() {
    let it = Fixture::start().await;
    let of = |name: &str, kind: &str, host: &str| -> NewCredential {
        serde_json::from_value(json!({ "name": name, "type": kind, "host_pattern": host })).unwrap()
    };
    let ann = agent("ann");
    let key = b"GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
    it.vault.add(&ann, of("mfa", "totp", "a.example"), key.into()).await.unwrap();
    let code = it.vault.resolve(&ann, "mfa", "a.example").await.unwrap();
    assert!(code.reveal().len() == 6 && code.reveal().iter().all(u8::is_ascii_digit));
    let refused = it.vault.add(&ann, of("bad", "totp", "a.example"), b"1890".into()).await;
    assert!(matches!(refused, Err(VaultError::Invalid { field: "value", .. })));

    for (name, host) in [("wide", "*.example.com"), ("exact", "git.example.com")] {
        it.vault.add(&ann, of(name, "ssh", host), name.into()).await.unwrap();
    }
    let found = async |by: &Caller, host| {
        let kind = CredentialType::Ssh;
        it.vault.resolve_by_host(by, kind, host).await.map(|it| it.name().to_owned())
    };
    assert_eq!(found(&ann, "git.example.com").await.unwrap(), "exact");
    assert_eq!(found(&ann, "other.example.com").await.unwrap(), "wide");
    assert!(found(&ann, "example.org").await.is_err());
    assert!(found(&agent("bob"), "git.example.com").await.is_err());
}

#[tokio::test]
async fn callers_manage_their_own_credentials_and_admins_all() {
    let it = Fixture::start().await;
    let id = it.add("ann", "one", "a.example").await;
    let (bob, ann) = (agent("bob"), agent("ann"));
    assert!(it.vault.list(&bob, None).await.unwrap().is_empty());
    for refused in [
        it.vault.show(&bob, &id).await.map(drop),
        it.vault.rotate(&bob, &id, b"other".into()).await.map(drop),
        it.vault.grant(&bob, &id, "bob", None).await,
        it.vault.grants(&bob, &id).await.map(drop),
        it.vault.usage(&bob, &id).await.map(drop),
        it.vault.delete(&bob, &id).await,
    ] {
        assert!(matches!(refused, Err(VaultError::Unknown)));
    }
    let mut for_ann = new("two", "a.example");
    for_ann.owner = Some("ann".to_owned());
    let refused = it.vault.add(&bob, for_ann.clone(), SECRET.into()).await;
    assert!(matches!(refused, Err(VaultError::AdminOnly(_))));
    it.vault.add(&admin(), for_ann, SECRET.into()).await.unwrap();
    assert_eq!(it.vault.list(&admin(), None).await.unwrap().len(), 2);

    let before = it.vault.show(&ann, &id).await.unwrap();
    let after = it.vault.rotate(&ann, &id, b"another secret".into()).await.unwrap();
    assert!(after.fingerprint != before.fingerprint && after.updated_at > before.updated_at);
    let secret = it.vault.resolve(&ann, "one", "a.example").await.unwrap();
    assert_eq!(secret.reveal(), b"another secret");
    it.vault.delete(&ann, &id).await.unwrap();
    assert!(matches!(it.vault.show(&ann, &id).await, Err(VaultError::Unknown)));
}

#[tokio::test]
async fn uses_and_refusals_are_in_the_audit_log_without_the_secret() {
    let it = Fixture::start().await;
    let audit = Audit::open(it.store.clone()).await.unwrap();
    let vault = it.vault.clone().audited(audit.clone());
    it.add("ann", "github-token", "api.github.com").await;
    vault.resolve(&agent("ann"), "github-token", "api.github.com").await.unwrap();
    vault.resolve(&agent("ann"), "github-token", "evil.example").await.unwrap_err();
    vault.resolve(&agent("bob"), "github-token", "api.github.com").await.unwrap_err();
    audit.flush().await;
    let rows = it.store.audit_after(&AuditFilter::default(), 0, 10).await.unwrap();
    let seen: Vec<_> = rows
        .iter()
        .map(|row| {
            let details = serde_json::to_value(&row.details).unwrap();
            (row.event_type.as_str(), row.actor_subject.as_deref(), details["host"].clone())
        })
        .collect();
    assert_eq!(
        seen,
        [
            ("credential.used", Some("ann"), json!("api.github.com")),
            ("credential.refused", Some("ann"), json!("evil.example")),
            ("credential.refused", Some("bob"), json!("api.github.com")),
        ]
    );
    assert!(!serde_json::to_string(&rows).unwrap().contains(SECRET));
}
