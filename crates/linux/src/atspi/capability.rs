//! What an element positively offers: the action table, and what its interfaces add (spec 1 §3, decisions D6).

use super::interface::Interfaces;
use super::role::{self, native as n};
use super::state::Native as States;
use super::toolkit::Toolkit;
use agent_desktop_core::vocab::capability::{Capability as C, CapabilitySet};
use agent_desktop_core::vocab::role::Role;

/// What an action of a given name does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// The element's own main action.
    Press,
    /// The toolkit's nameless main action.
    Default,
    /// Enter in a field; elsewhere the main action.
    Activate,
    /// Changes a checked state.
    Toggle,
    /// Chooses an item.
    Select,
    /// Opens the element's own menu.
    ShowMenu,
    /// Opens a context menu.
    ContextMenu,
    /// Shows what the element folds away.
    Expand,
    /// Folds it away.
    Collapse,
    /// Either, by state.
    ExpandOrCollapse,
    /// Raises the value.
    Increase,
    /// Lowers the value.
    Decrease,
    /// Takes the focus.
    Focus,
}

/// The action table. Names are not portable (FINDINGS §5 "Action names"); a name that isn't here earns nothing:
/// sentences, clipboard and window actions, `clickAncestor`.
pub fn verb(action: &str) -> Option<Verb> {
    Some(match action {
        "click" | "press" | "Press" | "jump" | "open" | "switch" | "cycle" => Verb::Press,
        "doDefault" => Verb::Default,
        "activate" | "Activate" => Verb::Activate,
        "toggle" | "Toggle" | "check" | "uncheck" => Verb::Toggle,
        "select" => Verb::Select,
        "ShowMenu" | "showMenu" | "togglePopup" => Verb::ShowMenu,
        "showContextMenu" => Verb::ContextMenu,
        // `listitem.…`: GTK 4's tree expanders (docs/linux-actions.md "expand").
        "expand" | "listitem.expand" => Verb::Expand,
        "collapse" | "listitem.collapse" => Verb::Collapse,
        "expand or contract" | "toggleexpand" | "listitem.toggle-expand" => Verb::ExpandOrCollapse,
        "Increase" | "increase" | "increment" => Verb::Increase,
        "Decrease" | "decrease" | "decrement" => Verb::Decrease,
        "SetFocus" | "setFocus" => Verb::Focus,
        _ => return None,
    })
}

/// Whether the element is one whose checked state is operated by its main action.
pub fn checkable(native: u32, states: States) -> bool {
    states.has(States::CHECKABLE)
        || matches!(
            native,
            n::CHECK_BOX | n::SWITCH | n::RADIO_BUTTON | n::CHECK_MENU_ITEM | n::RADIO_MENU_ITEM | n::TOGGLE_BUTTON
        )
}

/// The capabilities of one element.
pub fn capabilities(
    role: Role,
    native: u32,
    states: States,
    interfaces: Interfaces,
    actions: &[String],
    toolkit: Toolkit,
) -> CapabilitySet {
    let mut set = CapabilitySet::EMPTY;
    let field = matches!(role, Role::TextField | Role::Incrementor);
    let opens = matches!(role, Role::ComboBox | Role::MenuButton | Role::MenuItem);
    let item = role::is_item(native);
    let operated = role.interactive() || states.has(States::FOCUSABLE);
    let (mut main, mut context) = (false, false);
    for verb in actions.iter().filter_map(|a| verb(a)) {
        match verb {
            Verb::Press => main = true,
            Verb::Default => main |= role.interactive() || !toolkit.default_action_is_everywhere(),
            Verb::Activate => main |= !field,
            // An item that toggles is chosen by it (FINDINGS §5 "list select").
            Verb::Toggle if item => {
                main = true;
                set.insert(if checkable(native, states) { C::Toggle } else { C::Select });
            }
            Verb::Toggle => {
                main = true;
                set.insert(C::Toggle);
            }
            Verb::Select => {
                main = true;
                set.insert(C::Select);
            }
            Verb::ShowMenu if opens || states.has(States::EXPANDABLE) => {
                main = true;
                set.insert(C::Expand);
                set.insert(C::Collapse);
            }
            Verb::ShowMenu => set.insert(C::RightClick),
            Verb::ContextMenu => context = true,
            Verb::Expand => set.insert(C::Expand),
            Verb::Collapse => set.insert(C::Collapse),
            Verb::ExpandOrCollapse
                if native == n::TABLE_CELL
                    && toolkit.cells_list_expansion_always()
                    && !states.has(States::EXPANDABLE) => {}
            Verb::ExpandOrCollapse => {
                set.insert(C::Expand);
                set.insert(C::Collapse);
            }
            Verb::Increase | Verb::Decrease => {}
            Verb::Focus => set.insert(C::SetFocus),
        }
    }
    if main {
        set.insert(C::Click);
        if checkable(native, states) {
            set.insert(C::Toggle);
        }
        if states.has(States::EXPANDABLE) || role == Role::ComboBox {
            set.insert(C::Expand);
            set.insert(C::Collapse);
        }
    }
    // `expand` is listed while collapsed and `collapse` while expanded: the element folds both ways.
    if states.has(States::EXPANDABLE) && (set.has(C::Expand) || set.has(C::Collapse)) {
        set.insert(C::Expand);
        set.insert(C::Collapse);
    }
    // Without EXPANDABLE the state is never reported (combo boxes of GTK 3 and Qt 5, Qt's menus): expanding could not be
    // read back, and would be called a failure. A click opens them.
    if opens && !states.has(States::EXPANDABLE) {
        set.remove(C::Expand);
        set.remove(C::Collapse);
    }
    // A drop-down is chosen from by opening it (docs/linux-actions.md "select").
    if native == n::COMBO_BOX && crate::operate::ladder::drops_down(toolkit) {
        set.insert(C::Select);
    }
    let editable = states.has(States::EDITABLE);
    if native == n::COMBO_BOX && toolkit.options_stand_in_the_tree() && !editable {
        set.insert(C::Select);
    }
    // Qt reports no EDITABLE on spin boxes, whose interface works (FINDINGS §5).
    let has_editor = interfaces.has(Interfaces::EDITABLE_TEXT) && (editable || role == Role::Incrementor);
    let read_only = states.has(States::READ_ONLY);
    if !read_only && has_editor && !toolkit.editable_text_lies() {
        set.insert(C::SetValue);
        set.insert(C::TypeText);
    }
    if !read_only && interfaces.has(Interfaces::VALUE) && matches!(role, Role::Slider | Role::Incrementor) {
        set.insert(C::SetValue);
    }
    if interfaces.has(Interfaces::SELECTION)
        && matches!(role, Role::ComboBox | Role::ListBox | Role::List | Role::TabList)
        && native != n::MENU
    {
        // A list offers its items; only what is a widget of its own is a target.
        if role != Role::List || states.has(States::FOCUSABLE) {
            set.insert(C::Select);
        }
    }
    if states.has(States::SELECTABLE)
        && matches!(role, Role::Option | Role::TreeItem | Role::Cell | Role::Tab | Role::Row | Role::Image)
    {
        set.insert(C::Select);
    }
    if role == Role::ScrollArea && toolkit.scroll_pane_has_bars() {
        set.insert(C::Scroll);
    }
    if states.has(States::FOCUSABLE) && interfaces.has(Interfaces::COMPONENT) && toolkit.grabs_focus() {
        set.insert(C::SetFocus);
    }
    let earns = role.interactive() || !set.iter().all(|c| c == C::SetFocus);
    // Listed on every node of a page: it alone makes no node a target.
    if context && earns && operated {
        set.insert(C::RightClick);
    }
    if earns && toolkit.scrolls_to() && interfaces.has(Interfaces::COMPONENT) {
        set.insert(C::ScrollTo);
    }
    set
}

#[cfg(test)]
mod tests {
    use super::*;
    use Toolkit::*;

    fn caps(
        role: Role,
        native: u32,
        states: u64,
        interfaces: Interfaces,
        actions: &[&str],
        t: Toolkit,
    ) -> Vec<&'static str> {
        let actions: Vec<String> = actions.iter().map(|a| (*a).to_owned()).collect();
        capabilities(role, native, States(states), interfaces, &actions, t).iter().map(C::token).collect()
    }

    const COMPONENT: Interfaces = Interfaces::COMPONENT;

    #[test]
    fn buttons() {
        let f = States::FOCUSABLE;
        assert_eq!(caps(Role::Button, n::PUSH_BUTTON, f, COMPONENT, &["click"], Gtk3), ["Click", "SetFocus"]);
        assert_eq!(caps(Role::Button, n::PUSH_BUTTON, f, COMPONENT, &["click"], Gtk4), ["Click"]);
        assert_eq!(
            caps(Role::Button, n::PUSH_BUTTON, 0, COMPONENT, &["Press", "SetFocus"], Qt6),
            ["Click", "SetFocus"]
        );
        assert_eq!(caps(Role::CheckBox, n::CHECK_BOX, 0, COMPONENT, &[], Gtk4), Vec::<&str>::new());
    }

    #[test]
    fn what_earns_nothing() {
        let sentence = "Expands or contracts the row in the tree view containing this cell";
        for name in ["clickAncestor", "clipboard.copy", "win.print", sentence] {
            assert_eq!(verb(name), None, "{name}");
        }
        let page = &["doDefault", "showContextMenu"];
        assert!(caps(Role::Heading, n::HEADING, 0, COMPONENT, page, Chromium).is_empty());
        assert!(
            caps(Role::StaticText, n::STATIC, 0, COMPONENT, &["clickAncestor", "showContextMenu"], Chromium).is_empty()
        );
        let clickable = caps(Role::Group, n::SECTION, 0, COMPONENT, &["click", "showContextMenu"], Chromium);
        assert_eq!(clickable, ["Click", "ScrollTo"]);
    }

    #[test]
    fn enter_in_a_field_is_no_click() {
        let i = COMPONENT | Interfaces::TEXT | Interfaces::EDITABLE_TEXT;
        let s = States::EDITABLE | States::FOCUSABLE;
        assert_eq!(caps(Role::TextField, n::TEXT, s, i, &["activate"], Gtk3), ["SetValue", "SetFocus", "TypeText"]);
        // FINDINGS §5: Gecko's editor says True and changes nothing.
        assert_eq!(caps(Role::TextField, n::ENTRY, s, i, &["activate"], Gecko), ["SetFocus", "ScrollTo"]);
        // Chromium's fields have no editor: only their menu is offered.
        let i = COMPONENT | Interfaces::TEXT;
        let field = caps(Role::TextField, n::ENTRY, s, i, &["doDefault", "showContextMenu"], Chromium);
        assert!(
            field.contains(&"RightClick") && !field.contains(&"TypeText") && !field.contains(&"SetValue"),
            "{field:?}"
        );
    }

    #[test]
    fn cells_of_flat_tables_do_not_expand() {
        let cell = |s| caps(Role::Cell, n::TABLE_CELL, s, COMPONENT, &["expand or contract", "activate"], Gtk3);
        assert_eq!(cell(States::SELECTABLE), ["Click", "Select"]);
        assert_eq!(cell(States::EXPANDABLE), ["Click", "Expand", "Collapse"]);
    }

    #[test]
    fn a_slider_takes_values() {
        assert_eq!(caps(Role::Slider, n::SLIDER, 0, COMPONENT | Interfaces::VALUE, &[], Gtk3), ["SetValue"]);
        assert!(caps(Role::ProgressBar, n::PROGRESS_BAR, 0, COMPONENT | Interfaces::VALUE, &[], Gtk3).is_empty());
    }

    #[test]
    fn combo_boxes_open() {
        let got = caps(Role::ComboBox, n::COMBO_BOX, States::EXPANDABLE, COMPONENT, &["ShowMenu", "Press"], Qt5);
        assert_eq!(got, ["Click", "Expand", "Collapse"]);
        // The toolkit never says whether it is open: a click opens it, expanding could not be read back.
        assert_eq!(caps(Role::ComboBox, n::COMBO_BOX, 0, COMPONENT, &["press"], Gtk3), ["Click"]);
        assert_eq!(caps(Role::MenuItem, n::MENU_ITEM, 0, COMPONENT, &["ShowMenu"], Qt6), ["Click"]);
        assert_eq!(caps(Role::ComboBox, n::COMBO_BOX, 0, COMPONENT, &[], Gtk4), ["Select"]);
        // The options in the tree choose themselves; a field with suggestions has none.
        let select = caps(Role::ComboBox, n::COMBO_BOX, States::EXPANDABLE, COMPONENT, &["open"], Chromium);
        assert_eq!(select, ["Click", "Expand", "Collapse", "Select", "ScrollTo"]);
        let field = States::EXPANDABLE | States::EDITABLE;
        assert!(!caps(Role::ComboBox, n::COMBO_BOX, field, COMPONENT, &["open"], Chromium).contains(&"Select"));
        let got = caps(Role::Option, n::LIST_ITEM, States::SELECTABLE, COMPONENT, &["Toggle"], Qt5);
        assert_eq!(got, ["Click", "Select"]);
    }
}
