//! Writing: ways of doing an action on an element, and running the one that core picks (architecture: Operate).
//!
//! ```text
//! offer ─ ladder, options, scroll ─▶ plans as rungs ─ check, watch ─▶ dispatch ─▶ outcome by its own table
//! ```
//! Everything is a function of the bus, so that the platform has only to pass it on.

pub mod check;
pub mod dispatch;
pub mod event;
pub mod ladder;
pub mod offer;
pub mod options;
pub mod plan;
pub mod popup;
pub mod scroll;
pub mod selection;
pub mod watch;

use crate::LinuxPlatform;
use crate::atspi::interface::Interfaces;
use crate::atspi::role::native as n;
use crate::bus::{Object, Wire};
use agent_desktop_core::act::verify::same_text;
use agent_desktop_core::deadline::Deadline;
use agent_desktop_core::error::{Code, Error};
use agent_desktop_core::evidence::{Cause, Evidence};
use agent_desktop_core::platform::{Action, Dispatch, Live, Operate, Rung, Watch};
use agent_desktop_core::tree::raw::Handle;
use agent_desktop_core::vocab::role::Role;
use offer::Offer;
use plan::Plan;

pub use dispatch::dispatch;
pub use selection::selection;

impl Operate for LinuxPlatform {
    fn rungs(&self, target: &Live, action: &Action, deadline: Deadline) -> Result<Vec<Rung>, Error> {
        rungs(&*self.bus, target, action, deadline)
    }

    fn watch(&self, target: &Live, deadline: Deadline) -> Box<dyn Watch> {
        dispatch::watch(self, target, deadline)
    }

    fn dispatch(&self, target: &Live, action: &Action, rung: &Rung, deadline: Deadline) -> Dispatch {
        dispatch(&self.bus, target, action, rung, deadline)
    }
}

/// The display texts of what is selected in a container (`Observe::selection`).
pub(crate) fn selected(platform: &LinuxPlatform, target: &Handle, deadline: Deadline) -> Evidence<Vec<String>> {
    match Object::from_handle(target) {
        Some(object) => selection(&*platform.bus, &object, deadline),
        None => Evidence::Unknown(Cause::Fault("this is no address of the Linux adapter".to_owned())),
    }
}

/// Ways to do the action on the element, best first (`Operate::rungs`). Reads, never writes.
pub fn rungs(wire: &dyn Wire, target: &Live, action: &Action, deadline: Deadline) -> Result<Vec<Rung>, Error> {
    let Some(object) = Object::from_handle(&target.handle) else {
        return Err(Error::before(Code::Internal, "the element's address is none of this adapter's"));
    };
    let mut offer = Offer::read(wire, &object, deadline)?;
    offer.opens = matches!(target.facts.role, Evidence::Known(Role::MenuButton | Role::ComboBox));
    let plans = match action {
        Action::Select(wanted) => select(wire, &offer, wanted, deadline)?,
        Action::Scroll { direction, amount } => scroll::ways(wire, &offer, *direction, *amount, deadline)?,
        Action::ScrollTo if !offer.toolkit.scrolls_to() => scroll::ways_to(wire, &offer, deadline)?,
        _ => ladder::ways(&offer, action)?,
    };
    Ok(plans.iter().map(|p| Rung { unheard: ladder::unheard(&offer, p), ..p.rung(offer.toolkit) }).collect())
}

/// A drop-down that is a row of a list has no button: it is opened by a press of the row, and rows take none (seen in
/// gnome-clocks). What it shows is chosen already.
fn closed_row(items: &[options::Item], wanted: &str) -> Result<Vec<Plan>, Error> {
    if matches!(items, [one] if same_text(&one.text, wanted)) {
        return Ok(vec![Plan::Already]);
    }
    let what = "this combo box lists its options only while it is open, and has no button that opens it";
    Err(Error::before(Code::ActionNotSupported, what)
        .kind("no_semantic_way")
        .suggest("Only the pointer opens it: see --headed where it is available, or look for another control."))
}

/// The option with this text in a container, or the element itself where it is that option.
fn select(wire: &dyn Wire, offer: &Offer, wanted: &str, deadline: Deadline) -> Result<Vec<Plan>, Error> {
    let own = options::own(wire, offer, deadline)?;
    if let Some(own) = own.as_ref().filter(|own| same_text(&own.text, wanted)) {
        let container = Offer {
            object: own.parent.clone(),
            role: own.parent_role,
            interfaces: own.parent_interfaces,
            actions: Vec::new(),
            ..offer.clone()
        };
        return options::ways(&container, own, offer);
    }
    if let Some(button) = popup::button(wire, offer, deadline).filter(|_| ladder::drops_down(offer.toolkit)) {
        return Ok(vec![Plan::ChooseInPopup { button: button.handle() }]);
    }
    let items = options::gather(wire, offer.toolkit, offer, deadline)?;
    let listed = offer.interfaces.has(Interfaces::SELECTION);
    if offer.role == n::COMBO_BOX && !listed && ladder::drops_down(offer.toolkit) {
        return closed_row(&items, wanted);
    }
    if items.is_empty() && offer.role == n::COMBO_BOX {
        return Ok(Vec::new());
    }
    let item = match (options::one(items, wanted), own) {
        (Err(none), Some(own)) if none.kind_name() == Some("select_menu_item_not_found") => {
            return Err(none.detail("own_text", own.text.clone()).suggest(
                "This element is an option itself: its text is in details.own_text. Select it by that, by its container, or \
                 click it.",
            ));
        }
        (item, _) => item?,
    };
    let own = Offer::read(wire, &item.object, deadline)?;
    options::ways(offer, &item, &own)
}
