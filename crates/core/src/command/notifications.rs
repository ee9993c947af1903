//! Arguments of the notification commands.

use super::values::not_blank;
use crate::error::{Error, Result};
use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// List notifications.
#[derive(Clone, Debug, Default, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListNotifications {
    /// Only those of this application.
    #[arg(long, value_name = "NAME")]
    pub app: Option<String>,
    /// Only those that contain this.
    #[arg(long)]
    pub text: Option<String>,
    /// So many at most.
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
}

impl ListNotifications {
    /// The rules.
    pub fn validate(&self) -> Result<()> {
        not_blank("--app", self.app.as_ref())?;
        not_blank("--text", self.text.as_ref())
    }
}

fn fingerprint(index: u32, app: Option<&String>, title: Option<&String>) -> Result<()> {
    not_blank("--expected-app", app)?;
    not_blank("--expected-title", title)?;
    if index == 0 {
        return Err(Error::invalid("INDEX counts from 1"));
    }
    if app.is_none() && title.is_none() {
        return Err(Error::invalid("--expected-app or --expected-title is needed: an index alone may have moved on"));
    }
    Ok(())
}

/// Dismiss a notification (needs --headed).
#[derive(Clone, Debug, Default, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DismissNotification {
    /// Its index in list-notifications, from 1.
    #[arg(value_name = "INDEX")]
    pub index: u32,
    /// Index among those of this application.
    #[arg(long, value_name = "NAME")]
    pub app: Option<String>,
    /// Application it must come from.
    #[arg(long, value_name = "NAME")]
    pub expected_app: Option<String>,
    /// Title it must have.
    #[arg(long, value_name = "TITLE")]
    pub expected_title: Option<String>,
}

impl DismissNotification {
    /// The rules.
    pub fn validate(&self) -> Result<()> {
        not_blank("--app", self.app.as_ref())?;
        fingerprint(self.index, self.expected_app.as_ref(), self.expected_title.as_ref())
    }
}

/// Dismiss all notifications (needs --headed).
#[derive(Clone, Debug, Default, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DismissAllNotifications {
    /// Only those of this application.
    #[arg(long, value_name = "NAME")]
    pub app: Option<String>,
}

impl DismissAllNotifications {
    /// The rules.
    pub fn validate(&self) -> Result<()> {
        not_blank("--app", self.app.as_ref())
    }
}

/// Run an action of a notification (needs --headed).
#[derive(Clone, Debug, Default, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NotificationAction {
    /// Its index in list-notifications, from 1.
    #[arg(value_name = "INDEX")]
    pub index: u32,
    /// The action's name.
    #[arg(value_name = "ACTION")]
    pub action: String,
    /// Application it must come from.
    #[arg(long, value_name = "NAME")]
    pub expected_app: Option<String>,
    /// Title it must have.
    #[arg(long, value_name = "TITLE")]
    pub expected_title: Option<String>,
}

impl NotificationAction {
    /// The rules.
    pub fn validate(&self) -> Result<()> {
        not_blank("ACTION", Some(&self.action))?;
        fingerprint(self.index, self.expected_app.as_ref(), self.expected_title.as_ref())
    }
}
