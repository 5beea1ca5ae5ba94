//! Prompts for common jobs.

use rmcp::{
    ErrorData,
    model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role},
};
use serde_json::Value;

/// A prompt with one text, in which `{argument}` is replaced.
struct Job {
    name: &'static str,
    title: &'static str,
    doc: &'static str,
    /// Name, description, whether it is required.
    arguments: &'static [(&'static str, &'static str, bool)],
    text: &'static str,
}

const JOBS: [Job; 4] = [
    Job {
        name: "watch-me-browse",
        title: "Browse while I watch",
        doc: "Do a task in a visible browser and tell the user where to watch.",
        arguments: &[("task", "What to do.", true)],
        text: "Create a visible desktop with session-create {\"mode\": \"desktop\"} and tell me the \
               live view link from the reply before you continue. Then do this in the Chromium that is \
               open there, with browser-* tools where an element can be named and desktop-* tools \
               otherwise: {task}\n\nTake a snapshot or screenshot after each step. If a sign-in or a \
               captcha appears, stop and ask me to take control in the live view.",
    },
    Job {
        name: "scrape-page",
        title: "Read a web page",
        doc: "Read a page without a screen and answer a question about it.",
        arguments: &[
            ("url", "The address of the page.", true),
            ("question", "What you want to know; a summary if not given.", false),
        ],
        text: "Read {url} in a headless session: browser-navigate, then browser-markdown. Do not use \
               the desktop. Then answer: {question}\n\nQuote the sentences that your answer rests on.",
    },
    Job {
        name: "test-my-app",
        title: "Test my local app",
        doc: "Open a local development server in a visible browser and report problems.",
        arguments: &[("port", "The port of the development server on the server's machine.", true)],
        text: "Create a visible desktop, forward port {port} with forward-add, and open \
               http://localhost:{port} in its Chromium. Click through the main paths. After each step \
               read browser-console and browser-network. Report every error with the step \
               that caused it and a screenshot.",
    },
    Job {
        name: "run-in-sandbox",
        title: "Run code in a sandbox",
        doc: "Run a program or build in an isolated session and report its output.",
        arguments: &[("command", "What to run.", true)],
        text: "Run this in a headless session with session-exec, in /workspace: {command}\n\nReport the \
               exit code and the lines of output that matter. Read long output with text-read.",
    },
];

/// The prompts, as they are listed.
pub fn list() -> Vec<Prompt> {
    let prompt = |job: &Job| {
        let argument = |(name, doc, required): &(&str, &str, bool)| {
            PromptArgument::new(*name).with_description(*doc).with_required(*required)
        };
        let arguments = job.arguments.iter().map(argument).collect();
        Prompt::new(job.name, Some(job.doc), Some(arguments)).with_title(job.title)
    };
    JOBS.iter().map(prompt).collect()
}

/// A prompt with its arguments filled in.
pub fn get(name: &str, arguments: Option<&JsonObject>) -> Result<GetPromptResult, ErrorData> {
    let job = JOBS.iter().find(|job| job.name == name).ok_or_else(|| {
        let names: Vec<_> = JOBS.iter().map(|job| job.name).collect();
        ErrorData::invalid_params(format!("unknown prompt: use {}", names.join(", ")), None)
    })?;
    let mut values = Vec::new();
    for (name, _, required) in job.arguments {
        let given = arguments.and_then(|arguments| arguments.get(*name));
        let given = given.and_then(|value| match value {
            Value::String(text) => Some(text.clone()),
            Value::Null => None,
            other => Some(other.to_string()),
        });
        if *required && given.is_none() {
            return Err(ErrorData::invalid_params(format!("the argument {name} is missing"), None));
        }
        values.push((*name, given.unwrap_or_else(|| "what is it about?".to_owned())));
    }
    let text = filled_in(job.text, &values);
    let mut result = GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]);
    result.description = Some(job.doc.to_owned());
    Ok(result)
}

/// A text with values for its placeholders. Placeholders within values stay as they are.
fn filled_in(text: &str, values: &[(&str, String)]) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let found = values
            .iter()
            .find_map(|(name, value)| Some((value, after.strip_prefix(name)?.strip_prefix('}')?)));
        match found {
            Some((value, after)) => {
                filled.push_str(value);
                rest = after;
            }
            None => {
                filled.push('{');
                rest = after;
            }
        }
    }
    filled + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_filled_in_and_required_ones_demanded() {
        let arguments = serde_json::json!({ "url": "https://x.test/{question}" });
        let prompt = get("scrape-page", arguments.as_object()).unwrap();
        let text = serde_json::to_string(&prompt.messages).unwrap();
        assert!(text.contains("Read https://x.test/{question} in"), "an argument stays: {text}");
        assert!(text.contains("answer: what is it about?"), "{text}");
        assert!(get("scrape-page", None).is_err());
        assert!(get("nothing", None).is_err());
    }

    #[test]
    fn every_tool_that_a_prompt_names_exists() {
        let tools = crate::table::tools();
        let names: Vec<_> = tools.iter().map(|tool| tool.name.replace('.', "-")).collect();
        for job in &JOBS {
            let words = job.text.split(|c: char| !(c.is_ascii_alphanumeric() || "-_*".contains(c)));
            let named = words.filter(|word| {
                ["browser-", "desktop-", "session-", "forward-"]
                    .iter()
                    .any(|it| word.starts_with(it))
            });
            for word in named.filter(|word| !word.ends_with('*')) {
                assert!(names.iter().any(|name| name == word), "{}: {word}", job.name);
            }
        }
    }

    #[test]
    fn every_argument_stands_in_its_text() {
        for job in &JOBS {
            for (name, ..) in job.arguments {
                assert!(job.text.contains(&format!("{{{name}}}")), "{} {name}", job.name);
            }
        }
    }
}
