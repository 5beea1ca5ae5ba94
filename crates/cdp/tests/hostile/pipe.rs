//! The browser's end of a pipe, controlled by a test.

use std::time::Duration;

use helmdeck_cdp::{Cdp, Client};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf},
    join,
};

/// A deadline that only a bug misses.
pub const SOON: Duration = Duration::from_secs(30);

/// The name of a client's root session.
pub const ROOT: &str = "ROOT";

pub struct End {
    reader: BufReader<ReadHalf<DuplexStream>>,
    writer: WriteHalf<DuplexStream>,
}

/// A connection, and the other end of its pipe.
pub fn connection() -> (Cdp, End) {
    let (ours, theirs) = tokio::io::duplex(64 << 10);
    let (reader, writer) = tokio::io::split(ours);
    let cdp = Cdp::new(reader, writer);
    let (reader, writer) = tokio::io::split(theirs);
    (cdp, End { reader: BufReader::new(reader), writer })
}

/// A client, whose session is [`ROOT`].
pub async fn client(cdp: &Cdp, end: &mut End) -> Client {
    let opening = async {
        let question = end.read().await;
        assert_eq!(question["method"], "Target.attachToBrowserTarget");
        let params = json!({ "sessionId": ROOT, "waitingForDebugger": false });
        end.write(&json!({ "method": "Target.attachedToTarget", "params": params })).await;
        end.answer(&question, json!({ "sessionId": ROOT })).await;
    };
    join!(cdp.client("", SOON), opening).0.unwrap()
}

impl End {
    /// The next message.
    pub async fn read(&mut self) -> Value {
        serde_json::from_str(&self.read_text().await).unwrap()
    }

    pub async fn read_text(&mut self) -> String {
        let mut message = Vec::new();
        self.reader.read_until(0, &mut message).await.unwrap();
        assert_eq!(message.pop(), Some(0));
        String::from_utf8(message).unwrap()
    }

    pub async fn write(&mut self, message: &Value) {
        self.write_raw(format!("{message}\0").as_bytes()).await;
    }

    /// Answers in the session of the call.
    pub async fn answer(&mut self, question: &Value, result: Value) {
        let mut answer = json!({ "id": question["id"], "result": result });
        if let Some(session) = question.get("sessionId") {
            answer["sessionId"] = session.clone();
        }
        self.write(&answer).await;
    }

    pub async fn write_raw(&mut self, bytes: &[u8]) {
        self.writer.write_all(bytes).await.unwrap();
    }
}

/// Runs a test's future to its end.
pub fn run<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.unwrap().block_on(work)
}
