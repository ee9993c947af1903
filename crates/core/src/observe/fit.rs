//! `--budget-tokens`: the largest view whose printed answer keeps to the budget. The estimate is the bytes that are
//! really printed, the envelope among them, divided by [`BYTES_PER_TOKEN`]; so the answer is printed on trial.

use super::snapshot::{Printed, answer, options};
use crate::command::observe::Snapshot;
use crate::command::values::Format;
use crate::envelope::envelope;
use crate::error::{Error, Result};
use crate::evidence::Evidence;
use crate::refs::entry::Source;
use crate::tree::present::{Options, Presented, allocate_refs, present};
use crate::tree::raw::{Facts, RawTree};
use serde_json::Value;
use std::borrow::Cow;

/// Bytes of one token: a rule of thumb for English and JSON. Other scripts take more tokens for their bytes, or fewer.
pub const BYTES_PER_TOKEN: usize = 4;

/// To how many characters texts are cut under a budget, the first that leaves room for the window itself. One long
/// document would take the place of every control.
const CLIPS: [usize; 4] = [160, 60, 20, 8];

/// Estimated tokens of an answer as it is printed.
pub fn estimate(data: &Value, format: Option<Format>) -> usize {
    let bytes = match (data, format) {
        (Value::String(outline), Some(Format::Text)) => outline.len(),
        _ => {
            let line = envelope("snapshot", &Ok(data.clone())).to_string();
            // Line separators are escaped when they are printed: three bytes become six.
            let separators = line.chars().filter(|c| matches!(c, '\u{2028}' | '\u{2029}')).count();
            line.len() + 3 * separators + 1
        }
    };
    bytes.div_ceil(BYTES_PER_TOKEN)
}

/// A view that fits.
pub struct Fitted {
    /// How the tree is shown.
    pub options: Options,
    /// What is shown of it.
    pub presented: Presented,
    /// How many shown elements have a text that was cut.
    pub clipped: usize,
    clip: Option<usize>,
}

impl Fitted {
    /// What is printed: names and texts cut where that was needed. Refs are saved of the whole.
    pub fn shown<'t>(&self, source: &Source, tree: &'t RawTree) -> (Source, Cow<'t, RawTree>) {
        match self.clip {
            None => (source.clone(), Cow::Borrowed(tree)),
            Some(chars) => {
                let cut = Clipped::of(source, tree, chars);
                (cut.source, Cow::Owned(cut.tree))
            }
        }
    }
}

/// Finds the view. `number` is the first ref's, so that its digits are counted.
pub fn fit(args: &Snapshot, source: &Source, id: &str, tree: &RawTree, number: u32, budget: u32) -> Result<Fitted> {
    let budget = budget as usize;
    let whole = options(args);
    let tokens = |presented: &Presented, source: &Source, tree: &RawTree, clipped: usize| {
        let numbered = allocate_refs(presented, number);
        let printed = Printed { tree, presented, numbered: &numbered, clipped };
        // Whether refs are unproven is known when they are saved: room for the word.
        estimate(&answer(args, source, id, &printed, true), args.format)
    };
    let all = present(tree, &whole);
    if tokens(&all, source, tree, 0) <= budget {
        return Ok(Fitted { options: whole, presented: all, clipped: 0, clip: None });
    }
    for chars in CLIPS {
        let cut = Clipped::of(source, tree, chars);
        let at = |inner: usize| Options { budget_tokens: Some(inner), ..whole.clone() };
        let trial = |inner: usize| {
            let presented = present(&cut.tree, &at(inner));
            (tokens(&presented, &cut.source, &cut.tree, cut.among(&presented)) <= budget).then_some(presented)
        };
        let Some(mut presented) = trial(0) else { continue };
        // The inner budget counts elements by a rule of thumb: how much of it the printed one holds is tried out. A larger
        // one never shows less, though it may print a little less where it unfolds the last of something.
        let (mut fits, mut over) = (0, budget.saturating_mul(4));
        while fits + 1 < over {
            let middle = fits + (over - fits) / 2;
            match trial(middle) {
                Some(shown) => (fits, presented) = (middle, shown),
                None => over = middle,
            }
        }
        let clipped = cut.among(&presented);
        return Ok(Fitted { options: at(fits), presented, clipped, clip: Some(chars) });
    }
    Err(Error::invalid("not even the window itself fits this budget")
        .kind("budget_too_small")
        .suggest("Raise --budget-tokens."))
}

/// Source and tree with every text cut to so many characters. What a text is compared with and saved as is not touched:
/// this is for printing.
struct Clipped {
    source: Source,
    tree: RawTree,
    /// For each raw node, whether a text of it was cut.
    cut: Vec<bool>,
}

impl Clipped {
    fn of(source: &Source, tree: &RawTree, chars: usize) -> Self {
        let mut source = source.clone();
        cut(&mut source.app, chars);
        cut(&mut source.window_title, chars);
        let mut tree = tree.clone();
        let cut = tree.nodes.iter_mut().map(|node| clip(&mut node.facts, chars)).collect();
        Self { source, tree, cut }
    }

    fn among(&self, presented: &Presented) -> usize {
        presented.nodes.iter().filter(|n| self.cut[n.raw as usize]).count()
    }
}

fn clip(facts: &mut Facts, chars: usize) -> bool {
    let mut any = false;
    facts.names.each_text(|text| any |= cut(text, chars));
    if let Evidence::Known(value) = &mut facts.value {
        any |= cut(value, chars);
    }
    if let Evidence::Known(id) = &mut facts.native_id {
        any |= cut(&mut id.value, chars);
    }
    any
}

/// Cuts a text and marks that; whether it was longer.
fn cut(text: &mut String, chars: usize) -> bool {
    let Some((end, _)) = text.char_indices().nth(chars) else { return false };
    text.truncate(end);
    text.push('…');
    true
}

#[cfg(test)]
#[path = "fit_tests.rs"]
mod tests;
