//! `repo.fetch`: clones a repository into a session.

use std::collections::BTreeMap;

use helmdeck_wire::{
    ErrorCode,
    exec::{CommandLine, Exec, WORKSPACE},
    nature::Nature,
    session::Mode,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Context, Pack, PackError, PackResult, Routing, SessionNeed,
    context::command,
    git_credential,
    git_gateway::{Permission, with_credential},
    github::CredentialName,
    page,
    repo_overview::{Overview, overview},
    repository::{REFERENCE, git_environment},
};

/// Clone a repository into a session.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "RepoFetch")]
struct Input {
    /// Address of the repository: `https://…`, `http://…`, `ssh://…` or `git@host:path`.
    #[schemars(
        length(min = 1, max = 2000),
        regex(pattern = r"^(https?://|ssh://|[A-Za-z0-9_.-]+@[A-Za-z0-9.-]+:)[^\s\x00]+$")
    )]
    #[schemars(extend("x-expected" = "an address such as https://example.com/owner/repo.git"))]
    url: String,
    /// A branch, tag or commit; the default branch if absent.
    #[serde(default, rename = "ref")]
    #[schemars(length(min = 1, max = 200), regex(pattern = REFERENCE))]
    #[schemars(extend("x-expected" = "a branch, tag or commit id"))]
    reference: Option<String>,
    /// How many commits of history; 0 for all of them. `git.log` shows no more than these.
    #[serde(default = "depth")]
    #[schemars(range(max = 1_000_000))]
    depth: u32,
    /// Name of a credential for a private repository; by default one that is for its host.
    #[serde(default)]
    credential: Option<CredentialName>,
}

fn depth() -> u32 {
    1
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "RepoFetchOutput")]
struct Output {
    /// The address.
    url: String,
    /// The branch that is checked out; the commit id if no branch is.
    #[serde(rename = "ref")]
    reference: String,
    /// The commit that is checked out; absent if the repository has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<String>,
    /// Where the clone is. Pass it to `fs.*`, `git.*`, `cmd.run`, `repo.map` and `repo.push`.
    clone_path: String,
    /// The session that has the clone. Pass it as `_session_id`.
    session_id: String,
    /// Whether it is a clone of an earlier call: each call makes a new one.
    reused: bool,
    /// Whether the clone stays when its session ends: it does not.
    persistent: bool,
    /// The credential that was used.
    #[serde(skip_serializing_if = "Option::is_none")]
    credential: Option<String>,
    #[serde(flatten)]
    overview: Overview,
}

/// The pack.
pub fn pack() -> Pack {
    Pack::new("repo.fetch", run)
        .doc(
            "Clone a git repository into a session, and describe it: files, README, entry points, \
             documentation. A private one needs a credential of the vault for its host. The session stays for \
             5 minutes after the last call. Pass `session_id` as `_session_id`, and `clone_path`, to `fs.*`, \
             `git.*`, `cmd.run`, `repo.map` and `repo.push`.",
        )
        .nature(Nature { open_world: true, ..Nature::default().in_sandbox() })
        .session(SessionNeed::Keeps(Mode::Headless))
        .programs(&["git"])
        .timeout_s(1800)
        .example(
            "Clone the main branch",
            serde_json::json!({ "url": "https://github.com/octocat/Hello-World", "ref": "master" }),
        )
        .routing(Routing {
            accepts: &["url"],
            produces: &["clone_path", "session"],
            intent_keywords: &["clone", "repository", "repo", "github", "checkout", "code"],
            typical_use: "The first call for work on a repository.",
            limitations: &["One clone for each call; the clone is gone with its session."],
        })
}

async fn run(context: Context, input: Input) -> PackResult<Output> {
    let session = context.session()?.id().to_string();
    let clone_path = free_path(&context, &input.url).await?;
    context.leftovers.add(&clone_path);
    context.progress(0.1, format!("cloning {}", shown(&input.url)));
    let credential = clone(&context, &input, &clone_path).await?;
    context.progress(0.8, "reading the clone");
    let in_clone = |words: &[&str]| Exec {
        cwd: Some(clone_path.clone()),
        env: git_environment(),
        ..command(words.iter().copied())
    };
    // Fails if the repository is empty.
    let head = context.exec(in_clone(&["git", "rev-parse", "--verify", "--quiet", "HEAD"])).await?;
    let commit = head.stdout.filter(|_| head.exit_code == Some(0));
    let commit = commit.map(|commit| commit.trim().to_owned());
    let branch = context.output(in_clone(&["git", "branch", "--show-current"])).await?;
    let reference = match branch.trim() {
        "" => commit.clone().unwrap_or_default(),
        branch => branch.to_owned(),
    };
    let overview = overview(&context, &clone_path).await?;
    context.leftovers.keep(&clone_path);
    let (url, session_id) = (input.url, session);
    Ok(Output {
        url,
        reference,
        commit,
        clone_path,
        session_id,
        reused: false,
        persistent: false,
        credential,
        overview,
    })
}

/// A folder for the clone that does not exist yet, named after the repository.
async fn free_path(context: &Context, url: &str) -> PackResult<String> {
    let script = "n=\"$1\"; i=1; while ! mkdir \"$n\" 2>/dev/null; do \
                  [ -e \"$n\" ] || exit 1; i=$((i+1)); n=\"$1-$i\"; done; printf %s \"$n\"";
    let name = format!("{WORKSPACE}/{}", name(url));
    context.output(command(["bash", "-c", script, "repo.fetch", &name])).await
}

/// The last part of an address, as a folder name.
fn name(url: &str) -> String {
    let last = url.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or_default();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let name: String = last.trim_end_matches(".git").chars().filter(|c| plain(*c)).collect();
    match name.trim_start_matches(['.', '-']) {
        "" => "repo".to_owned(),
        name => name.to_owned(),
    }
}

/// Clones, with a credential if there is one, and returns its name.
async fn clone(context: &Context, input: &Input, path: &str) -> PackResult<Option<String>> {
    let found = git_credential::find(context, &input.url, input.credential.as_ref()).await;
    match found {
        Ok(Some(credential)) => {
            let name = credential.name.clone();
            let run = async |environment| run_clone(context, input, path, environment).await;
            let cloned =
                with_credential(context, &input.url, credential, Permission::Fetch, run).await;
            cloned.map(|()| Some(name))
        }
        Ok(None) => run_clone(context, input, path, git_environment()).await.map(|()| None),
        Err(error) => Err(error),
    }
}

async fn run_clone(
    context: &Context,
    input: &Input,
    path: &str,
    env: BTreeMap<String, String>,
) -> PackResult<()> {
    // Servers that only serve files cannot shorten history, and a commit id can be fetched but not
    // cloned.
    let script = r#"
        url="$1"; ref="$2"; depth="$3"; said="$(mktemp)"; trap 'rm -f "$said"' EXIT
        short=(); [ "$depth" = 0 ] || short=("--depth=$depth")
        branch=(); [ -z "$ref" ] || branch=(--branch "$ref")
        try() { git clone --quiet "$@" "${branch[@]}" -- "$url" . 2>"$said"; }
        try "${short[@]}" && exit 0
        if grep -q 'does not support shallow' "$said"; then short=(); try && exit 0; fi
        if [ -n "$ref" ] && grep -q 'Remote branch .* not found' "$said"; then
            git init --quiet . && git remote add origin "$url" &&
                git fetch --quiet "${short[@]}" origin "$ref" && git checkout --quiet FETCH_HEAD
            exit
        fi
        cat "$said" >&2; exit 128
    "#;
    let depth = input.depth.to_string();
    let reference = input.reference.as_deref().unwrap_or_default();
    let words = ["bash", "-c", script, "repo.fetch", &input.url, reference, &depth];
    let exec = Exec {
        command: CommandLine::Program(words.map(str::to_owned).into()),
        cwd: Some(path.to_owned()),
        env,
        timeout_s: 1700,
        max_output_bytes: 64 << 10,
        ..command([])
    };
    let session = context.session()?;
    let mark = session.connections();
    let state = context.exec(exec).await?;
    if state.exit_code == Some(0) {
        return Ok(());
    }
    if let Some(body) = session.unreachable(mark, &shown(&input.url)) {
        return Err(page::explain(body.into()));
    }
    Err(explain(
        &input.url,
        context.failed("git clone", &state),
        state.stderr.as_deref().unwrap_or_default(),
    ))
}

/// Says what to do about a failed clone.
fn explain(url: &str, error: PackError, stderr: &str) -> PackError {
    let has = |text: &str| stderr.contains(text);
    if has("Not allowed from this session") {
        let message = format!("egress denied: {}: {error}", shown(url));
        return PackError::new(ErrorCode::EgressDenied, message);
    }
    if has("could not read Username") || has("Authentication failed") || has(" 401") || has(" 403")
    {
        let message = format!("{} needs a credential: {error}", shown(url));
        return PackError::new(ErrorCode::CredentialInvalid, message)
            .hint("store one in the vault for this host, and grant it to this caller");
    }
    if has("not found") || has("does not exist") || has("Couldn't find remote ref") {
        let message = format!("{} or its ref does not exist, or is private: {error}", shown(url));
        return PackError::invalid("url", message);
    }
    error
}

/// The address without credentials.
fn shown(url: &str) -> String {
    match url.split_once("://") {
        Some((scheme, rest)) => {
            let end = rest.find('/').unwrap_or(rest.len());
            let (authority, path) = rest.split_at_checked(end).unwrap_or((rest, ""));
            let host = authority.rsplit('@').next().unwrap_or(authority);
            format!("{scheme}://{host}{path}")
        }
        None => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clone_is_named_after_its_repository() {
        for (url, expected) in [
            ("https://example.com/a/app.git", "app"),
            ("git@example.com:a/app", "app"),
            ("https://example.com/a/app/", "app"),
            ("https://example.com/..", "repo"),
            ("https://example.com/$(id)", "id"),
        ] {
            assert_eq!(name(url), expected, "{url}");
        }
    }

    #[test]
    fn credentials_in_an_address_are_not_shown() {
        assert_eq!(shown("https://me:secret@example.com/a"), "https://example.com/a");
        assert_eq!(shown("https://example.com/a"), "https://example.com/a");
    }
}
