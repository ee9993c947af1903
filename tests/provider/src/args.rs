//! Command line.

use std::path::PathBuf;

/// Parsed command line.
#[derive(Debug)]
pub struct Args {
    /// Scenario file.
    pub scenario: PathBuf,
    /// Log file.
    pub log: PathBuf,
    /// Control socket.
    pub control: Option<PathBuf>,
    /// Keep running when stdin ends.
    pub ignore_stdin: bool,
    /// Only read the scenario.
    pub check: bool,
}

/// What `--help` prints.
pub const USAGE: &str = "scripted-provider --scenario FILE.json --log FILE [--control SOCKET] [--ignore-stdin]
scripted-provider --check --scenario FILE.json";

impl Args {
    /// Reads the arguments after the program name.
    pub fn parse(arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut arguments = arguments;
        let (mut scenario, mut log, mut control) = (None, None, None);
        let (mut ignore_stdin, mut check) = (false, false);
        while let Some(argument) = arguments.next() {
            let slot = match argument.as_str() {
                "--scenario" => &mut scenario,
                "--log" => &mut log,
                "--control" => &mut control,
                "--ignore-stdin" => {
                    ignore_stdin = true;
                    continue;
                }
                "--check" => {
                    check = true;
                    continue;
                }
                _ => return Err(format!("unexpected argument {argument:?}\n{USAGE}")),
            };
            let value = arguments.next().ok_or_else(|| format!("{argument} needs a value\n{USAGE}"))?;
            *slot = Some(PathBuf::from(value));
        }
        let log = match (log, check) {
            (Some(log), _) => log,
            (None, true) => PathBuf::new(),
            (None, false) => return Err(format!("--log is missing\n{USAGE}")),
        };
        Ok(Self {
            scenario: scenario.ok_or_else(|| format!("--scenario is missing\n{USAGE}"))?,
            log,
            control,
            ignore_stdin,
            check,
        })
    }
}
