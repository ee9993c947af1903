//! Arguments of the commands that read.

pub use super::read::*;
use super::values::{CellArg, Format, RectArg, RefArg, at_most_one, not_blank};
use crate::error::{Error, Result, echo};
use crate::geometry::Rect;
use crate::observe::target::Scope;
use crate::query::ask::{self, StateClause};
use crate::refs::id::SnapshotId;
use crate::vocab::role::Role;
use crate::vocab::surface::Surface;
use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Time limit of a snapshot.
pub const SNAPSHOT_TIMEOUT_MS: u64 = 3_000;
/// Depth of a snapshot.
pub const MAX_DEPTH: u8 = 10;
/// The smallest token budget: what the frame of an answer and the window's own element may take.
pub const MIN_BUDGET_TOKENS: u32 = 300;
/// Depth of a skeleton at most.
pub const SKELETON_DEPTH: u8 = 3;
/// Time limit of a search.
pub const FIND_TIMEOUT_MS: u64 = 5_000;
/// Matches that find lists at most.
pub const FIND_LIMIT: usize = 50;
/// Time limit of `get`, `is` and `list-surfaces`.
pub const READ_TIMEOUT_MS: u64 = 5_000;
/// Time limits beyond a day are refused.
pub const MAX_TIMEOUT_MS: u64 = 86_400_000;

/// A surface by its token; hyphen or underscore.
pub fn surface(text: Option<&String>) -> Result<Surface> {
    let Some(text) = text else { return Ok(Surface::Window) };
    Surface::from_query(text).ok_or_else(|| {
        let known: Vec<&str> = Surface::ALL.iter().filter(|s| s.of_application()).map(|s| s.token()).collect();
        Error::invalid(format!("{} is not a surface", echo(text))).suggest(format!(
            "Surfaces of an application: {}. Those served here are in 'status'; a dialog is a window of its own \
             ('list-windows'), or a sheet, popover or alert inside one.",
            known.join(", ")
        ))
    })
}

/// A time limit within a day.
pub fn timeout(given: Option<u64>, default: u64) -> Result<u64> {
    match given {
        Some(ms) if ms > MAX_TIMEOUT_MS => Err(Error::invalid(format!("a time limit is at most {MAX_TIMEOUT_MS} ms"))),
        given => Ok(given.unwrap_or(default)),
    }
}

/// Observe a window: its accessibility tree, with refs for what can be acted on.
#[derive(Clone, Debug, Default, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Snapshot {
    /// Application by name (default: the focused window).
    #[arg(long, value_name = "NAME")]
    pub app: Option<String>,
    /// Window by id, from list-windows.
    #[arg(long, value_name = "ID")]
    pub window_id: Option<String>,
    /// Leave out leaves that have no ref, and fold closed menus and pages that are not shown (they keep a ref for --root;
    /// find looks into them).
    #[arg(short = 'i', long)]
    #[serde(default)]
    pub interactive_only: bool,
    /// Leave out anonymous wrappers with a single child.
    #[arg(long)]
    #[serde(default)]
    pub compact: bool,
    /// Only the top levels, with drill targets for --root.
    #[arg(long)]
    #[serde(default)]
    pub skeleton: bool,
    /// Observe only below this ref; its snapshot keeps its id.
    #[arg(long, value_name = "REF")]
    pub root: Option<RefArg>,
    /// Surface to observe: window, focused, menu, menubar, sheet, popover, alert (default window).
    #[arg(long, value_name = "KIND")]
    pub surface: Option<String>,
    /// Levels below the root (default: 10, in which anonymous wrappers of a single child don't count).
    #[arg(long, value_name = "N")]
    pub max_depth: Option<u8>,
    /// Add bounds in screen pixels.
    #[arg(long)]
    #[serde(default)]
    pub include_bounds: bool,
    /// Time limit in milliseconds (default 3000); what was read by then is the answer.
    #[arg(long, value_name = "MS")]
    pub timeout_ms: Option<u64>,
    /// Ask Chromium and Electron to publish their tree.
    #[arg(long = "force-electron-a11y")]
    #[serde(default)]
    pub force_electron_a11y: bool,
    /// Only what changed in its window since this snapshot, whatever that one left out; saved as a new snapshot.
    #[arg(long, value_name = "SNAPSHOT_ID")]
    pub since: Option<String>,
    /// Print at most N tokens, estimated as a quarter of the bytes printed (at least 300): what can be acted on and has a name
    /// comes first, the rest is folded with counts, long texts are cut.
    #[arg(long, value_name = "N")]
    pub budget_tokens: Option<u32>,
    /// One cell of a large table, like B7: of the table at --root, or of the only one that is shown.
    #[arg(long, value_name = "CELL")]
    pub cell: Option<CellArg>,
    /// json (default) or text, an outline: role "name" = "value" ~ "description" #"native id" ?unread [states]
    /// {actions} (children) ref.
    #[arg(long, value_enum)]
    pub format: Option<Format>,
}

impl Snapshot {
    /// Where to look.
    pub fn scope(&self) -> Scope<'_> {
        Scope { app: self.app.as_deref(), window_id: self.window_id.as_deref() }
    }

    /// The surface asked for.
    pub fn surface(&self) -> Result<Surface> {
        surface(self.surface.as_ref())
    }

    /// Whether the answer is an outline.
    pub fn is_text(&self) -> bool {
        self.format == Some(Format::Text)
    }

    /// The depth after `--skeleton`, which `--root` overrules.
    pub fn depth(&self) -> u8 {
        let depth = self.max_depth.unwrap_or(MAX_DEPTH);
        if self.is_skeleton() { depth.min(SKELETON_DEPTH) } else { depth }
    }

    /// Whether a skeleton is shown: never below `--root`, never of a surface.
    pub fn is_skeleton(&self) -> bool {
        self.skeleton && self.root.is_none() && self.surface().is_ok_and(|s| s == Surface::Window)
    }

    /// The time limit.
    pub fn timeout(&self) -> u64 {
        self.timeout_ms.unwrap_or(SNAPSHOT_TIMEOUT_MS)
    }

    /// The rules.
    pub fn validate(&self) -> Result<()> {
        not_blank("--app", self.app.as_ref())?;
        not_blank("--window-id", self.window_id.as_ref())?;
        timeout(self.timeout_ms, SNAPSHOT_TIMEOUT_MS)?;
        let surface = self.surface()?;
        if let Some(root) = &self.root {
            root.parse()?;
            if surface != Surface::Window {
                return Err(Error::invalid("--root and --surface exclude each other"));
            }
        }
        if self.budget_tokens.is_some_and(|n| n < MIN_BUDGET_TOKENS) {
            return Err(Error::invalid(format!("--budget-tokens is at least {MIN_BUDGET_TOKENS}"))
                .suggest("With less not even the window itself can be told."));
        }
        if let Some(cell) = &self.cell {
            cell.parse()?;
        }
        if let Some(since) = &self.since {
            SnapshotId::parse(since)?;
            at_most_one(&[
                ("--since", true),
                ("--root", self.root.is_some()),
                ("--budget-tokens", self.budget_tokens.is_some()),
                ("--cell", self.cell.is_some()),
            ])?;
        }
        Ok(())
    }
}

/// Find elements by role, name or other properties, without printing the tree.
#[derive(Clone, Debug, Default, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Find {
    /// Application by name (default: the focused window).
    #[arg(long, value_name = "NAME")]
    pub app: Option<String>,
    /// Window by id, from list-windows.
    #[arg(long, value_name = "ID")]
    pub window_id: Option<String>,
    /// Role, like button, textfield, menuitem.
    #[arg(long)]
    pub role: Option<String>,
    /// Name.
    #[arg(long)]
    pub name: Option<String>,
    /// Value.
    #[arg(long)]
    pub value: Option<String>,
    /// Text in name, value or description.
    #[arg(long)]
    pub text: Option<String>,
    /// Description.
    #[arg(long)]
    pub description: Option<String>,
    /// The application's identifier of the element.
    #[arg(long, value_name = "ID")]
    pub native_id: Option<String>,
    /// Equal instead of contained; case never counts.
    #[arg(long)]
    #[serde(default)]
    pub exact: bool,
    /// State that must hold, or not: checked, disabled=false; repeatable.
    #[arg(long, value_name = "STATE[=BOOL]")]
    #[serde(default)]
    pub state: Vec<String>,
    /// Search only below this ref.
    #[arg(long, value_name = "REF")]
    pub root: Option<RefArg>,
    /// Surface to search (default window).
    #[arg(long, value_name = "KIND")]
    pub surface: Option<String>,
    /// Time limit in milliseconds (default 5000).
    #[arg(long, value_name = "MS")]
    pub timeout_ms: Option<u64>,
    /// Only the number of matches.
    #[arg(long)]
    #[serde(default)]
    pub count: bool,
    /// The first match.
    #[arg(long)]
    #[serde(default)]
    pub first: bool,
    /// The last match.
    #[arg(long)]
    #[serde(default)]
    pub last: bool,
    /// The match at this position, from 0.
    #[arg(long, value_name = "N")]
    pub nth: Option<usize>,
    /// Matches to list at most (default 50; 0 lists all).
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// json (default) or text, one match a line.
    #[arg(long, value_enum)]
    pub format: Option<Format>,
}

/// Which matches `find` answers with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// Their number.
    Count,
    /// The first.
    First,
    /// The last.
    Last,
    /// The one at a position, from 0.
    Nth(usize),
    /// So many; none for all.
    List(Option<usize>),
}

impl Find {
    /// Where to look.
    pub fn scope(&self) -> Scope<'_> {
        Scope { app: self.app.as_deref(), window_id: self.window_id.as_deref() }
    }

    /// The surface asked for.
    pub fn surface(&self) -> Result<Surface> {
        surface(self.surface.as_ref())
    }

    /// The time limit.
    pub fn timeout(&self) -> u64 {
        self.timeout_ms.unwrap_or(FIND_TIMEOUT_MS)
    }

    /// Which matches are wanted.
    pub fn selection(&self) -> Selection {
        match (self.count, self.first, self.last, self.nth) {
            (true, ..) => Selection::Count,
            (_, true, ..) => Selection::First,
            (_, _, true, _) => Selection::Last,
            (.., Some(n)) => Selection::Nth(n),
            _ => Selection::List(match self.limit.unwrap_or(FIND_LIMIT) {
                0 => None,
                n => Some(n),
            }),
        }
    }

    /// The role asked for; an unknown one is an error, not an empty result.
    pub fn role(&self) -> Result<Option<Role>> {
        self.role.as_deref().map(ask::role).transpose()
    }

    /// The states asked for, each with the value it must have. `enabled` is the absence of `disabled`.
    pub fn states(&self) -> Result<Vec<StateClause>> {
        self.state.iter().map(|text| ask::state(text)).collect()
    }

    /// The rules.
    pub fn validate(&self) -> Result<()> {
        not_blank("--app", self.app.as_ref())?;
        not_blank("--window-id", self.window_id.as_ref())?;
        timeout(self.timeout_ms, FIND_TIMEOUT_MS)?;
        let surface = self.surface()?;
        at_most_one(&[
            ("--count", self.count),
            ("--first", self.first),
            ("--last", self.last),
            ("--nth", self.nth.is_some()),
            ("--limit", self.limit.is_some()),
        ])?;
        if let Some(root) = &self.root {
            root.parse()?;
            if surface != Surface::Window {
                return Err(Error::invalid("--root and --surface exclude each other"));
            }
        }
        self.role()?;
        self.states()?;
        for (flag, value) in [
            ("--name", &self.name),
            ("--value", &self.value),
            ("--text", &self.text),
            ("--description", &self.description),
            ("--native-id", &self.native_id),
        ] {
            not_blank(flag, value.as_ref())?;
        }
        Ok(())
    }
}

/// Take a screenshot of a window, a screen, a region or an element.
#[derive(Clone, Debug, Default, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Screenshot {
    /// PNG file to write (default: base64 in the answer).
    #[arg(value_name = "PATH")]
    pub path: Option<String>,
    /// Application by name.
    #[arg(long, value_name = "NAME")]
    pub app: Option<String>,
    /// Window by id, from list-windows.
    #[arg(long, value_name = "ID")]
    pub window_id: Option<String>,
    /// Screen by its index in list-displays (default: the primary one).
    #[arg(long, value_name = "INDEX")]
    pub screen: Option<usize>,
    /// Region of the screen: x,y,width,height in screen pixels.
    #[arg(long, value_name = "RECT", allow_hyphen_values = true)]
    pub rect: Option<RectArg>,
    /// Element: its part of its window's picture.
    #[arg(long = "ref", value_name = "REF")]
    #[serde(rename = "ref")]
    pub ref_id: Option<RefArg>,
    /// Take a new snapshot of the window and draw its refs' boxes and labels (without --app, --window-id and --ref: of
    /// the focused window).
    #[arg(long)]
    #[serde(default)]
    pub annotate: bool,
    /// Black out secure fields; the default with --annotate. Refused where it can't be told where they are.
    #[arg(long)]
    #[serde(default)]
    pub mask_secure: bool,
    /// Show secure fields as the screen shows them.
    #[arg(long)]
    #[serde(default)]
    pub no_mask_secure: bool,
}

impl Screenshot {
    /// Which window, where one was named.
    pub fn scope(&self) -> Scope<'_> {
        Scope { app: self.app.as_deref(), window_id: self.window_id.as_deref() }
    }

    /// Whether secure fields are blacked out.
    pub fn masks(&self) -> bool {
        self.mask_secure || (self.annotate && !self.no_mask_secure)
    }

    /// The region, where one was given.
    pub fn region(&self) -> Result<Option<Rect>> {
        self.rect.as_ref().map(RectArg::parse).transpose()
    }

    /// The rules.
    pub fn validate(&self) -> Result<()> {
        not_blank("--app", self.app.as_ref())?;
        not_blank("--window-id", self.window_id.as_ref())?;
        not_blank("PATH", self.path.as_ref())?;
        at_most_one(&[
            ("--screen", self.screen.is_some()),
            ("--rect", self.rect.is_some()),
            ("--ref", self.ref_id.is_some()),
            ("a window", self.app.is_some() || self.window_id.is_some()),
        ])?;
        at_most_one(&[("--mask-secure", self.mask_secure), ("--no-mask-secure", self.no_mask_secure)])?;
        if self.annotate && (self.screen.is_some() || self.rect.is_some()) {
            return Err(Error::invalid("--annotate draws on a window: it doesn't go with --screen and --rect"));
        }
        self.region()?;
        self.ref_id.as_ref().map_or(Ok(()), |r| r.parse().map(drop))
    }
}

/// List the menus, dialogs and popovers that an application has open.
#[derive(Clone, Debug, Default, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListSurfaces {
    /// Application by name (default: that of the focused window).
    #[arg(long, value_name = "NAME")]
    pub app: Option<String>,
}

impl ListSurfaces {
    /// The rules.
    pub fn validate(&self) -> Result<()> {
        not_blank("--app", self.app.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocab::state::State;

    #[test]
    fn states_take_enabled_and_a_value() {
        let find = Find { state: vec!["enabled".into(), "Checked=false".into()], ..Find::default() };
        let clause = |state, wanted| StateClause { state, wanted };
        assert_eq!(find.states().unwrap(), [clause(State::Disabled, false), clause(State::Checked, false)]);
        for bad in ["checked=1", "on", "", "checked=true=false"] {
            assert!(Find { state: vec![bad.into()], ..Find::default() }.validate().is_err(), "{bad}");
        }
    }

    #[test]
    fn one_target_for_a_picture() {
        let bare = Screenshot::default();
        assert!(bare.validate().is_ok() && !bare.masks());
        let rect = |text: &str| Screenshot { rect: Some(RectArg(text.into())), ..Screenshot::default() };
        assert!(rect("-5,0,10,10").validate().is_ok());
        for bad in ["1,2,3", "1,2,0,4", "1,2,3,-4", "1,2,3,4,5", "a,b,c,d", "", "1,2,nan,4"] {
            assert!(rect(bad).validate().is_err(), "{bad}");
        }
        assert!(Screenshot { screen: Some(0), ..rect("0,0,1,1") }.validate().is_err());
        assert!(Screenshot { app: Some("a".into()), screen: Some(0), ..Screenshot::default() }.validate().is_err());
        assert!(Screenshot { annotate: true, ..rect("0,0,1,1") }.validate().is_err());
        assert!(Screenshot { mask_secure: true, no_mask_secure: true, ..Screenshot::default() }.validate().is_err());
        assert!(Screenshot { ref_id: Some(RefArg("@e1".into())), ..Screenshot::default() }.validate().is_err());
        assert!(Screenshot { annotate: true, ..Screenshot::default() }.masks());
        assert!(!Screenshot { annotate: true, no_mask_secure: true, ..Screenshot::default() }.masks());
    }

    #[test]
    fn selection_flags_exclude_each_other() {
        let both = Find { first: true, nth: Some(0), ..Find::default() };
        assert!(both.validate().is_err());
        assert_eq!(Find { limit: Some(0), ..Find::default() }.selection(), Selection::List(None));
        assert_eq!(Find::default().selection(), Selection::List(Some(FIND_LIMIT)));
    }

    #[test]
    fn a_root_excludes_surfaces_and_overrules_skeleton() {
        let root = || Some(RefArg("@s8f3:e1".into()));
        let s = Snapshot { root: root(), skeleton: true, ..Snapshot::default() };
        assert!(s.validate().is_ok());
        assert_eq!(s.depth(), MAX_DEPTH);
        assert!(Snapshot { root: root(), surface: Some("menu".into()), ..Snapshot::default() }.validate().is_err());
        assert_eq!(Snapshot { skeleton: true, ..Snapshot::default() }.depth(), SKELETON_DEPTH);
        assert_eq!(Snapshot { skeleton: true, surface: Some("menu".into()), ..Snapshot::default() }.depth(), MAX_DEPTH);
    }
}
