//! Roles: the closed set of 80 tokens and their classes (spec 1 §3).

use super::vocabulary;

vocabulary! {
    /// What an element is. Adapters never invent a token; an unrecognised native role is `Unknown`.
    Role {
        Alert = "alert", AlertDialog = "alertdialog", Application = "application", Article = "article",
        Banner = "banner", Browser = "browser", Button = "button", Cell = "cell", CheckBox = "checkbox",
        ColorWell = "colorwell", Column = "column", ComboBox = "combobox", Complementary = "complementary",
        ContentInfo = "contentinfo", DateField = "datefield", Definition = "definition", Dialog = "dialog",
        Disclosure = "disclosure", DockItem = "dockitem", Document = "document", Drawer = "drawer",
        Form = "form", Grid = "grid", Group = "group", Handle = "handle", Heading = "heading",
        HelpTag = "helptag", Image = "image", Incrementor = "incrementor", LayoutItem = "layoutitem",
        LevelIndicator = "levelindicator", Link = "link", List = "list", ListBox = "listbox", Log = "log",
        Main = "main", Marquee = "marquee", Matte = "matte", Math = "math", Menu = "menu",
        MenuButton = "menubutton", MenuItem = "menuitem", Navigation = "navigation", Note = "note",
        Option = "option", Outline = "outline", Paragraph = "paragraph", Popover = "popover",
        ProgressBar = "progressbar", RadioButton = "radiobutton", RadioGroup = "radiogroup",
        Region = "region", RelevanceIndicator = "relevanceindicator", Row = "row", Ruler = "ruler",
        RulerMarker = "rulermarker", ScrollArea = "scrollarea", ScrollBar = "scrollbar", Search = "search",
        Separator = "separator", Sheet = "sheet", Slider = "slider", Splitter = "splitter",
        StaticText = "statictext", Status = "status", Switch = "switch", Tab = "tab", TabList = "tablist",
        TabPanel = "tabpanel", Table = "table", TextField = "textfield", Term = "term",
        TimeField = "timefield", Timer = "timer", Toolbar = "toolbar", Tooltip = "tooltip",
        TreeItem = "treeitem", WebArea = "webarea", Window = "window", Unknown = "unknown",
    }
}

impl Role {
    /// Whether the role alone earns a ref: the 18 interactive roles.
    pub fn interactive(self) -> bool {
        use Role::*;
        matches!(
            self,
            Button
                | Cell
                | CheckBox
                | ColorWell
                | ComboBox
                | DockItem
                | Incrementor
                | Link
                | ListBox
                | MenuButton
                | MenuItem
                | Option
                | RadioButton
                | Slider
                | Switch
                | Tab
                | TextField
                | TreeItem
        )
    }

    /// Whether `is --property checked` applies by role.
    pub fn toggleable(self) -> bool {
        matches!(self, Role::CheckBox | Role::Switch | Role::RadioButton)
    }

    /// Whether `is --property expanded` applies by role.
    pub fn expandable(self) -> bool {
        matches!(self, Role::ComboBox | Role::MenuButton | Role::TreeItem | Role::Disclosure)
    }

    /// Whether the element's value may change in use, so that it is never identity.
    pub fn mutable_value(self) -> bool {
        use Role::*;
        matches!(self, ComboBox | CheckBox | Incrementor | ListBox | RadioButton | Slider | Switch | TextField)
    }

    /// Whether `get --property text` answers with the value.
    pub fn text_is_value(self) -> bool {
        use Role::*;
        matches!(self, TextField | ComboBox | ListBox | DateField | TimeField)
    }

    /// The role that a query names: a token or one of the aliases, case-insensitive and trimmed.
    pub fn from_query(text: &str) -> Option<Self> {
        let token = text.trim().to_ascii_lowercase();
        let token = match token.as_str() {
            "gridcell" => "cell",
            "img" => "image",
            "radio" => "radiobutton",
            "searchbox" | "searchfield" | "textarea" | "textbox" => "textfield",
            "spinbutton" => "incrementor",
            "togglebutton" => "button",
            "tree" => "outline",
            other => other,
        };
        Self::from_token(token)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_set_has_80_tokens_and_18_interactive_ones() {
        assert_eq!(Role::ALL.len(), 80);
        assert_eq!(Role::ALL.iter().filter(|r| r.interactive()).count(), 18);
    }

    #[test]
    fn queries_take_aliases_and_fail_closed() {
        assert_eq!(Role::from_query(" TextBox "), Some(Role::TextField));
        assert_eq!(Role::from_query("tree"), Some(Role::Outline));
        assert_eq!(Role::from_query("knob"), None);
    }
}
