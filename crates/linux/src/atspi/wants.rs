//! The read plan of one element: what else is worth asking, by what is known of it (architecture: the read plan).

use super::interface::Interfaces;
use super::native::{Field, Native};
use super::role::{self, native as n};
use super::state::Native as States;
use super::toolkit::{CellSource, Toolkit};
use super::visibility::Above;
use agent_desktop_core::vocab::role::Role;

/// Whether the element's text is its content, to be edited or read as a value.
pub fn is_field(native: &Native, toolkit: Toolkit) -> bool {
    let Some(number) = native.role_number() else { return false };
    let states = native.states_or_none();
    let interfaces = native.interfaces_or_none();
    match number {
        n::TEXT | n::ENTRY | n::PASSWORD_TEXT | n::TERMINAL | n::AUTOCOMPLETE | n::EDITBAR | n::SPIN_BUTTON => true,
        // Paragraphs of a document are edited in place and carry no EDITABLE (seen in LibreOffice).
        n::PARAGRAPH if toolkit.paragraphs_are_fields() => interfaces.has(Interfaces::EDITABLE_TEXT),
        _ if role::is_label(number) => false,
        n::TABLE | n::DOCUMENT_SPREADSHEET | n::COMBO_BOX | n::FRAME => false,
        _ => states.has(States::EDITABLE) && interfaces.has(Interfaces::TEXT) && states.has(States::FOCUSABLE),
    }
}

/// Whether the element shows a number.
pub fn is_gauge(number: u32) -> bool {
    matches!(number, n::SLIDER | n::DIAL | n::SPIN_BUTTON | n::PROGRESS_BAR | n::LEVEL_BAR | n::SCROLL_BAR | n::RATING)
}

/// Whether secrecy is known before anything is read from the field.
pub fn known_secure(native: &Native, toolkit: Toolkit) -> bool {
    native.role_number() == Some(n::PASSWORD_TEXT) || native.name.known().is_some_and(|name| toolkit.secure_type(name))
}

/// Whether a page's own role may say more than AT-SPI's.
fn page_may_say_more(number: u32) -> bool {
    matches!(
        number,
        n::LANDMARK
            | n::DIALOG
            | n::ALERT
            | n::TOGGLE_BUTTON
            | n::CHECK_BOX
            | n::GROUPING
            | n::SCROLL_PANE
            | n::LIST_BOX
            | n::LIST
            | n::TABLE
            | n::STATUS_BAR
            | n::COMMENT
    )
}

/// Whether the element may carry text that no other node carries.
fn may_carry_text(number: u32) -> bool {
    matches!(
        number,
        n::PARAGRAPH
            | n::HEADING
            | n::SECTION
            | n::STATIC
            | n::LABEL
            | n::BLOCK_QUOTE
            | n::CAPTION
            | n::LIST_ITEM
            | n::TABLE_CELL
            | n::DESCRIPTION_TERM
            | n::DESCRIPTION_VALUE
            | n::COMMENT
            | n::TEXT
            | n::LINK
    )
}

/// Whether an element without a name may be labelled by another one.
fn may_be_labelled(role: Role) -> bool {
    (role.interactive() && !matches!(role, Role::Option | Role::MenuItem | Role::Cell | Role::TreeItem))
        || matches!(
            role,
            Role::ProgressBar | Role::LevelIndicator | Role::List | Role::Table | Role::Outline | Role::Dialog
        )
}

/// The second flight of one element. The same for a tree's nodes and for a probe.
pub fn wanted(native: &Native, toolkit: Toolkit, above: Above, bounds: bool) -> Vec<Field> {
    let Some(number) = native.role_number() else { return Vec::new() };
    let (states, interfaces) = (native.states_or_none(), native.interfaces_or_none());
    let role = role::map(number, states, None);
    let field = is_field(native, toolkit);
    let blank = blank(native, toolkit);
    let mut out = Vec::new();
    let asks = interfaces.has(Interfaces::ACTION) && toolkit.asks_actions(number);
    if asks {
        out.push(if toolkit.lists_actions() {
            Field::Actions
        } else if toolkit.second_action().is_some() {
            Field::ActionName(0)
        } else {
            Field::ActionCount
        });
    }
    if toolkit.role_name_tells(number, states) {
        out.push(Field::RoleName);
    }
    let candidate = role.interactive() || field || (asks && states.has(States::FOCUSABLE));
    if candidate && !toolkit.web() && native.has_ids {
        out.push(Field::Id);
    }
    if (toolkit.web() && (candidate || page_may_say_more(number))) || (field && !toolkit.web()) {
        out.push(Field::Attributes);
    }
    let carries = may_carry_text(number)
        && ((toolkit.text_is_in_elements() && (blank || role::is_item(number))) || (blank && role::is_label(number)));
    if interfaces.has(Interfaces::TEXT) && (field || carries) && !known_secure(native, toolkit) {
        out.push(Field::Characters);
    }
    if interfaces.has(Interfaces::VALUE) && is_gauge(number) {
        out.push(Field::Number);
    }
    if (blank || (number == n::COMBO_BOX && toolkit.combo_name_is_value())) && may_be_labelled(role) {
        out.push(Field::Relations);
    }
    if number == n::TABLE_CELL
        && toolkit.flat_tables()
        && toolkit.cell_source() == CellSource::Cell
        && interfaces.has(Interfaces::TABLE_CELL)
    {
        out.push(Field::Cell);
    }
    if number == n::COMBO_BOX && toolkit.combo_name_may_be_an_id() && interfaces.has(Interfaces::SELECTION) {
        out.push(Field::Chosen);
    }
    if bounds || above.asks_extents(number, states, toolkit) {
        out.push(Field::Extents);
    }
    out
}

/// The fields of the second flight, in the order of their bits in a plan that is kept with a ref.
const PLANNED: [Field; 12] = [
    Field::RoleName,
    Field::ActionCount,
    Field::Id,
    Field::Attributes,
    Field::Characters,
    Field::Number,
    Field::Relations,
    Field::Extents,
    Field::Cell,
    Field::Actions,
    Field::ActionName(0),
    Field::Chosen,
];

/// The plan that stands for these fields.
pub fn plan(fields: &[Field]) -> u32 {
    let bits = PLANNED.iter().enumerate().filter(|(_, f)| fields.contains(f));
    bits.fold(0, |plan, (bit, _)| plan | 1 << bit)
}

/// The fields of a plan.
pub fn planned(plan: u32) -> impl Iterator<Item = Field> {
    PLANNED.into_iter().enumerate().filter(move |(bit, _)| plan & (1 << bit) != 0).map(|(_, field)| field)
}

/// Whether the element has no name that says anything.
pub fn blank(native: &Native, toolkit: Toolkit) -> bool {
    let number = native.role_number().unwrap_or(n::INVALID);
    native.name.known().is_some_and(|name| name.trim().is_empty() || toolkit.blank_name(number, name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_desktop_core::evidence::Evidence;

    fn native(number: u32, states: u64, interfaces: Interfaces, name: &str) -> Native {
        Native {
            role: Evidence::Known(number),
            states: Evidence::Known(States(states)),
            interfaces: Evidence::Known(interfaces),
            name: Evidence::Known(name.to_owned()),
            ..Native::default()
        }
    }

    fn fields(native: &Native, toolkit: Toolkit) -> Vec<Field> {
        wanted(native, toolkit, Above::default(), false)
    }

    const SEEN: u64 = States::VISIBLE | States::SHOWING;

    #[test]
    fn text_of_a_secure_field_is_never_asked_for() {
        let i = Interfaces::TEXT | Interfaces::EDITABLE_TEXT;
        let entry = native(n::TEXT, SEEN | States::EDITABLE, i, "GtkPasswordEntry");
        assert!(!fields(&entry, Toolkit::Gtk4).contains(&Field::Characters));
        assert!(!fields(&native(n::PASSWORD_TEXT, SEEN, i, ""), Toolkit::Chromium).contains(&Field::Characters));
        assert!(fields(&native(n::TEXT, SEEN, i, ""), Toolkit::Qt5).contains(&Field::Characters));
    }

    #[test]
    fn plain_containers_cost_nothing_more() {
        assert!(fields(&native(n::PANEL, SEEN, Interfaces::COMPONENT, ""), Toolkit::Gtk3).is_empty());
        assert!(
            fields(&native(n::STATIC, SEEN, Interfaces::ACTION | Interfaces::TEXT, "x"), Toolkit::Chromium).is_empty()
        );
    }

    #[test]
    fn gecko_items_carry_their_own_text() {
        let item = native(n::LIST_ITEM, SEEN, Interfaces::TEXT, "• Alice Delete");
        assert!(fields(&item, Toolkit::Gecko).contains(&Field::Characters));
        assert!(!fields(&item, Toolkit::Gtk3).contains(&Field::Characters));
    }
}
