//! The fixed order of table keys (spec L38, L39).

use std::cmp::Ordering;

use mlua::Value;

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

#[cfg(test)]
mod tests {
    use super::*;

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
