//! The straight answers to reads, and the reads that no client may do.

use super::Engine;
use super::calls::{DEATH, Target};
use super::faults::Verdict;
use crate::call::{Call, Reply};
use crate::read::{self, View};
use crate::refuse;
use crate::scenario::GetAll;
use crate::tree::Idx;
use crate::wire::Body;
use serde_json::json;

const ATSPI: &str = "org.a11y.atspi.";
const PROPERTIES: &str = "org.freedesktop.DBus.Properties";
/// Above this claim, reading all children is what no client may ever do.
const HUGE: i32 = 1_000_000;

impl Engine {
    /// The straight answer to a read; `None` when there must not be one.
    pub(super) fn read(
        &mut self,
        app: usize,
        call: &Call,
        target: Target,
        alive: bool,
        verdict: &Verdict,
    ) -> Option<Reply> {
        if call.interface == "org.freedesktop.DBus.Peer" {
            return Some(match call.member.as_str() {
                "Ping" => Body::empty().into(),
                "GetMachineId" => Body::string("00000000000000000000000000000001").into(),
                _ => refuse::no_member(&self.tree.apps[app], call),
            });
        }
        let idx = match target {
            Target::Cache => return Some(self.read_cache(app, call)),
            Target::Node(idx) if alive => idx,
            _ => return Some(refuse::no_object(&self.tree.apps[app], call)),
        };
        if call.interface == PROPERTIES && call.member == "GetAll" {
            return Some(self.get_all(app, call, idx, verdict));
        }
        if call.interface == "org.freedesktop.DBus.Introspectable" {
            return Some(Body::string(&introspection(self.tree.node(idx).interfaces)).into());
        }
        if self.is_forbidden(app, call, idx) {
            return None;
        }
        if call.member == "GetApplicationBusAddress"
            && let Some(address) = self.presence[app].private_address.clone()
        {
            self.presence[app].has_listener = true;
            return Some(Body::string(&address).into());
        }
        let (interface, member) = call.meant();
        let (short, member) = (interface.strip_prefix(ATSPI).unwrap_or("").to_owned(), member.to_owned());
        let mut view = View { tree: &mut self.tree, idx, tweak: verdict.tweak() };
        let answer = if call.property.is_some() {
            read::property(&mut view, &short, &member).map(|body| Reply::Ok(body.into_variant()))
        } else {
            read::method(&mut view, &short, call)
        };
        Some(answer.unwrap_or_else(|| refuse::no_member(&self.tree.apps[app], call)))
    }

    /// `GetChildren` on a node that claims a huge number of children: logged, and the application
    /// hangs as an office suite does.
    fn is_forbidden(&mut self, app: usize, call: &Call, idx: Idx) -> bool {
        if call.meant() != ("org.a11y.atspi.Accessible", "GetChildren") || self.tree.claimed_count(idx) <= HUGE {
            return false;
        }
        let what = format!("GetChildren on a node that claims {} children", self.tree.claimed_count(idx));
        let id = self.tree.node(idx).id.clone();
        self.log.write("violation", json!({"what": what, "node": id, "sender": call.sender}));
        self.presence[app].held.get_or_insert_default();
        true
    }

    fn get_all(&mut self, app: usize, call: &Call, idx: Idx, verdict: &Verdict) -> Reply {
        if self.tree.apps[app].spec.get_all == GetAll::Die {
            let id = self.tree.node(idx).id.clone();
            self.log.write("violation", json!({"what": "Properties.GetAll", "node": id, "sender": call.sender}));
            std::process::exit(DEATH);
        }
        let interface = match call.args::<(String,)>() {
            Ok((interface,)) => interface,
            Err(error) => return error,
        };
        let mut view = View { tree: &mut self.tree, idx, tweak: verdict.tweak() };
        let short = interface.strip_prefix(ATSPI).unwrap_or("");
        match read::all_properties(&mut view, short) {
            Some(body) => body.into(),
            None => refuse::no_member(&self.tree.apps[app], call),
        }
    }

    fn read_cache(&mut self, app: usize, call: &Call) -> Reply {
        let spec = &self.tree.apps[app].spec.cache;
        let presence = &self.presence[app];
        let asleep = spec.after_listener && !presence.has_listener;
        let items = match (&presence.frozen_cache, asleep) {
            (_, true) => None,
            (Some(frozen), _) => Some(frozen.clone()),
            (None, _) => read::cache::items(&self.tree, app),
        };
        match (items, call.member.as_str()) {
            (Some(items), "GetItems") => items.into(),
            _ => Reply::error(
                "org.freedesktop.DBus.Error.UnknownMethod",
                "Method \"GetItems\" with signature \"\" on interface \"org.a11y.atspi.Cache\" doesn't exist",
            ),
        }
    }
}

fn introspection(interfaces: u32) -> String {
    let list: String = crate::names::interfaces_in(interfaces)
        .map(|name| format!("<interface name=\"org.a11y.atspi.{name}\"/>"))
        .collect();
    format!("<node>{list}<interface name=\"{PROPERTIES}\"/></node>")
}
