//! How executing a plan ended: what the last record says of it, and the program's exit code.

use std::process::ExitCode;

use dbdyno_stores::Trouble;

use crate::recorder::Totals;

/// How executing a plan ended.
#[derive(Debug)]
pub enum Outcome {
    Complete,
    /// By a signal, with what was counted until then.
    Interrupted(Box<Totals>),
    Failed(String),
    Refused(String),
}

impl Outcome {
    pub fn status(&self) -> &'static str {
        match self {
            Outcome::Complete => "complete",
            Outcome::Interrupted(_) => "interrupted",
            Outcome::Failed(_) => "failed",
            Outcome::Refused(_) => "refused",
        }
    }

    pub fn reason(&self) -> Option<&str> {
        match self {
            Outcome::Complete => None,
            Outcome::Interrupted(_) => Some("stopped by a signal"),
            Outcome::Failed(reason) | Outcome::Refused(reason) => Some(reason),
        }
    }

    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Outcome::Complete => 0,
            Outcome::Interrupted(_) | Outcome::Failed(_) => 1,
            Outcome::Refused(_) => 2,
        })
    }
}

impl From<Trouble> for Outcome {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Refused(reason) => Outcome::Refused(reason),
            Trouble::Failed(failure) => Outcome::Failed(failure.to_string()),
        }
    }
}
