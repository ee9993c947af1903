//! `--format text`: the same facts as an indented outline (decisions D6, D8).
//!
//! A header line, then one element a line, two spaces of indentation a level:
//!
//! ```text
//! snapshot s8f3k2p9 | app "gedit" | window "Notes" | id "w-1.11" | 2 refs | complete
//! window "Notes"
//!   textfield "Body" = "first\nsecond" [focused] @s8f3k2p9:e1
//!   list "Files" (120 children, truncated)
//!     option "notes.txt" {Click,Expand} @s8f3k2p9:e2
//! ```
//!
//! In an element's line stand, in this order and each only where there is one: role, `"name"`, `= "value"`,
//! `~ "description"`, `#"native id"`, hint, `?` and what could not be read, `[states]`, `{actions}`,
//! `<x,y widthxheight>`, `(children)`, and the ref last.
//! Actions are left out where they are what the role promises ([`usual_actions`]); an interactive element that offers
//! nothing shows `{}`. `SetFocus` and `ScrollTo` are not worth a token.
//!
//! Text of applications stands between quotes only and is escaped, so that it can forge neither a ref nor a line.

use super::json::{folded_roles, hint_text, numbers, qualified};
use super::name::{description_of, name_of, shown_role, value_of};
use super::present::{Earns, Presented, Shown, capabilities_of, native_id_of, states_of, unread};
use super::raw::{Facts, RawTree};
use crate::refs::entry::OtherWindow;
use crate::vocab::capability::{Capability, CapabilitySet};
use crate::vocab::role::Role;
use std::fmt::Write as _;

/// How refs are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefStyle {
    /// `@s8f3k2p9:e1`: every line stands for itself.
    Qualified,
    /// `e1`, with the qualified form once in the header: fewer tokens, but a line alone names no snapshot.
    Local,
}

/// What the header says.
#[derive(Clone, Debug)]
pub struct Header<'a> {
    /// Name of the application.
    pub app: &'a str,
    /// Title of the window.
    pub window_title: &'a str,
    /// Id of the window.
    pub window_id: &'a str,
    /// The snapshot.
    pub snapshot_id: &'a str,
    /// Whether the tree is complete.
    pub complete: bool,
    /// Elements observed, for a tree that is not complete.
    pub nodes_observed: usize,
    /// How refs are written.
    pub refs: RefStyle,
    /// Whether what would prove some refs could not be read.
    pub unproven: bool,
    /// How many texts were cut to fit a token budget.
    pub clipped: usize,
    /// Windows of the application that are open beside this one.
    pub others: &'a [OtherWindow],
}

/// Whether a character could break a line, reorder it or hide in it.
fn escapes(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fffc}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Text between quotes. Quotes, backslashes, control characters, line separators, bidi controls, zero-width and other
/// invisible characters are escaped; everything else, emoji and all scripts, stands as it is.
pub fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if escapes(c) => {
                let _ = write!(out, "\\u{{{:x}}}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// The actions that a role promises: shown only where an element offers something else.
pub fn usual_actions(role: Role) -> CapabilitySet {
    use Role::*;
    let list: &[Capability] = match role {
        Button | Link | MenuItem | MenuButton | Tab | Option | DockItem => &[Capability::Click],
        CheckBox | Switch | RadioButton => &[Capability::Click, Capability::Toggle],
        TextField => &[Capability::SetValue, Capability::TypeText],
        Slider | Incrementor => &[Capability::SetValue],
        _ => &[],
    };
    list.iter().copied().collect()
}

/// ` {actions}`, where they are others than the role promises.
pub(crate) fn push_actions(line: &mut String, facts: &Facts) {
    let role = shown_role(facts);
    let mut actions = capabilities_of(facts);
    actions.remove(Capability::SetFocus);
    actions.remove(Capability::ScrollTo);
    if actions == usual_actions(role) || (actions.is_empty() && !role.interactive()) {
        return;
    }
    let tokens: Vec<&str> = actions.iter().map(Capability::token).collect();
    let _ = write!(line, " {{{}}}", tokens.join(","));
}

/// Role, texts and states: what a line of a tree and a line of a result have in common.
pub(crate) fn push_element(line: &mut String, facts: &Facts) {
    line.push_str(shown_role(facts).token());
    if let Some(name) = name_of(facts).into_known() {
        let _ = write!(line, " {}", quoted(&name.text));
    }
    if let Some(value) = value_of(facts).into_known() {
        let _ = write!(line, " = {}", quoted(value));
    }
}

/// `~ "description"` and `#"native id"`, where there are any.
pub(crate) fn push_more(line: &mut String, facts: &Facts) {
    if let Some(description) = description_of(facts).into_known() {
        let _ = write!(line, " ~ {}", quoted(&description));
    }
    if let Some(id) = native_id_of(facts).into_known() {
        let _ = write!(line, " #{}", quoted(&id.value));
    }
}

/// `?unread` and `[states]`, where there are any.
pub(crate) fn push_states(line: &mut String, facts: &Facts) {
    let unread = unread(facts);
    if !unread.is_empty() {
        let _ = write!(line, " ?{}", unread.join(","));
    }
    if let Some(states) = states_of(facts).into_known().filter(|s| !s.is_empty()) {
        let tokens: Vec<&str> = states.iter().map(|s| s.token()).collect();
        let _ = write!(line, " [{}]", tokens.join(","));
    }
}

/// ` @s…:eN` or ` eN`.
pub(crate) fn push_ref(line: &mut String, number: u32, snapshot_id: &str, style: RefStyle) {
    let _ = match style {
        RefStyle::Qualified => write!(line, " {}", qualified(snapshot_id, number)),
        RefStyle::Local => write!(line, " e{number}"),
    };
}

/// What a line of a tree says of its element, without indentation and ref.
pub(crate) fn push_line(out: &mut String, facts: &Facts, shown: &Shown, bounds: bool) {
    push_element(out, facts);
    push_more(out, facts);
    if let Some(hint) = hint_text(shown) {
        let _ = write!(out, " {hint}");
    }
    push_states(out, facts);
    if shown.earns != Earns::Anchor {
        push_actions(out, facts);
    }
    if let Some(b) = facts.bounds.known().filter(|_| bounds) {
        let _ = write!(out, " <{},{} {}x{}>", b.x, b.y, b.width, b.height);
    }
    if !shown.folded.is_empty() {
        let (count, by_role) = folded_roles(shown);
        let roles: Vec<String> = by_role.iter().map(|(role, n)| format!("{n} {role}")).collect();
        let _ = write!(out, " ({count} folded: {})", roles.join(", "));
        return;
    }
    match (shown.children_count, shown.subtree_truncated) {
        (Some(n), true) => {
            let why = if shown.closed { "folded" } else { "truncated" };
            let _ = write!(out, " ({n} children, {why})");
        }
        (Some(n), false) => {
            let _ = write!(out, " ({n} children)");
        }
        (None, true) => out.push_str(if shown.closed { " (folded)" } else { " (truncated)" }),
        (None, false) => {}
    }
}

/// The first line of a snapshot.
fn header_line(header: &Header<'_>, presented: &Presented, refs: usize, kind: Option<&str>) -> String {
    let mut line = format!(
        "snapshot {} | app {} | window {} | id {} | {refs} refs",
        header.snapshot_id,
        quoted(header.app),
        quoted(header.window_title),
        quoted(header.window_id),
    );
    if header.refs == RefStyle::Local {
        let _ = write!(line, " as @{}:eN", header.snapshot_id);
    }
    if header.complete {
        line.push_str(" | complete");
    } else {
        let _ = write!(line, " | truncated after {} elements", header.nodes_observed);
    }
    if presented.clamped > 0 {
        let _ = write!(line, " | {} cut by depth", presented.clamped);
    }
    if presented.closed > 0 {
        let _ = write!(line, " | {} folded", presented.closed);
    }
    if presented.folded > 0 {
        let _ = write!(line, " | {} left out by budget", presented.folded);
    }
    if let Some(kind) = kind {
        let _ = write!(line, " | {kind}");
    }
    if header.clipped > 0 {
        let _ = write!(line, " | {} texts clipped", header.clipped);
    }
    if header.unproven {
        line.push_str(" | identity_unproven");
    }
    for (at, other) in header.others.iter().enumerate() {
        let before = if at == 0 { " | also open:" } else { "," };
        let _ = write!(line, "{before} {} {}", quoted(&other.title), other.id);
    }
    line
}

/// The outline of a presented tree: the header, one line an element, a line break at the end of each.
pub fn to_text(tree: &RawTree, presented: &Presented, refs: &[(u32, u32)], header: &Header<'_>) -> String {
    let numbers = numbers(presented, refs);
    let mut out = header_line(header, presented, numbers.iter().flatten().count(), tree.kind);
    out.push('\n');
    for (shown, number) in presented.nodes.iter().zip(numbers) {
        out.extend(std::iter::repeat_n("  ", shown.level as usize));
        push_line(&mut out, &tree.node(shown.raw).facts, shown, presented.bounds);
        if let Some(number) = number {
            push_ref(&mut out, number, header.snapshot_id, header.refs);
        }
        out.push('\n');
    }
    out
}
