//! Reading: trees, one element again, the proof that a saved element is still the same.

use crate::deadline::Deadline;
use crate::error::Error;
use crate::evidence::{Cause, Evidence};
use crate::geometry::Point;
use crate::tree::raw::{Facts, Handle, Link, RawTree};
use crate::vocab::role::Role;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// A process and its generation: a process id alone may be used again.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ProcessKey {
    /// Process id.
    pub pid: u32,
    /// Generation token (on Linux: boot id and start time).
    pub instance: String,
}

/// Whether a process of a given generation still runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcessLife {
    /// It runs.
    Alive,
    /// It has ended.
    Gone,
    /// The process id now belongs to another process.
    OtherGeneration,
    /// It could not be found out.
    Unknown(Cause),
}

/// Budgets of one observation (spec 1 §2 "Observation limits"): fields, not globals.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadPlan {
    /// Nodes at most.
    pub max_nodes: usize,
    /// Parent-child edges at most.
    pub max_edges: usize,
    /// Children of one node at most.
    pub max_children: usize,
    /// Raw depth at most.
    pub max_depth: usize,
    /// Bytes of one text field at most.
    pub max_text: usize,
    /// Bytes of all text at most.
    pub max_total_text: usize,
    /// Whether bounds are wanted.
    pub bounds: bool,
    /// When the read must end.
    pub deadline: Deadline,
}

impl ReadPlan {
    /// The contract's limits with a deadline.
    pub fn contract(deadline: Deadline) -> Self {
        Self {
            max_nodes: 50_000,
            max_edges: 100_000,
            max_children: 4_096,
            max_depth: 50,
            max_text: 64 * 1024,
            max_total_text: 8 * 1024 * 1024,
            bounds: false,
            deadline,
        }
    }
}

/// Where a witness's text is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextSource {
    /// What the adapter gives as the element's stable name.
    Name,
    /// What the adapter gives as `own_text`.
    OwnText,
    /// What [`stable_description`](crate::tree::name::stable_description) gives.
    Description,
}

/// One edge that must still hold, downwards: the parent still has this child.
#[derive(Clone, Debug, PartialEq)]
pub struct ChainEdge {
    /// The parent; none for the first link, whose parent is the desktop's own list of applications.
    pub parent: Option<Handle>,
    /// The child, with the index it had.
    pub child: Link,
}

/// One witness to read again.
#[derive(Clone, Debug, PartialEq)]
pub struct WitnessProbe {
    /// Where its text is.
    pub handle: Handle,
    /// Which text.
    pub source: TextSource,
}

/// What one resolution asks, all in one flight where the platform allows it.
#[derive(Clone, Debug)]
pub struct ProbeRequest<'a> {
    /// The process that the element belonged to.
    pub process: &'a ProcessKey,
    /// The element.
    pub target: &'a Handle,
    /// Elements whose text entered the element's name at capture.
    pub label_sources: &'a [Handle],
    /// Elements that tell whether the page is shown in which the element stands, where it stands in one.
    pub page_signs: Option<&'a [Handle]>,
    /// The role it had, so that the same facts are composed.
    pub role: Role,
    /// Edges from the application down to the element and to its witnesses, without repetition.
    pub edges: &'a [ChainEdge],
    /// Witnesses.
    pub witnesses: &'a [WitnessProbe],
    /// Cells whose row and column are wanted.
    pub cells: &'a [Handle],
    /// Whether bounds are wanted.
    pub bounds: bool,
    /// The adapter's note of what is worth reading of the element.
    pub plan: u32,
}

/// Whether an address answers.
#[derive(Clone, Debug, PartialEq)]
pub enum Presence {
    /// It answers as a live element.
    Live(Box<Facts>),
    /// It is dead, with the native answer that says so.
    Dead(String),
    /// It can't be told.
    Unknown(Cause),
}

/// What one resolution found out. Order and length follow the request.
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    /// The process.
    pub process: ProcessLife,
    /// The element.
    pub element: Presence,
    /// For each edge, whether the parent still has the child.
    pub edges: Vec<Evidence<bool>>,
    /// For each witness, its text now; `Absent` where the witness is gone.
    pub witnesses: Vec<Evidence<String>>,
    /// For each cell, row and column now.
    pub cells: Vec<Evidence<(i64, i64)>>,
    /// Whether nothing at all was answered: the application is silent.
    pub silent: bool,
}

/// What is at a point of the screen.
#[derive(Clone, Debug, PartialEq)]
pub enum Hit {
    /// The target or a part of it.
    Target,
    /// Something else.
    Other {
        /// Its role.
        role: Role,
        /// Its name, where it has one.
        name: Option<String>,
    },
    /// It can't be told; fails open.
    Unknown,
}

/// A part of an element's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextPart {
    /// The text.
    pub text: String,
    /// Where it begins and ends, in the application's own characters; cut to what there is.
    pub range: Range<u64>,
    /// How many characters there are in all.
    pub length: u64,
}

/// Which part of a table is wanted; both half-open and from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableAsk {
    /// Rows.
    pub rows: Range<u64>,
    /// Columns; none for the first ones.
    pub columns: Option<Range<u64>>,
    /// Columns that are meant where none are named.
    pub usual_columns: u64,
}

impl TableAsk {
    /// The part of a table of this size that is meant: rows and columns.
    pub fn within(&self, rows: u64, columns: u64) -> (Range<u64>, Range<u64>) {
        let cut = |range: &Range<u64>, count: u64| range.start.min(count)..range.end.min(count);
        let wanted = self.columns.clone().unwrap_or(0..self.usual_columns);
        (cut(&self.rows, rows), cut(&wanted, columns))
    }
}

/// A part of a table as data.
#[derive(Clone, Debug, PartialEq)]
pub struct TablePart {
    /// Rows of the whole table.
    pub row_count: u64,
    /// Columns of the whole table.
    pub column_count: u64,
    /// The rows that are here.
    pub rows: Range<u64>,
    /// The columns that are here.
    pub columns: Range<u64>,
    /// Their headers, where the table has any.
    pub headers: Vec<Option<String>>,
    /// The cells' texts, row by row.
    pub cells: Vec<Vec<Evidence<String>>>,
}

/// Reads of one desktop.
pub trait Observe {
    /// Reads the tree below `root`. Running out of time is not an error but a cut; an error means that not even
    /// the root could be read (`APP_UNRESPONSIVE`, `WINDOW_NOT_FOUND`, …). `above` is the chain above the root.
    fn read_tree(&self, root: &Handle, above: &[Link], process: &ProcessKey, plan: &ReadPlan)
    -> Result<RawTree, Error>;

    /// Reads what a resolution needs. Failures are evidence, not errors.
    fn probe(&self, request: &ProbeRequest<'_>, deadline: Deadline) -> Probe;

    /// Whether the process still runs.
    fn process_life(&self, process: &ProcessKey) -> ProcessLife;

    /// The display texts of what is selected in a container (combo box, list, tab list), for verification.
    fn selection(&self, target: &Handle, deadline: Deadline) -> Evidence<Vec<String>>;

    /// What is at points of the screen, seen from the element's application.
    fn hit_test(&self, target: &Handle, points: &[Point], deadline: Deadline) -> Vec<Hit> {
        let _ = (target, deadline);
        vec![Hit::Unknown; points.len()]
    }

    /// A part of an element's text, without reading the rest. `ACTION_NOT_SUPPORTED` / `no_text_interface` where it
    /// publishes none.
    fn text_part(&self, target: &Handle, range: &Range<u64>, deadline: Deadline) -> Result<TextPart, Error> {
        let _ = (target, range, deadline);
        Err(super::not_supported("reading a part of a text"))
    }

    /// A part of a table, without reading the rest. `ACTION_NOT_SUPPORTED` / `no_table_interface` where the element
    /// publishes none.
    fn table_part(&self, target: &Handle, ask: &TableAsk, deadline: Deadline) -> Result<TablePart, Error> {
        let _ = (target, ask, deadline);
        Err(super::not_supported("reading a table as data"))
    }

    /// The cell at a row and column, both from 0, as a child of its table. The errors of [`Observe::table_part`], and
    /// `ELEMENT_NOT_FOUND` / `no_such_cell` beyond the table's edge.
    fn cell_at(&self, table: &Handle, row: u64, column: u64, deadline: Deadline) -> Result<Link, Error> {
        let _ = (table, row, column, deadline);
        Err(super::not_supported("reaching a cell of a table"))
    }
}
