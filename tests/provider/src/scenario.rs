//! The scenario file: what the application looks like and how it misbehaves.
//!
//! Unknown keys are refused everywhere, and a fault that names a node which nothing in the file
//! could create is refused as well: a test must not pass because its fault never applied.

use crate::names;
use crate::steps::Steps;
use serde::Deserialize;
use std::collections::BTreeMap;

/// A whole scenario.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// What the scenario is for.
    #[serde(default)]
    pub about: String,
    /// The application objects; each gets its own bus connection.
    pub applications: Vec<Application>,
    /// Faults, looked through in order.
    #[serde(default)]
    pub faults: Vec<Fault>,
    /// Named step lists, run by the control command `script`.
    #[serde(default)]
    pub scripts: BTreeMap<String, Steps>,
    /// Steps that run by themselves.
    #[serde(default)]
    pub timers: Vec<Timer>,
    /// Also write one log line for each read.
    #[serde(default)]
    pub log_reads: bool,
}

/// One application object.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Application {
    /// Accessible name of the application object.
    pub name: String,
    /// Toolkit and its habits.
    #[serde(default)]
    pub toolkit: Toolkit,
    /// How object paths are made.
    #[serde(default)]
    pub paths: Paths,
    /// How removed objects answer; the default follows the toolkit name.
    #[serde(default)]
    pub dead_answer: Option<DeadAnswer>,
    /// What `Cache.GetItems` answers.
    #[serde(default)]
    pub cache: Cache,
    /// Which events are sent when the tree changes.
    #[serde(default)]
    pub events: Events,
    /// What `Properties.GetAll` does.
    #[serde(default)]
    pub get_all: GetAll,
    /// Offer a private socket through `Application.GetApplicationBusAddress`.
    #[serde(default)]
    pub p2p: bool,
    /// Screen extents are answered relative to the window, as GTK 4 does.
    #[serde(default)]
    pub screen_is_window: bool,
    /// Stop answering.
    #[serde(default)]
    pub hang: Option<Hang>,
    /// The windows.
    #[serde(default)]
    pub children: Vec<Child>,
}

/// Toolkit identity.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Toolkit {
    /// `Application.ToolkitName`.
    pub name: String,
    /// `Application.Version`.
    pub version: String,
}

impl Default for Toolkit {
    fn default() -> Self {
        Self {
            name: "gtk".into(),
            version: "3.24.38".into(),
        }
    }
}

/// Object path style.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum PathStyle {
    /// `/org/a11y/atspi/accessible/N`, N from 1.
    #[default]
    Counter,
    /// The same with N from 2147483648.
    Qt,
    /// `PREFIX/a11y/` and a UUID-shaped tail.
    Uuid,
}

/// Object paths.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Paths {
    /// How the last element is made.
    pub style: PathStyle,
    /// Prefix, by default `/org/a11y/atspi/accessible` (uuid: `/org/example/App/a11y`).
    pub prefix: Option<String>,
}

/// How a removed object answers (each as measured in that toolkit).
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum DeadAnswer {
    /// `UnknownObject` to everything.
    Gtk3,
    /// Answers as before, with the state DEFUNCT.
    Gtk3Defunct,
    /// Answers with no states, an empty name and the null parent.
    Gtk3Tombstone,
    /// `UnknownMethod` "Object does not exist at path".
    Gtk4,
    /// Methods `UnknownObject`, properties `UnknownInterface`.
    Qt,
    /// `UnknownObject`.
    Gecko,
}

/// Cache behaviour.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Cache {
    /// Which answer.
    pub mode: CacheMode,
    /// Only after somebody registered an event listener or asked for the private socket.
    pub after_listener: bool,
    /// Node ids (a trailing `*` matches) that the answer leaves out.
    pub omit: Vec<String>,
    /// Node ids and the old names that the answer gives them.
    pub stale: BTreeMap<String, String>,
    /// The answer is made once, at start, and never renewed.
    pub frozen: bool,
}

/// Cache answer shapes.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum CacheMode {
    /// `UnknownMethod`.
    #[default]
    None,
    /// `a((so)(so)(so)iiassusau)`.
    Gtk,
    /// `a((so)(so)(so)a(so)assusau)` without items.
    QtEmpty,
}

/// When tree changes are announced.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum Events {
    /// With each change.
    #[default]
    Always,
    /// Only by `emit` steps.
    OnRequest,
}

/// What `Properties.GetAll` does.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum GetAll {
    /// Answers.
    #[default]
    Answer,
    /// Logs a violation and ends the process, as Qt does.
    Die,
}

/// Whole-application silence.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hang {
    /// Calls that are still answered once clients can see the application.
    pub after_messages: u64,
    /// Answer `Peer.Ping` nevertheless, as a worker thread would.
    #[serde(default)]
    pub answer_ping: bool,
}

/// A child: a node, or a generator of nodes.
#[derive(Clone, Debug)]
pub enum Child {
    /// One node.
    Node(Box<NodeSpec>),
    /// Many nodes.
    Generate(Box<Generate>),
}

impl<'de> Deserialize<'de> for Child {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        let mut value = serde_json::Value::deserialize(deserializer)?;
        let generated = value
            .as_object_mut()
            .filter(|map| map.contains_key("generate"))
            .map(|map| (map.remove("generate"), map.is_empty()));
        match generated {
            Some((_, false)) => Err(D::Error::custom("`generate` stands alone in a child")),
            Some((inner, true)) => serde_json::from_value(inner.unwrap_or_default())
                .map(|g| Self::Generate(Box::new(g)))
                .map_err(D::Error::custom),
            None => serde_json::from_value(value)
                .map(|n| Self::Node(Box::new(n)))
                .map_err(D::Error::custom),
        }
    }
}

/// Many nodes from one template. `{i}` in the template's strings becomes the running number.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, tag = "kind", rename_all = "snake_case")]
pub enum Generate {
    /// `count` siblings.
    Flat {
        /// How many.
        count: u32,
        /// First number.
        #[serde(default)]
        from: u32,
        /// What each looks like.
        template: Box<NodeSpec>,
    },
    /// A chain, each node inside the one before.
    Chain {
        /// How deep.
        depth: u32,
        /// What each link looks like (its own children stand beside the next link).
        template: Box<NodeSpec>,
        /// What stands in the last link.
        #[serde(default)]
        leaf: Option<Box<NodeSpec>>,
    },
    /// A tree of `count` nodes, `fanout` children each, filled level by level.
    Balanced {
        /// How many nodes in all.
        count: u32,
        /// Children of each node.
        fanout: u32,
        /// What each looks like; children are refused here.
        template: Box<NodeSpec>,
    },
}

/// A role, by name or number.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Role {
    /// AT-SPI number.
    Number(u32),
    /// AT-SPI name.
    Name(String),
}

impl Role {
    /// The AT-SPI number.
    pub fn number(&self) -> Result<u32, String> {
        match self {
            Self::Number(number) => Ok(*number),
            Self::Name(name) => {
                names::role_number(name).ok_or_else(|| format!("unknown role {name:?}"))
            }
        }
    }
}

/// A node.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeSpec {
    /// Name for faults, control commands and the log. Never on the wire.
    pub id: String,
    /// Role.
    pub role: Role,
    /// What `GetRoleName` says instead of the role's own name.
    #[serde(default)]
    pub role_name: Option<String>,
    /// Accessible name.
    #[serde(default)]
    pub name: String,
    /// Accessible description.
    #[serde(default)]
    pub description: String,
    /// Accessible id.
    #[serde(default)]
    pub accessible_id: String,
    /// States; by default `enabled sensitive showing visible`.
    #[serde(default)]
    pub states: Option<Vec<String>>,
    /// States beside the default ones.
    #[serde(default)]
    pub also: Vec<String>,
    /// Default states without `enabled` and `sensitive`.
    #[serde(default)]
    pub insensitive: bool,
    /// Interfaces, listed and served, in place of those that the other fields imply.
    #[serde(default)]
    pub interfaces: Option<Vec<String>>,
    /// Action names.
    #[serde(default)]
    pub actions: Vec<String>,
    /// Text content: Text interface, and EditableText with the state `editable`.
    #[serde(default)]
    pub text: Option<String>,
    /// Value interface.
    #[serde(default)]
    pub value: Option<ValueSpec>,
    /// Serve the Selection interface.
    #[serde(default)]
    pub selection: bool,
    /// `[x, y, width, height]` on the screen: Component interface.
    #[serde(default)]
    pub extents: Option<[i32; 4]>,
    /// Object attributes.
    #[serde(default)]
    pub attributes: BTreeMap<String, String>,
    /// Relation name to target ids.
    #[serde(default)]
    pub relations: BTreeMap<String, Vec<String>>,
    /// Row and column in a table: TableCell interface.
    #[serde(default)]
    pub cell: Option<[i32; 2]>,
    /// Rows and columns: Table interface.
    #[serde(default)]
    pub table: Option<[i32; 2]>,
    /// Claimed number of children. Above 1,000,000 `GetChildren` is a violation and never answers.
    #[serde(default)]
    pub child_count: Option<i32>,
    /// Claimed index in the parent; `GetChildAtIndex` answers it there too.
    #[serde(default)]
    pub index: Option<i32>,
    /// What `Parent` says: `null`, or a node id.
    #[serde(default)]
    pub parent_says: Option<String>,
    /// Ids that the child list names after the real children.
    #[serde(default)]
    pub extra_children: Vec<String>,
    /// An explicit object path.
    #[serde(default)]
    pub path: Option<String>,
    /// Steps for each action name; `*` stands for any.
    #[serde(default)]
    pub on_action: BTreeMap<String, Steps>,
    /// Steps after another write, by member (`SetTextContents`, `GrabFocus` …).
    #[serde(default)]
    pub on_write: BTreeMap<String, Steps>,
    /// Children.
    #[serde(default)]
    pub children: Vec<Child>,
}

/// A numeric value.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ValueSpec {
    /// Current value.
    pub current: f64,
    /// Minimum.
    #[serde(default)]
    pub minimum: f64,
    /// Maximum.
    pub maximum: f64,
    /// Minimum increment.
    #[serde(default)]
    pub increment: f64,
}

/// A fault.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// Which calls.
    #[serde(rename = "match", default)]
    pub matches: Match,
    /// First matching call that fails, counted from 1.
    #[serde(default = "one")]
    pub nth: u64,
    /// How many matching calls fail from there; all when left out.
    #[serde(default)]
    pub times: Option<u64>,
    /// What happens.
    #[serde(rename = "do")]
    pub action: Doing,
    /// Whether a write takes effect; the default follows the fault.
    #[serde(default)]
    pub effect: Option<Effect>,
}

fn one() -> u64 {
    1
}

/// Which calls a fault is for. Everything that is left out matches.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Match {
    /// Name of the application.
    pub app: Option<String>,
    /// Node id, with a trailing `*` for a prefix; `root` is the application object.
    pub node: Option<String>,
    /// Interface, short or full. For properties: the property's interface.
    pub interface: Option<String>,
    /// Method or property name.
    pub member: Option<String>,
}

/// Whether a write takes effect.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Never.
    None,
    /// At once.
    Now,
    /// When the late reply is sent.
    WithReply,
}

/// What a fault does.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Doing {
    /// No reply, ever.
    Never,
    /// The right reply, late.
    LateMs(u64),
    /// The right reply when that node is removed (a modal dialog).
    UntilRemoved(String),
    /// A D-Bus error.
    Error {
        /// Error name.
        name: String,
        /// Error message.
        #[serde(default)]
        message: String,
    },
    /// A reply of another type.
    WrongType,
    /// Strings of the reply hold bytes that aren't UTF-8.
    InvalidUtf8,
    /// Strings of the reply are that long.
    TextBytes(usize),
    /// References of the reply are null; lists get a null reference in front.
    NullRef,
    /// The process ends without replying.
    Die,
    /// The process ends after replying.
    DieAfterReply,
    /// ChildCount says that.
    ChildCount(i32),
    /// The child list also names the node's parent.
    Cycle,
    /// GetState says DEFUNCT only.
    Defunct,
    /// Parent says null.
    ParentNull,
    /// True, and nothing happens.
    LieTrue,
    /// False, and nothing happens.
    SayFalse,
    /// Any body at all.
    Raw {
        /// Header signature.
        signature: String,
        /// Body bytes in hexadecimal.
        hex: String,
    },
    /// The right reply, and steps. Combines with other faults.
    Set {
        /// Before or after the reply is computed.
        when: When,
        /// What changes.
        steps: Steps,
    },
}

/// Order of steps and reply.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// The reply already shows the change.
    Before,
    /// The reply shows the old state.
    After,
}

/// Steps that run by themselves.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timer {
    /// Delay of the first run.
    pub after_ms: u64,
    /// Repeat.
    #[serde(default)]
    pub every_ms: Option<u64>,
    /// What starts it.
    #[serde(default)]
    pub start: TimerStart,
    /// How many runs; endless when left out with `every_ms`.
    #[serde(default)]
    pub times: Option<u64>,
    /// `{n}` in the steps is this number plus the runs so far.
    #[serde(default)]
    pub count_from: i64,
    /// `{n}` counts down.
    #[serde(default)]
    pub down: bool,
    /// What happens.
    pub steps: Steps,
}

/// What starts a timer.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum TimerStart {
    /// The application became visible to clients.
    #[default]
    Ready,
    /// The first write arrived.
    Write,
}

impl Scenario {
    /// Parses and checks a scenario.
    pub fn parse(text: &str) -> Result<Self, String> {
        let raw: serde_json::Value = serde_json::from_str(text).map_err(|e| e.to_string())?;
        let scenario: Self = serde_json::from_str(text).map_err(|e| e.to_string())?;
        scenario.check(&raw)?;
        Ok(scenario)
    }

    fn check(&self, raw: &serde_json::Value) -> Result<(), String> {
        if self.applications.is_empty() {
            return Err("`applications` is empty".into());
        }
        let mut ids = vec!["root".to_owned()];
        collect_ids(raw, &mut ids);
        for (number, fault) in self.faults.iter().enumerate() {
            let place = format!("faults[{number}]");
            if fault.nth == 0 {
                return Err(format!("{place}: `nth` counts from 1"));
            }
            if let Some(app) = &fault.matches.app
                && !self.applications.iter().any(|a| &a.name == app)
            {
                return Err(format!("{place}: no application {app:?}"));
            }
            if let Some(node) = &fault.matches.node
                && !ids.iter().any(|id| could_be(id, node))
            {
                return Err(format!("{place}: nothing creates a node {node:?}"));
            }
            if let Some(interface) = &fault.matches.interface
                && names::interface_full(interface).is_none()
            {
                return Err(format!("{place}: unknown interface {interface:?}"));
            }
            if let Doing::Raw { hex, .. } = &fault.action {
                parse_hex(hex).map_err(|e| format!("{place}: {e}"))?;
            }
        }
        Ok(())
    }
}

/// Bytes of a hexadecimal string; blanks are skipped.
pub fn parse_hex(hex: &str) -> Result<Vec<u8>, String> {
    let digits: Option<Vec<u8>> = hex
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| c.to_digit(16).map(|d| d as u8))
        .collect();
    match digits {
        Some(digits) if digits.len().is_multiple_of(2) => Ok(digits
            .chunks(2)
            .map(|pair| pair[0] << 4 | pair[1])
            .collect()),
        _ => Err(format!("{hex:?} is not hexadecimal")),
    }
}

/// Whether a node id fits a pattern with an optional trailing `*`.
pub fn id_matches(pattern: &str, id: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(prefix) => id.starts_with(prefix),
        None => pattern == id,
    }
}

fn collect_ids(value: &serde_json::Value, ids: &mut Vec<String>) {
    match value {
        serde_json::Value::Object(map) => {
            if let Some(serde_json::Value::String(id)) = map.get("id") {
                ids.push(id.clone());
            }
            map.values().for_each(|v| collect_ids(v, ids));
        }
        serde_json::Value::Array(items) => items.iter().for_each(|v| collect_ids(v, ids)),
        _ => {}
    }
}

/// Whether an id of the file, in which `{i}` stands for any number, could fit a pattern.
fn could_be(id: &str, pattern: &str) -> bool {
    let Some((head, tail)) = id.split_once("{i}") else {
        return id_matches(pattern, id);
    };
    if let Some(prefix) = pattern.strip_suffix('*') {
        return prefix.starts_with(head) || head.starts_with(prefix);
    }
    pattern
        .strip_prefix(head)
        .and_then(|rest| rest.strip_suffix(tail))
        .is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}
