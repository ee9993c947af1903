//! Instructions for agents, compiled in: always of the version of the program that carries them.

use crate::command::system::{Skills, SkillsOperation};
use crate::envelope::Answer;
use crate::error::{Error, Result, echo};
use serde_json::{Value, json};

/// One skill: its text, its references, the names it answers to.
struct Skill {
    name: &'static str,
    aliases: &'static [&'static str],
    text: &'static str,
    references: &'static [(&'static str, &'static str)],
}

const CATALOGUE: &[Skill] = &[
    Skill {
        name: "agent-desktop",
        aliases: &["desktop"],
        text: include_str!("../../../../skills/agent-desktop/SKILL.md"),
        references: &[
            ("observation", include_str!("../../../../skills/agent-desktop/references/observation.md")),
            ("interaction", include_str!("../../../../skills/agent-desktop/references/interaction.md")),
            ("hands", include_str!("../../../../skills/agent-desktop/references/hands.md")),
            ("system", include_str!("../../../../skills/agent-desktop/references/system.md")),
            ("workflows", include_str!("../../../../skills/agent-desktop/references/workflows.md")),
        ],
    },
    Skill {
        name: "agent-desktop-linux",
        aliases: &["linux"],
        text: include_str!("../../../../skills/agent-desktop-linux/SKILL.md"),
        references: &[],
    },
];

/// The alias of the skill about the operating system that the program runs on.
const PLATFORM: &str = "platform";

impl Skill {
    fn is_of_this_platform(&self) -> bool {
        self.name.strip_prefix("agent-desktop-") == Some(std::env::consts::OS)
    }

    fn answers_to(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name) || (name == PLATFORM && self.is_of_this_platform())
    }

    fn names(&self) -> Vec<&'static str> {
        let platform = self.is_of_this_platform().then_some(PLATFORM);
        self.aliases.iter().copied().chain(platform).collect()
    }

    fn summary(&self) -> &'static str {
        front_matter(self.text, "description").unwrap_or_default()
    }
}

/// A field of the front matter.
fn front_matter<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    let head = text.strip_prefix("---\n")?.split("\n---\n").next()?;
    head.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(": "))
}

/// `skills`.
pub fn answer(args: &Skills) -> Answer {
    match args.operation.unwrap_or_default() {
        SkillsOperation::List => Ok(list()),
        SkillsOperation::Path => Ok(json!({
            "location": "embedded",
            "note": "compiled into the program: read them with 'agent-desktop skills get NAME'",
            "available": CATALOGUE.iter().map(|s| s.name).collect::<Vec<_>>(),
        })),
        SkillsOperation::Get => get(args.name.as_deref().unwrap_or_default(), args.reference.as_deref(), args.full),
    }
}

fn list() -> Value {
    let skills: Vec<Value> = CATALOGUE
        .iter()
        .map(|skill| {
            json!({
                "name": skill.name,
                "aliases": skill.names(),
                "summary": skill.summary(),
                "references": skill.references.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
            })
        })
        .collect();
    json!({"skills": skills})
}

fn get(name: &str, reference: Option<&str>, full: bool) -> Result<Value> {
    let Some(skill) = CATALOGUE.iter().find(|skill| skill.answers_to(name)) else {
        let known: Vec<&str> = CATALOGUE.iter().flat_map(|s| std::iter::once(s.name).chain(s.names())).collect();
        return Err(Error::invalid(format!("there is no skill {}", echo(name)))
            .detail("known", known.clone())
            .suggest(format!("Skills: {}.", known.join(", "))));
    };
    if let Some(wanted) = reference {
        let Some((name, text)) = skill.references.iter().find(|(name, _)| *name == wanted) else {
            let known: Vec<&str> = skill.references.iter().map(|(name, _)| *name).collect();
            return Err(Error::invalid(format!("skill {} has no reference {}", skill.name, echo(wanted)))
                .detail("known", known.clone())
                .suggest(format!("References: {}.", known.join(", "))));
        };
        return Ok(json!({"skill": skill.name, "reference": name, "content": text}));
    }
    let mut content = skill.text.to_owned();
    if full {
        for (_, text) in skill.references {
            content.push('\n');
            content.push_str(text);
        }
    }
    Ok(json!({"skill": skill.name, "full": full, "content": content}))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Code;

    #[test]
    fn every_skill_has_front_matter_that_names_it() {
        for skill in CATALOGUE {
            assert_eq!(front_matter(skill.text, "name"), Some(skill.name));
            assert!(skill.summary().len() > 20, "{}", skill.name);
            for (name, text) in skill.references {
                assert!(text.starts_with("# "), "{name}");
                assert!(skill.text.contains(name), "{} mentions {name}", skill.name);
            }
        }
    }

    #[test]
    fn skills_answer_to_names_and_aliases() {
        for name in ["agent-desktop", "desktop", "agent-desktop-linux", "linux"] {
            assert!(get(name, None, false).is_ok(), "{name}");
        }
        assert_eq!(get("desktop", Some("workflows"), false).unwrap()["reference"], "workflows");
        let plain = get("desktop", None, false).unwrap();
        let full = get("desktop", None, true).unwrap();
        assert!(full["content"].as_str().unwrap().len() > plain["content"].as_str().unwrap().len());
    }

    #[test]
    fn unknown_names_list_the_known_ones() {
        for e in [get("nope", None, false).unwrap_err(), get("desktop", Some("nope"), false).unwrap_err()] {
            assert_eq!(e.code(), Code::InvalidArgs);
            assert!(!e.details()["known"].as_array().unwrap().is_empty());
        }
    }
}
