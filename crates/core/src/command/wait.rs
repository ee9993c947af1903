//! Arguments of `wait`.

use super::observe::MAX_TIMEOUT_MS;
use super::values::{RefArg, not_blank};
use crate::error::{Error, Result};
use clap::{Args, ValueEnum};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Time limit of a wait.
pub const WAIT_TIMEOUT_MS: u64 = 30_000;

/// What must become true of an element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum Predicate {
    #[default]
    Exists,
    Enabled,
    Visible,
    Actionable,
    Value,
}

/// The action that an element must be ready for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum WaitAction {
    #[default]
    Click,
    Type,
    SetValue,
    Clear,
}

/// A change that `wait --event` looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum EventKind {
    WindowOpened,
    WindowClosed,
    AppLaunched,
    AppTerminated,
    FocusChanged,
    SurfaceAppeared,
    SurfaceDismissed,
}

/// Wait for a time, an element, a window, a text or a menu. Exactly one of them.
#[derive(Clone, Debug, Default, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wait {
    /// Only wait so many milliseconds.
    #[arg(value_name = "MS")]
    pub ms: Option<u64>,
    /// Wait for the element of a ref.
    #[arg(long, value_name = "REF")]
    pub element: Option<RefArg>,
    /// What must become true of it (default exists).
    #[arg(long, value_enum)]
    pub predicate: Option<Predicate>,
    /// The value for --predicate value.
    #[arg(long, allow_hyphen_values = true)]
    pub value: Option<String>,
    /// The action for --predicate actionable (default click).
    #[arg(long, value_enum)]
    pub action: Option<WaitAction>,
    /// Wait for a window whose title contains this.
    #[arg(long, value_name = "TITLE")]
    pub window: Option<String>,
    /// Wait for a text in the window.
    #[arg(long)]
    pub text: Option<String>,
    /// So many elements must carry the text.
    #[arg(long, value_name = "N")]
    pub count: Option<usize>,
    /// Wait for an open menu.
    #[arg(long)]
    #[serde(default)]
    pub menu: bool,
    /// Wait until no menu is open.
    #[arg(long)]
    #[serde(default)]
    pub menu_closed: bool,
    /// Wait for a notification (not available yet).
    #[arg(long)]
    #[serde(default)]
    pub notification: bool,
    /// Wait for a change: a window or application that comes or goes, another active window, a surface.
    #[arg(long, value_enum, value_name = "KIND")]
    pub event: Option<EventKind>,
    /// Window of --event by id.
    #[arg(long, value_name = "ID")]
    pub window_id: Option<String>,
    /// Application by name.
    #[arg(long, value_name = "NAME")]
    pub app: Option<String>,
    /// Time limit in milliseconds (default 30000).
    #[arg(long, value_name = "MS", visible_alias = "timeout-ms")]
    #[serde(alias = "timeout_ms")]
    pub timeout: Option<u64>,
}

/// What a wait waits for.
#[derive(Clone, Debug, PartialEq)]
pub enum Mode<'a> {
    /// Time to pass.
    Pause(u64),
    /// An element's predicate.
    Element {
        /// The element.
        element: &'a RefArg,
        /// What must be true.
        predicate: Predicate,
        /// The value, for [`Predicate::Value`].
        value: Option<&'a str>,
        /// The action, for [`Predicate::Actionable`].
        action: WaitAction,
    },
    /// A window by title.
    Window(&'a str),
    /// A text.
    Text {
        /// The text.
        text: &'a str,
        /// How many elements must carry it; none for any.
        count: Option<usize>,
    },
    /// An open menu.
    Menu,
    /// No open menu.
    MenuClosed,
    /// A notification.
    Notification,
    /// A change.
    Event(EventKind),
}

impl Wait {
    /// The time limit.
    pub fn timeout(&self) -> u64 {
        self.timeout.unwrap_or(WAIT_TIMEOUT_MS)
    }

    /// The one mode that was asked for.
    pub fn mode(&self) -> Result<Mode<'_>> {
        let mut modes = Vec::new();
        if let Some(ms) = self.ms {
            modes.push(("MS", Mode::Pause(ms)));
        }
        if let Some(element) = &self.element {
            let mode = Mode::Element {
                element,
                predicate: self.predicate.unwrap_or_default(),
                value: self.value.as_deref(),
                action: self.action.unwrap_or_default(),
            };
            modes.push(("--element", mode));
        }
        if let Some(kind) = self.event {
            modes.push(("--event", Mode::Event(kind)));
        } else if let Some(title) = &self.window {
            modes.push(("--window", Mode::Window(title)));
        }
        if self.notification {
            modes.push(("--notification", Mode::Notification));
        } else if let Some(text) = &self.text {
            modes.push(("--text", Mode::Text { text, count: self.count }));
        }
        if self.menu {
            modes.push(("--menu", Mode::Menu));
        }
        if self.menu_closed {
            modes.push(("--menu-closed", Mode::MenuClosed));
        }
        let names: Vec<&str> = modes.iter().map(|(name, _)| *name).collect();
        match modes.len() {
            0 => Err(Error::invalid("wait needs MS, --element, --window, --text, --menu, --menu-closed or --event")),
            1 => Ok(modes.remove(0).1),
            _ => Err(Error::invalid(format!("{} exclude each other", names.join(" and ")))),
        }
    }

    /// The rules.
    pub fn validate(&self) -> Result<()> {
        let mode = self.mode()?;
        let is_element = matches!(mode, Mode::Element { .. });
        for (flag, value) in
            [("--window", &self.window), ("--text", &self.text), ("--app", &self.app), ("--window-id", &self.window_id)]
        {
            not_blank(flag, value.as_ref())?;
        }
        if !is_element && (self.predicate.is_some() || self.value.is_some() || self.action.is_some()) {
            return Err(Error::invalid("--predicate, --value and --action belong to --element"));
        }
        if self.count.is_some() && !matches!(mode, Mode::Text { .. }) {
            return Err(Error::invalid("--count belongs to --text"));
        }
        if self.window_id.is_some() && self.event.is_none() {
            return Err(Error::invalid("--window-id belongs to --event"));
        }
        let of_windows = matches!(
            self.event,
            Some(EventKind::WindowOpened | EventKind::WindowClosed | EventKind::FocusChanged) | None
        );
        if !of_windows && (self.window.is_some() || self.window_id.is_some()) {
            return Err(Error::invalid(
                "--window and --window-id belong to window-opened, window-closed and focus-changed",
            ));
        }
        if self.ms.is_some_and(|ms| ms > MAX_TIMEOUT_MS) || self.timeout() > MAX_TIMEOUT_MS {
            return Err(Error::invalid(format!("a wait takes at most {MAX_TIMEOUT_MS} ms")));
        }
        if let Mode::Element { element, predicate, value, .. } = mode {
            element.parse()?;
            if (predicate == Predicate::Value) != value.is_some() {
                return Err(Error::invalid("--predicate value and --value belong together"));
            }
            if predicate != Predicate::Actionable && self.action.is_some() {
                return Err(Error::invalid("--action belongs to --predicate actionable"));
            }
        }
        Ok(())
    }

    /// The modes of later issues that were asked for.
    pub(crate) fn not_available(&self) -> Option<&'static str> {
        match self.mode() {
            Ok(Mode::Notification) => Some("wait --notification"),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_one_mode() {
        assert!(Wait::default().validate().is_err());
        assert!(Wait { ms: Some(1), menu: true, ..Wait::default() }.validate().is_err());
        assert!(Wait { ms: Some(1), ..Wait::default() }.validate().is_ok());
        assert!(Wait { menu_closed: true, ..Wait::default() }.validate().is_ok());
        let no_window = Wait { event: Some(EventKind::AppLaunched), window: Some("x".into()), ..Wait::default() };
        assert!(no_window.validate().is_err());
        let event = Wait { event: Some(EventKind::WindowOpened), window: Some("x".into()), ..Wait::default() };
        assert_eq!(event.mode().unwrap(), Mode::Event(EventKind::WindowOpened));
    }

    #[test]
    fn flags_belong_to_their_mode() {
        let element = || Wait { element: Some(RefArg("@s8f3:e1".into())), ..Wait::default() };
        assert!(element().validate().is_ok());
        assert!(Wait { predicate: Some(Predicate::Value), ..element() }.validate().is_err());
        assert!(Wait { value: Some("1".into()), ..element() }.validate().is_err());
        assert!(Wait { predicate: Some(Predicate::Value), value: Some("1".into()), ..element() }.validate().is_ok());
        assert!(Wait { action: Some(WaitAction::Type), ..element() }.validate().is_err());
        assert!(Wait { menu: true, count: Some(1), ..Wait::default() }.validate().is_err());
        assert!(Wait { ms: Some(MAX_TIMEOUT_MS + 1), ..Wait::default() }.validate().is_err());
    }
}
