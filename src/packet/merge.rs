//! Layers of keys: maps merge deeply, everything else replaces (spec P16).

use serde_yaml::{Mapping, Value};

/// Lays `over` over `base`. Keys keep their place; new ones go last.
pub fn merge(base: &mut Mapping, over: &Mapping) {
    for (key, value) in over {
        match (base.get_mut(key), value) {
            (Some(Value::Mapping(below)), Value::Mapping(above)) => merge(below, above),
            (Some(below), value) => *below = value.clone(),
            (None, value) => {
                base.insert(key.clone(), value.clone());
            }
        }
    }
}
