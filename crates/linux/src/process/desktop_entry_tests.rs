use super::*;

const TEXT: &str = "# comment
[Desktop Entry]
Type=Application
Name=Calculator
Name[de]=Taschenrechner
Exec=gnome-calculator %U
Icon = calc
StartupWMClass=Calc
[Desktop Action new]
Name=Other
Exec=other
";

fn entry(exec: &str) -> Entry {
    let text = format!("[Desktop Entry]\nType=Application\nName=A B\nIcon=pic\nExec={exec}\n");
    parse("x", Path::new("/d/x.desktop"), &text).unwrap()
}

fn line(exec: &str, operands: &[&str]) -> Result<Vec<String>, String> {
    command_line(&entry(exec), &operands.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>())
}

#[test]
fn reads_the_main_group_only() {
    let e = parse("org.x", Path::new("/x"), TEXT).unwrap();
    assert_eq!((e.name.as_str(), e.exec.as_deref()), ("Calculator", Some("gnome-calculator %U")));
    assert_eq!((e.icon.as_deref(), e.window_class.as_deref()), (Some("calc"), Some("Calc")));
    assert!(e.is_named("calculator") && e.is_named("TASCHENRECHNER") && !e.is_named("Other"));
    assert!(!e.terminal && !e.hidden);
    for other in [
        "",
        "[Desktop Entry]\nType=Link\nName=x\n",
        "[Desktop Entry]\nType=Application\n",
        "[X]\nType=Application\nName=x",
    ] {
        assert_eq!(parse("x", Path::new("/x"), other), None, "{other}");
    }
}

#[test]
fn quoting() {
    assert_eq!(split_exec(r#"a  "b c" d"e f"g "#).unwrap(), ["a", "b c", "de fg"]);
    assert_eq!(split_exec(r#""\"\`\$\\" "\x" """#).unwrap(), ["\"`$\\", "\\x", ""]);
    assert!(split_exec("\"open").is_err());
    assert!(split_exec("\"open\\").is_err());
    assert!(split_exec("  ").is_err());
    // A quoted backslash is written four times: the string's escapes come first.
    assert_eq!(split_exec(entry(r#"a "\\\\" \\s"#).exec.as_deref().unwrap()).unwrap(), ["a", "\\", "\\s"]);
}

#[test]
fn field_codes() {
    assert_eq!(line("app %U", &[]).unwrap(), ["app"]);
    assert_eq!(line("app %U --end", &["a b", "c"]).unwrap(), ["app", "a b", "c", "--end"]);
    assert_eq!(line("app", &["f"]).unwrap(), ["app", "f"]);
    assert_eq!(line("app %i %c %k %d %m 100%%", &[]).unwrap(), ["app", "--icon", "pic", "A B", "/d/x.desktop", "100%"]);
    assert_eq!(line("app --url=%u", &["x"]).unwrap(), ["app", "--url=", "x"]);
    assert!(line("app %z", &[]).is_err());
    assert!(line("app 5%", &[]).is_err());
    assert!(command_line(&Entry { exec: None, ..entry("x") }, &[]).is_err());
    assert!(line("%f", &[]).is_err());
}

#[test]
fn search_path() {
    let vars = |pairs: &'static [(&str, &str)]| {
        move |n: &str| pairs.iter().find(|(k, _)| *k == n).map(|(_, v)| (*v).to_owned())
    };
    assert_eq!(
        directories(vars(&[("HOME", "/h")])),
        ["/h/.local/share/applications", "/usr/local/share/applications", "/usr/share/applications"].map(PathBuf::from)
    );
    assert_eq!(
        directories(vars(&[("HOME", "/h"), ("XDG_DATA_HOME", "/d"), ("XDG_DATA_DIRS", "/s:rel:/s/")])),
        ["/d/applications", "/s/applications"].map(PathBuf::from)
    );
}

#[test]
fn the_more_important_directory_hides() {
    let t = tempfile::tempdir().unwrap();
    let (own, shared) = (t.path().join("own"), t.path().join("shared"));
    let write = |dir: &Path, name: &str, more: &str| {
        let path = dir.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, format!("[Desktop Entry]\nType=Application\nName={name}\n{more}")).unwrap();
    };
    write(&own, "gone.desktop", "Hidden=true\n");
    write(&own, "a.desktop", "Exec=own\n");
    write(&shared, "gone.desktop", "Exec=x\n");
    write(&shared, "a.desktop", "Exec=shared\n");
    write(&shared, "kde/b.desktop", "Exec=b\n");
    let found = all(&[own, shared]);
    assert_eq!(found.keys().collect::<Vec<_>>(), ["a", "kde-b"]);
    assert_eq!(found["a"].exec.as_deref(), Some("own"));
}
