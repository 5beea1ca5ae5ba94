//! The local runtime passes the conformance tests of runtimes.

use std::sync::Arc;

use helmdeck_runtime::{LocalRuntime, conformance};
use helmdeck_testkit::{Installation, Process, binary};

#[tokio::test]
async fn the_local_runtime_does_what_every_runtime_must() {
    let installation = Installation::new();
    let (run_dir, workspaces) = (installation.run_dir(), installation.path().join("workspaces"));
    let runtime = LocalRuntime::new(&run_dir, "conformance", &binary(), workspaces).unwrap();
    conformance::check(Arc::new(runtime)).await.unwrap();
    assert_eq!(installation.sandboxes(), [""; 0]);
    assert_eq!(Process::in_sandboxes(&installation.run_dir()), []);
}
