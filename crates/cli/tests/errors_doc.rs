//! docs/errors.md lists every `details.kind` that the code can produce, and nothing else.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn sources(dir: &Path, out: &mut Vec<PathBuf>) {
    for entry in dir.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
}

/// The kinds of one source, and calls whose kind is no literal: those could produce what nobody listed.
fn kinds(source: &str) -> (BTreeSet<String>, Vec<String>) {
    // The kinds of tests are those of the code that they test.
    let code = source.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let (mut found, mut hidden) = (BTreeSet::new(), Vec::new());
    let mut rest = code;
    while let Some(at) = rest.find(".kind(") {
        rest = rest[at + ".kind(".len()..].trim_start();
        if rest.starts_with(')') {
            // `io::Error::kind()` and the like.
            continue;
        }
        match rest.strip_prefix('"').and_then(|r| r.split_once('"')) {
            Some((kind, _)) => drop(found.insert(kind.to_owned())),
            None => hidden.push(rest.chars().take(40).collect()),
        }
    }
    // Facts about a whole tree travel as `kind` of the raw tree and end in the same place.
    for line in code.lines() {
        if let Some((before, after)) = line.split_once("then_some(\"")
            && before.trim_start().starts_with("kind:")
        {
            found.extend(after.split('"').next().map(str::to_owned));
        }
    }
    (found, hidden)
}

/// The first column of the tables below the heading "details.kind".
fn listed(document: &str) -> BTreeSet<String> {
    let part = document.split("\n## `details.kind`").nth(1).unwrap_or_default();
    let part = part.split("\n## ").next().unwrap_or_default();
    part.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`')).map(|(kind, _)| kind.to_owned()).collect()
}

#[test]
fn every_kind_is_documented_and_every_documented_kind_exists() {
    let mut files = Vec::new();
    for crate_dir in root().join("crates").read_dir().unwrap() {
        sources(&crate_dir.unwrap().path().join("src"), &mut files);
    }
    let (mut found, mut hidden) = (BTreeSet::new(), Vec::new());
    for file in &files {
        let (kinds, open) = kinds(&std::fs::read_to_string(file).unwrap());
        found.extend(kinds);
        hidden.extend(open.into_iter().map(|call| format!("{}: .kind({call}", file.display())));
    }
    assert!(hidden.is_empty(), "give .kind() a literal, so that it can be listed: {hidden:#?}");
    assert!(found.len() > 50, "only {} kinds found in {} files: the search is broken", found.len(), files.len());
    let listed = listed(&std::fs::read_to_string(root().join("docs/errors.md")).unwrap());
    let missing: Vec<_> = found.difference(&listed).collect();
    let stale: Vec<_> = listed.difference(&found).collect();
    assert!(missing.is_empty() && stale.is_empty(), "not in docs/errors.md: {missing:?}; not in the code: {stale:?}");
}

#[test]
fn the_search_catches_what_it_must() {
    let source = "a.kind(\"one\")\n .kind(\n  \"two\")\n e.kind()\n kind: bad.then_some(\"three\"),\n x.kind(word)\n\
                  #[cfg(test)]\nmod tests {\n .kind(\"four\") }";
    let (found, hidden) = kinds(source);
    assert_eq!(found.into_iter().collect::<Vec<_>>(), ["one", "three", "two"]);
    assert_eq!(hidden.len(), 1);
    assert!(kinds("nothing").0.is_empty());
    let document = "# x\n| `no` | |\n## `details.kind`\n| kind | |\n|---|---|\n| `yes` | x |\n## Next\n| `no2` | |\n";
    assert_eq!(listed(document).into_iter().collect::<Vec<_>>(), ["yes"]);
}
