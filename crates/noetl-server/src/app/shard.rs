//! Which shard an execution belongs to. Workers compute the same, so the function is part of the protocol.

use noetl_types::ExecutionId;
use twox_hash::XxHash64;

pub const SEED: u64 = 0;

/// XxHash64 over the eight bytes of the id, the lowest first, modulo the number of shards.
pub fn shard_of(execution: ExecutionId, shards: u64) -> u64 {
    XxHash64::oneshot(SEED, &execution.0.to_le_bytes()) % shards.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_those_that_workers_compute() {
        // The hash of eight zero bytes, as the reference implementation of XXH64 gives it.
        assert_eq!(XxHash64::oneshot(SEED, &0i64.to_le_bytes()), 0x34c9_6acd_cadb_1bbb);
        assert_eq!(shard_of(ExecutionId(0), 1000), 0x34c9_6acd_cadb_1bbb % 1000);
        assert_eq!(shard_of(ExecutionId(350_000_000_000_000_001), 1), 0);
    }
}
