//! What the system says about this process. Where it says nothing, nothing is shown.

/// Memory and processor time of this process.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Process {
    pub resident_bytes: Option<u64>,
    pub cpu_seconds: Option<f64>,
    pub threads: Option<u64>,
    pub open_files: Option<u64>,
}

impl Process {
    /// Reads what Linux keeps under `/proc`.
    pub fn look() -> Process {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
        Process {
            resident_bytes: field(&status, "VmRSS:").map(|kib| kib * 1024),
            threads: field(&status, "Threads:"),
            cpu_seconds: cpu_seconds(&stat),
            open_files: std::fs::read_dir("/proc/self/fd").ok().map(|files| files.count() as u64),
        }
    }
}

fn field(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

/// The times follow the name in parentheses, which may have blanks in it. Linux counts them in hundredths.
fn cpu_seconds(stat: &str) -> Option<f64> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace().skip(11);
    let user: f64 = fields.next()?.parse().ok()?;
    let system: f64 = fields.next()?.parse().ok()?;
    Some((user + system) / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_their_place() {
        assert_eq!(field("Name:\tx\nVmRSS:\t  12 kB\nThreads:\t3\n", "VmRSS:"), Some(12));
        let stat = "1 (a b) c) S 1 1 1 0 -1 4194560 1 0 0 0 150 50 0 0 20 0 9 0 1 1 1";
        assert_eq!(cpu_seconds(stat), Some(2.0));
        assert_eq!(cpu_seconds(""), None);
    }
}
