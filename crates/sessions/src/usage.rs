//! Resource usage of a session.

use helmdeck_runtime::Sandbox;
use helmdeck_wire::session::Resources;

use crate::{Session, session::HELLO_DEADLINE};

impl Session {
    /// Usage as the runtime reports it, otherwise the guest. Unknown for attached sessions.
    pub(crate) async fn resources(&self, sandbox: &Sandbox) -> Resources {
        let limits_by = sandbox.limits_by.to_owned();
        if let Some(usage) = sandbox.usage {
            let (memory_bytes, pids) = (Some(usage.memory_bytes), Some(usage.pids));
            return Resources { limits_by, memory_bytes, pids, out_of_memory: usage.out_of_memory };
        }
        let hello = match self.attachment() {
            Some(_) => None,
            None => self.inner.link.hello(HELLO_DEADLINE).await.ok(),
        };
        let memory_bytes = hello.as_ref().and_then(|hello| hello.memory_bytes);
        let pids = hello.and_then(|hello| hello.pids);
        Resources { limits_by, memory_bytes, pids, out_of_memory: 0 }
    }
}
