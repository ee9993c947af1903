//! Role, state, relation and interface names with their AT-SPI numbers (at-spi2-core 2.46, later names appended).

/// Role names by number: the AT-SPI constant in lower case with blanks.
const ROLES: &[&str] = &[
    "invalid",
    "accelerator label",
    "alert",
    "animation",
    "arrow",
    "calendar",
    "canvas",
    "check box",
    "check menu item",
    "color chooser",
    "column header",
    "combo box",
    "date editor",
    "desktop icon",
    "desktop frame",
    "dial",
    "dialog",
    "directory pane",
    "drawing area",
    "file chooser",
    "filler",
    "focus traversable",
    "font chooser",
    "frame",
    "glass pane",
    "html container",
    "icon",
    "image",
    "internal frame",
    "label",
    "layered pane",
    "list",
    "list item",
    "menu",
    "menu bar",
    "menu item",
    "option pane",
    "page tab",
    "page tab list",
    "panel",
    "password text",
    "popup menu",
    "progress bar",
    "push button",
    "radio button",
    "radio menu item",
    "root pane",
    "row header",
    "scroll bar",
    "scroll pane",
    "separator",
    "slider",
    "spin button",
    "split pane",
    "status bar",
    "table",
    "table cell",
    "table column header",
    "table row header",
    "tearoff menu item",
    "terminal",
    "text",
    "toggle button",
    "tool bar",
    "tool tip",
    "tree",
    "tree table",
    "unknown",
    "viewport",
    "window",
    "extended",
    "header",
    "footer",
    "paragraph",
    "ruler",
    "application",
    "autocomplete",
    "editbar",
    "embedded",
    "entry",
    "chart",
    "caption",
    "document frame",
    "heading",
    "page",
    "section",
    "redundant object",
    "form",
    "link",
    "input method window",
    "table row",
    "tree item",
    "document spreadsheet",
    "document presentation",
    "document text",
    "document web",
    "document email",
    "comment",
    "list box",
    "grouping",
    "image map",
    "notification",
    "info bar",
    "level bar",
    "title bar",
    "block quote",
    "audio",
    "video",
    "definition",
    "article",
    "landmark",
    "log",
    "marquee",
    "math",
    "rating",
    "timer",
    "static",
    "math fraction",
    "math root",
    "subscript",
    "superscript",
    "description list",
    "description term",
    "description value",
    "footnote",
    "content deletion",
    "content insertion",
    "mark",
    "suggestion",
    "push button menu",
];

/// State names by bit number: the AT-SPI constant in lower case with underscores.
const STATES: &[&str] = &[
    "invalid",
    "active",
    "armed",
    "busy",
    "checked",
    "collapsed",
    "defunct",
    "editable",
    "enabled",
    "expandable",
    "expanded",
    "focusable",
    "focused",
    "has_tooltip",
    "horizontal",
    "iconified",
    "modal",
    "multi_line",
    "multiselectable",
    "opaque",
    "pressed",
    "resizable",
    "selectable",
    "selected",
    "sensitive",
    "showing",
    "single_line",
    "stale",
    "transient",
    "vertical",
    "visible",
    "manages_descendants",
    "indeterminate",
    "required",
    "truncated",
    "animated",
    "invalid_entry",
    "supports_autocompletion",
    "selectable_text",
    "is_default",
    "visited",
    "checkable",
    "has_popup",
    "read_only",
];

/// Relation names by number.
const RELATIONS: &[&str] = &[
    "null",
    "label_for",
    "labelled_by",
    "controller_for",
    "controlled_by",
    "member_of",
    "tooltip_for",
    "node_child_of",
    "node_parent_of",
    "extended",
    "flows_to",
    "flows_from",
    "subwindow_of",
    "embeds",
    "embedded_by",
    "popup_for",
    "parent_window_of",
    "description_for",
    "described_by",
    "details",
    "details_for",
    "error_message",
    "error_for",
];

/// Short interface names that the scenario may use; the full name is `org.a11y.atspi.` + short name.
const INTERFACES: &[&str] = &[
    "Accessible",
    "Action",
    "Application",
    "Cache",
    "Collection",
    "Component",
    "Document",
    "EditableText",
    "Hyperlink",
    "Hypertext",
    "Image",
    "Selection",
    "Socket",
    "Table",
    "TableCell",
    "Text",
    "Value",
];

/// Number of a role name; also accepts the newer names `button` and `check box` written as one word.
pub fn role_number(name: &str) -> Option<u32> {
    let plain = name.to_ascii_lowercase().replace(['_', '-'], " ");
    let plain = match plain.as_str() {
        "button" => "push button",
        "checkbox" => "check box",
        other => other,
    };
    position(ROLES, plain)
}

/// Name of a role number, `unknown` where AT-SPI has none.
pub fn role_name(number: u32) -> &'static str {
    ROLES.get(number as usize).copied().unwrap_or("unknown")
}

/// Bit number of a state name.
pub fn state_bit(name: &str) -> Option<u32> {
    position(STATES, &name.to_ascii_lowercase().replace([' ', '-'], "_"))
}

/// Name of a state as events carry it (`has-tooltip` style uses a dash on the wire).
pub fn state_event_name(bit: u32) -> String {
    STATES.get(bit as usize).copied().unwrap_or("invalid").replace('_', "-")
}

/// Number of a relation name.
pub fn relation_number(name: &str) -> Option<u32> {
    position(RELATIONS, &name.to_ascii_lowercase().replace([' ', '-'], "_"))
}

/// Bit of a short interface name in a node's interface set.
pub fn interface_bit(short: &str) -> Option<u32> {
    position(INTERFACES, short)
}

/// Short names in an interface set.
pub fn interfaces_in(set: u32) -> impl Iterator<Item = &'static str> {
    INTERFACES.iter().enumerate().filter(move |(bit, _)| set & (1 << bit) != 0).map(|(_, name)| *name)
}

/// Full D-Bus interface name for a short one; full names pass through.
pub fn interface_full(name: &str) -> Option<String> {
    if name.contains('.') {
        return Some(name.to_owned());
    }
    if name == "Properties" || name == "Introspectable" || name == "Peer" {
        return Some(format!("org.freedesktop.DBus.{name}"));
    }
    INTERFACES.contains(&name).then(|| format!("org.a11y.atspi.{name}"))
}

fn position(table: &[&str], name: &str) -> Option<u32> {
    table.iter().position(|entry| !entry.is_empty() && *entry == name).map(|index| index as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_atspi() {
        assert_eq!(role_number("push button"), Some(43));
        assert_eq!(role_number("button"), Some(43));
        assert_eq!(role_number("application"), Some(75));
        assert_eq!(role_name(31), "list");
        assert_eq!(state_bit("showing"), Some(25));
        assert_eq!(state_bit("manages descendants"), Some(31));
        assert_eq!(relation_number("labelled-by"), Some(2));
        assert_eq!(role_number("no such role"), None);
    }

    #[test]
    fn interface_names() {
        assert_eq!(interface_full("Action").as_deref(), Some("org.a11y.atspi.Action"));
        assert_eq!(interface_full("Actoin"), None);
        assert_eq!(interface_full("x.y.Z").as_deref(), Some("x.y.Z"));
    }
}
