//! Applications that don't answer. What a look knows of them comes from the window system alone: other ids, no tree, no
//! layers. Nothing has come or gone by that, and what a look could not see is not told (decisions D4).

use crate::error::Result;
use crate::observe::target::display_late;
use crate::platform::{App, Platform, ProcessKey, Responsive, Window};

/// Refuses a look under which the window system did not answer: windows that only it knows are missing from it.
///
/// # Errors
/// `TIMEOUT` with kind `display_late`.
pub fn whole(platform: &dyn Platform) -> Result<()> {
    if platform.display_answered() {
        return Ok(());
    }
    Err(display_late())
}

/// The processes that did not answer a look.
pub fn silent(apps: &[App], windows: &[Window]) -> Vec<ProcessKey> {
    let apps = apps.iter().filter(|a| a.responsive == Responsive::No).map(|a| &a.process);
    let windows = windows.iter().filter(|w| w.responsive == Responsive::No).map(|w| &w.process);
    let mut out: Vec<ProcessKey> = Vec::new();
    for process in apps.chain(windows) {
        if !out.contains(process) {
            out.push(process.clone());
        }
    }
    out
}

/// Puts the windows of processes that are silent now as they were before.
pub fn carry(now: &mut Vec<Window>, before: &[Window], silent: &[ProcessKey]) {
    let had = |process: &ProcessKey| before.iter().any(|w| w.process == *process);
    now.retain(|w| !silent.contains(&w.process) || !had(&w.process));
    now.extend(before.iter().filter(|w| silent.contains(&w.process)).cloned());
}

/// Puts the windows of processes that were silent before, and answer now, as they must have been: those that the window
/// system knew then get the ids that they have now. What was certainly not there stays out, so that it is told; what
/// can't be told from a window of then counts as having been there. Which id became which is the answer.
pub fn recover(
    before: &mut Vec<Window>,
    was_silent: &[ProcessKey],
    now: &[Window],
    silent: &[ProcessKey],
) -> Vec<(String, String)> {
    let mut renamed = Vec::new();
    for process in was_silent.iter().filter(|p| !silent.contains(p)) {
        let own = |w: &&Window| w.process == *process;
        let here: Vec<&Window> = now.iter().filter(own).collect();
        if here.is_empty() {
            // It ended, or it has no window: nothing is known to have changed under another id.
            continue;
        }
        let (was, mut out): (Vec<Window>, Vec<Window>) =
            std::mem::take(before).into_iter().partition(|w| w.process == *process);
        let told_apart = !was.is_empty() && was.iter().all(|w| w.key.is_some());
        let same = |b: &Window, n: &Window| b.id == n.id || (b.key.is_some() && b.key == n.key);
        renamed.extend(here.iter().filter_map(|n| {
            let b = was.iter().find(|b| b.id != n.id && b.key.is_some() && b.key == n.key)?;
            Some((b.id.clone(), n.id.clone()))
        }));
        let known = |n: &Window| was.iter().any(|b| same(b, n));
        let adopted = here.iter().filter(|n| known(n) || !told_apart || n.key.is_none());
        // Titles are the screen's: the one of then is compared with the one of now.
        let titled = |n: &Window| was.iter().find(|b| same(b, n)).map_or_else(|| n.title.clone(), |b| b.title.clone());
        out.extend(adopted.map(|n| Window { title: titled(n), ..(*n).clone() }));
        // A window that was known by its tree, and that is no more, has closed.
        let by_tree = |b: &&Window| b.responsive == Responsive::Yes && !here.iter().any(|n| same(b, n));
        out.extend(was.iter().filter(by_tree).cloned());
        *before = out;
    }
    renamed
}

/// Whether another window is active than before. Where somebody is silent, that none is can't be told.
pub fn moved(before: Option<&Window>, now: Option<&Window>, silent: &[ProcessKey]) -> bool {
    match (before, now) {
        (None, None) => false,
        (Some(_), None) => silent.is_empty(),
        (None, Some(_)) => true,
        (Some(b), Some(n)) => {
            let by_system = b.responsive == Responsive::No || n.responsive == Responsive::No;
            let untold = by_system && (b.key.is_none() || n.key.is_none());
            let same = b.id == n.id || (b.key.is_some() && b.key == n.key) || untold;
            b.process != n.process || !same
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Evidence;
    use crate::platform::WindowKey;
    use crate::tree::raw::Handle;

    fn process() -> ProcessKey {
        ProcessKey { pid: 7, instance: "boot-7".into() }
    }

    /// A window as its tree tells it, with the window system's number where that is known.
    fn tree(id: &str, key: Option<&str>) -> Window {
        Window {
            id: id.into(),
            title: id.into(),
            app_name: "editor".into(),
            process: process(),
            key: key.map(|id| WindowKey { id: id.into(), process: process() }),
            bounds: Evidence::Absent,
            focused: Evidence::Known(false),
            visible: Evidence::Known(true),
            minimized: Evidence::Absent,
            maximized: Evidence::Absent,
            fullscreen: Evidence::Absent,
            modal: Evidence::Absent,
            responsive: Responsive::Yes,
            root: Some(Handle::new(id)),
            above: Vec::new(),
            index: 0,
            no_tree_reason: None,
        }
    }

    /// The same as the window system tells it of an application that doesn't answer.
    fn system(key: &str) -> Window {
        Window { id: format!("x{key}"), responsive: Responsive::No, root: None, ..tree("", Some(key)) }
    }

    fn ids(windows: &[Window]) -> Vec<&str> {
        let mut ids: Vec<&str> = windows.iter().map(|w| w.id.as_str()).collect();
        ids.sort_unstable();
        ids
    }

    #[test]
    fn a_silent_application_has_the_windows_that_it_had() {
        let before = [tree("a", Some("1")), tree("b", Some("2"))];
        let mut now = vec![system("1"), system("2"), system("3")];
        carry(&mut now, &before, &[process()]);
        assert_eq!(ids(&now), ["a", "b"]);
        // Also where the window system tells nothing of it.
        let mut now = Vec::new();
        carry(&mut now, &before, &[process()]);
        assert_eq!(ids(&now), ["a", "b"]);
    }

    #[test]
    fn windows_known_by_the_system_alone_get_their_own_ids_when_it_answers_again() {
        let recovered = |before: &[Window], now: &[Window]| {
            let mut before = before.to_vec();
            let renamed = recover(&mut before, &[process()], now, &[]);
            assert!(
                renamed.iter().all(|(was, is)| was.starts_with('x') && is.len() == 1 || was == "old"),
                "{renamed:?}"
            );
            ids(&before).into_iter().map(str::to_owned).collect::<Vec<_>>()
        };
        let now = [tree("a", Some("1")), tree("b", Some("2"))];
        assert_eq!(recovered(&[system("1"), system("2")], &now), ["a", "b"]);
        // The second one was certainly not there, and is told.
        assert_eq!(recovered(&[system("1")], &now), ["a"]);
        // Without numbers, or without a window before, nothing can be told apart.
        assert_eq!(recovered(&[system("1")], &[tree("a", Some("1")), tree("c", None)]), ["a", "c"]);
        assert_eq!(recovered(&[], &now), ["a", "b"]);
        // A window that the system knew and the tree doesn't: nobody knows that it has closed.
        assert_eq!(recovered(&[system("1"), system("9")], &now[..1]), ["a"]);
        // One that was known by its tree has.
        assert_eq!(recovered(&[tree("a", Some("1")), tree("b", Some("2"))], &now[..1]), ["a", "b"]);
        assert_eq!(recovered(&[tree("old", Some("1"))], &now[..1]), ["a"]);
    }

    #[test]
    fn an_application_that_is_still_silent_is_left_alone() {
        let mut before = vec![system("1")];
        recover(&mut before, &[process()], &[tree("a", Some("1"))], &[process()]);
        assert_eq!(ids(&before), ["x1"]);
    }

    #[test]
    fn the_active_window_is_the_same_by_either_id() {
        let silent = [process()];
        assert!(!moved(Some(&tree("a", Some("1"))), Some(&system("1")), &silent));
        assert!(!moved(Some(&system("1")), Some(&tree("a", Some("1"))), &[]));
        assert!(!moved(Some(&tree("a", None)), Some(&system("1")), &silent), "nothing tells them apart");
        assert!(!moved(Some(&tree("a", Some("1"))), None, &silent), "a silent one may have the focus");
        assert!(moved(Some(&tree("a", Some("1"))), None, &[]));
        assert!(moved(Some(&tree("a", Some("1"))), Some(&system("2")), &silent));
        assert!(moved(Some(&tree("a", Some("1"))), Some(&tree("b", Some("2"))), &[]));
    }
}
