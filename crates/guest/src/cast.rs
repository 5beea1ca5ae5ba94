//! The browser's page as pictures for somebody outside, and their input.

use helmdeck_browser::{Browser, Said};
use helmdeck_link::cast::{Message, Receiver, send};
use helmdeck_wire::cast::CastView;
use tokio::io::{AsyncRead, AsyncWrite};

/// Shows the browser until either side ends. A viewer that is slow misses pictures, here.
pub async fn serve(browser: &Browser, view: CastView, stream: impl AsyncRead + AsyncWrite) {
    let (from_server, mut to_server) = tokio::io::split(stream);
    let (mut screen, mut hands) = browser.cast(view);
    let up = async {
        let mut messages = Receiver::new(from_server);
        while let Some(asked) = messages.next().await.and_then(|message| message.asked()) {
            hands.ask(asked);
        }
    };
    let down = async {
        loop {
            let message = match screen.next().await {
                Said::Picture(jpeg) => Message::Picture(jpeg),
                Said::Words(told) => Message::telling(&told),
            };
            if send(&mut to_server, &message).await.is_err() {
                return;
            }
        }
    };
    tokio::select! {
        () = up => {}
        () = down => {}
    }
}
