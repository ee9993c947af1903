//! Which faults apply to a call, and how they bend a reply.

use crate::call::{Call, Reply};
use crate::read::Tweak;
use crate::scenario::{Doing, Effect, Fault, Scenario, When, id_matches, parse_hex};
use crate::steps::Steps;
use crate::tree::Node;
use crate::wire::Body;

/// A fault and how often it was met.
#[derive(Debug)]
pub struct FaultState {
    fault: Fault,
    met: u64,
}

/// What the faults say about one call.
#[derive(Debug, Default)]
pub struct Verdict {
    /// The one that decides the reply.
    pub doing: Option<Doing>,
    /// Its explicit effect.
    pub effect: Option<Effect>,
    /// Steps before the reply.
    pub before: Vec<Steps>,
    /// Steps after the reply.
    pub after: Vec<Steps>,
}

impl FaultState {
    /// The faults of a scenario.
    pub fn all(scenario: &Scenario) -> Result<Vec<Self>, String> {
        Ok(scenario.faults.iter().map(|fault| Self { fault: fault.clone(), met: 0 }).collect())
    }

    /// Counts the call and says whether the fault applies to it.
    fn meets(&mut self, call: &Call, app: &str, node: Option<&Node>) -> bool {
        let wanted = &self.fault.matches;
        let app_fits = wanted.app.as_deref().is_none_or(|name| name == app);
        let node_fits =
            wanted.node.as_deref().is_none_or(|pattern| node.is_some_and(|node| id_matches(pattern, &node.id)));
        if !app_fits || !node_fits || !call.fits(wanted.interface.as_deref(), wanted.member.as_deref()) {
            return false;
        }
        self.met += 1;
        let since = self.met.checked_sub(self.fault.nth);
        since.is_some_and(|since| self.fault.times.is_none_or(|times| since < times))
    }
}

/// Looks through the faults: every `set` applies, of the others the first.
pub fn judge(faults: &mut [FaultState], call: &Call, app: &str, node: Option<&Node>) -> Verdict {
    let mut verdict = Verdict::default();
    for state in faults {
        if !state.meets(call, app, node) {
            continue;
        }
        match &state.fault.action {
            Doing::Set { when, steps } => match when {
                When::Before => verdict.before.push(steps.clone()),
                When::After => verdict.after.push(steps.clone()),
            },
            doing if verdict.doing.is_none() => {
                verdict.doing = Some(doing.clone());
                verdict.effect = state.fault.effect;
            }
            _ => {}
        }
    }
    verdict
}

impl Verdict {
    /// Whether and when a write takes effect.
    pub fn effect(&self) -> Effect {
        self.effect.unwrap_or(match &self.doing {
            Some(Doing::Never | Doing::Error { .. } | Doing::Die | Doing::LieTrue | Doing::SayFalse) => Effect::None,
            _ => Effect::Now,
        })
    }

    /// How a read is bent.
    pub fn tweak(&self) -> Tweak {
        let mut tweak = Tweak::default();
        match &self.doing {
            Some(Doing::NullRef) => tweak.null_ref = true,
            Some(Doing::ChildCount(count)) => tweak.child_count = Some(*count),
            Some(Doing::Cycle) => tweak.cycle = true,
            Some(Doing::Defunct) => tweak.defunct = true,
            Some(Doing::ParentNull) => tweak.parent_null = true,
            _ => {}
        }
        tweak
    }

    /// The reply after bending; an `Err` carries it unbent because the fault has no grip on it.
    pub fn bend(&self, reply: Reply) -> Result<Reply, Reply> {
        match &self.doing {
            Some(Doing::Error { name, message }) => Ok(Reply::error(name, message)),
            Some(Doing::LieTrue) => Ok(Body::boolean(true).into()),
            Some(Doing::SayFalse) => Ok(Body::boolean(false).into()),
            Some(Doing::Raw { signature, hex }) => {
                Ok(Reply::Ok(Body { signature: signature.clone(), bytes: parse_hex(hex).unwrap_or_default() }))
            }
            Some(Doing::WrongType) => match reply {
                Reply::Ok(body) => Ok(Reply::Ok(wrong_type(&body))),
                error => Err(error),
            },
            Some(Doing::InvalidUtf8) => with_text(reply, |text| {
                text.extend_from_slice(b"\xff\xfe\xc0\x80");
            }),
            Some(Doing::TextBytes(length)) => with_text(reply, |text| {
                *text = vec![b'x'; *length];
            }),
            _ => Ok(reply),
        }
    }
}

/// A body of another type: a number for a string, a string for everything else.
fn wrong_type(body: &Body) -> Body {
    if body.signature == "v" {
        let inner = body.bytes.get(1).copied();
        return if inner == Some(b's') {
            Body::uint(42).into_variant()
        } else {
            Body::string("wrong type").into_variant()
        };
    }
    if body.signature.starts_with('s') { Body::uint(42) } else { Body::string("wrong type") }
}

/// Changes the bytes of a reply that is one string, or a variant with one.
fn with_text(reply: Reply, change: impl FnOnce(&mut Vec<u8>)) -> Result<Reply, Reply> {
    let Reply::Ok(body) = &reply else {
        return Err(reply);
    };
    let is_variant = body.signature == "v" && body.bytes.starts_with(&[1, b's', 0]);
    let start = match (body.signature.as_str(), is_variant) {
        ("s", _) => 4,
        ("v", true) => 8,
        _ => return Err(reply),
    };
    let end = body.bytes.len().saturating_sub(1);
    let mut text = body.bytes.get(start..end).unwrap_or_default().to_vec();
    change(&mut text);
    let string = Body::new("s", |w| w.string(&text));
    Ok(Reply::Ok(if is_variant { string.into_variant() } else { string }))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn verdict(doing: Doing) -> Verdict {
        Verdict { doing: Some(doing), ..Verdict::default() }
    }

    #[test]
    fn long_text_in_a_variant() {
        let reply = Reply::Ok(Body::string("name").into_variant());
        let bent = verdict(Doing::TextBytes(1000)).bend(reply).unwrap();
        let expected = Body::string(&"x".repeat(1000)).into_variant();
        assert_eq!(bent, Reply::Ok(expected));
    }

    #[test]
    fn a_fault_without_a_grip_says_so() {
        let reply = Reply::Ok(Body::int(3));
        assert!(verdict(Doing::InvalidUtf8).bend(reply).is_err());
    }

    #[test]
    fn wrong_types_differ_from_the_right_ones() {
        for right in [Body::string("a"), Body::int(1), Body::reference("", "/")] {
            let variant = right.clone().into_variant();
            assert_ne!(wrong_type(&right).signature, right.signature);
            assert_ne!(wrong_type(&variant).bytes[1], variant.bytes[1]);
        }
    }

    #[test]
    fn a_lie_has_no_effect_unless_asked() {
        assert_eq!(verdict(Doing::LieTrue).effect(), Effect::None);
        assert_eq!(verdict(Doing::LateMs(5)).effect(), Effect::Now);
        let mut never = verdict(Doing::Never);
        never.effect = Some(Effect::Now);
        assert_eq!(never.effect(), Effect::Now);
    }
}
