//! Errors of reads, by toolkit (spec 1 §5, FINDINGS §4 "answer on a dead path"). Pure.

use crate::atspi::toolkit::Toolkit;
use crate::bus::CallError;
use crate::bus::join::describe;
use agent_desktop_core::evidence::{Cause, Evidence};

/// What kind of question was asked: the same error means different things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// A method of `Accessible` itself (`GetState`, `GetRole`): every live object answers it.
    Liveness,
    /// A property of `Accessible` (`Name`): every live object has it.
    Core,
    /// Anything that an element need not have.
    Optional,
}

/// A failed read, classified (spec 1 §5).
#[derive(Clone, Debug, PartialEq)]
pub enum ReadOutcome {
    /// The element has no such thing. Never repeated.
    Absent,
    /// Transport: worth repeating until the deadline.
    Retryable(Cause),
    /// The element is gone, with the answer that says so.
    Gone(String),
    /// Denied or unclassified: surfaced as it is.
    Terminal(Cause),
}

impl ReadOutcome {
    /// The evidence that remains.
    pub fn evidence<T>(self) -> Evidence<T> {
        match self {
            ReadOutcome::Absent => Evidence::Absent,
            ReadOutcome::Gone(_) => Evidence::Unknown(Cause::Gone),
            ReadOutcome::Retryable(c) | ReadOutcome::Terminal(c) => Evidence::Unknown(c),
        }
    }
}

/// Classifies a failed read.
pub fn classify(error: &CallError, toolkit: Toolkit, asked: Asked) -> ReadOutcome {
    let (name, message) = match error {
        CallError::Late { .. } => return ReadOutcome::Retryable(Cause::Late),
        CallError::Broken { why, .. } => return ReadOutcome::Retryable(Cause::Fault(why.clone())),
        CallError::Malformed(why) | CallError::Invalid(why) => return ReadOutcome::Terminal(Cause::Fault(why.clone())),
        CallError::Remote { name, message } => (name.as_str(), message.as_str()),
    };
    let gone = || ReadOutcome::Gone(describe(error));
    let fault = || Cause::Fault(describe(error));
    match name.strip_prefix("org.freedesktop.DBus.Error.").unwrap_or(name) {
        // Silence is late, never gone (FINDINGS §4 "Verdict").
        "NoReply" | "Timeout" | "TimedOut" => ReadOutcome::Retryable(Cause::Late),
        // The unique name has no owner any more; a bus never gives it again (FINDINGS §4).
        "ServiceUnknown" | "NameHasNoOwner" => gone(),
        // Qt says the same about an unknown method of a live object (FINDINGS §4 "NB").
        "UnknownObject" if asked == Asked::Optional && toolkit.unknown_object_is_ambiguous() => ReadOutcome::Absent,
        "UnknownObject" => gone(),
        // GTK 4: "Object does not exist at path".
        "UnknownMethod" if message.contains("does not exist at path") => gone(),
        "UnknownMethod" if asked == Asked::Liveness => ReadOutcome::Terminal(fault()),
        // Qt: properties of a dead path (FINDINGS §4); of a live object an interface that it doesn't have.
        "UnknownInterface" if asked != Asked::Optional && toolkit.unknown_interface_is_death() => gone(),
        "UnknownMethod" | "UnknownInterface" | "UnknownProperty" | "NotSupported" => ReadOutcome::Absent,
        // GLib's answer to a property that an interface doesn't have (GTK 4: AccessibleId).
        "InvalidArgs" if asked == Asked::Optional => ReadOutcome::Absent,
        "AccessDenied" | "AuthFailed" => ReadOutcome::Terminal(Cause::Denied),
        "Failed" | "LimitsExceeded" | "NoMemory" | "Disconnected" | "IOError" => ReadOutcome::Retryable(fault()),
        _ => ReadOutcome::Terminal(fault()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Asked::*;
    use Toolkit::*;

    fn remote(name: &str, message: &str) -> CallError {
        CallError::Remote { name: format!("org.freedesktop.DBus.Error.{name}"), message: message.to_owned() }
    }

    #[test]
    fn silence_is_late_never_gone() {
        for t in Toolkit::ALL {
            for asked in [Liveness, Core, Optional] {
                for e in [CallError::Late { sent: true }, remote("NoReply", "x"), remote("TimedOut", "x")] {
                    assert_eq!(classify(&e, *t, asked), ReadOutcome::Retryable(Cause::Late));
                }
            }
        }
    }

    #[test]
    fn death_by_toolkit() {
        let dead = |e: CallError, t, a| matches!(classify(&e, t, a), ReadOutcome::Gone(_));
        for t in [Gtk3, LibreOffice, Gecko, Chromium, Qt5, Qt6] {
            assert!(dead(remote("UnknownObject", "No such object path"), t, Liveness));
        }
        let gtk4 = || remote("UnknownMethod", "Object does not exist at path “/a”");
        assert!(dead(gtk4(), Gtk4, Liveness) && dead(gtk4(), Gtk4, Optional));
        assert!(dead(remote("UnknownInterface", ""), Qt6, Core));
        assert!(dead(remote("ServiceUnknown", ""), Gtk3, Optional));
    }

    #[test]
    fn a_live_object_without_the_thing_is_no_death() {
        let of = |e: CallError, t, a| classify(&e, t, a);
        assert_eq!(of(remote("UnknownObject", ""), Qt5, Optional), ReadOutcome::Absent);
        assert_eq!(of(remote("UnknownInterface", ""), Qt5, Optional), ReadOutcome::Absent);
        assert_eq!(of(remote("UnknownMethod", "No such interface"), Gtk4, Optional), ReadOutcome::Absent);
        assert_eq!(of(remote("InvalidArgs", "No such property"), Gtk4, Optional), ReadOutcome::Absent);
        assert!(matches!(of(remote("UnknownMethod", "what"), Gtk3, Liveness), ReadOutcome::Terminal(_)));
    }

    #[test]
    fn unclassified_is_terminal() {
        assert!(matches!(classify(&remote("Weird", ""), Gtk3, Optional), ReadOutcome::Terminal(_)));
        assert_eq!(classify(&remote("AccessDenied", ""), Gtk3, Core), ReadOutcome::Terminal(Cause::Denied));
        assert!(matches!(
            classify(&CallError::Malformed("x".into()), Gtk3, Core),
            ReadOutcome::Terminal(Cause::Fault(_))
        ));
    }
}
