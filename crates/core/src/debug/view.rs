//! One look at a window: its picture and its elements.

use super::Deadline;
use crate::capture::{Masked, encode, masked};
use crate::command::Context;
use crate::command::act::{Click, RefAction};
use crate::error::{Error, Result};
use crate::evidence::Evidence;
use crate::geometry::Rect;
use crate::input::aim::window_of;
use crate::observe::locate::{self, Root};
use crate::observe::saved;
use crate::observe::snapshot::Kept;
use crate::observe::target::{Scope, find_any_window};
use crate::platform::ReadPlan;
use crate::refs::entry::RefMap;
use crate::tree::json::{element, qualified};
use crate::tree::present::{Earns, MAX_RAW_DEPTH, Options, Presented, earns_ref, present};
use crate::tree::raw::{Handle, RawTree};
use crate::vocab::surface::Surface;
use crate::windows::key_of;
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// What an element is to the reader of a page; its colour there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// It has a ref to act on.
    Action,
    /// It has a ref that only leads into a branch.
    Anchor,
    /// It is shown only.
    Context,
    /// It is what the click was for.
    Target,
}

impl Kind {
    fn token(self) -> &'static str {
        match self {
            Kind::Action => "action",
            Kind::Anchor => "anchor",
            Kind::Context => "context",
            Kind::Target => "target",
        }
    }
}

/// One look.
pub(super) struct View {
    /// Its name on the page.
    pub label: &'static str,
    /// What is told of it: `app`, `window`, `snapshot_id`, `complete`, `nodes`, `picture`.
    pub facts: Map<String, Value>,
    /// The picture, as PNG.
    pub png: Option<Vec<u8>>,
    /// What is missing, and why.
    pub warnings: Vec<String>,
}

impl View {
    fn new(label: &'static str) -> Self {
        Self { label, facts: Map::new(), png: None, warnings: Vec::new() }
    }

    /// Whether there is nothing to show.
    pub fn is_empty(&self) -> bool {
        self.png.is_none() && !self.facts.contains_key("nodes")
    }

    /// A snapshot as it was answered, with the picture of its window.
    pub fn of_snapshot(context: &Context, root: &Root, kept: &Kept, deadline: Deadline) -> Self {
        let mut view = Self::new("Snapshot");
        view.source(&kept.map);
        view.facts.insert("complete".into(), json!(kept.tree.complete() && kept.presented.complete));
        let numbers: HashMap<u32, u32> = kept.numbered.iter().map(|(number, raw)| (*raw, *number)).collect();
        view.elements(&kept.tree, &kept.presented, |raw, earns| {
            let number = numbers.get(&raw)?;
            let kind = if earns == Earns::Anchor { Kind::Anchor } else { Kind::Action };
            Some((qualified(&kept.map.snapshot_id, *number), kind))
        });
        let taken = (|| {
            let platform = context.platform()?;
            let scope = Scope { app: None, window_id: Some(&root.source.window_id) };
            let window = find_any_window(platform, scope, None, deadline)?;
            masked(platform, key_of(&window)?, root, Some(&kept.tree), deadline)
        })();
        view.picture(taken);
        view
    }

    /// The window of a click, now.
    pub fn of_click(context: &Context, args: &Click, label: &'static str, deadline: Deadline) -> Self {
        let mut view = Self::new(label);
        if let Err(error) = view.look(context, args, deadline) {
            view.warn("the window can't be shown", &error);
        }
        view
    }

    fn look(&mut self, context: &Context, args: &Click, deadline: Deadline) -> Result<()> {
        let platform = context.platform()?;
        let id = args.ref_id().parse()?;
        let map = saved::load(context, &id.snapshot)?;
        let entry = crate::act::entry_of(&map, id.number)?;
        self.source(&map);
        let (window, key) = window_of(platform, &map, entry, deadline)?;
        let root = locate::of_window(window, Surface::Window)?;
        let taken = masked(platform, &key, &root, None, deadline);
        // Without a picture there is still the tree.
        let read = match &taken {
            Ok(_) => None,
            Err(_) => {
                let plan = ReadPlan { bounds: true, ..ReadPlan::contract(deadline.within_ms(LAST_READ_MS)) };
                Some(platform.read_tree(&root.handle, &root.above, &root.process, &plan)?)
            }
        };
        if let Some(tree) = taken.as_ref().ok().map(|m| &m.tree).or(read.as_ref()) {
            let refs: HashMap<&Handle, u32> = map
                .entries
                .iter()
                .filter_map(|(number, e)| Some((&map.links.get(e.link as usize)?.link.handle, *number)))
                .collect();
            let options = Options { max_depth: MAX_RAW_DEPTH, include_bounds: true, ..Options::default() };
            let presented = present(tree, &options);
            self.facts.insert("complete".into(), json!(tree.complete() && presented.complete));
            self.elements(tree, &presented, |raw, _| {
                let node = tree.node(raw);
                let number = *refs.get(&node.handle)?;
                let kind = match number {
                    n if n == id.number => Kind::Target,
                    _ if earns_ref(&node.facts) => Kind::Action,
                    _ => Kind::Anchor,
                };
                Some((qualified(&map.snapshot_id, number), kind))
            });
        }
        self.picture(taken);
        Ok(())
    }

    fn source(&mut self, map: &RefMap) {
        self.facts.insert("app".into(), json!(map.source.app));
        self.facts.insert("window".into(), json!({"id": map.source.window_id, "title": map.source.window_title}));
        self.facts.insert("snapshot_id".into(), json!(map.snapshot_id));
    }

    fn warn(&mut self, what: &str, error: &Error) {
        let kind = error.kind_name().map(|k| format!(" ({k})")).unwrap_or_default();
        self.warnings.push(format!("{what}: {error}{kind}"));
    }

    fn picture(&mut self, taken: Result<Masked>) {
        let encoded = taken.and_then(|m| Ok((encode(&m.pixels)?, m)));
        match encoded {
            Ok((png, m)) => {
                self.png = Some(png);
                let size = json!({"width": m.pixels.width, "height": m.pixels.height});
                self.facts.insert("picture".into(), json!({"bounds": m.bounds, "size": size, "popups": m.popups}));
                if m.moved {
                    self.warnings.push("elements moved while the picture was taken: outlines may be off".into());
                }
            }
            Err(error) => self.warn("there is no picture of the window", &error),
        }
    }

    /// The elements as a list, each after its parent. `told` says which ref an element has.
    fn elements(&mut self, tree: &RawTree, presented: &Presented, told: impl Fn(u32, Earns) -> Option<(String, Kind)>) {
        let nodes = presented.nodes.iter().map(|shown| {
            let facts = &tree.node(shown.raw).facts;
            let (reference, kind) = match told(shown.raw, shown.earns) {
                Some((reference, kind)) => (Some(reference), kind),
                None => (None, Kind::Context),
            };
            let mut data = Map::new();
            if let Some(reference) = reference {
                data.insert("ref_id".into(), json!(reference));
            }
            element(&mut data, facts, shown, true);
            let place = match &facts.bounds {
                Evidence::Known(b) if b.has_area() && finite(b) => json!([b.x, b.y, b.width, b.height]),
                _ => Value::Null,
            };
            json!({"parent": shown.parent, "kind": kind.token(), "place": place, "data": data})
        });
        self.facts.insert("nodes".into(), nodes.collect());
    }
}

/// Time for a tree where the picture took all the rest, in milliseconds.
const LAST_READ_MS: u64 = 3_000;

fn finite(b: &Rect) -> bool {
    [b.x, b.y, b.width, b.height].iter().all(|v| v.is_finite())
}
