//! From a ref command to an action on a saved entry.

use super::{Terms, perform};
use crate::command::Context;
use crate::command::act::RefAction;
use crate::envelope::Answer;
use crate::observe::saved;

/// Runs a command that acts on a ref.
pub fn command(context: &Context, args: &dyn RefAction) -> Answer {
    let id = args.ref_id().parse()?;
    let chain_timeout_ms = context.chain_timeout_ms()?;
    let map = saved::load(context, &id.snapshot)?;
    let terms = Terms {
        platform: context.platform()?,
        policy: context.policy(),
        timeout_ms: args.timeout(),
        chain_timeout_ms,
        lease_path: super::lease::path(&map.desktop)?,
        session: context.session().map(str::to_owned),
    };
    perform(&terms, &map, id.number, &args.action())
}
