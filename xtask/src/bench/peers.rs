//! The peers' technique: one process per action, on the same display.
//!
//! They run inside the session, without the container exec, HTTP and SDK that real peers add.

use std::{collections::HashMap, time::Duration};

use helmdeck_testkit::{Desk, eventually};
use serde_json::json;

use super::table::Samples;

/// All techniques together take half a minute.
const PATIENCE: Duration = Duration::from_secs(300);

/// How a peer does something.
pub struct Technique {
    /// Its name in the script's output.
    pub name: &'static str,
    /// The shell command.
    pub command: &'static str,
    /// How often it is run.
    pub times: usize,
}

/// Runs every technique inside the session and returns the times of each, by name.
pub async fn measure(desk: &Desk<'_>, techniques: &[Technique]) -> HashMap<String, Samples> {
    let mut script = String::from("export LC_ALL=C\n");
    for Technique { name, command, times } in techniques {
        script.push_str(&format!(
            "for i in $(seq {times}); do a=${{EPOCHREALTIME/./}}; {command} >/dev/null 2>&1 || exit 1; \
             b=${{EPOCHREALTIME/./}}; echo \"PEER {name} $((b-a))\"; done\n"
        ));
    }
    // The log may have the end of an earlier script.
    let end = format!("PEER-DONE {}", techniques.first().map_or("", |technique| technique.name));
    script.push_str(&format!("echo {end}\n"));
    desk.act("launch", json!({ "command": "bash", "args": ["-c", script] })).await;
    let path = format!("/api/v1/sessions/{}/logs", desk.id);
    let done = async || desk.client.get(&path).await.text().contains(&end).then_some(());
    if eventually(PATIENCE, done).await.is_none() {
        eprintln!("The peers' script did not end; a program is missing, or failed:");
        eprintln!("{}", desk.client.get(&path).await.text());
    }
    let mut found: HashMap<String, Samples> = HashMap::new();
    for line in desk.client.get(&path).await.text().lines() {
        let words: Vec<&str> =
            line.split_once("PEER ").map(|(_, rest)| rest.split(' ').collect()).unwrap_or_default();
        if let [name, micros] = words.as_slice()
            && let Ok(micros) = micros.parse::<f64>()
        {
            found.entry((*name).to_owned()).or_default().0.push(micros / 1000.0);
        }
    }
    found
}
