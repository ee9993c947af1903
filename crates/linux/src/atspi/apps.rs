//! Applications: what is registered, who is silent, and who has windows but no tree (decisions D4, spec 5).

use super::interface as i;
use super::toolkit::Toolkit;
use crate::bus::{Body, Bus, Call, CallError, Object, Reply, Wire};
use crate::process::Token;
use crate::x11::X11Window;
use agent_desktop_core::deadline::Deadline;
use agent_desktop_core::error::{Code, Error};
use agent_desktop_core::platform::{App, Presentation, ProcessKey, Responsive};
use std::collections::HashMap;

/// How long an application may take to show that it lives, in lists (decisions D4). All are asked at once.
pub const LIVENESS_MS: u64 = 500;

/// An application as listed, with what is known beside core's facts.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Core's facts.
    pub app: App,
    /// Its toolkit, where it said so.
    pub toolkit: Option<Toolkit>,
}

/// The registry's list of applications.
fn registry() -> Object {
    Object::new("org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root")
}

struct Answers {
    root: Object,
    pid: Option<u32>,
    /// The bus did not say in time which process it is.
    owner_late: Option<CallError>,
    name: Result<String, CallError>,
    children: Result<i64, CallError>,
    toolkit: Option<String>,
    version: Option<String>,
}

/// All applications, silent ones and ones without a tree included.
pub fn list(bus: &Bus, windows: &[X11Window], deadline: Deadline) -> Result<Vec<Listed>, Error> {
    // Every command that lists wants the bus's id as well, for the refs that it saves.
    let mut answers = bus.flight(vec![Bus::id_call(), Call::new(&registry(), i::ACCESSIBLE, "GetChildren")], deadline);
    let roots = answers
        .pop()
        .unwrap_or(Err(CallError::Late { sent: false }))
        .and_then(|r| r.objects())
        .map_err(|e| no_registry(&e))?;
    bus.learn_id(answers.pop());
    let roots: Vec<Object> = roots.into_iter().filter(|o| !o.is_null()).collect();
    let answers = ask(bus, roots, deadline.within_ms(LIVENESS_MS));
    // Whose an application's object is, is the bus's own answer. Without it a process with a tree would count as one
    // without.
    if let Some(late) = answers.iter().find_map(|a| a.owner_late.clone()) {
        return Err(no_registry(&late));
    }
    let mut apps = group(answers);
    let with_tree: Vec<u32> = apps.iter().map(|a| a.app.process.pid).collect();
    let mut without: Vec<u32> = windows
        .iter()
        .filter(|w| super::windows::is_counted(w))
        .filter_map(|w| w.pid.and_then(|p| u32::try_from(p).ok()))
        .filter(|p| !with_tree.contains(p) && *p != std::process::id())
        .collect();
    without.sort_unstable();
    without.dedup();
    apps.extend(without.into_iter().filter_map(treeless));
    for listed in &mut apps {
        let class =
            windows.iter().find(|w| w.pid == i32::try_from(listed.app.process.pid).ok()).and_then(|w| w.class.clone());
        name(&mut listed.app, class.as_deref());
    }
    Ok(apps)
}

/// Late within the caller's own limit is no proof that there is no desktop.
fn no_registry(error: &CallError) -> Error {
    let native = crate::bus::join::describe(error);
    match error {
        CallError::Late { .. } => Error::before(Code::Timeout, "the accessibility registry did not answer in time")
            .kind("registry_late")
            .retry_after(1_000)
            .suggest("Retry with a longer time limit.")
            .platform(native),
        _ => crate::bus::join::no_desktop("the accessibility registry does not answer", native),
    }
}

fn ask(bus: &Bus, roots: Vec<Object>, deadline: Deadline) -> Vec<Answers> {
    const PER_APP: usize = 5;
    let mut calls = Vec::with_capacity(roots.len() * PER_APP);
    for root in &roots {
        calls.push(Call::driver("GetConnectionUnixProcessID", Body::Text(root.bus.to_string())));
        calls.push(Call::get(root, i::ACCESSIBLE, "Name"));
        calls.push(Call::get(root, i::ACCESSIBLE, "ChildCount"));
        calls.push(Call::get(root, i::APPLICATION, "ToolkitName"));
        calls.push(Call::get(root, i::APPLICATION, "Version"));
    }
    let mut answers = bus.flight(calls, deadline).into_iter();
    let mut next = || answers.next().unwrap_or(Err(CallError::Late { sent: false }));
    let text = |a: Result<Reply, CallError>| a.and_then(|r| r.text_property());
    let each = |root: Object| {
        let pid = next();
        Answers {
            owner_late: pid.as_ref().err().filter(|e| matches!(e, CallError::Late { .. })).cloned(),
            pid: pid.ok().and_then(|r| r.uint().ok()),
            name: text(next()),
            children: next().and_then(|r| r.int_property()),
            toolkit: text(next()).ok(),
            version: text(next()).ok(),
            root,
        }
    };
    roots.into_iter().map(each).collect()
}

/// One application for each process. A process may register several objects: the populated one counts
/// (case `two-application-objects`); two populated ones are two.
fn group(answers: Vec<Answers>) -> Vec<Listed> {
    let mut of_process: HashMap<u32, Vec<Answers>> = HashMap::new();
    let mut order = Vec::new();
    for a in answers {
        // No process: the connection went while we asked.
        let Some(pid) = a.pid.filter(|p| *p != std::process::id()) else { continue };
        if !of_process.contains_key(&pid) {
            order.push(pid);
        }
        of_process.entry(pid).or_default().push(a);
    }
    let mut out = Vec::new();
    for pid in order {
        let Some(key) = key(pid) else { continue };
        let mut all = of_process.remove(&pid).unwrap_or_default();
        if all.len() > 1 && all.iter().any(|a| a.children.as_ref().is_ok_and(|n| *n > 0)) {
            all.retain(|a| !a.children.as_ref().is_ok_and(|n| *n == 0));
        }
        all.dedup_by(|b, a| a.root == b.root);
        out.extend(all.into_iter().map(|a| listed(a, key.clone())));
    }
    out
}

fn listed(a: Answers, process: ProcessKey) -> Listed {
    let silent = |e: &CallError| matches!(e, CallError::Late { .. } | CallError::Broken { .. });
    let unanswered = a.name.as_ref().err().is_some_and(silent) && a.children.as_ref().err().is_some_and(silent);
    let name = a.name.unwrap_or_default();
    let toolkit = (!unanswered)
        .then(|| Toolkit::of(a.toolkit.as_deref().unwrap_or(""), a.version.as_deref().unwrap_or(""), &name));
    let presentation = a.children.ok().map(|n| if n > 0 { Presentation::Foreground } else { Presentation::Background });
    Listed {
        app: App {
            name,
            names: Vec::new(),
            process,
            bundle_id: None,
            presentation,
            responsive: if unanswered { Responsive::No } else { Responsive::Yes },
            root: Some(a.root.handle()),
        },
        toolkit,
    }
}

/// A process with windows that publishes no tree.
fn treeless(pid: u32) -> Option<Listed> {
    let app = App {
        name: String::new(),
        names: Vec::new(),
        process: key(pid)?,
        bundle_id: None,
        presentation: Some(Presentation::Foreground),
        responsive: Responsive::Yes,
        root: None,
    };
    Some(Listed { app, toolkit: None })
}

/// The process and its generation; none where it has ended.
pub fn key(pid: u32) -> Option<ProcessKey> {
    let token = Token::of(i32::try_from(pid).ok()?).ok()?;
    Some(ProcessKey { pid, instance: token.to_string() })
}

/// Fills in every name that the application goes by (decisions D10).
fn name(app: &mut App, class: Option<&str>) {
    let names = crate::process::names::names(i32::try_from(app.process.pid).unwrap_or(0));
    if app.name.trim().is_empty() {
        app.name = names.best().map(str::to_owned).or_else(|| class.map(str::to_owned)).unwrap_or_default();
    }
    let mut all = vec![app.name.clone()];
    all.extend(names.all().into_iter().map(str::to_owned));
    app.bundle_id = desktop_id(all.iter().map(String::as_str).chain(class));
    all.extend(app.bundle_id.clone());
    let mut seen = std::collections::HashSet::new();
    all.retain(|n| !n.trim().is_empty() && seen.insert(n.to_lowercase()));
    app.names = all;
}

/// The desktop entry with one of these names.
fn desktop_id<'a>(names: impl Iterator<Item = &'a str> + Clone) -> Option<String> {
    let directories = crate::process::desktop_entry::directories(|v| std::env::var(v).ok());
    let plain = |n: &&str| !n.is_empty() && !n.contains('/');
    directories.iter().find_map(|d| {
        let exists = |n: &&str| d.join(format!("{n}.desktop")).is_file();
        names.clone().filter(plain).find(exists).map(str::to_owned)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(bus: &str, pid: u32, children: Result<i64, CallError>) -> Answers {
        let name = if children.is_ok() { Ok("x".to_owned()) } else { Err(CallError::Late { sent: true }) };
        Answers {
            owner_late: None,
            root: Object::root_of(bus),
            pid: Some(pid),
            name,
            children,
            toolkit: Some("GTK".into()),
            version: Some("4.8.3".into()),
        }
    }

    /// A process that is certainly there and isn't this one.
    fn parent() -> u32 {
        std::os::unix::process::parent_id()
    }

    #[test]
    fn two_application_objects() {
        let got = group(vec![answers(":1.1", parent(), Ok(0)), answers(":1.2", parent(), Ok(3))]);
        assert_eq!(got.len(), 1);
        assert_eq!(got[0].app.root, Some(Object::root_of(":1.2").handle()));
        assert_eq!(got[0].app.presentation, Some(Presentation::Foreground));
        let both = group(vec![answers(":1.1", parent(), Ok(1)), answers(":1.2", parent(), Ok(3))]);
        assert_eq!(both.len(), 2, "two populated ones are ambiguous, and core says so");
    }

    #[test]
    fn a_short_time_limit_is_no_missing_desktop() {
        assert_eq!(no_registry(&CallError::Late { sent: false }).to_json()["code"], "TIMEOUT");
        let broken = CallError::Broken { sent: true, why: "closed".to_owned() };
        assert_eq!(no_registry(&broken).kind_name(), Some("no_desktop"));
    }

    #[test]
    fn silent_applications_are_listed() {
        let got = group(vec![answers(":1.1", parent(), Err(CallError::Late { sent: true }))]);
        assert_eq!(got[0].app.responsive, Responsive::No);
        assert_eq!(got[0].toolkit, None);
        assert!(group(vec![answers(":1.1", u32::MAX, Ok(1))]).is_empty(), "ended meanwhile");
    }
}
