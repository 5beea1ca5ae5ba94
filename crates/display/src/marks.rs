//! Numbered marks on a picture: a frame around each part, with its number beside it.

use crate::picture::Pixels;

/// A part of the screen that gets a mark. It may reach beyond the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// The left edge.
    pub x: i32,
    /// The top edge.
    pub y: i32,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
}

/// Rows of the digits 0 to 9. The five lowest bits of each are its pixels; the highest is on the left.
const DIGITS: [[u8; 7]; 10] = [
    [0b01110, 0b10001, 0b10011, 0b10101, 0b11001, 0b10001, 0b01110],
    [0b00100, 0b01100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110],
    [0b01110, 0b10001, 0b00001, 0b00110, 0b01000, 0b10000, 0b11111],
    [0b11111, 0b00010, 0b00100, 0b00010, 0b00001, 0b10001, 0b01110],
    [0b00010, 0b00110, 0b01010, 0b10010, 0b11111, 0b00010, 0b00010],
    [0b11111, 0b10000, 0b11110, 0b00001, 0b00001, 0b10001, 0b01110],
    [0b00110, 0b01000, 0b10000, 0b11110, 0b10001, 0b10001, 0b01110],
    [0b11111, 0b00001, 0b00010, 0b00100, 0b01000, 0b01000, 0b01000],
    [0b01110, 0b10001, 0b10001, 0b01110, 0b10001, 0b10001, 0b01110],
    [0b01110, 0b10001, 0b10001, 0b01111, 0b00001, 0b00010, 0b01100],
];
const DIGIT_WIDTH: i32 = 5;
const DIGIT_HEIGHT: i32 = 7;
/// Pixels of the picture for each pixel of a digit.
const ZOOM: i32 = 2;
/// Space between digits, and around them.
const GAP: i32 = 2;
const FRAME: i32 = 2;
const WHITE: [u8; 3] = [255, 255, 255];
/// Dark enough for white digits. Neighbouring numbers differ.
const COLOURS: [[u8; 3]; 6] =
    [[200, 30, 40], [20, 90, 190], [20, 120, 50], [140, 40, 170], [175, 80, 0], [0, 115, 125]];

/// How much a covered pixel counts, by what it belongs to.
const COVERS_LABEL: i64 = 20;
const COVERS_OTHER: i64 = 2;
const COVERS_OWN: i64 = 3;

/// Edges of a rectangle; the last ones are outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Edges {
    left: i32,
    top: i32,
    right: i32,
    bottom: i32,
}

impl Mark {
    /// The same part in a picture with this scale.
    pub(crate) fn scaled(self, scale: f64) -> Self {
        // A cast from a float saturates.
        let at = |edge: f64| (edge * scale).round() as i32;
        let (x, y) = (f64::from(self.x), f64::from(self.y));
        let edges = Edges {
            left: at(x),
            top: at(y),
            right: at(x + f64::from(self.width)),
            bottom: at(y + f64::from(self.height)),
        };
        let (width, height) = (edges.width().max(1), edges.height().max(1));
        Self {
            x: edges.left,
            y: edges.top,
            width: width.unsigned_abs(),
            height: height.unsigned_abs(),
        }
    }

    fn edges(self) -> Edges {
        Edges {
            left: self.x,
            top: self.y,
            right: self.x.saturating_add_unsigned(self.width),
            bottom: self.y.saturating_add_unsigned(self.height),
        }
    }
}

impl Edges {
    fn width(self) -> i32 {
        self.right.saturating_sub(self.left)
    }

    fn height(self) -> i32 {
        self.bottom.saturating_sub(self.top)
    }

    fn within(self, other: Self) -> Option<Self> {
        let edges = Self {
            left: self.left.max(other.left),
            top: self.top.max(other.top),
            right: self.right.min(other.right),
            bottom: self.bottom.min(other.bottom),
        };
        (edges.left < edges.right && edges.top < edges.bottom).then_some(edges)
    }

    fn shared_pixels(self, other: Self) -> i64 {
        self.within(other).map_or(0, |both| i64::from(both.width()) * i64::from(both.height()))
    }

    /// Moved, but not resized, so that it lies inside if it can.
    fn moved_into(self, other: Self) -> Self {
        let x = (other.right - self.right).min(0).max(other.left - self.left);
        let y = (other.bottom - self.bottom).min(0).max(other.top - self.top);
        self.moved(x, y)
    }

    fn moved(self, x: i32, y: i32) -> Self {
        Self {
            left: self.left + x,
            top: self.top + y,
            right: self.right + x,
            bottom: self.bottom + y,
        }
    }
}

/// Draws marks, numbered from 1 in their order. A mark outside the picture is left out; its number is
/// not given to another.
pub(crate) fn draw_marks(pixels: &mut Pixels, marks: &[Mark]) {
    let side = |length: u32| i32::try_from(length).unwrap_or(i32::MAX);
    let whole = Edges { left: 0, top: 0, right: side(pixels.width), bottom: side(pixels.height) };
    let frames: Vec<Option<Edges>> = marks.iter().map(|mark| mark.edges().within(whole)).collect();
    let colours = COLOURS.iter().cycle();
    for (frame, colour) in frames.iter().zip(colours.clone()) {
        if let Some(frame) = frame {
            draw_frame(pixels, *frame, *colour);
        }
    }
    // Labels are above all frames.
    for ((number, label), colour) in (1..).zip(labels(&frames, whole)).zip(colours) {
        if let Some(label) = label {
            fill(pixels, label, *colour);
            write(pixels, label, number);
        }
    }
}

fn draw_frame(pixels: &mut Pixels, frame: Edges, colour: [u8; 3]) {
    let Edges { left, top, right, bottom } = frame;
    for side in [
        Edges { bottom: (top + FRAME).min(bottom), ..frame },
        Edges { top: (bottom - FRAME).max(top), ..frame },
        Edges { right: (left + FRAME).min(right), ..frame },
        Edges { left: (right - FRAME).max(left), ..frame },
    ] {
        fill(pixels, side, colour);
    }
}

/// Where each label covers least.
fn labels(frames: &[Option<Edges>], whole: Edges) -> Vec<Option<Edges>> {
    let mut placed: Vec<Edges> = Vec::new();
    let mut labels = Vec::new();
    for (number, frame) in (1..).zip(frames) {
        let label = frame.and_then(|own| {
            let cost = |label: &Edges| {
                let covered = |edges: &Edges| label.shared_pixels(*edges);
                let others = frames.iter().flatten().map(covered).sum::<i64>() - covered(&own);
                placed.iter().map(covered).sum::<i64>() * COVERS_LABEL
                    + others * COVERS_OTHER
                    + covered(&own) * COVERS_OWN
            };
            let places = places(own, number).map(|place| place.moved_into(whole));
            // The first of equally good ones.
            places.into_iter().min_by_key(cost)
        });
        placed.extend(label);
        labels.push(label);
    }
    labels
}

/// Places for the label of a frame: outside at a corner, then inside.
fn places(frame: Edges, number: u32) -> [Edges; 10] {
    let digits = i32::try_from(number.to_string().len()).unwrap_or(1);
    let width = digits * (DIGIT_WIDTH * ZOOM + GAP) + GAP;
    let height = DIGIT_HEIGHT * ZOOM + 2 * GAP;
    let at = |left: i32, top: i32| Edges { left, top, right: left + width, bottom: top + height };
    let Edges { left, top, right, bottom } = frame;
    [
        at(left, top - height),
        at(right - width, top - height),
        at(left, bottom),
        at(right - width, bottom),
        at(left - width, top),
        at(right, top),
        at(left, top),
        at(right - width, top),
        at(right - width, bottom - height),
        at(left, bottom - height),
    ]
}

fn write(pixels: &mut Pixels, label: Edges, number: u32) {
    let mut left = label.left + GAP;
    for digit in number.to_string().bytes() {
        let rows = DIGITS.get(usize::from(digit.saturating_sub(b'0')));
        for (row, bits) in (0..).zip(rows.into_iter().flatten()) {
            for column in
                (0..DIGIT_WIDTH).filter(|column| bits >> (DIGIT_WIDTH - 1 - column) & 1 == 1)
            {
                let dot = Edges { left: 0, top: 0, right: ZOOM, bottom: ZOOM };
                let (x, y) = (left + column * ZOOM, label.top + GAP + row * ZOOM);
                fill(pixels, dot.moved(x, y), WHITE);
            }
        }
        left += DIGIT_WIDTH * ZOOM + GAP;
    }
}

fn fill(pixels: &mut Pixels, part: Edges, colour: [u8; 3]) {
    for y in part.top..part.bottom {
        for x in part.left..part.right {
            if let Some(pixel) = pixels.pixel_mut(x, y) {
                pixel.copy_from_slice(&colour);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: Edges = Edges { left: 0, top: 0, right: 400, bottom: 300 };

    fn mark(x: i32, y: i32, width: u32, height: u32) -> Mark {
        Mark { x, y, width, height }
    }

    fn black() -> Pixels {
        Pixels { width: 400, height: 300, rgb: vec![0; 400 * 300 * 3] }
    }

    fn placed(marks: &[Mark]) -> Vec<Option<Edges>> {
        let frames: Vec<_> = marks.iter().map(|mark| mark.edges().within(WHOLE)).collect();
        labels(&frames, WHOLE)
    }

    #[test]
    fn labels_of_crowded_marks_do_not_overlap() {
        // Rows of links, as in a menu.
        let marks: Vec<Mark> =
            (0..60).map(|nth| mark(40 * (nth % 10), 30 + 45 * (nth / 10), 38, 20)).collect();
        let labels: Vec<Edges> = placed(&marks).into_iter().flatten().collect();
        assert_eq!(labels.len(), 60);
        for (nth, label) in labels.iter().enumerate() {
            assert_eq!(label.within(WHOLE), Some(*label), "{nth}");
            let others = labels.iter().skip(nth + 1);
            assert_eq!(others.map(|other| label.shared_pixels(*other)).sum::<i64>(), 0, "{nth}");
        }
    }

    #[test]
    fn a_label_is_beside_its_frame_where_there_is_room() {
        let labels = placed(&[mark(100, 100, 50, 20), mark(0, 0, 60, 20), mark(0, 0, 400, 300)]);
        // Above; below, because there is nothing above; inside.
        let outside =
            |nth: usize, frame: Mark| labels[nth].unwrap().within(frame.edges()).is_none();
        assert!(outside(0, mark(100, 100, 50, 20)) && labels[0].unwrap().bottom == 100);
        assert!(outside(1, mark(0, 0, 60, 20)));
        assert_eq!(labels[2].unwrap().within(WHOLE), labels[2]);
    }

    #[test]
    fn marks_outside_the_picture_keep_their_number() {
        let marks = [mark(500, 0, 10, 10), mark(-20, -20, 30, 30), mark(10, 10, 0, 5)];
        let labels = placed(&marks);
        assert_eq!(labels.iter().map(Option::is_some).collect::<Vec<_>>(), [false, true, false]);
        let mut pixels = black();
        draw_marks(&mut pixels, &marks);
        // The colour of number 2.
        assert_eq!(pixels.pixel_mut(9, 0).unwrap(), COLOURS[1]);
    }

    #[test]
    fn a_mark_has_a_frame_and_a_readable_number() {
        let mut pixels = black();
        draw_marks(&mut pixels, &[mark(100, 100, 50, 40)]);
        let mut at = |x: i32, y: i32| <[u8; 3]>::try_from(pixels.pixel_mut(x, y).unwrap()).unwrap();
        for (x, y) in [(100, 100), (149, 101), (101, 139), (148, 120)] {
            assert_eq!(at(x, y), COLOURS[0], "{x},{y}");
        }
        assert_eq!((at(120, 120), at(99, 100), at(150, 100)), ([0; 3], [0; 3], [0; 3]));
        // The label is above: 82 to 100. The foot of the one is three dots wide.
        let row: Vec<bool> = (102..112).map(|x| at(x, 97) == WHITE).collect();
        assert_eq!(row, [false, false, true, true, true, true, true, true, false, false]);
    }

    #[test]
    fn marks_follow_the_scale_of_the_picture() {
        assert_eq!(mark(100, 50, 20, 10).scaled(0.5), mark(50, 25, 10, 5));
        assert_eq!(mark(0, 0, 1, 1).scaled(0.1), mark(0, 0, 1, 1));
    }

    #[test]
    fn digits_differ() {
        for (nth, digit) in DIGITS.iter().enumerate() {
            assert!(DIGITS.iter().skip(nth + 1).all(|other| other != digit), "{nth}");
        }
    }
}
