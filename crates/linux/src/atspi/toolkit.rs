//! What differs by toolkit, in one table. Each line cites the finding that proved it; nothing else in this crate
//! asks which toolkit an application uses.

use super::role::native as n;
use super::state::Native as States;
use agent_desktop_core::tree::raw::Grade;

/// A toolkit, by `Application.ToolkitName` and version (FINDINGS §2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Toolkit {
    Gtk3,
    Gtk4,
    Qt5,
    Qt6,
    Gecko,
    Chromium,
    LibreOffice,
    Java,
    /// gnome-shell.
    Clutter,
    /// Nobody has measured it.
    Other,
}

use Toolkit::*;

/// Who says where a cell stands in its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellSource {
    /// The cell: `TableCell.Position`.
    Cell,
    /// The table, by the cell's index: `GetRowAtIndex`, `GetColumnAtIndex`.
    Table,
    /// The table's counts.
    Counts,
}

impl Toolkit {
    /// All of them.
    pub const ALL: &'static [Toolkit] = &[Gtk3, Gtk4, Qt5, Qt6, Gecko, Chromium, LibreOffice, Java, Clutter, Other];

    /// From the application's own words (FINDINGS §2 "toolkit string"). LibreOffice names the toolkit that draws it;
    /// its accessible objects are its own, so the application's name decides.
    pub fn of(toolkit: &str, version: &str, application: &str) -> Self {
        let major = version.split('.').next().unwrap_or("");
        match (toolkit, major) {
            _ if application == "soffice" => LibreOffice,
            ("gtk", "3") => Gtk3,
            ("GTK", _) | ("gtk", "4") => Gtk4,
            ("Qt", "5") => Qt5,
            ("Qt", "6") => Qt6,
            ("Gecko", _) => Gecko,
            ("Chromium", _) => Chromium,
            ("J2SE-access-bridge", _) => Java,
            ("clutter", _) => Clutter,
            _ => Other,
        }
    }

    /// Qt, of any version: its texts are counted in UTF-16 units.
    pub fn qt(self) -> bool {
        matches!(self, Qt5 | Qt6)
    }

    /// Whether the tree holds web content, whose elements carry the page's attributes (FINDINGS §3 "GetAttributes").
    pub fn web(self) -> bool {
        matches!(self, Gecko | Chromium)
    }

    /// FINDINGS §4 "NB": Qt answers an unknown method of a live object as it answers a dead path.
    pub fn unknown_object_is_ambiguous(self) -> bool {
        self.qt()
    }

    /// FINDINGS §4: Qt answers `Properties.Get` on a dead path with UnknownInterface.
    pub fn unknown_interface_is_death(self) -> bool {
        self.qt()
    }

    /// FINDINGS §3 "Cache.GetItems": complete but for MANAGES_DESCENDANTS in atk-bridge's toolkits and GTK 4; empty in
    /// Qt; the others were not measured.
    pub fn cache_is_good(self) -> bool {
        matches!(self, Gtk3 | Gtk4 | Gecko | Chromium | LibreOffice)
    }

    /// GTK 4's cache lists 43 children more than their parents do (FINDINGS §3 "superset", §4b "edges that `Parent`
    /// denies"), with counts to match: there, only the parents' own lists count.
    pub fn cache_tells_children(self) -> bool {
        self != Gtk4
    }

    /// FINDINGS §3 "p2p": asking for the application's own address switches atk-bridge's cache on. GTK 4 has its cache
    /// always and answers UnknownMethod.
    pub fn cache_wants_a_knock(self) -> bool {
        matches!(self, Gtk3 | Gecko | Chromium | LibreOffice)
    }

    /// Qt gives the role of a window to any framed widget, and to some windows that of a container (seen in kcalc and
    /// qt6ct): only what stands below the application itself is a window.
    pub fn frames_are_widgets(self) -> bool {
        self.qt()
    }

    /// What is drawn in a window of its own when it is open, though it stands inside another window's tree and counts
    /// from there (seen in GTK 4.8): menus and other popovers.
    pub fn has_window_of_its_own(self, role: u32, name: &str) -> bool {
        self == Gtk4 && (role == n::MENU || self.is_popover(role, name) || name == "GtkEmojiChooser")
    }

    /// FINDINGS §2 "GTK4 4.8 states": no SHOWING there, so what can't be seen shows by its extents alone (zero area
    /// where not mapped).
    pub fn showing_is_reported(self) -> bool {
        self != Gtk4
    }

    /// L2-3: a page that was shown once keeps its states and its place when another one is shown. Whether it is on the
    /// screen is told by what [`super::pages`] asks.
    pub fn pages_keep_their_place(self) -> bool {
        self == Gtk4
    }

    /// GTK 4.8 lists an open popover below what it belongs to, with no role of its own (L2-5): it shows by its type's name.
    pub fn is_popover(self, role: u32, name: &str) -> bool {
        self == Gtk4 && role == n::FILLER && name.ends_with("Popover") && is_type_name(name)
    }

    /// GTK 4 reports an element's own sensitivity, not that of a container which disables it (FINDINGS §2: entry in
    /// an insensitive combo box says `sensitive`).
    pub fn disabled_is_inherited(self) -> bool {
        self == Gtk4
    }

    /// FINDINGS §2 "Extents": GTK 4 gives window-relative coordinates as screen coordinates.
    pub fn extents_are_of_window(self) -> bool {
        self == Gtk4
    }

    /// FINDINGS §4b: whether an address follows its element. `in_slot_item` says that an ancestor is an item of a
    /// recycling view.
    pub fn grade(self, role: u32, in_slot_item: bool) -> Grade {
        let item = super::role::is_item(role);
        match self {
            // TreeView and ListBox rows keep their address; LibreOffice's objects are counted and never reused (§4).
            Gtk3 | LibreOffice => Grade::Follows,
            // List views recycle; a row of a ListBox doesn't ([`Toolkit::rows_follow`]).
            Gtk4 if item || in_slot_item => Grade::Slot,
            Gtk4 => Grade::Follows,
            // Item text changes in place under the same path.
            Qt5 | Qt6 if item || in_slot_item => Grade::Slot,
            Qt5 | Qt6 => Grade::Follows,
            // Index-keyed lists reuse nodes; whether the element stands in an item is decided over the tree.
            Gecko | Chromium => Grade::Slot,
            Java | Clutter | Other => Grade::Slot,
        }
    }

    /// Qt's menu entries that can't be used have no state at all, and all others say `enabled` (seen in kcalc and
    /// featherpad); elsewhere an element without any state says nothing.
    pub fn silence_is_disabled(self) -> bool {
        matches!(self, Qt5 | Qt6)
    }

    /// L4-3: Chromium's own controls, outside any page, keep their address: with a tab opened and the first of three
    /// closed, all that lived kept name and place.
    pub fn own_controls_follow(self) -> bool {
        self == Chromium
    }

    /// FINDINGS §4b: a row of GTK 4's ListBox keeps its address, one of a ListView doesn't. Both have the same roles; an
    /// unnamed ListBox shows by its type's name, which no other type can have.
    pub fn rows_follow(self, role: u32, name: &str) -> bool {
        self == Gtk4 && matches!(role, n::LIST | n::LIST_BOX) && name == "GtkListBox"
    }

    /// FINDINGS §2 "GTK4 4.8 names": unnamed widgets carry their C type's name, tabs the word "Tab".
    pub fn blank_name(self, role: u32, name: &str) -> bool {
        match self {
            Gtk4 if role == n::FILLER => is_type_name(name),
            Gtk4 => {
                (role == n::PAGE_TAB_LIST && name == "Tab list")
                    || ["Gtk", "Adw", "Gdk", "He", "Vte"].iter().any(|p| {
                        name.strip_prefix(p).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
                    }) && is_type_name(name)
            }
            _ => false,
        }
    }

    /// GTK 4.8 names every tab "Tab", in the user's language (seen in gtk4-widget-factory): the label inside tells more.
    pub fn name_is_generic(self, role: u32) -> bool {
        self == Gtk4 && role == n::PAGE_TAB
    }

    /// Qt's tooltips are descriptions, with their markup (seen in featherpad).
    pub fn descriptions_may_be_rich(self) -> bool {
        self.qt()
    }

    /// FINDINGS §2 "GTK4 4.8 names": labelled buttons read "7 7".
    pub fn doubles_names(self) -> bool {
        self == Gtk4
    }

    /// Roles whose number says less than the role's name: GTK 4.8's switch is a check box by number, Qt's menu button
    /// a push button (seen in gtk4-widget-factory and qt6ct). Of Qt's, those that are enabled show by their actions
    /// ([`Toolkit::actions_hint_at_role_name`]).
    pub fn role_name_tells(self, role: u32, states: States) -> bool {
        match self {
            Gtk4 => role == n::CHECK_BOX,
            Qt5 | Qt6 => role == n::PUSH_BUTTON && !states.has(States::ENABLED),
            _ => false,
        }
    }

    /// An enabled button of Qt that opens a menu offers `ShowMenu`, a disabled one offers nothing (seen in qt6ct and
    /// featherpad, and in Qt's QAccessibleButton): the role's name is asked for where that action says so.
    pub fn actions_hint_at_role_name(self, role: u32, actions: &[String]) -> bool {
        self.qt() && role == n::PUSH_BUTTON && actions.iter().any(|a| a == "ShowMenu")
    }

    /// FINDINGS §3 "Other calls": Qt answers `GetActions` with the names that `GetName` gives, untranslated (equal on all
    /// 569 nodes of kcalc, featherpad and qt6ct). One call instead of one for each action and one for their number.
    pub fn lists_actions(self) -> bool {
        self.qt()
    }

    /// Whether an application of this toolkit may not know `AccessibleId` at all: Qt 5.15 and 6.4 answer every question for
    /// it with an error (FINDINGS §3 "Other calls"), later ones with the id. Asked of the window alone, the answer speaks
    /// for all.
    pub fn may_lack_ids(self) -> bool {
        self.qt()
    }

    /// The action that follows the first one on every element, where that is so: Chromium lists the main action first,
    /// `showContextMenu` second, and after that at most scrolling (FINDINGS §5 "Action names"; L5-3: all 2,242 nodes of a
    /// page and the browser around it). The first one's name tells all, in one call. Whoever acts reads the names again.
    pub fn second_action(self) -> Option<&'static str> {
        (self == Chromium).then_some("showContextMenu")
    }

    /// Where the name of a combo box is what it shows: GTK 3 (seen in gtk3-widget-factory) and Qt (FINDINGS §5: the
    /// relation is the label, the name is the text).
    pub fn combo_name_is_value(self) -> bool {
        matches!(self, Gtk3 | LibreOffice | Qt5 | Qt6)
    }

    /// Where that name is the first text of the row's data, shown or not: an id or an icon's name where the program keeps
    /// one in the row (seen in mousepad and gtk3-widget-factory). The chosen entry of the combo box's menu has the text.
    pub fn combo_name_may_be_an_id(self) -> bool {
        self == Gtk3
    }

    /// FINDINGS §4b "Where the telling text is": Gecko makes no nodes of text; the element itself carries it.
    /// LibreOffice's paragraphs are the same (FINDINGS §5 "set text").
    pub fn text_is_in_elements(self) -> bool {
        matches!(self, Gecko | LibreOffice)
    }

    /// Finding L5-4: Gecko's Text holds a U+FEFF behind each character beyond the basic plane.
    pub fn pads_wide_characters(self) -> bool {
        self == Gecko
    }

    /// FINDINGS §5 "set text": a Writer paragraph takes text in place.
    pub fn paragraphs_are_fields(self) -> bool {
        self == LibreOffice
    }

    /// FINDINGS §2 "Not on screen": where what isn't mapped has sentinel extents while its states stay VISIBLE, as
    /// pages of stacks and notebooks have. Chromium drops VISIBLE, Qt both.
    pub fn unmapped_shows_by_extents(self) -> bool {
        matches!(self, Gtk3 | LibreOffice | Java)
    }

    /// FINDINGS §4b: tables without row objects, whose cells are flat children.
    pub fn flat_tables(self) -> bool {
        matches!(self, Gtk3 | Qt5 | Qt6 | LibreOffice | Java)
    }

    /// Who says where a cell stands (FINDINGS §4b "Where the telling text is").
    pub fn cell_source(self) -> CellSource {
        match self {
            // No TableCell interface; the table's own answer kills Qt 6.4 (seen in qt6ct).
            Qt5 | Qt6 => CellSource::Counts,
            // `TableCell.Position` fails there (seen in Calc).
            LibreOffice => CellSource::Table,
            _ => CellSource::Cell,
        }
    }

    /// Cells of LibreOffice's sheets are made anew whenever they are asked for and die within seconds (seen in Calc: 465
    /// of 465 dead or not confirmed right after a read): their place is their address, and their name says it ("B7").
    pub fn cells_are_places(self) -> bool {
        self == LibreOffice
    }

    /// A Qt 6.4 tree view makes new objects of its cells with every read, so that its child list never names a saved one
    /// (seen in qt6ct). There `GetIndexInParent` is computed by the parent from the cell's place in the model: with
    /// `Parent` it confirms the edge.
    pub fn index_is_the_parents_word(self) -> bool {
        self.qt()
    }

    /// FINDINGS §5 "set text": Gecko answers True and changes nothing.
    pub fn editable_text_lies(self) -> bool {
        self == Gecko
    }

    /// FINDINGS §3 "p2p": atk-bridge's applications offer a direct connection; GTK 4 and Qt don't know the question.
    pub fn offers_a_line(self) -> bool {
        matches!(self, Gtk3 | Gecko | Chromium | LibreOffice)
    }

    /// FINDINGS §1: Chromium publishes web content only with its flag.
    pub fn renders_pages_on_demand(self) -> bool {
        self == Chromium
    }

    /// GTK 4 gives toggle buttons the role of push buttons; only they are ever PRESSED (seen in gtk4-widget-factory).
    pub fn pressed_is_checked(self) -> bool {
        self == Gtk4
    }

    /// FINDINGS §5 "GrabFocus": NotSupported in GTK 4.
    pub fn grabs_focus(self) -> bool {
        self != Gtk4
    }

    /// FINDINGS §5 "ScrollTo": works in Firefox and Chromium; not supported or not tested elsewhere.
    pub fn scrolls_to(self) -> bool {
        self.web()
    }

    /// Scroll panes whose scroll bars are children with a value (seen in gtk3- and gtk4-widget-factory).
    pub fn scroll_pane_has_bars(self) -> bool {
        matches!(self, Gtk3 | Gtk4)
    }

    /// Chromium lists `doDefault` on every node, text and headings included (FINDINGS §5 "Action names"): it says
    /// something only where the role is one that is operated.
    pub fn default_action_is_everywhere(self) -> bool {
        self == Chromium
    }

    /// GTK 3 lists `expand or contract` on every cell of every table; only those of a row with rows below are EXPANDABLE
    /// (seen in galculator, whose flat tables answer no).
    pub fn cells_list_expansion_always(self) -> bool {
        self == Gtk3
    }

    /// Combo boxes without a Selection of their own whose options stand in the tree and can be chosen there (FINDINGS §5
    /// "combo / select").
    pub fn options_stand_in_the_tree(self) -> bool {
        self.web()
    }

    /// Whether actions are worth asking for. Text nodes of pages list `clickAncestor` alone; GTK 4's labels clipboard
    /// actions alone, its containers none or the window's own (FINDINGS §2, §5).
    pub fn asks_actions(self, role: u32) -> bool {
        match self {
            Gecko | Chromium => role != n::STATIC,
            Gtk4 => !matches!(
                role,
                n::LABEL
                    | n::PANEL
                    | n::FILLER
                    | n::SCROLL_PANE
                    | n::SCROLL_BAR
                    | n::IMAGE
                    | n::SEPARATOR
                    | n::FRAME
                    | n::PAGE_TAB_LIST
                    | n::PROGRESS_BAR
                    | n::LEVEL_BAR
            ),
            _ => true,
        }
    }

    /// Toolkit types of secure entries (FINDINGS §5 "Passwords").
    pub fn secure_type(self, name: &str) -> bool {
        self == Gtk4 && matches!(name, "GtkPasswordEntry" | "AdwPasswordEntryRow")
    }

    /// FINDINGS §5 "Passwords": Qt 5's hidden field has characters and reads ''.
    pub fn hides_secret_text(self) -> bool {
        self.qt()
    }
}

/// Whether this reads like the name of a C type: one word of two or more humps.
fn is_type_name(name: &str) -> bool {
    let mut humps = 0;
    name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.chars().all(|c| {
            humps += usize::from(c.is_ascii_uppercase());
            c.is_ascii_alphanumeric() || c == '_'
        })
        && humps >= 2
}

/// Parts of the names of the libraries through which a tree is published: the bridge of GTK 3, GTK 2, Chromium and
/// Gecko; GTK 4, Qt and Java have their own. LibreOffice loads one of these.
const PUBLISHERS: &[&str] =
    &["libatk-bridge", "libatspi", "libgtk-4", "Qt5", "Qt6", "libxul", "libjvm", "libclutter", "libmutter"];

/// Whether a process could publish a tree: it has loaded a library that does, or what it has loaded can't be read. One
/// that links its own statically looks as if it had none, so that a tree that is there counts more than this.
pub fn may_publish(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/maps")).map_or(true, |maps| loads_publisher(&maps))
}

fn loads_publisher(maps: &str) -> bool {
    // A map without any line is that of a process that is ending.
    maps.is_empty() || PUBLISHERS.iter().any(|name| maps.contains(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn toolkits_by_their_own_words() {
        assert_eq!(Toolkit::of("gtk", "3.24.38", "mousepad"), Gtk3);
        assert_eq!(Toolkit::of("gtk", "3.24.38", "soffice"), LibreOffice);
        assert_eq!(Toolkit::of("GTK", "4.8.3", "x"), Gtk4);
        assert_eq!(Toolkit::of("Qt", "6.4.2", "x"), Qt6);
        assert_eq!(Toolkit::of("Chromium", "1.0", "x"), Chromium);
        assert_eq!(Toolkit::of("", "", "x"), Other);
    }

    #[test]
    fn type_names_are_blank_and_labels_are_not() {
        for (role, name) in [
            (n::TEXT, "GtkEntry"),
            (n::FILLER, "AdwGizmo"),
            (n::FILLER, "HistoryView"),
            (n::PAGE_TAB_LIST, "AdwViewSwitcher"),
        ] {
            assert!(Gtk4.blank_name(role, name), "{name}");
        }
        for (role, name) in
            [(n::PUSH_BUTTON, "GitHub"), (n::LABEL, "Gtk"), (n::FILLER, "Save As"), (n::LABEL, "Gtk4 demo")]
        {
            assert!(!Gtk4.blank_name(role, name), "{name}");
        }
        assert!(!Gtk3.blank_name(n::TEXT, "GtkEntry"));
    }

    #[test]
    fn what_nobody_measured_is_slot() {
        assert_eq!(Other.grade(n::PUSH_BUTTON, false), Grade::Slot);
        assert_eq!(Gtk4.grade(n::PUSH_BUTTON, true), Grade::Slot);
        assert_eq!(Gtk4.grade(n::PUSH_BUTTON, false), Grade::Follows);
        assert_eq!(Gtk3.grade(n::TABLE_CELL, false), Grade::Follows);
        assert_eq!(Qt5.grade(n::TABLE_CELL, false), Grade::Slot);
    }

    #[test]
    fn who_can_publish_by_what_is_loaded() {
        let line = |file: &str| format!("7f00-7f01 r-xp 00000000 08:01 12 /usr/lib/x86_64-linux-gnu/{file}\n");
        assert!(loads_publisher(&(line("libc.so.6") + &line("libatk-bridge-2.0.so.0"))));
        assert!(loads_publisher(&line("libQt5Gui.so.5")));
        assert!(!loads_publisher(&(line("libXaw7.so.7") + &line("libatk-1.0.so.0") + &line("libgtk-x11-2.0.so.0"))));
        assert!(loads_publisher(""), "nothing could be read");
    }
}
