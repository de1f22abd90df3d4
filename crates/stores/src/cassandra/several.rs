//! Several requests sent together, to one node or to many, and their answers, which come in an order of the servers' own.

use dbdyno_model::Failure;
use dbdyno_wire::cql::{self as wire, Answer, Frame};
use dbdyno_wire::{Malformed, Param};

use super::{CassandraSession, Node, UNPREPARED, field, unconnected, unexpected};

/// The place of the answer to one of several requests.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub node: usize,
    pub frame: Option<Frame>,
}

impl CassandraSession {
    /// Forgets all answers, for requests that are sent together.
    pub(super) fn begin_all(&mut self) {
        self.places.clear();
        for node in self.nodes.iter_mut().flatten() {
            node.exchange.begin();
            node.outstanding = 0;
        }
    }

    /// Appends a request to those of `node`; `write` is given its stream, which is its number.
    #[inline]
    pub(super) fn append(&mut self, node: usize, write: impl FnOnce(&mut Node, u16)) {
        let stream = self.places.len() as u16;
        self.places.push(Place { node, frame: None });
        if let Some(there) = &mut self.nodes[node] {
            there.outstanding += 1;
            write(there, stream);
        }
    }

    /// Sends all requests and reads until each has its answer in `self.places`: servers answer in their own order.
    pub(super) async fn answers(&mut self) -> Result<(), Failure> {
        let Self { nodes, places, .. } = self;
        for node in nodes.iter_mut().flatten().filter(|node| node.outstanding > 0) {
            node.exchange.send().await?;
        }
        for (number, node) in nodes.iter_mut().enumerate() {
            let Some(Node { exchange, outstanding: left @ 1.., .. }) = node else { continue };
            let mut at = 0;
            let all = |bytes: &[u8]| {
                while *left > 0 {
                    let Some(frame) = wire::frame(bytes, at)? else { return Ok(None) };
                    match places.get_mut(usize::from(frame.stream)) {
                        Some(in_flight @ Place { frame: None, .. }) if in_flight.node == number => {
                            in_flight.frame = Some(frame)
                        }
                        _ => {
                            return Err(Malformed(format!(
                                "an answer on stream {}, which has no request",
                                frame.stream
                            )));
                        }
                    }
                    (at, *left) = (frame.end, *left - 1);
                }
                Ok(Some(((), at)))
            };
            exchange.read(all).await?;
        }
        Ok(())
    }

    /// Returns whether a node did not know the statement of a request, and then forgets what is prepared there.
    pub(super) fn is_unprepared(&mut self) -> bool {
        let Self { nodes, places, .. } = self;
        let mut is_unprepared = false;
        for in_flight in places {
            let (Some(node), Some(frame)) = (&mut nodes[in_flight.node], in_flight.frame) else { continue };
            if wire::error_code(node.exchange.bytes(), frame) == Some(UNPREPARED) {
                node.forget_statements();
                is_unprepared = true;
            }
        }
        is_unprepared
    }

    /// Sends a request for each row, and reads the answers.
    pub(super) async fn ask_each(&mut self, step: usize, keys: &[u64]) -> Result<(), Failure> {
        self.begin_all();
        for &key in keys {
            let node = self.ready(self.node_of(key)).await?;
            self.append(node, |node, stream| {
                let key = std::iter::once(Param::Int(key as i64));
                wire::execute(&mut node.exchange.request, &node.statements[step], stream, key);
            });
        }
        self.answers().await
    }

    /// A row of the answer to request `i` of several: whether there is one.
    pub(super) fn answered(&mut self, i: usize, step: usize) -> Result<bool, Failure> {
        let Place { node, frame: Some(frame) } = self.places[i] else { return Err(unconnected()) };
        let Some(Node { exchange, statements, .. }) = &self.nodes[node] else { return Err(unconnected()) };
        let fields = &mut self.fields;
        fields.clear();
        let answer = wire::answer_in(exchange.bytes(), frame, &statements[step].columns, |c| fields.push(field(c)));
        self.last = node;
        match answer.map_err(|malformed| Failure::Protocol(malformed.0))? {
            Answer::Rows(n @ (0 | 1)) => Ok(n == 1),
            other => Err(unexpected(&other)),
        }
    }
}
