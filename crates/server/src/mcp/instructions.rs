//! What a client reads before it calls anything.

/// Kept under 400 tokens: every conversation pays for it.
pub const INSTRUCTIONS: &str = "\
helmdeck gives you a computer: a sandboxed Chromium and a Linux desktop that a person can watch live.

Sessions: session-create starts one and makes it current; later calls use it until session-end. Pass \
_session_id only for another session. Without one, the first browser or desktop call starts a session. \
Replies carry _session_id and _live_view: tell the user where to watch.

Surfaces: browser-* act on page elements. In a headless session (default) nobody sees them: use it to \
scrape or test. desktop-* act by pixel on a VISIBLE desktop where Chromium is already open: use \
session-create {\"mode\": \"desktop\"} when the user wants to watch, and drive that Chromium with browser-* \
or desktop-*. Prefer browser-* where a page element can be named.

Chaining: pass ids, refs and paths from one reply to the next call unchanged. Refs of a snapshot are \
valid until the page changes.

Pictures come with an id: pass it as `shot`, with coordinates of that picture. Without `shot`, coordinates \
are pixels of the whole screen: divide those of a smaller picture by its scale.

Freshness: pages and screens change; take a new snapshot or screenshot after acting, before deciding.

Errors: a failed call says `code: what to do`. Fix the named field; do not repeat an unchanged call. \
control_held means that a person drives: wait and look. A refused host needs the operator.

More tools than listed exist: tools-search finds them. Long texts end with a cursor for text-read.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_instructions_stay_below_400_tokens() {
        // English has about four characters a token, and never more than 1.5 tokens a word.
        assert!(INSTRUCTIONS.len() / 4 < 400, "{} characters", INSTRUCTIONS.len());
    }
}
