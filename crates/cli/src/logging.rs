//! Logs: on standard error, without colours.

use tracing::Level;
use tracing_subscriber::EnvFilter;

/// Installs the log: warnings, with `-v` everything down to debug; a filter in `RUST_LOG` wins.
pub fn install(verbose: bool) {
    let level = if verbose { Level::DEBUG } else { Level::WARN };
    let log = tracing_subscriber::fmt().with_writer(std::io::stderr).with_ansi(false).with_target(verbose);
    // The filter is parsed only where one is given: every call of the program pays for what is done here.
    match std::env::var("RUST_LOG").ok().filter(|f| !f.is_empty()).and_then(|f| EnvFilter::try_new(f).ok()) {
        Some(filter) => {
            let _ = log.with_env_filter(filter).try_init();
        }
        None => {
            let _ = log.with_max_level(level).try_init();
        }
    }
}
