//! The X server of a fake guest: a white screen that ignores input.

use std::io;

use helmdeck_wire::size::Geometry;
use serde_json::json;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::guest::FakeGuest;

const SET_PIXEL_FORMAT: u8 = 0;
const SET_ENCODINGS: u8 = 2;
const UPDATE_REQUEST: u8 = 3;
const KEY: u8 = 4;
const POINTER: u8 = 5;
const CUT_TEXT: u8 = 6;
const QEMU: u8 = 255;
/// 32 bits, depth 24, blue first.
const PIXEL_FORMAT: [u8; 16] = [32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 16, 8, 0, 0, 0, 0];
const NAME: &[u8] = b"fake";

/// Speaks RFB from the client's `ClientInit` on. Keys, buttons and texts are recorded as `rfb_key`,
/// `rfb_pointer` and `rfb_text`.
pub async fn serve(
    guest: &FakeGuest,
    screen: &Geometry,
    stream: impl AsyncRead + AsyncWrite,
) -> io::Result<()> {
    let (mut from, mut to) = tokio::io::split(stream);
    from.read_u8().await?;
    to.write_u16(screen.width).await?;
    to.write_u16(screen.height).await?;
    to.write_all(&PIXEL_FORMAT).await?;
    to.write_u32(NAME.len() as u32).await?;
    to.write_all(NAME).await?;
    loop {
        match from.read_u8().await? {
            SET_PIXEL_FORMAT => skip(&mut from, 19).await?,
            SET_ENCODINGS => {
                from.read_u8().await?;
                let count = from.read_u16().await?;
                skip(&mut from, usize::from(count) * 4).await?;
            }
            UPDATE_REQUEST => {
                let incremental = from.read_u8().await? != 0;
                let mut place = [0; 4];
                for number in &mut place {
                    *number = from.read_u16().await?;
                }
                // The screen never changes.
                if !incremental {
                    to.write_all(&[0, 0, 0, 1]).await?;
                    for number in place {
                        to.write_u16(number).await?;
                    }
                    to.write_u32(0).await?;
                    let pixels = usize::from(place[2]) * usize::from(place[3]);
                    to.write_all(&vec![0xff; pixels * 4]).await?;
                }
            }
            KEY => {
                let down = from.read_u8().await? != 0;
                skip(&mut from, 2).await?;
                let symbol = from.read_u32().await?;
                guest.note("rfb_key", json!({ "symbol": symbol, "down": down }), "").answered();
            }
            POINTER => {
                let buttons = from.read_u8().await?;
                let (x, y) = (from.read_u16().await?, from.read_u16().await?);
                let body = json!({ "x": x, "y": y, "buttons": buttons });
                guest.note("rfb_pointer", body, "").answered();
            }
            CUT_TEXT => {
                skip(&mut from, 3).await?;
                let length = from.read_u32().await?;
                skip(&mut from, length as usize).await?;
                guest.note("rfb_text", json!({ "bytes": length }), "").answered();
            }
            QEMU => {
                skip(&mut from, 2).await?;
                let down = from.read_u8().await? != 0;
                let symbol = from.read_u32().await?;
                skip(&mut from, 4).await?;
                guest.note("rfb_key", json!({ "symbol": symbol, "down": down }), "").answered();
            }
            other => return Err(io::Error::other(format!("message {other}"))),
        }
    }
}

async fn skip(from: &mut (impl AsyncRead + Unpin), count: usize) -> io::Result<()> {
    from.read_exact(&mut vec![0; count]).await.map(|_| ())
}
