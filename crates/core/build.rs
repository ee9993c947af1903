//! Gives `version` the target that the program was built for.

fn main() {
    let target = std::env::var("TARGET").unwrap_or_else(|_| "unknown".into());
    println!("cargo:rustc-env=AGENT_DESKTOP_TARGET={target}");
    println!("cargo:rerun-if-changed=build.rs");
}
