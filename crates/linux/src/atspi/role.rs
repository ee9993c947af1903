//! Every AT-SPI role in the closed vocabulary (spec 1 §3, spec 5 "Mapping").

use super::state::Native as States;
use agent_desktop_core::vocab::role::Role;

macro_rules! roles {
    ($($name:ident = $number:literal),+ $(,)?) => {
        /// AT-SPI's role numbers and their names.
        #[allow(missing_docs)]
        pub mod native {
            $(pub const $name: u32 = $number;)+
        }

        /// The role's own name, for diagnostics.
        pub fn name(native: u32) -> Option<&'static str> {
            match native { $($number => Some(stringify!($name)),)+ _ => None }
        }
    };
}

roles! {
    INVALID = 0, ACCELERATOR_LABEL = 1, ALERT = 2, ANIMATION = 3, ARROW = 4, CALENDAR = 5, CANVAS = 6,
    CHECK_BOX = 7, CHECK_MENU_ITEM = 8, COLOR_CHOOSER = 9, COLUMN_HEADER = 10, COMBO_BOX = 11,
    DATE_EDITOR = 12, DESKTOP_ICON = 13, DESKTOP_FRAME = 14, DIAL = 15, DIALOG = 16, DIRECTORY_PANE = 17,
    DRAWING_AREA = 18, FILE_CHOOSER = 19, FILLER = 20, FOCUS_TRAVERSABLE = 21, FONT_CHOOSER = 22, FRAME = 23,
    GLASS_PANE = 24, HTML_CONTAINER = 25, ICON = 26, IMAGE = 27, INTERNAL_FRAME = 28, LABEL = 29,
    LAYERED_PANE = 30, LIST = 31, LIST_ITEM = 32, MENU = 33, MENU_BAR = 34, MENU_ITEM = 35, OPTION_PANE = 36,
    PAGE_TAB = 37, PAGE_TAB_LIST = 38, PANEL = 39, PASSWORD_TEXT = 40, POPUP_MENU = 41, PROGRESS_BAR = 42,
    PUSH_BUTTON = 43, RADIO_BUTTON = 44, RADIO_MENU_ITEM = 45, ROOT_PANE = 46, ROW_HEADER = 47,
    SCROLL_BAR = 48, SCROLL_PANE = 49, SEPARATOR = 50, SLIDER = 51, SPIN_BUTTON = 52, SPLIT_PANE = 53,
    STATUS_BAR = 54, TABLE = 55, TABLE_CELL = 56, TABLE_COLUMN_HEADER = 57, TABLE_ROW_HEADER = 58,
    TEAROFF_MENU_ITEM = 59, TERMINAL = 60, TEXT = 61, TOGGLE_BUTTON = 62, TOOL_BAR = 63, TOOL_TIP = 64,
    TREE = 65, TREE_TABLE = 66, UNKNOWN = 67, VIEWPORT = 68, WINDOW = 69, EXTENDED = 70, HEADER = 71,
    FOOTER = 72, PARAGRAPH = 73, RULER = 74, APPLICATION = 75, AUTOCOMPLETE = 76, EDITBAR = 77, EMBEDDED = 78,
    ENTRY = 79, CHART = 80, CAPTION = 81, DOCUMENT_FRAME = 82, HEADING = 83, PAGE = 84, SECTION = 85,
    REDUNDANT_OBJECT = 86, FORM = 87, LINK = 88, INPUT_METHOD_WINDOW = 89, TABLE_ROW = 90, TREE_ITEM = 91,
    DOCUMENT_SPREADSHEET = 92, DOCUMENT_PRESENTATION = 93, DOCUMENT_TEXT = 94, DOCUMENT_WEB = 95,
    DOCUMENT_EMAIL = 96, COMMENT = 97, LIST_BOX = 98, GROUPING = 99, IMAGE_MAP = 100, NOTIFICATION = 101,
    INFO_BAR = 102, LEVEL_BAR = 103, TITLE_BAR = 104, BLOCK_QUOTE = 105, AUDIO = 106, VIDEO = 107,
    DEFINITION = 108, ARTICLE = 109, LANDMARK = 110, LOG = 111, MARQUEE = 112, MATH = 113, RATING = 114,
    TIMER = 115, STATIC = 116, MATH_FRACTION = 117, MATH_ROOT = 118, SUBSCRIPT = 119, SUPERSCRIPT = 120,
    DESCRIPTION_LIST = 121, DESCRIPTION_TERM = 122, DESCRIPTION_VALUE = 123, FOOTNOTE = 124,
    CONTENT_DELETION = 125, CONTENT_INSERTION = 126, MARK = 127, SUGGESTION = 128, PUSH_BUTTON_MENU = 129,
    SWITCH = 130,
}

use native::*;

/// The vocabulary's role. `web_role` is the page's own `xml-roles` where the toolkit gives it: it tells
/// landmarks, switches and timers apart, for which AT-SPI has one role or none.
pub fn map(native: u32, states: States, web_role: Option<&str>) -> Role {
    if let Some(role) = web_role.and_then(|r| from_web(r, native)) {
        return role;
    }
    match native {
        ALERT => Role::AlertDialog,
        INFO_BAR | NOTIFICATION => Role::Alert,
        DIALOG | COLOR_CHOOSER | FILE_CHOOSER | FONT_CHOOSER | OPTION_PANE => Role::Dialog,
        FRAME | WINDOW | INTERNAL_FRAME | INPUT_METHOD_WINDOW | DESKTOP_FRAME => Role::Window,
        APPLICATION => Role::Application,
        PUSH_BUTTON if states.has(States::HAS_POPUP) => Role::MenuButton,
        PUSH_BUTTON | TOGGLE_BUTTON | ARROW => Role::Button,
        PUSH_BUTTON_MENU => Role::MenuButton,
        COLUMN_HEADER | ROW_HEADER | TABLE_COLUMN_HEADER | TABLE_ROW_HEADER | TABLE_CELL => Role::Cell,
        CHECK_BOX => Role::CheckBox,
        SWITCH => Role::Switch,
        RADIO_BUTTON => Role::RadioButton,
        CHECK_MENU_ITEM | RADIO_MENU_ITEM | MENU_ITEM | TEAROFF_MENU_ITEM => Role::MenuItem,
        // An entry that opens a submenu has the role "menu" as well; only entries can be selected.
        MENU if states.has(States::SELECTABLE) => Role::MenuItem,
        MENU | POPUP_MENU | MENU_BAR => Role::Menu,
        COMBO_BOX => Role::ComboBox,
        AUTOCOMPLETE | ENTRY | PASSWORD_TEXT | TERMINAL | TEXT | EDITBAR => Role::TextField,
        // Editors of dates are composite: the parts carry the values.
        DATE_EDITOR => Role::DateField,
        CALENDAR => Role::Grid,
        SPIN_BUTTON => Role::Incrementor,
        SLIDER | DIAL => Role::Slider,
        PROGRESS_BAR => Role::ProgressBar,
        LEVEL_BAR | RATING => Role::LevelIndicator,
        SCROLL_BAR => Role::ScrollBar,
        SCROLL_PANE | VIEWPORT => Role::ScrollArea,
        SEPARATOR => Role::Separator,
        SPLIT_PANE => Role::Splitter,
        STATUS_BAR => Role::Status,
        TABLE | DOCUMENT_SPREADSHEET => Role::Table,
        TABLE_ROW => Role::Row,
        TREE | TREE_TABLE => Role::Outline,
        TREE_ITEM => Role::TreeItem,
        LIST_BOX => Role::ListBox,
        LIST if states.has(States::MULTISELECTABLE) => Role::ListBox,
        LIST | DESCRIPTION_LIST => Role::List,
        // A list item that can be chosen is an option; one that only structures text is not interactive.
        LIST_ITEM if states.has(States::SELECTABLE | States::FOCUSABLE) => Role::Option,
        LIST_ITEM => Role::LayoutItem,
        PAGE_TAB => Role::Tab,
        PAGE_TAB_LIST => Role::TabList,
        TOOL_BAR => Role::Toolbar,
        TOOL_TIP => Role::Tooltip,
        LINK => Role::Link,
        LABEL | STATIC | ACCELERATOR_LABEL | CAPTION | FOOTNOTE | SUBSCRIPT | SUPERSCRIPT => Role::StaticText,
        PARAGRAPH | BLOCK_QUOTE => Role::Paragraph,
        HEADING => Role::Heading,
        IMAGE | ICON | DESKTOP_ICON | ANIMATION | IMAGE_MAP | CHART | CANVAS | DRAWING_AREA => Role::Image,
        RULER => Role::Ruler,
        FORM => Role::Form,
        ARTICLE => Role::Article,
        COMMENT | SUGGESTION => Role::Note,
        LANDMARK => Role::Region,
        LOG => Role::Log,
        MARQUEE => Role::Marquee,
        MATH | MATH_FRACTION | MATH_ROOT => Role::Math,
        TIMER => Role::Timer,
        DESCRIPTION_TERM => Role::Term,
        DESCRIPTION_VALUE | DEFINITION => Role::Definition,
        DOCUMENT_WEB => Role::WebArea,
        DOCUMENT_FRAME | DOCUMENT_PRESENTATION | DOCUMENT_TEXT | DOCUMENT_EMAIL | HTML_CONTAINER => Role::Document,
        PANEL | FILLER | SECTION | GROUPING | GLASS_PANE | LAYERED_PANE | ROOT_PANE | DIRECTORY_PANE | HEADER
        | FOOTER | PAGE | TITLE_BAR | EMBEDDED | AUDIO | VIDEO | CONTENT_DELETION | CONTENT_INSERTION | MARK
        | REDUNDANT_OBJECT | FOCUS_TRAVERSABLE => Role::Group,
        _ => Role::Unknown,
    }
}

/// Roles that the page names and AT-SPI flattens.
fn from_web(web_role: &str, native: u32) -> Option<Role> {
    let first = web_role.split_ascii_whitespace().next()?;
    Some(match (first, native) {
        ("alertdialog", _) => Role::AlertDialog,
        ("alert", _) => Role::Alert,
        ("switch", _) => Role::Switch,
        ("banner", _) => Role::Banner,
        ("complementary", _) => Role::Complementary,
        ("contentinfo", _) => Role::ContentInfo,
        ("main", _) => Role::Main,
        ("navigation", _) => Role::Navigation,
        ("search", _) => Role::Search,
        ("region", _) => Role::Region,
        ("radiogroup", _) => Role::RadioGroup,
        ("tabpanel", _) => Role::TabPanel,
        ("grid" | "treegrid", TABLE) => Role::Grid,
        ("listbox", LIST | LIST_BOX) => Role::ListBox,
        ("note", _) => Role::Note,
        ("status", _) => Role::Status,
        ("timer", _) => Role::Timer,
        _ => return None,
    })
}

/// Whether the native role is one of an item of a collection (decisions D1).
pub fn is_item(native: u32) -> bool {
    matches!(
        native,
        LIST_ITEM
            | TREE_ITEM
            | TABLE_ROW
            | TABLE_CELL
            | COLUMN_HEADER
            | ROW_HEADER
            | TABLE_COLUMN_HEADER
            | TABLE_ROW_HEADER
            | ICON
    )
}

/// Whether the element is a piece of text that labels others or stands for itself.
pub fn is_label(native: u32) -> bool {
    matches!(native, LABEL | STATIC | ACCELERATOR_LABEL | CAPTION)
}

/// Whether the element is a top-level window of its application.
pub fn is_window(native: u32) -> bool {
    matches!(
        native,
        FRAME
            | WINDOW
            | DIALOG
            | ALERT
            | FILE_CHOOSER
            | COLOR_CHOOSER
            | FONT_CHOOSER
            | OPTION_PANE
            | INPUT_METHOD_WINDOW
            | DESKTOP_FRAME
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_role_up_to_the_newest_is_mapped() {
        let none = States::default();
        let unmapped: Vec<_> = (0..=SWITCH).filter(|r| map(*r, none, None) == Role::Unknown).filter_map(name).collect();
        assert_eq!(unmapped, ["INVALID", "UNKNOWN", "EXTENDED"]);
        assert!((0..=SWITCH).all(|r| name(r).is_some()));
        assert_eq!(map(131, none, None), Role::Unknown);
    }

    #[test]
    fn list_items_are_options_where_they_can_be_chosen() {
        assert_eq!(map(LIST_ITEM, States(States::SELECTABLE), None), Role::Option);
        assert_eq!(map(LIST_ITEM, States(0), None), Role::LayoutItem);
    }

    #[test]
    fn pages_tell_what_atspi_flattens() {
        assert_eq!(map(LANDMARK, States(0), Some("navigation")), Role::Navigation);
        assert_eq!(map(TOGGLE_BUTTON, States(0), Some("switch")), Role::Switch);
        assert_eq!(map(LANDMARK, States(0), Some("odd")), Role::Region);
    }
}
