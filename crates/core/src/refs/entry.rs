//! What is saved about a snapshot and its refs (spec 1 §4, decisions D1).

use crate::platform::{App, ProcessKey, Responsive, TextSource};
use crate::tree::raw::{Grade, Handle, Link};
use crate::vocab::capability::CapabilitySet;
use crate::vocab::native_id::NativeId;
use crate::vocab::role::Role;
use crate::vocab::state::StateSet;
use crate::vocab::surface::Surface;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Format of the saved file; another one is a foreign file.
pub const FORMAT: u32 = 1;

/// A link with its parent in the arena of one snapshot: ancestors are stored once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkRow {
    /// Arena index of the parent; none for the outermost link.
    #[serde(rename = "p", default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<u32>,
    /// The element and its index.
    #[serde(flatten)]
    pub link: Link,
}

/// A neighbour's text that speaks for the element (decisions D1, `slot` grade).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Witness {
    /// Arena index of the witness.
    #[serde(rename = "l")]
    pub link: u32,
    /// Which of its texts.
    #[serde(rename = "s")]
    pub source: TextSource,
    /// Digest of the text: the text itself is never stored.
    #[serde(rename = "d")]
    pub digest: u64,
}

/// Place of a cell within its row, compared live.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowProof {
    /// Arena index of the cell that is, or holds, the element.
    pub cell: u32,
    /// Its column.
    pub column: i64,
    /// Arena indices of the witnesses' cells: each must still be in the same row.
    pub others: Vec<u32>,
}

/// By what the saved element can be told again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Proof {
    /// Its address follows it, or it stands in no item: address, chain, role and label decide.
    Address,
    /// Its neighbours' texts speak for it.
    Witnessed {
        /// At most eight.
        witnesses: Vec<Witness>,
        /// Where the item is a table row without an object of its own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        row: Option<RowProof>,
    },
    /// Nothing tells its item from a sibling: refused before anything is read.
    NotUnique,
    /// What would tell it could not be read at capture: refused before anything is read.
    Unread,
}

/// One saved ref.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Arena index of the element.
    pub link: u32,
    /// Its role.
    pub role: Role,
    /// Its stable label, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its description, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The application's identifier, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native_id: Option<NativeId>,
    /// Elements whose text entered the label.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub label_sources: Vec<Handle>,
    /// Elements that tell whether the page in which the element stands is shown; none where it stands in no page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_signs: Option<Vec<Handle>>,
    /// States at capture; never identity.
    #[serde(default)]
    pub states: StateSet,
    /// What could be done at capture; never identity.
    #[serde(default)]
    pub capabilities: CapabilitySet,
    /// Whether it was a secure field.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub secure: bool,
    /// Whether its address follows it.
    pub grade: Grade,
    /// How it is told again.
    pub proof: Proof,
    /// The adapter's note of what is worth reading of it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub plan: u32,
    /// The ref under which it was drilled, where it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root_ref: Option<u32>,
}

fn is_zero(plan: &u32) -> bool {
    *plan == 0
}

/// The window or surface that a snapshot observed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Name of the application.
    pub app: String,
    /// Printed id of the window.
    pub window_id: String,
    /// Title at capture; tolerant of drift.
    pub window_title: String,
    /// Which layer.
    pub surface: Surface,
    /// Windows of the application that were open beside it, where only the application was named: which of them is meant
    /// was our choice. Told, not kept.
    #[serde(skip)]
    pub others: Vec<OtherWindow>,
}

/// A window that was not chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherWindow {
    /// Its printed id.
    pub id: String,
    /// Its title.
    pub title: String,
}

impl Source {
    /// The windows that were not chosen, for an answer; none where there are none.
    pub fn others_json(&self) -> Option<Value> {
        let rows: Vec<Value> = self.others.iter().map(|w| json!({"id": w.id, "title": w.title})).collect();
        (!rows.is_empty()).then(|| Value::Array(rows))
    }
}

/// A snapshot's refs, as saved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RefMap {
    /// Format of the file.
    pub format: u32,
    /// The snapshot.
    pub snapshot_id: String,
    /// The desktop it was taken on.
    pub desktop: String,
    /// The process it belongs to.
    pub process: ProcessKey,
    /// What was observed.
    pub source: Source,
    /// The next number to give out; numbers are never used again.
    pub next: u32,
    /// Links of all elements and of their ancestors.
    pub links: Vec<LinkRow>,
    /// The refs by number.
    pub entries: BTreeMap<u32, Entry>,
}

impl RefMap {
    /// Whether every index of the file points into it: a file that does not is foreign or torn.
    pub fn sound(&self) -> bool {
        let links = self.links.len() as u32;
        let link_ok = |l: u32| l < links;
        self.format == FORMAT
            && self.process.pid > 0
            && !self.process.instance.is_empty()
            && self.links.iter().enumerate().all(|(at, row)| row.parent.is_none_or(|p| (p as usize) < at))
            && self.entries.iter().all(|(n, e)| {
                *n > 0
                    && *n < self.next
                    && link_ok(e.link)
                    && match &e.proof {
                        Proof::Witnessed { witnesses, row } => {
                            witnesses.iter().all(|w| link_ok(w.link))
                                && row.as_ref().is_none_or(|r| link_ok(r.cell) && r.others.iter().all(|o| link_ok(*o)))
                        }
                        _ => true,
                    }
            })
    }

    /// Arena indices from the link outwards, the link first.
    pub fn outwards(&self, link: u32) -> impl Iterator<Item = u32> + '_ {
        std::iter::successors(Some(link), move |l| self.links.get(*l as usize)?.parent)
    }

    /// The application of a link, as its windows and surfaces are asked for.
    pub fn application(&self, link: u32) -> Option<App> {
        Some(App {
            name: self.source.app.clone(),
            names: Vec::new(),
            process: self.process.clone(),
            bundle_id: None,
            presentation: None,
            responsive: Responsive::Yes,
            root: Some(self.chain(link).first()?.handle.clone()),
        })
    }

    /// The chain of a link, outermost first, the link itself last.
    pub fn chain(&self, link: u32) -> Vec<Link> {
        let mut chain: Vec<Link> =
            self.outwards(link).filter_map(|l| Some(self.links.get(l as usize)?.link.clone())).collect();
        chain.reverse();
        chain
    }
}

/// A text's digest as witnesses keep it: FNV-1a over the text with its white space normalised. Stable across
/// versions, since files outlive binaries.
pub fn digest(text: &str) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut eat = |b: u8| hash = (hash ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3);
    for (i, word) in text.split_whitespace().enumerate() {
        if i > 0 {
            eat(b' ');
        }
        word.bytes().for_each(&mut eat);
    }
    hash
}
