//! Hashes, signatures and encodings for scripts, mostly to check and sign webhooks.

use ::rhai::{Blob, Engine, ImmutableString};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

use super::functions::Fallible;

pub fn register(engine: &mut Engine) {
    engine.register_fn("sha256_hex", |text: ImmutableString| hex(&Sha256::digest(text.as_bytes())));
    engine.register_fn("sha256_hex", |bytes: Blob| hex(&Sha256::digest(&bytes)));
    engine.register_fn("hmac_sha256_hex", |key: ImmutableString, message: ImmutableString| {
        let mut mac = Hmac::<Sha256>::new_from_slice(key.as_bytes()).expect("HMAC takes keys of any length");
        mac.update(message.as_bytes());
        hex(&mac.finalize().into_bytes())
    });
    engine.register_fn("eq_ct", |left: ImmutableString, right: ImmutableString| {
        equal_in_constant_time(left.as_bytes(), right.as_bytes())
    });
    engine.register_fn("base64_encode", |text: ImmutableString| STANDARD.encode(text.as_bytes()));
    engine.register_fn("base64_encode", |bytes: Blob| STANDARD.encode(bytes));
    engine.register_fn("base64_decode", |text: ImmutableString| -> Fallible<String> {
        let trimmed = text.trim();
        let bytes = STANDARD
            .decode(trimmed)
            .or_else(|_| URL_SAFE_NO_PAD.decode(trimmed.trim_end_matches('=')))
            .map_err(|error| format!("this is not base64: {error}"))?;
        into_text(bytes)
    });
    engine.register_fn("hex_encode", |text: ImmutableString| hex(text.as_bytes()));
    engine.register_fn("hex_encode", |bytes: Blob| hex(&bytes));
    engine.register_fn("hex_decode", |text: ImmutableString| -> Fallible<String> {
        into_text(from_hex(text.trim()).ok_or("this is not hexadecimal")?)
    });
}

fn into_text(bytes: Vec<u8>) -> Fallible<String> {
    String::from_utf8(bytes).map_err(|_| "the decoded bytes are not text".into())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.is_ascii() {
        return None;
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok()).collect()
}

/// The time it takes does not tell where the texts differ. That they differ in length is no secret.
fn equal_in_constant_time(left: &[u8], right: &[u8]) -> bool {
    let difference = left.iter().zip(right).fold(0, |difference, (left, right)| difference | (left ^ right));
    left.len() == right.len() && std::hint::black_box(difference) == 0
}
