//! Room for the write-ahead log ahead of its end.
//!
//! A sync that makes a file longer also has to make its new length durable, which takes the file system about as long
//! again as the data. So the file of the log is made longer in larger pieces, before commits get there. SQLite takes no
//! notice of the file's length while it writes, and when it reads a log again it stops at the first frame that does not
//! belong, as it does with frames of an earlier round; zeros never belong.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Of the log's file, and of each frame beside its page.
const FILE_HEADER: u64 = 32;
const FRAME_HEADER: u64 = 24;

/// How much is added at a time: little at first, for runs that are short, then more.
const SMALLEST_PIECE: u64 = 256 * 1024;
const LARGEST_PIECE: u64 = 2 * 1024 * 1024;

/// Room that is kept free for the next commit. Larger ones make the file longer themselves.
const AHEAD: u64 = 64 * 1024;

/// The log's file as far as it is known to reach.
#[derive(Debug)]
pub struct LogSpace {
    path: PathBuf,
    frame: u64,
    length: u64,
}

impl LogSpace {
    pub fn new(database: &Path, page_size: u64) -> LogSpace {
        let mut path = database.as_os_str().to_owned();
        path.push("-wal");
        LogSpace { path: PathBuf::from(path), frame: FRAME_HEADER + page_size, length: 0 }
    }

    /// Sees to it that the next commit finds room after so many pages. Called by the writer between transactions. If it
    /// fails, commits are slower; what is wrong with the disk shows in the next one.
    pub fn keep_ahead_of(&mut self, pages: u64) {
        let end = FILE_HEADER + pages * self.frame;
        if end + AHEAD > self.length {
            self.length = self.extend(end).unwrap_or(end);
        }
    }

    /// Adds a piece to the file unless it is long enough, and says how long it is then. Whoever else writes to the log at
    /// this moment writes either before the piece or into it, since what is appended never replaces anything.
    fn extend(&self, end: u64) -> std::io::Result<u64> {
        let mut file: File = OpenOptions::new().append(true).open(&self.path)?;
        let length = file.metadata()?.len();
        if end + AHEAD <= length {
            return Ok(length);
        }
        let piece = length.clamp(SMALLEST_PIECE, LARGEST_PIECE);
        file.write_all(&vec![0; piece as usize])?;
        Ok(length + piece)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(folder: &Path) -> (LogSpace, impl Fn() -> u64) {
        let file = folder.join("state.db-wal");
        std::fs::write(&file, [1; 100]).expect("it can be written");
        (LogSpace::new(&folder.join("state.db"), 8192), move || {
            std::fs::metadata(&file).expect("it is there").len()
        })
    }

    #[test]
    fn the_file_grows_in_pieces_before_commits_get_there() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let (mut space, length) = log(folder.path());

        space.keep_ahead_of(0);
        assert_eq!(length(), 100 + SMALLEST_PIECE);
        space.keep_ahead_of(20);
        assert_eq!(length(), 100 + SMALLEST_PIECE, "there is room for another twenty");
        space.keep_ahead_of(28);
        assert!(length() > 32 + 28 * 8216 + AHEAD);
    }

    #[test]
    fn what_is_in_the_file_stays() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let (mut space, _) = log(folder.path());

        space.keep_ahead_of(0);

        let content = std::fs::read(folder.path().join("state.db-wal")).expect("it can be read");
        assert!(content[..100].iter().all(|byte| *byte == 1) && content[100..].iter().all(|byte| *byte == 0));
    }

    #[test]
    fn a_log_that_started_over_needs_no_more_room() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let (mut space, length) = log(folder.path());
        space.keep_ahead_of(100);
        let before = length();

        space.keep_ahead_of(1);
        space.keep_ahead_of(20);

        assert_eq!(length(), before);
    }
}
