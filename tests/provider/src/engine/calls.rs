//! From a message that came in to the reply that goes out, or doesn't.

use super::faults::{Verdict, judge};
use super::writes::{self, Write};
use super::{Engine, FENCE_PATH, Msg, Owed};
use crate::call::{Call, Reply};
use crate::link::{self, Out};
use crate::read;
use crate::refuse;
use crate::scenario::{DeadAnswer, Doing, Effect, TimerStart};
use crate::steps::{Placeholders, Steps};
use crate::tree::Idx;
use crate::wire::Body;
use serde_json::json;
use zbus::message::Message;

/// Exit code of a death on purpose.
pub(super) const DEATH: i32 = 70;

/// Who a call was for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Target {
    Node(Idx),
    Cache,
    Nothing,
}

impl Engine {
    pub(super) fn incoming(&mut self, link: usize, message: Message) {
        let Some(app) = self.links.get(link).and_then(Option::as_ref).map(|l| l.app) else {
            return;
        };
        if message.header().member().is_some_and(|m| m.as_str() == "EventListenerRegistered") {
            self.presence[app].has_listener = true;
            return;
        }
        let Some(call) = Call::new(link, message) else {
            return;
        };
        if call.path == FENCE_PATH {
            self.reply(&call, Reply::Ok(Body::empty()));
            return;
        }
        if call.meant() == ("org.a11y.atspi.Application", "Id") && call.member == "Set" {
            self.set_application_id(app, &call);
            return;
        }
        if self.is_hung(app, &call) {
            return;
        }
        self.serve_call(app, call);
    }

    fn set_application_id(&mut self, app: usize, call: &Call) {
        let value = call.args::<(String, String, zbus::zvariant::OwnedValue)>();
        if let Ok((_, _, value)) = value
            && let Ok(id) = i32::try_from(value)
        {
            self.tree.apps[app].application_id = id;
        }
        self.reply(call, Reply::Ok(Body::empty()));
    }

    /// Counts towards `hang` and holds the call back while the application hangs.
    fn is_hung(&mut self, app: usize, call: &Call) -> bool {
        let hang = self.tree.apps[app].spec.hang;
        let is_ping = call.interface == "org.freedesktop.DBus.Peer";
        if is_ping && hang.is_some_and(|hang| hang.answer_ping) {
            return false;
        }
        let on_bus = self.links.get(call.link).and_then(Option::as_ref).is_some_and(|l| l.is_bus);
        let presence = &mut self.presence[app];
        if presence.only_bus && !on_bus {
            return false;
        }
        if self.ready && presence.held.is_none() {
            presence.calls += 1;
            if hang.is_some_and(|h| h.after_messages > 0 && presence.calls == h.after_messages + 1) {
                presence.held = Some(Vec::new());
            }
        }
        let Some(held) = &mut presence.held else {
            return false;
        };
        held.push(call.clone());
        if writes::is_write(call) {
            let (interface, member) = call.meant();
            self.log.write("held", json!({"path": call.path, "interface": interface, "member": member}));
        }
        true
    }

    /// Takes up a call: faults, reading or writing, answering.
    pub(super) fn serve_call(&mut self, app: usize, call: Call) {
        let target = self.target(app, &call);
        let node = match target {
            Target::Node(idx) => Some(idx),
            _ => None,
        };
        self.counts.add(&call, node);
        let app_name = self.tree.apps[app].spec.name.clone();
        let verdict = judge(&mut self.faults, &call, &app_name, node.map(|idx| &self.tree.nodes[idx as usize]));
        if self.scenario.log_reads && !writes::is_write(&call) {
            let id = node.map(|idx| self.tree.node(idx).id.clone());
            let (interface, member) = call.meant();
            self.log.write(
                "read",
                json!({"node": id, "path": call.path, "interface": interface, "member": member, "sender": call.sender}),
            );
        }
        for steps in &verdict.before {
            self.run_for(steps, node);
        }
        let alive = node.is_some_and(|idx| self.still_answers(idx));
        match (writes::Write::parse(&call), alive) {
            (Some(write), true) => self.take_write(app, &call, node, write, &verdict),
            (Some(_), false) => {
                let reply = refuse::no_object(&self.tree.apps[app], &call);
                self.log_write(app, &call, node, None, false, &reply.brief(), true, None);
                self.deliver(&call, node, reply, &verdict, None);
            }
            (None, _) => self.take_read(app, &call, target, alive, &verdict),
        }
        for steps in &verdict.after {
            self.run_for(steps, node);
        }
    }

    fn target(&self, app: usize, call: &Call) -> Target {
        if call.path == read::cache::PATH {
            return Target::Cache;
        }
        match self.tree.apps[app].by_path.get(&call.path) {
            Some(&idx) => Target::Node(idx),
            None => Target::Nothing,
        }
    }

    fn still_answers(&self, idx: Idx) -> bool {
        let node = self.tree.node(idx);
        !node.dead
            || matches!(self.tree.apps[node.app].dead_answer(), DeadAnswer::Gtk3Defunct | DeadAnswer::Gtk3Tombstone)
    }

    fn run_for(&mut self, steps: &Steps, node: Option<Idx>) {
        let filled = steps.fill(&self.placeholders(node));
        self.run_steps(filled);
    }

    pub(super) fn placeholders(&self, node: Option<Idx>) -> Placeholders {
        let this = node.map(|idx| self.tree.node(idx));
        Placeholders {
            this: this.map(|node| node.id.clone()),
            parent: this.and_then(|node| node.parent).map(|parent| self.tree.node(parent).id.clone()),
            count: None,
        }
    }

    fn take_read(&mut self, app: usize, call: &Call, target: Target, alive: bool, verdict: &Verdict) {
        let node = match target {
            Target::Node(idx) => Some(idx),
            _ => None,
        };
        let reply = match self.read(app, call, target, alive, verdict) {
            Some(reply) => reply,
            None => return,
        };
        let reply = if matches!(verdict.doing, Some(Doing::LieTrue | Doing::SayFalse)) {
            reply
        } else {
            self.bend(call, verdict, reply)
        };
        self.deliver(call, node, reply, verdict, None);
    }

    /// Bends a reply; where the fault has no grip on it, the log says so.
    fn bend(&mut self, call: &Call, verdict: &Verdict, reply: Reply) -> Reply {
        verdict.bend(reply).unwrap_or_else(|unbent| {
            let (interface, member) = call.meant();
            self.log.write("fault_without_grip", json!({"path": call.path, "interface": interface, "member": member}));
            unbent
        })
    }

    fn take_write(
        &mut self,
        app: usize,
        call: &Call,
        node: Option<Idx>,
        write: Result<Write, Reply>,
        verdict: &Verdict,
    ) {
        if !self.written {
            self.written = true;
            self.start_timers(TimerStart::Write);
        }
        let Some(idx) = node else { return };
        let checked = write.and_then(|write| self.check_write(app, call, idx, &write).map(|()| write));
        let write = match checked {
            Ok(write) => write,
            Err(reply) => {
                let brief = reply.brief();
                self.log_write(app, call, node, None, false, &brief, true, None);
                self.deliver(call, node, reply, verdict, None);
                return;
            }
        };
        let effect = verdict.effect();
        let would = self.would_have_effect(idx, &write);
        let late_ms = match verdict.doing {
            Some(Doing::LateMs(ms)) => Some(ms),
            _ => None,
        };
        let until = matches!(verdict.doing, Some(Doing::UntilRemoved(_)));
        let silent = matches!(verdict.doing, Some(Doing::Never | Doing::Die));
        let (takes_effect, brief) = (
            effect == Effect::Now && would,
            match &verdict.doing {
                Some(Doing::Never) => "never".into(),
                Some(Doing::Die) => "die".into(),
                Some(Doing::LateMs(ms)) => format!("late:{ms}"),
                Some(Doing::UntilRemoved(id)) => format!("until_removed:{id}"),
                _ => {
                    let reply = write.success();
                    verdict.bend(reply).unwrap_or_else(|reply| reply).brief()
                }
            },
        );
        let replied = late_ms.is_none() && !until && !silent;
        let line = self.log_write(app, call, node, Some(&write), takes_effect, &brief, replied, late_ms);
        let reply = match effect {
            Effect::Now => self.apply_write(idx, &write, would),
            Effect::None => write.success(),
            Effect::WithReply => {
                self.owe(call, node, None, Some(line), verdict);
                return;
            }
        };
        let reply = self.bend(call, verdict, reply);
        self.deliver(call, node, reply, verdict, Some(line));
    }

    /// Sends a reply as the fault wants it: now, late, never, or as the last thing.
    fn deliver(&mut self, call: &Call, node: Option<Idx>, reply: Reply, verdict: &Verdict, line: Option<u64>) {
        match &verdict.doing {
            Some(Doing::Never) => {}
            Some(Doing::LateMs(_) | Doing::UntilRemoved(_)) => {
                self.owe(call, node, Some(reply), line, verdict);
            }
            Some(Doing::Die) => std::process::exit(DEATH),
            Some(Doing::DieAfterReply) => {
                self.reply(call, reply);
                match self.links.get(call.link).and_then(Option::as_ref) {
                    Some(link) => link.send(Out::Exit(DEATH)),
                    None => std::process::exit(DEATH),
                }
            }
            _ => self.reply(call, reply),
        }
    }

    fn owe(&mut self, call: &Call, node: Option<Idx>, reply: Option<Reply>, log_line: Option<u64>, verdict: &Verdict) {
        let number = self.next_owed;
        self.next_owed += 1;
        let mut owed = Owed { call: call.clone(), node, reply, log_line, until_removed: None };
        match &verdict.doing {
            Some(Doing::UntilRemoved(id)) => owed.until_removed = Some(id.clone()),
            Some(Doing::LateMs(ms)) => self.later(*ms, Msg::Due(number)),
            // `effect: with_reply` without lateness: the next turn.
            _ => self.later(0, Msg::Due(number)),
        }
        self.owed.insert(number, owed);
    }

    /// Sends what is owed under a number.
    pub(super) fn pay(&mut self, number: u64) {
        let Some(owed) = self.owed.remove(&number) else {
            return;
        };
        let (reply, effect) = match owed.reply {
            Some(reply) => (Some(reply), false),
            None => self.late_write(&owed.call, owed.node),
        };
        if let Some(line) = owed.log_line {
            let brief = reply.as_ref().map_or_else(|| "none".into(), Reply::brief);
            self.log.write("late_reply", json!({"of": line, "reply": brief, "effect": effect}));
        }
        if let Some(reply) = reply {
            self.reply(&owed.call, reply);
        }
    }

    /// A write that takes effect only now.
    fn late_write(&mut self, call: &Call, node: Option<Idx>) -> (Option<Reply>, bool) {
        match (node, Write::parse(call)) {
            (Some(idx), Some(Ok(write))) if self.still_answers(idx) => {
                let would = self.would_have_effect(idx, &write);
                (Some(self.apply_write(idx, &write, would)), would)
            }
            (Some(idx), _) => {
                let app = self.tree.node(idx).app;
                (Some(refuse::no_object(&self.tree.apps[app], call)), false)
            }
            (None, _) => (None, false),
        }
    }

    fn reply(&self, call: &Call, reply: Reply) {
        if !call.wants_reply() {
            return;
        }
        let message = match &reply {
            Reply::Ok(body) => link::method_reply(&call.message, body),
            Reply::Error { name, message } => link::error_reply(&call.message, name, message),
        };
        self.send(call.link, message);
    }
}
