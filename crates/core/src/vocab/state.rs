//! States: the closed set of 17 tokens, each emitted on positive evidence only (spec 1 §3).

use super::{vocabulary, vocabulary_set};

vocabulary! {
    /// A state an element positively reports.
    State {
        Focused = "focused", Disabled = "disabled", Secure = "secure", Expanded = "expanded",
        Checked = "checked", Selected = "selected", Hidden = "hidden", Busy = "busy", Modal = "modal",
        Required = "required", Indeterminate = "indeterminate", Pressed = "pressed", Readonly = "readonly",
        Offscreen = "offscreen", Invalid = "invalid", Multiselectable = "multiselectable", HasPopup = "haspopup",
    }
}

vocabulary_set! {
    /// The states of one element.
    StateSet of State as u32
}
