//! Live view of a session's browser, with or without a desktop.

use axum::{
    extract::{Request, State},
    response::Response,
};
use helmdeck_wire::{
    browser::TabId,
    cast::{CastView, Pace, Pictures, Quality, Side},
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::live::{Admitted, ViewQuery, accept, must_end, upgrade};
use crate::{
    App,
    cast::relay,
    error::ApiResult,
    query::{Named, Params},
    ticket,
};

/// Maximum size of a viewer's message.
const MAX_MESSAGE: usize = 64 << 10;

/// Description of the protocol, for developers of viewers.
pub const STREAM: &str = "Watch and drive the session's browser over a WebSocket. Each binary message is a \
    JPEG of the page, each text message an object with one key: `frame` (describes the \
    following pictures: `tab`, `width`, `height`, `page_scale`, `offset_top`, \
    `scroll_x`, `scroll_y` in CSS pixels, and `seq`, the number of the next picture), \
    `tabs` (all tabs), `status` (`status` and `reason`, as `browser_view` of the \
    session), `control` (`may_drive`), `dialog` (`kind`, `message`, `proposal`; null \
    when it is answered) or `error` (`message`: why something sent was refused). \
    Send `{\"method\": …, \"params\": …}`. While this viewer drives: \
    `Input.dispatchMouseEvent`, `Input.dispatchKeyEvent` and \
    `Input.dispatchTouchEvent` with the params of the debugging protocol, and `dialog` \
    (`accept`, and `text` for a prompt). Always: `view` (`tab`, null for the active \
    one, `quality`, `max_width`, `max_height`, `max_fps`; others keep their values) and, \
    if the connection was opened with `ack=true`, `ack` (`seq`, the number of the last \
    picture that arrived). A browser that crashed returns on the same connection.";

/// How a viewer connects, and what it wants to see.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CastQuery {
    #[serde(flatten)]
    viewer: ViewQuery,
    /// The tab. Without it, the view follows the active tab.
    #[schemars(length(min = 1, max = 64))]
    tab: Option<String>,
    /// JPEG quality; defaults to the session's setting, usually 70.
    quality: Option<Quality>,
    /// Maximum width. Wider pages are scaled down. Defaults to the session's setting, usually 1280.
    max_width: Option<Side>,
    /// Maximum height. Higher pages are scaled down. Defaults to the session's setting, usually
    /// 800.
    max_height: Option<Side>,
    /// Maximum pictures per second; defaults to the session's setting, usually 15.
    max_fps: Option<Pace>,
    /// Whether at most two pictures are sent before the viewer acknowledges them.
    ack: Option<bool>,
}

impl CastQuery {
    fn view(&self, usual: &Pictures) -> CastView {
        CastView {
            tab: self.tab.clone().map(TabId),
            quality: self.quality.unwrap_or(usual.quality),
            max_width: self.max_width.unwrap_or(usual.max_width),
            max_height: self.max_height.unwrap_or(usual.max_height),
            max_fps: self.max_fps.unwrap_or(usual.max_fps),
            ack: self.ack.unwrap_or(false),
        }
    }
}

/// Pictures of the browser's page over a WebSocket, and input.
pub async fn stream(
    State(app): State<App>,
    Named(id): Named,
    Params(query): Params<CastQuery>,
    request: Request,
) -> ApiResult<Response> {
    let (mut parts, _) = request.into_parts();
    let admitted = query.viewer.admit(&app, &id, ticket::Kind::Browser, &mut parts)?;
    let upgrade = upgrade(&mut parts, &app).await?;
    let Admitted { session, viewer, credentials, ticket, expires } = admitted;
    let view = query.view(&session.pictures());
    let (viewer, stream) = session.cast(viewer, &view).await?;
    query.viewer.settle(&viewer).await?;
    let live = app.live.clone();
    let upgrade = upgrade.protocols(["binary"]).max_message_size(MAX_MESSAGE);
    Ok(accept(upgrade, async move |socket| {
        let over = viewer.session().ending();
        let ended = must_end(&app, over, &credentials, expires);
        live.track_future(relay(socket, viewer, stream, ended)).await;
        drop(ticket);
    }))
}
