//! Small values that several commands take. Command lines and JSON carry them as text; the rules stand here.

use crate::error::{Error, Result, echo};
use crate::geometry::{Point, Rect};
use crate::refs::id::RefId;
pub use crate::vocab::key::Modifier;
use clap::ValueEnum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::convert::Infallible;
use std::str::FromStr;

macro_rules! text_value {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl FromStr for $name {
            type Err = Infallible;

            fn from_str(text: &str) -> std::result::Result<Self, Infallible> {
                Ok(Self(text.to_owned()))
            }
        }
    };
}

text_value! {
    /// A qualified ref: `@<snapshot_id>:eN`.
    RefArg
}

impl RefArg {
    /// The snapshot and number, or `INVALID_ARGS`.
    pub fn parse(&self) -> Result<RefId> {
        RefId::parse(&self.0)
    }
}

text_value! {
    /// A half-open range, from 0: `a..b` has a, but not b.
    RangeArg
}

impl RangeArg {
    /// The range: two whole numbers, the second at least the first.
    pub fn parse(&self) -> Result<std::ops::Range<u64>> {
        let wrong =
            || Error::invalid(format!("{} is not a range: expected a..b like 0..50, from 0, without b", echo(&self.0)));
        let (from, to) = self.0.split_once("..").ok_or_else(wrong)?;
        let number = |text: &str| -> Result<u64> {
            let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
            text.parse().ok().filter(|n| digits && *n <= MAX_RANGE).ok_or_else(wrong)
        };
        let range = number(from)?..number(to)?;
        if range.start > range.end { Err(wrong()) } else { Ok(range) }
    }
}

/// Ranges beyond this are refused: no accessibility interface counts further.
pub const MAX_RANGE: u64 = i32::MAX as u64;

text_value! {
    /// A cell as spreadsheets name it: letters for the column, a number from 1 for the row, like `B7`.
    CellArg
}

impl CellArg {
    /// Row and column, both from 0.
    pub fn parse(&self) -> Result<(u64, u64)> {
        let wrong =
            || Error::invalid(format!("{} is not a cell: expected letters and a number like B7", echo(&self.0)));
        let letters = self.0.bytes().take_while(u8::is_ascii_alphabetic).count();
        let (column, row) = self.0.split_at(letters);
        if !(1..=6).contains(&letters) || row.is_empty() || !row.bytes().all(|b| b.is_ascii_digit()) {
            return Err(wrong());
        }
        let column = column.bytes().fold(0u64, |n, b| n * 26 + u64::from(b.to_ascii_uppercase() - b'A') + 1) - 1;
        let row: u64 = row.parse().ok().filter(|n| (1..=MAX_RANGE).contains(n)).ok_or_else(wrong)?;
        if column > MAX_RANGE { Err(wrong()) } else { Ok((row - 1, column)) }
    }
}

text_value! {
    /// A point on the screen: `x,y`.
    XyArg
}

text_value! {
    /// A rectangle on the screen: `x,y,width,height`.
    RectArg
}

impl RectArg {
    /// The rectangle: four finite numbers, the sizes at least one pixel.
    pub fn parse(&self) -> Result<Rect> {
        let wrong = || {
            Error::invalid(format!("{} is not a rectangle: expected x,y,width,height like 0,0,640,480", echo(&self.0)))
        };
        let numbers = self.0.split(',').map(|text| {
            let value: f64 = text.trim().parse().map_err(|_| wrong())?;
            coordinate("coordinate", value)
        });
        match numbers.collect::<Result<Vec<f64>>>()?[..] {
            [x, y, width, height] if width >= 1.0 && height >= 1.0 => Ok(Rect { x, y, width, height }),
            _ => Err(wrong()),
        }
    }
}

/// Coordinates beyond this are refused.
pub const MAX_COORDINATE: f64 = 10_000_000.0;

impl XyArg {
    /// The point: two finite numbers and exactly one comma.
    pub fn parse(&self) -> Result<Point> {
        let wrong = || Error::invalid(format!("{} is not a point: expected x,y like 640,360", echo(&self.0)));
        let (x, y) = self.0.split_once(',').ok_or_else(wrong)?;
        let number = |text: &str| -> Result<f64> {
            let value: f64 = text.trim().parse().map_err(|_| wrong())?;
            coordinate("coordinate", value)
        };
        Ok(Point { x: number(x)?, y: number(y)? })
    }
}

/// A finite number that can be a coordinate, a distance or a size.
pub fn coordinate(what: &str, value: f64) -> Result<f64> {
    if value.is_finite() && value.abs() <= MAX_COORDINATE {
        return Ok(value);
    }
    Err(Error::invalid(format!("{what} must be a finite number of at most {MAX_COORDINATE} either way")))
}

/// A finite number that can be the width or height of something that is there.
pub fn extent(what: &str, value: f64) -> Result<f64> {
    if coordinate(what, value)? >= 1.0 {
        return Ok(value);
    }
    Err(Error::invalid(format!("{what} must be 1 or more")))
}

/// Modifier keys by name, each at most once. One text may name several with '+' between, as combinations do.
pub fn modifiers(names: &[String]) -> Result<Vec<Modifier>> {
    let mut out = Vec::new();
    for name in names.iter().flat_map(|text| text.split('+')).map(str::trim) {
        let Some(key) = Modifier::from_name(name) else {
            return Err(Error::invalid(format!(
                "{} is not a modifier: expected shift, ctrl, alt or meta, several as ctrl+shift or ctrl,shift",
                echo(name)
            )));
        };
        if out.contains(&key) {
            return Err(Error::invalid(format!("modifier {} is given twice", echo(name))));
        }
        out.push(key);
    }
    Ok(out)
}

/// How an answer is printed on the command line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// The JSON envelope.
    #[default]
    Json,
    /// An indented outline; errors stay JSON.
    Text,
}

/// A mouse button.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum Button {
    #[default]
    Left,
    Right,
    Middle,
}

/// Refuses blank text where a name, title or id is asked for.
pub fn not_blank(flag: &str, value: Option<&String>) -> Result<()> {
    match value {
        Some(text) if text.trim().is_empty() => Err(Error::invalid(format!("{flag} must not be blank"))),
        Some(text) if text.contains('\0') => Err(Error::invalid(format!("{flag} must not contain NUL"))),
        _ => Ok(()),
    }
}

/// Refuses more than one of several modes; the error names those that were given.
pub fn at_most_one(given: &[(&str, bool)]) -> Result<()> {
    let set: Vec<&str> = given.iter().filter(|(_, on)| *on).map(|(flag, _)| *flag).collect();
    if set.len() > 1 {
        return Err(Error::invalid(format!("{} exclude each other", set.join(" and "))));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_half_open_and_cells_count_from_one() {
        assert_eq!(RangeArg("0..50".into()).parse().unwrap(), 0..50);
        assert_eq!(RangeArg("7..7".into()).parse().unwrap(), 7..7);
        for bad in ["", "5", "..", "1..", "..2", "3..2", "-1..2", "1...2", "1..=2", "+1..2", "1..99999999999"] {
            assert!(RangeArg(bad.into()).parse().is_err(), "{bad}");
        }
        assert_eq!(CellArg("B7".into()).parse().unwrap(), (6, 1));
        assert_eq!(CellArg("aa1".into()).parse().unwrap(), (0, 26));
        for bad in ["", "B", "7", "B0", "7B", "B-1", "B7C", "ÄB1", "AAAAAAA1", "B99999999999"] {
            assert!(CellArg(bad.into()).parse().is_err(), "{bad}");
        }
    }

    #[test]
    fn points_have_one_comma_and_finite_numbers() {
        assert_eq!(XyArg("-100,50.5".into()).parse().unwrap(), Point { x: -100.0, y: 50.5 });
        for bad in ["", "1", "1,2,3", "a,b", "nan,1", "inf,1", "1,10000001", ",", "1;2"] {
            assert!(XyArg(bad.into()).parse().is_err(), "{bad}");
        }
    }

    #[test]
    fn modifiers_have_aliases_and_no_doubles() {
        let names = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
        assert_eq!(modifiers(&names(&["Cmd", "option"])).unwrap(), [Modifier::Meta, Modifier::Alt]);
        assert_eq!(
            modifiers(&names(&["ctrl+shift", "alt"])).unwrap(),
            [Modifier::Ctrl, Modifier::Shift, Modifier::Alt]
        );
        for bad in [&["ctrl+"][..], &["+"], &["ctrl+ctrl"], &["ctrl+shift", "shift"]] {
            assert!(modifiers(&names(bad)).is_err(), "{bad:?}");
        }
        assert!(modifiers(&names(&["ctrl", "control"])).is_err());
        assert!(modifiers(&names(&["hyper"])).is_err());
    }
}
