//! One command, one definition: an enum of argument structs, a table beside it, and `run`, the only door.

pub mod act;
pub mod clipboard;
pub mod context;
pub mod desktop;
pub mod globals;
pub mod keyboard;
pub mod notifications;
pub mod observe;
pub mod pointer;
pub mod read;
mod run;
pub mod session;
pub mod system;
pub mod table;
pub mod values;
pub mod wait;
pub mod watch;
pub mod windows;

pub use context::{Context, Desktops, Emitted, Host};
pub use globals::Globals;
pub use run::{not_available, run};
pub use table::{Group, Permission, Spec};

use crate::error::{Error, Result, echo};
use act::RefAction as _;
use serde::de::DeserializeOwned;
use serde_json::Value;

macro_rules! commands {
    ($($variant:ident($args:ty) = $name:literal),+ $(,)?) => {
        /// A command with its arguments, whichever face it came through.
        #[derive(Clone, Debug, PartialEq, clap::Subcommand)]
        #[allow(missing_docs)] // the help of each is that of its arguments
        pub enum Command { $(#[command(name = $name)] $variant($args)),+ }

        /// Names of all commands, in the order of help and docs.
        pub const NAMES: &[&str] = &[$($name),+];

        impl Command {
            /// The command's name.
            pub fn name(&self) -> &'static str {
                match self { $(Command::$variant(_) => $name),+ }
            }

            /// The rules of its arguments.
            pub fn validate(&self) -> Result<()> {
                match self { $(Command::$variant(args) => args.validate()),+ }
            }

            /// Its arguments as JSON, as a batch entry would give them.
            pub fn args_json(&self) -> Value {
                match self { $(Command::$variant(args) => serde_json::to_value(args)),+ }.unwrap_or(Value::Null)
            }

            /// The command of a batch entry, an MCP call or a C call. Unknown names and keys are refused.
            pub fn from_json(name: &str, args: Value) -> Result<Self> {
                match name {
                    $($name => from_value(name, args).map(Command::$variant),)+
                    other => Err(Error::invalid(format!("there is no command {}", echo(other)))),
                }
            }

            /// JSON schema of a command's arguments.
            pub fn schema(name: &str) -> Option<Value> {
                match name {
                    $($name => Some(schemars::schema_for!($args).to_value()),)+
                    _ => None,
                }
            }
        }
    };
}

commands! {
    Snapshot(observe::Snapshot) = "snapshot",
    Find(observe::Find) = "find",
    Get(observe::Get) = "get",
    Is(observe::Is) = "is",
    Table(observe::Table) = "table",
    Screenshot(observe::Screenshot) = "screenshot",
    ListSurfaces(observe::ListSurfaces) = "list-surfaces",
    Click(act::Click) = "click",
    DoubleClick(act::DoubleClick) = "double-click",
    TripleClick(act::TripleClick) = "triple-click",
    RightClick(act::RightClick) = "right-click",
    Type(act::Type) = "type",
    SetValue(act::SetValue) = "set-value",
    Clear(act::Clear) = "clear",
    Focus(act::Focus) = "focus",
    Select(act::Select) = "select",
    Toggle(act::Toggle) = "toggle",
    Check(act::Check) = "check",
    Uncheck(act::Uncheck) = "uncheck",
    Expand(act::Expand) = "expand",
    Collapse(act::Collapse) = "collapse",
    Scroll(act::Scroll) = "scroll",
    ScrollTo(act::ScrollTo) = "scroll-to",
    Press(keyboard::Press) = "press",
    KeyDown(keyboard::KeyDown) = "key-down",
    KeyUp(keyboard::KeyUp) = "key-up",
    Hover(pointer::Hover) = "hover",
    Drag(pointer::Drag) = "drag",
    MouseMove(pointer::MouseMove) = "mouse-move",
    MouseClick(pointer::MouseClick) = "mouse-click",
    MouseWheel(pointer::MouseWheel) = "mouse-wheel",
    MouseDown(pointer::MouseDown) = "mouse-down",
    MouseUp(pointer::MouseUp) = "mouse-up",
    Launch(windows::Launch) = "launch",
    CloseApp(windows::CloseApp) = "close-app",
    ListApps(windows::ListApps) = "list-apps",
    ListWindows(windows::ListWindows) = "list-windows",
    ListDisplays(windows::ListDisplays) = "list-displays",
    FocusWindow(windows::FocusWindow) = "focus-window",
    ResizeWindow(windows::ResizeWindow) = "resize-window",
    MoveWindow(windows::MoveWindow) = "move-window",
    Minimize(windows::Minimize) = "minimize",
    Maximize(windows::Maximize) = "maximize",
    Restore(windows::Restore) = "restore",
    OpenSystemSurface(windows::OpenSystemSurface) = "open-system-surface",
    ListNotifications(notifications::ListNotifications) = "list-notifications",
    DismissNotification(notifications::DismissNotification) = "dismiss-notification",
    DismissAllNotifications(notifications::DismissAllNotifications) = "dismiss-all-notifications",
    NotificationAction(notifications::NotificationAction) = "notification-action",
    ClipboardGet(clipboard::ClipboardGet) = "clipboard-get",
    ClipboardSet(clipboard::ClipboardSet) = "clipboard-set",
    ClipboardClear(clipboard::ClipboardClear) = "clipboard-clear",
    Wait(wait::Wait) = "wait",
    Watch(watch::Watch) = "watch",
    Session(session::Session) = "session",
    Trace(session::Trace) = "trace",
    CursorOverlay(session::CursorOverlay) = "cursor-overlay",
    Status(system::Status) = "status",
    Permissions(system::Permissions) = "permissions",
    Version(system::Version) = "version",
    Batch(system::Batch) = "batch",
    Skills(system::Skills) = "skills",
    Desktop(desktop::Desktop) = "desktop",
}

fn from_value<T: DeserializeOwned>(name: &str, args: Value) -> Result<T> {
    let args = if args.is_null() { Value::Object(serde_json::Map::new()) } else { args };
    serde_json::from_value(args).map_err(|e| {
        // The parser quotes values; a caller's text may be secret or forge a line.
        let text = e.to_string();
        let text: String = text.lines().next().unwrap_or_default().chars().take(256).collect();
        let message = if secret(name) { "malformed arguments".to_owned() } else { without_texts(&text) };
        Error::invalid(format!("{name}: {message}"))
    })
}

/// A parser's message without the texts that it quotes: `string "…"`.
fn without_texts(message: &str) -> String {
    match message.split_once("string \"") {
        Some((before, rest)) => {
            let after = rest.rsplit_once('"').map_or("", |(_, after)| after);
            format!("{before}a string{after}")
        }
        None => message.to_owned(),
    }
}

/// Whether a command carries text that may be secret, so that messages must not quote its arguments.
pub fn secret(name: &str) -> bool {
    matches!(name, "type" | "set-value" | "clipboard-set")
}

impl Command {
    /// The ref action, where the command is one.
    pub fn ref_action(&self) -> Option<&dyn act::RefAction> {
        Some(match self {
            Command::Click(a) => a,
            Command::DoubleClick(a) => a,
            Command::TripleClick(a) => a,
            Command::RightClick(a) => a,
            Command::Type(a) => a,
            Command::SetValue(a) => a,
            Command::Clear(a) => a,
            Command::Focus(a) => a,
            Command::Select(a) => a,
            Command::Toggle(a) => a,
            Command::Check(a) => a,
            Command::Uncheck(a) => a,
            Command::Expand(a) => a,
            Command::Collapse(a) => a,
            Command::Scroll(a) => a,
            Command::ScrollTo(a) => a,
            _ => return None,
        })
    }

    /// How many bytes of standard input the command asks for at most, where it asks for any.
    pub fn stdin_limit(&self) -> Option<usize> {
        match self {
            Command::Type(a) if a.stdin => Some(act::VALUE_MAX_BYTES),
            Command::SetValue(a) if a.stdin => Some(act::VALUE_MAX_BYTES),
            Command::ClipboardSet(a) if a.stdin => Some(crate::platform::clipboard::TEXT_MAX_BYTES),
            Command::Batch(a) if matches!(a.source(), Ok(system::BatchSource::Stdin)) => Some(system::BATCH_MAX_BYTES),
            _ => None,
        }
    }

    /// Puts the text of standard input where the command asked for it.
    pub fn fill_stdin(&mut self, text: String) {
        match self {
            Command::Type(a) => (a.text, a.stdin) = (Some(text), false),
            Command::SetValue(a) => (a.value, a.stdin) = (Some(text), false),
            Command::ClipboardSet(a) => (a.text, a.stdin) = (Some(text), false),
            Command::Batch(a) => (a.json, a.file) = (Some(text), None),
            _ => {}
        }
    }

    /// Its row in the table.
    pub fn spec(&self) -> &'static Spec {
        table::spec(self.name())
    }
}
