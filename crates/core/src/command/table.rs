//! The table beside the enum: what each command needs. Help, docs and checks are made from it.

/// Groups of commands, in the order of the docs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Group {
    Observe,
    Act,
    Keyboard,
    Pointer,
    Windows,
    Notifications,
    Clipboard,
    Wait,
    Sessions,
    System,
}

impl Group {
    /// Its heading.
    pub fn title(self) -> &'static str {
        match self {
            Group::Observe => "Observe",
            Group::Act => "Act on a ref",
            Group::Keyboard => "Keyboard",
            Group::Pointer => "Pointer",
            Group::Windows => "Applications and windows",
            Group::Notifications => "Notifications",
            Group::Clipboard => "Clipboard",
            Group::Wait => "Wait",
            Group::Sessions => "Sessions",
            Group::System => "System",
        }
    }
}

/// The permission of the operating system that a command needs (spec 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    /// None.
    None,
    /// To read and operate other applications.
    Accessibility,
    /// To capture the screen.
    ScreenRecording,
}

/// One command's row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spec {
    /// Name.
    pub name: &'static str,
    /// Group.
    pub group: Group,
    /// Whether it speaks to a desktop at all.
    pub platform: bool,
    /// The permission it needs.
    pub permission: Permission,
    /// Whether it may change something outside our own state.
    pub mutates: bool,
    /// Whether it needs `--headed`.
    pub headed: bool,
    /// Whether `--wait-for` goes with it.
    pub waits: bool,
    /// Whether it is built; the others answer `not_available`.
    pub built: bool,
}

const fn row(name: &'static str, group: Group, flags: &str) -> Spec {
    Spec {
        name,
        group,
        platform: contains(flags, b'p') || contains(flags, b'a') || contains(flags, b's'),
        permission: if contains(flags, b'a') {
            Permission::Accessibility
        } else if contains(flags, b's') {
            Permission::ScreenRecording
        } else {
            Permission::None
        },
        mutates: contains(flags, b'm'),
        headed: contains(flags, b'h'),
        waits: contains(flags, b'w'),
        built: !contains(flags, b'-'),
    }
}

const fn contains(flags: &str, flag: u8) -> bool {
    let bytes = flags.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == flag {
            return true;
        }
        at += 1;
    }
    false
}

/// One row for each command. `p` needs a desktop, `a` the accessibility permission, `s` screen recording, `m` may
/// change something, `h` needs `--headed`, `w` takes `--wait-for`, `-` is not built yet.
pub const TABLE: &[Spec] = &[
    row("snapshot", Group::Observe, "aw"),
    row("find", Group::Observe, "a"),
    row("get", Group::Observe, "a"),
    row("is", Group::Observe, "a"),
    row("table", Group::Observe, "a"),
    row("screenshot", Group::Observe, "s"),
    row("list-surfaces", Group::Observe, "a"),
    row("click", Group::Act, "amw"),
    row("double-click", Group::Act, "amwh"),
    row("triple-click", Group::Act, "amwh"),
    row("right-click", Group::Act, "amw"),
    row("type", Group::Act, "amw"),
    row("set-value", Group::Act, "amw"),
    row("clear", Group::Act, "amw"),
    row("focus", Group::Act, "amw"),
    row("select", Group::Act, "amw"),
    row("toggle", Group::Act, "amw"),
    row("check", Group::Act, "amw"),
    row("uncheck", Group::Act, "amw"),
    row("expand", Group::Act, "amw"),
    row("collapse", Group::Act, "amw"),
    row("scroll", Group::Act, "amw"),
    row("scroll-to", Group::Act, "amw"),
    row("press", Group::Keyboard, "amw"),
    row("key-down", Group::Keyboard, "am"),
    row("key-up", Group::Keyboard, "am"),
    row("hover", Group::Pointer, "amwh"),
    row("drag", Group::Pointer, "amwh"),
    row("mouse-move", Group::Pointer, "amh"),
    row("mouse-click", Group::Pointer, "amh"),
    row("mouse-wheel", Group::Pointer, "amh"),
    row("mouse-down", Group::Pointer, "amh"),
    row("mouse-up", Group::Pointer, "amh"),
    row("launch", Group::Windows, "amw"),
    row("close-app", Group::Windows, "am"),
    row("list-apps", Group::Windows, "p"),
    row("list-windows", Group::Windows, "p"),
    row("list-displays", Group::Windows, "p"),
    row("focus-window", Group::Windows, "am"),
    row("resize-window", Group::Windows, "am"),
    row("move-window", Group::Windows, "am"),
    row("minimize", Group::Windows, "am"),
    row("maximize", Group::Windows, "am"),
    row("restore", Group::Windows, "am"),
    row("open-system-surface", Group::Windows, "amh-"),
    row("list-notifications", Group::Notifications, "a-"),
    row("dismiss-notification", Group::Notifications, "amh-"),
    row("dismiss-all-notifications", Group::Notifications, "amh-"),
    row("notification-action", Group::Notifications, "amh-"),
    row("clipboard-get", Group::Clipboard, "p"),
    row("clipboard-set", Group::Clipboard, "pm"),
    row("clipboard-clear", Group::Clipboard, "pm"),
    row("wait", Group::Wait, "a"),
    row("watch", Group::Wait, "a"),
    row("session", Group::Sessions, ""),
    row("trace", Group::Sessions, ""),
    row("cursor-overlay", Group::Sessions, "p"),
    row("status", Group::System, "p"),
    row("permissions", Group::System, "p"),
    row("version", Group::System, ""),
    row("batch", Group::System, "m"),
    row("skills", Group::System, ""),
    row("desktop", Group::System, "m"),
];

/// The row of a command that is in the enum.
pub fn spec(name: &str) -> &'static Spec {
    TABLE.iter().find(|row| row.name == name).unwrap_or(&TABLE[0])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::NAMES;

    #[test]
    fn table_and_enum_name_the_same_commands() {
        let rows: Vec<&str> = TABLE.iter().map(|row| row.name).collect();
        assert_eq!(rows, NAMES);
        assert_eq!(NAMES.len(), 60 + 3, "the contract's 60, desktop, table and watch");
    }

    #[test]
    fn eighteen_ref_commands_snapshot_press_and_launch_wait() {
        assert_eq!(TABLE.iter().filter(|row| row.waits).count(), 16 + 2 + 3);
    }
}
