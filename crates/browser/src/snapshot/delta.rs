//! The difference between two snapshots.
//!
//! Two lines are the same if they have the same text and belong to the same element, or to no
//! usable element: pages often replace unchanged elements. A line starts with `+` if it is new, `~`
//! if it changed or moved, `-` if it is gone, and a space if it only gives context.

use std::collections::HashMap;

use super::layout::Line;

/// How a line of the new snapshot relates to the old one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    Same,
    Other,
    New,
}

/// The changes from `old` to `new` as text.
pub(crate) fn delta(old: &[Line], new: &[Line]) -> String {
    let before = matches(old, new);
    let mut changes: Vec<Change> = new
        .iter()
        .zip(&before)
        .map(|(line, at)| match at.and_then(|at| old.get(at)) {
            Some(old) if old.text == line.text => Change::Same,
            Some(_) => Change::Other,
            None => Change::New,
        })
        .collect();
    for moved in moved(&before) {
        if let Some(change) = changes.get_mut(moved) {
            *change = Change::Other;
        }
    }
    let gone = gone(old, &before);
    let mut shown: Vec<bool> = changes.iter().map(|change| *change != Change::Same).collect();
    for at in 0..new.len() {
        if shown.get(at) == Some(&true) || gone.contains_key(&Some(at)) {
            show(new, at, &mut shown);
        }
    }
    let mut text = String::new();
    let tell_gone = |text: &mut String, parent: Option<usize>| {
        for (line, below) in gone.get(&parent).into_iter().flatten() {
            let depth = parent.and_then(|at| new.get(at)).map_or(0, |line| line.depth + 1);
            let below = match below {
                0 => String::new(),
                below => format!(" (and {below} in it)"),
            };
            text.push_str(&format!("-{}{}{below}\n", "  ".repeat(depth), line.text));
        }
    };
    tell_gone(&mut text, None);
    for (at, (line, change)) in new.iter().zip(&changes).enumerate() {
        if shown.get(at) != Some(&true) {
            continue;
        }
        let mark = match change {
            Change::Same => ' ',
            Change::Other => '~',
            Change::New => '+',
        };
        text.push_str(&format!("{mark}{}{}\n", "  ".repeat(line.depth), line.text));
        tell_gone(&mut text, Some(at));
    }
    text
}

/// The matching old line of each new line.
fn matches(old: &[Line], new: &[Line]) -> Vec<Option<usize>> {
    let mut by_key: HashMap<u64, Vec<usize>> = HashMap::new();
    for (at, line) in old.iter().enumerate().rev() {
        by_key.entry(line.key).or_default().push(at);
    }
    let mut used = vec![false; old.len()];
    let mut take = |candidates: Option<&mut Vec<usize>>| {
        let candidates = candidates?;
        while let Some(at) = candidates.pop() {
            if let Some(used) = used.get_mut(at).filter(|used| !**used) {
                *used = true;
                return Some(at);
            }
        }
        None
    };
    let mut matches: Vec<Option<usize>> =
        new.iter().map(|line| take(by_key.get_mut(&line.key))).collect();
    let mut by_text: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, line) in old.iter().enumerate().rev().filter(|(_, line)| !line.acts) {
        by_text.entry(&line.text).or_default().push(at);
    }
    for (line, found) in new.iter().zip(&mut matches).filter(|(line, _)| !line.acts) {
        if found.is_none() {
            *found = take(by_text.get_mut(line.text.as_str()));
        }
    }
    matches
}

/// The new lines that moved: all except the longest sequence that kept its order.
fn moved(before: &[Option<usize>]) -> Vec<usize> {
    let matched: Vec<(usize, usize)> =
        before.iter().enumerate().filter_map(|(new, old)| Some((new, (*old)?))).collect();
    // The last line of the best sequence of each length, and the predecessor of each line.
    let mut ends: Vec<usize> = Vec::new();
    let mut previous: Vec<Option<usize>> = Vec::with_capacity(matched.len());
    let old = |index: usize| matched.get(index).map_or(0, |(_, old)| *old);
    for index in 0..matched.len() {
        let length = ends.partition_point(|end| old(*end) < old(index));
        previous.push(length.checked_sub(1).and_then(|at| ends.get(at).copied()));
        match ends.get_mut(length) {
            Some(end) => *end = index,
            None => ends.push(index),
        }
    }
    let mut kept = vec![false; matched.len()];
    let mut at = ends.last().copied();
    while let Some(index) = at {
        if let Some(kept) = kept.get_mut(index) {
            *kept = true;
        }
        at = previous.get(index).copied().flatten();
    }
    let moved = matched.iter().zip(kept).filter(|(_, kept)| !kept);
    moved.map(|((new, _), _)| *new).collect()
}

/// The topmost removed lines with their number of descendants, by the new line that contained them.
fn gone<'a>(
    old: &'a [Line],
    before: &[Option<usize>],
) -> HashMap<Option<usize>, Vec<(&'a Line, usize)>> {
    let now: HashMap<usize, usize> =
        before.iter().enumerate().filter_map(|(new, old)| Some(((*old)?, new))).collect();
    let mut gone: HashMap<Option<usize>, Vec<(&Line, usize)>> = HashMap::new();
    // For each removed line, where its topmost removed ancestor is reported.
    let mut told: HashMap<usize, (Option<usize>, usize)> = HashMap::new();
    for (at, line) in old.iter().enumerate().filter(|(at, _)| !now.contains_key(at)) {
        if let Some(top) = line.parent.and_then(|parent| told.get(&parent)).copied() {
            told.insert(at, top);
            let (parent, index) = top;
            if let Some((_, below)) = gone.get_mut(&parent).and_then(|lines| lines.get_mut(index)) {
                *below += 1;
            }
            continue;
        }
        let parent = line.parent.and_then(|parent| now.get(&parent)).copied();
        let lines = gone.entry(parent).or_default();
        told.insert(at, (parent, lines.len()));
        lines.push((line, 0));
    }
    gone
}

/// Marks a line and its ancestors as shown.
fn show(lines: &[Line], at: usize, shown: &mut [bool]) {
    let mut next = Some(at);
    while let Some(at) = next {
        if let Some(shown) = shown.get_mut(at) {
            *shown = true;
        }
        next =
            lines.get(at).and_then(|line| line.parent).filter(|at| shown.get(*at) == Some(&false));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines from text; a word after `#` is the key.
    fn lines(text: &str) -> Vec<Line> {
        let mut lines: Vec<Line> = Vec::new();
        let mut path: Vec<usize> = Vec::new();
        for (at, line) in text.lines().enumerate() {
            let depth = (line.len() - line.trim_start().len()) / 2;
            let (text, key) = line.trim().split_once(" #").unwrap();
            path.truncate(depth);
            let acts = text.contains("[ref=");
            let parent = path.last().copied();
            let (text, key) = (text.to_owned(), key.parse().unwrap());
            lines.push(Line { depth, text, parent, key, top: 0.0, acts });
            path.push(at);
        }
        lines
    }

    #[test]
    fn only_changes_and_their_context_are_shown() {
        let old = lines(
            "main #1\n  form #2\n    textbox [ref=e1] #3\n    button [ref=e2] #4\n  text: hello #5",
        );
        let new = lines(
            "main #1\n  form #2\n    textbox [ref=e1]: a #3\n    alert: no #6\n  text: hello #7",
        );
        let expected = " main\n   form\n-    button [ref=e2]\n~    textbox [ref=e1]: a\n\
            +    alert: no\n";
        assert_eq!(delta(&old, &new), expected);
        assert_eq!(delta(&old, &old), "");
    }

    #[test]
    fn descendants_of_removed_lines_are_counted() {
        let old = lines("dialog \"Hi\" #1\n  text: a #2\n  list #3\n    - b #4\nmain #5");
        let new = lines("main #5");
        assert_eq!(delta(&old, &new), "-dialog \"Hi\" (and 3 in it)\n");
        assert_eq!(delta(&new, &old).lines().count(), 4);
    }

    #[test]
    fn moved_lines_are_shown() {
        let old = lines("table #1\n  | a #2\n  | b #3\n  | c #4");
        let new = lines("table #1\n  | c #4\n  | a #2\n  | b #3");
        assert_eq!(delta(&old, &new), " table\n~  | c\n");
    }
}
