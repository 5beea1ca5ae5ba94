//! Client settings that would interfere with a person in control: undone when a person takes
//! control, and restored when it is released. Pure.
//!
//! Virtual authenticators are lost: a person's passkeys must not answer to an agent, nor be read by
//! it afterwards.
//! Settings that only change how a page looks or which events a client gets are left alone.

use std::collections::HashSet;

use serde_json::Value;

use crate::session::SessionId;

/// Limit on remembered settings of one client; further ones are refused.
const MAX_SETTINGS: usize = 4096;
const MAX_BYTES: usize = 1 << 20;

/// Calls that set something, and the calls that undo them: method and parameters.
const SETTINGS: [(&str, &str, &str); 25] = [
    ("Debugger.enable", "Debugger.setSkipAllPauses", r#"{"skip":true}"#),
    ("Debugger.setSkipAllPauses", "Debugger.setSkipAllPauses", r#"{"skip":true}"#),
    ("Emulation.setCPUThrottlingRate", "Emulation.setCPUThrottlingRate", r#"{"rate":1}"#),
    ("Emulation.setDeviceMetricsOverride", "Emulation.clearDeviceMetricsOverride", "{}"),
    (
        "Emulation.setDocumentCookieDisabled",
        "Emulation.setDocumentCookieDisabled",
        r#"{"disabled":false}"#,
    ),
    (
        "Emulation.setEmitTouchEventsForMouse",
        "Emulation.setEmitTouchEventsForMouse",
        r#"{"enabled":false}"#,
    ),
    (
        "Emulation.setScriptExecutionDisabled",
        "Emulation.setScriptExecutionDisabled",
        r#"{"value":false}"#,
    ),
    ("Emulation.setUserAgentOverride", "Emulation.setUserAgentOverride", r#"{"userAgent":""}"#),
    ("Emulation.setVirtualTimePolicy", "Emulation.setVirtualTimePolicy", r#"{"policy":"advance"}"#),
    ("Fetch.enable", "Fetch.disable", "{}"),
    ("Input.setIgnoreInputEvents", "Input.setIgnoreInputEvents", r#"{"ignore":false}"#),
    ("Input.setInterceptDrags", "Input.setInterceptDrags", r#"{"enabled":false}"#),
    (
        "Network.emulateNetworkConditions",
        "Network.emulateNetworkConditions",
        r#"{"offline":false,"latency":0,"downloadThroughput":-1,"uploadThroughput":-1}"#,
    ),
    (
        "Network.emulateNetworkConditionsByRule",
        "Network.emulateNetworkConditionsByRule",
        r#"{"matchedNetworkConditions":[]}"#,
    ),
    (
        "Network.overrideNetworkState",
        "Network.overrideNetworkState",
        r#"{"offline":false,"latency":0,"downloadThroughput":-1,"uploadThroughput":-1}"#,
    ),
    ("Network.setBlockedURLs", "Network.setBlockedURLs", r#"{"urls":[]}"#),
    ("Network.setExtraHTTPHeaders", "Network.setExtraHTTPHeaders", r#"{"headers":{}}"#),
    ("Network.setRequestInterception", "Network.setRequestInterception", r#"{"patterns":[]}"#),
    ("Network.setUserAgentOverride", "Network.setUserAgentOverride", r#"{"userAgent":""}"#),
    ("Overlay.setInspectMode", "Overlay.setInspectMode", r#"{"mode":"none","highlightConfig":{}}"#),
    (
        "Page.setInterceptFileChooserDialog",
        "Page.setInterceptFileChooserDialog",
        r#"{"enabled":false}"#,
    ),
    ("Page.setWebLifecycleState", "Page.setWebLifecycleState", r#"{"state":"active"}"#),
    (
        "Security.setIgnoreCertificateErrors",
        "Security.setIgnoreCertificateErrors",
        r#"{"ignore":false}"#,
    ),
    (
        "Security.setOverrideCertificateErrors",
        "Security.setOverrideCertificateErrors",
        r#"{"override":false}"#,
    ),
    ("WebAuthn.enable", "WebAuthn.disable", "{}"),
];
/// Auto-attach stays on while a person has control, but new targets do not wait for it.
const AUTO_ATTACH: &str = "Target.setAutoAttach";
/// Calls that end what others have set.
const ENDS: [(&str, &[&str]); 4] = [
    ("Emulation.clearDeviceMetricsOverride", &["Emulation.setDeviceMetricsOverride"]),
    ("Fetch.disable", &["Fetch.enable"]),
    ("Debugger.disable", &["Debugger.enable", "Debugger.setSkipAllPauses"]),
    ("WebAuthn.disable", &["WebAuthn.enable"]),
];

/// The settings of one client, in order.
#[derive(Default)]
pub(crate) struct Settings {
    set: Vec<Setting>,
    bytes: usize,
}

struct Setting {
    session: SessionId,
    method: &'static str,
    params: String,
}

/// A call on behalf of a client.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub session: SessionId,
    pub method: &'static str,
    pub params: String,
}

/// What happens to a call while a person has control.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum CallHandling {
    /// It is sent.
    Pass,
    /// It is sent with these parameters.
    Instead(String),
    /// It is sent, followed by this call.
    Then(Step),
    /// It is answered now and sent when control is released.
    Later,
}

/// The client has too many settings.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooManySettings;

impl Settings {
    /// Remembers a call and decides what happens to it. `fenced` means that a person has control.
    pub fn call(
        &mut self,
        session: &SessionId,
        method: &str,
        params: &str,
        fenced: bool,
    ) -> Result<CallHandling, TooManySettings> {
        if let Some((_, ended)) = ENDS.iter().find(|(end, _)| *end == method) {
            self.forget(|setting| setting.session == *session && ended.contains(&setting.method));
            return Ok(CallHandling::Pass);
        }
        if method == AUTO_ATTACH {
            self.remember(session, AUTO_ATTACH, params)?;
            let instead = without_waiting(params).filter(|_| fenced);
            return Ok(instead.map_or(CallHandling::Pass, CallHandling::Instead));
        }
        let Some((known, undo, undo_params)) = SETTINGS.iter().find(|(set, _, _)| *set == method)
        else {
            return Ok(CallHandling::Pass);
        };
        self.remember(session, known, params)?;
        Ok(match (fenced, method) {
            (false, _) => CallHandling::Pass,
            // Its answer contains information for the client.
            (true, "Debugger.enable") => CallHandling::Then(step(session, undo, undo_params)),
            (true, _) => CallHandling::Later,
        })
    }

    /// The calls that undo all settings.
    pub fn undo(&self) -> Vec<Step> {
        let undo = |setting: &Setting| {
            if setting.method == AUTO_ATTACH {
                let params = without_waiting(&setting.params)?;
                return Some(step(&setting.session, AUTO_ATTACH, &params));
            }
            let (_, undo, params) = SETTINGS.iter().find(|(set, _, _)| *set == setting.method)?;
            Some(step(&setting.session, undo, params))
        };
        let undone = self.set.iter().filter_map(undo);
        // Pages paused at a breakpoint continue.
        let stopped = self.set.iter().filter(|setting| setting.method == "Debugger.enable");
        let resumed = stopped.map(|setting| step(&setting.session, "Debugger.resume", "{}"));
        undone.chain(resumed).collect()
    }

    /// The calls that restore all settings.
    pub fn redo(&self) -> Vec<Step> {
        let redo = |setting: &Setting| match setting.method {
            AUTO_ATTACH => {
                without_waiting(&setting.params)?;
                Some(step(&setting.session, AUTO_ATTACH, &setting.params))
            }
            // The debugger was never disabled, only its pauses.
            "Debugger.enable" => {
                Some(step(&setting.session, "Debugger.setSkipAllPauses", r#"{"skip":false}"#))
            }
            method => Some(step(&setting.session, method, &setting.params)),
        };
        self.set.iter().filter_map(redo).collect()
    }

    /// Forgets the settings of ended sessions.
    pub fn lost(&mut self, gone: &HashSet<SessionId>) {
        self.forget(|setting| gone.contains(&setting.session));
    }

    fn remember(
        &mut self,
        session: &SessionId,
        method: &'static str,
        params: &str,
    ) -> Result<(), TooManySettings> {
        self.forget(|setting| setting.session == *session && setting.method == method);
        if self.set.len() >= MAX_SETTINGS || self.bytes + params.len() > MAX_BYTES {
            return Err(TooManySettings);
        }
        self.bytes += params.len();
        self.set.push(Setting { session: session.clone(), method, params: params.to_owned() });
        Ok(())
    }

    fn forget(&mut self, which: impl Fn(&Setting) -> bool) {
        self.set.retain(|setting| !which(setting));
        self.bytes = self.set.iter().map(|setting| setting.params.len()).sum();
    }
}

fn step(session: &SessionId, method: &'static str, params: &str) -> Step {
    Step { session: session.clone(), method, params: params.to_owned() }
}

/// The parameters with waiting turned off; `None` if it is off already.
fn without_waiting(params: &str) -> Option<String> {
    let mut params: Value = serde_json::from_str(params).ok()?;
    let waits = params.as_object_mut()?.get_mut("waitForDebuggerOnStart")?;
    (*waits == true).then(|| *waits = Value::Bool(false))?;
    Some(params.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAITING: &str = r#"{"autoAttach":true,"flatten":true,"waitForDebuggerOnStart":true}"#;

    fn methods(steps: &[Step]) -> Vec<&str> {
        steps.iter().map(|step| step.method).collect()
    }

    #[test]
    fn settings_are_undone_at_takeover_and_restored_at_release() {
        let mut settings = Settings::default();
        let page = SessionId::from("page");
        let mut set = |method: &str, params: &str| {
            assert_eq!(settings.call(&page, method, params, false), Ok(CallHandling::Pass));
        };
        set("Input.setIgnoreInputEvents", r#"{"ignore":true}"#);
        set("Fetch.enable", r#"{"patterns":[]}"#);
        set("Fetch.enable", r#"{"patterns":[{"urlPattern":"*"}]}"#);
        set("Debugger.enable", "{}");
        set("Target.setAutoAttach", WAITING);
        set("Network.setCacheDisabled", "{}");
        let undo = settings.undo();
        assert_eq!(
            methods(&undo),
            [
                "Input.setIgnoreInputEvents",
                "Fetch.disable",
                "Debugger.setSkipAllPauses",
                "Target.setAutoAttach",
                "Debugger.resume"
            ]
        );
        assert_eq!(undo[0].params, r#"{"ignore":false}"#);
        assert!(undo[3].params.contains(r#""waitForDebuggerOnStart":false"#));
        let redo = settings.redo();
        assert_eq!(redo[0].params, r#"{"ignore":true}"#);
        assert_eq!(redo[1].params, r#"{"patterns":[{"urlPattern":"*"}]}"#);
        assert_eq!(redo[2].params, r#"{"skip":false}"#);
        assert_eq!(redo[3].params, WAITING);
    }

    #[test]
    fn passkeys_and_the_network_are_the_persons_while_they_have_control() {
        let mut settings = Settings::default();
        let page = SessionId::from("page");
        let offline = r#"{"offline":true,"latency":0}"#;
        for (method, params) in [
            ("WebAuthn.enable", r#"{"enableUI":false}"#),
            ("Network.overrideNetworkState", offline),
        ] {
            assert_eq!(settings.call(&page, method, params, false), Ok(CallHandling::Pass));
        }
        let undo = settings.undo();
        assert_eq!(methods(&undo), ["WebAuthn.disable", "Network.overrideNetworkState"]);
        assert!(undo[1].params.contains(r#""offline":false"#));
        assert_eq!(methods(&settings.redo()), ["WebAuthn.enable", "Network.overrideNetworkState"]);
        settings.call(&page, "WebAuthn.disable", "{}", false).unwrap();
        assert_eq!(methods(&settings.redo()), ["Network.overrideNetworkState"]);
    }

    #[test]
    fn requests_of_a_person_have_no_headers_of_a_client() {
        let mut settings = Settings::default();
        let page = SessionId::from("page");
        let headers = r#"{"headers":{"Authorization":"Bearer agent"}}"#;
        let agent = r#"{"userAgent":"agent","acceptLanguage":"fr"}"#;
        for (method, params, undone) in [
            ("Network.setExtraHTTPHeaders", headers, r#"{"headers":{}}"#),
            ("Network.setUserAgentOverride", agent, r#"{"userAgent":""}"#),
            ("Emulation.setUserAgentOverride", agent, r#"{"userAgent":""}"#),
        ] {
            assert_eq!(settings.call(&page, method, params, false), Ok(CallHandling::Pass));
            assert_eq!(settings.undo().last().unwrap(), &step(&page, method, undone));
            assert_eq!(settings.redo().last().unwrap(), &step(&page, method, params));
            assert_eq!(settings.call(&page, method, params, true), Ok(CallHandling::Later));
        }
    }

    #[test]
    fn a_person_in_control_is_warned_of_false_certificates() {
        let mut settings = Settings::default();
        let (one, two) = (SessionId::from("one"), SessionId::from("two"));
        for (session, method, on, off) in [
            (&one, "Security.setIgnoreCertificateErrors", r#"{"ignore":true}"#, "ignore"),
            (&two, "Security.setOverrideCertificateErrors", r#"{"override":true}"#, "override"),
        ] {
            assert_eq!(settings.call(session, method, on, false), Ok(CallHandling::Pass));
            let off = format!(r#"{{"{off}":false}}"#);
            assert!(settings.undo().contains(&step(session, method, &off)));
            assert!(settings.redo().contains(&step(session, method, on)));
            assert_eq!(settings.call(session, method, on, true), Ok(CallHandling::Later));
        }
        assert_eq!((settings.undo().len(), settings.redo().len()), (2, 2));
    }

    #[test]
    fn settings_made_while_a_person_has_control_wait_for_the_release() {
        let mut settings = Settings::default();
        let page = SessionId::from("page");
        let turn = settings.call(&page, "Page.setWebLifecycleState", r#"{"state":"frozen"}"#, true);
        assert_eq!(turn, Ok(CallHandling::Later));
        let turn = settings.call(&page, "Target.setAutoAttach", WAITING, true);
        assert!(matches!(turn, Ok(CallHandling::Instead(params)) if params.contains("false")));
        let turn = settings.call(&page, "Debugger.enable", "{}", true);
        assert!(matches!(turn, Ok(CallHandling::Then(step)) if step.params == r#"{"skip":true}"#));
        assert_eq!(
            settings.call(&page, "Page.captureScreenshot", "{}", true),
            Ok(CallHandling::Pass)
        );
        assert_eq!(settings.redo().len(), 3);
    }

    #[test]
    fn ended_and_lost_settings_are_not_restored() {
        let mut settings = Settings::default();
        let (one, two) = (SessionId::from("one"), SessionId::from("two"));
        for session in [&one, &two] {
            settings.call(session, "Fetch.enable", "{}", false).unwrap();
        }
        settings.call(&one, "Fetch.disable", "{}", true).unwrap();
        assert_eq!(settings.redo().len(), 1);
        settings.lost(&[two].into());
        assert!(settings.redo().is_empty() && settings.undo().is_empty());
    }

    #[test]
    fn remembered_settings_are_limited() {
        let mut settings = Settings::default();
        let large = "x".repeat(MAX_BYTES + 1);
        assert_eq!(settings.call(&"a".into(), "Fetch.enable", &large, false), Err(TooManySettings));
        for number in 0..MAX_SETTINGS {
            let session = SessionId::from(number.to_string().as_str());
            settings.call(&session, "Fetch.enable", "{}", false).unwrap();
        }
        assert_eq!(
            settings.call(&"more".into(), "Fetch.enable", "{}", false),
            Err(TooManySettings)
        );
    }
}
