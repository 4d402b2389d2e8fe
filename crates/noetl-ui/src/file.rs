//! The files of the site, as the build script has found them.

/// One file, with everything that serving it takes.
#[derive(Debug)]
pub struct File {
    /// As in the URL, from the slash on.
    pub path: &'static str,
    pub content: &'static [u8],
    /// The same, compressed, where that is worth it.
    pub gzip: Option<&'static [u8]>,
    /// Differs when the content does; quoted, as in the header.
    pub tag: &'static str,
}

include!(concat!(env!("OUT_DIR"), "/files.rs"));

pub fn find(path: &str) -> Option<&'static File> {
    FILES.binary_search_by(|file| file.path.cmp(path)).ok().map(|index| &FILES[index])
}

/// The page that every address of the UI begins with.
pub fn index() -> &'static File {
    find("/index.html").expect("the build script takes no site without it")
}

impl File {
    pub fn media_type(&self) -> &'static str {
        let extension = self.path.rsplit_once('.').map_or("", |(_, extension)| extension);
        match extension {
            "html" => "text/html; charset=utf-8",
            "css" => "text/css; charset=utf-8",
            "js" => "text/javascript; charset=utf-8",
            "json" => "application/json",
            "svg" => "image/svg+xml",
            "png" => "image/png",
            "woff2" => "font/woff2",
            "txt" => "text/plain; charset=utf-8",
            _ => "application/octet-stream",
        }
    }

    /// Its name changes with its content.
    pub fn is_hashed(&self) -> bool {
        self.path.starts_with("/assets/")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_found_under_its_path() {
        for file in FILES {
            assert!(find(file.path).is_some_and(|found| std::ptr::eq(found, file)), "{}", file.path);
        }
    }

    #[test]
    fn every_file_has_a_media_type_of_its_own() {
        for file in FILES {
            assert_ne!(file.media_type(), "application/octet-stream", "{}", file.path);
        }
    }
}
