//! What ffprobe and ffmpeg say about a recording, and what is wrong with it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Longest pause between two audio packets, in seconds.
const MAX_GAP_S: f64 = 0.5;
/// Audio that is quieter on average is as good as silent, in dB.
const MIN_VOLUME_DB: f64 = -45.0;
/// Tolerated difference from the loudness target, in LUFS.
const LOUDNESS_TOLERANCE: f64 = 2.0;
/// Tolerated difference between the lengths of picture and sound, in seconds.
const MAX_DRIFT_S: f64 = 0.5;
/// Latest start of the first caption, in seconds.
const FIRST_CAPTION_S: f64 = 5.0;
/// Part of the recording that captions must reach.
const CAPTION_COVERAGE: f64 = 0.9;

/// How bad a failed check is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The recording is broken.
    Fail,
    /// The recording plays, and is probably not what was meant.
    Warn,
}

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Check {
    /// Name, such as `mp4:faststart`.
    pub name: &'static str,
    /// How bad it is if it does not pass.
    pub severity: Severity,
    /// Whether it passed.
    pub pass: bool,
    /// What was found.
    pub detail: String,
}

fn fail(name: &'static str, pass: bool, detail: impl Into<String>) -> Check {
    Check { name, severity: Severity::Fail, pass, detail: detail.into() }
}

fn warn(name: &'static str, pass: bool, detail: impl Into<String>) -> Check {
    Check { name, severity: Severity::Warn, pass, detail: detail.into() }
}

/// What ffprobe says about a file.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Probe {
    /// Its streams.
    #[serde(default)]
    pub streams: Vec<Stream>,
    /// The container.
    #[serde(default)]
    pub format: Container,
}

/// A stream.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Stream {
    #[serde(default)]
    codec_type: String,
    #[serde(default)]
    codec_name: String,
    #[serde(default)]
    pix_fmt: String,
    duration: Option<String>,
}

/// A container.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Container {
    #[serde(default)]
    format_name: String,
    duration: Option<String>,
}

impl Probe {
    /// The first stream of a kind.
    pub fn stream(&self, kind: &str) -> Option<&Stream> {
        self.streams.iter().find(|stream| stream.codec_type == kind)
    }

    /// Whether it is an MP4 or MOV file.
    pub fn is_mp4(&self) -> bool {
        self.format.format_name.split(',').any(|name| name == "mp4" || name == "mov")
    }

    /// The length of a stream, or of the whole file, in seconds.
    pub fn duration(&self, kind: &str) -> Option<f64> {
        let own = self.stream(kind).and_then(|stream| stream.duration.as_ref());
        own.or(self.format.duration.as_ref())?.parse().ok()
    }

    /// Whether every player can play its codecs.
    pub fn codecs(&self) -> Check {
        let video = self.stream("video").map(|it| (it.codec_name.as_str(), it.pix_fmt.as_str()));
        let audio = self.stream("audio").map(|it| it.codec_name.as_str());
        let plays = matches!(video, None | Some(("h264", "yuv420p" | "yuvj420p")))
            && matches!(audio, None | Some("aac" | "mp3"));
        let video = video.map(|(codec, pixels)| format!("{codec} {pixels}")).unwrap_or_default();
        let found = format!("video {video:?}, audio {:?}", audio.unwrap_or_default());
        fail("mp4:codec_pin", plays, found)
    }
}

/// Whether playing can begin before the whole file is there. `trace` has the boxes in their order.
pub fn faststart(trace: &str) -> Check {
    let (index, media) = (trace.find("type:'moov'"), trace.find("type:'mdat'"));
    let pass = matches!((index, media), (Some(index), Some(media)) if index < media);
    let detail = match pass {
        true => "the index comes before the media",
        false => "the index comes after the media: write the file with -movflags +faststart",
    };
    fail("mp4:faststart", pass, detail)
}

/// Whether everything can be decoded.
pub fn decodes(exit_code: Option<i32>, errors: &str) -> Check {
    let errors = errors.trim();
    let pass = exit_code == Some(0) && errors.is_empty();
    let detail = match pass {
        true => "decoded without errors".to_owned(),
        false => errors.chars().take(500).collect(),
    };
    fail("mp4:bitstream_decode", pass, detail)
}

/// Whether audio packets follow each other. Lines are `start,duration`.
pub fn contiguity(packets: &str) -> Check {
    let packet = |line: &str| -> Option<(f64, f64)> {
        let mut parts = line.split(',');
        let start = parts.next()?.trim().parse().ok()?;
        Some((start, parts.next().and_then(|it| it.trim().parse().ok()).unwrap_or_default()))
    };
    let mut end = None;
    let (mut count, mut worst) = (0, (0.0_f64, 0.0));
    for (start, duration) in packets.lines().filter_map(packet) {
        count += 1;
        let gap = end.map_or(0.0, |end: f64| start - end);
        if gap > worst.0 {
            worst = (gap, start);
        }
        end = Some(start + duration);
    }
    let pass = count > 0 && worst.0 <= MAX_GAP_S;
    let detail = match (count, pass) {
        (0, _) => "there are no audio packets".to_owned(),
        (_, true) => format!("{count} packets without a gap"),
        (_, false) => format!("a gap of {:.2} s before {:.2} s", worst.0, worst.1),
    };
    fail("audio:packet_contiguity", pass, detail)
}

/// Volume, loudness and silence, from the filters volumedetect, ebur128 and silencedetect.
pub fn loudness(log: &str, target: f64) -> Vec<Check> {
    let after = |mark: &str, unit: &str| -> Option<f64> {
        let text = log.rsplit_once(mark)?.1;
        text.split(unit).next()?.trim().parse().ok()
    };
    let mean = after("mean_volume:", "dB");
    let shown = mean.map_or("not measured".to_owned(), |mean| format!("{mean:.1} dB on average"));
    let is_loud = mean.is_some_and(|mean| mean >= MIN_VOLUME_DB);
    let integrated = after("I:", "LUFS");
    let is_near = integrated.is_some_and(|loud| (loud - target).abs() <= LOUDNESS_TOLERANCE);
    let measured = integrated.map_or("not measured".to_owned(), |loud| format!("{loud:.1} LUFS"));
    vec![
        fail("audio:rms_sweep", is_loud, shown),
        warn("audio:loudness_lufs", is_near, format!("{measured}; the target is {target:.1} LUFS")),
        warn("audio:silence_runs", !log.contains("silence_start"), runs(log, "silence_start:")),
    ]
}

/// Frozen and black pictures, from the filters freezedetect and blackdetect.
pub fn pictures(log: &str) -> Vec<Check> {
    vec![
        warn("video:freeze_runs", !log.contains("freeze_start"), runs(log, "freeze_start:")),
        warn("video:black_runs", !log.contains("black_start"), runs(log, "black_start:")),
    ]
}

/// Where runs start.
fn runs(log: &str, mark: &str) -> String {
    let starts = log.split(mark).skip(1).filter_map(|rest| rest.split_whitespace().next());
    let starts: Vec<_> = starts.take(20).map(|start| format!("{start} s")).collect();
    if starts.is_empty() { "none".to_owned() } else { format!("at {}", starts.join(", ")) }
}

/// Whether picture and sound are equally long.
pub fn lengths(video_s: f64, audio_s: f64) -> Check {
    let pass = (video_s - audio_s).abs() <= MAX_DRIFT_S;
    let detail = format!("video {video_s:.2} s, audio {audio_s:.2} s");
    fail("consistency:audio_video_duration", pass, detail)
}

/// Checks of captions in the form of SubRip.
pub fn captions(text: &str, duration_s: Option<f64>) -> Vec<Check> {
    let cues: Vec<_> = text.lines().filter_map(|line| line.split_once("-->")).collect();
    let first = cues.first().and_then(|(start, _)| seconds(start));
    let last = cues.iter().filter_map(|(_, end)| seconds(end)).fold(0.0, f64::max);
    let has_commas = |(start, end): &(&str, &str)| {
        let end = end.split_whitespace().next().unwrap_or_default();
        start.contains(',') && end.contains(',')
    };
    let wrong = cues.iter().find(|cue| !has_commas(cue));
    let starts = first.is_some_and(|first| first <= FIRST_CAPTION_S);
    let detail = first.map_or("there are no cues".to_owned(), |first| format!("at {first:.2} s"));
    let mut checks = vec![
        fail("srt:first_cue_anchor", starts, detail),
        fail(
            "srt:comma_separator",
            !cues.is_empty() && wrong.is_none(),
            wrong.map_or("all times have commas".to_owned(), |(start, _)| {
                format!("{:?} has no comma before the milliseconds", start.trim())
            }),
        ),
    ];
    if let Some(duration) = duration_s {
        let covers = last >= CAPTION_COVERAGE * duration;
        let detail = format!("captions end at {last:.2} s of {duration:.2} s");
        checks.push(fail("consistency:captions_coverage", covers, detail));
    }
    checks
}

/// `00:01:02,500` in seconds.
fn seconds(text: &str) -> Option<f64> {
    let text = text.split_whitespace().next()?.replace(',', ".");
    text.split(':').try_fold(0.0, |sum, part| Some(sum * 60.0 + part.parse::<f64>().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(checks: &[Check]) -> Vec<bool> {
        checks.iter().map(|check| check.pass).collect()
    }

    #[test]
    fn a_good_recording_passes_and_a_broken_one_does_not() {
        let probe = r#"{"streams": [{"codec_type": "video", "codec_name": "h264", "pix_fmt": "yuv420p",
            "duration": "9.9"}, {"codec_type": "audio", "codec_name": "aac"}],
            "format": {"format_name": "mov,mp4,m4a", "duration": "10.1"}}"#;
        let probe: Probe = serde_json::from_str(probe).unwrap();
        assert!(probe.is_mp4() && probe.codecs().pass);
        assert_eq!((probe.duration("video"), probe.duration("audio")), (Some(9.9), Some(10.1)));
        let other: Probe =
            serde_json::from_str(r#"{"streams": [{"codec_type": "video", "codec_name": "vp9"}]}"#)
                .unwrap();
        assert!(!other.codecs().pass && !other.is_mp4() && other.duration("video").is_none());
        assert!(faststart("type:'ftyp' type:'moov' type:'mdat'").pass);
        assert!(!faststart("type:'ftyp' type:'mdat' type:'moov'").pass);
        assert!(decodes(Some(0), " \n").pass && !decodes(Some(0), "error while decoding").pass);
        assert!(lengths(10.0, 10.4).pass && !lengths(10.0, 12.0).pass);
    }

    #[test]
    fn gaps_and_silence_in_audio_are_found() {
        assert!(contiguity("0.0,0.5\n0.5,0.5\n1.2,0.5\n").pass);
        let gap = contiguity("0.0,0.5\n2.0,0.5\nN/A,N/A\n");
        assert!(!gap.pass && gap.detail.contains("1.50 s"), "{gap:?}");
        assert!(!contiguity("").pass);
        let log = "mean_volume: -20.1 dB\n I:         -14.6 LUFS\n LRA";
        assert_eq!(passed(&loudness(log, -14.0)), [true, true, true]);
        let log = "silence_start: 3.5\nmean_volume: -70.0 dB\n I: -40.0 LUFS";
        let checks = loudness(log, -14.0);
        assert_eq!(passed(&checks), [false, false, false]);
        assert_eq!(checks[2].detail, "at 3.5 s");
        assert_eq!(passed(&pictures("black_start:0 black_end:4")), [true, false]);
    }

    #[test]
    fn captions_start_early_have_commas_and_reach_the_end() {
        let good = "1\n00:00:00,500 --> 00:00:09,800\nHi\n";
        assert_eq!(passed(&captions(good, Some(10.0))), [true, true, true]);
        let bad = "1\n00:01:00.500 --> 00:01:02.000\nHi\n";
        assert_eq!(passed(&captions(bad, Some(600.0))), [false, false, false]);
        assert_eq!(passed(&captions("", None)), [false, false]);
        assert_eq!(seconds("01:00:02,5"), Some(3602.5));
    }
}
