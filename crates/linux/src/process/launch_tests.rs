use super::*;

fn entries(list: &[(&str, &str, &str)]) -> BTreeMap<String, Entry> {
    list.iter()
        .map(|(id, name, more)| {
            let text = format!("[Desktop Entry]\nType=Application\nName={name}\n{more}\n");
            ((*id).to_owned(), desktop_entry::parse(id, Path::new("/x"), &text).unwrap())
        })
        .collect()
}

fn known() -> BTreeMap<String, Entry> {
    entries(&[
        ("org.x.Shell", "The Shell", "Exec=sh -c \"exit 3\" %U"),
        ("one", "Twin", "Exec=sh"),
        ("two", "Twin", "Exec=sh"),
        ("three", "Quiet", "Exec=sh\nNoDisplay=true"),
        ("four", "Quiet", "Exec=sh"),
        ("lost", "Lost", "Exec=no-such-program-anywhere"),
        ("try", "Try", "Exec=sh\nTryExec=no-such-program-anywhere"),
        ("term", "Term", "Exec=sh\nTerminal=true"),
        ("cat", "Name of an entry that is a program too", "Exec=sh"),
    ])
}

fn plan_of(query: &str) -> Result<Plan, LaunchError> {
    find(query, &["more".to_owned()], &known())
}

#[test]
fn four_ways_to_find_it() {
    for query in ["org.x.Shell", "org.x.Shell.desktop", "ORG.X.SHELL", "the shell"] {
        let p = plan_of(query).unwrap();
        assert!(p.program.ends_with("sh"), "{query}");
        assert_eq!(
            (p.args, p.entry_id.as_deref()),
            (["-c", "exit 3", "more"].map(str::to_owned).to_vec(), Some("org.x.Shell"))
        );
    }
    assert_eq!(plan_of("cat").unwrap().entry_id.as_deref(), Some("cat"));
    let p = plan_of("sleep").unwrap();
    assert_eq!((p.entry_id, p.args), (None, vec!["more".to_owned()]));
    assert!(plan_of("/bin/sh").unwrap().program.is_absolute());
    assert_eq!(plan_of("quiet").unwrap().entry_id.as_deref(), Some("four"));
}

#[test]
fn refusals_say_why() {
    assert!(matches!(plan_of("nowhere at all"), Err(LaunchError::NotFound { .. })));
    assert!(matches!(plan_of(""), Err(LaunchError::NotFound { .. })));
    assert!(matches!(plan_of("/no/such"), Err(LaunchError::NotFound { .. })));
    assert!(matches!(plan_of("/etc/passwd"), Err(LaunchError::NotExecutable { .. })));
    assert!(matches!(plan_of("/tmp"), Err(LaunchError::NotExecutable { .. })));
    let Err(LaunchError::Ambiguous { candidates, .. }) = plan_of("twin") else { panic!() };
    assert_eq!(candidates, ["one", "two"]);
    for query in ["lost", "try"] {
        assert!(matches!(plan_of(query), Err(LaunchError::MissingProgram { .. })), "{query}");
    }
    assert!(matches!(plan_of("term"), Err(LaunchError::BadEntry { .. })));
}

fn shell(script: &str) -> Plan {
    plan(PathBuf::from("/bin/sh"), vec!["-c".into(), script.into()], "sh".into())
}

#[test]
fn early_ends_are_seen() {
    let mut l = launch(&shell("exit 3"), &LaunchOptions::default()).unwrap();
    assert_eq!(l.ended_within(Duration::from_secs(10)).and_then(|s| s.code()), Some(3));
    let mut l = launch(&shell("exec sleep 60"), &LaunchOptions::default()).unwrap();
    assert_eq!(l.ended_within(Duration::from_millis(30)), None);
    assert_eq!(super::super::alive(l.pid, l.token.as_ref().unwrap()), crate::process::Liveness::Alive);
    l.child.kill().unwrap();
    assert!(l.ended_within(Duration::from_secs(10)).is_some());
}

#[test]
fn detached_with_accessibility_on() {
    let t = tempfile::tempdir().unwrap();
    let out = t.path().join("out");
    let script = format!(
        "{{ echo $QT_LINUX_ACCESSIBILITY_ALWAYS_ON-$AT_SPI_BUS_ADDRESS-$MINE; pwd; cut -d' ' -f6 /proc/$$/stat; echo $$; \
         readlink /proc/$$/fd/1; }} >{0}.part; mv {0}.part {0}",
        out.display()
    );
    let options = LaunchOptions {
        env: [("MINE".to_owned(), "yes".to_owned())].into(),
        directory: Some(t.path().to_owned()),
        desktop: None,
    };
    let mut l = launch(&shell(&script), &options).unwrap();
    assert!(l.ended_within(Duration::from_secs(10)).is_some_and(|s| s.success()));
    let text = std::fs::read_to_string(out).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "1--yes");
    assert_eq!(Path::new(lines[1]).canonicalize().unwrap(), t.path().canonicalize().unwrap());
    assert_eq!((lines[2], lines[3]), (l.pid.to_string().as_str(), l.pid.to_string().as_str()), "own session");
    let bad = LaunchOptions { directory: Some("/no/such".into()), ..Default::default() };
    assert!(matches!(launch(&shell("true"), &bad), Err(LaunchError::BadDirectory { .. })));
}
