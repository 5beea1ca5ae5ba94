//! DNS rebinding: an attacker's name changes its address between the check and the connection.

use std::{
    net::{Ipv4Addr, UdpSocket},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use helmdeck_testkit::{Desk, Installation, Server, View, is_root};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

const ALLOWED: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 1);
const DENIED: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 3);
const NAME: &str = "rebinding.test";
/// The system's resolver uses only this port.
const DNS_PORT: u16 = 53;

/// A name server that returns another address each time.
struct Fickle {
    address: Ipv4Addr,
    asked: Arc<AtomicUsize>,
}

impl Fickle {
    fn start() -> Self {
        // Other tests may run one, too.
        let places = (2..250).map(|last| Ipv4Addr::new(127, 53, 0, last));
        let bound = |address| Some((address, UdpSocket::bind((address, DNS_PORT)).ok()?));
        let (address, socket) = places.into_iter().find_map(bound).expect("a free address");
        let asked = Arc::new(AtomicUsize::new(0));
        let turns = asked.clone();
        std::thread::spawn(move || {
            let mut query = [0; 512];
            while let Ok((length, from)) = socket.recv_from(&mut query) {
                if let Some(answer) = answer(&query[..length], &turns) {
                    let _ = socket.send_to(&answer, from);
                }
            }
        });
        Self { address, asked }
    }
}

/// The answer to a query: the next address in turn, or `None` for other types.
fn answer(query: &[u8], turns: &AtomicUsize) -> Option<Vec<u8>> {
    let (head, question) = query.split_at_checked(12)?;
    // One question: a name with an empty last part, a type and a class.
    let name_end = question.iter().position(|byte| *byte == 0)?;
    let question = question.get(..name_end + 5)?;
    let about_addresses = question.get(name_end + 1..name_end + 3)? == [0, 1];
    let ours = question.starts_with(b"\x09rebinding\x04test\0");
    let answers = u8::from(about_addresses && ours);
    let mut reply = head.get(..2)?.to_vec();
    reply.extend([0x84, 0, 0, 1, 0, answers, 0, 0, 0, 0]);
    reply.extend(question);
    if answers == 1 {
        let turn = turns.fetch_add(1, Ordering::SeqCst);
        let address = if turn.is_multiple_of(2) { ALLOWED } else { DENIED };
        // The question's name, type A, class IN, TTL 0, four bytes.
        reply.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4]);
        reply.extend(address.octets());
    }
    Some(reply)
}

/// A web server at both addresses, with the number of requests at the denied one.
async fn site() -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let trespasses = Arc::new(AtomicUsize::new(0));
    let counted = trespasses.clone();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            if stream.local_addr().unwrap().ip() == DENIED {
                counted.fetch_add(1, Ordering::SeqCst);
            }
            tokio::spawn(async move {
                let _ = stream.read(&mut [0; 4096]).await;
                let answer =
                    "HTTP/1.1 200 OK\r\ncontent-length: 7\r\nconnection: close\r\n\r\nwelcome";
                let _ = stream.write_all(answer.as_bytes()).await;
            });
        }
    });
    (port, trespasses)
}

#[tokio::test]
async fn a_rebinding_name_is_judged_by_the_dialled_address() {
    if !is_root() {
        eprintln!("skipped: only root may answer at port 53, where the system asks for names");
        return;
    }
    let Some(view) = View::new() else { return };
    let (dns, (port, trespasses)) = (Fickle::start(), site().await);
    let installation = Installation::in_view(&view);
    let settings = installation.path().join("resolv.conf");
    std::fs::write(&settings, format!("nameserver {}\n", dns.address)).unwrap();
    // `/etc/resolv.conf` may be a link.
    view.run(&format!("mount --bind {} \"$(realpath /etc/resolv.conf)\"", settings.display()));
    let server = Server::start_in(installation, &[("HELMDECK_EGRESS_ALLOWLIST", "127.0.0.1/32")]);
    let client = server.admin();
    let desk = Desk::desktop(&client).await;

    let url = format!("http://{NAME}:{port}/");
    let (mut welcome, mut refused) = (0, 0);
    // Through every path: a plain request, a tunnel, and SOCKS with remote DNS.
    for way in ["", "--proxytunnel", "-x socks5h://127.0.0.1:3128"] {
        for _ in 0..4 {
            let before = dns.asked.load(Ordering::SeqCst);
            let said =
                desk.shell(&format!("curl -sv -m 20 {way} '{url}'; echo \" code $?\"")).await;
            let asked = dns.asked.load(Ordering::SeqCst) - before;
            assert_eq!(asked, 1, "one answer is both checked and dialled: {said}");
            if before.is_multiple_of(2) {
                assert!(said.contains("welcome"), "{way} allowed: {said}");
                welcome += 1;
            } else {
                assert!(!said.contains("welcome"), "{way} denied: {said}");
                refused += 1;
            }
        }
    }
    assert_eq!((welcome, refused), (6, 6));
    assert_eq!(trespasses.load(Ordering::SeqCst), 0, "the denied address was reached");
    let egress = desk.describe().await["egress"].clone();
    assert!(egress["denied"].as_u64() >= Some(6), "{egress}");
}
