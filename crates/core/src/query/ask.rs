//! What `find` is asked: clauses as the caller wrote them, and the query made of them (spec 2 §2).

use super::fold::{Pattern, loose, strict};
use crate::error::{Error, Result, echo};
use crate::vocab::role::Role;
use crate::vocab::state::State;

/// Clauses at most.
pub const MAX_CLAUSES: usize = 64;

/// Bytes of one clause at most.
pub const MAX_FIELD: usize = 4_096;

/// Bytes of all clauses at most.
pub const MAX_TOTAL: usize = 65_536;

/// Clauses as a caller wrote them. An element must satisfy all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ask<'a> {
    /// `--role`: a token or an alias.
    pub role: Option<&'a str>,
    /// `--name`.
    pub name: Option<&'a str>,
    /// `--value`.
    pub value: Option<&'a str>,
    /// `--text`: over name, value and description.
    pub text: Option<&'a str>,
    /// `--description`.
    pub description: Option<&'a str>,
    /// `--native-id`: always equality, with case.
    pub native_id: Option<&'a str>,
    /// `--exact`: equality without case instead of a substring.
    pub exact: bool,
    /// `--state TOKEN[=BOOL]`.
    pub states: Vec<&'a str>,
}

/// A state that an element must have, or must not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateClause {
    /// The state.
    pub state: State,
    /// Whether the element must have it. `enabled` is the absence of `disabled`.
    pub wanted: bool,
}

/// A query that was accepted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// The role.
    pub role: Option<Role>,
    /// The name.
    pub name: Option<Pattern>,
    /// The value; a secure field's never matches.
    pub value: Option<Pattern>,
    /// Name, value or description.
    pub text: Option<Pattern>,
    /// The description.
    pub description: Option<Pattern>,
    /// The native id's value.
    pub native_id: Option<String>,
    /// The states.
    pub states: Vec<StateClause>,
}

impl Ask<'_> {
    /// Checks the clauses. What can't be understood is refused and never ignored: a query with a dropped clause would
    /// match elements that nobody asked for.
    pub fn query(&self) -> Result<Query> {
        let texts = [
            ("role", self.role),
            ("name", self.name),
            ("value", self.value),
            ("text", self.text),
            ("description", self.description),
            ("native-id", self.native_id),
        ];
        let given: Vec<(&str, &str)> = texts
            .iter()
            .filter_map(|(field, text)| text.map(|t| (*field, t)))
            .chain(self.states.iter().map(|s| ("state", *s)))
            .collect();
        if given.len() > MAX_CLAUSES {
            return Err(Error::invalid(format!("{} clauses; at most {MAX_CLAUSES} are taken", given.len())));
        }
        if let Some((field, text)) = given.iter().find(|(_, t)| t.len() > MAX_FIELD) {
            return Err(Error::invalid(format!("{field} has {} bytes; at most {MAX_FIELD} are taken", text.len())));
        }
        let total: usize = given.iter().map(|(_, t)| t.len()).sum();
        if total > MAX_TOTAL {
            return Err(Error::invalid(format!("the query has {total} bytes; at most {MAX_TOTAL} are taken")));
        }
        // Blank text is contained in everything: a caller whose variable was empty would get any element.
        if let Some((field, _)) = given.iter().find(|(_, t)| loose(t).is_empty() || strict(t).is_empty()) {
            return Err(
                Error::invalid(format!("{field} is blank")).suggest("Leave the option out to match any element.")
            );
        }
        let pattern = |text: Option<&str>| text.map(|t| Pattern::new(t, self.exact));
        Ok(Query {
            role: self.role.map(role).transpose()?,
            name: pattern(self.name),
            value: pattern(self.value),
            text: pattern(self.text),
            description: pattern(self.description),
            native_id: self.native_id.map(str::to_owned),
            states: self.states.iter().map(|s| state(s)).collect::<Result<_>>()?,
        })
    }
}

/// A role or an alias; anything else is refused (spec 1 §3 "fails closed").
pub fn role(text: &str) -> Result<Role> {
    Role::from_query(text).ok_or_else(|| {
        let known: Vec<&str> = Role::ALL.iter().map(|r| r.token()).collect();
        Error::invalid(format!("{} is not a role", echo(text)))
            .kind("unknown_role")
            .suggest(format!("Roles: {}.", known.join(", ")))
    })
}

/// `TOKEN[=BOOL]`: one of the 17 states or `enabled`; without a value, `true`.
pub fn state(text: &str) -> Result<StateClause> {
    let (token, wanted) = match text.split_once('=') {
        None => (text, true),
        Some((token, value)) if value.trim().eq_ignore_ascii_case("true") => (token, true),
        Some((token, value)) if value.trim().eq_ignore_ascii_case("false") => (token, false),
        Some(_) => {
            return Err(Error::invalid(format!("{}: expected STATE, STATE=true or STATE=false", echo(text))));
        }
    };
    let token = token.trim().to_ascii_lowercase();
    if token == "enabled" {
        return Ok(StateClause { state: State::Disabled, wanted: !wanted });
    }
    let state = State::from_token(&token).ok_or_else(|| {
        let known: Vec<&str> = State::ALL.iter().map(|s| s.token()).collect();
        Error::invalid(format!("{} is not a state", echo(&token)))
            .kind("unknown_state")
            .suggest(format!("States: enabled, {}.", known.join(", ")))
    })?;
    Ok(StateClause { state, wanted })
}
