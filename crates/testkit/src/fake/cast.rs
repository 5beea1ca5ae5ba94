//! The browser of a fake guest as pictures.

use helmdeck_link::cast::{Message, Receiver, send};
use helmdeck_wire::{
    browser::{Tab, TabId},
    cast::{CastMessage, CastView, Shown, ViewStatus},
    screen::Format,
};
use tokio::io::{AsyncRead, AsyncWrite};

use super::{guest::FakeGuest, picture::picture};

/// Shows one tab, with a new picture whenever the screen changes. Requests of viewers are recorded
/// as `cast_input`.
pub async fn serve(guest: &FakeGuest, view: CastView, stream: impl AsyncRead + AsyncWrite) {
    let (from_server, mut to_server) = tokio::io::split(stream);
    let mut changes = guest.shared.changes.subscribe();
    let up = async {
        let mut messages = Receiver::new(from_server);
        while let Some(asked) = messages.next().await.and_then(|message| message.request()) {
            let body = serde_json::to_value(asked).expect("JSON");
            guest.note("cast_input", body, "").answered();
        }
    };
    let down = async {
        let tab = TabId("fake".to_owned());
        let shown = |seq| Shown {
            tab: tab.clone(),
            width: 1280.0,
            height: 720.0,
            page_scale: 1.0,
            offset_top: 0.0,
            scroll_x: 0.0,
            scroll_y: 0.0,
            seq,
        };
        let tabs = vec![Tab {
            id: tab.clone(),
            title: "fake".to_owned(),
            url: "about:blank".to_owned(),
            active: true,
        }];
        let first = [
            CastMessage::Tabs(tabs),
            CastMessage::Status(ViewStatus::Streaming.plainly()),
            CastMessage::Dialog(None),
            CastMessage::Frame(shown(1)),
        ];
        for told in &first {
            send(&mut to_server, &Message::telling(told)).await?;
        }
        let wide = u16::try_from(view.max_width.get()).unwrap_or(u16::MAX);
        loop {
            let jpeg = picture(Format::Jpeg, wide, wide / 2);
            send(&mut to_server, &Message::Picture(jpeg)).await?;
            if changes.changed().await.is_err() {
                return Ok::<_, std::io::Error>(());
            }
        }
    };
    tokio::select! {
        () = up => {}
        _ = down => {}
    }
}
