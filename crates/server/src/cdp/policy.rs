//! Policy for messages of a client to the browser. Pure.

use std::borrow::Cow;

use helmdeck_cdp::{ClientMessage, controls_browser, refusal};
use helmdeck_sessions::SessionError;
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

/// The download folder, whatever folder the client names.
const DOWNLOADS: &str = "/home/agent/Downloads";
/// The protocol's error code for a failed command.
const SERVER_ERROR: i64 = -32000;

/// Maximum length of messages that are rewritten.
const MAX_REWRITTEN: usize = 64 << 10;

/// The answer to an address that controls the browser.
const NOT_OPENED: &str = "this address controls the browser, which belongs to the session: open a \
    page of the web, about:blank, data:, blob: or file: instead";

/// Verdict on a message.
#[derive(Debug, PartialEq, Eq)]
pub enum Verdict<'a> {
    /// It goes to the browser, possibly changed.
    Pass(Cow<'a, str>),
    /// It is refused with this answer.
    Answer(String),
}

/// Judges one message. Unparseable messages are answered as the browser would, and never pass: the
/// guest separates messages by NUL, and a message could hide behind one.
pub fn judge<'a>(
    text: &'a str,
    may_drive: impl FnOnce() -> Result<(), SessionError>,
) -> Verdict<'a> {
    let message = match ClientMessage::at(text) {
        Ok(message) => message,
        Err(malformed) => return Verdict::Answer(malformed.answer()),
    };
    let no = |why: &str| {
        let session = message.session_id.as_deref();
        Verdict::Answer(refusal(Some(message.id), session, SERVER_ERROR, why))
    };
    match &*message.method {
        "Browser.close" | "Browser.crash" | "Browser.crashGpuProcess" => {
            no("the browser belongs to the session: end the session instead")
        }
        // Messages inside messages, and pages that may send any.
        "Target.sendMessageToTarget"
        | "Target.exposeDevToolsProtocol"
        | "Target.openDevTools"
        | "Target.setRemoteLocations" => no("not here: attach with flatten instead"),
        // These block a page or its input in ways that a person who takes control cannot undo.
        "Page.waitForDebugger" => no("not here: use Debugger.pause instead"),
        "Emulation.setVisibleSize" => {
            no("not here: use Emulation.setDeviceMetricsOverride instead")
        }
        // An extension outlives its client, and may debug pages that a person uses.
        method if method.starts_with("Extensions.") => {
            no("not here: name extensions when the session is created")
        }
        "Page.navigate" | "Target.createTarget" if !may_open(message.params) => no(NOT_OPENED),
        "Browser.setDownloadBehavior" | "Page.setDownloadBehavior" => match in_session(text) {
            Some(rewritten) => Verdict::Pass(rewritten.into()),
            None => no("expected an object of parameters, and not a large one"),
        },
        method if drives(method) => match may_drive() {
            Ok(()) => Verdict::Pass(text.into()),
            Err(error) => no(&error.to_string()),
        },
        _ => Verdict::Pass(text.into()),
    }
}

/// Whether a client may open the address in the parameters. Ambiguous addresses are refused.
fn may_open(params: Option<&RawValue>) -> bool {
    #[derive(Deserialize)]
    struct Opened<'a> {
        #[serde(borrow, default)]
        url: Option<Cow<'a, str>>,
    }
    let Some(params) = params.map(RawValue::get).filter(|params| params.starts_with('{')) else {
        return true;
    };
    match serde_json::from_str::<Opened<'_>>(params) {
        Ok(Opened { url }) => url.is_none_or(|url| !controls_browser(&url)),
        Err(_) => false,
    }
}

/// Whether a person with control would notice it as someone else's input.
fn drives(method: &str) -> bool {
    const ACTS: [&str; 30] = [
        "Browser.executeBrowserCommand",
        "Browser.grantPermissions",
        "Browser.setContentsSize",
        "Browser.setPermission",
        "Browser.setWindowBounds",
        "DOM.focus",
        "DOM.setFileInputFiles",
        "Network.clearBrowserCache",
        "Network.clearBrowserCookies",
        "Network.deleteCookies",
        "Network.setCookie",
        "Network.setCookies",
        "Page.bringToFront",
        "Page.close",
        "Page.crash",
        "Page.handleJavaScriptDialog",
        "Page.navigate",
        "Page.navigateToHistoryEntry",
        "Page.reload",
        "Page.resetNavigationHistory",
        "Page.setDocumentContent",
        "Page.stopLoading",
        "Storage.clearCookies",
        "Storage.clearDataForOrigin",
        "Storage.clearDataForStorageKey",
        "Storage.setCookies",
        "Target.activateTarget",
        "Target.closeTarget",
        "Target.createTarget",
        "Target.disposeBrowserContext",
    ];
    // A virtual authenticator answers in place of the person's.
    method.starts_with("Input.") || method.starts_with("WebAuthn.") || ACTS.contains(&method)
}

/// The same message with the session's download folder. A file is saved under a number, so that it
/// replaces no other. The guest renames it before the client hears that it is complete. A client
/// may disable downloads in a context that it created, but not for others.
fn in_session(text: &str) -> Option<String> {
    if text.len() > MAX_REWRITTEN {
        return None;
    }
    let mut message: Value = serde_json::from_str(text).ok()?;
    // The older command has no numbered files.
    message.as_object_mut()?.insert("method".to_owned(), json!("Browser.setDownloadBehavior"));
    let params = message.get_mut("params")?.as_object_mut()?;
    if params.contains_key("browserContextId") && params.get("behavior") == Some(&json!("deny")) {
        return Some(message.to_string());
    }
    params.insert("behavior".to_owned(), json!("allowAndName"));
    params.insert("downloadPath".to_owned(), json!(DOWNLOADS));
    params.insert("eventsEnabled".to_owned(), json!(true));
    Some(message.to_string())
}

#[cfg(test)]
mod tests {
    use helmdeck_wire::SessionId;

    use super::*;

    fn held() -> Result<(), SessionError> {
        let (id, holder) = (SessionId::new("sess-1"), "ann".to_owned());
        Err(SessionError::ControlHeld { id, holder })
    }

    fn answer(verdict: Verdict<'_>) -> Value {
        match verdict {
            Verdict::Answer(text) => serde_json::from_str(&text).unwrap(),
            Verdict::Pass(text) => panic!("{text} passed"),
        }
    }

    #[test]
    fn the_browser_cannot_be_closed_by_any_spelling_of_a_message() {
        for method in ["Browser.close", "Browser.\\u0063rash"] {
            let text = format!(r#"{{"method":"{method}","id":7,"sessionId":"S"}}"#);
            let told = answer(judge(&text, || Ok(())));
            assert_eq!((&told["id"], &told["sessionId"]), (&json!(7), &json!("S")));
            assert_eq!(told["error"]["code"], SERVER_ERROR);
        }
    }

    #[test]
    fn addresses_that_end_the_browser_are_refused() {
        for method in ["Page.navigate", "Target.createTarget"] {
            for params in [
                r#"{"url":"chrome://quit"}"#,
                r#"{"u\u0072l":"chrome\u003a//restart"}"#,
                r#"{"url":"about:blank","url":"chrome://quit"}"#,
                r#"{"url":"view-source:chrome://quit"}"#,
            ] {
                let text = format!(r#"{{"id":1,"method":"{method}","params":{params}}}"#);
                let told = answer(judge(&text, || Ok(())));
                assert!(told["error"]["message"].as_str().unwrap().contains("session"), "{told}");
            }
            let text = format!(r#"{{"id":1,"method":"{method}","params":{{"url":"http://a"}}}}"#);
            assert_eq!(judge(&text, || Ok(())), Verdict::Pass(text.as_str().into()));
        }
    }

    #[test]
    fn no_message_can_hide_behind_or_inside_another() {
        let close = r#"{"id":1,"method":"Browser.close"}"#;
        for hidden in [format!("x\0{close}"), format!("{close}\0{close}"), "\0".to_owned()] {
            assert!(answer(judge(&hidden, || Ok(())))["error"].is_object());
        }
        for method in [
            "Target.sendMessageToTarget",
            "Target.exposeDevToolsProtocol",
            "Page.waitForDebugger",
            "Emulation.setVisibleSize",
        ] {
            let text = format!(r#"{{"id":1,"method":"{method}","params":{{}}}}"#);
            assert!(answer(judge(&text, || Ok(())))["error"].is_object());
        }
        // A NUL inside a JSON string is escaped, so this is one message.
        let honest = r#"{"id":1,"method":"Runtime.evaluate","params":{"expression":"\u0000"}}"#;
        assert_eq!(judge(honest, held), Verdict::Pass(honest.into()));
    }

    #[test]
    fn a_client_can_neither_load_nor_see_extensions() {
        for method in ["loadUnpacked", "uninstall", "getExtensions", "setStorageItems"] {
            let text = format!(r#"{{"id":1,"method":"Extensions.{method}","params":{{}}}}"#);
            let told = answer(judge(&text, || Ok(())));
            assert!(told["error"]["message"].as_str().unwrap().contains("created"), "{told}");
        }
    }

    #[test]
    fn downloads_stay_in_the_session() {
        let text = r#"{"id":1,"method":"Browser.setDownloadBehavior","params":{"behavior":
            "allow","downloadPath":"/elsewhere"}}"#;
        for text in [text.to_owned(), text.replace("Browser.", "Page.")] {
            let Verdict::Pass(passed) = judge(&text, held) else { panic!("refused") };
            let passed: Value = serde_json::from_str(&passed).unwrap();
            assert_eq!(passed["method"], "Browser.setDownloadBehavior");
            assert_eq!(passed["params"]["downloadPath"], "/home/agent/Downloads");
            assert_eq!(passed["params"]["behavior"], "allowAndName");
            assert_eq!(passed["params"]["eventsEnabled"], true);
        }
        let off = |context: &str| {
            let text = format!(
                r#"{{"id":1,"method":"Browser.setDownloadBehavior","params":{{"behavior":"deny"{context}}}}}"#
            );
            let Verdict::Pass(passed) = judge(&text, held) else { panic!("refused") };
            serde_json::from_str::<Value>(&passed).unwrap()["params"]["behavior"].clone()
        };
        assert_eq!(off(r#","browserContextId":"C""#), "deny");
        assert_eq!(off(""), "allowAndName");
    }

    #[test]
    fn while_a_person_drives_input_is_refused_and_reading_is_not() {
        for method in [
            "Input.dispatchKeyEvent",
            "Page.navigate",
            "Target.createTarget",
            "Storage.clearCookies",
            "Browser.executeBrowserCommand",
            "Browser.setPermission",
            "WebAuthn.enable",
            "WebAuthn.getCredentials",
        ] {
            let text = format!(r#"{{"id":1,"method":"{method}","params":{{}}}}"#);
            assert_eq!(judge(&text, || Ok(())), Verdict::Pass(text.as_str().into()));
            assert!(
                answer(judge(&text, held))["error"]["message"].as_str().unwrap().contains("ann")
            );
        }
        let look = r#"{"id":1,"method":"Page.captureScreenshot"}"#;
        assert_eq!(judge(look, held), Verdict::Pass(look.into()));
    }
}
