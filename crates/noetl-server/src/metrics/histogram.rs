//! How often something was how large.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Counts values by fixed bounds.
#[derive(Debug)]
pub struct Histogram {
    bounds: &'static [f64],
    /// One more than there are bounds: the last is for all above.
    counts: Vec<AtomicU64>,
    /// The bits of a floating-point number.
    sum: AtomicU64,
}

impl Histogram {
    /// The bounds rise.
    pub fn new(bounds: &'static [f64]) -> Histogram {
        let counts = (0..=bounds.len()).map(|_| AtomicU64::new(0)).collect();
        Histogram { bounds, counts, sum: AtomicU64::new(0) }
    }

    pub fn observe(&self, value: f64) {
        let at = self.bounds.partition_point(|bound| *bound < value);
        self.counts[at].fetch_add(1, Relaxed);
        let add = |bits: u64| Some((f64::from_bits(bits) + value).to_bits());
        // The closure always gives a value, so that it can't fail.
        let _ = self.sum.fetch_update(Relaxed, Relaxed, add);
    }

    /// Each bound with how many were not above it.
    pub fn cumulative(&self) -> Vec<(f64, u64)> {
        let bounds = self.bounds.iter().copied().chain([f64::INFINITY]);
        let mut total = 0;
        let counts = self.counts.iter().map(|count| {
            total += count.load(Relaxed);
            total
        });
        bounds.zip(counts).collect()
    }

    pub fn sum(&self) -> f64 {
        f64::from_bits(self.sum.load(Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_below_the_bounds_they_do_not_exceed() {
        let histogram = Histogram::new(&[1.0, 10.0]);
        for value in [0.5, 1.0, 2.0, 100.0] {
            histogram.observe(value);
        }
        assert_eq!(histogram.cumulative(), [(1.0, 2), (10.0, 3), (f64::INFINITY, 4)]);
        assert_eq!(histogram.sum(), 103.5);
    }
}
