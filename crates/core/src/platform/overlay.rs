//! The agent's cursor on the screen: something to look at, and nothing else (spec 1 §8). It takes no clicks and no focus,
//! and what becomes of it is never part of an action's answer.

use super::not_supported;
use crate::deadline::Deadline;
use crate::error::Error;
use crate::geometry::{Point, Rect};
use serde::{Deserialize, Serialize};

/// How a cursor looks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CursorLook {
    /// The text beside it.
    pub label: Option<String>,
    /// Its colour: red, green, blue.
    pub fill: [u8; 3],
    /// The colour of its rim.
    pub rim: [u8; 3],
    /// The colour of effects.
    pub accent: [u8; 3],
    /// Its size; 1 is that of a usual pointer.
    pub size: f64,
}

/// Where a cursor goes, and what is seen there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CursorStep {
    /// Whose it is: one renderer serves one session.
    pub session: String,
    /// Which of the session's; none where it has one for all.
    pub agent: Option<String>,
    /// How it looks from now on.
    pub look: CursorLook,
    /// Where it goes; none: it appears where it is, or at the pointer.
    pub to: Option<Point>,
    /// What is outlined once it is there.
    pub outline: Option<Rect>,
    /// Whether a ripple goes out from it once it is there.
    pub ripple: bool,
}

/// The renderer of cursors on one desktop.
pub trait Overlay {
    /// Shows a cursor, and returns once it is where it was sent. Starts the renderer where none runs.
    ///
    /// # Errors
    /// Where the renderer did not say so by the deadline, or there is none.
    fn overlay_step(&self, step: &CursorStep, deadline: Deadline) -> Result<(), Error> {
        let _ = (step, deadline);
        Err(not_supported("the cursor overlay"))
    }

    /// Ends the session's renderer; says whether one ran.
    ///
    /// # Errors
    /// Where one runs and does not end.
    fn overlay_end(&self, session: &str, deadline: Deadline) -> Result<bool, Error> {
        let _ = (session, deadline);
        Ok(false)
    }
}
