//! One deadline, passed down: no call without one.

use std::time::{Duration, Instant};

/// A point in time after which an answer is late.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deadline(Instant);

impl Deadline {
    /// The same, so much later: for time that was not the deadline's to count.
    #[must_use]
    pub fn later(self, by: Duration) -> Self {
        Self(self.instant().checked_add(by).unwrap_or_else(|| self.instant()))
    }

    /// The deadline `ms` milliseconds from now.
    pub fn after_ms(ms: u64) -> Self {
        Self::after(Duration::from_millis(ms))
    }

    /// The deadline `span` from now.
    pub fn after(span: Duration) -> Self {
        let now = Instant::now();
        Self(now.checked_add(span).unwrap_or_else(|| now + Duration::from_secs(86_400 * 365)))
    }

    /// What is left; zero when it has passed.
    pub fn left(self) -> Duration {
        self.0.saturating_duration_since(Instant::now())
    }

    /// Whether it has passed.
    pub fn passed(self) -> bool {
        self.left().is_zero()
    }

    /// The earlier of this deadline and one `ms` milliseconds from now.
    #[must_use]
    pub fn within_ms(self, ms: u64) -> Self {
        self.min(Self::after_ms(ms))
    }

    /// The instant itself.
    pub fn instant(self) -> Instant {
        self.0
    }
}
