//! How measurements are printed: what was measured, what it is allowed to be, and how they compare.

/// A number that should not be exceeded, or not be fallen short of.
pub enum Budget {
    AtMost(f64),
    AtLeast(f64),
    None,
}

pub fn head() {
    println!("{:<52} {:>12} {:>12} {:>7}", "", "measured", "budget", "ratio");
}

/// One line. A ratio of 1 or less is within the budget.
pub fn line(what: &str, measured: f64, unit: &str, budget: Budget) {
    let number = |number: f64| {
        let digits = if number < 10.0 {
            2
        } else if number < 100.0 {
            1
        } else {
            0
        };
        format!("{number:.digits$} {unit}")
    };
    let (allowed, ratio) = match budget {
        Budget::AtMost(most) => (number(most), format!("{:.2}", measured / most)),
        Budget::AtLeast(least) => (number(least), format!("{:.2}", least / measured)),
        Budget::None => (String::new(), String::new()),
    };
    println!("{what:<52} {:>12} {allowed:>12} {ratio:>7}", number(measured));
}

/// A remark that belongs to the line before.
pub fn remark(text: &str) {
    println!("    {text}");
}
