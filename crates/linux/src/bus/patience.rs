//! How long one element of a living application is waited for. A read of a whole window must not cost its whole time
//! because one element never answers; and slow is not silent. So nothing is given up by the clock alone: when no reply
//! has come for long, measured by what the same application took for others, the application itself is asked. Toolkits
//! answer in the order in which they are asked, on one thread: once that answer is there, what was asked before it and
//! stayed away is not under way any more. A busy application doesn't answer that question either, and is waited for
//! until the deadline.
//!
//! For reads of trees, whose result says what is missing; never for the evidence by which a ref is resolved.

use super::call::{Call, Object};
use std::collections::HashMap;
use std::time::Duration;
use tokio::time::Instant;

/// Quiet time before the application is asked, at least. An element that answers within this is never given up.
const LEAST: Duration = Duration::from_millis(750);

/// So many times the usual reply's time, and the slowest one's.
const TIMES_USUAL: u32 = 20;
const TIMES_SLOWEST: u32 = 3;

/// What one flight has seen of an application's pace.
pub(super) struct Patience {
    root: Object,
    sent: HashMap<u32, Instant>,
    took: Vec<Duration>,
    progress: Instant,
    /// How long it may be quiet, as far as that has been worked out.
    limit: Duration,
    question: Option<(u32, Instant)>,
}

impl Patience {
    /// For calls to one application; none where they go to several.
    pub(super) fn of(calls: &[Call]) -> Option<Self> {
        let first = &calls.first()?.object.bus;
        calls.iter().all(|c| c.object.bus == *first).then(|| Self {
            root: Object::root_of(first.clone()),
            sent: HashMap::new(),
            took: Vec::new(),
            progress: Instant::now(),
            limit: LEAST,
            question: None,
        })
    }

    /// A call was sent.
    pub(super) fn sent(&mut self, serial: u32) {
        self.sent.insert(serial, Instant::now());
    }

    /// Until when nothing need be done about the quiet; none while the question is open. Asked before every message, so
    /// that nothing is worked out here.
    pub(super) fn until(&self) -> Option<Instant> {
        self.question.is_none().then(|| self.progress + self.limit)
    }

    /// Whether it has been quiet for long enough to ask, by the pace so far.
    pub(super) fn is_over(&mut self) -> bool {
        self.limit = self.quiet();
        self.progress + self.limit <= Instant::now()
    }

    fn quiet(&self) -> Duration {
        let mut took = self.took.clone();
        let middle = took.len() / 2;
        let usual = if took.is_empty() { Duration::ZERO } else { *took.select_nth_unstable(middle).1 };
        let slowest = self.took.iter().max().copied().unwrap_or_default();
        LEAST.max(usual * TIMES_USUAL).max(slowest * TIMES_SLOWEST)
    }

    /// The question whether the application is there: one that its main thread answers.
    pub(super) fn question(&self) -> Call {
        Call::new(&self.root, "org.a11y.atspi.Accessible", "GetRole")
    }

    /// The question was sent.
    pub(super) fn asked(&mut self, serial: u32) {
        self.question = Some((serial, Instant::now()));
    }

    /// A reply came; whether it is that to the question.
    pub(super) fn answered(&mut self, serial: u32) -> bool {
        let now = Instant::now();
        self.progress = now;
        if let Some(sent) = self.sent.remove(&serial) {
            self.took.push(now - sent);
            return false;
        }
        self.question.is_some_and(|(question, _)| question == serial)
    }

    /// Whether a call is given up, now that the question is answered: it was sent before it.
    pub(super) fn given_up(&mut self, serial: u32) -> bool {
        let Some((_, asked)) = self.question else { return false };
        self.sent.get(&serial).is_some_and(|sent| *sent < asked)
    }

    /// The question is done with.
    pub(super) fn settled(&mut self) {
        self.question = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patience() -> Patience {
        Patience::of(&[Call::new(&Object::new(":1.1", "/a"), "i.i", "M")]).unwrap()
    }

    #[test]
    fn only_one_application_at_a_time() {
        let call = |bus: &str| Call::new(&Object::new(bus, "/a"), "i.i", "M");
        assert!(Patience::of(&[call(":1.1"), call(":1.2")]).is_none());
        assert!(Patience::of(&[]).is_none());
    }

    #[test]
    fn the_pace_of_the_application_decides() {
        let mut p = patience();
        assert_eq!(p.quiet(), LEAST);
        p.took = vec![Duration::from_millis(1); 9];
        assert_eq!(p.quiet(), LEAST);
        p.took.push(Duration::from_millis(400));
        assert_eq!(p.quiet(), Duration::from_millis(1_200), "three times the slowest");
        p.took = vec![Duration::from_millis(100); 3];
        assert_eq!(p.quiet(), Duration::from_millis(2_000), "twenty times the usual");
    }

    #[test]
    fn a_slow_application_is_waited_for_longer() {
        let mut p = patience();
        p.progress = Instant::now() - LEAST;
        p.took = vec![Duration::from_millis(100); 3];
        assert!(p.until().is_some_and(|until| until <= Instant::now()));
        assert!(!p.is_over());
        assert!(p.until().is_some_and(|until| until > Instant::now()));
        p.progress = Instant::now() - Duration::from_secs(3);
        assert!(p.is_over());
    }

    #[test]
    fn what_was_sent_before_the_question_is_given_up() {
        let mut p = patience();
        p.sent(1);
        p.sent(2);
        assert!(!p.answered(1));
        assert!(!p.given_up(2), "nobody has been asked");
        std::thread::sleep(Duration::from_millis(2));
        p.asked(3);
        assert_eq!(p.until(), None);
        std::thread::sleep(Duration::from_millis(2));
        p.sent(4);
        assert!(p.answered(3));
        assert!(p.given_up(2) && !p.given_up(4));
        p.settled();
        assert!(p.until().is_some());
    }
}
