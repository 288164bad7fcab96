//! Variables that a program is given (spec P59, P134).

/// Whether a variable can have this name and this value. A name with `=` would be another's, and a
/// NUL ends either.
pub(super) fn is_variable(name: &str, value: &str) -> bool {
    !name.is_empty() && !name.contains(['=', '\0']) && !value.contains('\0')
}
