//! Ways of doing an action, best first, by toolkit and role. One table; each line cites what was measured: FINDINGS of
//! the probes, or `docs/linux-actions.md`. Pure.

use super::offer::Offer;
use super::plan::{Guard, Plan};
use crate::atspi::capability::{Verb, checkable};
use crate::atspi::interface::Interfaces;
use crate::atspi::role::native as n;
use crate::atspi::state::Native as States;
use crate::atspi::toolkit::Toolkit::{self, *};
use agent_desktop_core::error::{Code, Error};
use agent_desktop_core::platform::Action;

/// How long effects may take to show, in milliseconds (decisions D5). GTK 4 shows a button pressed for a quarter of a
/// second before it acts (docs/linux-actions.md "Delays").
pub fn window_ms(toolkit: Toolkit) -> u64 {
    match toolkit {
        Gecko | Chromium => 500,
        Gtk4 => 400,
        _ => 100,
    }
}

/// For how long a button that was pressed swallows another press, in milliseconds: it is shown pressed first and acts
/// then. GTK 4 takes a quarter of a second, Qt a tenth (`animateClick`); a second press in that time answers yes and does
/// nothing.
pub fn press_ms(toolkit: Toolkit, action: &str) -> u64 {
    match toolkit {
        Gtk4 if action == "click" => 280,
        Qt5 | Qt6 if action == "Press" => 120,
        _ => 0,
    }
}

/// What the length of `InsertText` counts. A wrong unit cuts text in atk-bridge's toolkits and reads foreign memory in
/// Qt (docs/linux-actions.md "Lies").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes of UTF-8.
    Bytes,
    /// Units of UTF-16.
    Utf16,
}

/// The unit of lengths by toolkit.
pub fn insert_unit(toolkit: Toolkit) -> Unit {
    match toolkit {
        Qt5 | Qt6 => Unit::Utf16,
        _ => Unit::Bytes,
    }
}

/// How many positions of the caret a text takes.
pub fn caret_width(toolkit: Toolkit, text: &str) -> usize {
    match toolkit {
        Qt5 | Qt6 | Java => text.encode_utf16().count(),
        _ => text.chars().count(),
    }
}

/// Whether the caret stays before text that was inserted at it (docs/linux-actions.md "type").
pub fn caret_stays_behind(toolkit: Toolkit) -> bool {
    matches!(toolkit, Gtk3 | Gtk4 | LibreOffice)
}

/// Actions of a scroll bar, back and forth, where its value can't be set: LibreOffice takes the value and stays
/// (docs/linux-actions.md "Lies").
pub fn bar_actions(toolkit: Toolkit) -> Option<[&'static str; 2]> {
    match toolkit {
        LibreOffice => Some(["decrementLine", "incrementLine"]),
        _ => None,
    }
}

/// Whether a view gives its items a new address at each call: then the parent's word can't be compared, and the item's
/// own index with its text stands for it (docs/linux-actions.md "Lies": Qt trees).
pub fn mints_addresses(toolkit: Toolkit) -> bool {
    matches!(toolkit, Qt5 | Qt6)
}

/// Whether a combo box without a Selection of its own is a drop-down whose list exists only while it is open.
pub fn drops_down(toolkit: Toolkit) -> bool {
    toolkit == Gtk4
}

/// Ways by which the control changes and the page gets no event (docs/linux-actions.md "Lies").
pub fn unheard(offer: &Offer, plan: &Plan) -> bool {
    match plan {
        Plan::SelectChild { .. } => offer.toolkit == Gecko,
        Plan::SetNumber(_) => offer.toolkit == Gecko && offer.role == n::SPIN_BUTTON,
        _ => false,
    }
}

/// Whether text typed into a number field counts at once. In GTK it counts after Enter (FINDINGS §5 "Value set").
fn number_field_takes_text(toolkit: Toolkit) -> bool {
    matches!(toolkit, Qt5 | Qt6)
}

/// Whether the element is set by a number.
pub fn numeric(offer: &Offer) -> bool {
    offer.interfaces.has(Interfaces::VALUE)
        && matches!(offer.role, n::SLIDER | n::SPIN_BUTTON | n::SCROLL_BAR | n::DIAL | n::SPLIT_PANE | n::RATING)
}

/// Whether the element opens a menu or a list of its own.
pub fn opens(offer: &Offer) -> bool {
    offer.opens
        || offer.states.has(States::EXPANDABLE | States::HAS_POPUP)
        // Qt's entries that open a menu say so by their only action.
        || (offer.role == n::MENU_ITEM && offer.action(Verb::ShowMenu).is_some())
        || matches!(offer.role, n::COMBO_BOX | n::MENU | n::PUSH_BUTTON_MENU)
}

/// Ways of all actions that need nothing but the element. Selecting and scrolling look around first: see
/// [`super::options`] and [`super::scroll`].
pub fn ways(offer: &Offer, action: &Action) -> Result<Vec<Plan>, Error> {
    Ok(match action {
        Action::Click => click(offer),
        // FINDINGS §5 "Action names": in Chromium always the second; it opens the page's or the browser's own menu.
        Action::RightClick => {
            let own = opens(offer);
            by_verbs(offer, if own { &[Verb::ContextMenu] } else { &[Verb::ContextMenu, Verb::ShowMenu] }, Guard::None)
        }
        Action::Toggle | Action::Check | Action::Uncheck if toggle_lies(offer) => {
            return Err(refused(
                "this cell's toggle answers yes and changes nothing",
                "click the cell with --headed where it is available.",
            ));
        }
        Action::Toggle => by_verbs(offer, TOGGLE, Guard::None),
        Action::Check => by_verbs(offer, TOGGLE, Guard::Unchecked),
        Action::Uncheck if offer.role == n::RADIO_BUTTON || offer.role == n::RADIO_MENU_ITEM => {
            return Err(Error::before(
                Code::ActionNotSupported,
                "a radio button is unchecked only by choosing another one",
            )
            .kind("no_semantic_way")
            .suggest("Check another radio button of the group."));
        }
        Action::Uncheck => by_verbs(offer, TOGGLE, Guard::Checked),
        Action::Expand => fold(offer, Verb::Expand, Guard::Folded)?,
        Action::Collapse => fold(offer, Verb::Collapse, Guard::Unfolded)?,
        Action::SetValue(text) if numeric(offer) => vec![Plan::SetNumber(number(text)?)],
        Action::Clear if numeric(offer) => {
            return Err(Error::before(Code::ActionNotSupported, "a number control always has a value")
                .kind("no_semantic_way")
                .suggest("Use set-value with the number that you want."));
        }
        Action::SetValue(_) | Action::Clear => text_way(offer, Plan::SetText)?,
        Action::Type(_) if offer.role == n::SPIN_BUTTON && !number_field_takes_text(offer.toolkit) => {
            return Err(Error::before(
                Code::ActionNotSupported,
                "text typed into this number field counts only after Enter",
            )
            .kind("no_semantic_way")
            .suggest("Use set-value with the number."));
        }
        Action::Type(_) => text_way(offer, Plan::Insert)?,
        Action::Focus => focus(offer),
        Action::ScrollTo if offer.toolkit.scrolls_to() => vec![Plan::ScrollTo],
        _ => Vec::new(),
    })
}

/// Gecko's radio buttons are checked by `select` (docs/linux-actions.md "check").
const TOGGLE: &[Verb] = &[Verb::Toggle, Verb::Press, Verb::Select, Verb::Activate, Verb::Default];

fn by_verbs(offer: &Offer, verbs: &[Verb], guard: Guard) -> Vec<Plan> {
    verbs.iter().filter_map(|v| offer.action(*v)).map(|(index, name)| do_action(index, name, guard)).collect()
}

fn do_action(index: i32, name: &str, guard: Guard) -> Plan {
    Plan::Do { name: name.to_owned(), index, guard }
}

/// FINDINGS §5: `click` in GTK, `Press` and `Toggle` in Qt, `press`, `check`, `jump`, `open`, `select` on pages.
fn click(offer: &Offer) -> Vec<Plan> {
    use Verb::*;
    // A plain click never takes a selection back; Qt's Toggle on a selected item does (docs/linux-actions.md).
    let item = crate::atspi::role::is_item(offer.role) && !checkable(offer.role, offer.states);
    let guard = if item && matches!(offer.toolkit, Qt5 | Qt6) { Guard::Unselected } else { Guard::None };
    let field = matches!(offer.role, n::TEXT | n::ENTRY | n::PASSWORD_TEXT | n::SPIN_BUTTON);
    let mut ways = by_verbs(offer, &[Press], Guard::None);
    ways.extend(by_verbs(offer, &[Toggle], guard));
    ways.extend(by_verbs(offer, &[Select], Guard::None));
    if opens(offer) {
        ways.extend(by_verbs(offer, &[ShowMenu], Guard::None));
    }
    if !field {
        // In a field it means Enter.
        ways.extend(by_verbs(offer, &[Activate], Guard::None));
    }
    ways.extend(by_verbs(offer, &[Default], Guard::None));
    ways
}

/// FINDINGS §5 "Action names": `expand or contract` in GTK 3 trees, `toggleexpand`; combo boxes and expanders by their
/// main action, which folds both ways.
fn fold(offer: &Offer, own: Verb, guard: Guard) -> Result<Vec<Plan>, Error> {
    let mut ways = by_verbs(offer, &[own, Verb::ExpandOrCollapse], guard);
    let item = crate::atspi::role::is_item(offer.role);
    if opens(offer) && !(item && matches!(offer.toolkit, Qt5 | Qt6)) {
        ways.extend(by_verbs(
            offer,
            &[Verb::ShowMenu, Verb::Press, Verb::Activate, Verb::Toggle, Verb::Default],
            guard,
        ));
    }
    if ways.is_empty() && item {
        // Qt's only action on a tree item selects it (docs/linux-actions.md "expand").
        return Err(refused(
            "this item lists no action that expands or collapses it",
            "focus it and press the arrow keys with --headed.",
        ));
    }
    Ok(ways)
}

/// A cell whose toggle was seen to lie: GTK 3's answers yes and toggles nothing (FINDINGS §4b), Qt's selects the cell
/// (docs/linux-actions.md "toggle").
fn toggle_lies(offer: &Offer) -> bool {
    offer.role == n::TABLE_CELL && matches!(offer.toolkit, Gtk3 | Qt5 | Qt6)
}

fn refused(what: &str, instead: &str) -> Error {
    Error::before(Code::ActionNotSupported, what)
        .kind("no_semantic_way")
        .suggest(format!("Use another control of the application, or {instead}"))
}

/// FINDINGS §5 "set text", with what to do where no semantic way exists.
fn text_way(offer: &Offer, plan: Plan) -> Result<Vec<Plan>, Error> {
    let refusal = |what: &str| {
        Error::before(Code::ActionNotSupported, what)
            .kind("no_semantic_way")
            .suggest("Only typing with the keyboard reaches this field: use --headed where it is available.")
    };
    if offer.toolkit.editable_text_lies() {
        return Err(refusal("the application says yes to set text and leaves the field as it was"));
    }
    if !offer.interfaces.has(Interfaces::EDITABLE_TEXT) {
        return Err(refusal("the application publishes the text of this field, but no way to set it"));
    }
    Ok(vec![plan])
}

/// FINDINGS §5 "GrabFocus". Qt lists its own action beside it; GTK 4 has neither.
fn focus(offer: &Offer) -> Vec<Plan> {
    let mut ways = Vec::new();
    if offer.toolkit.grabs_focus() && offer.interfaces.has(Interfaces::COMPONENT) {
        ways.push(Plan::GrabFocus);
    }
    ways.extend(by_verbs(offer, &[Verb::Focus], Guard::None));
    ways
}

/// A number as callers write it. Nothing is guessed: `5 %` or `1,5` is none.
fn number(text: &str) -> Result<f64, Error> {
    text.trim().parse::<f64>().ok().filter(|n| n.is_finite()).ok_or_else(|| {
        Error::invalid("this control takes a number")
            .kind("not_a_number")
            .suggest("Give a plain decimal number with a point, for example 12.5.")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bus::Object;

    fn offer(toolkit: Toolkit, role: u32, states: u64, interfaces: Interfaces, actions: &[&str]) -> Offer {
        Offer {
            object: Object::root_of(":1.1"),
            toolkit,
            role,
            states: States(states),
            interfaces,
            actions: actions.iter().map(|a| (*a).to_owned()).collect(),
            opens: false,
        }
    }

    fn labels(o: &Offer, action: &Action) -> Vec<String> {
        ways(o, action).unwrap().iter().map(|p| p.rung(o.toolkit).label).collect()
    }

    const C: Interfaces = Interfaces::COMPONENT;

    #[test]
    fn the_element_s_own_main_action_clicks() {
        let l = |t, role, s, actions: &[&str]| labels(&offer(t, role, s, C, actions), &Action::Click);
        assert_eq!(l(Gtk3, n::PUSH_BUTTON, 0, &["click"]), ["Action.DoAction(click)"]);
        assert_eq!(l(Qt5, n::CHECK_BOX, 0, &["Toggle", "SetFocus"]), ["Action.DoAction(Toggle)"]);
        assert_eq!(l(Chromium, n::LINK, 0, &["jump", "showContextMenu"]), ["Action.DoAction(jump)"]);
        // Qt's menu entries open by ShowMenu; elsewhere it is a context menu.
        assert_eq!(l(Qt5, n::MENU_ITEM, 0, &["ShowMenu"]), ["Action.DoAction(ShowMenu)"]);
        assert!(l(Qt5, n::LABEL, 0, &["ShowMenu"]).is_empty());
        // In a field, activate is Enter; window and clipboard actions are nothing.
        assert!(l(Gtk3, n::TEXT, 0, &["activate"]).is_empty());
        assert!(l(Gtk4, n::LABEL, 0, &["clipboard.copy", "selection.delete"]).is_empty());
    }

    #[test]
    fn the_index_is_that_of_the_name() {
        let o = offer(Qt6, n::SLIDER, 0, C, &["SetFocus", "Increase"]);
        assert_eq!(
            ways(&o, &Action::Focus).unwrap()[1],
            Plan::Do { name: "SetFocus".into(), index: 0, guard: Guard::None }
        );
    }

    #[test]
    fn check_and_uncheck_guard_against_undoing() {
        let o = offer(Qt6, n::CHECK_BOX, 0, C, &["Toggle"]);
        let guard = |a| match ways(&o, &a).unwrap()[0].clone() {
            Plan::Do { guard, .. } => guard,
            other => panic!("{other:?}"),
        };
        assert_eq!(guard(Action::Check), Guard::Unchecked);
        assert_eq!(guard(Action::Uncheck), Guard::Checked);
        assert_eq!(guard(Action::Toggle), Guard::None);
        let radio = offer(Gtk3, n::RADIO_BUTTON, States::CHECKED, C, &["click"]);
        assert_eq!(ways(&radio, &Action::Uncheck).unwrap_err().code(), Code::ActionNotSupported);
    }

    #[test]
    fn what_only_selects_neither_toggles_nor_expands() {
        let cell = offer(Gtk3, n::TABLE_CELL, 0, C, &["toggle"]);
        assert_eq!(ways(&cell, &Action::Toggle).unwrap_err().kind_name(), Some("no_semantic_way"));
        let item = offer(Qt5, n::TREE_ITEM, States::EXPANDABLE, C, &["Toggle"]);
        assert_eq!(ways(&item, &Action::Expand).unwrap_err().kind_name(), Some("no_semantic_way"));
        let row = offer(Gtk3, n::TABLE_CELL, States::EXPANDABLE, C, &["expand or contract"]);
        assert_eq!(labels(&row, &Action::Expand), ["Action.DoAction(expand or contract)"]);
    }

    #[test]
    fn numbers_only_for_number_controls() {
        let slider = offer(Gtk3, n::SLIDER, 0, Interfaces::VALUE, &[]);
        assert_eq!(ways(&slider, &Action::SetValue(" 5.5 ".into())).unwrap(), [Plan::SetNumber(5.5)]);
        for bad in ["", "five", "1,5", "5 %", "NaN", "inf"] {
            let e = ways(&slider, &Action::SetValue(bad.into())).unwrap_err();
            assert_eq!(e.code(), Code::InvalidArgs, "{bad}");
            assert!(!e.message().contains(bad) || bad.is_empty());
        }
        let spin = offer(Gtk3, n::SPIN_BUTTON, 0, Interfaces::VALUE | Interfaces::EDITABLE_TEXT, &["activate"]);
        assert_eq!(labels(&spin, &Action::SetValue("5".into())), ["Value.CurrentValue"]);
        assert!(ways(&spin, &Action::Type("5".into())).is_err());
    }

    #[test]
    fn a_field_without_an_honest_editor_is_refused_with_a_way_out() {
        for (t, i) in [(Gecko, Interfaces::EDITABLE_TEXT), (Chromium, Interfaces::TEXT)] {
            let o = offer(t, n::ENTRY, States::EDITABLE, i, &["activate"]);
            for a in [Action::SetValue("x".into()), Action::Type("x".into()), Action::Clear] {
                assert_eq!(ways(&o, &a).unwrap_err().code(), Code::ActionNotSupported, "{t:?}");
            }
        }
    }

    #[test]
    fn text_is_measured_in_the_toolkit_s_unit() {
        assert_eq!((insert_unit(Gtk3), insert_unit(Qt5)), (Unit::Bytes, Unit::Utf16));
        assert_eq!((caret_width(Gtk4, "a😀"), caret_width(Qt6, "a😀")), (2, 3));
    }
}
