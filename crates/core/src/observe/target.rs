//! Which window a command means.

/// `--app` and `--window-id` as given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scope<'a> {
    /// Application by name.
    pub app: Option<&'a str>,
    /// Window by id.
    pub window_id: Option<&'a str>,
}
