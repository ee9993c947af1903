//! Answers to writes, by toolkit (spec 1 §6 "Mutation classifier", decisions D5). Pure. Shares nothing with the
//! read table: codes that make a read worth repeating are exactly those where a write may have landed.

use crate::atspi::toolkit::Toolkit;
use crate::bus::CallError;
use agent_desktop_core::error::{Code, Error};
use agent_desktop_core::platform::WriteOutcome;

/// What was written: the same answer means different things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Write {
    /// `Action.DoAction`
    DoAction,
    /// `EditableText.SetTextContents`, `InsertText`, `DeleteText`
    Text,
    /// `Value.CurrentValue`
    Value,
    /// `Selection.SelectChild`, `Table.AddRowSelection`
    Select,
    /// `Component.GrabFocus`
    Focus,
    /// `Component.ScrollTo`
    ScrollTo,
}

/// The answer of a call that returns yes or no.
pub fn answered(yes: bool, write: Write, toolkit: Toolkit) -> WriteOutcome {
    match yes {
        true => WriteOutcome::Accepted,
        false if no_is_proof(write, toolkit) => WriteOutcome::Absent("answered no, and does nothing then".to_owned()),
        // Return values lie in both directions (FINDINGS §5): a no alone proves nothing.
        false => WriteOutcome::Uncertain("the application answered no".to_owned()),
    }
}

/// Where a no was seen to leave the element as it was.
fn no_is_proof(write: Write, toolkit: Toolkit) -> bool {
    use Toolkit::*;
    match (write, toolkit) {
        // FINDINGS §5 "combo / select", "list select": tree tables, lists without selection, Chromium's menus and
        // tab lists answer no and select nothing.
        (Write::Select, Gtk3 | Gtk4 | Chromium) => true,
        // docs/linux-actions.md "scroll-to": a button in a scrolled window, extents and scroll bar as before.
        (Write::ScrollTo, Gtk3) => true,
        // FINDINGS §5 "GrabFocus": Qt 6 on an editor inside a combo.
        (Write::Focus, Qt5 | Qt6) => true,
        _ => false,
    }
}

/// An error in place of the answer.
pub fn failed(error: &CallError, write: Write, toolkit: Toolkit) -> WriteOutcome {
    let (name, message) = match error {
        CallError::Late { sent: false } => return WriteOutcome::Refused(unsent("the time was up before it was sent")),
        CallError::Broken { sent: false, why } | CallError::Invalid(why) => {
            return WriteOutcome::Refused(unsent("it could not be sent").platform(why.clone()));
        }
        CallError::Late { sent: true } => return WriteOutcome::NoReply,
        CallError::Broken { sent: true, why } => return WriteOutcome::Uncertain(why.clone()),
        // It answered, only not in the shape that it should: it was reached.
        CallError::Malformed(why) => return WriteOutcome::Uncertain(why.clone()),
        CallError::Remote { name, message } => (name.as_str(), message.as_str()),
    };
    let native = || if message.is_empty() { name.to_owned() } else { format!("{name}: {message}") };
    match name.strip_prefix("org.freedesktop.DBus.Error.").unwrap_or(name) {
        // The bus itself says that nobody of that name took it (FINDINGS §4 "Verdict").
        "ServiceUnknown" | "NameHasNoOwner" => WriteOutcome::Refused(gone(true).platform(native())),
        "NoReply" | "Timeout" | "TimedOut" => {
            // The bus says NoReply at once where the receiver left the bus after it had been given the message.
            match message.contains("disconnected") || message.contains("did not receive a reply") {
                true => WriteOutcome::Uncertain(format!("the process ended: {}", native())),
                false => WriteOutcome::NoReply,
            }
        }
        "Disconnected" => WriteOutcome::Uncertain(native()),
        // GTK 4: "Object does not exist at path" (FINDINGS §4).
        "UnknownMethod" if message.contains("does not exist at path") => {
            WriteOutcome::Refused(gone(false).platform(native()))
        }
        "UnknownMethod" | "UnknownInterface" | "UnknownProperty" | "NotSupported" | "PropertyReadOnly" => {
            WriteOutcome::Absent(native())
        }
        // Qt says so of a dead path, of an unknown method, and of an action that a live object doesn't have now
        // (FINDINGS §4 "NB"): in each case nothing was done.
        "UnknownObject" if toolkit.unknown_object_is_ambiguous() => WriteOutcome::Absent(native()),
        "UnknownObject" => WriteOutcome::Refused(gone(false).platform(native())),
        "AccessDenied" | "AuthFailed" => WriteOutcome::Refused(
            Error::before(Code::PermDenied, "the bus refused to deliver the action").platform(native()),
        ),
        // GTK 4's G_IO_ERROR_INVALID_ARGUMENT: no action of that number (FINDINGS §5 "Lies to know").
        "org.gtk.GDBus.UnmappedGError.Quark._g_2dio_2derror_2dquark.Code13"
            if write == Write::DoAction && toolkit == Toolkit::Gtk4 =>
        {
            WriteOutcome::Absent(native())
        }
        _ => WriteOutcome::Uncertain(native()),
    }
}

/// The element is gone, or with it its process: nothing was delivered.
fn gone(process: bool) -> Error {
    let what = if process { "the element's process has left the bus" } else { "the element is gone" };
    Error::before(Code::StaleRef, format!("{what}: nothing was delivered"))
        .kind("saved_ref_absent")
        .suggest("Take a new snapshot and use its ref.")
}

/// It never left this process.
fn unsent(why: &str) -> Error {
    Error::before(Code::Timeout, format!("the action was not sent: {why}")).kind("not_sent")
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_desktop_core::error::Delivery;

    const ALL: &[Write] = &[Write::DoAction, Write::Text, Write::Value, Write::Select, Write::Focus, Write::ScrollTo];

    fn remote(name: &str, message: &str) -> CallError {
        CallError::Remote { name: format!("org.freedesktop.DBus.Error.{name}"), message: message.to_owned() }
    }

    fn everywhere(error: &CallError, holds: impl Fn(&WriteOutcome) -> bool) {
        for toolkit in Toolkit::ALL {
            for write in ALL {
                let outcome = failed(error, *write, *toolkit);
                assert!(holds(&outcome), "{error:?} {write:?} {toolkit:?}: {outcome:?}");
            }
        }
    }

    #[test]
    fn what_was_sent_and_not_answered_may_have_landed() {
        everywhere(&CallError::Late { sent: true }, |o| *o == WriteOutcome::NoReply);
        everywhere(&remote("NoReply", ""), |o| *o == WriteOutcome::NoReply);
        let left = "Message recipient disconnected from message bus without replying";
        everywhere(
            &remote("NoReply", left),
            |o| matches!(o, WriteOutcome::Uncertain(w) if w.contains("process ended")),
        );
        everywhere(&CallError::Broken { sent: true, why: "x".into() }, |o| matches!(o, WriteOutcome::Uncertain(_)));
        everywhere(&CallError::Malformed("x".into()), |o| matches!(o, WriteOutcome::Uncertain(_)));
    }

    #[test]
    fn unclassified_may_have_landed() {
        for name in ["Failed", "LimitsExceeded", "InvalidArgs", "Weird"] {
            everywhere(&remote(name, "x"), |o| matches!(o, WriteOutcome::Uncertain(_)));
        }
        everywhere(&CallError::Remote { name: String::new(), message: String::new() }, |o| {
            matches!(o, WriteOutcome::Uncertain(_))
        });
    }

    #[test]
    fn refusals_say_that_nothing_was_delivered() {
        let refused =
            |o: &WriteOutcome| matches!(o, WriteOutcome::Refused(e) if e.delivery() == Delivery::NotDelivered);
        for e in [
            CallError::Late { sent: false },
            CallError::Invalid("x".into()),
            CallError::Broken { sent: false, why: "x".into() },
            remote("ServiceUnknown", "x"),
            remote("NameHasNoOwner", "x"),
            remote("AccessDenied", "x"),
            remote("UnknownMethod", "Object does not exist at path “/a”"),
        ] {
            everywhere(&e, refused);
        }
    }

    #[test]
    fn a_dead_object_is_stale_but_qt_says_the_same_of_a_missing_method() {
        let dead = remote("UnknownObject", "No such object path");
        for t in [Toolkit::Gtk3, Toolkit::Gecko, Toolkit::Chromium, Toolkit::LibreOffice, Toolkit::Other] {
            let WriteOutcome::Refused(e) = failed(&dead, Write::DoAction, t) else { panic!("{t:?}") };
            assert_eq!((e.code(), e.kind_name()), (Code::StaleRef, Some("saved_ref_absent")));
        }
        assert!(matches!(failed(&dead, Write::DoAction, Toolkit::Qt6), WriteOutcome::Absent(_)));
    }

    #[test]
    fn what_the_element_does_not_have_leaves_the_next_rung() {
        for name in ["UnknownMethod", "UnknownInterface", "UnknownProperty", "NotSupported"] {
            everywhere(&remote(name, "No such interface"), |o| matches!(o, WriteOutcome::Absent(_)));
        }
    }

    #[test]
    fn a_no_proves_nothing_unless_it_was_measured() {
        for toolkit in Toolkit::ALL {
            assert_eq!(answered(true, Write::DoAction, *toolkit), WriteOutcome::Accepted);
            assert!(matches!(answered(false, Write::DoAction, *toolkit), WriteOutcome::Uncertain(_)));
            assert!(matches!(answered(false, Write::Text, *toolkit), WriteOutcome::Uncertain(_)));
        }
        assert!(matches!(answered(false, Write::Select, Toolkit::Chromium), WriteOutcome::Absent(_)));
        assert!(matches!(answered(false, Write::Select, Toolkit::Gecko), WriteOutcome::Uncertain(_)));
    }
}
