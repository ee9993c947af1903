//! org.a11y.atspi.Application. The private socket is the engine's business.

use super::{Answer, View, ok};
use crate::call::Call;
use crate::wire::Body;

/// Property names.
pub const PROPERTIES: &[&str] = &["ToolkitName", "Version", "AtspiVersion", "Id"];

/// Methods.
pub fn method(_view: &mut View<'_>, call: &Call) -> Answer {
    match call.member.as_str() {
        "GetLocale" => ok(Body::string("en_US.UTF-8")),
        _ => None,
    }
}

/// Properties.
pub fn property(view: &mut View<'_>, name: &str) -> Option<Body> {
    let app = view.app();
    Some(match name {
        "ToolkitName" => Body::string(&app.spec.toolkit.name),
        "Version" | "ToolkitVersion" => Body::string(&app.spec.toolkit.version),
        "AtspiVersion" if app.spec.toolkit.name != "Qt" => Body::string("2.1"),
        "Id" => Body::int(app.application_id),
        _ => return None,
    })
}
