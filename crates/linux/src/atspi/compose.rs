//! From replies to core's facts: one function for tree nodes and for probes, so that the two can be compared.

use super::capability::{self, Verb};
use super::interface::Interfaces;
use super::native::{Label, Native};
use super::role::{self, native as n};
use super::state::Native as States;
use super::toolkit::Toolkit;
use super::visibility::{Above, Seen, sentinel};
use super::wants::{self, blank, is_field, is_gauge, known_secure};
use agent_desktop_core::evidence::{Cause, Evidence};
use agent_desktop_core::geometry::Rect;
use agent_desktop_core::tree::raw::{Facts, NameSlots};
use agent_desktop_core::vocab::capability::CapabilitySet;
use agent_desktop_core::vocab::native_id::{NativeId, NativeIdKind};
use agent_desktop_core::vocab::role::Role;
use agent_desktop_core::vocab::state::{State, StateSet};

/// Where an element stands, besides its own replies.
#[derive(Clone, Debug)]
pub struct Place {
    /// Toolkit of its application.
    pub toolkit: Toolkit,
    /// What its ancestors say.
    pub above: Above,
    /// Whether it stands right below the application: it is a window then.
    pub top: bool,
    /// Where the window's content begins on the screen, for toolkits whose extents begin there.
    pub origin: Evidence<(f64, f64)>,
    /// Whether bounds are wanted.
    pub bounds: bool,
}

/// The marker of an embedded object in a text (FINDINGS §4b).
const EMBEDDED: char = '\u{fffc}';

/// The role, with everything that tells it apart.
pub fn role_of(native: &Native, toolkit: Toolkit) -> Evidence<Role> {
    // Where the role's name tells more and wasn't read, the number alone would tell another role.
    if let Evidence::Unknown(cause @ (Cause::Late | Cause::NotRead)) = &native.role_name {
        return Evidence::Unknown(cause.clone());
    }
    native.role.as_ref().map(|number| {
        let web_role = if toolkit.web() { native.attribute("xml-roles").into_known() } else { None };
        match native.role_name.known().map(String::as_str) {
            Some("switch") => Role::Switch,
            Some("button menu" | "menu button") => Role::MenuButton,
            _ => role::map(*number, native.states_or_none(), web_role.as_deref()),
        }
    })
}

/// Whether the element is a secure field. In doubt it is (decisions D8).
pub fn is_secure(native: &Native, toolkit: Toolkit) -> bool {
    if known_secure(native, toolkit) {
        return true;
    }
    if !is_field(native, toolkit) {
        return false;
    }
    let page_says = native.attribute("text-input-type").into_known().is_some_and(|t| t == "password");
    let page_is_silent = toolkit.web() && !native.attributes.settled();
    let echoes_nothing = toolkit.hides_secret_text()
        && native.characters.known().is_some_and(|c| *c > 0)
        && native.text.known().is_some_and(String::is_empty);
    page_says || page_is_silent || echoes_nothing
}

/// Roles named by their content, as opposed to by their author.
fn named_by_content(role: Role) -> bool {
    use Role::*;
    takes_child_label(role)
        || matches!(
            role,
            Row | Heading
                | Window
                | Dialog
                | AlertDialog
                | Alert
                | Application
                | WebArea
                | Document
                | Tooltip
                | Menu
                | DockItem
                | Disclosure
                | Image
                | Term
                | Definition
                | Paragraph
                | Status
        )
}

/// Roles whose label may be a node inside them.
pub fn takes_child_label(role: Role) -> bool {
    use Role::*;
    matches!(
        role,
        Button
            | MenuButton
            | MenuItem
            | Tab
            | Option
            | LayoutItem
            | Cell
            | CheckBox
            | RadioButton
            | Switch
            | Link
            | TreeItem
    )
}

/// Whether labels inside the element have a say in its name.
pub fn wants_child_labels(native: &Native, toolkit: Toolkit) -> bool {
    let role = role_of(native, toolkit).into_known().unwrap_or(Role::Unknown);
    let number = native.role_number().unwrap_or(n::INVALID);
    takes_child_label(role)
        && (blank(native, toolkit)
            || toolkit.name_is_generic(number)
            || native.name.known().is_some_and(|name| toolkit.doubles_names() && halves(name).is_some()))
}

/// The half of a name that says everything twice.
fn halves(name: &str) -> Option<&str> {
    let middle = name.len() / 2;
    let (first, second) = (name.get(..middle)?, name.get(middle..)?.strip_prefix(' ')?);
    (name.len() % 2 == 1 && first == second).then_some(first)
}

fn joined(labels: &Evidence<Vec<Label>>) -> Evidence<String> {
    let Evidence::Known(labels) = labels else {
        return labels.as_ref().map(|_| String::new());
    };
    let mut parts = Vec::new();
    for label in labels {
        match &label.text {
            Evidence::Known(text) if !text.trim().is_empty() => parts.push(text.trim()),
            Evidence::Unknown(c) => return Evidence::Unknown(c.clone()),
            _ => {}
        }
    }
    if parts.is_empty() { Evidence::Absent } else { Evidence::Known(parts.join(" ")) }
}

fn without_objects(text: &Evidence<String>, toolkit: Toolkit) -> Evidence<String> {
    let text = text.clone().map(|t| without_padding(t, toolkit));
    text.map(|t| t.replace(EMBEDDED, " ").split_whitespace().collect::<Vec<_>>().join(" ")).blank_as_absent()
}

/// The text by which a label speaks for others.
pub fn label_text(native: &Native, toolkit: Toolkit) -> Evidence<String> {
    let name = if blank(native, toolkit) { Evidence::Absent } else { native.name.clone() };
    match name {
        Evidence::Absent if matches!(native.text, Evidence::Absent) => Evidence::Absent,
        Evidence::Absent => without_objects(&native.text, toolkit),
        name => name,
    }
}

/// All facts about one element.
pub fn compose(native: &Native, place: &Place) -> Facts {
    let toolkit = place.toolkit;
    let number = native.role_number().unwrap_or(n::INVALID);
    let role = role_of(native, toolkit).map(|role| match role {
        Role::Group if place.top => Role::Window,
        Role::Window if !place.top && toolkit.frames_are_widgets() => Role::Group,
        role => role,
    });
    let known_role = role.known().copied().unwrap_or(Role::Unknown);
    let secure = is_secure(native, toolkit);
    let mut sources = Vec::new();
    let names = names(native, place, known_role, secure, &mut sources);
    let item = role::is_item(number);
    Facts {
        native_role: native_role(native).into(),
        value: value(native, toolkit, known_role, secure),
        states: states(native, place, known_role, secure),
        capabilities: capabilities(native, toolkit, known_role),
        native_id: native_id(native),
        bounds: bounds(native, place),
        own_text: own_text(native, toolkit, number, secure),
        cell: native.cell.clone(),
        secure,
        item,
        grade: place.above.grade(number, toolkit),
        untold: untold(native, place, known_role),
        in_page: false,
        page_signs: Vec::new(),
        web_wrapper: place.above.in_web && is_wrapper(native, known_role, number),
        plan: wants::plan(&wants::wanted(native, toolkit, place.above, false)),
        names,
        role,
        label_sources: sources,
    }
}

fn native_role(native: &Native) -> String {
    match (native.role_name.known(), native.role_number()) {
        (Some(name), _) => name.clone(),
        (None, Some(number)) => {
            role::name(number).map_or_else(|| number.to_string(), |name| name.to_ascii_lowercase().replace('_', " "))
        }
        (None, None) => String::new(),
    }
}

fn names(
    native: &Native,
    place: &Place,
    role: Role,
    secure: bool,
    sources: &mut Vec<agent_desktop_core::tree::raw::Handle>,
) -> NameSlots {
    let toolkit = place.toolkit;
    let number = native.role_number().unwrap_or(n::INVALID);
    let mut slots = NameSlots::default();
    let blank = blank(native, toolkit);
    let mut title = if blank { Evidence::Absent } else { native.name.clone() };
    let child = joined(&native.child_labels);
    if let (Evidence::Known(name), Evidence::Known(labels)) = (&title, &native.child_labels) {
        // "7 7": the toolkit put the label's text beside itself (decisions D10).
        let half = halves(name).filter(|h| labels.iter().any(|l| l.text.known().is_some_and(|t| t.trim() == *h)));
        if let Some(half) = half {
            title = Evidence::Known(half.to_owned());
            sources.extend(labels.iter().map(|l| l.object.handle()));
        }
    }
    let generic = toolkit.name_is_generic(number);
    if generic && !matches!(child, Evidence::Absent) {
        title = Evidence::Absent;
    }
    let combo_value = number == n::COMBO_BOX && toolkit.combo_name_is_value();
    let placeholder_name = native.attribute("name-from").into_known().is_some_and(|from| from == "placeholder");
    if combo_value {
        // What it shows is its value, not its name.
        title = Evidence::Absent;
    }
    if placeholder_name {
        slots.placeholder = std::mem::replace(&mut title, Evidence::Absent);
    } else if is_field(native, toolkit) || role == Role::TextField {
        slots.placeholder = first_known(native.attribute("placeholder-text"), || native.attribute("placeholder"));
    }
    if role::is_label(number) {
        slots.static_value = match title {
            Evidence::Absent => without_objects(&native.text, toolkit),
            title => title,
        };
    } else if named_by_content(role) {
        slots.native_title = title;
        if blank && toolkit.text_is_in_elements() && !is_field(native, toolkit) && !secure {
            slots.static_value = without_objects(&native.text, toolkit);
        }
    } else {
        if blank && toolkit.text_is_in_elements() && !is_field(native, toolkit) && !secure {
            slots.static_value = without_objects(&native.text, toolkit);
        }
        slots.explicit_label = title;
    }
    let nameless = matches!(slots.native_title, Evidence::Absent) && matches!(slots.explicit_label, Evidence::Absent);
    if nameless {
        slots.labelled_by_text = joined(&native.labelled_by);
        if let Evidence::Known(labels) = &native.labelled_by {
            sources.extend(labels.iter().map(|l| l.object.handle()));
        }
        if takes_child_label(role) {
            slots.child_label = child;
            if let Evidence::Known(labels) = &native.child_labels {
                sources.extend(labels.iter().map(|l| l.object.handle()));
            }
        }
    }
    slots.description = native.description.clone().map(|d| shown_text(d, toolkit)).blank_as_absent();
    sources.dedup();
    slots
}

/// A text as it is shown, without the markup that some toolkits leave in it.
fn shown_text(text: String, toolkit: Toolkit) -> String {
    if toolkit.descriptions_may_be_rich() { super::rich_text::plain(&text).unwrap_or(text) } else { text }
}

fn first_known(first: Evidence<String>, second: impl FnOnce() -> Evidence<String>) -> Evidence<String> {
    if matches!(first, Evidence::Absent) { second() } else { first }
}

fn value(native: &Native, toolkit: Toolkit, role: Role, secure: bool) -> Evidence<String> {
    let number = native.role_number().unwrap_or(n::INVALID);
    if secure {
        return Evidence::Absent;
    }
    if number == n::COMBO_BOX {
        let named = || match toolkit.combo_name_is_value() {
            true => native.name.clone().blank_as_absent(),
            false => Evidence::Absent,
        };
        let chosen = first_known(native.selected.clone(), named);
        return first_known(chosen, || native.text.clone().blank_as_absent());
    }
    if is_gauge(number) || role == Role::Incrementor {
        // What a spin button shows is its text; a slider has a number alone.
        return match &native.text {
            Evidence::Known(text) if !text.is_empty() => Evidence::Known(text.clone()),
            Evidence::Unknown(c) if is_field(native, toolkit) => Evidence::Unknown(c.clone()),
            _ => native.number.clone().map(number_text),
        };
    }
    if is_field(native, toolkit) { native.text.clone().map(|t| without_padding(t, toolkit)) } else { Evidence::Absent }
}

/// The text without what Gecko pads it with: behind each character that UTF-16 writes in two units it puts a U+FEFF, so
/// that its offsets fit. (A page's own "a😀b" reads "a😀\u{feff}b".)
fn without_padding(text: String, toolkit: Toolkit) -> String {
    const PADDING: char = '\u{feff}';
    if !toolkit.pads_wide_characters() || !text.contains(PADDING) {
        return text;
    }
    let mut wide = false;
    text.chars().filter(|c| !(std::mem::replace(&mut wide, *c > '\u{ffff}') && *c == PADDING)).collect()
}

/// A number without the noise of single precision: at most six digits after the point, no trailing zeros.
fn number_text(v: f64) -> String {
    let text = format!("{v:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

fn states(native: &Native, place: &Place, role: Role, secure: bool) -> Evidence<StateSet> {
    native.states.as_ref().map(|s| {
        let number = native.role_number().unwrap_or(n::INVALID);
        let toolkit = place.toolkit;
        let mut set = StateSet::EMPTY;
        let mut when = |yes: bool, state: State| {
            if yes {
                set.insert(state);
            }
        };
        when(s.has(States::FOCUSED), State::Focused);
        // Sensitive and enabled agree but for a check box that is neither on nor off (seen in GTK 3) and GTK 4,
        // which has `sensitive` alone: only the lack of both says disabled.
        let operable = s.has(States::SENSITIVE | States::ENABLED) || (s.is_empty() && !toolkit.silence_is_disabled());
        let page = matches!(role, Role::WebArea | Role::Document | Role::Application | Role::Window);
        when((!operable || place.above.disabled) && !page, State::Disabled);
        when(secure, State::Secure);
        when(s.has(States::EXPANDED), State::Expanded);
        // A toggle button says PRESSED in GTK 4 and on pages; `pressed` is for push buttons (spec 5).
        let toggle = number == n::TOGGLE_BUTTON
            || (number == n::PUSH_BUTTON && s.has(States::CHECKABLE))
            || toolkit.pressed_is_checked();
        when(s.has(States::CHECKED) || (toggle && s.has(States::PRESSED)), State::Checked);
        when(s.has(States::PRESSED) && !toggle, State::Pressed);
        when(s.has(States::SELECTED), State::Selected);
        let seen = place.above.seen(number, *s, &native.extents, toolkit);
        when(seen == Seen::Hidden, State::Hidden);
        when(seen == Seen::Offscreen, State::Offscreen);
        when(s.has(States::BUSY), State::Busy);
        when(s.has(States::MODAL), State::Modal);
        when(s.has(States::REQUIRED), State::Required);
        when(s.has(States::INDETERMINATE), State::Indeterminate);
        let field =
            matches!(role, Role::TextField | Role::Incrementor) && native.interfaces_or_none().has(Interfaces::TEXT);
        let reports_editable = field && role == Role::TextField;
        when(field && (s.has(States::READ_ONLY) || (reports_editable && !s.has(States::EDITABLE))), State::Readonly);
        when(s.has(States::INVALID_ENTRY), State::Invalid);
        when(s.has(States::MULTISELECTABLE), State::Multiselectable);
        when(s.has(States::HAS_POPUP), State::HasPopup);
        set
    })
}

/// States whose absence says nothing (FINDINGS §5 "tab": Qt's tabs report neither that they can be chosen nor that they
/// are).
fn untold(native: &Native, place: &Place, role: Role) -> StateSet {
    use Role::*;
    let Some(states) = native.states.known() else { return StateSet::EMPTY };
    let number = native.role_number().unwrap_or(n::INVALID);
    let mut out = StateSet::EMPTY;
    let asks = place.above.asks_extents(number, *states, place.toolkit);
    if asks && (place.above.unsure || matches!(native.extents, Evidence::Unknown(_))) {
        out.insert(State::Hidden);
    }
    let choice = matches!(role, Option | Tab | TreeItem | Cell | Row | MenuItem | RadioButton);
    if choice && !states.has(States::SELECTABLE) && !states.has(States::SELECTED) {
        out.insert(State::Selected);
    }
    out
}

fn capabilities(native: &Native, toolkit: Toolkit, role: Role) -> Evidence<CapabilitySet> {
    let (states, interfaces) = match (&native.states, &native.interfaces) {
        (Evidence::Known(s), Evidence::Known(i)) => (*s, *i),
        (Evidence::Unknown(c), _) | (_, Evidence::Unknown(c)) => return Evidence::Unknown(c.clone()),
        _ => return Evidence::Absent,
    };
    let actions: &[String] = match &native.actions {
        Evidence::Known(names) => names,
        Evidence::Absent => &[],
        Evidence::Unknown(c) => return Evidence::Unknown(c.clone()),
    };
    let number = native.role_number().unwrap_or(n::INVALID);
    Evidence::Known(capability::capabilities(role, number, states, interfaces, actions, toolkit))
}

fn native_id(native: &Native) -> Evidence<NativeId> {
    let of_page = match &native.attributes {
        // Only elements of a page have a tag; other ids are the browser's own.
        Evidence::Known(all) if all.contains_key("tag") => native.attribute("id"),
        Evidence::Unknown(c) => Evidence::Unknown(c.clone()),
        _ => Evidence::Absent,
    };
    match of_page {
        Evidence::Known(value) => Evidence::Known(NativeId { kind: NativeIdKind::AxDomIdentifier, value }),
        Evidence::Unknown(c) if matches!(native.id, Evidence::Absent) => Evidence::Unknown(c),
        _ => native.id.clone().map(|value| NativeId { kind: NativeIdKind::AxIdentifier, value }),
    }
}

fn bounds(native: &Native, place: &Place) -> Evidence<Rect> {
    if !place.bounds {
        return Evidence::Unknown(Cause::NotRead);
    }
    match &native.extents {
        // A sentinel is no place (case `sentinel-bounds`).
        Evidence::Known(e) if sentinel(*e) => Evidence::Absent,
        Evidence::Known((x, y, width, height)) => {
            let (x, y) = (f64::from(*x), f64::from(*y));
            let size = (f64::from(*width), f64::from(*height));
            let origin =
                if place.toolkit.extents_are_of_window() { place.origin.clone() } else { Evidence::Known((0.0, 0.0)) };
            origin.map(|(ox, oy)| Rect { x: x + ox, y: y + oy, width: size.0, height: size.1 })
        }
        Evidence::Absent => Evidence::Absent,
        Evidence::Unknown(c) => Evidence::Unknown(c.clone()),
    }
}

fn own_text(native: &Native, toolkit: Toolkit, number: u32, secure: bool) -> Evidence<String> {
    if secure || is_field(native, toolkit) {
        return Evidence::Absent;
    }
    if role::is_item(number) && toolkit.text_is_in_elements() && !matches!(native.text, Evidence::Absent) {
        return without_objects(&native.text, toolkit);
    }
    let tells = role::is_label(number) || matches!(number, n::HEADING | n::PARAGRAPH) || role::is_item(number);
    if tells { label_text(native, toolkit).blank_as_absent() } else { Evidence::Absent }
}

/// An anonymous wrapper of web content (spec 1 §2): name, value, id and actions all empty.
fn is_wrapper(native: &Native, role: Role, number: u32) -> bool {
    let acts = native.actions.known().is_some_and(|names| {
        names.iter().any(|a| !matches!(capability::verb(a), None | Some(Verb::Default | Verb::ContextMenu)))
    });
    role == Role::Group
        && matches!(number, n::SECTION | n::PANEL | n::FILLER | n::GROUPING)
        && native.name.known().is_some_and(|name| name.trim().is_empty())
        && native.actions.settled()
        && !acts
        && !native.states_or_none().has(States::EDITABLE | States::FOCUSABLE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn geckos_padding_goes_and_other_marks_stay() {
        let plain = |t: &str, toolkit| without_padding(t.to_owned(), toolkit);
        assert_eq!(plain("a😀\u{feff}b世\u{feff}", Toolkit::Gecko), "a😀b世\u{feff}");
        assert_eq!(plain("😀\u{feff}", Toolkit::Gtk3), "😀\u{feff}");
    }
}
