//! Options of a container by their display text, and how each toolkit lets one be chosen (FINDINGS §5 "combo / select",
//! "list select", "tab").

use super::offer::{Offer, at, unread};
use super::plan::{Choice, Guard, Plan};
use crate::atspi::capability::Verb;
use crate::atspi::interface::{ACCESSIBLE, Interfaces};
use crate::atspi::labels::speaks_for_itself;
use crate::atspi::role::{self, native as n};
use crate::atspi::state::Native as States;
use crate::atspi::toolkit::Toolkit::{self, *};
use crate::bus::{Body, Call, Object, Wire};
use agent_desktop_core::act::verify::same_text;
use agent_desktop_core::deadline::Deadline;
use agent_desktop_core::error::{Code, Error};

/// Nodes that are looked at for one choice. More are `select_node_limit`.
const MAX_NODES: usize = 4_096;
/// Levels between a container and its options.
const MAX_DEPTH: usize = 7;
/// Levels between an option and its label, and labels that make its text: as a tree's names are made.
const LABEL_DEPTH: usize = 5;
const MAX_LABELS: usize = 4;
/// Options whose texts a refusal names, and bytes of each.
const MAX_TOLD: usize = 20;
const MAX_TOLD_BYTES: usize = 80;

/// One option.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// Whose child it is.
    pub parent: Object,
    /// Role of that.
    pub parent_role: u32,
    /// Interfaces of that.
    pub parent_interfaces: Interfaces,
    /// Its index there.
    pub index: i32,
    /// The option.
    pub object: Object,
    /// Role number.
    pub role: u32,
    /// States.
    pub states: States,
    /// Its display text.
    pub text: String,
    /// Where that text stands, with what stands there (one of several labels).
    pub label: (Object, String),
}

impl Item {
    /// The choice that a plan carries.
    pub fn choice(&self) -> Choice {
        Choice {
            parent: self.parent.handle(),
            index: self.index,
            item: self.object.handle(),
            text_at: self.label.0.handle(),
            text: self.label.1.clone(),
        }
    }
}

/// Whether this role is one of options.
pub fn is_option(role: u32, states: States) -> bool {
    match role {
        n::LIST_ITEM
        | n::MENU_ITEM
        | n::CHECK_MENU_ITEM
        | n::RADIO_MENU_ITEM
        | n::PAGE_TAB
        | n::TREE_ITEM
        | n::ICON => true,
        n::TABLE_CELL | n::TABLE_ROW => states.has(States::SELECTABLE),
        _ => false,
    }
}

struct Node {
    object: Object,
    role: u32,
    interfaces: Interfaces,
}

/// The options below a container, in order. Options inside options are not looked for.
pub fn gather(wire: &dyn Wire, toolkit: Toolkit, container: &Offer, deadline: Deadline) -> Result<Vec<Item>, Error> {
    let mut level =
        vec![Node { object: container.object.clone(), role: container.role, interfaces: container.interfaces }];
    let (mut items, mut seen) = (Vec::new(), 0);
    for _ in 0..MAX_DEPTH {
        let lists = children(wire, level.iter().map(|l| &l.object), deadline)?;
        let flat: Vec<(usize, i32, Object)> = lists
            .into_iter()
            .enumerate()
            .flat_map(|(at, list)| (0..).zip(list).map(move |(index, o)| (at, index, o)))
            .filter(|(_, _, o)| !o.is_null())
            .collect();
        seen += flat.len();
        if seen > MAX_NODES {
            return Err(too_many());
        }
        let calls = flat.iter().flat_map(|(_, _, o)| facts(o)).collect();
        let answers = wire.flight(calls, deadline);
        let mut next = Vec::new();
        for ((at, index, object), answers) in flat.into_iter().zip(answers.chunks(4)) {
            let Ok(role) = self::at(answers, 0).and_then(|r| r.uint()) else { continue };
            let states = States(self::at(answers, 1).and_then(|r| r.states()).unwrap_or(0));
            let names = self::at(answers, 2).and_then(|r| r.texts()).unwrap_or_default();
            let interfaces = Interfaces::parse(&names);
            let name = self::at(answers, 3).and_then(|r| r.text_property()).unwrap_or_default();
            if is_option(role, states) {
                let told =
                    !name.trim().is_empty() && !toolkit.name_is_generic(role) && !toolkit.blank_name(role, &name);
                let text = if told { name } else { String::new() };
                items.push(Item {
                    parent: level[at].object.clone(),
                    parent_role: level[at].role,
                    parent_interfaces: level[at].interfaces,
                    index,
                    label: (object.clone(), text.clone()),
                    object,
                    role,
                    states,
                    text,
                });
            } else if !role::is_label(role) && role != n::PUSH_BUTTON {
                next.push(Node { object, role, interfaces });
            }
        }
        if next.is_empty() {
            break;
        }
        level = next;
    }
    label(wire, toolkit, &mut items, deadline)?;
    Ok(items)
}

fn facts(object: &Object) -> [Call; 4] {
    [
        Call::new(object, ACCESSIBLE, "GetRole"),
        Call::new(object, ACCESSIBLE, "GetState"),
        Call::new(object, ACCESSIBLE, "GetInterfaces"),
        Call::get(object, ACCESSIBLE, "Name"),
    ]
}

/// Children of each object; never of one that has a huge number of them (FINDINGS §2 "LibreOffice Calc").
pub fn children<'o>(
    wire: &dyn Wire,
    objects: impl Iterator<Item = &'o Object>,
    deadline: Deadline,
) -> Result<Vec<Vec<Object>>, Error> {
    let objects: Vec<&Object> = objects.collect();
    let counts = wire.flight(objects.iter().map(|o| Call::get(o, ACCESSIBLE, "ChildCount")).collect(), deadline);
    let mut wanted = Vec::new();
    for (at, answer) in counts.into_iter().enumerate() {
        match answer.and_then(|r| r.int_property()) {
            Ok(0) => {}
            Ok(count) if usize::try_from(count).is_ok_and(|c| c <= MAX_NODES) => wanted.push(at),
            Ok(_) => return Err(too_many()),
            Err(e) => return Err(unread(&e)),
        }
    }
    let calls = wanted.iter().map(|at| Call::new(objects[*at], ACCESSIBLE, "GetChildren")).collect();
    let mut out = vec![Vec::new(); objects.len()];
    for (at, answer) in wanted.into_iter().zip(wire.flight(calls, deadline)) {
        out[at] = answer
            .and_then(|r| r.read::<Vec<(String, zbus::zvariant::OwnedObjectPath)>>("children"))
            .map(|list| list.into_iter().map(|(bus, path)| Object::new(bus, path.as_str())).collect())
            .map_err(|e| unread(&e))?;
    }
    Ok(out)
}

/// Texts of options without a name of their own: the labels inside (FINDINGS §4b "Where the telling text is").
fn label(wire: &dyn Wire, toolkit: Toolkit, items: &mut [Item], deadline: Deadline) -> Result<(), Error> {
    let blank: Vec<usize> = (0..items.len()).filter(|at| items[*at].text.is_empty()).collect();
    let tops: Vec<Object> = blank.iter().map(|at| items[*at].object.clone()).collect();
    for (at, found) in blank.into_iter().zip(labels_inside(wire, toolkit, tops, deadline)?) {
        items[at].text = found.iter().map(|(_, text)| text.trim()).collect::<Vec<_>>().join(" ");
        if let Some(first) = found.into_iter().next() {
            items[at].label = first;
        }
    }
    Ok(())
}

/// The labels inside each element, in the order of the tree and as a snapshot puts them together: not those of controls
/// inside it (`atspi::labels`), or a row with buttons would have another text here than there.
pub fn labels_inside(
    wire: &dyn Wire,
    toolkit: Toolkit,
    tops: Vec<Object>,
    deadline: Deadline,
) -> Result<Vec<Vec<(Object, String)>>, Error> {
    let mut found: Vec<Vec<(Vec<usize>, Object, String)>> = vec![Vec::new(); tops.len()];
    let mut level: Vec<(usize, Vec<usize>, Object)> =
        tops.into_iter().enumerate().map(|(at, object)| (at, Vec::new(), object)).collect();
    for _ in 0..=LABEL_DEPTH {
        if level.is_empty() {
            break;
        }
        let lists = children(wire, level.iter().map(|(_, _, o)| o), deadline)?;
        let inside: Vec<(usize, Vec<usize>, Object)> = level
            .iter()
            .zip(lists)
            .flat_map(|((at, place, _), list)| {
                let below = move |(index, o)| (*at, place.iter().copied().chain([index]).collect(), o);
                list.into_iter().enumerate().map(below)
            })
            .filter(|(_, _, o): &(_, _, Object)| !o.is_null())
            .collect();
        let calls = inside
            .iter()
            .flat_map(|(_, _, o)| {
                [
                    Call::new(o, ACCESSIBLE, "GetRole"),
                    Call::get(o, ACCESSIBLE, "Name"),
                    Call::new(o, ACCESSIBLE, "GetState"),
                ]
            })
            .collect();
        let answers = wire.flight(calls, deadline);
        level = Vec::new();
        for ((at, place, object), answers) in inside.into_iter().zip(answers.chunks(3)) {
            let Ok(role) = self::at(answers, 0).and_then(|r| r.uint()) else { continue };
            let name = self::at(answers, 1).and_then(|r| r.text_property()).unwrap_or_default();
            let states = States(self::at(answers, 2).and_then(|r| r.states()).unwrap_or(0));
            if role::is_label(role) {
                if !name.trim().is_empty() && !toolkit.blank_name(role, &name) {
                    found[at].push((place, object, name));
                }
            } else if !speaks_for_itself(role::map(role, states, None)) {
                level.push((at, place, object));
            }
        }
    }
    let in_order = |mut labels: Vec<(Vec<usize>, Object, String)>| {
        labels.sort_by(|a, b| a.0.cmp(&b.0));
        labels.into_iter().take(MAX_LABELS).map(|(_, object, text)| (object, text)).collect()
    };
    Ok(found.into_iter().map(in_order).collect())
}

/// The one option with this text.
pub fn one(items: Vec<Item>, wanted: &str) -> Result<Item, Error> {
    let total = items.len();
    let told: Vec<String> = items.iter().map(|i| shortened(&i.text)).filter(|t| !t.is_empty()).take(MAX_TOLD).collect();
    let mut equal: Vec<Item> = items.into_iter().filter(|i| same_text(&i.text, wanted)).collect();
    match equal.len() {
        1 => Ok(equal.remove(0)),
        0 => Err(Error::before(Code::ActionFailed, "no option has this text")
            .kind("select_menu_item_not_found")
            .detail("options", total)
            .detail("texts", told)
            .suggest(
                "The text must be equal, but for white space, to one of details.texts: those are the first ones there. A \
                 list that shows only what is chosen has the others once it is opened.",
            )),
        count => Err(Error::before(Code::AmbiguousTarget, format!("{count} options have this text"))
            .kind("option_not_unique")
            .detail("matches", count)
            .suggest("Act on the option's own ref from a snapshot.")),
    }
}

/// An option's text for a refusal.
fn shortened(text: &str) -> String {
    let mut text = text.trim().to_owned();
    crate::atspi::flight::clip(&mut text, MAX_TOLD_BYTES);
    text
}

fn too_many() -> Error {
    Error::before(Code::ActionFailed, "the element has too many options to look through")
        .kind("select_node_limit")
        .suggest("Act on the option's own ref, or narrow the list first.")
}

/// The option that the element itself is, with its parent.
pub fn own(wire: &dyn Wire, offer: &Offer, deadline: Deadline) -> Result<Option<Item>, Error> {
    if !is_option(offer.role, offer.states) {
        return Ok(None);
    }
    let answers = wire.flight(
        vec![
            Call::get(&offer.object, ACCESSIBLE, "Parent"),
            Call::new(&offer.object, ACCESSIBLE, "GetIndexInParent"),
            Call::get(&offer.object, ACCESSIBLE, "Name"),
        ],
        deadline,
    );
    let parent = at(&answers, 0).and_then(|r| r.object_property()).map_err(|e| unread(&e))?;
    let index = at(&answers, 1).and_then(|r| r.int()).map_err(|e| unread(&e))?;
    let name = at(&answers, 2).and_then(|r| r.text_property()).unwrap_or_default();
    if parent.is_null() || index < 0 {
        return Ok(None);
    }
    let answers = wire.flight(
        vec![
            Call::new(&parent, ACCESSIBLE, "GetRole"),
            Call::new(&parent, ACCESSIBLE, "GetInterfaces"),
            Call::with(&parent, ACCESSIBLE, "GetChildAtIndex", Body::Int(index)),
        ],
        deadline,
    );
    // `Parent` is not the inverse of the child lists (FINDINGS §4b): only what is confirmed downwards counts.
    let confirmed = at(&answers, 2).and_then(|r| r.object()).ok().as_ref() == Some(&offer.object);
    if !confirmed && !super::ladder::mints_addresses(offer.toolkit) {
        return Ok(None);
    }
    if matches!(offer.toolkit, Qt5 | Qt6) && in_combo(wire, &parent, deadline) {
        return Err(unsupported_combo());
    }
    let told = !name.trim().is_empty()
        && !offer.toolkit.name_is_generic(offer.role)
        && !offer.toolkit.blank_name(offer.role, &name);
    let text = if told { name } else { String::new() };
    let names = at(&answers, 1).and_then(|r| r.texts()).unwrap_or_default();
    let mut item = [Item {
        parent_role: at(&answers, 0).and_then(|r| r.uint()).unwrap_or(n::UNKNOWN),
        parent_interfaces: Interfaces::parse(&names),
        parent,
        index,
        object: offer.object.clone(),
        role: offer.role,
        states: offer.states,
        label: (offer.object.clone(), text.clone()),
        text,
    }];
    label(wire, offer.toolkit, &mut item, deadline)?;
    let [item] = item;
    Ok(Some(item))
}

/// Whether a list is the list of a combo box.
fn in_combo(wire: &dyn Wire, list: &Object, deadline: Deadline) -> bool {
    let role = |o: &Object| wire.flight(vec![Call::new(o, ACCESSIBLE, "GetRole")], deadline).pop();
    let parent = wire.flight(vec![Call::get(list, ACCESSIBLE, "Parent")], deadline).pop();
    parent
        .and_then(|p| p.and_then(|r| r.object_property()).ok())
        .filter(|p| !p.is_null())
        .and_then(|p| role(&p))
        .is_some_and(|r| r.and_then(|r| r.uint()) == Ok(n::COMBO_BOX))
}

/// Ways of choosing an option of a container, best first. The table of `select`.
pub fn ways(container: &Offer, item: &Item, offer: &Offer) -> Result<Vec<Plan>, Error> {
    let combo = container.role == n::COMBO_BOX;
    let act = |verbs: &[Verb], guard| -> Vec<Plan> {
        let plan = |v: &Verb| {
            let (index, name) = offer.action(*v)?;
            Some(Plan::DoOnChoice { name: name.to_owned(), index, guard, choice: item.choice() })
        };
        verbs.iter().filter_map(plan).collect()
    };
    let select_on = |object: &Object| Plan::SelectChild { on: object.handle(), choice: item.choice() };
    let by_parent = || item.parent_interfaces.has(Interfaces::SELECTION).then(|| select_on(&item.parent));
    let by_combo = || (combo && container.interfaces.has(Interfaces::SELECTION)).then(|| select_on(&container.object));
    Ok(match container.toolkit {
        // §5 "combo / select": item `Toggle` says yes and changes nothing, even in the open list; no Selection.
        Qt5 | Qt6 if combo => return Err(unsupported_combo()),
        Qt5 | Qt6 if item.role == n::PAGE_TAB => act(&[Verb::Press], Guard::None),
        // §5 "list select": Toggle selects; on a selected item it takes the selection back.
        Qt5 | Qt6 if item.states.has(States::SELECTED) => vec![Plan::Already],
        Qt5 | Qt6 => act(&[Verb::Toggle], Guard::Unselected),
        // §5 "list select": SelectChild on a tree table answers no.
        Gtk3 if item.role == n::TABLE_CELL => {
            vec![Plan::SelectRow { on: item.parent.handle(), choice: item.choice() }]
        }
        // A combo box's menu has a Selection too: that of the menu's keyboard cursor.
        Gtk3 if combo => by_combo().into_iter().chain(act(&[Verb::Press], Guard::None)).collect(),
        Gtk3 => by_parent().into_iter().chain(act(&[Verb::Press], Guard::None)).collect(),
        // A switcher of views has no Selection; its tabs are buttons that stay down (seen in gnome-clocks).
        Gtk4 if item.role == n::PAGE_TAB && by_parent().is_none() => match item.states.has(States::SELECTED) {
            true => vec![Plan::Already],
            false => act(&[Verb::Press], Guard::Unselected),
        },
        // Rows of a list lack `selectable` until they have been chosen once (seen with `Gtk.ListView` of 4.8): it tells
        // nothing, and a list that takes no choice answers no.
        Gtk4 => by_combo().into_iter().chain(by_parent()).collect(),
        // §5: its menu's SelectChild works where the options' own actions don't; in lists the other way round.
        Gecko if combo => by_parent().into_iter().collect(),
        Gecko => act(&[Verb::Select, Verb::Press], Guard::None).into_iter().chain(by_parent()).collect(),
        // §5: the options' own actions; SelectChild answers no.
        Chromium => act(&[Verb::Select, Verb::Press, Verb::Default], Guard::None),
        LibreOffice | Java | Clutter | Other => {
            by_combo().into_iter().chain(by_parent()).chain(act(&[Verb::Select, Verb::Press], Guard::None)).collect()
        }
    })
}

fn unsupported_combo() -> Error {
    Error::before(Code::ActionNotSupported, "this toolkit's combo box takes no choice through accessibility")
        .kind("no_semantic_way")
        .suggest("Expand it, then press arrow keys and Return where physical input is available (--headed).")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(toolkit: Toolkit, role: u32, interfaces: Interfaces, actions: &[&str]) -> Offer {
        Offer {
            object: Object::new(":1.1", "/container"),
            toolkit,
            role,
            states: States(0),
            interfaces,
            actions: actions.iter().map(|a| (*a).to_owned()).collect(),
            opens: false,
        }
    }

    fn item(text: &str, role: u32, states: u64) -> Item {
        let object = Object::new(":1.1", format!("/{text}"));
        Item {
            parent: Object::new(":1.1", "/parent"),
            parent_role: n::MENU,
            parent_interfaces: Interfaces::SELECTION,
            index: 1,
            label: (object.clone(), text.to_owned()),
            object,
            role,
            states: States(states),
            text: text.to_owned(),
        }
    }

    #[test]
    fn one_option_or_none() {
        let items =
            || vec![item("One", n::MENU_ITEM, 0), item("Two  words", n::MENU_ITEM, 0), item("One", n::MENU_ITEM, 0)];
        assert_eq!(one(items(), "Two words").unwrap().text, "Two  words");
        assert_eq!(one(items(), "two words").unwrap_err().kind_name(), Some("select_menu_item_not_found"));
        assert_eq!(one(items(), "One").unwrap_err().code(), Code::AmbiguousTarget);
    }

    fn labels(container: &Offer, i: &Item, actions: &[&str]) -> Vec<String> {
        let own = offer(container.toolkit, i.role, Interfaces::default(), actions);
        ways(container, i, &own).unwrap().iter().map(|p| p.rung(container.toolkit).label).collect()
    }

    #[test]
    fn combo_boxes_by_toolkit() {
        let combo = |t| offer(t, n::COMBO_BOX, Interfaces::SELECTION, &[]);
        let two = item("Two", n::MENU_ITEM, 0);
        assert_eq!(labels(&combo(Gtk3), &two, &["click"])[0], "Selection.SelectChild");
        assert_eq!(labels(&combo(Gecko), &two, &["select"]), ["Selection.SelectChild"]);
        assert_eq!(labels(&combo(Chromium), &two, &["select", "showContextMenu"]), ["Action.DoAction(select)"]);
        let e = ways(&combo(Qt6), &two, &combo(Qt6)).unwrap_err();
        assert_eq!((e.code(), e.kind_name()), (Code::ActionNotSupported, Some("no_semantic_way")));
    }

    #[test]
    fn a_selected_qt_item_is_left_alone() {
        let list = offer(Qt5, n::LIST, Interfaces::default(), &[]);
        assert_eq!(
            labels(&list, &item("A", n::LIST_ITEM, States::SELECTED), &["Toggle"]),
            ["already so: nothing sent"]
        );
        assert_eq!(labels(&list, &item("A", n::LIST_ITEM, 0), &["Toggle"]), ["Action.DoAction(Toggle)"]);
    }

    #[test]
    fn gtk4_tabs_of_a_switcher_are_pressed_and_rows_are_asked() {
        let bar = offer(Gtk4, n::PAGE_TAB_LIST, Interfaces::default(), &[]);
        let tab = |states| Item { parent_interfaces: Interfaces::default(), ..item("World", n::PAGE_TAB, states) };
        assert_eq!(labels(&bar, &tab(States::SELECTABLE), &["click"]), ["Action.DoAction(click)"]);
        assert_eq!(labels(&bar, &tab(States::SELECTED), &["click"]), ["already so: nothing sent"]);
        let book = item("General", n::PAGE_TAB, States::SELECTABLE);
        assert_eq!(labels(&bar, &book, &["click"]), ["Selection.SelectChild"]);
        let list = offer(Gtk4, n::LIST, Interfaces::SELECTION, &[]);
        // A row that was never chosen lacks the state, whether or not its list takes a choice.
        for states in [0, States::SELECTABLE] {
            assert_eq!(labels(&list, &item("A", n::LIST_ITEM, states), &[]), ["Selection.SelectChild"]);
        }
    }

    #[test]
    fn gtk3_rows_by_the_table() {
        let table = offer(Gtk3, n::TREE_TABLE, Interfaces::SELECTION, &[]);
        assert_eq!(labels(&table, &item("A", n::TABLE_CELL, 0), &[]), ["Table.AddRowSelection"]);
    }
}
