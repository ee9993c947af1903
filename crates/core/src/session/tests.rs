use super::life::{lease, live};
use super::*;
use crate::command::session::{Session, SessionOperation};
use crate::command::{Context, Globals, Host};
use crate::envelope::Answer;
use crate::error::Code;
use crate::platform::Platform;
use serde_json::{Value, json};
use std::ffi::OsString;

struct Nothing;

impl Host for Nothing {
    fn open(&self, _: Option<&str>) -> Result<Box<dyn Platform>> {
        Err(Error::before(Code::PlatformNotSupported, "no desktop"))
    }
}

fn context(home: &Path, session: Option<&str>) -> Context {
    let home = OsString::from(home);
    let env = Box::new(move |name: &str| (name == "AGENT_DESKTOP_HOME").then(|| home.clone()));
    Context::new(Globals { session: session.map(str::to_owned), ..Globals::default() }, env, Box::new(Nothing)).unwrap()
}

fn args(operation: SessionOperation) -> Session {
    Session {
        operation,
        id: None,
        name: None,
        no_trace: false,
        screenshots: false,
        cursor: false,
        multi_agent: false,
        older_than: None,
        ended: false,
    }
}

fn start(home: &Path) -> String {
    let answer = run(&context(home, None), &args(SessionOperation::Start)).unwrap();
    answer["session_id"].as_str().unwrap().to_owned()
}

fn gc(home: &Path, change: impl FnOnce(&mut Session)) -> Answer {
    let mut gc = args(SessionOperation::Gc);
    change(&mut gc);
    run(&context(home, None), &gc)
}

/// Makes everything in a session as old as this.
fn age(home: &Path, id: &str, by: Duration) {
    fn each(dir: &Path, then: SystemTime) {
        for entry in dir.read_dir().unwrap().flatten() {
            if entry.path().is_dir() {
                each(&entry.path(), then);
            }
            std::fs::File::open(entry.path()).unwrap().set_modified(then).unwrap();
        }
    }
    let dir = home.join("sessions").join(id);
    let file = dir.join("session.json");
    if let Ok(text) = std::fs::read_to_string(&file) {
        let mut manifest: Value = serde_json::from_str(&text).unwrap();
        manifest["created_at"] = json!(now_ms() - by.as_millis() as u64);
        std::fs::write(&file, manifest.to_string()).unwrap();
    }
    each(&dir, SystemTime::now() - by);
    std::fs::File::open(&dir).unwrap().set_modified(SystemTime::now() - by).unwrap();
}

const OLD: Duration = Duration::from_secs(301);

#[test]
fn a_session_is_started_listed_and_ended() {
    let home = tempfile::tempdir().unwrap();
    let mut named = args(SessionOperation::Start);
    (named.name, named.screenshots) = (Some("first".into()), true);
    let first = run(&context(home.path(), None), &named).unwrap();
    let id = first["session_id"].as_str().unwrap();
    assert!(id.starts_with("run-") && id.split('-').count() == 4, "{id}");
    assert_eq!((&first["trace"], &first["artifacts"], &first["name"]), (&json!("on"), &json!("full"), &json!("first")));
    std::thread::sleep(Duration::from_millis(2));
    let second = start(home.path());
    let list = run(&context(home.path(), None), &args(SessionOperation::List)).unwrap();
    let ids: Vec<&str> =
        list["sessions"].as_array().unwrap().iter().map(|s| s["session_id"].as_str().unwrap()).collect();
    assert_eq!(ids, [id, &second], "oldest first");
    assert_eq!(list["sessions"][0]["live"], true);
    let end = run(&context(home.path(), Some(id)), &args(SessionOperation::End)).unwrap();
    assert!(end["ended_at"].as_u64().unwrap() >= end["created_at"].as_u64().unwrap());
    let again =
        run(&context(home.path(), None), &Session { id: Some(id.into()), ..args(SessionOperation::End) }).unwrap();
    assert_eq!((&again["ended_at"], &again["already_ended"]), (&end["ended_at"], &json!(true)));
    for (session, kind) in [(None, None), (Some("none"), Some("session_not_found"))] {
        let e = run(&context(home.path(), session), &args(SessionOperation::End)).unwrap_err();
        assert_eq!((e.code(), e.kind_name()), (Code::InvalidArgs, kind));
    }
}

#[test]
fn only_the_flag_names_a_new_session() {
    let home = tempfile::tempdir().unwrap();
    let made = run(&context(home.path(), Some("mine")), &args(SessionOperation::Start)).unwrap();
    assert_eq!(made["session_id"], "mine");
    let e = run(&context(home.path(), Some("mine")), &args(SessionOperation::Start)).unwrap_err();
    assert_eq!((e.code(), e.kind_name()), (Code::InvalidArgs, Some("session_exists")));
    let root = OsString::from(home.path());
    let env = Box::new(move |name: &str| match name {
        "AGENT_DESKTOP_HOME" => Some(root.clone()),
        "AGENT_DESKTOP_SESSION" => Some("mine".into()),
        _ => None,
    });
    let by_variable = Context::new(Globals::default(), env, Box::new(Nothing)).unwrap();
    assert_ne!(run(&by_variable, &args(SessionOperation::Start)).unwrap()["session_id"], "mine");
}

#[test]
fn files_and_directories_are_private() {
    use std::os::unix::fs::PermissionsExt;
    let home = tempfile::tempdir().unwrap();
    let root = home.path().join("root");
    let id = start(&root);
    let context = context(&root, Some(&id));
    context.trace().event("x", json!({}));
    let mut open = vec![root];
    let mut seen = 0;
    while let Some(path) = open.pop() {
        let mode = path.symlink_metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, if path.is_dir() { 0o700 } else { 0o600 }, "{}", path.display());
        if path.is_dir() {
            open.extend(path.read_dir().unwrap().flatten().map(|e| e.path()));
        }
        seen += 1;
    }
    assert!(seen >= 6, "{seen}");
}

#[test]
fn a_damaged_manifest_is_none_and_stays() {
    let home = tempfile::tempdir().unwrap();
    let id = start(home.path());
    let file = home.path().join("sessions").join(&id).join("session.json");
    let large = "x".repeat(MAX_MANIFEST as usize + 1);
    for damage in ["", "{", "[]", r#"{"session_id":"other","created_at":1,"trace":"on","artifacts":"full"}"#, &large] {
        std::fs::write(&file, damage).unwrap();
        let context = context(home.path(), Some(&id));
        assert!(context.manifest().is_none() && !context.trace().on(), "{damage:.20}");
        let e = run(&context, &args(SessionOperation::End)).unwrap_err();
        assert_eq!((e.code(), e.kind_name()), (Code::InvalidArgs, Some("session_damaged")));
        assert_eq!(std::fs::read_to_string(&file).unwrap(), damage);
    }
    let list = run(&context(home.path(), None), &args(SessionOperation::List)).unwrap();
    assert_eq!(list["sessions"][0]["kind"], "damaged");
}

#[test]
fn what_a_later_version_adds_is_kept() {
    let home = tempfile::tempdir().unwrap();
    let id = start(home.path());
    let file = home.path().join("sessions").join(&id).join("session.json");
    let mut manifest: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    manifest["later"] = json!({"a": 1});
    manifest["cursor"] = json!({"fill": "#ffffff"});
    std::fs::write(&file, manifest.to_string()).unwrap();
    Sessions::of(home.path()).change(&id, |m| m.ended_at = Some(5)).unwrap();
    let after: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(
        (&after["later"]["a"], &after["cursor"]["fill"], &after["ended_at"]),
        (&json!(1), &json!("#ffffff"), &json!(5))
    );
}

#[test]
fn gc_takes_what_nobody_uses() {
    let home = tempfile::tempdir().unwrap();
    let (idle, young, ended) = (start(home.path()), start(home.path()), start(home.path()));
    run(&context(home.path(), Some(&ended)), &args(SessionOperation::End)).unwrap();
    std::fs::create_dir_all(home.path().join("sessions/bare/snapshots")).unwrap();
    for id in [&idle, &ended, "bare"] {
        age(home.path(), id, OLD);
    }
    assert_eq!(gc(home.path(), |a| a.older_than = Some(3_000)).unwrap()["removed"], json!([]));
    assert_eq!(gc(home.path(), |a| a.ended = true).unwrap()["removed"], json!([ended]));
    let mut left = vec![json!("bare"), json!(idle)];
    left.sort_by_key(Value::to_string);
    assert_eq!(gc(home.path(), |_| ()).unwrap()["removed"], json!(left));
    let there: Vec<_> = home.path().join("sessions").read_dir().unwrap().flatten().map(|e| e.file_name()).collect();
    assert!(there.len() == 2 && there.contains(&OsString::from(&young)), "the young one and gc.lock: {there:?}");
}

#[test]
fn gc_leaves_what_is_live() {
    let home = tempfile::tempdir().unwrap();
    let id = start(home.path());
    let dir = home.path().join("sessions").join(&id);
    let removed = || gc(home.path(), |_| ()).unwrap()["removed"].clone();
    // A command of the session is running.
    let running = context(home.path(), Some(&id));
    assert!(running.manifest().is_some());
    age(home.path(), &id, OLD);
    assert!(live(&dir, None));
    assert_eq!(removed(), json!([]));
    drop(running);
    // Somebody writes its refs.
    let store = private::lock(&dir.join("refstore.lock"), LOCK_WAIT).unwrap();
    age(home.path(), &id, OLD);
    assert_eq!(removed(), json!([]));
    drop(store);
    // It was in use a moment ago: any file of it tells.
    for file in ["latest_snapshot_id", "trace/1-2.jsonl", "lease.lock"] {
        age(home.path(), &id, OLD);
        std::fs::create_dir_all(dir.join("trace")).unwrap();
        std::fs::write(dir.join(file), "").unwrap();
        std::fs::File::open(dir.join("trace")).unwrap().set_modified(SystemTime::now() - OLD).unwrap();
        assert_eq!(removed(), json!([]), "{file}");
    }
    // One that was started a moment ago, whatever the files say.
    age(home.path(), &id, OLD);
    Sessions::of(home.path()).change(&id, |m| m.created_at = now_ms()).unwrap();
    std::fs::File::open(dir.join("session.json")).unwrap().set_modified(SystemTime::now() - OLD).unwrap();
    std::fs::File::open(dir.join("session.lock")).unwrap().set_modified(SystemTime::now() - OLD).unwrap();
    assert_eq!(removed(), json!([]));
    age(home.path(), &id, OLD);
    // The session that the clean-up itself runs in.
    let own = run(&context(home.path(), Some(&id)), &args(SessionOperation::Gc)).unwrap();
    assert_eq!(own["removed"], json!([]));
    assert_eq!(removed(), json!([id]), "and else it would have been taken");
}

/// Looking makes no session younger: a directory that holds nothing goes with the first clean-up.
#[test]
fn looking_is_no_sign_of_life() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("sessions/empty");
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::create_dir_all(home.path().join("sessions/.gc-killed-1/x")).unwrap();
    std::fs::File::open(&dir).unwrap().set_modified(SystemTime::now() - OLD).unwrap();
    assert_eq!(gc(home.path(), |_| ()).unwrap()["removed"], json!(["empty"]));
    assert!(!home.path().join("sessions/.gc-killed-1").exists(), "what a killed clean-up left");
    assert!(!lease(&dir).exists());
}

/// Commands begin while clean-ups run all the time: whoever has the lease keeps the session until it lets go.
#[test]
fn a_command_that_began_keeps_its_session() {
    let home = tempfile::tempdir().unwrap();
    let root = home.path();
    let stop = std::sync::atomic::AtomicBool::new(false);
    let (kept, lost) = std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                    gc(root, |_| ()).unwrap();
                }
            });
        }
        let (mut kept, mut lost) = (0, 0);
        for turn in 0..200 {
            let id = format!("s{turn}");
            let dir = root.join("sessions").join(&id);
            private::make_root(root).unwrap();
            run(&context(root, Some(&id)), &args(SessionOperation::Start)).unwrap();
            // Only what is aged at once can be taken while it is entered.
            let file = dir.join("session.json");
            std::fs::File::open(&file).unwrap().set_modified(SystemTime::now() - OLD).unwrap();
            let context = context(root, Some(&id));
            if context.manifest().is_some() {
                std::thread::sleep(Duration::from_millis(2));
                assert!(file.exists(), "taken from a running command");
                kept += 1;
            } else {
                lost += 1;
            }
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        (kept, lost)
    });
    assert!(kept > 0, "kept {kept}, lost {lost}");
}

#[test]
fn names_have_rules() {
    for (name, sound) in
        [("x", true), (&"x".repeat(128), true), ("", false), (&"x".repeat(129), false), ("a\nb", false)]
    {
        let session = Session { name: Some((*name).to_owned()), ..args(SessionOperation::Start) };
        assert_eq!(session.validate().is_ok(), sound, "{name}");
    }
}
