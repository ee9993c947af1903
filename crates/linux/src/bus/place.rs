//! Children without a lasting address: a spreadsheet makes an object of a cell whenever it is asked for one, and drops it
//! soon after (seen in LibreOffice Calc: each `GetChildAtIndex` answers with another path). Their address is their
//! place, and each call to a place goes to the child of that moment.

use super::call::{Body, Call, Object};
use super::reply::{CallError, Reply};
use std::collections::HashMap;

type Answer = Result<Reply, CallError>;

/// Sends calls of which some go to places. `send` sends calls that go to objects.
pub(super) fn flight(calls: Vec<Call>, mut send: impl FnMut(Vec<Call>) -> Vec<Answer>) -> Vec<Answer> {
    let mut places: Vec<Object> = Vec::new();
    for call in calls.iter().filter(|c| c.object.place().is_some()) {
        if !places.contains(&call.object) {
            places.push(call.object.clone());
        }
    }
    if places.is_empty() {
        return send(calls);
    }
    let answers = send(places.iter().filter_map(child).collect());
    let found: HashMap<Object, Result<Object, CallError>> =
        places.into_iter().zip(answers.into_iter().map(object)).collect();
    let mut refused: Vec<Option<CallError>> = Vec::with_capacity(calls.len());
    let mut sent = Vec::with_capacity(calls.len());
    for mut call in calls {
        match found.get(&call.object) {
            Some(Err(e)) => {
                refused.push(Some(e.clone()));
                continue;
            }
            Some(Ok(object)) => call.object = object.clone(),
            None => {}
        }
        refused.push(None);
        sent.push(call);
    }
    let mut answers = send(sent).into_iter();
    let one = |refused: Option<CallError>| match refused {
        Some(e) => Err(e),
        None => answers.next().unwrap_or(Err(CallError::Late { sent: false })),
    };
    refused.into_iter().map(one).collect()
}

/// The call that asks for the child at a place.
pub(super) fn child(place: &Object) -> Option<Call> {
    let (parent, index) = place.place()?;
    let index = Body::Int(i32::try_from(index).unwrap_or(i32::MAX));
    Some(Call::with(&parent, "org.a11y.atspi.Accessible", "GetChildAtIndex", index))
}

/// The child in the answer to [`child`]. What was not found never got the call that was meant for it.
pub(super) fn object(answer: Answer) -> Result<Object, CallError> {
    let unsent = |e: CallError| match e {
        CallError::Late { .. } => CallError::Late { sent: false },
        CallError::Broken { why, .. } => CallError::Broken { sent: false, why },
        other => other,
    };
    let found = answer.and_then(|r| r.object()).map_err(unsent)?;
    if found.is_null() {
        return Err(CallError::Remote {
            name: "org.freedesktop.DBus.Error.UnknownObject".to_owned(),
            message: "nothing stands at this place".to_owned(),
        });
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bus::reply::tests::reply;
    use zbus::zvariant::ObjectPath;

    #[test]
    fn a_call_to_a_place_goes_to_the_child_of_the_moment() {
        let table = Object::new(":1.4", "/t");
        let calls = vec![
            Call::new(&Object::placed(&table, 3), "i.i", "A"),
            Call::new(&table, "i.i", "B"),
            Call::new(&Object::placed(&table, 3), "i.i", "C"),
            Call::new(&Object::placed(&table, 9), "i.i", "D"),
        ];
        let mut log = Vec::new();
        let answers = flight(calls, |calls| {
            let answer = |c: &Call| match (c.member, &c.body) {
                ("GetChildAtIndex", Body::Int(3)) => Ok(reply(&(":1.4", ObjectPath::try_from("/cell").unwrap()))),
                ("GetChildAtIndex", _) => Ok(reply(&(":1.4", ObjectPath::try_from("/org/a11y/atspi/null").unwrap()))),
                _ => Ok(reply(&c.member)),
            };
            log.extend(calls.iter().map(|c| format!("{:?} {}", c.object, c.member)));
            calls.iter().map(answer).collect()
        });
        assert_eq!(log, [":1.4/t GetChildAtIndex", ":1.4/t GetChildAtIndex", ":1.4/cell A", ":1.4/t B", ":1.4/cell C"]);
        let texts: Vec<_> = answers[..3].iter().map(|a| a.as_ref().unwrap().text().unwrap()).collect();
        assert_eq!(texts, ["A", "B", "C"]);
        assert!(matches!(&answers[3], Err(CallError::Remote { .. })));
    }

    #[test]
    fn a_place_that_stays_silent_was_sent_nothing() {
        let calls = vec![Call::new(&Object::placed(&Object::new(":1.4", "/t"), 3), "i.i", "A")];
        let answers = flight(calls, |calls| calls.iter().map(|_| Err(CallError::Late { sent: true })).collect());
        assert_eq!(answers[0].as_ref().err(), Some(&CallError::Late { sent: false }));
    }
}
