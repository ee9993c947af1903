//! Nodes, and generators of nodes.

use crate::names;
use crate::steps::Steps;
use serde::Deserialize;
use std::collections::BTreeMap;

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
            None => serde_json::from_value(value).map(|n| Self::Node(Box::new(n))).map_err(D::Error::custom),
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
            Self::Name(name) => names::role_number(name).ok_or_else(|| format!("unknown role {name:?}")),
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
