//! The identifier that an application gave its element: a strong hint, never sufficient alone (spec 1 §3).

use super::vocabulary;
use serde::{Deserialize, Serialize};

vocabulary! {
    /// Where the identifier comes from.
    NativeIdKind {
        AxIdentifier = "ax_identifier", AxDomIdentifier = "ax_dom_identifier", AutomationId = "automation_id",
        RuntimeId = "runtime_id", AtspiObjectPath = "atspi_object_path", Unknown = "unknown",
    }
}

/// An identifier with its kind.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct NativeId {
    /// Where it comes from.
    pub kind: NativeIdKind,
    /// The application's own text.
    pub value: String,
}
