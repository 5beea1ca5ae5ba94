//! Attached sessions, with well-behaved and hostile programs.

use std::{sync::Arc, time::Duration};

use helmdeck_sessions::{Session, SessionError, ToAttach};
use helmdeck_wire::{
    ActionCall, SessionId,
    attach::Attached,
    guest::{Hello, LINK_VERSION},
    pointer::CursorPosition,
    session::EndReason,
};
use time::OffsetDateTime;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, DuplexStream},
    sync::Barrier,
    time::timeout,
};

use crate::nowhere::{caller, sessions};

const PATIENCE: Duration = Duration::from_secs(60);

fn brought(back: Option<&SessionId>) -> ToAttach {
    let attached = Attached { display: Some(":0".into()), ..Attached::default() };
    let back = back.map(|id| (id.clone(), OffsetDateTime::UNIX_EPOCH));
    ToAttach { label: String::new(), attached, back }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_several_programs_that_resume_one_session_only_one_succeeds() {
    let dir = tempfile::tempdir().unwrap();
    let sessions = sessions(&dir).await;
    for round in 0..50_u8 {
        let id = SessionId::from_random([round; 12]);
        let together = Arc::new(Barrier::new(4));
        let tries = (0..4).map(|_| {
            let (sessions, id, together) = (sessions.clone(), id.clone(), together.clone());
            tokio::spawn(async move {
                together.wait().await;
                sessions.attach(&caller(), brought(Some(&id)))
            })
        });
        let tries: Vec<_> = tries.collect();
        let (mut winners, mut refused) = (Vec::new(), 0);
        for one in tries {
            match one.await.unwrap() {
                Ok(winner) => winners.push(winner),
                Err(error @ SessionError::AlreadyAttached(_)) => {
                    assert!(error.to_string().contains("stop that one"), "{error}");
                    refused += 1;
                }
                Err(error) => panic!("{error}"),
            }
        }
        assert_eq!((winners.len(), refused), (1, 3));
        // After it disconnects, the same session can be resumed.
        winners.clear();
        let (session, _brought) = sessions.attach(&caller(), brought(Some(&id))).unwrap();
        assert_eq!(sessions.describe_all(&caller()).await.len(), 1);
        session.detach();
        sessions.end(&caller(), &id).await.unwrap();
        let gone = sessions.get(&caller(), &id).err().unwrap();
        assert_eq!(gone.ending().unwrap().reason, EndReason::Requested);
    }
}

/// A guest that answers, and then reports without end.
async fn guest(mut link: DuplexStream, report: Arc<String>) {
    loop {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            match link.read_u8().await {
                Ok(byte) => head.push(byte),
                Err(_) => return,
            }
        }
        if head.starts_with(b"GET /watch ") {
            let begun = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
            link.write_all(begun.as_bytes()).await.unwrap();
            let chunk = |line: &str| format!("{:x}\r\n{line}\n\r\n", line.len() + 1);
            let mut next = chunk("\"ready\"");
            while link.write_all(next.as_bytes()).await.is_ok() {
                next = chunk(&report);
            }
            return;
        }
        let (link_version, memory_bytes) = (LINK_VERSION, None);
        let hello =
            Hello { link_version, actions: u64::MAX, memory_bytes, pids: None, proxy: None };
        let hello = serde_json::to_string(&hello).unwrap();
        let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{hello}", hello.len());
        link.write_all(answer.as_bytes()).await.unwrap();
    }
}

/// Serves every connection that the server requests.
async fn serve(session: Session, report: String) {
    let (attachment, report) = (session.attachment().unwrap().clone(), Arc::new(report));
    while let Some(link) = attachment.offer().await {
        tokio::spawn(guest(link, report.clone()));
    }
}

#[tokio::test]
async fn a_guest_that_reports_without_end_is_disconnected_with_a_reason() {
    let dir = tempfile::tempdir().unwrap();
    let sessions = sessions(&dir).await;
    let small = "\"browser_back\"".to_owned();
    let large = format!("{{\"browser_ended\":\"{}\"}}", "x".repeat(200 << 10));
    for report in [small, large] {
        let (session, _brought) = sessions.attach(&caller(), brought(None)).unwrap();
        let before = sessions.events().last();
        let serving = tokio::spawn(serve(session.clone(), report));
        let ended = timeout(PATIENCE, session.ending()).await.expect("an end");
        assert_eq!(ended, EndReason::GuestLost);
        // The number of events is bounded, however fast it reports.
        assert!(sessions.events().last() - before < 10_000);
        let shown = sessions.describe_one(&caller(), &session).await.unwrap();
        assert!(shown.error.unwrap().contains("reported more"), "the session reports why");
        assert!(shown.ended_at.is_some() && shown.browser_view.reason.is_some());
        let error = session.act(&caller(), &ActionCall::new(&CursorPosition {})).await;
        assert_eq!(error.err().unwrap().ending().unwrap().reason, EndReason::GuestLost);
        timeout(PATIENCE, serving).await.expect("no more connections are requested").unwrap();
    }
}
