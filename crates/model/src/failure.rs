//! The failures of an operation: a closed table, so that every store's errors are counted alike.

/// Why an operation failed, in the store's own words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// No connection could be made.
    Connect(String),
    /// The connection was lost.
    Connection(String),
    /// No answer in time.
    Timeout(String),
    /// The store answered with an error.
    Server(String),
    /// The answer could not be understood.
    Protocol(String),
    /// A row that must exist was not found.
    Missing(String),
    /// A row differs from its generator.
    Mismatch(String),
    /// The store has no room left.
    Full(String),
    /// Another transaction was in the way, and this one may succeed when it is tried again: a deadlock, a lock waited for in vain, a
    /// failed serialization or certification.
    Conflict(String),
}

impl Failure {
    pub const KINDS: [&'static str; 9] =
        ["connect", "connection", "timeout", "server", "protocol", "missing", "mismatch", "full", "conflict"];

    /// The index of this failure's kind in [`Self::KINDS`].
    pub fn kind_index(&self) -> usize {
        match self {
            Failure::Connect(_) => 0,
            Failure::Connection(_) => 1,
            Failure::Timeout(_) => 2,
            Failure::Server(_) => 3,
            Failure::Protocol(_) => 4,
            Failure::Missing(_) => 5,
            Failure::Mismatch(_) => 6,
            Failure::Full(_) => 7,
            Failure::Conflict(_) => 8,
        }
    }

    pub fn kind(&self) -> &'static str {
        Self::KINDS[self.kind_index()]
    }

    pub fn message(&self) -> &str {
        match self {
            Failure::Connect(m)
            | Failure::Connection(m)
            | Failure::Timeout(m)
            | Failure::Server(m)
            | Failure::Protocol(m)
            | Failure::Missing(m)
            | Failure::Mismatch(m)
            | Failure::Full(m)
            | Failure::Conflict(m) => m,
        }
    }

    /// Returns whether the session that failed so can be used no more and must be opened anew.
    pub fn ends_session(&self) -> bool {
        matches!(self, Failure::Connect(_) | Failure::Connection(_) | Failure::Timeout(_) | Failure::Protocol(_))
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.kind(), self.message())
    }
}

impl std::error::Error for Failure {}

/// An operation failed and was recorded as such; the transaction is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failed;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_own_name() {
        let all: [fn(String) -> Failure; 9] = [
            Failure::Connect,
            Failure::Connection,
            Failure::Timeout,
            Failure::Server,
            Failure::Protocol,
            Failure::Missing,
            Failure::Mismatch,
            Failure::Full,
            Failure::Conflict,
        ];
        for (index, make) in all.iter().enumerate() {
            let failure = make("why".into());
            assert_eq!(failure.kind(), Failure::KINDS[index]);
            assert_eq!(failure.to_string(), format!("{}: why", Failure::KINDS[index]));
        }
    }
}
