//! What ends when a client, server or proxy ends.

use std::time::Duration;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::UnixStream,
    time::{sleep, timeout},
};

use crate::{
    origin::Origin,
    world::{ALLOWED, World, head, rest},
};

async fn tunnel(world: &World, origin: &Origin) -> UnixStream {
    let mut stream = world.connect().await;
    let to = origin.address;
    stream.write_all(format!("CONNECT {to} HTTP/1.1\r\n\r\n").as_bytes()).await.unwrap();
    head(&mut stream).await;
    stream
}

async fn streaming(world: &World, origin: &Origin) -> UnixStream {
    let mut stream = world.connect().await;
    let request = format!("GET {} HTTP/1.1\r\nHost: x\r\n\r\n", origin.url("/big?1073741824"));
    stream.write_all(request.as_bytes()).await.unwrap();
    head(&mut stream).await;
    stream
}

async fn waiting(world: &World, origin: &Origin) -> UnixStream {
    let mut stream = world.connect().await;
    let request = format!("GET {} HTTP/1.1\r\nHost: x\r\n\r\n", origin.url("/sink"));
    stream.write_all(request.as_bytes()).await.unwrap();
    while origin.accepted() == 0 {
        sleep(Duration::from_millis(5)).await;
    }
    stream
}

async fn kept(world: &World, origin: &Origin) -> UnixStream {
    let mut stream = world.connect().await;
    let request = format!("GET {} HTTP/1.1\r\nHost: x\r\n\r\n", origin.url("/hello"));
    stream.write_all(request.as_bytes()).await.unwrap();
    head(&mut stream).await;
    stream
}

async fn socks(world: &World, origin: &Origin) -> UnixStream {
    let mut stream = world.connect().await;
    let mut request = vec![5, 1, 0, 5, 1, 0, 1, 127, 0, 0, 2];
    request.extend(origin.address.port().to_be_bytes());
    stream.write_all(&request).await.unwrap();
    stream.read_exact(&mut [0; 12]).await.unwrap();
    stream
}

/// One connection of every kind to one server.
async fn all(world: &World, origin: &Origin) -> Vec<UnixStream> {
    vec![
        waiting(world, origin).await,
        tunnel(world, origin).await,
        streaming(world, origin).await,
        kept(world, origin).await,
        socks(world, origin).await,
    ]
}

#[tokio::test]
async fn a_client_that_disconnects_ends_its_server_connection() {
    let world = World::new();
    macro_rules! check {
        ($($kind:ident),+) => {$(
            let origin = Origin::start(ALLOWED).await;
            drop($kind(&world, &origin).await);
            timeout(Duration::from_secs(5), origin.deserted()).await.expect(stringify!($kind));
        )+};
    }
    check!(waiting, tunnel, streaming, kept, socks);
    while world.proxy.connections() > 0 {
        sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn dropping_the_last_handle_ends_every_connection() {
    let (world, origin) = (World::new(), Origin::start(ALLOWED).await);
    let clients = all(&world, &origin).await;
    let handle = world.proxy.clone();
    drop(world);
    sleep(Duration::from_millis(50)).await;
    assert_eq!(handle.connections(), clients.len(), "a handle is left");

    drop(handle);
    origin.deserted().await;
    for mut client in clients {
        rest(&mut client).await;
    }
}

#[tokio::test]
async fn a_server_that_disconnects_ends_its_client_connection() {
    let (world, origin) = (World::new(), Origin::start(ALLOWED).await);
    let mut clients = all(&world, &origin).await;
    drop(origin);
    let kept = clients.swap_remove(3);
    for mut client in clients {
        client.shutdown().await.unwrap();
        rest(&mut client).await;
    }
    // The kept connection waits for its next request.
    while world.proxy.connections() > 1 {
        sleep(Duration::from_millis(5)).await;
    }
    drop(kept);
    while world.proxy.connections() > 0 {
        sleep(Duration::from_millis(5)).await;
    }
}
