//! The backends of a run's store (spec S57 to S62).
