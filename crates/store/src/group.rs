//! Requests that share one durable commit, and their answers.

use std::ops::RangeInclusive;

use tokio::sync::{OwnedSemaphorePermit, oneshot};

use crate::{Op, Record, Revision, WriteError};

/// A group is closed at this many changes or bytes, to keep latency and memory in bounds.
const MAX_OPS: usize = 1024;
const MAX_BYTES: usize = 8 << 20;

type Reply<T> = oneshot::Sender<Result<T, WriteError>>;

/// What callers ask of the writer.
pub(crate) enum Request {
    Commit {
        ops: Vec<Op>,
        reply: Reply<Vec<Revision>>,
        /// The place in the queue, free again when the transaction is answered.
        place: OwnedSemaphorePermit,
    },
    Compact {
        to: u64,
        reply: Reply<()>,
    },
    Close {
        reply: oneshot::Sender<()>,
    },
}

/// What became of one transaction.
pub(crate) enum Outcome {
    /// All changes are in, with these revisions.
    Applied(RangeInclusive<u64>),
    /// Nothing happened: this change expected something else.
    Mismatch {
        index: usize,
        current: Option<Record>,
    },
}

struct Transaction {
    ops: Vec<Op>,
    reply: Reply<Vec<Revision>>,
    _place: OwnedSemaphorePermit,
}

/// Requests that are served together.
#[derive(Default)]
pub(crate) struct Group {
    transactions: Vec<Transaction>,
    compactions: Vec<Reply<()>>,
    /// The highest revision to compact to.
    pub(crate) compact_to: Option<u64>,
    /// Somebody wants the store closed after this group.
    pub(crate) close: Option<oneshot::Sender<()>>,
    ops: usize,
    bytes: usize,
}

impl Group {
    pub(crate) fn add(&mut self, request: Request) {
        match request {
            Request::Commit { ops, reply, place } => {
                self.ops += ops.len();
                self.bytes += ops.iter().map(Op::size).sum::<usize>();
                self.transactions.push(Transaction {
                    ops,
                    reply,
                    _place: place,
                });
            }
            Request::Compact { to, reply } => {
                self.compact_to = self.compact_to.max(Some(to));
                self.compactions.push(reply);
            }
            Request::Close { reply } => self.close = Some(reply),
        }
    }

    /// A group that does nothing but compact.
    pub(crate) fn compaction(to: u64) -> Self {
        Self {
            compact_to: Some(to),
            ..Self::default()
        }
    }

    /// Whether the next request has to wait for the next group.
    pub(crate) fn is_full(&self) -> bool {
        self.close.is_some() || self.ops >= MAX_OPS || self.bytes >= MAX_BYTES
    }

    /// How many transactions there are.
    pub(crate) fn len(&self) -> usize {
        self.transactions.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.transactions.is_empty() && self.compactions.is_empty()
    }

    /// The transactions in the order they came.
    pub(crate) fn transactions(&self) -> impl Iterator<Item = &[Op]> {
        self.transactions
            .iter()
            .map(|transaction| &transaction.ops[..])
    }

    /// Tells everybody. A caller that no longer waits is fine.
    pub(crate) fn answer(self, result: Result<Vec<Outcome>, WriteError>) {
        match result {
            Ok(outcomes) => {
                for (transaction, outcome) in self.transactions.into_iter().zip(outcomes) {
                    let _gone = transaction.reply.send(outcome.into());
                }
                for reply in self.compactions {
                    let _gone = reply.send(Ok(()));
                }
            }
            Err(error) => {
                for transaction in self.transactions {
                    let _gone = transaction.reply.send(Err(error.clone()));
                }
                for reply in self.compactions {
                    let _gone = reply.send(Err(error.clone()));
                }
            }
        }
    }
}

impl From<Outcome> for Result<Vec<Revision>, WriteError> {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Applied(revisions) => Ok(revisions.map(Revision).collect()),
            Outcome::Mismatch { index, current } => Err(WriteError::Mismatch { index, current }),
        }
    }
}
