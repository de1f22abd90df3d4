//! The owner of every row, as the nodes report their tokens.

use std::net::IpAddr;

use dbdyno_model::Failure;
use dbdyno_net::Address;
use dbdyno_wire::cql::Consistency;

use super::query;
use crate::network::{Endpoint, Exchange};

/// The nodes of the data centre that was connected to, that one first, and who has the rows up to each token.
#[derive(Debug)]
pub struct Ring {
    pub nodes: Vec<Endpoint>,
    /// Rising.
    tokens: Vec<(i64, usize)>,
}

impl Ring {
    /// Asks a node for all of them. Nodes are taken to answer on one port, as drivers take them to.
    pub async fn read(exchange: &mut Exchange, endpoint: &Endpoint) -> Result<Self, Failure> {
        let consistency = Consistency::One;
        let own = query(exchange, "SELECT data_center, tokens FROM system.local", consistency).await?;
        let others = query(exchange, "SELECT data_center, tokens, rpc_address FROM system.peers", consistency).await?;
        let mut ring = Self { nodes: vec![endpoint.clone()], tokens: Vec::new() };
        let Some([centre, Some(tokens)]) = own.first().map(Vec::as_slice) else { return Ok(ring) };
        ring.add_tokens(tokens);
        for row in &others {
            if let [of, Some(tokens), Some(host)] = row.as_slice()
                && of == centre
                && let Some(other) = beside(endpoint, host)
            {
                ring.nodes.push(other);
                ring.add_tokens(tokens);
            }
        }
        ring.tokens.sort_unstable();
        Ok(ring)
    }

    /// Tokens of the node that was added last.
    fn add_tokens(&mut self, tokens: &str) {
        let node = self.nodes.len() - 1;
        self.tokens.extend(tokens.split(',').filter_map(|token| Some((token.parse().ok()?, node))));
    }

    /// The node of the first token that is not before this one; behind the last it begins anew.
    #[inline]
    pub fn node_of(&self, token: i64) -> usize {
        let index = self.tokens.partition_point(|&(last, _)| last < token);
        self.tokens.get(index).or(self.tokens.first()).map_or(0, |&(_, node)| node)
    }
}

/// Another node's place; `None` if it is none that can be connected to, as that of a node that is still joining.
fn beside(endpoint: &Endpoint, host: &str) -> Option<Endpoint> {
    let Address::Tcp { port, .. } = endpoint.address else { return None };
    let ip: IpAddr = host.parse().ok()?;
    let address = Address::Tcp { host: ip.to_string(), port };
    (!ip.is_unspecified()).then(|| Endpoint::new(address, endpoint.timeout_ns).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(host: &str) -> Endpoint {
        Endpoint::new(Address::Tcp { host: host.into(), port: 9042 }, 1).unwrap()
    }

    #[test]
    fn a_row_is_with_the_node_of_the_next_token() {
        let mut ring = Ring { nodes: vec![endpoint("127.0.0.1")], tokens: Vec::new() };
        ring.add_tokens("100,-100");
        ring.nodes.push(endpoint("127.0.0.2"));
        ring.add_tokens("0,200,x");
        ring.tokens.sort_unstable();
        let nodes = [i64::MIN, -100, -99, 0, 1, 100, 101, 200, 201, i64::MAX].map(|token| ring.node_of(token));
        assert_eq!(nodes, [0, 0, 1, 1, 0, 0, 1, 1, 0, 0]);
    }

    #[test]
    fn a_ring_that_nobody_told_is_one_node() {
        assert_eq!(Ring { nodes: vec![endpoint("127.0.0.1")], tokens: Vec::new() }.node_of(5), 0);
    }

    #[test]
    fn only_a_node_with_an_address_of_its_own_can_be_asked() {
        assert_eq!(beside(&endpoint("127.0.0.1"), "::1").unwrap().address.to_string(), "::1:9042");
        assert!(beside(&endpoint("127.0.0.1"), "0.0.0.0").is_none());
        assert!(beside(&endpoint("127.0.0.1"), "nobody").is_none());
    }
}
