//! Fuzzes one pipe: sends mutated messages from both sides for some seconds.
//!
//! `cargo run --release -p helmdeck-cdp --example fuzz_cdp -- 30 [seed]`. Stops at the first round that
//! violates an invariant, and prints the seed to reproduce it.

use std::time::{Duration, Instant};

use helmdeck_cdp::{Cdp, Client, ClientMessage};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf},
    join,
};

/// Valid and invalid messages of a browser or a client.
const SEEDS: [&str; 16] = [
    r#"{"id":2,"result":{"product":"Chromium"}}"#,
    r#"{"id":3,"error":{"code":-32000,"message":"no"},"sessionId":"ROOT"}"#,
    r#"{"id":4,"result":{},"sessionId":"PAGE"}"#,
    r#"{"method":"Target.attachedToTarget","params":{"sessionId":"PAGE","waitingForDebugger":true},"sessionId":"ROOT"}"#,
    r#"{"method":"Target.attachedToTarget","params":{"sessionId":"OURS"}}"#,
    r#"{"method":"Target.detachedFromTarget","params":{"sessionId":"PAGE"},"sessionId":"ROOT"}"#,
    r#"{"method":"Inspector.targetCrashed","params":{},"sessionId":"PAGE"}"#,
    r#"{"method":"Page.loadEventFired","params":{"timestamp":1.5},"sessionId":"OURS"}"#,
    r#"{"error":{"code":-32700,"message":"JSON: no input at position 0"}}"#,
    r#"{"id":1,"method":"Browser.getVersion"}"#,
    r#"{"id":2,"method":"Page.navigate","params":{"url":"about:blank"},"sessionId":"PAGE"}"#,
    r#"{"id":3,"method":"M","params":{"a":"\u0000\"}{"},"sessionId":"ROOT"}"#,
    r#"{"id":4,"method":"\"},{\"id\":1","params":[[[["\\"]]]]}"#,
    r#"{"id":2147483648,"method":"M","params":1e400}"#,
    r#"[1,"M",{},"ROOT"]"#,
    "{\"id\":5,\"method\":\"M\",\"params\":\"a\0b\"}",
];
/// Rounds between two checks of the clock.
const ROUND: u64 = 100;
/// A deadline that only a bug misses.
const SOON: Duration = Duration::from_secs(30);

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() >> 16) as usize % end.max(1)
    }
}

/// The browser's end of the pipe.
struct End {
    reader: BufReader<ReadHalf<DuplexStream>>,
    writer: WriteHalf<DuplexStream>,
}

/// The envelope of a message to the browser.
#[derive(Debug, Deserialize)]
struct Message {
    id: i32,
    method: String,
    #[serde(rename = "sessionId")]
    session_id: Option<String>,
}

type Outcome<T> = Result<T, String>;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<u64>());
    let seconds = arguments.next().and_then(Result::ok).unwrap_or(10);
    let seed = arguments.next().and_then(Result::ok).unwrap_or(0x9e37_79b9_7f4a_7c15).max(1);
    let started = Instant::now();
    let mut random = Random(seed);
    let (mut rounds, mut passed) = (0_u64, 0_u64);
    while started.elapsed() < Duration::from_secs(seconds) {
        for _ in 0..ROUND {
            let state = random.0;
            match round(&mut random).await {
                Ok(messages) => passed += messages,
                Err(what) => {
                    eprintln!("{what}\nseed {state}");
                    std::process::exit(1);
                }
            }
        }
        rounds += ROUND;
    }
    let rate = rounds as f64 / started.elapsed().as_secs_f64();
    println!("{rounds} rounds, {passed} client messages passed on, {rate:.0} rounds/s");
}

/// One round: a pipe with one client, and random messages from both sides. Returns how many passed.
async fn round(random: &mut Random) -> Outcome<u64> {
    let (ours, theirs) = tokio::io::duplex(64 << 10);
    let (reader, writer) = tokio::io::split(ours);
    let cdp = Cdp::new(reader, writer);
    let (reader, writer) = tokio::io::split(theirs);
    let mut end = End { reader: BufReader::new(reader), writer };
    let client = open(&cdp, &mut end).await?;

    let texts: Vec<String> = (0..random.below(8))
        .map(|_| String::from_utf8_lossy(&message(random)).into_owned())
        .collect();
    let sending = async {
        for text in texts.iter().map(String::as_str).chain([r#"{"id":1,"method":"End"}"#]) {
            client.send(text).await.map_err(|error| error.to_string())?;
        }
        Ok::<_, String>(())
    };
    let (sent, passed) = join!(sending, end.read_to_the_end());
    sent?;
    let expected = texts.iter().filter_map(|text| ClientMessage::at(text).ok());
    let expected = expected.filter(|p| p.session_id.as_deref().is_none_or(|s| s == "ROOT"));
    let passed = passed?;
    if passed != expected.count() as u64 {
        return Err(format!("not all that is valid passed, or more: {texts:?}"));
    }

    let mut events = cdp.events(None).only("Sync");
    for _ in 0..random.below(8) {
        end.write(&message(random)).await?;
    }
    end.write(br#"{"method":"Sync"}"#).await?;
    events.next().await.ok_or("the pipe is closed")?.map_err(|lagged| lagged.to_string())?;
    later(&cdp, &mut end).await?;
    heard(&cdp, &mut end, &client).await?;
    Ok(passed)
}

async fn open(cdp: &Cdp, end: &mut End) -> Outcome<Client> {
    let answering = async {
        let question = end.read().await?;
        end.write(br#"{"method":"Target.attachedToTarget","params":{"sessionId":"ROOT"}}"#).await?;
        let answer = json!({ "id": question.id, "result": { "sessionId": "ROOT" } });
        end.write(answer.to_string().as_bytes()).await
    };
    let (client, answered) = join!(cdp.client("", SOON), answering);
    answered?;
    client.map_err(|error| error.to_string())
}

/// A call made after everything else must get its own answer.
async fn later(cdp: &Cdp, end: &mut End) -> Outcome<()> {
    let answering = async {
        loop {
            let question = end.read().await?;
            if question.method == "Later" {
                let answer = json!({ "id": question.id, "result": "later" });
                return end.write(answer.to_string().as_bytes()).await;
            }
        }
    };
    let (answer, answered) = join!(cdp.call::<Value>(None, "Later", (), SOON), answering);
    answered?;
    match answer {
        Ok(answer) if answer == "later" => Ok(()),
        Ok(other) => Err(format!("a call got {other}")),
        Err(error) => Err(format!("a call failed: {error}")),
    }
}

/// Everything the client receives is JSON and from its own sessions.
async fn heard(cdp: &Cdp, end: &mut End, client: &Client) -> Outcome<()> {
    end.writer.shutdown().await.map_err(|error| error.to_string())?;
    cdp.closed().await;
    while let Some(message) = client.next().await {
        // Messages of the browser may be invalid.
        let Ok(message) = serde_json::from_str::<Value>(&message) else { continue };
        let session = message.get("sessionId").and_then(Value::as_str);
        if session.is_some_and(|session| session != "PAGE") {
            return Err(format!("the client heard {message}"));
        }
    }
    Ok(())
}

/// A valid message with random damage.
fn message(random: &mut Random) -> Vec<u8> {
    let at = random.below(SEEDS.len());
    let mut message = SEEDS.get(at).copied().unwrap_or_default().as_bytes().to_vec();
    for _ in 0..random.below(4) {
        let at = random.below(message.len());
        let byte = random.next() as u8;
        match (random.below(4), message.get_mut(at)) {
            (0, Some(place)) => *place = byte,
            (1, Some(place)) => *place ^= 1 << (byte & 7),
            (2, Some(_)) => message.truncate(at),
            _ => message.insert(at, byte),
        }
    }
    message
}

impl End {
    async fn read(&mut self) -> Outcome<Message> {
        let mut message = Vec::new();
        let read = self.reader.read_until(0, &mut message).await;
        read.map_err(|error| error.to_string())?;
        match message.split_last() {
            Some((0, message)) => {
                serde_json::from_slice(message).map_err(|error| error.to_string())
            }
            _ => Err("half a message".to_owned()),
        }
    }

    async fn write(&mut self, message: &[u8]) -> Outcome<()> {
        let written = self.writer.write_all(&[message, b"\0"].concat()).await;
        written.map_err(|error| error.to_string())
    }

    /// Counts the messages before the last one. Each must be one of ours.
    async fn read_to_the_end(&mut self) -> Outcome<u64> {
        let mut count = 0;
        let mut last = 1;
        loop {
            let message = self.read().await?;
            if message.id <= last || message.session_id.as_deref() != Some("ROOT") {
                return Err(format!("not a message of ours: {message:?}"));
            }
            if message.method == "End" {
                return Ok(count);
            }
            (count, last) = (count + 1, message.id);
        }
    }
}
