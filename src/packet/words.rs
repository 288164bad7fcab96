//! Options that are one word of a set (spec P8).

use serde::{Serialize, Serializer};

/// An enum whose variants are words.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)+
        }

        impl $name {
            /// Every word and what it stands for.
            pub const WORDS: &'static [(&'static str, Self)] = &[$(($word, Self::$variant),)+];

            /// The word.
            #[must_use]
            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.word())
            }
        }
    };
}

words! {
    /// What a provider may do without asking.
    PermissionMode {
        /// What the provider does by itself.
        #[default] Default = "default",
        /// Edits are not asked about.
        Auto = "auto",
        /// Nothing is asked about.
        Bypass = "bypass",
        /// Nothing is changed.
        Plan = "plan",
    }
}

impl PermissionMode {
    /// The mode that a word names, in the spellings of other programs too (spec P8).
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        let word = word.to_ascii_lowercase().replace('-', "_");
        match word.as_str() {
            "full_auto" | "accept_edits" | "delegate" | "dont_ask" | "auto_edit" => {
                Some(Self::Auto)
            }
            "dangerously_skip_permissions"
            | "bypass_permissions"
            | "yolo"
            | "dangerously_allow_all" => Some(Self::Bypass),
            _ => Self::WORDS
                .iter()
                .find(|(known, _)| *known == word)
                .map(|(_, mode)| *mode),
        }
    }
}

words! {
    /// What happens where a provider's model is not the configured one (spec P139).
    CliConfirmation {
        /// Nothing.
        Off = "off",
        /// A warning.
        #[default] Warn = "warn",
        /// The session fails.
        Require = "require",
    }
}

words! {
    /// How a run is shown on the terminal.
    LogMode {
        /// A line for each thing that matters.
        #[default] Compact = "compact",
        /// Everything.
        Verbose = "verbose",
        /// As `compact`.
        Studio = "studio",
    }
}

words! {
    /// Whether a provider's standard error is shown with a failure.
    LogMeta {
        /// It is not.
        #[default] None = "none",
        /// It is.
        Full = "full",
    }
}

words! {
    /// How provider events are written (spec P116).
    EventsMode {
        /// In short codes.
        #[default] Compact = "compact",
        /// In full.
        Full = "full",
        /// Not at all.
        Off = "off",
    }
}

words! {
    /// How much of a tool's output the terminal shows.
    ToolOutput {
        /// Its size.
        #[default] Summary = "summary",
        /// Its beginning.
        Preview = "preview",
        /// All of it.
        Full = "full",
    }
}

words! {
    /// Whether a provider's reasoning is shown.
    Thinking {
        /// It is.
        #[default] Show = "show",
        /// It is not.
        Hide = "hide",
    }
}

words! {
    /// How changes would be shown; has no effect.
    Diff {
        /// Not at all.
        None = "none",
        /// As numbers.
        #[default] Stat = "stat",
        /// In full.
        Full = "full",
    }
}

words! {
    /// What a failed prompt means for the rest of a run (spec P30).
    FailurePolicy {
        /// It ends the run.
        #[default] FailFast = "fail_fast",
        /// The prompts that do not depend on it still run.
        ContinueIndependent = "continue_independent",
    }
}

words! {
    /// A provider that is built in (spec P8).
    ProviderKind {
        /// Plays a script.
        #[default] Simulated = "simulated",
        /// Runs a program.
        Command = "command",
        /// Runs the prompt as a program of this language.
        Runvil = "runvil",
        /// Talks to a model.
        Model = "model",
    }
}
