//! Refs of elements: unique, and valid for as long as the page is shown.

use helmdeck_wire::ErrorCode;

use super::desk::{Desk, ref_of};
use crate::server::{Reply, Server};

#[tokio::test]
async fn an_element_keeps_its_ref_while_the_page_changes_around_it() {
    let (desk, _server) =
        Desk::showing("<button id=a>First</button><button id=b>Second</button><p id=p>text</p>")
            .await;
    let before = desk.text().await;
    let (first, second) = (ref_of(&before, "First"), ref_of(&before, "Second"));
    desk.run(
        "document.body.prepend(b); b.textContent = 'Renamed'; a.disabled = true;
         p.innerHTML = '<button>Third</button>'",
    )
    .await;
    let after = desk.text().await;
    assert_eq!(ref_of(&after, "Renamed"), second);
    assert_eq!(ref_of(&after, "First"), first);
    let third = ref_of(&after, "Third");
    assert!(third != first && third != second);

    desk.run("b.onclick = () => document.title = 'clicked'").await;
    desk.click(&format!("ref={second}")).await.unwrap();
    assert_eq!(desk.run("document.title").await, "clicked");
}

#[tokio::test]
async fn a_ref_becomes_stale_when_its_page_is_left() {
    let page = |path: &str| Reply::page(format!("<button>Of {path}</button>"));
    let server = Server::start(page).await;
    let desk = Desk::start().await;
    desk.go(&server.url("/one")).await;
    let old = ref_of(&desk.text().await, "Of /one");

    // The same site, and another one, whose process numbers its elements from the start.
    for url in [server.url("/two"), server.elsewhere("/three")] {
        desk.go(&url).await;
        let body = desk.click(&format!("ref={old}")).await.unwrap_err().body();
        assert_eq!(body.error, ErrorCode::ElementNotFound);
        assert!(body.message.contains("snapshot"), "{}", body.message);
        assert_ne!(ref_of(&desk.text().await, "Of /t"), old);
    }
    desk.go(&server.url("/one")).await;
    assert_ne!(ref_of(&desk.text().await, "Of /one"), old);
}

#[tokio::test]
async fn a_replaced_element_has_another_ref() {
    let (desk, _server) = Desk::showing("<div id=box><button>Save</button></div>").await;
    let old = ref_of(&desk.text().await, "Save");
    desk.run("box.innerHTML = box.innerHTML").await;
    assert_ne!(ref_of(&desk.text().await, "Save"), old);
    let body = desk.click(&format!("ref={old}")).await.unwrap_err().body();
    assert_eq!(body.error, ErrorCode::ElementNotFound, "{}", body.message);
}
