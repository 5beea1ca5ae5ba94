//! The program `fake-server`.

#![allow(clippy::unwrap_used, reason = "a test may")]

use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

use helmdeck_testkit::Client;

#[tokio::test]
async fn it_says_where_it_serves_a_session_and_ends_with_its_input() {
    let program = env!("CARGO_BIN_EXE_fake-server");
    let mut process =
        Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let mut words = line.trim_end().split('\t');
    let address = words.next().unwrap().strip_prefix("http://").unwrap().parse().unwrap();
    let client = Client::new(address, words.next().map(str::to_owned));
    let session = words.next().unwrap();
    let described = client.get(&format!("/api/v1/sessions/{session}")).await.expect(200).json();
    assert_eq!(described.get("status").unwrap(), "running");
    drop(process.stdin.take());
    assert!(process.wait().unwrap().success());
}
