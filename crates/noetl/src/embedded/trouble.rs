//! Word of a store that takes no more, for whoever waits for a run: trying again helps only after somebody did something.

use noetl_server::drive::DriveError;
use noetl_store::Error;
use tokio::sync::watch;

/// Cheap to clone; all clones share what is told.
#[derive(Clone, Debug)]
pub struct Trouble {
    sentence: watch::Sender<Option<String>>,
}

impl Default for Trouble {
    fn default() -> Trouble {
        Trouble { sentence: watch::Sender::new(None) }
    }
}

impl Trouble {
    /// Notes an error if it is of the kind that stays.
    pub fn note(&self, error: &DriveError) {
        if let DriveError::Store(cause) = error
            && matches!(**cause, Error::Full { .. } | Error::ReadOnly { .. } | Error::Corrupt { .. })
        {
            self.sentence.send_replace(Some(cause.to_string()));
        }
    }

    /// Waits until there is trouble and says what it is.
    pub async fn told(&self) -> String {
        let mut sentence = self.sentence.subscribe();
        let told = sentence.wait_for(Option::is_some).await;
        told.ok().and_then(|told| told.clone()).expect("the sender lives as long as this handle")
    }
}
