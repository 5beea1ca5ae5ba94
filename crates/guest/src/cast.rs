//! Casts of the browser's page for a viewer, and the viewer's input.

use helmdeck_browser::{Browser, ScreenMessage, SignIn, ViewerInput};
use helmdeck_link::cast::{Message, Receiver, send};
use helmdeck_wire::cast::{CastMessage, CastRequest, CastView, ViewStatus};
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite};

/// Casts until either side ends. A slow viewer misses pictures. During a private sign-in, the
/// person's own viewers see the private browser, and others see nothing.
pub async fn serve(
    browser: &Browser,
    key: &str,
    view: CastView,
    stream: impl AsyncRead + AsyncWrite,
) {
    let (from_server, mut to_server) = tokio::io::split(stream);
    let (view, input) = (Mutex::new(view), Mutex::new(None::<ViewerInput>));
    let up = async {
        let mut messages = Receiver::new(from_server);
        while let Some(asked) = messages.next().await.and_then(|message| message.request()) {
            if let CastRequest::View(change) = &asked {
                view.lock().change(change.clone());
            }
            if let Some(input) = &mut *input.lock() {
                input.ask(asked);
            }
        }
    };
    let down = async {
        let mut private = browser.private();
        let mut sent = 0;
        loop {
            let sign_in = private.borrow_and_update().clone();
            let wanted = view.lock().clone();
            let (mut screen, fresh) = match &sign_in {
                None => browser.cast(wanted, sent),
                // Tab ids are valid in one browser only.
                Some(SignIn { key: theirs, browser, .. }) if theirs == key => {
                    browser.cast(CastView { tab: None, ..wanted }, sent)
                }
                Some(SignIn { by, .. }) => {
                    input.lock().take();
                    for told in closed(by) {
                        if send(&mut to_server, &Message::telling(&told)).await.is_err() {
                            return;
                        }
                    }
                    match private.changed().await {
                        Ok(()) => continue,
                        Err(_) => return,
                    }
                }
            };
            *input.lock() = Some(fresh);
            loop {
                let message = tokio::select! {
                    biased;
                    changed = private.changed() => match changed {
                        Ok(()) => break,
                        Err(_) => return,
                    },
                    said = screen.next() => match said {
                        ScreenMessage::Picture(jpeg) => Message::Picture(jpeg),
                        ScreenMessage::Words(told) => Message::telling(&told),
                    },
                };
                if send(&mut to_server, &message).await.is_err() {
                    return;
                }
            }
            sent = screen.sent();
        }
    };
    tokio::select! {
        () = up => {}
        () = down => {}
    }
}

/// The messages for other viewers during a private sign-in.
fn closed(by: &str) -> [CastMessage; 3] {
    let reason = format!("{by} is signing in privately");
    let status = ViewStatus::Private.because(reason);
    [CastMessage::Dialog(None), CastMessage::Tabs(Vec::new()), CastMessage::Status(status)]
}
