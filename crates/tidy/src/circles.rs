//! Circles and floors of a graph.

/// Nodes by number, each with the nodes that it uses.
pub type Graph = Vec<Vec<usize>>;

/// The groups of nodes that reach each other, each after the groups that it uses.
///
/// A group of one node is no circle (a node that uses itself is not looked for).
pub fn groups(graph: &Graph) -> Vec<Vec<usize>> {
    let mut search = ComponentSearch {
        graph,
        order: vec![None; graph.len()],
        low: vec![0; graph.len()],
        stack: Vec::new(),
        open: vec![false; graph.len()],
        count: 0,
        groups: Vec::new(),
    };
    for node in 0..graph.len() {
        if search.order[node].is_none() {
            search.visit(node);
        }
    }
    search.groups
}

/// Tarjan's search for strongly connected components.
struct ComponentSearch<'a> {
    graph: &'a Graph,
    /// When a node was first met.
    order: Vec<Option<usize>>,
    /// The earliest open node that a node reaches.
    low: Vec<usize>,
    stack: Vec<usize>,
    /// Whether a node is on the stack.
    open: Vec<bool>,
    count: usize,
    groups: Vec<Vec<usize>>,
}

impl ComponentSearch<'_> {
    fn visit(&mut self, node: usize) -> usize {
        let own = self.count;
        self.count += 1;
        self.order[node] = Some(own);
        self.low[node] = own;
        self.stack.push(node);
        self.open[node] = true;
        for &next in &self.graph[node] {
            let low = match self.order[next] {
                None => self.visit(next),
                Some(order) if self.open[next] => order,
                Some(_) => continue,
            };
            self.low[node] = self.low[node].min(low);
        }
        let low = self.low[node];
        if low == own {
            let group_start = self.stack.iter().rposition(|&n| n == node);
            let mut group = self
                .stack
                .split_off(group_start.expect("a node on its own stack"));
            group.iter().for_each(|&n| self.open[n] = false);
            group.sort_unstable();
            self.groups.push(group);
        }
        low
    }
}

/// The floor of every node: 1 uses nothing, any other is above all that it uses.
///
/// The nodes of a circle share a floor.
pub fn floors(graph: &Graph) -> Vec<usize> {
    let mut floors = vec![0; graph.len()];
    for group in groups(graph) {
        let uses = group.iter().flat_map(|&node| &graph[node]);
        let below = uses.filter(|next| !group.contains(next));
        let floor = below.map(|&next| floors[next]).max().unwrap_or(0) + 1;
        group.iter().for_each(|&node| floors[node] = floor);
    }
    floors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tower_has_floors_and_no_circle() {
        let graph = vec![vec![1, 2], vec![2], vec![], vec![0]];
        assert!(groups(&graph).iter().all(|group| group.len() == 1));
        assert_eq!(floors(&graph), [3, 2, 1, 4]);
    }

    #[test]
    fn circles_are_found_apart() {
        let graph = vec![vec![1], vec![0, 2], vec![3], vec![4], vec![2], vec![]];
        let circles: Vec<_> = groups(&graph).into_iter().filter(|g| g.len() > 1).collect();
        assert_eq!(circles, [vec![2, 3, 4], vec![0, 1]]);
        assert_eq!(floors(&graph), [2, 2, 1, 1, 1, 1]);
    }
}
