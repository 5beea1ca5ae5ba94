//! `av.validate`: checks a recording before it is published.

use helmdeck_wire::{
    exec::{Exec, ExecState},
    nature::Nature,
    session::Mode,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Context, Pack, PackError, PackResult, Routing, SessionNeed,
    context::command,
    media::{
        Check, Probe, Severity, captions, contiguity, decodes, faststart, lengths, loudness,
        pictures,
    },
    session_file::JobFolder,
};

/// Check a recording.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "AvValidate")]
struct Input {
    /// The video, as an artifact.
    #[serde(default)]
    #[schemars(length(min = 1, max = 1000))]
    video_artifact_key: Option<String>,
    /// The video, as a file in the session.
    #[serde(default)]
    #[schemars(length(min = 1, max = 4000), regex(pattern = r"^/[^\x00]*$"))]
    video_path: Option<String>,
    /// The audio, as an artifact; without it, the audio of the video is checked.
    #[serde(default)]
    #[schemars(length(min = 1, max = 1000))]
    audio_artifact_key: Option<String>,
    /// The audio, as a file in the session.
    #[serde(default)]
    #[schemars(length(min = 1, max = 4000), regex(pattern = r"^/[^\x00]*$"))]
    audio_path: Option<String>,
    /// Captions in the form of SubRip, as an artifact.
    #[serde(default)]
    #[schemars(length(min = 1, max = 1000))]
    captions_artifact_key: Option<String>,
    /// Captions, as a file in the session.
    #[serde(default)]
    #[schemars(length(min = 1, max = 4000), regex(pattern = r"^/[^\x00]*$"))]
    captions_path: Option<String>,
    /// The wanted loudness in LUFS.
    #[serde(default = "target")]
    #[schemars(range(min = -70.0, max = 0.0))]
    ebur128_target: f64,
    /// Names of checks to leave out, separated by commas.
    #[serde(default = "skipped")]
    #[schemars(length(max = 1000))]
    skip_checks: String,
    /// Fail if a check of severity `fail` does not pass.
    #[serde(default)]
    strict: bool,
}

fn target() -> f64 {
    -14.0
}

fn skipped() -> String {
    "video:freeze_runs".to_owned()
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AvValidateOutput")]
struct Output {
    /// All checks.
    validation: Validation,
    /// The same as a JSON file.
    validation_artifact_key: String,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AvValidation")]
struct Validation {
    #[serde(skip_serializing_if = "Option::is_none")]
    video_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    audio_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    captions_path: Option<String>,
    /// Every check with its result.
    checks: Vec<Check>,
    /// How many passed.
    passed: usize,
    /// How many of severity `fail` did not pass.
    failed: usize,
    /// How many of severity `warn` did not pass.
    warnings: usize,
    /// Whether all checks passed.
    all_passed: bool,
}

/// The pack.
pub fn pack() -> Pack {
    Pack::new("av.validate", run)
        .doc(
            "Check a video, an audio file and captions before you publish them: codecs, decoding, gaps, \
             loudness, silence, black pictures, equal lengths. Pass artifact keys, or paths in a session.",
        )
        .nature(Nature::default().in_sandbox().reads())
        .session(SessionNeed::OneShot(Mode::Headless))
        .programs(&["ffprobe", "ffmpeg"])
        .resumable()
        .timeout_s(1800)
        .example(
            "Check a video",
            serde_json::json!({ "video_artifact_key": "artifact.put/0123456789abcdef-video.mp4" }),
        )
        .routing(Routing {
            accepts: &["artifact", "file", "video", "audio", "captions"],
            produces: &["report"],
            intent_keywords: &["video", "audio", "captions", "validate", "check", "ffprobe", "loudness"],
            typical_use: "The last step before a recording is published.",
            limitations: &["Checks form, not content."],
        })
}

/// Time limit of one program.
const STEP_S: u32 = 600;
/// Most of a captions file that is read.
const MAX_CAPTIONS: &str = "4000000";

async fn run(context: Context, input: Input) -> PackResult<Output> {
    let folder = JobFolder::of(&context);
    let file = async |field: &str, name: &str, key: &Option<String>, path: &Option<String>| match (
        key, path,
    ) {
        (Some(_), Some(_)) => {
            let message = format!("pass {field} or the artifact key, not both");
            Err(PackError::invalid(field, message))
        }
        (Some(key), None) => {
            let reader = context.artifacts.open(field, key).await?;
            folder.put(&context, name, reader).await.map(Some)
        }
        (None, path) => Ok(path.clone()),
    };
    let video = file("video_path", "video", &input.video_artifact_key, &input.video_path).await?;
    let audio = file("audio_path", "audio", &input.audio_artifact_key, &input.audio_path).await?;
    let subtitles =
        file("captions_path", "captions.srt", &input.captions_artifact_key, &input.captions_path)
            .await?;
    if video.is_none() && audio.is_none() {
        let message = "pass a video or an audio file: video_artifact_key, video_path, \
                       audio_artifact_key or audio_path";
        return Err(PackError::invalid("video_artifact_key", message));
    }
    let mut checks = Vec::new();
    let (mut video_s, mut audio_s) = (None, None);
    if let Some(path) = &video {
        let probe = probe(&context, "video_path", path).await?;
        video_s = probe.duration("video");
        checks.extend(video_checks(&context, path, &probe).await?);
        if audio.is_none() && probe.stream("audio").is_some() {
            audio_s = probe.duration("audio");
            checks.extend(audio_checks(&context, path, input.ebur128_target).await?);
        }
    }
    if let Some(path) = &audio {
        audio_s = probe(&context, "audio_path", path).await?.duration("audio");
        checks.extend(audio_checks(&context, path, input.ebur128_target).await?);
    }
    if let (Some(video_s), Some(audio_s)) = (video_s, audio_s) {
        checks.push(lengths(video_s, audio_s));
    }
    if let Some(path) = &subtitles {
        let read = command(["head", "-c", MAX_CAPTIONS, path]);
        let (text, field) = (context.output(read).await, "captions_path");
        let text = text.map_err(|error| context.elsewhere(field, path, explain(field, error)))?;
        checks.extend(captions(&text, video_s.or(audio_s)));
    }
    let skipped: Vec<_> = input.skip_checks.split(',').map(str::trim).collect();
    checks.retain(|check| !skipped.contains(&check.name));
    finish(&context, input.strict, [video, audio, subtitles], checks).await
}

/// Counts, stores and returns the results.
async fn finish(
    context: &Context,
    strict: bool,
    [video_path, audio_path, captions_path]: [Option<String>; 3],
    checks: Vec<Check>,
) -> PackResult<Output> {
    let bad = |severity| checks.iter().filter(|it| !it.pass && it.severity == severity).count();
    let (failed, warnings) = (bad(Severity::Fail), bad(Severity::Warn));
    let passed = checks.len() - failed - warnings;
    let all_passed = passed == checks.len();
    let failures: Vec<_> = checks
        .iter()
        .filter(|it| !it.pass && it.severity == Severity::Fail)
        .map(|it| format!("{}: {}", it.name, it.detail))
        .collect();
    let validation = Validation {
        video_path,
        audio_path,
        captions_path,
        passed,
        failed,
        warnings,
        all_passed,
        checks,
    };
    let text =
        serde_json::to_vec_pretty(&validation).map_err(|error| PackError::internal(&error))?;
    let content = bytes::Bytes::from(text);
    let artifact = context.artifacts.put("validation.json", "application/json", content).await?;
    if strict && !failures.is_empty() {
        let message = format!("{failed} checks failed: {}", failures.join("; "));
        let hint = format!("the artifact {} has all checks", artifact.key);
        return Err(PackError::failed(message).hint(hint));
    }
    Ok(Output { validation, validation_artifact_key: artifact.key })
}

async fn probe(context: &Context, field: &str, path: &str) -> PackResult<Probe> {
    context.progress(0.1, "reading the streams");
    let exec =
        command(["ffprobe", "-v", "error", "-of", "json", "-show_format", "-show_streams", path]);
    let text = context.output(exec).await;
    let text = text.map_err(|error| context.elsewhere(field, path, explain(field, error)))?;
    serde_json::from_str(&text).map_err(|error| PackError::failed(format!("ffprobe: {error}")))
}

/// A file that cannot be read is the caller's mistake.
fn explain(field: &str, error: PackError) -> PackError {
    match error.code() {
        helmdeck_wire::ErrorCode::HandlerFailed => PackError::invalid(field, error.to_string()),
        _ => error,
    }
}

async fn video_checks(context: &Context, path: &str, probe: &Probe) -> PackResult<Vec<Check>> {
    let mut checks = Vec::new();
    if probe.is_mp4() {
        let script = "ffprobe -v trace \"$1\" 2>&1 | grep -o -E \"type:'(moov|mdat)'\" | head -n 4";
        let trace = context.output(command(["bash", "-c", script, "trace", path])).await?;
        checks.push(faststart(&trace));
        checks.push(probe.codecs());
    }
    context.progress(0.2, "decoding the video");
    let filters = "blackdetect=d=1:pix_th=0.10,freezedetect=n=-60dB:d=3";
    let decode = step(["-v", "error", "-xerror", "-i", path, "-f", "null", "-"]);
    let state = context.exec(decode).await?;
    checks.push(decodes(state.exit_code, state.stderr.as_deref().unwrap_or_default()));
    if probe.stream("video").is_some() {
        let words =
            ["-hide_banner", "-nostats", "-i", path, "-an", "-vf", filters, "-f", "null", "-"];
        checks.extend(pictures(&log(context, step(words)).await?));
    }
    Ok(checks)
}

async fn audio_checks(context: &Context, path: &str, target: f64) -> PackResult<Vec<Check>> {
    context.progress(0.6, "listening to the audio");
    let entries = ["-show_entries", "packet=pts_time,duration_time", "-of", "csv=p=0", path];
    let words = ["ffprobe", "-v", "error", "-select_streams", "a:0"].into_iter().chain(entries);
    let exec = Exec { timeout_s: STEP_S, ..command(words) };
    let mut checks = vec![contiguity(&context.output(exec).await?)];
    let filters = "volumedetect,silencedetect=noise=-50dB:d=2,ebur128=framelog=verbose";
    let words = ["-hide_banner", "-nostats", "-i", path, "-vn", "-af", filters, "-f", "null", "-"];
    checks.extend(loudness(&log(context, step(words)).await?, target));
    Ok(checks)
}

/// A run of ffmpeg.
fn step<'a>(words: impl IntoIterator<Item = &'a str>) -> Exec {
    let words = ["ffmpeg", "-nostdin"].into_iter().chain(words);
    Exec { timeout_s: STEP_S, ..command(words) }
}

/// What ffmpeg reports.
async fn log(context: &Context, exec: Exec) -> PackResult<String> {
    let state: ExecState = context.exec(exec).await?;
    match state.exit_code {
        Some(0) => Ok(state.stderr.unwrap_or_default()),
        _ => Err(context.failed("ffmpeg", &state)),
    }
}
