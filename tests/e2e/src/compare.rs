//! A printed tree held against the raw walk, by position: the product prints no addresses.

use crate::desk::{Desk, wait_for};
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// The tree of one window as the independent reader sees it.
pub struct Oracle {
    nodes: Vec<Value>,
    children: HashMap<usize, Vec<usize>>,
    root: usize,
    texts: HashSet<String>,
}

/// What a comparison found.
#[derive(Debug, Default)]
pub struct Compared {
    /// Nodes that stand in both trees at the same place.
    pub nodes: usize,
    /// What differs, in words.
    pub problems: Vec<String>,
    /// Containers whose children the product left out and said so.
    pub cut: usize,
    /// Containers whose children nobody should read.
    pub grids: usize,
    /// Names to be looked up elsewhere than in names and descriptions: place in the oracle's list, and name.
    pub elsewhere: Vec<(usize, String)>,
}

impl Oracle {
    /// The window with this id in a walk of its application.
    pub fn window(walk: &Value, id: &str) -> Self {
        let nodes = walk["nodes"].as_array().expect("nodes of the oracle").clone();
        let is_window = |n: &Value| window_id(n) == id;
        let root = nodes.iter().position(is_window).unwrap_or_else(|| panic!("the oracle knows no window {id}"));
        let mut children: HashMap<usize, Vec<usize>> = HashMap::new();
        for (at, node) in nodes.iter().enumerate() {
            if let Some(parent) = node["parent"].as_u64() {
                children.entry(parent as usize).or_default().push(at);
            }
        }
        let mut oracle = Self { nodes, children, root, texts: HashSet::new() };
        let texts = oracle.below(root).into_iter().flat_map(|at| {
            ["name", "description"].map(|field| plain(oracle.nodes[at][field].as_str().unwrap_or("")).to_owned())
        });
        oracle.texts = texts.collect();
        oracle
    }

    fn below(&self, at: usize) -> Vec<usize> {
        let (mut out, mut stack) = (Vec::new(), vec![at]);
        while let Some(at) = stack.pop() {
            out.push(at);
            stack.extend(self.children(at));
        }
        out
    }

    fn children(&self, at: usize) -> &[usize] {
        self.children.get(&at).map_or(&[], Vec::as_slice)
    }

    /// How many nodes the window has.
    pub fn count(&self) -> usize {
        self.below(self.root).len()
    }

    /// A node by its place in the list.
    pub fn node(&self, at: usize) -> &Value {
        &self.nodes[at]
    }

    /// Nodes of the window.
    pub fn all(&self) -> impl Iterator<Item = &Value> {
        self.below(self.root).into_iter().map(|at| &self.nodes[at])
    }

    /// Where each node stands and what it is called.
    pub fn shape(&self) -> Vec<[String; 5]> {
        self.all()
            .map(|n| ["path", "parent", "index_in_parent", "role", "name"].map(|field| n[field].to_string()))
            .collect()
    }

    /// The oracle's node at each place of a printed tree, with the printed one.
    pub fn pairs<'t>(&self, tree: &'t Value) -> Vec<(usize, &'t Value)> {
        let (mut out, mut stack) = (Vec::new(), vec![(self.root, tree)]);
        while let Some((at, node)) = stack.pop() {
            out.push((at, node));
            let printed = node["children"].as_array().map_or(&[][..], Vec::as_slice);
            stack.extend(self.children(at).iter().copied().zip(printed));
        }
        out
    }

    /// Holds a printed tree against this one. Every node of the oracle must stand at its place and none more; where
    /// `cuts` are allowed, a container without its children must say how many it has.
    pub fn compare(&self, tree: &Value, cuts: bool) -> Compared {
        let mut out = Compared::default();
        let mut stack = vec![(self.root, tree, "/".to_owned())];
        while let Some((at, node, place)) = stack.pop() {
            out.nodes += 1;
            let truth = &self.nodes[at];
            self.compare_names(at, node, &place, &mut out);
            let (role, number) = (node["role"].as_str().unwrap_or(""), truth["role"].as_u64().unwrap_or(0));
            if !role_fits(number, role) {
                out.problems.push(format!("{place}: role {number} ({}) printed as {role}", truth["role_name"]));
            }
            let printed = node["children"].as_array().map_or(&[][..], Vec::as_slice);
            let there = self.children(at);
            if truth["children_skipped"] == true {
                out.grids += 1;
                if node["subtree_truncated"] != true || node["children_count"] != truth["child_count"] {
                    out.problems.push(format!("{place}: a virtual grid that doesn't say so: {}", brief(node)));
                }
                continue;
            }
            if cuts && printed.is_empty() && !there.is_empty() && node["subtree_truncated"] == true {
                out.cut += 1;
                if node["children_count"] != there.len() {
                    let counted = &node["children_count"];
                    out.problems.push(format!("{place}: cut, {counted} children announced, {} there", there.len()));
                }
                continue;
            }
            if printed.len() != there.len() || node.get("subtree_truncated").is_some() {
                let names: Vec<_> = there.iter().map(|c| self.nodes[*c]["name"].to_string()).collect();
                out.problems.push(format!("{place}: {} has children {}", brief(node), names.join(", ")));
            }
            let pairs = there.iter().zip(printed).enumerate();
            stack.extend(pairs.map(|(i, (c, p))| (*c, p, format!("{place}{i}/"))));
        }
        out
    }

    /// Whether a menu entry inside the element has this text.
    fn has_entry(&self, at: usize, text: &str) -> bool {
        const MENU_ITEM: u64 = 35;
        let entries = self.below(at).into_iter().map(|at| &self.nodes[at]).filter(|n| n["role"] == MENU_ITEM);
        !text.is_empty() && entries.into_iter().any(|n| n["name"] == text)
    }

    /// Whether a name is made of labels and static texts inside the element, in their order.
    fn made_of_labels(&self, at: usize, name: &str) -> bool {
        let mut below: Vec<usize> = self.below(at);
        below.sort_unstable();
        let mut rest = name;
        for node in below.into_iter().map(|at| &self.nodes[at]).filter(|n| n["role"] == 29 || n["role"] == 116) {
            let text = plain(node["name"].as_str().unwrap_or(""));
            rest = rest.strip_prefix(text).map_or(rest, str::trim_start);
        }
        rest.is_empty()
    }

    /// A printed name is the node's own, or a text that stands in the window; an own name that isn't printed is a type
    /// name or stands as the value.
    fn compare_names(&self, at: usize, node: &Value, place: &str, out: &mut Compared) {
        let own = plain(self.nodes[at]["name"].as_str().unwrap_or(""));
        match node["name"].as_str().map(plain) {
            Some(printed) if printed == own || halves(own) == Some(printed) => {}
            Some(printed) if own.is_empty() || hides_label(own) => {
                let known = self.texts.contains(printed) || self.texts.iter().any(|t| halves(t) == Some(printed));
                if !known && !self.made_of_labels(at, printed) {
                    out.elsewhere.push((at, printed.to_owned()));
                }
            }
            None if own.is_empty() || hides_label(own) => {}
            None if node["value"].as_str().map(plain) == Some(own) => {}
            // GTK 3 may name a combo box by what its row is called inside; it shows the chosen entry.
            _ if node["role"] == "combobox" && self.has_entry(at, node["value"].as_str().unwrap_or("")) => {}
            // A combo box's name is what it shows; its label names it.
            Some(printed) if node["role"] == "combobox" && self.texts.contains(printed) => {}
            printed => out.problems.push(format!("{place}: {own:?} is printed as {printed:?}: {}", brief(node))),
        }
    }
}

/// A window's id as the product makes it from the window's address.
fn window_id(node: &Value) -> String {
    let text = |field: &str| node[field].as_str().unwrap_or("").replace([':', '/'], "-");
    format!("w{}{}", text("bus"), text("path"))
}

fn plain(text: &str) -> &str {
    text.trim()
}

/// GTK 4 says the label of a button twice.
fn halves(text: &str) -> Option<&str> {
    let middle = text.len().checked_sub(1)? / 2;
    let (first, second) = (text.get(..middle)?, text.get(middle + 1..)?);
    (text.len() % 2 == 1 && first == second && text.as_bytes()[middle] == b' ').then_some(first)
}

/// Names that GTK 4.8 makes up: of a C type, of any tab, or with the mark of a mnemonic.
fn hides_label(name: &str) -> bool {
    let humps = name.chars().filter(char::is_ascii_uppercase).count();
    let type_name = humps >= 2 && name.chars().all(|c| c.is_ascii_alphanumeric());
    type_name || name == "Tab" || name == "Tab list" || name.contains('_')
}

fn brief(node: &Value) -> String {
    let mut node = node.clone();
    if let Some(fields) = node.as_object_mut() {
        let children = fields.remove("children").and_then(|c| c.as_array().map(Vec::len)).unwrap_or(0);
        fields.insert("printed".to_owned(), children.into());
    }
    node.to_string()
}

/// Roles that no toolkit uses for anything else. Numbers are those of AT-SPI.
fn role_fits(number: u64, role: &str) -> bool {
    let wanted: &[&str] = match number {
        7 => &["checkbox", "switch"],
        8 | 35 | 45 => &["menuitem"],
        11 => &["combobox"],
        29 => &["statictext"],
        37 => &["tab"],
        38 => &["tablist"],
        42 => &["progressbar"],
        43 | 62 => &["button", "menubutton"],
        44 => &["radiobutton"],
        48 => &["scrollbar"],
        50 => &["separator"],
        51 => &["slider"],
        52 => &["incrementor"],
        88 => &["link"],
        _ => return true,
    };
    wanted.contains(&role)
}

/// Applications with a widget that gives its items new addresses whenever it is read (Qt 6.4's tree): two reads of them
/// agree on what stands where, never on addresses.
const RENEWS: &[&str] = &["qt6ct"];

/// A window that didn't change while it was read: the walk before and the walk after agree, and what the product
/// printed in between.
pub fn steady(desk: &Desk, pid: u32, app: &str, args: &[&str]) -> (Oracle, Value) {
    let renews = RENEWS.contains(&app);
    let how: &[&str] = if renews { &["--by-place"] } else { &[] };
    wait_for(&format!("a steady window of {app}"), || {
        let before = desk.walk(pid, how);
        let mut all = vec!["snapshot", "--app", app, "--timeout-ms", "60000"];
        all.extend(args);
        let data = desk.ok(&all);
        let id = data["window"]["id"].as_str().expect("a window id");
        let first = Oracle::window(&before, id);
        let second = Oracle::window(&desk.walk(pid, how), id);
        let shape = |oracle: &Oracle| {
            let mut shape = oracle.shape();
            shape.iter_mut().filter(|_| renews).for_each(|row| row[0].clear());
            shape
        };
        (shape(&first) == shape(&second)).then_some((second, data))
    })
}

/// How many of the printed refs still answer.
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    /// Refs that were tried: all, or an even sample of so many.
    pub tried: usize,
    /// Refs that answered.
    pub resolved: usize,
    /// Refs that were printed.
    pub printed: usize,
    /// Refs of a virtual grid's cells, which are made on demand and not tried.
    pub cells: usize,
}

/// Children that a virtual container was asked for: its own number of them says that nobody has them all.
pub fn cells(tree: &Value) -> Vec<&Value> {
    let huge = |n: &&Value| n["children_count"].as_u64().is_some_and(|c| c > 100_000);
    crate::reply::nodes(tree)
        .into_iter()
        .filter(huge)
        .flat_map(|n| n["children"].as_array().into_iter().flatten())
        .collect()
}

/// Asks for refs of a snapshot, each by a process of its own, so that nothing is remembered from one to the next.
pub fn resolve_rate(desk: &Desk, snapshot: &Value, at_most: usize) -> (Rate, Vec<String>) {
    let mut all: Vec<&Value> =
        crate::reply::nodes(&snapshot["tree"]).into_iter().filter(|n| n["ref_id"].is_string()).collect();
    assert_eq!(snapshot["ref_count"], all.len(), "ref_count and printed refs");
    let printed = all.len();
    let cells: HashSet<&str> = cells(&snapshot["tree"]).into_iter().filter_map(|n| n["ref_id"].as_str()).collect();
    all.retain(|n| !n["ref_id"].as_str().is_some_and(|r| cells.contains(r)));
    let step = all.len().div_ceil(at_most).max(1);
    let mut rate = Rate { tried: 0, resolved: 0, printed, cells: cells.len() };
    let mut failed = Vec::new();
    for node in all.into_iter().step_by(step) {
        rate.tried += 1;
        let envelope = desk.cli(&["get", node["ref_id"].as_str().expect("a ref"), "--property", "role"]).envelope();
        if envelope["ok"] == true && envelope["data"]["value"] == node["role"] {
            rate.resolved += 1;
        } else {
            failed.push(format!("{}: {}", brief(node), envelope["error"]));
        }
    }
    (rate, failed)
}
