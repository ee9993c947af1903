//! Which neighbours' texts tell an element from the same element of another item (decisions D1).
//!
//! In recycled lists and in web content an address follows the slot: role, label, states and parents all stay
//! equal while another row is shown (FINDINGS §4b). Only the text beside the element gives it away. So an
//! entry keeps up to eight such texts, chosen so that no sibling item has them all.

use crate::evidence::Evidence;
use crate::platform::TextSource;
use crate::tree::name::{stable_description, stable_name};
use crate::tree::raw::{Cut, Grade, RawTree};
use crate::vocab::role::Role;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

/// Witnesses kept for one entry at most.
pub const MAX_WITNESSES: usize = 8;

/// Same-role siblings that make an item, at least.
const SIBLINGS_THAT_MAKE_AN_ITEM: usize = 3;

/// A text in the tree: where, which, what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// Arena index of the node.
    pub node: u32,
    /// Which of its texts.
    pub source: TextSource,
    /// The text, white space normalised.
    pub text: String,
}

/// A cell's place in a table whose rows have no object of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowPlace {
    /// Arena index of the cell that is, or holds, the element.
    pub cell: u32,
    /// Its column.
    pub column: i64,
    /// Arena indices of the cells that hold the witnesses.
    pub others: Vec<u32>,
}

/// How an element of the `slot` grade can be told again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Telling {
    /// It stands in no item.
    NoItem,
    /// By these texts.
    Witnesses {
        /// Chosen texts.
        texts: Vec<Text>,
        /// Place in a table row.
        row: Option<RowPlace>,
    },
    /// A sibling item says the same, or the item says nothing.
    NotUnique,
    /// Something that would tell could not be read.
    Unread,
}

/// Items that can be mistaken for one another: each a set of subtrees.
struct Group {
    /// The texts of each item, in pre-order.
    texts: Vec<Vec<Text>>,
    /// Which item a subtree root begins.
    item_of: HashMap<u32, u32>,
    /// Which items hold a text.
    holders: HashMap<String, Vec<u32>>,
    /// Items that another one can't be told from, once that is known: it holds for every element in them.
    alike: Vec<bool>,
    /// Whether a text of some item could not be read, or items may be missing.
    opaque: bool,
    /// Whether a description of some item could not be read: then no description counts.
    undescribed: bool,
}

/// What one item says.
struct Texts {
    texts: Vec<Text>,
    /// Whether a name or a text could not be read.
    blind: bool,
    /// Whether a description could not be read.
    undescribed: bool,
}

/// Finds witnesses in one tree; groups are computed once.
pub struct Witnesses<'t> {
    tree: &'t RawTree,
    groups: HashMap<GroupKey, Group>,
    /// How many children of a node have a role, for nodes whose children were counted.
    like: HashMap<u32, HashMap<Role, usize>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum GroupKey {
    /// Children of this node that are items by their native role.
    Native(u32),
    /// Children of this node that share this role.
    SameRole(u32, Role),
    /// Rows of cells below this node.
    Rows(u32),
}

impl<'t> Witnesses<'t> {
    /// A finder over one tree.
    pub fn new(tree: &'t RawTree) -> Self {
        Self { tree, groups: HashMap::new(), like: HashMap::new() }
    }

    /// How the element can be told again, if its address follows the slot.
    pub fn tell(&mut self, element: u32) -> Telling {
        let levels = self.levels(element);
        if levels.is_empty() {
            return Telling::NoItem;
        }
        let mut chosen: Vec<Text> = Vec::new();
        let mut spare: Vec<Text> = Vec::new();
        let mut cell = None;
        for (level, key) in levels {
            self.group(key);
            let Some(group) = self.groups.get_mut(&key) else { return Telling::Unread };
            let Some(at) = group.item_of.get(&level).copied() else { return Telling::Unread };
            if group.opaque {
                return Telling::Unread;
            }
            let Some(mut texts) = group.distinguishing(at, element) else {
                return if group.undescribed { Telling::Unread } else { Telling::NotUnique };
            };
            if level == element && matches!(key, GroupKey::SameRole(..)) {
                // A control among its like: its own label tells it, and resolution compares that by itself, so that a
                // Play that became Pause is renamed and not another one.
                let label = stable_name(&self.tree.node(element).facts);
                let label = label.known().map(|l| l.split_whitespace().collect::<Vec<_>>().join(" "));
                let other = |t: &Text| t.node != element || Some(&t.text) != label.as_ref();
                texts.needed.retain(other);
                texts.spare.retain(other);
            }
            if let GroupKey::Rows(_) = key {
                cell.get_or_insert(level);
            }
            let fresh = |t: &Text, chosen: &[Text]| !chosen.contains(t);
            chosen.extend(texts.needed.into_iter().filter(|t| fresh(t, &chosen)).collect::<Vec<_>>());
            spare.extend(texts.spare);
        }
        if chosen.len() > MAX_WITNESSES {
            return Telling::NotUnique;
        }
        for text in spare {
            if chosen.len() < MAX_WITNESSES && !chosen.contains(&text) {
                chosen.push(text);
            }
        }
        if chosen.is_empty() && cell.is_none() {
            return Telling::NoItem;
        }
        let row = match cell {
            None => None,
            Some(cell) => match self.row_place(cell, &chosen) {
                Some(place) => Some(place),
                None => return Telling::Unread,
            },
        };
        Telling::Witnesses { texts: chosen, row }
    }

    /// The items that the element is or stands in: itself, the nearest one above it, and every one above that
    /// is an item by its native role. An item by count alone, further up, is page structure; so is one whose address
    /// follows it: the chain tells it from its siblings.
    fn levels(&mut self, element: u32) -> Vec<(u32, GroupKey)> {
        let mut levels = Vec::new();
        let mut nearest_above = false;
        let tree = self.tree;
        for node in tree.ancestors_or_self(element) {
            let Some(parent) = tree.node(node).parent else { break };
            let facts = &tree.node(node).facts;
            let is_self = node == element;
            if !matches!(facts.cell, Evidence::Absent) && !self.parent_is_row(parent) {
                levels.push((node, GroupKey::Rows(parent)));
                nearest_above |= !is_self;
            } else if facts.item && facts.grade == Grade::Slot {
                levels.push((node, GroupKey::Native(parent)));
                nearest_above |= !is_self;
            } else if (is_self || !nearest_above) && facts.grade == Grade::Slot && self.one_of_many(node, parent) {
                let Some(role) = facts.role.known() else { continue };
                levels.push((node, GroupKey::SameRole(parent, *role)));
                nearest_above |= !is_self;
            }
        }
        levels
    }

    fn parent_is_row(&self, parent: u32) -> bool {
        matches!(self.tree.node(parent).facts.role, Evidence::Known(Role::Row))
    }

    /// Children are counted once for each parent: in a long list every element asks.
    fn one_of_many(&mut self, node: u32, parent: u32) -> bool {
        let tree = self.tree;
        let Some(role) = tree.node(node).facts.role.known() else { return false };
        let counts = self.like.entry(parent).or_insert_with(|| {
            let mut counts = HashMap::new();
            for role in tree.node(parent).children.iter().filter_map(|c| tree.node(*c).facts.role.known()) {
                *counts.entry(*role).or_insert(0) += 1;
            }
            counts
        });
        counts.get(role).is_some_and(|n| *n >= SIBLINGS_THAT_MAKE_AN_ITEM)
    }

    fn group(&mut self, key: GroupKey) {
        if self.groups.contains_key(&key) {
            return;
        }
        let (parent, items, mut opaque) = match key {
            GroupKey::Native(parent) => {
                let items = self.children(parent, |n| self.tree.node(n).facts.item);
                (parent, items, false)
            }
            GroupKey::SameRole(parent, role) => {
                let items = self.children(parent, |n| self.tree.node(n).facts.role.known() == Some(&role));
                (parent, items, false)
            }
            GroupKey::Rows(parent) => {
                let mut rows: BTreeMap<i64, Vec<u32>> = BTreeMap::new();
                let mut opaque = false;
                for &child in &self.tree.node(parent).children {
                    match &self.tree.node(child).facts.cell {
                        Evidence::Known((row, _)) => rows.entry(*row).or_default().push(child),
                        Evidence::Absent => {}
                        Evidence::Unknown(_) => opaque = true,
                    }
                }
                (parent, rows.into_values().collect(), opaque)
            }
        };
        // Items that were not read may say the same.
        opaque |= self.tree.node(parent).cut.is_some();
        let mut texts: Vec<Vec<Text>> = Vec::with_capacity(items.len());
        let mut undescribed = false;
        for roots in &items {
            let of_item = self.texts_of(roots);
            opaque |= of_item.blind;
            undescribed |= of_item.undescribed;
            texts.push(of_item.texts);
        }
        if undescribed {
            texts.iter_mut().for_each(|t| t.retain(|t| t.source != TextSource::Description));
        }
        let mut holders: HashMap<String, Vec<u32>> = HashMap::new();
        for (at, of_item) in texts.iter().enumerate() {
            for t in of_item {
                let list = holders.entry(t.text.clone()).or_default();
                if list.last() != Some(&(at as u32)) {
                    list.push(at as u32);
                }
            }
        }
        let item_of = (0u32..).zip(&items).flat_map(|(at, roots)| roots.iter().map(move |r| (*r, at))).collect();
        let alike = vec![false; items.len()];
        self.groups.insert(key, Group { texts, item_of, holders, alike, opaque, undescribed });
    }

    fn children(&self, parent: u32, keep: impl Fn(u32) -> bool) -> Vec<Vec<u32>> {
        self.tree.node(parent).children.iter().copied().filter(|c| keep(*c)).map(|c| vec![c]).collect()
    }

    /// The texts below these roots, and whether one of them could not be read.
    fn texts_of(&self, roots: &[u32]) -> Texts {
        let mut texts = Vec::new();
        let mut blind = false;
        let mut undescribed = false;
        for node in roots.iter().flat_map(|r| self.tree.subtree(*r)) {
            let raw = self.tree.node(node);
            blind |= raw.cut.as_ref().is_some_and(Cut::incomplete);
            let mut add = |source, evidence: Evidence<String>| match evidence {
                Evidence::Known(text) => {
                    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
                    if !text.is_empty() {
                        texts.push(Text { node, source, text });
                    }
                }
                Evidence::Absent => {}
                Evidence::Unknown(_) => blind = true,
            };
            if raw.facts.own_text.settled() && raw.facts.own_text.known().is_some() {
                add(TextSource::OwnText, raw.facts.own_text.clone());
            } else {
                if !raw.facts.own_text.settled() {
                    add(TextSource::OwnText, raw.facts.own_text.clone());
                }
                // A secure field's label is no secret; what it holds never enters its name.
                add(TextSource::Name, stable_name(&raw.facts));
            }
            match stable_description(&raw.facts) {
                Evidence::Unknown(_) => undescribed = true,
                description => add(TextSource::Description, description),
            }
        }
        Texts { texts, blind, undescribed }
    }

    /// The cell's column, and the cells of the same table that hold witnesses.
    fn row_place(&self, cell: u32, texts: &[Text]) -> Option<RowPlace> {
        let Evidence::Known((_, column)) = self.tree.node(cell).facts.cell else { return None };
        let table = self.tree.node(cell).parent?;
        let mut others: Vec<u32> = Vec::new();
        for t in texts {
            let below_table = |n: &u32| self.tree.node(*n).parent == Some(table);
            if let Some(of) = self.tree.ancestors_or_self(t.node).find(below_table)
                && of != cell
                && !others.contains(&of)
            {
                others.push(of);
            }
        }
        Some(RowPlace { cell, column, others })
    }
}

/// What tells one item of a group.
struct Distinguishing {
    /// No other item holds all of these.
    needed: Vec<Text>,
    /// More lasting texts of the item.
    spare: Vec<Text>,
}

impl Group {
    /// Texts of item `at` that no other item of the group holds together, nearest to the element first; none where
    /// there are none. A lone item needs one text at least: a slot without any says nothing.
    fn distinguishing(&mut self, at: u32, element: u32) -> Option<Distinguishing> {
        if *self.alike.get(at as usize)? {
            return None;
        }
        let mine = self.texts.get(at as usize)?;
        let mut needed: Vec<&Text> = Vec::new();
        // Items that hold everything chosen so far, this one among them; none chosen: all of them.
        let mut holding: Option<Cow<'_, [u32]>> = None;
        let alone = |holding: &Option<Cow<'_, [u32]>>| holding.as_ref().is_some_and(|h| h.len() <= 1);
        for text in nearest(mine, element) {
            if alone(&holding) {
                break;
            }
            let holders = self.holders.get(&text.text)?;
            match &holding {
                None if holders.len() < self.texts.len().max(2) => holding = Some(Cow::Borrowed(holders)),
                None => continue,
                Some(before) => {
                    let (few, many): (&[u32], &[u32]) =
                        if before.len() < holders.len() { (before, holders) } else { (holders, before) };
                    let both: Vec<u32> = few.iter().copied().filter(|h| many.binary_search(h).is_ok()).collect();
                    if both.len() == before.len() {
                        continue;
                    }
                    holding = Some(Cow::Owned(both));
                }
            }
            needed.push(text);
        }
        if !alone(&holding) {
            // Every text was tried, and their order doesn't matter to what they tell together.
            self.alike[at as usize] = true;
            return None;
        }
        let spare = nearest(mine, element)
            .take_while(|t| t.source == TextSource::OwnText)
            .filter(|t| !needed.contains(t))
            .take(MAX_WITNESSES)
            .cloned()
            .collect();
        Some(Distinguishing { needed: needed.into_iter().cloned().collect(), spare })
    }
}

/// The texts of an item, the nearest to the element first; labels and static text before the names of controls, which
/// may follow their state. A description is taken only where nothing else tells: toggles between the same names under
/// the pointer often reword theirs. Lazily: the first few decide, and an item may be a whole page.
fn nearest(texts: &[Text], element: u32) -> impl Iterator<Item = &Text> {
    [TextSource::OwnText, TextSource::Name, TextSource::Description].into_iter().flat_map(move |source| {
        let kind = move |t: &&Text| t.source == source;
        // Texts stand in the order of their nodes.
        let (before, after) = texts.split_at(texts.partition_point(|t| t.node < element));
        let mut before = before.iter().rev().filter(kind).peekable();
        let mut after = after.iter().filter(kind).peekable();
        std::iter::from_fn(move || match (before.peek(), after.peek()) {
            (Some(b), Some(a)) if b.node.abs_diff(element) <= a.node.abs_diff(element) => before.next(),
            (Some(_), None) => before.next(),
            _ => after.next(),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::fixture::{Spec, node};
    use crate::tree::raw::Cut;
    use proptest::prelude::*;

    fn row(person: &str) -> Spec {
        node(Role::LayoutItem)
            .item()
            .slot()
            .child(node(Role::StaticText).slot().own_text(person))
            .child(node(Role::Button).slot().name("Delete"))
    }

    fn list(rows: impl IntoIterator<Item = Spec>) -> RawTree {
        node(Role::Window).child(node(Role::List).slot().children(rows)).build()
    }

    fn buttons(tree: &RawTree) -> Vec<u32> {
        (0..tree.nodes.len() as u32).filter(|n| tree.node(*n).facts.role == Evidence::Known(Role::Button)).collect()
    }

    fn texts(telling: Telling) -> Vec<String> {
        match telling {
            Telling::Witnesses { texts, .. } => texts.into_iter().map(|t| t.text).collect(),
            other => panic!("no witnesses: {other:?}"),
        }
    }

    #[test]
    fn siblings_whose_addresses_follow_them_are_no_rivals() {
        let pick = || {
            let option = |text: &str| node(Role::Option).item().slot().own_text(text);
            node(Role::ComboBox).child(node(Role::List).children([option("Disable"), option("Animate")]))
        };
        let tree = node(Role::Window).children([pick(), pick(), pick()]).build();
        let animate = |n: &u32| tree.node(*n).facts.own_text == Evidence::Known("Animate".to_owned());
        let second = (0..tree.nodes.len() as u32).filter(animate).nth(1).expect("three of them");
        assert_eq!(texts(Witnesses::new(&tree).tell(second))[0], "Animate");
    }

    #[test]
    fn the_rows_text_speaks_for_its_button() {
        let tree = list([row("Alice"), row("Bob"), row("Carol")]);
        let delete = buttons(&tree)[1];
        assert_eq!(texts(Witnesses::new(&tree).tell(delete)), ["Bob"]);
    }

    #[test]
    fn same_label_rows() {
        let tree = list([row("Alice"), row("Alice"), row("Carol")]);
        let all = buttons(&tree);
        let mut finder = Witnesses::new(&tree);
        assert_eq!(finder.tell(all[0]), Telling::NotUnique);
        assert_eq!(finder.tell(all[1]), Telling::NotUnique);
        assert_eq!(texts(finder.tell(all[2])), ["Carol"]);
    }

    #[test]
    fn rows_are_told_by_texts_together_where_none_is_unique() {
        let two = |a: &str, b: &str| row(a).child(node(Role::StaticText).slot().own_text(b));
        let tree = list([two("Alice", "Paris"), two("Alice", "Rome"), two("Bob", "Rome")]);
        let all = buttons(&tree);
        let mut told = texts(Witnesses::new(&tree).tell(all[1]));
        told.sort();
        assert_eq!(told, ["Alice", "Rome"]);
    }

    #[test]
    fn three_buttons_in_a_row_still_need_the_rows_text() {
        let wide = |p: &str| {
            node(Role::Group)
                .slot()
                .child(node(Role::StaticText).slot().own_text(p))
                .children(["Edit", "Share", "Delete"].map(|n| node(Role::Button).slot().name(n)))
        };
        let tree = node(Role::Window).child(node(Role::Group).children([wide("Ann"), wide("Ben"), wide("Cy")])).build();
        let delete_ben = buttons(&tree)[5];
        let told = texts(Witnesses::new(&tree).tell(delete_ben));
        assert!(told.contains(&"Ben".to_owned()), "{told:?}");
    }

    #[test]
    fn a_control_among_its_like_is_told_by_its_own_label() {
        let bar = |names: [&str; 3]| {
            node(Role::Window)
                .child(node(Role::Group).children(names.map(|n| node(Role::Button).slot().name(n))))
                .build()
        };
        // Resolution compares the label by itself: no other text is needed.
        assert_eq!(Witnesses::new(&bar(["Save", "Play", "Stop"])).tell(3), Telling::NoItem);
        assert_eq!(Witnesses::new(&bar(["OK", "Play", "OK"])).tell(2), Telling::NotUnique);
    }

    #[test]
    fn a_description_tells_where_labels_do_not() {
        let day = |label: &str, day: &str| node(Role::Button).slot().name(label).description(day);
        let week = |days: [Spec; 4]| node(Role::Window).child(node(Role::Group).children(days)).build();
        let tree = week([day("M", "Monday"), day("T", "Tuesday"), day("W", "Wednesday"), day("T", "Thursday")]);
        match Witnesses::new(&tree).tell(5) {
            Telling::Witnesses { texts, row: None } => {
                assert_eq!(texts, [Text { node: 5, source: TextSource::Description, text: "Thursday".into() }]);
            }
            other => panic!("{other:?}"),
        }
        // A label that is unique needs none: a reworded description is no other button.
        assert_eq!(Witnesses::new(&tree).tell(2), Telling::NoItem);
        let same = week([day("M", "Monday"), day("T", "Day"), day("W", "Wednesday"), day("T", "Day")]);
        assert_eq!(Witnesses::new(&same).tell(5), Telling::NotUnique);
        // A description that could not be read may be the same; where labels tell, it doesn't matter.
        let unread = |f: &mut crate::tree::raw::Facts| {
            f.names.description = Evidence::Unknown(crate::evidence::Cause::Late);
        };
        let late = week([day("M", ""), day("T", "Tuesday").facts(unread), day("W", ""), day("T", "Thursday")]);
        assert_eq!(Witnesses::new(&late).tell(5), Telling::Unread);
        assert_eq!(Witnesses::new(&late).tell(2), Telling::NoItem);
    }

    #[test]
    fn an_unread_sibling_proves_nothing() {
        let unread = row("x")
            .child(node(Role::StaticText).facts(|f| f.own_text = Evidence::Unknown(crate::evidence::Cause::Late)));
        let tree = list([row("Alice"), row("Bob"), unread]);
        assert_eq!(Witnesses::new(&tree).tell(buttons(&tree)[0]), Telling::Unread);
        let mut cut = list([row("Alice"), row("Bob")]);
        cut.nodes[1].cut = Some(Cut::Virtual);
        assert_eq!(Witnesses::new(&cut).tell(buttons(&cut)[0]), Telling::Unread);
    }

    #[test]
    fn a_slot_without_any_text_is_not_told() {
        let blank = || node(Role::LayoutItem).item().slot().child(node(Role::Button).slot());
        let tree = list([blank()]);
        assert_eq!(Witnesses::new(&tree).tell(buttons(&tree)[0]), Telling::NotUnique);
    }

    #[test]
    fn cells_are_told_by_their_row() {
        let cell = |r: i64, c: i64, t: &str| {
            let n = node(Role::Cell).item().slot().cell(r, c);
            if t.is_empty() { n } else { n.own_text(t) }
        };
        let tree = node(Role::Window)
            .child(node(Role::Table).children([cell(0, 0, ""), cell(0, 1, "Alice"), cell(1, 0, ""), cell(1, 1, "Bob")]))
            .build();
        match Witnesses::new(&tree).tell(4) {
            Telling::Witnesses { texts, row: Some(place) } => {
                assert_eq!(texts[0].text, "Bob");
                assert_eq!((place.cell, place.column, place.others), (4, 0, vec![5]));
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn outside_any_item_the_address_decides() {
        let tree = node(Role::Window).child(node(Role::Group).child(node(Role::Button).slot().name("OK"))).build();
        assert_eq!(Witnesses::new(&tree).tell(2), Telling::NoItem);
    }

    #[test]
    fn texts_come_nearest_first_and_labels_before_names() {
        let text = |node, source, text: &str| Text { node, source, text: text.to_owned() };
        let (own, name) = (TextSource::OwnText, TextSource::Name);
        let all = [text(2, own, "a"), text(4, name, "b"), text(5, name, "c"), text(6, own, "d"), text(9, own, "e")];
        let order: Vec<&str> = nearest(&all, 4).map(|t| t.text.as_str()).collect();
        assert_eq!(order, ["a", "d", "e", "b", "c"]);
    }

    proptest! {
        /// What is chosen for a row is never wholly contained in another row.
        #[test]
        fn chosen_texts_tell_from_every_sibling(rows in prop::collection::vec(prop::collection::vec(0u8..6, 1..5), 1..12)) {
            let specs = rows.iter().map(|r| {
                r.iter().fold(node(Role::LayoutItem).item().slot(), |n, t| n.child(node(Role::StaticText).slot().own_text(&format!("t{t}"))))
                    .child(node(Role::Button).slot().name("Delete"))
            });
            let tree = list(specs);
            let mut finder = Witnesses::new(&tree);
            for (at, button) in buttons(&tree).into_iter().enumerate() {
                let others = rows.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, r)| r);
                let contained = others.clone().any(|o| rows[at].iter().all(|t| o.contains(t)));
                match finder.tell(button) {
                    Telling::Witnesses { texts, .. } => {
                        prop_assert!(!contained);
                        prop_assert!(texts.len() <= MAX_WITNESSES && !texts.is_empty());
                        for o in others {
                            let set: Vec<String> = o.iter().map(|t| format!("t{t}")).chain(["Delete".into()]).collect();
                            prop_assert!(texts.iter().any(|t| !set.contains(&t.text)));
                        }
                    }
                    Telling::NotUnique => prop_assert!(contained),
                    other => prop_assert!(false, "{:?}", other),
                }
            }
        }
    }
}
