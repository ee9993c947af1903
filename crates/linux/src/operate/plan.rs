//! One way of doing an action, as data: what a rung carries from its proposal to its dispatch.

use crate::atspi::toolkit::Toolkit;
use crate::bus::Object;
use agent_desktop_core::platform::{Mechanism, Policy, Rung};
use agent_desktop_core::tree::raw::Handle;
use serde::{Deserialize, Serialize};

/// The state that an action wants, looked at once more right before it: a toggle sent to an element that changed by
/// itself would undo what was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Guard {
    /// None.
    None,
    /// It must not be checked yet.
    Unchecked,
    /// It must still be checked.
    Checked,
    /// It must not be expanded yet.
    Folded,
    /// It must still be expanded.
    Unfolded,
    /// It must not be selected yet.
    Unselected,
}

/// One option of a container, with where it was found: the parent still has it at that index, or nothing is sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// The object whose child it is.
    pub parent: Handle,
    /// Its index there.
    pub index: i32,
    /// The option.
    pub item: Handle,
    /// Where the text stands by which it was told.
    pub text_at: Handle,
    /// That text.
    pub text: String,
}

/// One way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Plan {
    /// `Action.DoAction` of the action with this name. The index is where it was last seen; the name is read again at
    /// that index right before, since an index out of range is answered with yes (FINDINGS §5 "Lies to know").
    Do {
        /// The action's name.
        name: String,
        /// Where it was.
        index: i32,
        /// What must hold before.
        guard: Guard,
    },
    /// `EditableText.SetTextContents`
    SetText,
    /// `Value.CurrentValue`
    SetNumber(f64),
    /// `EditableText.InsertText` at the caret, or over the selection.
    Insert,
    /// `Component.GrabFocus`
    GrabFocus,
    /// `Component.GrabFocus` for its side effect: scrolled windows follow the focus.
    FocusIntoView,
    /// `Selection.SelectChild` on the option's parent, or on the combo box where that has the interface.
    SelectChild {
        /// The object with the interface.
        on: Handle,
        /// The option.
        choice: Choice,
    },
    /// `Action.DoAction` on the option.
    DoOnChoice {
        /// The action's name.
        name: String,
        /// Where it was.
        index: i32,
        /// What must hold before.
        guard: Guard,
        /// The option.
        choice: Choice,
    },
    /// `Table.AddRowSelection` of the cell's row.
    SelectRow {
        /// The table.
        on: Handle,
        /// The option.
        choice: Choice,
    },
    /// GTK 4's drop-down: open, select in the list that appears, activate (docs/linux-actions.md).
    ChooseInPopup {
        /// The button that opens it.
        button: Handle,
    },
    /// `Component.ScrollTo`
    ScrollTo,
    /// The value of a scroll bar, moved so that the target's place comes into view.
    BarTo {
        /// The scroll bar's value.
        bar: Handle,
        /// The scrolled window.
        pane: Handle,
        /// Whether it moves sideways.
        sideways: bool,
    },
    /// The value of a scroll bar, moved by steps.
    Bar {
        /// The scroll bar's value.
        bar: Handle,
        /// Steps: negative up or left.
        steps: i64,
    },
    /// `Action.DoAction` of a scroll action, repeated: Chromium's areas have one for each direction.
    Page {
        /// The scrolled area.
        on: Handle,
        /// The action's name.
        name: String,
        /// Where it was.
        index: i32,
        /// How often.
        times: u32,
    },
    /// It is so already: nothing is sent. For ways that would undo it.
    Already,
}

impl Plan {
    /// As a rung. The key carries the toolkit, so that it is asked for once.
    pub fn rung(&self, toolkit: Toolkit) -> Rung {
        let label = match self {
            Plan::Do { name, .. } | Plan::DoOnChoice { name, .. } | Plan::Page { name, .. } => {
                format!("Action.DoAction({name})")
            }
            Plan::SetText => "EditableText.SetTextContents".to_owned(),
            Plan::SetNumber(_) | Plan::Bar { .. } | Plan::BarTo { .. } => "Value.CurrentValue".to_owned(),
            Plan::Insert => "EditableText.InsertText".to_owned(),
            Plan::GrabFocus | Plan::FocusIntoView => "Component.GrabFocus".to_owned(),
            Plan::SelectChild { .. } => "Selection.SelectChild".to_owned(),
            Plan::SelectRow { .. } => "Table.AddRowSelection".to_owned(),
            Plan::ChooseInPopup { .. } => "Selection.SelectChild in the popup, then activate".to_owned(),
            Plan::ScrollTo => "Component.ScrollTo".to_owned(),
            Plan::Already => "already so: nothing sent".to_owned(),
        };
        // Where only the focus brings an element into view, the caller must permit that it moves.
        let needs = match self {
            Plan::FocusIntoView => Policy::FocusFallback,
            _ => Policy::Headless,
        };
        let key = Toolkit::ALL.iter().position(|t| *t == toolkit).and_then(|at| u32::try_from(at).ok());
        Rung {
            label,
            mechanism: Mechanism::SemanticApi,
            needs,
            unheard: false,
            key: key.unwrap_or(u32::MAX),
            argument: serde_json::to_string(self).unwrap_or_default(),
        }
    }

    /// The way and the toolkit of a rung that [`Plan::rung`] made.
    pub fn of(rung: &Rung) -> Option<(Self, Toolkit)> {
        let toolkit = usize::try_from(rung.key).ok().and_then(|at| Toolkit::ALL.get(at))?;
        Some((serde_json::from_str(&rung.argument).ok()?, *toolkit))
    }
}

/// The object of a handle that stands in a plan.
pub fn object(handle: &Handle) -> Option<Object> {
    Object::from_handle(handle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rung_carries_its_plan() {
        for plan in [
            Plan::Do { name: "click".into(), index: 1, guard: Guard::Unchecked },
            Plan::SetNumber(0.1 + 0.2),
            Plan::GrabFocus,
        ] {
            for toolkit in Toolkit::ALL {
                assert_eq!(Plan::of(&plan.rung(*toolkit)), Some((plan.clone(), *toolkit)));
            }
        }
        let mut odd = Plan::SetText.rung(Toolkit::Gtk3);
        odd.argument = "{}".into();
        assert_eq!(Plan::of(&odd), None);
    }
}
