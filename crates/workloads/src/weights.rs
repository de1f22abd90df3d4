//! A choice among a few items, each as likely as its weight says.

/// The sum of the weights.
pub fn total<T>(items: &[T], weight: impl Fn(&T) -> u64) -> u64 {
    items.iter().map(weight).sum()
}

/// The index of the item that has this choice, a number below the sum of the weights.
pub fn weighted<T>(items: &[T], weight: impl Fn(&T) -> u64, mut choice: u64) -> usize {
    for (i, item) in items.iter().enumerate() {
        let weight = weight(item);
        if choice < weight {
            return i;
        }
        choice -= weight;
    }
    items.len() - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_item_has_as_many_choices_as_its_weight() {
        let items = [("a", 2), ("b", 0), ("c", 1), ("d", 4)];
        let weight = |&(_, weight): &(&str, u64)| weight;
        assert_eq!(total(&items, weight), 7);
        let chosen: Vec<&str> = (0..7).map(|choice| items[weighted(&items, weight, choice)].0).collect();
        assert_eq!(chosen, ["a", "a", "c", "d", "d", "d", "d"]);
    }
}
