//! The tree: an arena of nodes, found by path and by id in constant time.
//!
//! Removed nodes stay in the arena, marked dead, so that they can answer as dead objects do.

use crate::scenario::{self, DeadAnswer, ValueSpec};
use crate::steps::Steps;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// Path of the application object, always.
pub const ROOT_PATH: &str = "/org/a11y/atspi/accessible/root";
/// Path that stands for "none".
pub const NULL_PATH: &str = "/org/a11y/atspi/null";

/// Index of a node in the arena.
pub type Idx = u32;

/// Editable text of a node.
#[derive(Clone, Debug, Default)]
pub struct TextState {
    /// Content.
    pub content: String,
    /// Caret, in characters.
    pub caret: i32,
    /// Selections, in characters.
    pub selections: Vec<(i32, i32)>,
}

/// A node.
#[derive(Clone, Debug)]
pub struct Node {
    /// Id in the scenario.
    pub id: String,
    /// Object path.
    pub path: String,
    /// Application it belongs to.
    pub app: usize,
    /// Parent; none for the application object.
    pub parent: Option<Idx>,
    /// Children in order.
    pub children: Vec<Idx>,
    /// Where it probably stands among its parent's children.
    pub position_hint: u32,
    /// AT-SPI role.
    pub role: u32,
    /// Role name on the wire, where it isn't the role's own.
    pub role_name: Option<String>,
    /// Name.
    pub name: String,
    /// Description.
    pub description: String,
    /// Accessible id.
    pub accessible_id: String,
    /// State bits.
    pub states: u64,
    /// Interface bits (see `names`).
    pub interfaces: u32,
    /// Action names.
    pub actions: Vec<String>,
    /// Text.
    pub text: Option<TextState>,
    /// Value.
    pub value: Option<ValueSpec>,
    /// Screen extents.
    pub extents: Option<[i32; 4]>,
    /// Attributes.
    pub attributes: BTreeMap<String, String>,
    /// Relations, targets by id.
    pub relations: BTreeMap<String, Vec<String>>,
    /// Position in a table.
    pub cell: Option<[i32; 2]>,
    /// Size as a table.
    pub table: Option<[i32; 2]>,
    /// Claimed child count.
    pub child_count: Option<i32>,
    /// Claimed index.
    pub index: Option<i32>,
    /// Claimed parent.
    pub parent_says: Option<String>,
    /// Claimed further children.
    pub extra_children: Vec<String>,
    /// Steps by action.
    pub on_action: Rc<BTreeMap<String, Steps>>,
    /// Steps by write.
    pub on_write: Rc<BTreeMap<String, Steps>>,
    /// Removed.
    pub dead: bool,
}

/// What an application object is, beside its nodes.
#[derive(Debug)]
pub struct App {
    /// The scenario's description of it (its children are built and gone).
    pub spec: scenario::Application,
    /// The application object.
    pub root: Idx,
    /// Unique bus name, once connected.
    pub bus_name: String,
    /// The desktop object that `Embed` returned.
    pub desktop: (String, String),
    /// `Application.Id`, set by the registry.
    pub application_id: i32,
    /// Nodes by path.
    pub by_path: HashMap<String, Idx>,
    next_path: u64,
}

impl App {
    /// How its removed objects answer.
    pub fn dead_answer(&self) -> DeadAnswer {
        let toolkit = self.spec.toolkit.name.as_str();
        self.spec.dead_answer.unwrap_or(match toolkit {
            "GTK" => DeadAnswer::Gtk4,
            "Qt" => DeadAnswer::Qt,
            "Gecko" | "Chromium" => DeadAnswer::Gecko,
            _ => DeadAnswer::Gtk3,
        })
    }

    /// True where the toolkit reports errors for what it doesn't know (GTK 4, Qt).
    pub fn is_strict(&self) -> bool {
        matches!(self.dead_answer(), DeadAnswer::Gtk4 | DeadAnswer::Qt)
    }

    /// A path that was never used before in this application.
    pub fn fresh_path(&mut self) -> String {
        use scenario::PathStyle;
        let number = self.next_path;
        self.next_path += 1;
        let paths = &self.spec.paths;
        let prefix = paths.prefix.as_deref().unwrap_or(match paths.style {
            PathStyle::Uuid => "/org/example/App/a11y",
            PathStyle::Counter | PathStyle::Qt => "/org/a11y/atspi/accessible",
        });
        match paths.style {
            PathStyle::Counter => format!("{prefix}/{number}"),
            PathStyle::Qt => format!("{prefix}/{}", 2_147_483_647 + number),
            PathStyle::Uuid => {
                let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
                format!(
                    "{prefix}/{:08x}_{:04x}_4{:03x}_a{:03x}_{number:012x}",
                    mixed >> 32,
                    mixed >> 16 & 0xffff,
                    mixed >> 4 & 0xfff,
                    mixed & 0xfff
                )
            }
        }
    }
}

/// All applications and nodes.
#[derive(Debug, Default)]
pub struct Tree {
    /// Arena.
    pub nodes: Vec<Node>,
    /// Applications.
    pub apps: Vec<App>,
    /// Living node, or the one that died last, by id.
    pub by_id: HashMap<String, Idx>,
}

impl Tree {
    /// An application without windows.
    pub fn add_app(&mut self, mut spec: scenario::Application, root: Node) -> usize {
        let number = self.apps.len();
        let idx = self.nodes.len() as Idx;
        spec.children.clear();
        self.by_id.insert(format!("root:{}", spec.name), idx);
        if number == 0 {
            self.by_id.insert("root".into(), idx);
        }
        let by_path = HashMap::from([(root.path.clone(), idx)]);
        self.nodes.push(root);
        self.apps.push(App {
            spec,
            root: idx,
            bus_name: String::new(),
            desktop: (String::new(), NULL_PATH.into()),
            application_id: 0,
            by_path,
            next_path: 1,
        });
        number
    }

    /// A node.
    pub fn node(&self, idx: Idx) -> &Node {
        &self.nodes[idx as usize]
    }

    /// A node, to change.
    pub fn node_mut(&mut self, idx: Idx) -> &mut Node {
        &mut self.nodes[idx as usize]
    }

    /// A living node by id.
    pub fn find(&self, id: &str) -> Result<Idx, String> {
        match self.by_id.get(id) {
            Some(&idx) if !self.node(idx).dead => Ok(idx),
            Some(_) => Err(format!("node {id:?} was removed")),
            None => Err(format!("no node {id:?}")),
        }
    }

    /// Puts a node under a parent. Fails on a living node's id or on a used path.
    pub fn insert(&mut self, mut node: Node, parent: Idx, index: Option<usize>) -> Result<Idx, String> {
        let app = self.node(parent).app;
        if node.path.is_empty() {
            node.path = self.apps[app].fresh_path();
        }
        if self.find(&node.id).is_ok() {
            return Err(format!("two nodes with the id {:?}", node.id));
        }
        if self.apps[app].by_path.contains_key(&node.path) {
            return Err(format!("two nodes with the path {:?}", node.path));
        }
        let idx = Idx::try_from(self.nodes.len()).map_err(|_| "too many nodes")?;
        node.app = app;
        self.by_id.insert(node.id.clone(), idx);
        self.apps[app].by_path.insert(node.path.clone(), idx);
        self.nodes.push(node);
        self.attach(idx, parent, index);
        Ok(idx)
    }

    /// Puts a node into a child list; returns its place.
    pub fn attach(&mut self, idx: Idx, parent: Idx, index: Option<usize>) -> usize {
        let children = &mut self.node_mut(parent).children;
        let index = index.unwrap_or(children.len()).min(children.len());
        children.insert(index, idx);
        let node = self.node_mut(idx);
        node.parent = Some(parent);
        node.position_hint = index as u32;
        index
    }

    /// Takes a node out of its parent's child list; returns where it stood.
    pub fn detach(&mut self, idx: Idx) -> Option<(Idx, usize)> {
        let parent = self.node(idx).parent?;
        let index = self.position(idx)?;
        self.node_mut(parent).children.remove(index);
        Some((parent, index))
    }

    /// Marks a node and everything below it dead; returns all of them.
    pub fn kill(&mut self, idx: Idx) -> Vec<Idx> {
        let mut dead = vec![idx];
        let mut next = 0;
        while next < dead.len() {
            let node = self.node_mut(dead[next]);
            node.dead = true;
            dead.extend_from_slice(&node.children);
            next += 1;
        }
        dead
    }

    /// Place among the parent's children; numbers the whole list again when its hints are old.
    pub fn position(&mut self, idx: Idx) -> Option<usize> {
        let node = self.node(idx);
        let parent = node.parent?;
        let hint = node.position_hint as usize;
        if self.node(parent).children.get(hint) == Some(&idx) {
            return Some(hint);
        }
        let mut found = None;
        let children = std::mem::take(&mut self.node_mut(parent).children);
        for (index, &child) in children.iter().enumerate() {
            self.node_mut(child).position_hint = index as u32;
            if child == idx {
                found = Some(index);
            }
        }
        self.node_mut(parent).children = children;
        found
    }

    /// True when `below` is `above` or stands below it.
    pub fn is_inside(&self, below: Idx, above: Idx) -> bool {
        let mut at = Some(below);
        while let Some(idx) = at {
            if idx == above {
                return true;
            }
            at = self.node(idx).parent;
        }
        false
    }

    /// The window (child of the application object) that a node stands in.
    pub fn window_of(&self, idx: Idx) -> Idx {
        let mut at = idx;
        while let Some(parent) = self.node(at).parent {
            if self.node(parent).parent.is_none() {
                break;
            }
            at = parent;
        }
        at
    }

    /// Ids that a node's child list shows: its own children, then the claimed ones.
    pub fn shown_children(&self, idx: Idx) -> Vec<Idx> {
        let node = self.node(idx);
        let claimed = node.extra_children.iter().filter_map(|id| self.by_id.get(id).copied());
        node.children.iter().copied().chain(claimed).collect()
    }

    /// Number of children that a node claims.
    pub fn claimed_count(&self, idx: Idx) -> i32 {
        let node = self.node(idx);
        node.child_count
            .unwrap_or_else(|| i32::try_from(node.children.len() + node.extra_children.len()).unwrap_or(i32::MAX))
    }
}
