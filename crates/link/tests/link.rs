//! The server's end of the link, with a guest whose answers are given byte by byte.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may"
)]

use std::{io, time::Duration};

use async_trait::async_trait;
use helmdeck_link::{ByteStream, Connect, Link, LinkError};
use helmdeck_wire::{ErrorBody, ErrorCode, guest::PictureRequest};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex},
    sync::mpsc,
    time::timeout,
};

/// For everything that happens at once.
const SOON: Duration = Duration::from_secs(10);

struct ToGuest(mpsc::UnboundedSender<DuplexStream>);

#[async_trait]
impl Connect for ToGuest {
    async fn connect(&self) -> io::Result<Box<dyn ByteStream>> {
        let (ours, theirs) = duplex(1 << 20);
        self.0.send(theirs).map_err(io::Error::other)?;
        Ok(Box::new(ours))
    }
}

/// The guest: the connections that the link opens.
struct Guest(mpsc::UnboundedReceiver<DuplexStream>);

impl Guest {
    /// The next connection, after the head of its first request.
    async fn asked(&mut self) -> DuplexStream {
        let mut stream = timeout(SOON, self.0.recv()).await.expect("a connection").unwrap();
        head(&mut stream).await;
        stream
    }
}

fn link() -> (Link, Guest) {
    let (connect, connections) = mpsc::unbounded_channel();
    (Link::new(ToGuest(connect)), Guest(connections))
}

/// Reads the head of a request.
async fn head(stream: &mut DuplexStream) -> String {
    let mut read = Vec::new();
    while !read.ends_with(b"\r\n\r\n") {
        read.push(timeout(SOON, stream.read_u8()).await.expect("a request").unwrap());
    }
    String::from_utf8(read).unwrap()
}

async fn answer(stream: &mut DuplexStream, status: &str, body: &str) {
    let text = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    stream.write_all(text.as_bytes()).await.unwrap();
}

async fn is_closed(stream: &mut DuplexStream) {
    let mut rest = Vec::new();
    timeout(SOON, stream.read_to_end(&mut rest)).await.expect("it is closed").unwrap();
}

#[tokio::test]
async fn a_connection_serves_one_call_after_the_other() {
    let (link, mut guest) = link();
    let guest = async {
        let mut stream = guest.asked().await;
        answer(&mut stream, "200 OK", "first").await;
        head(&mut stream).await;
        answer(&mut stream, "200 OK", "second").await;
        assert!(guest.0.try_recv().is_err(), "there is one connection");
    };
    let calls = async {
        assert_eq!(link.log(SOON).await.unwrap(), "first");
        assert_eq!(link.log(SOON).await.unwrap(), "second");
    };
    tokio::join!(guest, calls);
}

#[tokio::test]
async fn a_call_without_an_answer_ends_at_its_deadline_and_closes_its_connection() {
    let (link, mut guest) = link();
    let deadline = Duration::from_millis(50);
    let (ended, mut stream) = tokio::join!(link.log(deadline), guest.asked());
    assert!(matches!(ended, Err(LinkError::Deadline(it)) if it == deadline), "{ended:?}");
    is_closed(&mut stream).await;
}

#[tokio::test]
async fn dropping_a_call_closes_its_connection() {
    let (link, mut guest) = link();
    let mut stream = tokio::select! {
        ended = link.log(SOON) => panic!("{ended:?}"),
        stream = guest.asked() => stream,
    };
    is_closed(&mut stream).await;
}

#[tokio::test]
async fn a_refusal_has_its_code_and_an_answer_that_is_cut_or_foreign_is_an_error() {
    let (link, mut guest) = link();
    let refusal = ErrorBody::new(ErrorCode::NotFound, "it does not exist");
    let refused = serde_json::to_string(&refusal).unwrap();
    let guest = async {
        let mut stream = guest.asked().await;
        answer(&mut stream, "404 Not Found", &refused).await;
        head(&mut stream).await;
        answer(&mut stream, "500 Internal Server Error", "<html>").await;
        head(&mut stream).await;
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf").await.unwrap();
        drop(stream);
        // A broken connection is not used again.
        let mut stream = guest.asked().await;
        answer(&mut stream, "200 OK", "whole").await;
    };
    let calls = async {
        let refused = link.log(SOON).await;
        assert!(matches!(&refused, Err(LinkError::Refused(it)) if *it == refusal), "{refused:?}");
        let foreign = link.log(SOON).await;
        assert!(matches!(&foreign, Err(LinkError::Nonsense(it)) if it.contains("500")));
        assert!(link.log(SOON).await.is_err());
        assert_eq!(link.log(SOON).await.unwrap(), "whole");
    };
    tokio::join!(guest, calls);
}

#[tokio::test]
async fn a_file_that_is_cut_is_an_error_and_a_whole_one_ends() {
    let (link, mut guest) = link();
    for (content, whole) in [("0123456789", true), ("0123", false)] {
        let sending = async {
            let mut stream = guest.asked().await;
            let text = format!("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{content}");
            stream.write_all(text.as_bytes()).await.unwrap();
        };
        let receiving = async {
            let mut file = link.save_profile(false).await.unwrap();
            assert_eq!(file.size, Some(10));
            let mut read = Vec::new();
            let end = loop {
                match file.next().await {
                    Ok(Some(bytes)) => read.extend_from_slice(&bytes),
                    Ok(None) => break true,
                    Err(_) => break false,
                }
            };
            assert_eq!((read.as_slice(), end), (content.as_bytes(), whole));
        };
        tokio::join!(sending, receiving);
    }
}

#[tokio::test]
async fn pictures_arrive_whole_and_one_without_bounds_is_refused() {
    let (link, mut guest) = link();
    let guest = async {
        let mut stream = guest.asked().await;
        let switch =
            b"HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n";
        stream.write_all(switch).await.unwrap();
        for piece in [&[0, 0][..], &[0, 3, 1], &[2, 3, 0, 0, 0, 0], &[255, 255, 255, 255]] {
            stream.write_all(piece).await.unwrap();
            tokio::task::yield_now().await;
        }
        stream
    };
    let watching = async {
        let mut pictures =
            link.frames(PictureRequest { width: 100, fps: 1.0, quality: 50 }).await.unwrap();
        assert_eq!(pictures.next().await.unwrap().unwrap().as_ref(), [1, 2, 3]);
        assert_eq!(pictures.next().await.unwrap().unwrap().len(), 0);
        assert!(matches!(pictures.next().await, Err(LinkError::Nonsense(_))));
    };
    tokio::join!(guest, watching);
}

#[tokio::test]
async fn a_report_without_an_end_is_refused() {
    let (link, mut guest) = link();
    let guest = async {
        let mut stream = guest.asked().await;
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
        stream.write_all(&vec![b'x'; 300 << 10]).await.unwrap();
        stream
    };
    let watching = async {
        let mut reports = link.watch().await.unwrap();
        assert!(matches!(reports.next().await, Err(LinkError::Nonsense(_))));
    };
    tokio::join!(guest, watching);
}
