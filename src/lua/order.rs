//! The fixed order of table keys (spec L38, L39).

use std::cmp::Ordering;

use mlua::{Table, Value};

/// How many keys are looked at between two looks at the cancel flag.
const RUN: usize = 4096;

/// The groups in which keys outside the array part are visited.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    Boolean,
    Number,
    Text,
    Infinite,
    Bytes,
    Other,
}

fn group(key: &Value) -> Group {
    match key {
        Value::Boolean(_) => Group::Boolean,
        Value::Integer(_) => Group::Number,
        Value::Number(n) if n.is_finite() => Group::Number,
        Value::Number(_) => Group::Infinite,
        Value::String(s) if s.to_str().is_ok() => Group::Text,
        Value::String(_) => Group::Bytes,
        _ => Group::Other,
    }
}

/// Compares two keys. Keys of the trailing group that have no order of their own are equal.
pub(super) fn compare(a: &Value, b: &Value) -> Ordering {
    group(a).cmp(&group(b)).then_with(|| match (a, b) {
        (Value::Boolean(a), Value::Boolean(b)) => a.cmp(b),
        (Value::Integer(a), Value::Integer(b)) => a.cmp(b),
        (Value::Integer(a), Value::Number(b)) => integer_to_float(*a, *b),
        (Value::Number(a), Value::Integer(b)) => integer_to_float(*b, *a).reverse(),
        (Value::Number(a), Value::Number(b)) => a.total_cmp(b),
        (Value::String(a), Value::String(b)) => (*a.as_bytes()).cmp(&*b.as_bytes()),
        _ => Ordering::Equal,
    })
}

/// Compares by exact value: an integer past 2^53 is not rounded to a float first.
fn integer_to_float(integer: i64, float: f64) -> Ordering {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if float >= LIMIT {
        Ordering::Less
    } else if float < -LIMIT {
        Ordering::Greater
    } else {
        let floor = float.floor();
        integer.cmp(&(floor as i64)).then_with(|| {
            if float > floor {
                Ordering::Less
            } else {
                Ordering::Equal
            }
        })
    }
}

/// Sorts a list of keys in place (spec L38). `poll` fails once the run is cancelled.
pub(super) fn sort_keys(keys: &Table, poll: &dyn Fn() -> mlua::Result<()>) -> mlua::Result<()> {
    let mut sorted: Vec<Value> = Vec::with_capacity(keys.raw_len());
    for key in keys.sequence_values() {
        if sorted.len().is_multiple_of(RUN) {
            poll()?;
        }
        sorted.push(key?);
    }
    for (at, key) in (1usize..).zip(sort(sorted, compare, poll)?) {
        if at.is_multiple_of(RUN) {
            poll()?;
        }
        keys.raw_set(at, key)?;
    }
    Ok(())
}

/// Sorts, and leaves equal ones in their order. `poll` fails once the run is cancelled.
pub(super) fn sort<T, E>(
    mut items: Vec<T>,
    compare: impl Fn(&T, &T) -> Ordering,
    poll: impl Fn() -> Result<(), E>,
) -> Result<Vec<T>, E> {
    if items.len() <= RUN {
        items.sort_by(compare);
        return Ok(items);
    }
    // Run by run, then pairs of runs. What was in order is so far one run, however long.
    let mut runs: Vec<Vec<T>> = Vec::new();
    let mut items = items.into_iter();
    while !items.as_slice().is_empty() {
        poll()?;
        let mut run: Vec<T> = items.by_ref().take(RUN).collect();
        run.sort_by(&compare);
        match (runs.last_mut(), run.first()) {
            (Some(before), Some(first))
                if before
                    .last()
                    .is_some_and(|last| compare(last, first).is_le()) =>
            {
                before.append(&mut run);
            }
            _ => runs.push(run),
        }
    }
    while runs.len() > 1 {
        let mut pairs = std::mem::take(&mut runs).into_iter();
        while let Some(left) = pairs.next() {
            runs.push(match pairs.next() {
                Some(right) => merge(left, right, &compare, &poll)?,
                None => left,
            });
        }
    }
    Ok(runs.pop().unwrap_or_default())
}

fn merge<T, E>(
    left: Vec<T>,
    right: Vec<T>,
    compare: &impl Fn(&T, &T) -> Ordering,
    poll: &impl Fn() -> Result<(), E>,
) -> Result<Vec<T>, E> {
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
    loop {
        if merged.len().is_multiple_of(RUN) {
            poll()?;
        }
        let next = match (left.peek(), right.peek()) {
            (Some(a), Some(b)) if compare(b, a).is_lt() => right.next(),
            (Some(_), _) => left.next(),
            (None, _) => right.next(),
        };
        match next {
            Some(item) => merged.push(item),
            None => return Ok(merged),
        }
    }
}

/// The key that follows `after` outside the array part of `length`, the first one after nil
/// (spec L42). `poll` fails once the run is cancelled.
pub(super) fn following(
    (table, length, after): (Table, i64, Value),
    poll: &dyn Fn() -> mlua::Result<()>,
) -> mlua::Result<Value> {
    let mut best: Option<Value> = None;
    let mut passed = false;
    for (count, pair) in table.pairs::<Value, Value>().enumerate() {
        if count.is_multiple_of(RUN) {
            poll()?;
        }
        let (key, _) = pair?;
        if matches!(key, Value::Integer(i) if (1..=length).contains(&i)) {
            continue;
        }
        if !after.is_nil() {
            match compare(&key, &after) {
                Ordering::Less => continue,
                // Keys without an order of their own come as the table has them.
                Ordering::Equal if key == after => {
                    passed = true;
                    continue;
                }
                Ordering::Equal if !passed && table.contains_key(&after)? => continue,
                _ => {}
            }
        }
        let better = best.as_ref().is_none_or(|b| compare(&key, b).is_lt());
        if better {
            best = Some(key);
        }
    }
    poll()?;
    Ok(best.unwrap_or(Value::Nil))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_sort_is_stable_and_ends_when_told() {
        // Runs that are in order, in disorder, and the other way round, with equal ones.
        let orders: [fn(usize) -> usize; 3] = [|at| at, |at| at * 7919 % 997, |at| 50_000 - at];
        for order in orders {
            let items: Vec<(usize, usize)> = (0..50_000).map(|at| (order(at), at)).collect();
            let mut expected = items.clone();
            expected.sort_by_key(|item| item.0);
            let compare = |a: &(usize, usize), b: &(usize, usize)| a.0.cmp(&b.0);
            assert_eq!(
                sort(items.clone(), compare, || Ok::<_, ()>(())),
                Ok(expected)
            );
            let polls = std::cell::Cell::new(0);
            let poll = || {
                polls.set(polls.get() + 1);
                (polls.get() <= 5).then_some(()).ok_or("cancelled")
            };
            let left_at = sort(items, compare, poll);
            assert_eq!(left_at, Err("cancelled"));
        }
    }

    #[test]
    fn numbers_compare_by_exact_value() {
        let big = 9_007_199_254_740_993_i64;
        assert_eq!(
            integer_to_float(big, 9_007_199_254_740_992.0),
            Ordering::Greater
        );
        assert_eq!(integer_to_float(i64::MAX, 9.3e18), Ordering::Less);
        assert_eq!(integer_to_float(i64::MIN, -9.3e18), Ordering::Greater);
        assert_eq!(integer_to_float(-2, -1.5), Ordering::Less);
        assert_eq!(integer_to_float(-1, -1.5), Ordering::Greater);
    }
}
