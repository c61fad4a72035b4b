//! Names of drives, for a message that lists them all.

/// Names that differ in their last number only, as a shell would write them:
/// `intel-710-{100,200,300}gb`.
pub(super) fn in_groups(names: &[String]) -> Vec<String> {
    let digit = |c: char| c.is_ascii_digit();
    let mut groups: Vec<(&str, &str, Vec<&str>)> = Vec::new();
    for name in names {
        let rest = name.trim_end_matches(|c| !digit(c));
        let before = rest.trim_end_matches(digit);
        let (number, after) = (&rest[before.len()..], &name[rest.len()..]);
        match groups.iter_mut().find(|g| g.0 == before && g.1 == after) {
            Some(group) => group.2.push(number),
            None => groups.push((before, after, vec![number])),
        }
    }
    let said = groups.into_iter().map(|(before, after, mut numbers)| {
        numbers.sort_by_key(|number| (number.len(), *number));
        match &numbers[..] {
            [one] => format!("{before}{one}{after}"),
            all => format!("{before}{{{}}}{after}", all.join(",")),
        }
    });
    said.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_a_family_are_told_together() {
        let names = ["x", "a-80gb", "b1", "a-600gb", "b1-plp", "a-80gb-v2"].map(String::from);
        let groups = in_groups(&names);
        assert_eq!(groups, ["x", "a-{80,600}gb", "b1", "b1-plp", "a-80gb-v2"]);
        let error = crate::catalogue::drive("nonesuch").unwrap_err().to_string();
        assert!(error.contains("intel-710-{100,200,300}gb"), "{error}");
    }
}
