//! Where the program keeps its state: what can't be written, and what belongs to somebody else.

use agent_desktop_e2e::{Desk, Provider, binary, refs_named};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

fn ok_button(desk: &Desk) -> String {
    refs_named(&desk.ok(&["snapshot", "--app", "Simple", "--timeout-ms", "20000"]), "button", "OK")[0].clone()
}

/// A directory and all below it.
fn directories(top: &Path) -> Vec<PathBuf> {
    let (mut out, mut open) = (Vec::new(), vec![top.to_owned()]);
    while let Some(dir) = open.pop() {
        let entries = std::fs::read_dir(&dir).expect("the state").flatten();
        open.extend(entries.map(|e| e.path()).filter(|p| p.is_dir()));
        out.push(dir);
    }
    out
}

/// Refs that were never kept would be refs to nothing: no snapshot is shown. What was kept before goes on working.
#[test]
fn a_read_only_state_directory_is_named() {
    let desk = Desk::new();
    let provider = Provider::start(&desk, "simple");
    let button = ok_button(&desk);
    let all = directories(&desk.dir.path().join("state"));
    let set = |mode| {
        for dir in &all {
            std::fs::set_permissions(dir, std::fs::Permissions::from_mode(mode)).expect("its mode");
        }
    };
    // Without the rights that let root write anywhere; for everybody else this takes nothing away.
    let run = |args: &[&str]| -> Value {
        let mut command = desk.command("setpriv");
        command.args(["--bounding-set=-dac_override,-dac_read_search,-fowner", "--"]);
        command.arg(binary("agent-desktop")).args(args).stdin(Stdio::null());
        let out = command.output().expect("setpriv runs");
        serde_json::from_slice(&out.stdout).unwrap_or_else(|e| panic!("{args:?}: {e}: {out:?}"))
    };
    set(0o500);
    let (snapshot, list, click) =
        (run(&["snapshot", "--app", "Simple"]), run(&["list-apps"]), run(&["click", &button]));
    set(0o700);
    assert_eq!(snapshot["error"]["code"], "PERM_DENIED", "{snapshot}");
    assert_eq!(snapshot["error"]["details"]["kind"], "state_not_writable", "{snapshot}");
    assert_eq!(snapshot["error"]["disposition"]["delivery"], "not_delivered", "{snapshot}");
    assert_eq!(list["ok"], true, "what keeps nothing works: {list}");
    assert_eq!(click["ok"], true, "what was kept is read: {click}");
    provider.control(json!({"cmd": "fence"}));
    assert_eq!(provider.writes("ok", "DoAction"), 1, "pressed once");
    assert_eq!(directories(&desk.dir.path().join("state")).len(), all.len(), "something was made");
}

/// Another user's state directory: nothing runs, not even what keeps nothing.
#[test]
fn foreign_state_directory() {
    let desk = Desk::new();
    let provider = Provider::start(&desk, "simple");
    // Who may not give a directory away finds one that is root's.
    let given = desk.dir.path().join("given");
    std::fs::create_dir(&given).expect("a directory");
    let foreign = match std::os::unix::fs::chown(&given, Some(65_534), None) {
        Ok(()) => given.to_str().expect("UTF-8").to_owned(),
        Err(_) => "/usr".to_owned(),
    };
    for args in [&["snapshot", "--app", "Simple"][..], &["list-apps"], &["click", "@s0000:e1"], &["version"]] {
        let error = desk.cli_with(args, &[("AGENT_DESKTOP_HOME", &foreign)], None).error();
        assert_eq!(error["code"], "PERM_DENIED", "{args:?}: {error}");
        assert_eq!(error["disposition"]["delivery"], "not_delivered", "{args:?}: {error}");
    }
    assert_eq!(std::fs::read_dir(&given).expect("the directory").count(), 0, "something was written");
    provider.control(json!({"cmd": "fence"}));
    assert!(provider.log().is_empty(), "something ran: {:?}", provider.log());
}
