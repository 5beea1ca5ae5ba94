//! Changes the screen size while programs run.

use std::sync::Arc;

use helmdeck_task::block_in_place;
use helmdeck_wire::{
    screen::{Resize, Resized},
    size::Geometry,
};
use x11rb::{
    connection::Connection as _,
    protocol::{
        randr::{
            ConnectionExt as _, Crtc, GetScreenResourcesCurrentReply, Mode, ModeFlag, ModeInfo,
            Output, Rotation, SetConfig,
        },
        xproto::ConnectionExt as _,
    },
};

use crate::{connection::Connection, display::Display, error::DisplayError};

/// The pixels per inch that the screen reports.
const DPI: f64 = 96.0;

impl Display {
    /// Changes the screen size; programs are notified and adapt.
    pub async fn resize(&self, action: &Resize) -> Result<Resized, DisplayError> {
        let Resize { width, height } = *action;
        let geometry =
            Geometry::new(width, height).map_err(|_| DisplayError::Geometry { width, height })?;
        let input = self.input().await?;
        block_in_place(|| {
            let x = &input.connection;
            if (input.width, input.height) != (geometry.width, geometry.height) {
                let mut own_mode = self.shared.own_mode.lock();
                let made = resize(x, geometry)?;
                let old = std::mem::replace(&mut *own_mode, made.mode);
                if let Some(old) = old.filter(|old| Some(*old) != made.mode) {
                    // Another program may use the mode again; then it stays.
                    x.randr_delete_output_mode(made.output, old)?.ignore_error();
                    x.randr_destroy_mode(old)?.ignore_error();
                }
            }
            let (width, height) = x.size()?;
            Ok(Resized { ok: true, width: width.into(), height: height.into() })
        })
    }
}

/// The output and mode of a resize.
struct Made {
    output: Output,
    /// The mode, if it was created.
    mode: Option<Mode>,
}

fn resize(x: &Arc<Connection>, geometry: Geometry) -> Result<Made, DisplayError> {
    let resources = x.randr_get_screen_resources_current(x.root)?.reply()?;
    let (Some(&output), Some(&crtc)) = (resources.outputs.first(), resources.crtcs.first()) else {
        return Err(DisplayError::Unsupported("a screen that can be resized"));
    };
    let (mode, made) = mode(x, &resources, output, geometry)?;
    // Programs see the old or the new screen, never an intermediate state.
    x.grab_server()?;
    let set = set_mode(x, &resources, (crtc, output, mode), geometry);
    x.ungrab_server()?;
    x.flush()?;
    set?;
    Ok(Made { output, mode: made })
}

/// The output's mode of this size, created if necessary. The second value is the mode if it was
/// created.
fn mode(
    x: &Arc<Connection>,
    resources: &GetScreenResourcesCurrentReply,
    output: Output,
    geometry: Geometry,
) -> Result<(Mode, Option<Mode>), DisplayError> {
    let Geometry { width, height } = geometry;
    let known = x.randr_get_output_info(output, resources.config_timestamp)?.reply()?.modes;
    let fits = |mode: &&ModeInfo| mode.width == width && mode.height == height;
    if let Some(mode) = resources.modes.iter().filter(fits).find(|mode| known.contains(&mode.id)) {
        return Ok((mode.id, None));
    }
    let name = format!("helmdeck-{geometry}");
    let info = ModeInfo {
        id: 0,
        width,
        height,
        dot_clock: u32::from(width) * u32::from(height) * 60,
        hsync_start: width,
        hsync_end: width,
        htotal: width,
        hskew: 0,
        vsync_start: height,
        vsync_end: height,
        vtotal: height,
        name_len: name.len() as u16,
        mode_flags: ModeFlag::from(0_u32),
    };
    let mode = x.randr_create_mode(x.root, info, name.as_bytes())?.reply()?.mode;
    x.randr_add_output_mode(output, mode)?.check()?;
    Ok((mode, Some(mode)))
}

fn set_mode(
    x: &Arc<Connection>,
    resources: &GetScreenResourcesCurrentReply,
    (crtc, output, mode): (Crtc, Output, Mode),
    geometry: Geometry,
) -> Result<(), DisplayError> {
    let Geometry { width, height } = geometry;
    let millimetres = |pixels: u16| (f64::from(pixels) / DPI * 25.4).round() as u32;
    let configure = |mode: Mode, outputs: &[Output]| {
        let stamp = resources.config_timestamp;
        let set =
            x.randr_set_crtc_config(crtc, 0, stamp, 0, 0, mode, Rotation::ROTATE0, outputs)?;
        match set.reply()?.status {
            SetConfig::SUCCESS => Ok(()),
            status => Err(DisplayError::Refused(format!("{status:?} for SetCrtcConfig"))),
        }
    };
    // The screen can shrink only while no output shows it.
    configure(0, &[])?;
    let size = x
        .randr_set_screen_size(x.root, width, height, millimetres(width), millimetres(height))?
        .check();
    configure(mode, &[output])?;
    Ok(size?)
}
