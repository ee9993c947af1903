//! The office suite and the browsers, held against a raw walk without any cache.

mod common;

use agent_desktop_e2e::{App, Desk, cells, nodes, steady, wait_for};
use common::is_read_as_it_is;
use std::path::PathBuf;

/// A page of so many elements with a button before them.
fn page(desk: &Desk, name: &str, elements: usize) -> String {
    let mut html =
        format!("<!doctype html><title>{name}</title><h1>{name}</h1><button id=first>First {name}</button><ul>");
    for i in 0..elements / 4 {
        html += &format!("<li>Row {i} of {name} <button id=b{i}>Button {i}</button></li>");
    }
    html += "</ul>";
    let path = desk.dir.path().join(format!("{name}.html"));
    std::fs::write(&path, html).expect("the page is written");
    format!("file://{}", path.display())
}

/// A new profile that asks nothing.
fn profile(desk: &Desk, name: &str) -> PathBuf {
    let path = desk.dir.path().join(name);
    std::fs::create_dir(&path).expect("a profile");
    let prefs = [
        ("browser.aboutwelcome.enabled", "false"),
        ("browser.shell.checkDefaultBrowser", "false"),
        ("browser.startup.homepage_override.mstone", "\"ignore\""),
        ("browser.startup.page", "0"),
        ("datareporting.policy.dataSubmissionEnabled", "false"),
        ("datareporting.policy.dataSubmissionPolicyBypassNotification", "true"),
        ("trailhead.firstrun.didSeeAboutWelcome", "true"),
        ("termsofuse.bypassNotification", "true"),
        ("browser.preonboarding.enabled", "false"),
        ("app.normandy.enabled", "false"),
        ("app.update.enabled", "false"),
        ("network.captive-portal-service.enabled", "false"),
        ("network.connectivity-service.enabled", "false"),
        ("services.settings.server", "\"http://127.0.0.1:9/\""),
    ];
    let lines: String = prefs.iter().map(|(name, value)| format!("user_pref(\"{name}\", {value});\n")).collect();
    std::fs::write(path.join("user.js"), lines).expect("preferences");
    path
}

fn firefox(desk: &Desk, urls: &[&str]) -> App {
    let profile = profile(desk, "firefox");
    let mut argv = vec!["firefox-esr", "--no-remote", "--profile", profile.to_str().expect("UTF-8")];
    argv.extend(urls);
    desk.launch(&argv, 60)
}

fn chromium(desk: &Desk, more: &[&str], urls: &[&str], at_least: usize) -> App {
    let profile = desk.dir.path().join("chromium");
    let dir = format!("--user-data-dir={}", profile.display());
    let mut argv = vec![
        "chromium",
        "--no-sandbox",
        "--no-first-run",
        "--disable-gpu",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--no-default-browser-check",
        "--password-store=basic",
        &dir,
    ];
    argv.extend(more);
    argv.extend(urls);
    desk.launch(&argv, at_least)
}

fn office(desk: &Desk, what: &str, at_least: usize) -> App {
    desk.launch(&["soffice", "--norestore", "--nologo", "--nofirststartwizard", what], at_least)
}

#[test]
fn libreoffice_writer_is_read_as_it_is() {
    let desk = Desk::new();
    let app = office(&desk, "--writer", 1000);
    is_read_as_it_is(&desk, &app, "soffice", 1000);
}

#[test]
fn libreoffice_calc_is_read_as_it_is() {
    let desk = Desk::new();
    let app = office(&desk, "--calc", 500);
    is_read_as_it_is(&desk, &app, "soffice", 500);
    // Cells are made when they are asked for and forgotten within a minute: a fresh ref answers.
    let data = desk.ok(&["snapshot", "--app", "soffice", "--max-depth", "50", "--timeout-ms", "60000"]);
    let cells = cells(&data["tree"]);
    assert!(cells.len() > 100, "{} cells", cells.len());
    let first = cells.iter().find_map(|c| c["ref_id"].as_str()).expect("a ref of a cell");
    assert_eq!(desk.ok(&["get", first, "--property", "role"])["value"], "cell");
}

#[test]
fn firefox_is_read_as_it_is() {
    let desk = Desk::new();
    let url = page(&desk, "Firefox", 200);
    let app = firefox(&desk, &[&url]);
    wait_for_name(&desk, "firefox-esr", "button", "First Firefox");
    is_read_as_it_is(&desk, &app, "firefox-esr", 200);
}

#[test]
fn chromium_is_read_as_it_is() {
    let desk = Desk::new();
    let url = page(&desk, "Chromium", 2000);
    let app = chromium(&desk, &["--force-renderer-accessibility"], &[&url], 2000);
    is_read_as_it_is(&desk, &app, "chromium", 2000);
}

/// A browser whose pages publish nothing is never shown as an empty one.
#[test]
fn empty_tree_unexplained() {
    let desk = Desk::new();
    let url = page(&desk, "Silent", 100);
    let app = chromium(&desk, &[], &[&url], 2);
    let (_, data) = steady(&desk, app.pid(), "chromium", &[]);
    assert_eq!(data["complete"], false, "{data}");
    assert_eq!(data["details"]["kind"], "renderer_accessibility_activation_required");
    let error = desk.err(&["find", "--app", "chromium", "--role", "button", "--name", "First Silent"]);
    assert_ne!(error["code"], "ELEMENT_NOT_FOUND", "{error}");
    assert!(error.to_string().contains("renderer_accessibility_activation_required"), "{error}");
}

/// What stands in background tabs takes no time from the tab in front, and is marked.
#[test]
fn budget_on_background_tabs() {
    let desk = Desk::new();
    let (behind, front) = (page(&desk, "Behind", 8000), page(&desk, "Front", 40));
    let _app = firefox(&desk, &[&behind, &front]);
    wait_for_name(&desk, "firefox-esr", "tab", "Front");
    // The tab that was named first is in front.
    let tabs = desk.ok(&["find", "--app", "firefox-esr", "--role", "tab", "--name", "Front"]);
    let tab = tabs["matches"][0]["ref_id"].as_str().expect("a ref of the tab").to_owned();
    wait_for_name(&desk, "firefox-esr", "button", "First Behind");
    desk.ok(&["click", &tab]);
    wait_for_name(&desk, "firefox-esr", "button", "First Front");
    let data = desk.ok(&["snapshot", "--app", "firefox-esr", "--max-depth", "50"]);
    assert_eq!(data["complete"], true, "within the default budget");
    let shown = |text: &str| {
        let hidden = |n: &serde_json::Value| n["states"].as_array().is_some_and(|s| s.iter().any(|s| s == "hidden"));
        nodes(&data["tree"]).into_iter().filter(|n| n["name"] == text && n["role"] == "button" && !hidden(n)).count()
    };
    assert_eq!(shown("First Front"), 1);
    assert_eq!(shown("First Behind"), 0, "a background tab's controls are hidden");
    assert_eq!(shown("Button 3"), 1);
}

fn wait_for_name(desk: &Desk, app: &str, role: &str, name: &str) {
    wait_for(&format!("{role} {name:?} of {app}"), || {
        let reply = desk.cli(&["find", "--app", app, "--role", role, "--name", name, "--timeout-ms", "20000"]);
        let envelope = reply.envelope();
        envelope["data"]["matches"].as_array().is_some_and(|m| !m.is_empty()).then_some(())
    });
}
