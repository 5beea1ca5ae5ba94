//! How a server stops during requests.

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::{client::TestServer, nowhere::Nowhere};

/// A request whose body the server waits for.
async fn half_a_request(server: &TestServer) -> TcpStream {
    let mut stream = TcpStream::connect(server.addr).await.unwrap();
    let head = b"POST /api/v1/auth/login HTTP/1.1\r\nhost: test\r\ncontent-length: 2\r\n\
                 expect: 100-continue\r\n\r\n";
    stream.write_all(head).await.unwrap();
    let mut go_on = [0; 25];
    stream.read_exact(&mut go_on).await.unwrap();
    assert_eq!(&go_on, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream
}

#[tokio::test]
async fn a_running_request_is_answered_before_the_server_stops() {
    let server = TestServer::start().await;
    let addr = server.addr;
    let mut stream = half_a_request(&server).await;
    let stopped = tokio::spawn(server.stop());
    // The listener is closed as soon as the server starts to stop.
    while TcpStream::connect(addr).await.is_ok() {
        tokio::task::yield_now().await;
    }
    assert!(!stopped.is_finished());

    stream.write_all(b"{}").await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.contains("missing_credentials"), "{answer}");
    stopped.await.unwrap();
}

#[tokio::test]
async fn a_request_that_does_not_end_is_cancelled_at_the_deadline() {
    let env = [("HELMDECK_DRAIN_SECONDS", "0")];
    let server = TestServer::start_with(&env, Nowhere::default()).await;
    let mut stream = half_a_request(&server).await;
    server.stop().await;
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest).await;
    assert!(rest.is_empty());
}
