//! Pseudo-random numbers: everything that is random in a simulation comes from its seed through here.

/// The xoshiro256** generator, seeded with splitmix64.
#[derive(Clone, Debug)]
pub struct Random {
    state: [u64; 4],
}

impl Random {
    pub fn new(seed: u64) -> Random {
        let mut mixed = seed;
        let mut next = || {
            mixed = mixed.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = mixed;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        };
        Random { state: [next(), next(), next(), next()] }
    }

    fn next(&mut self) -> u64 {
        let [a, b, c, d] = self.state;
        let result = b.wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let (c, d) = (c ^ a, d ^ b);
        self.state = [a ^ d, b ^ c, c ^ (b << 17), d.rotate_left(45)];
        result
    }

    /// A number from 0 up to, but not including, `limit`; 0 when there is none.
    pub fn below(&mut self, limit: usize) -> usize {
        if limit == 0 {
            return 0;
        }
        ((u128::from(self.next()) * limit as u128) >> 64) as usize
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    /// True this many times in a thousand.
    pub fn chance(&mut self, per_mille: usize) -> bool {
        self.below(1000) < per_mille
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    /// The position of one of the weights, in proportion to them.
    pub fn weighted(&mut self, weights: &[usize]) -> usize {
        let mut rest = self.below(weights.iter().sum());
        for (at, &weight) in weights.iter().enumerate() {
            if rest < weight {
                return at;
            }
            rest -= weight;
        }
        0
    }

    /// A generator of its own, for a part whose numbers should not depend on how many others draw.
    pub fn fork(&mut self) -> Random {
        Random::new(self.next())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_numbers_and_another_gives_others() {
        let draw = |seed| {
            (0..50).map({
                let mut random = Random::new(seed);
                move |_| random.below(1000)
            })
        };
        assert!(draw(7).eq(draw(7)));
        assert!(draw(7).ne(draw(8)));
    }

    #[test]
    fn numbers_cover_their_range_and_stay_in_it() {
        let mut random = Random::new(1);
        let mut seen = [false; 6];
        for _ in 0..1000 {
            seen[random.between(2, 5)] = true;
        }
        assert_eq!(seen, [false, false, true, true, true, true]);
        assert_eq!(random.below(0), 0);
        assert!(!random.chance(0) && random.chance(1000));
        assert_eq!(random.weighted(&[0, 3, 0]), 1);
    }
}
