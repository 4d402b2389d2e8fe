//! The key of a data folder, with which its secrets are encrypted: given by the operator, or made and kept beside them.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use anyhow::{Context, Result, bail};
use noetl_server::vault::{MasterKey, Vault};

use crate::config::Secret;

const FILE: &str = "noetl.key";
const VARIABLE: &str = "NOETL_ENCRYPTION_KEY";
const EARLIER: &str = "NOETL_EARLIER_ENCRYPTION_KEYS";

/// Where the key comes from.
#[derive(Clone, Default)]
pub struct Keys {
    given: Option<String>,
    /// Keys that open what was stored before the current one.
    earlier: Vec<String>,
    /// Make a key file when there is no key.
    create: bool,
}

impl Keys {
    /// What the environment says.
    pub fn read(environment: impl IntoIterator<Item = (String, String)>) -> Keys {
        let mut keys = Keys::default();
        for (name, value) in environment {
            match name.as_str() {
                VARIABLE if !value.trim().is_empty() => keys.given = Some(value),
                EARLIER => {
                    let listed = value.split(',').map(str::trim).filter(|key| !key.is_empty());
                    keys.earlier = listed.map(str::to_owned).collect();
                }
                _ => {}
            }
        }
        keys
    }

    /// With the key that the configuration has, unless the environment says otherwise.
    pub fn or_given(self, key: Option<Secret>) -> Keys {
        Keys { given: self.given.or_else(|| key.map(|key| key.reveal().to_owned())), ..self }
    }

    /// A key file is made when there is no key.
    pub fn creating(self) -> Keys {
        Keys { create: true, ..self }
    }

    /// The vault of a data folder; none when there is no key and none is to be made. A key that is given counts before the
    /// one in the folder, which then only opens what was stored with it.
    pub fn vault(&self, data: &Path) -> Result<Option<Vault>> {
        let parsed = |variable: &str, text: &str| {
            MasterKey::from_base64(&format!("env:{variable}"), text)
                .with_context(|| format!("the environment variable {variable} is wrong"))
        };
        let mut earlier = Vec::new();
        for text in &self.earlier {
            earlier.push(parsed(EARLIER, text)?);
        }
        let file = data.join(FILE);
        let kept = read(&file)?;
        let current = match (&self.given, kept) {
            (Some(given), kept) => {
                earlier.extend(kept);
                parsed(VARIABLE, given)?
            }
            (None, Some(kept)) => kept,
            (None, None) if self.create => make(&file)?,
            (None, None) => return Ok(None),
        };
        Ok(Some(Vault::new(current, earlier)))
    }
}

/// Leaves the keys out.
impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keys")
            .field("given", &self.given.is_some())
            .field("earlier", &self.earlier.len())
            .field("create", &self.create)
            .finish()
    }
}

fn read(path: &Path) -> Result<Option<MasterKey>> {
    let place = || format!("the key file {}", path.display());
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(place),
    };
    if file.metadata().with_context(place)?.mode() & 0o077 != 0 {
        bail!("{} can be read by others; run: chmod 600 {}", place(), path.display());
    }
    let mut text = String::new();
    file.read_to_string(&mut text).with_context(place)?;
    MasterKey::from_base64(&format!("file:{FILE}"), &text).with_context(place).map(Some)
}

fn make(path: &Path) -> Result<MasterKey> {
    let place = || format!("the key file {} can't be made", path.display());
    let text = MasterKey::generate()?;
    let mut file =
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).with_context(place)?;
    writeln!(file, "{}", *text).and_then(|()| file.sync_all()).with_context(place)?;
    Ok(MasterKey::from_base64(&format!("file:{FILE}"), &text)?)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn creating(environment: &[(&str, &str)]) -> Keys {
        let environment = environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Keys::read(environment).creating()
    }

    fn some(keys: &Keys, data: &Path) -> Vault {
        keys.vault(data).expect("readable").expect("a key")
    }

    #[test]
    fn a_key_is_made_once_and_only_its_owner_can_read_it() {
        let data = tempfile::tempdir().expect("a temporary folder");
        let sealed = some(&creating(&[]), data.path()).seal(b"hush", "p").expect("sealed");
        let mode = std::fs::metadata(data.path().join(FILE)).expect("a key file").mode();
        assert_eq!(mode & 0o777, 0o600);
        let later = some(&Keys::default(), data.path());
        assert_eq!(&**later.open(&sealed, "p").expect("the same key"), b"hush");
    }

    #[test]
    fn without_a_key_nothing_is_made_unless_asked() {
        let data = tempfile::tempdir().expect("a temporary folder");
        assert!(Keys::default().vault(data.path()).expect("readable").is_none());
        assert!(!data.path().join(FILE).exists());
    }

    #[test]
    fn a_key_file_that_others_can_read_is_refused() {
        let data = tempfile::tempdir().expect("a temporary folder");
        some(&creating(&[]), data.path());
        let file = data.path().join(FILE);
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).expect("permissions");
        let error = creating(&[]).vault(data.path()).expect_err("too open");
        assert!(error.to_string().contains("chmod 600"), "{error}");
    }

    #[test]
    fn a_given_key_counts_before_the_file_which_still_opens_what_it_sealed() {
        let data = tempfile::tempdir().expect("a temporary folder");
        let sealed = some(&creating(&[]), data.path()).seal(b"hush", "p").expect("sealed");
        let given = MasterKey::generate().expect("random numbers");
        let vault = some(&creating(&[(VARIABLE, &given)]), data.path());
        let again = vault.rewrap(&sealed, "p").expect("readable").expect("another key is current");
        assert_eq!(&**vault.open(&again, "p").expect("opened"), b"hush");
    }

    #[test]
    fn a_given_key_of_the_wrong_length_says_so_and_not_what_it_is() {
        let data = tempfile::tempdir().expect("a temporary folder");
        for (variable, text) in [(VARIABLE, "aHVzaC1odXNo"), (EARLIER, "hush hush")] {
            let error = creating(&[(variable, text)]).vault(data.path()).expect_err("too short");
            let text = format!("{error:#}");
            assert!(text.contains(variable) && text.contains("32 bytes"), "{text}");
            assert!(!text.contains("hush") && !text.contains("aHVzaC"), "{text}");
        }
    }
}
