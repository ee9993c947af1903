//! org.a11y.atspi.Accessible.

use super::{Answer, View, ok};
use crate::call::{Call, Reply};
use crate::names;
use crate::tree::{Idx, NULL_PATH};
use crate::wire::Body;

/// Property names.
pub const PROPERTIES: &[&str] = &["Name", "Description", "Parent", "ChildCount", "Locale", "AccessibleId", "HelpText"];

/// Methods.
pub fn method(view: &mut View<'_>, call: &Call) -> Answer {
    match call.member.as_str() {
        "GetChildAtIndex" => Some(call.args::<(i32,)>().map(|(index,)| {
            let child = child_at(view, index);
            Reply::Ok(view.reference(child))
        })),
        "GetChildren" => ok(children(view)),
        "GetIndexInParent" => {
            let index = view
                .node()
                .index
                .unwrap_or_else(|| view.tree.position(view.idx).and_then(|at| i32::try_from(at).ok()).unwrap_or(-1));
            ok(Body::int(index))
        }
        "GetRelationSet" => ok(relations(view)),
        "GetRole" => ok(Body::uint(view.node().role)),
        "GetRoleName" | "GetLocalizedRoleName" => {
            let node = view.node();
            let own = names::role_name(node.role);
            ok(Body::string(node.role_name.as_deref().unwrap_or(own)))
        }
        "GetState" => ok(states(if view.tweak.defunct {
            names::state_bit("defunct").map_or(0, |bit| 1 << bit)
        } else {
            view.node().states
        })),
        "GetAttributes" => {
            let attributes = &view.node().attributes;
            ok(Body::new("a{ss}", |w| {
                w.array(8, |w| {
                    for (key, value) in attributes {
                        w.align(8);
                        w.string(key.as_bytes());
                        w.string(value.as_bytes());
                    }
                });
            }))
        }
        "GetApplication" => ok(view.reference(Some(view.app().root))),
        "GetInterfaces" => ok(interfaces(view.node().interfaces)),
        _ => None,
    }
}

/// Properties.
pub fn property(view: &mut View<'_>, name: &str) -> Option<Body> {
    let node = view.node();
    Some(match name {
        "Name" => Body::string(&node.name),
        "Description" => Body::string(&node.description),
        "AccessibleId" if !view.app().is_strict() || !node.accessible_id.is_empty() => {
            Body::string(&node.accessible_id)
        }
        "Locale" if !view.app().is_strict() => Body::string("en_US.UTF-8"),
        "HelpText" if !view.app().is_strict() => Body::string(""),
        "ChildCount" => Body::int(view.child_count()),
        "Parent" => parent(view),
        _ => return None,
    })
}

fn parent(view: &View<'_>) -> Body {
    let node = view.node();
    if view.tweak.parent_null || view.tweak.null_ref {
        return Body::reference("", NULL_PATH);
    }
    match (&node.parent_says, node.parent) {
        (Some(said), _) => view.reference(view.tree.by_id.get(said).copied()),
        (None, Some(parent)) => view.reference(Some(parent)),
        (None, None) => {
            let (bus, path) = &view.app().desktop;
            Body::reference(bus, path)
        }
    }
}

fn child_at(view: &View<'_>, index: i32) -> Option<Idx> {
    let place = usize::try_from(index).ok()?;
    if view.node().child_count.is_some() {
        let claimed = view.node().children.iter().find(|&&child| view.tree.node(child).index == Some(index));
        if let Some(&child) = claimed {
            return Some(child);
        }
    }
    if view.node().extra_children.is_empty() && !view.tweak.cycle {
        return view.node().children.get(place).copied();
    }
    view.children().get(place).copied()
}

fn children(view: &View<'_>) -> Body {
    Body::new("a(so)", |w| {
        w.array(8, |w| {
            if view.tweak.null_ref {
                w.reference("", NULL_PATH);
            }
            for child in view.children() {
                let (bus, path) = view.address(child);
                w.reference(bus, path);
            }
        });
    })
}

fn relations(view: &View<'_>) -> Body {
    Body::new("a(ua(so))", |w| {
        w.array(8, |w| {
            for (name, targets) in &view.node().relations {
                let Some(number) = names::relation_number(name) else {
                    continue;
                };
                w.align(8);
                w.u32(number);
                w.array(8, |w| {
                    for target in targets.iter().filter_map(|id| view.tree.by_id.get(id)) {
                        let (bus, path) = view.address(*target);
                        w.reference(bus, path);
                    }
                });
            }
        });
    })
}

/// State bits as the two words of `GetState`.
pub fn states(bits: u64) -> Body {
    Body::new("au", |w| {
        w.array(4, |w| {
            w.u32(bits as u32);
            w.u32((bits >> 32) as u32);
        });
    })
}

fn interfaces(set: u32) -> Body {
    Body::new("as", |w| {
        w.array(4, |w| {
            for name in names::interfaces_in(set) {
                w.string(format!("org.a11y.atspi.{name}").as_bytes());
            }
        });
    })
}
