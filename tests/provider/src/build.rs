//! From the scenario to the tree, without recursion over what generators make.

use crate::names;
use crate::scenario::{Application, Child, Generate, NodeSpec, Scenario};
use crate::tree::{Idx, Node, ROOT_PATH, TextState, Tree};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Builds the tree of a scenario.
pub fn tree(scenario: &Scenario) -> Result<Tree, String> {
    let mut tree = Tree::default();
    for app in &scenario.applications {
        let number = tree.add_app(app.clone(), root_node(app, tree.apps.len())?);
        let root = tree.apps[number].root;
        for child in &app.children {
            add(&mut tree, child, root, None)?;
        }
    }
    Ok(tree)
}

/// Adds a child or what a generator makes; returns the nodes added directly under the parent.
pub fn add(tree: &mut Tree, child: &Child, parent: Idx, index: Option<usize>) -> Result<Vec<Idx>, String> {
    match child {
        Child::Node(spec) => Ok(vec![add_node(tree, spec, None, parent, index)?]),
        Child::Generate(generate) => add_generated(tree, generate, parent, index),
    }
}

/// Adds a node with its children. The recursion is as deep as the JSON was.
pub fn add_node(
    tree: &mut Tree,
    spec: &NodeSpec,
    number: Option<u32>,
    parent: Idx,
    index: Option<usize>,
) -> Result<Idx, String> {
    let idx = tree.insert(node(spec, number)?, parent, index)?;
    for child in &spec.children {
        match child {
            Child::Node(spec) => {
                add_node(tree, spec, number, idx, None)?;
            }
            Child::Generate(generate) => {
                add_generated(tree, generate, idx, None)?;
            }
        }
    }
    Ok(idx)
}

fn add_generated(tree: &mut Tree, generate: &Generate, parent: Idx, index: Option<usize>) -> Result<Vec<Idx>, String> {
    match generate {
        Generate::Flat { count, from, template } => (0..*count)
            .map(|i| {
                let index = index.map(|index| index + i as usize);
                add_node(tree, template, Some(from + i), parent, index)
            })
            .collect(),
        Generate::Chain { depth, template, leaf } => {
            let mut at = parent;
            let mut first = Vec::new();
            for i in 0..*depth {
                at = add_node(tree, template, Some(i), at, index.filter(|_| i == 0))?;
                if i == 0 {
                    first.push(at);
                }
            }
            if let Some(leaf) = leaf {
                add_node(tree, leaf, None, at, None)?;
            }
            Ok(first)
        }
        Generate::Balanced { count, fanout, template } => {
            if *fanout == 0 {
                return Err("`fanout` must be at least 1".into());
            }
            if !template.children.is_empty() {
                return Err("the template of a balanced tree has no children".into());
            }
            let mut made: Vec<Idx> = Vec::new();
            for i in 0..*count {
                let above = match i.checked_sub(1) {
                    None => parent,
                    Some(before) => made[(before / fanout) as usize],
                };
                let index = index.filter(|_| i == 0);
                made.push(add_node(tree, template, Some(i), above, index)?);
            }
            made.truncate(1);
            Ok(made)
        }
    }
}

/// State bits of a list of names.
fn state_set<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<u64, String> {
    names.into_iter().try_fold(0, |set, name| {
        names::state_bit(name).map(|bit| set | 1 << bit).ok_or_else(|| format!("unknown state {name:?}"))
    })
}

fn node(spec: &NodeSpec, number: Option<u32>) -> Result<Node, String> {
    let fill = |text: &str| match number {
        Some(number) if text.contains("{i}") => text.replace("{i}", &number.to_string()),
        _ => text.to_owned(),
    };
    let default_states: &[&str] =
        if spec.insensitive { &["showing", "visible"] } else { &["enabled", "sensitive", "showing", "visible"] };
    let own_states = match &spec.states {
        Some(states) => state_set(states.iter().map(String::as_str)),
        None => state_set(default_states.iter().copied()),
    };
    let states = own_states
        .and_then(|set| Ok(set | state_set(spec.also.iter().map(String::as_str))?))
        .map_err(|e| format!("node {:?}: {e}", spec.id))?;
    for name in spec.relations.keys() {
        names::relation_number(name).ok_or_else(|| format!("node {:?}: unknown relation {name:?}", spec.id))?;
    }
    Ok(Node {
        id: fill(&spec.id),
        path: spec.path.as_deref().map(fill).unwrap_or_default(),
        app: 0,
        parent: None,
        children: Vec::new(),
        position_hint: 0,
        role: spec.role.number().map_err(|e| format!("node {:?}: {e}", spec.id))?,
        role_name: spec.role_name.clone(),
        name: fill(&spec.name),
        description: fill(&spec.description),
        accessible_id: fill(&spec.accessible_id),
        states,
        interfaces: interfaces(spec, states)?,
        actions: spec.actions.clone(),
        text: spec.text.as_deref().map(|text| TextState { content: fill(text), ..TextState::default() }),
        value: spec.value,
        extents: spec.extents,
        attributes: spec.attributes.iter().map(|(k, v)| (k.clone(), fill(v))).collect(),
        relations: spec.relations.iter().map(|(k, v)| (k.clone(), v.iter().map(|id| fill(id)).collect())).collect(),
        cell: spec.cell,
        table: spec.table,
        child_count: spec.child_count,
        index: spec.index,
        parent_says: spec.parent_says.as_deref().map(fill),
        extra_children: spec.extra_children.iter().map(|id| fill(id)).collect(),
        on_action: Rc::new(spec.on_action.clone()),
        on_write: Rc::new(spec.on_write.clone()),
        dead: false,
    })
}

fn interfaces(spec: &NodeSpec, states: u64) -> Result<u32, String> {
    let editable = names::state_bit("editable").is_some_and(|bit| states & (1 << bit) != 0);
    let implied = [
        ("Accessible", true),
        ("Action", !spec.actions.is_empty()),
        ("Component", spec.extents.is_some()),
        ("Text", spec.text.is_some()),
        ("EditableText", spec.text.is_some() && editable),
        ("Value", spec.value.is_some()),
        ("Selection", spec.selection),
        ("Table", spec.table.is_some()),
        ("TableCell", spec.cell.is_some()),
    ];
    let listed: Vec<&str> = match &spec.interfaces {
        Some(list) => list.iter().map(String::as_str).collect(),
        None => implied.iter().filter(|(_, yes)| *yes).map(|(name, _)| *name).collect(),
    };
    listed.into_iter().try_fold(0, |set, name| {
        names::interface_bit(name)
            .map(|bit| set | 1 << bit)
            .ok_or_else(|| format!("node {:?}: unknown interface {name:?}", spec.id))
    })
}

fn root_node(app: &Application, number: usize) -> Result<Node, String> {
    let set = |name| names::interface_bit(name).map_or(0, |bit: u32| 1 << bit);
    Ok(Node {
        id: "root".into(),
        path: ROOT_PATH.into(),
        app: number,
        parent: None,
        children: Vec::new(),
        position_hint: 0,
        role: names::role_number("application").ok_or("no application role")?,
        role_name: None,
        name: app.name.clone(),
        description: String::new(),
        accessible_id: String::new(),
        states: 0,
        interfaces: set("Accessible") | set("Application") | set("Component"),
        actions: Vec::new(),
        text: None,
        value: None,
        extents: None,
        attributes: BTreeMap::new(),
        relations: BTreeMap::new(),
        cell: None,
        table: None,
        child_count: None,
        index: None,
        parent_says: None,
        extra_children: Vec::new(),
        on_action: Rc::default(),
        on_write: Rc::default(),
        dead: false,
    })
}
