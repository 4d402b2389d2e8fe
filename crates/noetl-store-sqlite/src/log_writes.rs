//! One write to the system for each commit.
//!
//! SQLite hands a commit to the system in two small writes per page, some dozens in all: a tenth of what a commit takes.
//! This puts a layer between SQLite and the file of the write-ahead log. While a commit runs, it gathers what is written in
//! sequence and passes it on at once, at the latest with the last page of the commit. Nobody looks at a commit before that
//! page is written, so nobody sees that the pages before it came later. Outside of commits, when a large transaction needs
//! its memory for something else, everything is written as ever.
#![allow(unsafe_code, reason = "SQLite's files are tables of C functions")]

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::null_mut;
use std::sync::LazyLock;

use rusqlite::ffi;

/// The name under which SQLite knows the layer.
const NAME: &CStr = c"noetl-log-writes";

/// A frame's header stands before its page. From its fifth to its eighth byte it says how large the database is after a
/// commit, and nothing when more frames follow.
const FRAME_HEADER: usize = 24;
const DATABASE_SIZE: std::ops::Range<usize> = 4..8;

/// What is gathered at most, and what memory is kept for it between commits.
const GATHERED: usize = 1024 * 1024;
const KEPT: usize = GATHERED / 4;

/// What is passed on at a time. SQLite's layer for Unix takes less than 128 KiB.
const PASSED: usize = 120 * 1024;

thread_local! {
    static COMMITTING: Cell<bool> = const { Cell::new(false) };
}

/// Runs a commit of a connection that was opened through the [`layer`]. Nothing of it is left behind when it fails.
pub fn gathered<T>(commit: impl FnOnce() -> T) -> T {
    COMMITTING.set(true);
    let outcome = commit();
    COMMITTING.set(false);
    outcome
}

/// Makes the layer known to SQLite, once, and says by which name connections ask for it.
pub fn layer() -> Option<&'static CStr> {
    static KNOWN: LazyLock<bool> = LazyLock::new(register);
    KNOWN.then_some(NAME)
}

fn register() -> bool {
    // SAFETY: SQLite owns its default layer and keeps it as long as the process lives; so do we with ours. Every function
    // but the one that opens files is the default layer's, which does not look at the layer it is called through.
    unsafe {
        let system = ffi::sqlite3_vfs_find(std::ptr::null());
        if system.is_null() {
            return false;
        }
        let ours = Box::new(ffi::sqlite3_vfs {
            szOsFile: size_of::<LogFile>() as c_int + (*system).szOsFile,
            zName: NAME.as_ptr(),
            pNext: null_mut(),
            pAppData: system.cast(),
            xOpen: Some(open),
            ..*system
        });
        ffi::sqlite3_vfs_register(Box::leak(ours), 0) == ffi::SQLITE_OK
    }
}

/// What SQLite takes for an open log. The system's own file stands in the memory behind it.
#[repr(C)]
struct LogFile {
    base: ffi::sqlite3_file,
    gathered: Gathered,
}

/// What was written and not passed on yet.
#[derive(Default)]
struct Gathered {
    bytes: Vec<u8>,
    /// Where they belong in the file.
    offset: i64,
    /// The last of them are the header of a frame that ends a commit.
    at_last_page: bool,
}

/// What is to be done with a write.
#[derive(Debug, PartialEq, Eq)]
enum Course {
    /// It goes to the system by itself, after all that was gathered.
    Alone,
    /// It was added.
    Gathered,
    /// It was added, and all of it is to be passed on now.
    Complete,
}

impl Gathered {
    fn add(&mut self, bytes: &[u8], offset: i64) -> Course {
        self.forget_remains();
        let follows = self.offset + self.bytes.len() as i64 == offset;
        let header = bytes.len() == FRAME_HEADER;
        let ends_commit = header && bytes[DATABASE_SIZE].iter().any(|byte| *byte != 0);
        if self.bytes.is_empty() {
            // A header may also be written anew without its page, when a transaction has written a page twice.
            if !COMMITTING.get() || !header || ends_commit {
                return Course::Alone;
            }
            self.offset = offset;
        } else if !follows {
            return Course::Alone;
        }
        self.bytes.extend_from_slice(bytes);
        let complete = self.at_last_page || self.bytes.len() >= GATHERED;
        self.at_last_page = ends_commit;
        if complete { Course::Complete } else { Course::Gathered }
    }

    /// What is left once the commit is over belongs to one that failed. What comes next in the log may be somebody else's.
    fn forget_remains(&mut self) {
        if !COMMITTING.get() {
            self.clear();
        }
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(KEPT);
        self.at_last_page = false;
    }
}

impl LogFile {
    /// The system's file and its functions.
    ///
    /// # Safety
    /// `file` was opened by [`open`].
    unsafe fn system(file: *mut LogFile) -> (*mut ffi::sqlite3_file, &'static ffi::sqlite3_io_methods) {
        // SAFETY: the file was allocated with room for both, and its functions are of the program.
        unsafe {
            let system = file.add(1).cast::<ffi::sqlite3_file>();
            (system, &*(*system).pMethods)
        }
    }

    /// Passes on what was gathered. If that fails, so does the commit, and nothing of it is tried again.
    ///
    /// # Safety
    /// `file` was opened by [`open`].
    unsafe fn pass_on(file: *mut LogFile) -> c_int {
        // SAFETY: SQLite uses a file from one thread at a time.
        let gathered = unsafe { &mut (*file).gathered };
        gathered.forget_remains();
        if gathered.bytes.is_empty() {
            return ffi::SQLITE_OK;
        }
        // SAFETY: as the caller's.
        let code = unsafe { Self::write(file, &gathered.bytes, gathered.offset) };
        gathered.clear();
        code
    }

    /// # Safety
    /// `file` was opened by [`open`].
    unsafe fn write(file: *mut LogFile, bytes: &[u8], offset: i64) -> c_int {
        // SAFETY: as the caller's; the system reads as many bytes as there are.
        unsafe {
            let (system, methods) = Self::system(file);
            let Some(write) = methods.xWrite else { return ffi::SQLITE_IOERR };
            let mut at = offset;
            for piece in bytes.chunks(PASSED) {
                let code = write(system, piece.as_ptr().cast(), piece.len() as c_int, at);
                if code != ffi::SQLITE_OK {
                    return code;
                }
                at += piece.len() as i64;
            }
            ffi::SQLITE_OK
        }
    }
}

/// Calls the system's function of the same name, after all that was gathered.
macro_rules! after_all_gathered {
    ($file:expr, $method:ident ( $($argument:expr),* )) => {{
        let file = $file.cast::<LogFile>();
        // SAFETY: SQLite calls this with a file that was opened by `open`, and with arguments for the same function.
        unsafe {
            match LogFile::pass_on(file) {
                ffi::SQLITE_OK => {
                    let (system, methods) = LogFile::system(file);
                    methods.$method.map_or(ffi::SQLITE_IOERR, |method| method(system, $($argument),*))
                }
                code => code,
            }
        }
    }};
}

/// Opens a file: a log through the layer, all others as if there were none.
unsafe extern "C" fn open(
    layer: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    given: *mut c_int,
) -> c_int {
    // SAFETY: SQLite has allocated as much as `register` asked for, so both files have room.
    unsafe {
        let system = (*layer).pAppData.cast::<ffi::sqlite3_vfs>();
        let Some(open) = (*system).xOpen else { return ffi::SQLITE_CANTOPEN };
        if flags & ffi::SQLITE_OPEN_WAL == 0 {
            return open(system, name, file, flags, given);
        }
        let ours = file.cast::<LogFile>();
        let code = open(system, name, ours.add(1).cast(), flags, given);
        // SQLite closes a file that has functions, also one that could not be opened.
        (*file).pMethods = std::ptr::null();
        if code == ffi::SQLITE_OK {
            ours.write(LogFile {
                base: ffi::sqlite3_file { pMethods: &raw const METHODS },
                gathered: Gathered::default(),
            });
        }
        code
    }
}

static METHODS: ffi::sqlite3_io_methods = ffi::sqlite3_io_methods {
    // A log is neither shared memory nor mapped: the later versions' functions are for databases.
    iVersion: 1,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(lock),
    xUnlock: Some(unlock),
    xCheckReservedLock: Some(check_reserved_lock),
    xFileControl: Some(file_control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(device_characteristics),
    xShmMap: None,
    xShmLock: None,
    xShmBarrier: None,
    xShmUnmap: None,
    xFetch: None,
    xUnfetch: None,
};

unsafe extern "C" fn close(file: *mut ffi::sqlite3_file) -> c_int {
    let ours = file.cast::<LogFile>();
    // SAFETY: SQLite closes a file that `open` has opened, once, and closes the system's file whatever else fails.
    unsafe {
        let passed_on = LogFile::pass_on(ours);
        let (system, methods) = LogFile::system(ours);
        let closed = methods.xClose.map_or(ffi::SQLITE_IOERR, |close| close(system));
        ours.drop_in_place();
        if passed_on == ffi::SQLITE_OK { closed } else { passed_on }
    }
}

unsafe extern "C" fn write(
    file: *mut ffi::sqlite3_file,
    bytes: *const c_void,
    length: c_int,
    offset: ffi::sqlite3_int64,
) -> c_int {
    let ours = file.cast::<LogFile>();
    // SAFETY: the file was opened by `open`, and there are as many bytes as SQLite says.
    unsafe {
        let bytes = std::slice::from_raw_parts(bytes.cast::<u8>(), length.max(0) as usize);
        match (*ours).gathered.add(bytes, offset) {
            Course::Gathered => ffi::SQLITE_OK,
            Course::Complete => LogFile::pass_on(ours),
            Course::Alone => match LogFile::pass_on(ours) {
                ffi::SQLITE_OK => LogFile::write(ours, bytes, offset),
                code => code,
            },
        }
    }
}

unsafe extern "C" fn read(
    file: *mut ffi::sqlite3_file,
    bytes: *mut c_void,
    length: c_int,
    offset: ffi::sqlite3_int64,
) -> c_int {
    after_all_gathered!(file, xRead(bytes, length, offset))
}

unsafe extern "C" fn truncate(file: *mut ffi::sqlite3_file, size: ffi::sqlite3_int64) -> c_int {
    after_all_gathered!(file, xTruncate(size))
}

unsafe extern "C" fn sync(file: *mut ffi::sqlite3_file, flags: c_int) -> c_int {
    after_all_gathered!(file, xSync(flags))
}

unsafe extern "C" fn file_size(file: *mut ffi::sqlite3_file, size: *mut ffi::sqlite3_int64) -> c_int {
    after_all_gathered!(file, xFileSize(size))
}

unsafe extern "C" fn lock(file: *mut ffi::sqlite3_file, level: c_int) -> c_int {
    after_all_gathered!(file, xLock(level))
}

unsafe extern "C" fn unlock(file: *mut ffi::sqlite3_file, level: c_int) -> c_int {
    after_all_gathered!(file, xUnlock(level))
}

unsafe extern "C" fn check_reserved_lock(file: *mut ffi::sqlite3_file, held: *mut c_int) -> c_int {
    after_all_gathered!(file, xCheckReservedLock(held))
}

unsafe extern "C" fn file_control(
    file: *mut ffi::sqlite3_file,
    operation: c_int,
    argument: *mut c_void,
) -> c_int {
    after_all_gathered!(file, xFileControl(operation, argument))
}

unsafe extern "C" fn sector_size(file: *mut ffi::sqlite3_file) -> c_int {
    // SAFETY: the file was opened by `open`.
    let (system, methods) = unsafe { LogFile::system(file.cast()) };
    // SAFETY: it is the system's file.
    methods.xSectorSize.map_or(0, |size| unsafe { size(system) })
}

unsafe extern "C" fn device_characteristics(file: *mut ffi::sqlite3_file) -> c_int {
    // SAFETY: the file was opened by `open`.
    let (system, methods) = unsafe { LogFile::system(file.cast()) };
    // SAFETY: it is the system's file.
    methods.xDeviceCharacteristics.map_or(0, |characteristics| unsafe { characteristics(system) })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use rusqlite::Connection;

    use super::*;

    fn connect(database: &Path) -> Connection {
        let flags = rusqlite::OpenFlags::default();
        let layer = layer().expect("SQLite has a layer of its own");
        let connection = Connection::open_with_flags_and_vfs(database, flags, layer).expect("it opens");
        connection
            .execute_batch(
                "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = 10;
                 CREATE TABLE IF NOT EXISTS thing (id INTEGER PRIMARY KEY, text TEXT);",
            )
            .expect("it can be written");
        connection
    }

    /// Writes many more pages than the connection has memory for, each several times.
    fn fill(connection: &Connection, text: &str) {
        connection.execute_batch("BEGIN IMMEDIATE").expect("nobody else writes");
        for round in 0..3 {
            for id in 0..400 {
                let row = (id, format!("{text} {round} {}", "x".repeat(500)));
                connection.execute("REPLACE INTO thing VALUES (?1, ?2)", row).expect("it can be written");
            }
        }
    }

    fn commit(connection: &Connection) {
        let mut commit = connection.prepare("COMMIT").expect("it is SQL");
        gathered(|| commit.execute([])).expect("it is committed");
    }

    /// How many rows begin so, in a copy of the files as they are now: what the next process finds after a crash.
    fn found_after_a_crash(database: &Path, text: &str) -> i64 {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let copy = folder.path().join("copy.db");
        let log = |path: &Path| format!("{}-wal", path.display());
        std::fs::copy(database, &copy).expect("it can be copied");
        std::fs::copy(log(database), log(&copy)).expect("it can be copied");
        let connection = Connection::open(copy).expect("it opens");
        let check: String =
            connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("it can be checked");
        assert_eq!(check, "ok");
        connection
            .query_row("SELECT count(*) FROM thing WHERE text LIKE ?1 || '%'", [text], |row| row.get(0))
            .expect("it can be read")
    }

    #[test]
    fn frames_are_gathered_up_to_the_last_page_of_a_commit() {
        let page = [7; 4096];
        let more_follow = [0; FRAME_HEADER];
        let mut last = more_follow;
        last[7] = 9;
        let mut to = Gathered::default();
        gathered(|| {
            assert_eq!(to.add(&[1; 32], 0), Course::Alone, "the header of the log");
            assert_eq!(to.add(&more_follow, 32), Course::Gathered);
            assert_eq!(to.add(&page, 56), Course::Gathered);
            assert_eq!(to.add(&page, 100_000), Course::Alone, "another place");
            assert_eq!(to.add(&last, 4152), Course::Gathered);
            assert_eq!(to.add(&page, 4176), Course::Complete);
            to.clear();
            assert_eq!(to.add(&last, 8272), Course::Alone, "it may come without its page");
            assert_eq!(to.add(&page, 8296), Course::Alone);
        });
        assert_eq!(to.add(&more_follow, 12_392), Course::Alone, "no commit runs");
    }

    #[test]
    fn what_a_failed_commit_leaves_is_forgotten() {
        let mut to = Gathered::default();
        assert_eq!(gathered(|| to.add(&[0; FRAME_HEADER], 32)), Course::Gathered);
        assert_eq!(to.add(&[7; 4096], 56), Course::Alone, "the commit is over");
        assert!(to.bytes.is_empty());
    }

    #[test]
    fn what_is_committed_is_in_the_file_also_without_a_sync() {
        for synchronous in ["FULL", "NORMAL"] {
            let folder = tempfile::tempdir().expect("a folder can be made");
            let database = folder.path().join("some.db");
            let connection = connect(&database);
            connection.pragma_update(None, "synchronous", synchronous).expect("SQLite knows it");
            for round in ["first", "second"] {
                fill(&connection, round);
                assert_eq!(found_after_a_crash(&database, round), 0, "{synchronous}");
                commit(&connection);
                assert_eq!(found_after_a_crash(&database, round), 400, "{synchronous}");
            }
            connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").expect("nobody reads");
            assert_eq!(found_after_a_crash(&database, "second"), 400, "{synchronous}");
        }
    }

    #[test]
    fn what_was_rolled_back_never_replaces_what_others_commit() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let database = folder.path().join("some.db");
        let (ours, theirs) = (connect(&database), Connection::open(&database).expect("it opens"));
        fill(&ours, "given up");
        ours.execute_batch("ROLLBACK").expect("it can be undone");
        theirs.execute("INSERT INTO thing VALUES (1000, 'theirs')", []).expect("nobody else writes");
        fill(&ours, "ours");
        commit(&ours);

        assert_eq!(found_after_a_crash(&database, "theirs"), 1);
        assert_eq!(found_after_a_crash(&database, "ours"), 400);
        assert_eq!(found_after_a_crash(&database, "given up"), 0);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_commit_of_many_pages_is_few_writes() {
        let writes = || {
            let counts = std::fs::read_to_string("/proc/thread-self/io").expect("Linux counts them");
            let line = counts.lines().find_map(|line| line.strip_prefix("syscw: ")).expect("it is there");
            line.parse::<u64>().expect("it is a number")
        };
        let folder = tempfile::tempdir().expect("a folder can be made");
        let connection = connect(&folder.path().join("some.db"));
        connection.execute_batch("PRAGMA cache_size = -100000; BEGIN IMMEDIATE").expect("nobody else writes");
        for id in 0..200 {
            connection.execute("INSERT INTO thing VALUES (?1, ?2)", (id, "x".repeat(2000))).expect("it can");
        }
        let before = writes();
        commit(&connection);
        let pages = 200 / 2 * (4096 + FRAME_HEADER);
        assert_eq!(writes() - before, pages.div_ceil(PASSED) as u64);
    }
}
