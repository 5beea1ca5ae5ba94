//! `repo.push`: pushes a branch of a clone.

use std::collections::BTreeMap;

use helmdeck_wire::{
    ErrorCode,
    exec::{Exec, ExecState},
    nature::Nature,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Context, Pack, PackError, PackResult, Routing, SessionNeed, git_credential,
    git_gateway::{Permission, Update, with_credential},
    github::CredentialName,
    repository::{ClonePath, REFERENCE, git, git_environment},
};

/// What git says if the branch has moved on.
const MOVED: [&str; 4] = ["non-fast-forward", "fetch first", "stale info", "needs force"];

/// Push a branch of a clone.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "RepoPush")]
struct Input {
    /// Where the repository was cloned, as `repo.fetch` returned it.
    clone_path: ClonePath,
    /// Name of the remote.
    #[serde(default = "origin")]
    #[schemars(length(min = 1, max = 100), regex(pattern = r"^[A-Za-z0-9_][A-Za-z0-9._-]*$"))]
    #[schemars(extend("x-expected" = "the name of a remote, such as origin"))]
    remote: String,
    /// The branch; the one that is checked out by default. HEAD is pushed to one that the clone does
    /// not have.
    #[serde(default)]
    #[schemars(length(min = 1, max = 200), regex(pattern = REFERENCE))]
    #[schemars(extend("x-expected" = "the name of a branch"))]
    branch: Option<String>,
    /// Whether to replace the branch, if it is still where the clone last saw it.
    #[serde(default)]
    force: bool,
    /// Name of a credential; by default one that is for the remote's host.
    #[serde(default)]
    credential: Option<CredentialName>,
}

fn origin() -> String {
    "origin".to_owned()
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "RepoPushOutput")]
struct Output {
    /// Address of the remote.
    url: String,
    /// Name of the remote.
    remote: String,
    /// The branch.
    branch: String,
    /// The commit that the branch has now.
    commit: String,
    /// The credential that was used.
    #[serde(skip_serializing_if = "Option::is_none")]
    credential: Option<String>,
    /// Whether it replaced the branch.
    forced: bool,
}

/// The pack.
pub fn pack() -> Pack {
    Pack::new("repo.push", run)
        .doc(
            "Push a branch of a clone to its remote, with a credential of the vault for its host. Fails with \
             `schema_mismatch` if the branch has moved on. Pass `_session_id` and `clone_path` from \
             `repo.fetch`.",
        )
        .nature(Nature { open_world: true, ..Nature::default().changes_world().in_sandbox() })
        .session(SessionNeed::Existing)
        .programs(&["git"])
        .timeout_s(1800)
        .switch(crate::pack::Switch::RepoPush)
        .example(
            "Push a new branch",
            serde_json::json!({ "_session_id": "sess-0123456789ab", "clone_path": "/workspace/app", "branch": "fix-build" }),
        )
        .routing(Routing {
            accepts: &["clone_path"],
            produces: &["commit"],
            intent_keywords: &["push", "publish", "upload", "branch", "git"],
            typical_use: "Publish commits, before github.create_pr.",
            limitations: &["One branch for each call; no tags."],
        })
}

async fn run(context: Context, input: Input) -> PackResult<Output> {
    let clone = &input.clone_path;
    let branch = match input.branch.clone() {
        Some(branch) => branch,
        None => current_branch(&context, clone).await?,
    };
    let reference = format!("refs/heads/{branch}");
    let (source, commit) = source(&context, clone, &reference).await?;
    let spec = format!("{source}:{reference}");
    let url = address(&context, &input).await?;
    context.progress(0.2, format!("pushing {branch}"));
    let credential = git_credential::find(&context, &url, input.credential.as_ref()).await?;
    let name = credential.as_ref().map(|credential| credential.name.clone());
    let lease = match input.force {
        true => Some(lease(&context, &input, &branch).await?),
        false => None,
    };
    let push =
        async |environment| push(&context, &input, &spec, lease.as_deref(), environment).await;
    match credential {
        Some(credential) => {
            let update = Update { reference: reference.clone(), commit: commit.clone() };
            let permission = Permission::Push(update);
            with_credential(&context, &url, credential, permission, push).await?;
        }
        None => push(git_environment()).await?,
    }
    // What `force` compares with. Git itself records only branches that the clone follows. Without it, a
    // forced push is refused.
    let seen = seen(&input.remote, &branch);
    let _ = context.exec(git(clone, ["update-ref", &seen, &commit])).await;
    let forced = input.force;
    Ok(Output { url, remote: input.remote, branch, commit, credential: name, forced })
}

async fn current_branch(context: &Context, clone: &ClonePath) -> PackResult<String> {
    let branch = clone.output(context, git(clone, ["branch", "--show-current"])).await?;
    match branch.trim() {
        "" => {
            let message = "branch: HEAD is detached, so the branch to push must be named";
            Err(PackError::invalid("branch", message))
        }
        branch => Ok(branch.to_owned()),
    }
}

/// What is pushed and its commit: the branch, or HEAD if the clone has no such branch.
async fn source<'a>(
    context: &Context,
    clone: &ClonePath,
    reference: &'a str,
) -> PackResult<(&'a str, String)> {
    for name in [reference, "HEAD"] {
        let words = ["rev-parse", "--verify", "--quiet", "--end-of-options", name];
        let state = context.exec(git(clone, words)).await;
        let state = state.map_err(|error| clone.explain(context, error))?;
        if state.exit_code == Some(0) {
            let commit = state.stdout.unwrap_or_default().trim().to_owned();
            return Ok((name, commit));
        }
    }
    Err(PackError::invalid("clone_path", "clone_path: the repository has no commit"))
}

/// The address of the remote.
async fn address(context: &Context, input: &Input) -> PackResult<String> {
    let words = ["remote", "get-url", "--push", "--", input.remote.as_str()];
    let state = context.exec(git(&input.clone_path, words)).await?;
    if state.exit_code != Some(0) {
        let message = format!("remote: the clone has no remote named {}", input.remote);
        return Err(PackError::invalid("remote", message));
    }
    let url = state.stdout.unwrap_or_default().trim().to_owned();
    let has_user = url.split_once("://").is_some_and(|(scheme, rest)| {
        scheme.starts_with("http") && rest.split('/').next().unwrap_or_default().contains('@')
    });
    if has_user {
        let message = "remote: its address contains credentials: remove them, and use the vault";
        return Err(PackError::invalid("remote", message));
    }
    Ok(url)
}

async fn push(
    context: &Context,
    input: &Input,
    spec: &str,
    lease: Option<&str>,
    env: BTreeMap<String, String>,
) -> PackResult<()> {
    let mut words = vec!["push", "--porcelain", "--no-verify", "--no-recurse-submodules"];
    words.extend(lease);
    words.extend(["--", input.remote.as_str(), spec]);
    let exec = Exec { env, timeout_s: 1700, ..git(&input.clone_path, words) };
    let state = context.exec(exec).await?;
    match state.exit_code {
        Some(0) => Ok(()),
        _ => {
            let reference = spec.rsplit(':').next().unwrap_or(spec);
            Err(explain(context.failed("git push", &state), &state, reference, input.force))
        }
    }
}

/// Where a clone records what it last saw of a branch.
fn seen(remote: &str, branch: &str) -> String {
    format!("refs/remotes/{remote}/{branch}")
}

/// Lets a push replace the branch if it is where the clone last saw it; a branch that the clone never
/// saw must not exist.
async fn lease(context: &Context, input: &Input, branch: &str) -> PackResult<String> {
    let seen = seen(&input.remote, branch);
    let words = ["rev-parse", "--verify", "--quiet", "--end-of-options", &seen];
    let state = context.exec(git(&input.clone_path, words)).await?;
    let commit = state.stdout.unwrap_or_default();
    Ok(format!("--force-with-lease=refs/heads/{branch}:{}", commit.trim()))
}

/// Says what to do about a failed push.
fn explain(error: PackError, state: &ExecState, reference: &str, force: bool) -> PackError {
    let outputs = [&state.stdout, &state.stderr].map(|it| it.as_deref().unwrap_or_default());
    let has = |text: &str| outputs.iter().any(|output| output.contains(text));
    if has("[rejected]") && MOVED.iter().any(|text| has(text)) {
        let message = format!("{reference} has moved on at the remote: {error}");
        let hint = match force {
            true => {
                "the clone has not seen the branch as it is now: clone it with repo.fetch and `ref`, look at \
                     what changed, and push from there"
            }
            false => {
                "clone it again with repo.fetch and repeat the change; `force` replaces the branch only if \
                      it is where this clone last saw it"
            }
        };
        return PackError::new(ErrorCode::SchemaMismatch, message).hint(hint);
    }
    if has("Not allowed from this session") {
        return PackError::new(ErrorCode::EgressDenied, format!("egress denied: {error}"));
    }
    if ["could not read Username", "Authentication failed", " 401", " 403"].iter().any(|it| has(it))
    {
        return PackError::new(
            ErrorCode::CredentialInvalid,
            format!("a credential is needed: {error}"),
        )
        .hint("store one in the vault for this host, and grant it to this caller");
    }
    error
}

#[cfg(test)]
mod tests {
    use helmdeck_wire::exec::ExecId;

    use super::*;

    fn said(stdout: &str, stderr: &str) -> PackError {
        let state = ExecState {
            exec_id: ExecId::new("exec-1"),
            running: false,
            exit_code: Some(1),
            signal: None,
            stdout: Some(stdout.to_owned()),
            stderr: Some(stderr.to_owned()),
            stdout_truncated: false,
            stderr_truncated: false,
            duration_ms: 1,
            timed_out: false,
            error: None,
        };
        explain(PackError::failed("git push failed"), &state, "refs/heads/main", false)
    }

    #[test]
    fn a_branch_that_moved_is_a_mismatch_and_other_refusals_are_failures() {
        let moved = "!\trefs/heads/main:refs/heads/main\t[rejected] (fetch first)\nDone\n";
        assert_eq!(said(moved, "error: failed to push").code(), ErrorCode::SchemaMismatch);
        let declined = "!\trefs/heads/main\t[remote rejected] (pre-receive hook declined)\n";
        assert_eq!(said(declined, "").code(), ErrorCode::HandlerFailed);
        let secret = "fatal: could not read Username for 'https://a.example'";
        assert_eq!(said("", secret).code(), ErrorCode::CredentialInvalid);
    }
}
