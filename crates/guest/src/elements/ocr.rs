//! Reads the text of the picture, where nothing else knows it.
//!
//! tesseract reads the picture in the agent's sandbox, because pictures show what programs draw.
//! What was read is kept; only the part of the screen that changed since is read again.

use std::{io, os::fd::OwnedFd, path::Path, sync::Arc, time::Duration};

use helmdeck_a11y::{Scene, matching, rect};
use helmdeck_display::{TiledScreen, Tiles};
use helmdeck_wire::{
    aim::{Source, Target},
    point::Rect,
    tree::Candidate,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::unix::pipe,
    sync::Mutex,
    time::timeout,
};

use crate::{
    begin::{Guest, Session},
    nest::{Program, SpawnError},
};

const PROGRAM: &str = "/usr/bin/tesseract";
/// The size of a tile in pixels.
const TILE: usize = 32;
/// How much larger the picture is made: letters on screens are small.
const FACTOR: u32 = 2;
/// Reading a whole screen takes about two seconds.
const DEADLINE: Duration = Duration::from_secs(20);
/// Limit on tesseract's output.
const MAX_OUTPUT: u64 = 8 << 20;
/// Words that tesseract is less sure of are noise.
const LEAST_SURE: f64 = 30.0;
/// What reading loses against knowing.
const UNSURE: f64 = 0.9;

/// What was read from the screen.
#[derive(Clone, Default)]
pub struct Words {
    kept: Arc<Mutex<Kept>>,
}

#[derive(Default)]
struct Kept {
    whole: Rect,
    tiles: Tiles,
    lines: Vec<Line>,
}

/// A line of text.
#[derive(Debug, Clone, Default, PartialEq)]
struct Line {
    words: Vec<Word>,
}

#[derive(Debug, Clone, PartialEq)]
struct Word {
    text: String,
    rect: Rect,
    /// From 0 to 100.
    sure: f64,
}

impl Guest {
    /// Text of the picture that matches. The error is a note for the caller.
    pub async fn read_text(
        &self,
        scene: &Scene,
        target: &Target,
    ) -> Result<Vec<Candidate>, String> {
        let Some(wanted) = target.text.as_ref().or(target.name.as_ref()) else {
            return Ok(Vec::new());
        };
        if target.role.as_ref().is_some_and(|role| !helmdeck_a11y::role::is("text", role)) {
            return Ok(Vec::new());
        }
        let session = self.session().map_err(|_| "the text of attached displays is not read")?;
        if !Path::new(PROGRAM).exists() {
            return Err("the text of the picture was not read: tesseract is not installed \
                        (scripts/packages.sh install documents)"
                .to_owned());
        }
        let failed = |error: &dyn std::fmt::Display| format!("the text was not read: {error}");
        let screen = self.display().map_err(|e| failed(&e))?.tiled().await;
        let screen = screen.map_err(|e| failed(&e))?;
        let kept = self.elements.words.kept.clone().lock_owned().await;
        // To its end, also if the caller leaves: the next one needs the same text.
        let reading = helmdeck_task::spawn(async move {
            let mut kept = kept;
            let read = kept.read(&session, &screen).await;
            (kept, read)
        });
        let (kept, read) = reading.await.map_err(|error| failed(&error))?;
        read.map_err(|error| failed(&error))?;
        let mut found: Vec<Candidate> =
            kept.lines.iter().flat_map(|line| line.find(wanted, target.exact)).collect();
        for candidate in &mut found {
            let surface = scene.surface_at(rect::centre(candidate.rect));
            let window = surface.and_then(|at| scene.surfaces.get(at)).map(|it| &it.window);
            candidate.window = window.map(|window| window.id.clone());
        }
        if let Some(window) = &target.window {
            let is = |id: &String| {
                let mut all = scene.surfaces.iter().map(|surface| &surface.window);
                all.any(|it| it.id == *id && matching::is_window(it, window))
            };
            found.retain(|candidate| candidate.window.as_ref().is_some_and(is));
        }
        found.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
        if let Some(near) = target.near {
            found.sort_by_key(|candidate| rect::distance(candidate.rect, near));
        }
        let nth = target.nth.map(|nth| usize::try_from(nth).unwrap_or(usize::MAX));
        Ok(match nth {
            Some(nth) => found.into_iter().skip(nth.saturating_sub(1)).take(1).collect(),
            None => found,
        })
    }
}

impl Kept {
    /// Reads what changed since the last time.
    async fn read(&mut self, session: &Session, screen: &TiledScreen) -> io::Result<()> {
        let (whole, tiles) = (screen.whole(), screen.tiles(TILE));
        let changed =
            if whole == self.whole { changed(&self.tiles, &tiles, whole) } else { Some(whole) };
        let Some(changed) = changed else { return Ok(()) };
        let region = stale(changed, &self.lines, whole);
        let picture = screen.png(region, FACTOR).map_err(io::Error::other)?;
        let Some(picture) = picture else { return Ok(()) };
        let read = timeout(DEADLINE, recognize(session, &picture)).await;
        let text = read.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))?;
        self.lines.retain(|line| !line.touches(region));
        self.lines.extend(lines(&text, region));
        (self.whole, self.tiles) = (whole, tiles);
        Ok(())
    }
}

/// The smallest region with all tiles that changed.
fn changed(before: &Tiles, now: &Tiles, whole: Rect) -> Option<Rect> {
    if before.columns != now.columns || before.hashes.len() != now.hashes.len() {
        return Some(whole);
    }
    let side = i32::try_from(TILE).unwrap_or(i32::MAX);
    let tile = |at: usize| {
        let (column, row) = (at % now.columns.max(1), at / now.columns.max(1));
        let corner = |number: usize| i32::try_from(number).unwrap_or(0).saturating_mul(side);
        let (x, y) = (corner(column), corner(row));
        rect::from_edges(x, y, x.saturating_add(side), y.saturating_add(side))
    };
    let pairs = before.hashes.iter().zip(&now.hashes).enumerate();
    pairs.filter(|(_, (before, now))| before != now).filter_map(|(at, _)| tile(at)).reduce(union)
}

/// The region to read again: what changed and a margin, with every known line that it touches as a
/// whole. Lines that it touches are forgotten, so none of their words may be outside.
fn stale(changed: Rect, lines: &[Line], whole: Rect) -> Rect {
    let mut region = grown(changed, TILE);
    let mut outside: Vec<&Line> = lines.iter().collect();
    loop {
        let (touched, rest): (Vec<_>, Vec<_>) =
            outside.into_iter().partition(|line| line.touches(region));
        if touched.is_empty() {
            return rect::intersection(region, whole).unwrap_or(whole);
        }
        region = touched.into_iter().filter_map(Line::rect).fold(region, union);
        outside = rest;
    }
}

fn union(a: Rect, b: Rect) -> Rect {
    let (right, bottom) =
        (rect::right(a).max(rect::right(b)), rect::bottom(a).max(rect::bottom(b)));
    rect::from_edges(a.x.min(b.x), a.y.min(b.y), right, bottom).unwrap_or(a)
}

fn grown(rect: Rect, by: usize) -> Rect {
    let by = i32::try_from(by).unwrap_or(0);
    let (right, bottom) = (rect::right(rect), rect::bottom(rect));
    rect::from_edges(rect.x - by, rect.y - by, right + by, bottom + by).unwrap_or(rect)
}

/// Runs tesseract on a picture.
async fn recognize(session: &Session, picture: &[u8]) -> io::Result<String> {
    let (input, to) = io::pipe()?;
    let (from, output) = io::pipe()?;
    let (to, from) = (OwnedFd::from(to), OwnedFd::from(from));
    rustix::io::ioctl_fionbio(&to, true)?;
    rustix::io::ioctl_fionbio(&from, true)?;
    let seconds = DEADLINE.as_secs().to_string();
    // Sparse text: a screen is not a page of a book.
    let words = [&seconds, PROGRAM, "stdin", "stdout", "--psm", "11", "tsv"];
    let program = Program {
        program: "timeout".to_owned(),
        args: words.map(str::to_owned).to_vec(),
        // Its threads wait by spinning. On busy processors, two of them take ten times as long as one.
        env: [("OMP_THREAD_LIMIT".to_owned(), "1".to_owned())].into(),
        ..Program::default()
    };
    let complaints = std::fs::File::create("/dev/null")?;
    let descriptors = vec![(input.into(), 0), (output.into(), 1), (complaints.into(), 2)];
    session.nest.spawn_as(program, descriptors).await.map_err(|error| match error {
        SpawnError::Io(error) | SpawnError::Cwd(error) => error,
        gone @ SpawnError::NestGone => io::Error::other(gone),
    })?;
    let (mut to, from) = (pipe::Sender::from_owned_fd(to)?, pipe::Receiver::from_owned_fd(from)?);
    let mut text = Vec::new();
    let mut from = from.take(MAX_OUTPUT);
    let (sent, read) = tokio::join!(
        async {
            let sent = to.write_all(picture).await;
            drop(to);
            sent
        },
        from.read_to_end(&mut text),
    );
    sent?;
    read?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// The lines in tesseract's table, on the screen.
fn lines(table: &str, region: Rect) -> Vec<Line> {
    let mut lines: Vec<(String, Line)> = Vec::new();
    for row in table.lines().skip(1) {
        let cells: Vec<&str> = row.split('\t').collect();
        let [_, page, block, paragraph, line, _, left, top, width, height, sure, text] =
            cells.as_slice()
        else {
            continue;
        };
        let number = |cell: &str| cell.parse::<i32>().ok();
        let factor = i32::try_from(FACTOR).unwrap_or(1);
        let place = || {
            let (x, y) = (number(left)? / factor, number(top)? / factor);
            let (width, height) = (number(width)? / factor, number(height)? / factor);
            let (x, y) = (x.checked_add(region.x)?, y.checked_add(region.y)?);
            rect::from_edges(x, y, x.checked_add(width)?, y.checked_add(height)?)
        };
        let sure = sure.parse::<f64>().unwrap_or(-1.0);
        let (Some(rect), text) = (place(), text.trim()) else { continue };
        if sure < LEAST_SURE || text.is_empty() {
            continue;
        }
        let id = [page, block, paragraph, line].map(|cell| *cell).join(" ");
        let word = Word { text: text.to_owned(), rect, sure };
        match lines.last_mut().filter(|(known, _)| *known == id) {
            Some((_, line)) => line.words.push(word),
            None => lines.push((id, Line { words: vec![word] })),
        }
    }
    lines.into_iter().map(|(_, line)| line).collect()
}

impl Line {
    fn rect(&self) -> Option<Rect> {
        self.words.iter().map(|word| word.rect).reduce(union)
    }

    fn touches(&self, region: Rect) -> bool {
        self.rect().is_some_and(|place| rect::intersection(place, region).is_some())
    }

    /// The words of the line that match best, if any do.
    fn find(&self, wanted: &str, exact: bool) -> Option<Candidate> {
        let count = wanted.split_whitespace().count().max(1);
        let mut best: Option<Candidate> = None;
        for words in self.words.windows(count.min(self.words.len().max(1))) {
            let text = words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
            let Some(alike) = matching::likeness(&text, wanted, exact) else { continue };
            let sure = words.iter().map(|word| word.sure).fold(100.0, f64::min) / 100.0;
            let confidence = (alike * UNSURE * (0.7 + 0.3 * sure) * 100.0).round() / 100.0;
            if best.as_ref().is_some_and(|best| best.confidence >= confidence) {
                continue;
            }
            let Some(rect) = words.iter().map(|word| word.rect).reduce(union) else { continue };
            let (role, source) = ("text".to_owned(), Source::Ocr);
            best = Some(Candidate {
                role,
                name: text,
                rect,
                confidence,
                source,
                ..Candidate::default()
            });
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext\n\
        1\t1\t0\t0\t0\t0\t0\t0\t400\t200\t-1\t\n\
        5\t1\t1\t1\t1\t1\t20\t40\t60\t20\t96.1\tSave\n\
        5\t1\t1\t1\t1\t2\t90\t40\t30\t20\t91\tas\n\
        5\t1\t1\t1\t2\t1\t20\t80\t60\t20\t12\tnoise\n\
        5\t1\t2\t1\t1\t1\t20\t120\t60\t20\t80\tOpen\n";

    #[test]
    fn words_become_lines_with_their_place_on_the_screen() {
        let lines = lines(TABLE, Rect { x: 100, y: 200, width: 200, height: 100 });
        assert_eq!(lines.len(), 2);
        let found = lines[0].find("save as", false).unwrap();
        assert_eq!(found.name, "Save as");
        assert_eq!(found.rect, Rect { x: 110, y: 220, width: 50, height: 10 });
        assert!(found.confidence > 0.8 && found.source == Source::Ocr);
        assert_eq!(lines[0].find("Save", true).unwrap().rect.width, 30);
        assert_eq!(lines[1].find("Save", false), None);
    }

    #[test]
    fn only_the_changed_part_is_read_again() {
        let whole = Rect { x: 0, y: 0, width: 96, height: 64 };
        let before = Tiles { columns: 3, hashes: vec![1, 2, 3, 4, 5, 6] };
        let now = Tiles { columns: 3, hashes: vec![1, 2, 9, 4, 5, 9] };
        assert_eq!(changed(&before, &before, whole), None);
        let expected = Rect { x: 64, y: 0, width: 32, height: 64 };
        assert_eq!(changed(&before, &now, whole), Some(expected));
        assert_eq!(changed(&Tiles::default(), &now, whole), Some(whole));
    }
    #[test]
    fn a_line_that_is_read_again_is_read_as_a_whole() {
        let whole = Rect { x: 0, y: 0, width: 800, height: 600 };
        let line = |x, y, width| Line {
            words: vec![Word {
                text: "word".into(),
                rect: Rect { x, y, width, height: 10 },
                sure: 90.0,
            }],
        };
        // Only the margin touches the first line, and only the first line touches the second.
        let lines = [line(140, 60, 200), line(300, 65, 300), line(0, 400, 700)];
        let region = stale(Rect { x: 64, y: 64, width: 64, height: 32 }, &lines, whole);
        assert_eq!(region, Rect { x: 32, y: 32, width: 568, height: 96 });
        for line in &lines[..2] {
            let place = line.rect().unwrap();
            assert_eq!(rect::intersection(place, region), Some(place));
        }
        assert!(!lines[2].touches(region));
    }
}
