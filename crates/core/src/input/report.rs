//! The answers of physical commands: what was planned, what was delivered, and what became of what was down
//! (spec 1 §7 "Release guard", spec 3 OperationReport).

use crate::error::{Delivery, Error, Result};
use crate::platform::{Played, Release};
use serde_json::{Map, Value, json};

/// What is known about delivery after a sequence that was played. Physical input never verifies itself.
pub fn delivery(played: &Played) -> Delivery {
    match played {
        Played { stopped: None, uncertain: false, .. } => Delivery::DeliveredUnverified,
        Played { uncertain: true, .. } => Delivery::DeliveryUncertain,
        Played { touched: false, .. } => Delivery::NotDelivered,
        _ => Delivery::DeliveredUnverified,
    }
}

/// The error of a sequence that ended early, with what was delivered before; nothing where it was played to its end.
pub fn stopped(played: &Played) -> Option<Error> {
    let error = match (&played.stopped, played.uncertain) {
        (None, false) => return None,
        (Some(error), _) => error.clone(),
        (None, true) => Error::new(
            crate::error::Code::ActionFailed,
            Delivery::DeliveryUncertain,
            "the display did not acknowledge all events",
        )
        .kind("input_unacknowledged"),
    };
    let delivery = delivery(played);
    let mut error = error
        .with_delivery(delivery)
        .detail("delivered_events", played.delivered)
        .detail("planned_events", played.planned);
    if played.release != Release::Complete {
        error = error
            .detail("emergency_release_posted", true)
            .detail("release_acknowledged", played.release == Release::Posted);
    }
    Some(match delivery {
        Delivery::NotDelivered => error,
        _ => error.suggest("A part of the input was delivered: read the state before anything else."),
    })
}

/// One OperationReport under way.
pub struct Operation {
    out: Map<String, Value>,
    details: Map<String, Value>,
}

impl Operation {
    /// A report of this action with its target and what was asked.
    pub fn new(action: &str, target: Value, requested: Value) -> Self {
        let mut out = Map::new();
        out.insert("action".into(), json!(action));
        out.insert("target".into(), target);
        out.insert("requested".into(), requested);
        Self { out, details: Map::new() }
    }

    /// Adds what was read back.
    #[must_use]
    pub fn observed(mut self, observed: Value) -> Self {
        if observed.as_object().is_none_or(|o| !o.is_empty()) {
            self.out.insert("observed".into(), observed);
        }
        self
    }

    /// Adds one detail.
    #[must_use]
    pub fn detail(mut self, name: &str, value: Value) -> Self {
        self.details.insert(name.into(), value);
        self
    }

    /// The answer, with the one step that was taken; the error where the sequence ended early.
    pub fn finish(mut self, label: &str, played: &Played, verified: bool) -> Result<Value> {
        if let Some(error) = stopped(played) {
            return Err(error);
        }
        self.out.insert("steps".into(), json!([step(label, verified)]));
        self.details.insert("delivered_events".into(), json!(played.delivered));
        self.out.insert("details".into(), Value::Object(self.details));
        let delivery = if verified { Delivery::DeliveredVerified } else { delivery(played) };
        self.out.insert("disposition".into(), delivery.disposition());
        Ok(Value::Object(self.out))
    }
}

/// One physical step that was played to its end.
pub fn step(label: &str, verified: bool) -> Value {
    let mut step = json!({"label": label, "outcome": "succeeded", "mechanism": "physical_synthetic"});
    if verified && let Some(map) = step.as_object_mut() {
        map.insert("verified".into(), json!(true));
    }
    step
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Code;

    fn played(touched: bool, uncertain: bool, stopped: bool) -> Played {
        Played {
            planned: 4,
            delivered: 2,
            touched,
            uncertain,
            stopped: stopped.then(|| Error::before(Code::ActionFailed, "covered").kind("window_covered")),
            release: if stopped { Release::Posted } else { Release::Complete },
        }
    }

    #[test]
    fn only_motion_before_the_stop_is_not_delivered() {
        let error = super::stopped(&played(false, false, true)).unwrap();
        assert_eq!(error.delivery(), Delivery::NotDelivered);
        let error = super::stopped(&played(true, false, true)).unwrap();
        assert_eq!(error.delivery(), Delivery::DeliveredUnverified);
        assert_eq!(error.details()["emergency_release_posted"], true);
        assert_eq!(super::stopped(&played(true, true, true)).unwrap().delivery(), Delivery::DeliveryUncertain);
        assert_eq!(super::stopped(&played(true, true, false)).unwrap().delivery(), Delivery::DeliveryUncertain);
        assert!(super::stopped(&played(true, false, false)).is_none());
    }
}
