//! Capabilities: what an element positively offers (`available_actions`, spec 1 §3).

use super::{vocabulary, vocabulary_set};

vocabulary! {
    /// One thing that can be done to an element.
    Capability {
        Click = "Click", RightClick = "RightClick", SetValue = "SetValue", SetFocus = "SetFocus",
        Expand = "Expand", Collapse = "Collapse", Select = "Select", Toggle = "Toggle", Scroll = "Scroll",
        ScrollTo = "ScrollTo", PressKey = "PressKey", KeyDown = "KeyDown", KeyUp = "KeyUp",
        TypeText = "TypeText", Hover = "Hover", Drag = "Drag", Check = "Check", Uncheck = "Uncheck",
    }
}

vocabulary_set! {
    /// The capabilities of one element.
    CapabilitySet of Capability as u32
}
