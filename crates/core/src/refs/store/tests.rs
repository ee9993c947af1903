use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fs;
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

type Map = BTreeMap<String, u64>;

fn root() -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().expect("temporary directory");
    let root = dir.path().join("state");
    (dir, root)
}

fn map(n: u64) -> Map {
    [("n".to_owned(), n)].into()
}

fn code_of<T: std::fmt::Debug>(result: Result<T>) -> (Code, Option<String>) {
    let e = result.expect_err("an error");
    assert_eq!(e.delivery(), crate::error::Delivery::NotDelivered);
    (e.code(), e.kind_name().map(str::to_owned))
}

#[test]
fn what_is_saved_is_loaded_in_its_namespace_only() {
    let (_dir, root) = root();
    let (global, session) = (Store::open(&root, None).expect("open"), Store::open(&root, Some("run-1")).expect("open"));
    assert_eq!(code_of(global.load::<Map>("s123")).0, Code::SnapshotNotFound);
    assert_eq!(global.latest().expect("latest"), None);
    assert!(!root.exists(), "reading makes nothing");
    global.save("s123", &map(1)).expect("save");
    assert_eq!(global.load::<Map>("s123").expect("load"), map(1));
    assert_eq!(global.latest().expect("latest").as_deref(), Some("s123"));
    assert_eq!(code_of(session.load::<Map>("s123")).0, Code::SnapshotNotFound);
    session.save("s123", &map(2)).expect("save");
    assert_eq!(global.load::<Map>("s123").expect("load"), map(1));
    assert_eq!((global.count().expect("count"), session.count().expect("count")), (1, 1));
}

#[test]
fn a_change_that_fails_changes_nothing() {
    let (_dir, root) = root();
    let store = Store::open(&root, None).expect("open");
    store.save("s123", &map(1)).expect("save");
    store.save("s456", &map(5)).expect("save");
    let failed: Result<()> = store.update("s123", |m: &mut Map| {
        m.insert("n".into(), 9);
        Err(Error::before(Code::Timeout, "late"))
    });
    assert_eq!(code_of(failed).0, Code::Timeout);
    assert_eq!(store.load::<Map>("s123").expect("load"), map(1));
    let was = store.update("s123", |m: &mut Map| Ok(m.insert("n".into(), 9))).expect("update");
    assert_eq!((was, store.load::<Map>("s123").expect("load")), (Some(1), map(9)));
    assert_eq!(store.latest().expect("latest").as_deref(), Some("s456"));
    assert_eq!(code_of(store.update("s999", |_: &mut Map| Ok(()))).0, Code::SnapshotNotFound);
}

#[test]
fn torn_foreign_and_oversized_files_are_no_snapshots() {
    let damaged = (Code::SnapshotNotFound, Some("snapshot_damaged".to_owned()));
    let (_dir, root) = root();
    let store = Store::open(&root, None).expect("open");
    store.save("s123", &map(1)).expect("save");
    let file = root.join("snapshots/s123/refmap.json");
    let whole = fs::read(&file).expect("read");
    for cut in 0..whole.len() {
        fs::write(&file, &whole[..cut]).expect("write");
        assert_eq!(code_of(store.load::<Map>("s123")), damaged);
    }
    fs::write(&file, &whole).expect("write");
    fs::create_dir(root.join("snapshots/s456")).expect("dir");
    fs::copy(&file, root.join("snapshots/s456/refmap.json")).expect("copy");
    assert_eq!(code_of(store.load::<Map>("s456")), damaged);
    fs::File::options().write(true).open(&file).expect("open").set_len(MAX_REFMAP + 1).expect("grow");
    assert_eq!(code_of(store.load::<Map>("s123")), damaged);
    fs::write(root.join("latest_snapshot_id"), "../../../../etc/passwd").expect("write");
    assert_eq!(store.latest().expect("latest"), None);
    fs::write(root.join("latest_snapshot_id"), "s".repeat(66)).expect("write");
    assert_eq!(store.latest().expect("latest"), None);
}

#[test]
fn too_many_refs_are_an_error_and_nothing_is_lost() {
    let (_dir, root) = root();
    let store = Store::open(&root, None).expect("open");
    store.save("s123", &map(1)).expect("save");
    let big = "x".repeat(MAX_REFMAP as usize);
    assert_eq!(code_of(store.save("s456", &big)), (Code::Internal, Some("refmap_too_large".into())));
    assert_eq!(store.latest().expect("latest").as_deref(), Some("s123"));
    assert_eq!(code_of(store.load::<String>("s456")).0, Code::SnapshotNotFound);
}

#[test]
fn ids_never_leave_the_namespace() {
    let (_dir, root) = root();
    let store = Store::open(&root, None).expect("open");
    for bad in ["", "s1", "..", "../x", "a/b", "s\u{e9}cd", &"s".repeat(65), "s 12", "s.12"] {
        assert_eq!(code_of(store.save(bad, &map(1))).0, Code::InvalidArgs);
        assert_eq!(code_of(store.load::<Map>(bad)).0, Code::SnapshotNotFound);
    }
    for bad in ["", "..", "a/b", &"s".repeat(65)] {
        assert_eq!(code_of(Store::open(&root, Some(bad))).0, Code::InvalidArgs);
    }
    assert_eq!(code_of(Store::open(Path::new("relative"), None)).0, Code::InvalidArgs);
}

#[test]
fn the_oldest_are_pruned_and_never_the_latest() {
    let (_dir, root) = root();
    let store = Store::open(&root, None).expect("open");
    fs::create_dir_all(root.join("snapshots/not an id")).expect("dir");
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
    for i in 0..KEEP_AT_MOST {
        store.save(&format!("s{i:03}"), &map(i as u64)).expect("save");
        let dir = fs::File::open(root.join(format!("snapshots/s{i:03}"))).expect("dir");
        // Pairs of one age: the id decides.
        dir.set_modified(long_ago + Duration::from_secs(i as u64 / 2)).expect("age");
    }
    assert_eq!(store.count().expect("count"), KEEP_AT_MOST);
    let orphan = root.join("snapshots/.s001-abc.tmp");
    fs::write(&orphan, "half").expect("write");
    let young = root.join("snapshots/.s002-abc.tmp");
    fs::write(&young, "half").expect("write");
    let file = fs::File::options().write(true).open(&orphan).expect("open");
    file.set_modified(SystemTime::now() - ORPHAN_AGE - Duration::from_secs(1)).expect("age");
    store.save("s999", &map(999)).expect("save");
    assert_eq!(store.count().expect("count"), PRUNE_TO);
    let gone = KEEP_AT_MOST + 1 - PRUNE_TO;
    assert!(store.load::<Map>(&format!("s{:03}", gone - 1)).is_err());
    assert!(store.load::<Map>(&format!("s{gone:03}")).is_ok());
    assert!(store.load::<Map>("s999").is_ok());
    assert!(!orphan.exists() && young.exists() && root.join("snapshots/not an id").exists());
}

#[test]
fn a_held_lock_is_a_timeout_that_delivers_nothing() {
    let (_dir, root) = root();
    let store = Store::open(&root, None).expect("open");
    store.save("s123", &map(1)).expect("save");
    let held = store.lock().expect("lock");
    assert_eq!(code_of(store.save("s456", &map(2))), (Code::Timeout, Some("lock_timeout".into())));
    assert!(store.load::<Map>("s123").is_ok(), "readers wait for nobody");
    drop(held);
    store.save("s456", &map(2)).expect("save");
}

#[test]
fn threads_lose_no_update() {
    let (_dir, root) = root();
    let store = Store::open(&root, None).expect("open");
    store.save("s123", &map(0)).expect("save");
    std::thread::scope(|scope| {
        for t in 0..8 {
            let store = &store;
            scope.spawn(move || {
                for i in 0..20 {
                    store.update("s123", add_one).expect("update");
                    store.save(&format!("t{t}-{i}"), &map(i)).expect("save");
                }
            });
        }
    });
    // 160 snapshots went through: the first one may be among the pruned.
    assert!((PRUNE_TO..=KEEP_AT_MOST).contains(&store.count().expect("count")));
    if let Ok(m) = store.load::<Map>("s123") {
        assert_eq!(m, map(160));
    }
}

fn add_one(m: &mut Map) -> Result<()> {
    *m.entry("n".into()).or_default() += 1;
    Ok(())
}

/// A writer: by itself a test of its own rounds, and with a root in the environment what the tests below run as child
/// processes.
#[test]
fn worker() {
    let own = tempfile::tempdir().expect("a directory");
    let child = std::env::var("STORE_TEST_ROOT").ok();
    let root = child.as_ref().map_or_else(|| own.path().join("state"), |r| Path::new(r).to_owned());
    let who = std::env::var("STORE_TEST_WHO").unwrap_or_else(|_| "own".into());
    let rounds: u64 = std::env::var("STORE_TEST_ROUNDS").ok().and_then(|r| r.parse().ok()).unwrap_or(3);
    let store = Store::open(&root, None).expect("open");
    if child.is_none() {
        store.save("shared", &map(0)).expect("save");
    }
    for i in 0..rounds {
        store.update("shared", add_one).expect("update");
        store.save(&format!("{who}-{i}"), &(0..500).map(|k| (format!("key {k}"), i)).collect::<Map>()).expect("save");
    }
    if child.is_none() {
        assert_eq!(store.load::<Map>("shared").expect("load"), map(rounds));
        assert_eq!(store.count().expect("count") as u64, rounds + 1);
    }
}

fn spawn(root: &Path, who: &str, rounds: u64) -> Child {
    Command::new(std::env::current_exe().expect("own path"))
        .args(["--exact", "refs::store::tests::worker"])
        .env("STORE_TEST_ROOT", root)
        .env("STORE_TEST_WHO", who)
        .env("STORE_TEST_ROUNDS", rounds.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("child process")
}

#[test]
fn processes_lose_no_update() {
    let (_dir, root) = root();
    let store = Store::open(&root, None).expect("open");
    store.save("shared", &map(0)).expect("save");
    let mut children: Vec<Child> = (0..4).map(|p| spawn(&root, &format!("p{p}"), 15)).collect();
    assert!(children.iter_mut().all(|c| c.wait().expect("wait").success()));
    assert_eq!(store.load::<Map>("shared").expect("load"), map(60));
    assert_eq!(store.count().expect("count"), 61);
}

#[test]
fn writers_killed_at_any_moment_leave_a_whole_state() {
    let (_dir, root) = root();
    let store = Store::open(&root, None).expect("open");
    store.save("shared", &map(0)).expect("save");
    let mut before = 0;
    for round in 0..12u64 {
        let mut children: Vec<Child> = (0..3).map(|p| spawn(&root, &format!("r{round}p{p}"), 1_000_000)).collect();
        std::thread::sleep(Duration::from_millis(40 + round * 7));
        for child in &mut children {
            child.kill().expect("kill");
            child.wait().expect("wait");
        }
        let (ids, _) = store.list().expect("list");
        for (id, path) in &ids {
            // Killed between the directory and its file: no snapshot, but never half a one.
            if path.join("refmap.json").exists() && id != "shared" {
                let m: Map = store.load(id).expect("whole");
                assert_eq!(m.len(), 500, "{id}");
            }
        }
        let latest = store.latest().expect("latest").expect("some");
        store.load::<Map>(&latest).map(|_| ()).unwrap_or_else(|e| panic!("latest {latest}: {e}"));
        assert!(ids.len() <= KEEP_AT_MOST + 1, "{}", ids.len());
        // Nobody's death holds the lock, and counting only ever went up.
        let n = store.update("shared", |m: &mut Map| Ok(m["n"])).expect("update");
        assert!(n >= before);
        before = n;
    }
    assert!(before > 0, "the writers wrote something");
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn mode(path: &Path) -> u32 {
        path.symlink_metadata().expect("metadata").permissions().mode() & 0o777
    }

    #[test]
    fn everything_is_private() {
        let (_dir, root) = root();
        let store = Store::open(&root, Some("run-1")).expect("open");
        store.save("s123", &map(1)).expect("save");
        let base = root.join("sessions/run-1");
        for dir in [root.clone(), root.join("sessions"), base.clone(), base.join("snapshots/s123")] {
            assert_eq!(mode(&dir), 0o700, "{}", dir.display());
        }
        for file in ["refstore.lock", "latest_snapshot_id", "snapshots/s123/refmap.json"] {
            assert_eq!(mode(&base.join(file)), 0o600, "{file}");
        }
    }

    #[test]
    fn a_root_that_others_may_write_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let (_dir, root) = root();
        fs::create_dir(&root).expect("root");
        fs::set_permissions(&root, fs::Permissions::from_mode(0o757)).expect("mode");
        assert_eq!(code_of(Store::open(&root, None)), (Code::PermDenied, Some("state_root_unsafe".into())));
        fs::set_permissions(&root, fs::Permissions::from_mode(0o755)).expect("mode");
        assert!(Store::open(&root, None).is_ok());
    }

    #[test]
    fn links_are_refused() {
        let (dir, root) = root();
        let real = dir.path().join("real");
        Store::open(&real, None).expect("open").save("s123", &map(1)).expect("save");
        symlink(&real, &root).expect("link");
        assert_eq!(code_of(Store::open(&root, None)), (Code::PermDenied, Some("state_root_unsafe".into())));
        fs::remove_file(&root).expect("unlink");

        let store = Store::open(&root, None).expect("open");
        store.save("s456", &map(1)).expect("save");
        symlink(real.join("snapshots/s123"), root.join("snapshots/s123")).expect("link");
        assert_eq!(code_of(store.load::<Map>("s123")).0, Code::SnapshotNotFound);
        assert!(store.save("s123", &map(7)).is_err(), "nothing is written through a link");
        let file = root.join("snapshots/s456/refmap.json");
        fs::rename(&file, root.join("moved")).expect("move");
        symlink(root.join("moved"), &file).expect("link");
        assert_eq!(code_of(store.load::<Map>("s456")).0, Code::SnapshotNotFound);
        fs::remove_file(root.join("refstore.lock")).expect("unlink");
        symlink(dir.path().join("elsewhere"), root.join("refstore.lock")).expect("link");
        assert!(store.save("s789", &map(1)).is_err());
        assert!(!dir.path().join("elsewhere").exists());
    }

    #[test]
    fn a_file_in_the_place_of_the_root_is_refused() {
        let (dir, root) = root();
        fs::write(&root, "").expect("write");
        assert_eq!(code_of(Store::open(&root, None)).0, Code::PermDenied);
        assert_eq!(code_of(Store::open(&root.join("below"), None)).0, Code::PermDenied);
        drop(dir);
    }

    #[test]
    fn a_pipe_in_the_place_of_a_file_hangs_nobody() {
        let (_dir, root) = root();
        let store = Store::open(&root, None).expect("open");
        store.save("s123", &map(1)).expect("save");
        let file = root.join("snapshots/s123/refmap.json");
        fs::remove_file(&file).expect("remove");
        let made = Command::new("mkfifo").arg(&file).status().expect("mkfifo");
        assert!(made.success());
        assert_eq!(code_of(store.load::<Map>("s123")).0, Code::SnapshotNotFound);
    }

    #[test]
    fn a_root_that_cant_be_written_is_an_error_and_keeps_what_it_has() {
        let (_dir, root) = root();
        let store = Store::open(&root, None).expect("open");
        store.save("s123", &map(1)).expect("save");
        fs::set_permissions(root.join("snapshots"), fs::Permissions::from_mode(0o500)).expect("chmod");
        let result = store.save("s456", &map(2));
        fs::set_permissions(root.join("snapshots"), fs::Permissions::from_mode(0o700)).expect("chmod");
        // Modes don't stop root.
        if !rustix::process::geteuid().is_root() {
            assert_eq!(code_of(result), (Code::PermDenied, Some("state_not_writable".into())));
        }
        assert_eq!(store.load::<Map>("s123").expect("load"), map(1));
    }
}

#[test]
fn errors_of_the_disk_have_their_kinds() {
    let at = Path::new("/state");
    for (kind, code, name) in [
        (ErrorKind::StorageFull, Code::Internal, "state_disk_full"),
        (ErrorKind::QuotaExceeded, Code::Internal, "state_disk_full"),
        (ErrorKind::ReadOnlyFilesystem, Code::PermDenied, "state_not_writable"),
        (ErrorKind::PermissionDenied, Code::PermDenied, "state_not_writable"),
        (ErrorKind::Other, Code::Internal, "state_io"),
    ] {
        let e = private::io_error("write", at, &kind.into());
        assert_eq!((e.code(), e.kind_name()), (code, Some(name)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn any_file_loads_or_is_no_snapshot(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let (_dir, root) = root();
        let store = Store::open(&root, None).expect("open");
        store.save("s123", &map(1)).expect("save");
        fs::write(root.join("snapshots/s123/refmap.json"), bytes).expect("write");
        prop_assert_eq!(code_of(store.load::<Map>("s123")).0, Code::SnapshotNotFound);
    }

    #[test]
    fn any_sequence_ends_in_what_was_written_last(steps in proptest::collection::vec((0..5u8, any::<u64>(), any::<bool>()), 1..30)) {
        let (_dir, root) = root();
        let store = Store::open(&root, None).expect("open");
        let mut model: BTreeMap<String, u64> = BTreeMap::new();
        let mut latest = None;
        for (which, n, save) in steps {
            let id = format!("s-{which}");
            if save {
                store.save(&id, &map(n)).expect("save");
                model.insert(id.clone(), n);
                latest = Some(id);
            } else {
                let updated = store.update(&id, |m: &mut Map| Ok(m.insert("n".into(), n)));
                prop_assert_eq!(updated.is_ok(), model.contains_key(&id));
                if let Some(v) = model.get_mut(&id) {
                    *v = n;
                }
            }
        }
        for (id, n) in &model {
            prop_assert_eq!(store.load::<Map>(id).expect("load"), map(*n));
        }
        prop_assert_eq!(store.latest().expect("latest"), latest);
    }
}
