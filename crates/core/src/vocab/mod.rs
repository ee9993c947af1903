//! The closed vocabularies of the contract (spec 1 §3, §9).

pub mod capability;
pub mod key;
pub mod native_id;
pub mod role;
pub mod state;
pub mod surface;

/// Declares a closed vocabulary: the enum, its tokens, parsing and serialisation.
macro_rules! vocabulary {
    ($(#[$meta:meta])* $name:ident { $($(#[$vmeta:meta])* $variant:ident = $token:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $($(#[$vmeta])* #[doc = concat!("`", $token, "`")] $variant),+ }

        impl $name {
            /// All members in the order of the contract.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];

            /// The token of the contract.
            pub const fn token(self) -> &'static str {
                match self { $($name::$variant => $token),+ }
            }

            /// The member with exactly this token.
            pub fn from_token(token: &str) -> Option<Self> {
                match token { $($token => Some($name::$variant),)+ _ => None }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.token())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.serialize_str(self.token())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                let token = <std::borrow::Cow<'de, str> as serde::Deserialize>::deserialize(d)?;
                $name::from_token(&token).ok_or_else(|| serde::de::Error::custom("not a token of the vocabulary"))
            }
        }
    };
}
pub(crate) use vocabulary;

/// Declares a set over a vocabulary, kept in the vocabulary's order.
macro_rules! vocabulary_set {
    ($(#[$meta:meta])* $name:ident of $member:ident as $repr:ty) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct $name($repr);

        impl $name {
            /// The empty set.
            pub const EMPTY: Self = Self(0);

            /// Adds a member.
            pub fn insert(&mut self, m: $member) {
                self.0 |= 1 << (m as u32);
            }

            /// Removes a member.
            pub fn remove(&mut self, m: $member) {
                self.0 &= !(1 << (m as u32));
            }

            /// The set with the member added.
            #[must_use]
            pub fn with(mut self, m: $member) -> Self {
                self.insert(m);
                self
            }

            /// Whether the member is in the set.
            pub fn has(self, m: $member) -> bool {
                self.0 & (1 << (m as u32)) != 0
            }

            /// Whether the set has no member.
            pub fn is_empty(self) -> bool {
                self.0 == 0
            }

            /// The members in the vocabulary's order.
            pub fn iter(self) -> impl Iterator<Item = $member> {
                $member::ALL.iter().copied().filter(move |m| self.has(*m))
            }
        }

        impl FromIterator<$member> for $name {
            fn from_iter<I: IntoIterator<Item = $member>>(iter: I) -> Self {
                let mut set = Self::EMPTY;
                for m in iter { set.insert(m); }
                set
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.collect_seq(self.iter())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                Ok(<Vec<$member> as serde::Deserialize>::deserialize(d)?.into_iter().collect())
            }
        }
    };
}
pub(crate) use vocabulary_set;
