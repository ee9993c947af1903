//! Structured errors: a stable code, what happened, what to do next, and whether anything was delivered (spec 3).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The 16 codes of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[allow(missing_docs)] // the codes are documented in spec 3 and docs/errors.md
pub enum Code {
    PermDenied,
    ElementNotFound,
    AppNotFound,
    ActionFailed,
    ActionNotSupported,
    StaleRef,
    WindowNotFound,
    PlatformNotSupported,
    Timeout,
    InvalidArgs,
    NotificationNotFound,
    Internal,
    SnapshotNotFound,
    PolicyDenied,
    AmbiguousTarget,
    AppUnresponsive,
}

impl Code {
    /// All codes, in the order of their C values.
    pub const ALL: &'static [Code] = &[
        Code::PermDenied,
        Code::ElementNotFound,
        Code::AppNotFound,
        Code::ActionFailed,
        Code::ActionNotSupported,
        Code::StaleRef,
        Code::WindowNotFound,
        Code::PlatformNotSupported,
        Code::Timeout,
        Code::InvalidArgs,
        Code::NotificationNotFound,
        Code::Internal,
        Code::SnapshotNotFound,
        Code::PolicyDenied,
        Code::AmbiguousTarget,
        Code::AppUnresponsive,
    ];

    /// The value of the C ABI: −1 … −16 (spec 3).
    pub fn ffi_value(self) -> i32 {
        -(self as i32 + 1)
    }
}

/// What is known about whether a request reached its target (spec 1 §6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// Nothing is known.
    Unknown,
    /// Proven: nothing reached the target.
    NotDelivered,
    /// It may have landed.
    DeliveryUncertain,
    /// It was delivered; its effect is not confirmed.
    DeliveredUnverified,
    /// It was delivered and its effect was read back.
    DeliveredVerified,
}

/// Whether the same request may be sent again. Follows from [`Delivery`] alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Retry {
    /// Nothing is known.
    Unknown,
    /// Nothing was delivered: retry freely.
    Safe,
    /// Read the state first.
    Unsafe,
}

impl Delivery {
    /// Whether a retry is safe: only where nothing was delivered.
    pub fn retry(self) -> Retry {
        match self {
            Delivery::Unknown => Retry::Unknown,
            Delivery::NotDelivered => Retry::Safe,
            _ => Retry::Unsafe,
        }
    }

    /// `{delivery, retry}`.
    pub fn disposition(self) -> Value {
        json!({"delivery": self, "retry": self.retry()})
    }
}

/// A structured error. It can't be built without a [`Delivery`].
#[derive(Clone, Debug, PartialEq)]
pub struct Error {
    inner: Box<Inner>,
}

#[derive(Clone, Debug, PartialEq)]
struct Inner {
    code: Code,
    delivery: Delivery,
    message: String,
    suggestion: Option<String>,
    platform_detail: Option<String>,
    retry_after_ms: Option<u64>,
    no_recovery: bool,
    details: Map<String, Value>,
}

/// `Result` with the structured error.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error with its code, disposition and message.
    pub fn new(code: Code, delivery: Delivery, message: impl Into<String>) -> Self {
        Self {
            inner: Box::new(Inner {
                code,
                delivery,
                message: message.into(),
                suggestion: None,
                platform_detail: None,
                retry_after_ms: None,
                no_recovery: false,
                details: Map::new(),
            }),
        }
    }

    /// An error of a read or of a check before dispatch: nothing was delivered.
    pub fn before(code: Code, message: impl Into<String>) -> Self {
        Self::new(code, Delivery::NotDelivered, message)
    }

    /// Bad input: `INVALID_ARGS`, nothing delivered, nothing changed.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::before(Code::InvalidArgs, message)
    }

    /// The distinct cause, for callers (`details.kind`; spec 3 has the catalogue).
    #[must_use]
    pub fn kind(self, kind: &str) -> Self {
        self.detail("kind", kind)
    }

    /// Adds a field to `details`.
    #[must_use]
    pub fn detail(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.inner.details.insert(key.to_owned(), value.into());
        self
    }

    /// What the caller should do next.
    #[must_use]
    pub fn suggest(mut self, suggestion: impl Into<String>) -> Self {
        self.inner.suggestion = Some(suggestion.into());
        self
    }

    /// The native diagnostic.
    #[must_use]
    pub fn platform(mut self, detail: impl Into<String>) -> Self {
        self.inner.platform_detail = Some(detail.into());
        self
    }

    /// When a retry may succeed, in milliseconds (`TIMEOUT` and `APP_UNRESPONSIVE` only).
    #[must_use]
    pub fn retry_after(mut self, ms: u64) -> Self {
        self.inner.retry_after_ms = Some(ms);
        self
    }

    /// Marks an error whose repetition can't help although nothing was delivered.
    #[must_use]
    pub fn not_retryable(mut self) -> Self {
        self.inner.no_recovery = true;
        self.detail("retryable", false)
    }

    /// The same error with another disposition: what is known about delivery changed on the way up.
    #[must_use]
    pub fn with_delivery(mut self, delivery: Delivery) -> Self {
        self.inner.delivery = delivery;
        self
    }

    /// The code.
    pub fn code(&self) -> Code {
        self.inner.code
    }

    /// What is known about delivery.
    pub fn delivery(&self) -> Delivery {
        self.inner.delivery
    }

    /// The message; its wording is not stable.
    pub fn message(&self) -> &str {
        &self.inner.message
    }

    /// `details.kind`, where there is one.
    pub fn kind_name(&self) -> Option<&str> {
        self.inner.details.get("kind").and_then(Value::as_str)
    }

    /// The details.
    pub fn details(&self) -> &Map<String, Value> {
        &self.inner.details
    }

    fn recovery(&self) -> Option<Value> {
        if self.inner.delivery.retry() != Retry::Safe || self.inner.no_recovery {
            return None;
        }
        let (strategy, fresh, after) = match self.inner.code {
            Code::StaleRef | Code::SnapshotNotFound => ("refresh_snapshot_then_retry_original", true, None),
            Code::PolicyDenied => ("request_explicit_policy_then_retry_original", false, None),
            Code::AppUnresponsive => {
                ("inspect_state_then_retry_original", true, Some(self.inner.retry_after_ms.unwrap_or(250)))
            }
            Code::Timeout => ("wait_then_retry_original", false, Some(self.inner.retry_after_ms.unwrap_or(500))),
            _ => return None,
        };
        let mut recovery = json!({"strategy": strategy, "retryable": true, "requires_fresh_snapshot": fresh});
        if let (Some(ms), Some(map)) = (after, recovery.as_object_mut()) {
            map.insert("retry_after_ms".into(), ms.into());
        }
        Some(recovery)
    }

    /// The error object of the envelope (spec 3).
    pub fn to_json(&self) -> Value {
        let mut out = Map::new();
        out.insert("code".into(), json!(self.inner.code));
        out.insert("message".into(), json!(self.inner.message));
        if let Some(s) = self.inner.suggestion.as_ref().filter(|s| !s.is_empty()) {
            out.insert("suggestion".into(), json!(s));
        }
        if let Some(r) = self.recovery() {
            out.insert("recovery".into(), r);
        }
        if let Some(p) = self.inner.platform_detail.as_ref().filter(|p| !p.is_empty()) {
            out.insert("platform_detail".into(), json!(p));
        }
        if !self.inner.details.is_empty() {
            out.insert("details".into(), Value::Object(self.inner.details.clone()));
        }
        out.insert("disposition".into(), self.inner.delivery.disposition());
        Value::Object(out)
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", json!(self.inner.code).as_str().unwrap_or("INTERNAL"), self.inner.message)
    }
}

impl std::error::Error for Error {}

/// A caller's token for a message: verbatim where it is short and plain, else only its length (spec 2).
pub fn echo(token: &str) -> String {
    let plain = token.len() <= 64 && token.chars().all(|c| c.is_ascii_graphic() || c == ' ');
    if plain { format!("'{token}'") } else { format!("token of {} bytes", token.len()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_follows_from_delivery() {
        assert_eq!(Delivery::NotDelivered.retry(), Retry::Safe);
        assert_eq!(Delivery::Unknown.retry(), Retry::Unknown);
        for d in [Delivery::DeliveryUncertain, Delivery::DeliveredUnverified, Delivery::DeliveredVerified] {
            assert_eq!(d.retry(), Retry::Unsafe);
        }
    }

    #[test]
    fn recovery_only_where_a_retry_is_safe() {
        let e = Error::before(Code::Timeout, "late");
        assert_eq!(e.to_json()["recovery"]["strategy"], "wait_then_retry_original");
        let e = e.with_delivery(Delivery::DeliveryUncertain);
        assert!(e.to_json().get("recovery").is_none());
    }

    #[test]
    fn codes_have_the_contracts_c_values() {
        assert_eq!(Code::PermDenied.ffi_value(), -1);
        assert_eq!(Code::AppUnresponsive.ffi_value(), -16);
        assert_eq!(json!(Code::PlatformNotSupported), "PLATFORM_NOT_SUPPORTED");
    }

    #[test]
    fn odd_tokens_are_not_echoed() {
        assert_eq!(echo("abc"), "'abc'");
        assert_eq!(echo("a\nb"), "token of 3 bytes");
    }
}
