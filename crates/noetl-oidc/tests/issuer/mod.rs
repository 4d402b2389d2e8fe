//! A provider of identities on this machine, which signs whatever a test wants.
#![allow(dead_code, reason = "each test uses a part of it")]

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{Ed25519KeyPair, KeyPair};
use serde_json::{Value, json};

pub struct Issuer {
    pub url: String,
    state: Arc<Mutex<State>>,
}

struct State {
    keys: Value,
    /// In place of the address of the issuer in its discovery document.
    claimed: Option<String>,
    is_down: bool,
    asked: u32,
}

pub fn base64(bytes: impl AsRef<[u8]>) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

/// A token of these parts.
pub fn sign(head: &Value, claims: &Value, signer: impl FnOnce(&[u8]) -> Vec<u8>) -> String {
    let signed = format!("{}.{}", base64(head.to_string()), base64(claims.to_string()));
    let signature = signer(signed.as_bytes());
    format!("{signed}.{}", base64(signature))
}

/// A key that signs tokens.
pub struct Signer {
    pub kid: &'static str,
    pair: Ed25519KeyPair,
}

impl Signer {
    pub fn new(kid: &'static str) -> Signer {
        let document = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).expect("keys can be made");
        let pair = Ed25519KeyPair::from_pkcs8(document.as_ref()).expect("it is a key");
        Signer { kid, pair }
    }

    pub fn published(&self) -> Value {
        let x = base64(self.pair.public_key());
        json!({"kty": "OKP", "crv": "Ed25519", "kid": self.kid, "use": "sig", "x": x})
    }

    pub fn token(&self, claims: &Value) -> String {
        let head = json!({"alg": "EdDSA", "kid": self.kid, "typ": "JWT"});
        sign(&head, claims, |bytes| self.pair.sign(bytes).as_ref().to_vec())
    }
}

impl Issuer {
    pub fn start(keys: Vec<Value>) -> Issuer {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let url = format!("http://{}", listener.local_addr().expect("it listens"));
        let state = State { keys: json!({"keys": keys}), claimed: None, is_down: false, asked: 0 };
        let state = Arc::new(Mutex::new(state));
        let (shared, own) = (state.clone(), url.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                let mut head = Vec::new();
                let mut byte = [0];
                while !head.ends_with(b"\r\n\r\n") && matches!(stream.read(&mut byte), Ok(1)) {
                    head.push(byte[0]);
                }
                let mut state = shared.lock().expect("nobody panicked");
                let (status, body) = if state.is_down {
                    ("503 Service Unavailable", json!({}))
                } else if head.starts_with(b"GET /.well-known/openid-configuration ") {
                    let issuer = state.claimed.clone().unwrap_or_else(|| own.clone());
                    ("200 OK", json!({"issuer": issuer, "jwks_uri": format!("{own}/keys")}))
                } else if head.starts_with(b"GET /keys ") {
                    state.asked += 1;
                    ("200 OK", state.keys.clone())
                } else {
                    ("404 Not Found", json!({}))
                };
                let body = body.to_string();
                let length = body.len();
                let _ = write!(
                    stream,
                    "HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
                );
            }
        });
        Issuer { url, state }
    }

    /// Claims that count, with these in place of or beside the usual ones.
    pub fn claims(&self, audience: &str, more: Value) -> Value {
        let mut claims =
            json!({"iss": self.url, "aud": [audience, "other"], "sub": "u-7", "exp": 4_000_000_000_u64});
        for (name, value) in more.as_object().expect("claims are an object") {
            claims[name] = value.clone();
        }
        claims
    }

    pub fn publish(&self, keys: Vec<Value>) {
        self.change(|state| state.keys = json!({"keys": keys}));
    }

    pub fn claim_to_be(&self, other: &str) {
        self.change(|state| state.claimed = Some(other.to_owned()));
    }

    pub fn be_down(&self, is_down: bool) {
        self.change(|state| state.is_down = is_down);
    }

    /// How often the keys were asked for.
    pub fn asked(&self) -> u32 {
        self.state.lock().expect("nobody panicked").asked
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state.lock().expect("nobody panicked"));
    }
}
