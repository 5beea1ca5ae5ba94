//! The keyboard: typing text, pressing keys and chords.

use std::{sync::Arc, time::Duration};

use helmdeck_task::block_in_place;
use helmdeck_wire::{
    keyboard::{Held as HeldReply, HoldKey, Key, Pressed, Type, Typed},
    status::Seconds,
};
use tokio::time::sleep;
use x11rb::protocol::xproto::Keycode;

use crate::{
    connection::Connection,
    display::Display,
    error::DisplayError,
    held::Held,
    keymap::{Keymap, Stroke, symbol_of},
    keys::{self, Chord},
    modifier_guard::ModifierGuard,
    spare_keys::SpareKeys,
};

/// Longest text of one action, in characters.
const MAX_TEXT: usize = 100_000;
/// Longest pause between characters.
const MAX_DELAY: Duration = Duration::from_secs(1);
/// After this many keys, typing waits for the program, so that text does not accumulate.
const BURST: usize = 500;

impl Display {
    /// Types text into the focused window.
    ///
    /// Characters without a key are bound to spare keys while they are needed. The layout is
    /// restored afterwards, even if the future is dropped.
    pub async fn type_text(&self, action: &Type) -> Result<Typed, DisplayError> {
        let symbols = symbols(&action.text)?;
        let delay = Duration::from_millis(action.delay_ms.into()).min(MAX_DELAY);
        let input = self.input().await?;
        let keymap = block_in_place(|| Keymap::read(&input.connection))?;
        let shift = keymap.code_of(xkeysym::key::Shift_L)?;
        let runs = runs(&symbols, &keymap)?;
        let neutral = block_in_place(|| ModifierGuard::make(&input.connection, &keymap))?;
        let mut borrowed = SpareKeys::none(&input.connection);
        let burst = if delay.is_zero() { BURST } else { 1 };
        for run in &runs {
            borrowed.bind(&keymap, &run.bind).await?;
            let mut bursts = run.strokes.chunks(burst).peekable();
            while let Some(burst) = bursts.next() {
                block_in_place(|| strike(&input.connection, shift, burst))?;
                if !delay.is_zero() {
                    sleep(delay).await;
                } else if bursts.peek().is_some() {
                    borrowed.settle().await?;
                }
            }
        }
        borrowed.finish().await?;
        block_in_place(|| neutral.finish())?;
        Ok(Typed { ok: true, length: action.text.chars().count() })
    }

    /// Presses keys and chords in order.
    pub async fn key(&self, action: &Key) -> Result<Pressed, DisplayError> {
        let chords = keys::parse(&action.keys)?;
        let input = self.input().await?;
        let keymap = block_in_place(|| Keymap::read(&input.connection))?;
        let mut borrowed = SpareKeys::none(&input.connection);
        for chord in &chords {
            let strokes = strokes(&keymap, &mut borrowed, chord).await?;
            block_in_place(|| press(&input.connection, &keymap, &strokes)?.finish())?;
        }
        borrowed.finish().await?;
        Ok(Pressed { ok: true, keys: action.keys.clone() })
    }

    /// Holds a key or chord down for some time.
    pub async fn hold_key(&self, action: &HoldKey) -> Result<HeldReply, DisplayError> {
        let chords = keys::parse(&action.keys)?;
        let [chord] = chords.as_slice() else {
            return Err(DisplayError::SeveralChords(action.keys.clone()));
        };
        let seconds = action.seconds.0.clamp(0.0, Seconds::MAX);
        let input = self.input().await?;
        let keymap = block_in_place(|| Keymap::read(&input.connection))?;
        let mut borrowed = SpareKeys::none(&input.connection);
        let strokes = strokes(&keymap, &mut borrowed, chord).await?;
        let held = block_in_place(|| {
            let held = press(&input.connection, &keymap, &strokes)?;
            input.connection.round_trip()?;
            Ok::<_, DisplayError>(held)
        })?;
        sleep(Duration::from_secs_f64(seconds)).await;
        block_in_place(|| held.finish())?;
        borrowed.finish().await?;
        Ok(HeldReply { ok: true, keys: action.keys.clone(), seconds: Seconds(seconds) })
    }
}

/// The key symbols of a text; an error if a character has none.
fn symbols(text: &str) -> Result<Vec<u32>, DisplayError> {
    if text.is_empty() {
        return Err(DisplayError::MissingText);
    }
    let mut symbols = Vec::with_capacity(text.len());
    let mut chars = text.chars().enumerate().peekable();
    while let Some((at, char)) = chars.next() {
        if at >= MAX_TEXT {
            return Err(DisplayError::TextTooLong { limit: MAX_TEXT, unit: "characters" });
        }
        let code = u32::from(char);
        symbols.push(match char {
            '\r' if matches!(chars.peek(), Some((_, '\n'))) => continue,
            '\n' => xkeysym::key::Return,
            '\t' => xkeysym::key::Tab,
            // Code points that are permanently noncharacters.
            '\u{fdd0}'..='\u{fdef}' => return Err(DisplayError::UntypableText { code, at }),
            char if char.is_control() || code & 0xfffe == 0xfffe => {
                return Err(DisplayError::UntypableText { code, at });
            }
            char => symbol_of(char),
        });
    }
    Ok(symbols)
}

/// A part of a text that fits one set of spare keys.
#[derive(Debug, PartialEq, Eq)]
struct Run {
    bind: Vec<(Keycode, u32)>,
    strokes: Vec<Stroke>,
}

/// Splits a text into as few runs as the spare keys allow.
fn runs(symbols: &[u32], keymap: &Keymap) -> Result<Vec<Run>, DisplayError> {
    let spare = keymap.spare();
    let mut runs = Vec::new();
    let mut run = Run { bind: Vec::new(), strokes: Vec::new() };
    for &symbol in symbols {
        if let Some(stroke) = keymap.find(symbol) {
            run.strokes.push(stroke);
            continue;
        }
        let bound = run.bind.iter().find(|(_, bound)| *bound == symbol).map(|(code, _)| *code);
        let code = match bound {
            Some(code) => code,
            None => {
                if run.bind.len() == spare.len() {
                    runs.push(std::mem::replace(
                        &mut run,
                        Run { bind: Vec::new(), strokes: Vec::new() },
                    ));
                }
                let code = *spare.get(run.bind.len()).ok_or_else(|| no_free_key(symbol))?;
                run.bind.push((code, symbol));
                code
            }
        };
        run.strokes.push(Stroke { code, shift: false });
    }
    runs.push(run);
    Ok(runs)
}

fn no_free_key(symbol: u32) -> DisplayError {
    let symbol = xkeysym::Keysym::new(symbol);
    DisplayError::NoFreeKey(symbol.key_char().map_or_else(|| format!("{symbol:?}"), String::from))
}

/// Presses and releases keys in order.
fn strike(
    connection: &Arc<Connection>,
    shift: Keycode,
    strokes: &[Stroke],
) -> Result<(), DisplayError> {
    let mut held = Held::on(connection);
    let mut shifted = false;
    for stroke in strokes {
        match (stroke.shift, shifted) {
            (true, false) => held.press_key(shift)?,
            (false, true) => held.release_key(shift)?,
            _ => {}
        }
        shifted = stroke.shift;
        held.tap_key(stroke.code)?;
    }
    held.finish()
}

/// The keys of a chord. If spare keys are needed, waits until the program knows them.
async fn strokes(
    keymap: &Keymap,
    borrowed: &mut SpareKeys,
    chord: &Chord,
) -> Result<Vec<Stroke>, DisplayError> {
    let mut spare = keymap.spare().into_iter();
    let mut bind = Vec::new();
    let mut strokes: Vec<Stroke> = Vec::new();
    for &symbol in chord.symbols() {
        let stroke = match keymap.find(symbol) {
            Some(stroke) => stroke,
            None => {
                let code = spare.next().ok_or_else(|| no_free_key(symbol))?;
                bind.push((code, symbol));
                Stroke { code, shift: false }
            }
        };
        if !strokes.iter().any(|earlier| earlier.code == stroke.code) {
            strokes.push(stroke);
        }
    }
    borrowed.bind(keymap, &bind).await?;
    Ok(strokes)
}

/// Presses and holds the keys of a chord, with Shift where needed.
fn press(
    connection: &Arc<Connection>,
    keymap: &Keymap,
    strokes: &[Stroke],
) -> Result<Held, DisplayError> {
    let shift = keymap.code_of(xkeysym::key::Shift_L)?;
    let mut held = Held::on(connection);
    let mut shifted = false;
    for stroke in strokes {
        shifted |= stroke.code == shift;
        if stroke.shift && !shifted {
            held.press_key(shift)?;
            shifted = true;
        }
        held.press_key(stroke.code)?;
    }
    Ok(held)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_press_return_and_other_control_characters_are_refused() {
        let typed = symbols("a\r\nb\n\t").unwrap();
        let (enter, tab) = (xkeysym::key::Return, xkeysym::key::Tab);
        assert_eq!(typed, [0x61, enter, 0x62, enter, tab]);
        for bad in ["a\0", "\u{1b}[0m", "a\rb", "\u{7f}", "\u{85}", "\u{fffe}", "\u{fdd0}"] {
            let refused = symbols(bad);
            assert!(matches!(refused, Err(DisplayError::UntypableText { .. })), "{bad:?}");
        }
    }
}
