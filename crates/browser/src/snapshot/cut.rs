//! Shortens a snapshot to a limit.
//!
//! Lines are dropped one by one. Lines near the viewport are kept first; among those, usable
//! elements before text. The ancestors of a kept line are kept. A marker replaces dropped lines and
//! gives their number.

use std::cmp::Reverse;

use super::layout::Line;

/// The usual height of a viewport, in pixels.
const VIEW: f64 = 1000.0;
/// The share of the limit reserved for markers: one part in this many.
const MARKS: usize = 20;

/// All lines as text.
pub(crate) fn whole(lines: &[Line]) -> String {
    let mut text = String::with_capacity(lines.iter().map(cost).sum());
    for line in lines {
        write(&mut text, line.depth, &line.text);
    }
    text
}

/// The lines that fit into `room` bytes as text.
pub(crate) fn fitting(lines: &[Line], room: usize) -> String {
    let kept = choose(lines, room - room / MARKS);
    let mut text = String::new();
    let mut marks = marks(lines, &kept, room / MARKS).into_iter().peekable();
    for (at, (line, kept)) in lines.iter().zip(kept).enumerate() {
        if let Some((_, mark)) = marks.next_if(|(first, _)| *first == at) {
            write(&mut text, line.depth, &mark);
        }
        if kept {
            write(&mut text, line.depth, &line.text);
        }
    }
    text
}

/// The markers for dropped lines. If they do not all fit, those for the most lines are kept.
fn marks(lines: &[Line], kept: &[bool], room: usize) -> Vec<(usize, String)> {
    let mut gaps: Vec<(usize, usize)> = Vec::new();
    for (at, _) in kept.iter().enumerate().filter(|(_, kept)| !**kept) {
        match gaps.last_mut() {
            Some((first, count)) if *first + *count == at => *count += 1,
            _ => gaps.push((at, 1)),
        }
    }
    gaps.sort_by_key(|(_, count)| Reverse(*count));
    let mut marks = Vec::new();
    let mut left = room;
    for (first, count) in gaps {
        let mark = format!("… {count} more");
        let cost = 2 * lines.get(first).map_or(0, |line| line.depth) + mark.len() + 1;
        if cost > left {
            break;
        }
        left -= cost;
        marks.push((first, mark));
    }
    marks.sort_unstable();
    marks
}

fn choose(lines: &[Line], room: usize) -> Vec<bool> {
    let mut order: Vec<(u64, bool, usize)> = lines
        .iter()
        .enumerate()
        .map(|(index, line)| (views_away(line.top), !line.acts, index))
        .collect();
    order.sort_unstable();
    let mut kept = vec![false; lines.len()];
    let mut left = room;
    for (_, _, index) in order {
        let mut needed = Vec::new();
        let mut at = Some(index);
        while let Some((index, line)) = at.and_then(|at| Some((at, lines.get(at)?)))
            && kept.get(index) == Some(&false)
        {
            needed.push((index, cost(line)));
            at = line.parent;
        }
        let cost: usize = needed.iter().map(|(_, cost)| cost).sum();
        if cost > left {
            continue;
        }
        left -= cost;
        for (index, _) in needed {
            if let Some(kept) = kept.get_mut(index) {
                *kept = true;
            }
        }
    }
    kept
}

fn views_away(top: f64) -> u64 {
    let views = if top < 0.0 { 1.0 - top / VIEW } else { top / VIEW };
    // A cast from a float saturates.
    views as u64
}

fn cost(line: &Line) -> usize {
    2 * line.depth + line.text.len() + 1
}

fn write(text: &mut String, depth: usize, line: &str) {
    text.extend(std::iter::repeat_n("  ", depth));
    text.push_str(line);
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(depth: usize, text: &str, parent: Option<usize>, top: f64, acts: bool) -> Line {
        Line { depth, text: text.to_owned(), parent, key: 0, top, acts }
    }

    #[test]
    fn usable_elements_in_view_are_kept_first() {
        let mut lines = vec![line(0, "main", None, 0.0, false)];
        for index in 0..50 {
            let top = f64::from(index) * 100.0;
            lines.push(line(1, &format!("text: number {index}"), Some(0), top, false));
            lines.push(line(1, &format!("button [ref=e{index}]"), Some(0), top, true));
        }
        assert_eq!(whole(&lines).lines().count(), 101);

        let text = fitting(&lines, 600);
        assert!(text.len() <= 600, "{text}");
        assert!(text.starts_with("main\n  text: number 0\n  button [ref=e0]\n"), "{text}");
        assert!(text.contains("[ref=e9]") && text.contains("number 9"), "{text}");
        assert!(text.contains("[ref=e12]") && !text.contains("number 12"), "{text}");
        assert!(!text.contains("[ref=e40]"), "{text}");
        assert!(text.ends_with(" more\n"), "{text}");
    }

    #[test]
    fn a_line_is_kept_only_with_its_ancestors() {
        let lines = [
            line(0, "navigation \"far too long to fit into it\"", None, 0.0, false),
            line(1, "link [ref=e1]", Some(0), 0.0, true),
            line(0, "button [ref=e2]", None, 0.0, true),
        ];
        assert_eq!(fitting(&lines, 40), "button [ref=e2]\n");
        assert_eq!(fitting(&lines, 1000), whole(&lines));
        assert_eq!(fitting(&[], 1000), "");
    }
}
