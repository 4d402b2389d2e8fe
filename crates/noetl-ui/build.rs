//! Makes the files of the built site, `ui/dist/site`, part of the binary: writes a table of them that the crate includes.
//! Without a built site the table has the placeholder, so that cargo needs no Node.

use std::error::Error;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> Result<(), Box<dyn Error>> {
    let here = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let dist = here.join("../../ui/dist");
    let placeholder = here.join("placeholder");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={}", dist.display());
    println!("cargo::rerun-if-changed={}", placeholder.display());

    let site = dist.join("site");
    let is_built = site.join("index.html").is_file();
    let root = if is_built { site } else { placeholder };
    let mut files = Vec::new();
    collect(&root, &mut files)?;
    // By the path in the URL, since that is how they are searched.
    let mut served = Vec::new();
    for file in files.iter().filter(|file| !is_compressed(file)) {
        let name = file.strip_prefix(&root)?.to_string_lossy().replace('\\', "/");
        served.push((format!("/{name}"), file));
    }
    served.sort();

    let mut table = format!("pub const IS_BUILT: bool = {is_built};\npub static FILES: &[File] = &[\n");
    for (path, file) in served {
        let compressed = compressed_beside(file);
        let gzip = match files.contains(&compressed) {
            true => format!("Some(include_bytes!({:?}))", compressed.canonicalize()?),
            false => "None".to_owned(),
        };
        let tag = tag(&fs::read(file)?);
        let content = file.canonicalize()?;
        writeln!(
            table,
            "    File {{ path: {path:?}, content: include_bytes!({content:?}), gzip: {gzip}, tag: {tag:?} }},",
        )?;
    }
    table.push_str("];\n");
    fs::write(PathBuf::from(env::var("OUT_DIR")?).join("files.rs"), table)?;
    Ok(())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

fn is_compressed(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "gz")
}

fn compressed_beside(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".gz");
    PathBuf::from(name)
}

/// Differs when the content does.
fn tag(content: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    hasher.write(content);
    format!("\"{:016x}\"", hasher.finish())
}
