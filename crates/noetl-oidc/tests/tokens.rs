//! Tokens that count and tokens that do not, against a provider that answers over HTTP.

mod issuer;

use issuer::{Issuer, Signer, base64, sign};
use noetl_oidc::{Error, Provider, Settings};
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, EcdsaSigningAlgorithm,
    KeyPair, RSA_PKCS1_SHA256, RSA_PSS_SHA512, RsaEncoding, RsaKeyPair, RsaPublicKeyComponents,
};
use serde_json::{Value, json};

const AUDIENCE: &str = "noetl";

/// Built with the rest of the workspace, clients can do TLS and want to know with what.
fn client() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::new()
}

fn provider(issuer: &Issuer) -> Provider {
    let settings = Settings { issuer: issuer.url.clone(), audience: AUDIENCE.to_owned() };
    Provider::new(settings, client()).expect("the settings make sense")
}

async fn refusal(provider: &Provider, token: &str) -> String {
    match provider.verify(token).await {
        Err(Error::Refused(why)) => why,
        other => panic!("{other:?}"),
    }
}

/// Lets time pass for the provider's keys, though not for the network.
async fn later(seconds: u64) {
    tokio::time::pause();
    tokio::time::advance(std::time::Duration::from_secs(seconds)).await;
    tokio::time::resume();
}

#[tokio::test]
async fn a_token_of_the_provider_tells_who_it_is() {
    let signer = Signer::new("one");
    let issuer = Issuer::start(vec![signer.published()]);
    let claims = issuer.claims(AUDIENCE, json!({"scope": "openid noetl:operator"}));

    let found = provider(&issuer).verify(&signer.token(&claims)).await.expect("it counts");

    assert_eq!(found.name(), "u-7");
    assert_eq!(found.words("scope"), ["openid", "noetl:operator"]);
}

#[tokio::test]
async fn claims_that_do_not_fit_are_refused() {
    let signer = Signer::new("one");
    let issuer = Issuer::start(vec![signer.published()]);
    let provider = provider(&issuer);
    for (more, why) in [
        (json!({"iss": "https://elsewhere.example.com"}), "was not issued by"),
        (json!({"aud": "billing"}), "is not for the audience 'noetl'"),
        (json!({"aud": null}), "is not for the audience 'noetl'"),
        (json!({"exp": 1_700_000_000}), "has expired"),
        (json!({"exp": null}), "does not say when it expires"),
        (json!({"exp": "4000000000"}), "does not say when it expires"),
        (json!({"nbf": 3_900_000_000_u64}), "does not count yet"),
    ] {
        let refused = refusal(&provider, &signer.token(&issuer.claims(AUDIENCE, more.clone()))).await;
        assert!(refused.contains(why), "{more}: {refused}");
    }
    provider
        .verify(&signer.token(&issuer.claims(AUDIENCE, json!({"aud": AUDIENCE}))))
        .await
        .expect("it counts");
}

#[tokio::test]
async fn what_nobody_signed_is_refused() {
    let (signer, other) = (Signer::new("one"), Signer::new("one"));
    let issuer = Issuer::start(vec![signer.published()]);
    let provider = provider(&issuer);
    let claims = issuer.claims(AUDIENCE, json!({}));
    let good = signer.token(&claims);
    let (signed, signature) = good.rsplit_once('.').expect("it has parts");
    let (head, _) = signed.split_once('.').expect("it has parts");
    let admin = base64(issuer.claims(AUDIENCE, json!({"scope": "noetl:admin"})).to_string());

    let not_its = "has a signature that is not its issuer's";
    assert_eq!(refusal(&provider, &other.token(&claims)).await, not_its);
    assert_eq!(refusal(&provider, &format!("{head}.{admin}.{signature}")).await, not_its);

    let unknown = "was signed with a key that its issuer does not publish";
    for (head, signature) in [
        (json!({"alg": "none"}), Vec::new()),
        (json!({"alg": "none", "kid": "one"}), Vec::new()),
        (json!({"alg": "HS256", "kid": "one"}), b"secret".to_vec()),
        (json!({"alg": "RS256", "kid": "one"}), vec![0; 256]),
        (json!({"alg": "EdDSA", "kid": "two"}), vec![0; 64]),
    ] {
        assert_eq!(refusal(&provider, &sign(&head, &claims, |_| signature)).await, unknown, "{head}");
    }
    let critical = sign(&json!({"alg": "EdDSA", "kid": "one", "crit": ["exp"]}), &claims, |_| vec![0; 64]);
    assert!(refusal(&provider, &critical).await.contains("extension"));
    for nonsense in ["", ".", "..", "a.b.c", "noetl_abc", &"x".repeat(100_000)] {
        assert_eq!(refusal(&provider, nonsense).await, "is not of the form that providers sign");
    }
}

/// A key of a curve with the token it signed.
fn ecdsa(
    alg: &str,
    curve: &str,
    algorithm: &'static EcdsaSigningAlgorithm,
    claims: &Value,
) -> (Value, String) {
    let random = SystemRandom::new();
    let document = EcdsaKeyPair::generate_pkcs8(algorithm, &random).expect("keys can be made");
    let pair = EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &random).expect("it is a key");
    let point = &pair.public_key().as_ref()[1..];
    let (x, y) = point.split_at(point.len() / 2);
    let published = json!({"kty": "EC", "crv": curve, "kid": alg, "x": base64(x), "y": base64(y)});
    let token = sign(&json!({"alg": alg, "kid": alg}), claims, |bytes| {
        pair.sign(&random, bytes).expect("it signs").as_ref().to_vec()
    });
    (published, token)
}

/// A key made for tests alone, and its numbers as a provider publishes them.
fn rsa() -> (RsaKeyPair, Value) {
    let pair = RsaKeyPair::from_der(include_bytes!("rsa.der")).expect("it is a key");
    let public = RsaPublicKeyComponents::<Vec<u8>>::from(pair.public());
    let published = json!({"kty": "RSA", "kid": "rsa", "n": base64(public.n), "e": base64(public.e)});
    (pair, published)
}

fn rsa_token(pair: &RsaKeyPair, head: &Value, claims: &Value, encoding: &'static dyn RsaEncoding) -> String {
    sign(head, claims, |bytes| {
        let mut signature = vec![0; pair.public().modulus_len()];
        pair.sign(encoding, &SystemRandom::new(), bytes, &mut signature).expect("it signs");
        signature
    })
}

#[tokio::test]
async fn every_usual_kind_of_key_counts() {
    let issuer = Issuer::start(Vec::new());
    let claims = issuer.claims(AUDIENCE, json!({}));
    let (pair, rsa) = rsa();
    let (p256, by_p256) = ecdsa("ES256", "P-256", &ECDSA_P256_SHA256_FIXED_SIGNING, &claims);
    let (p384, by_p384) = ecdsa("ES384", "P-384", &ECDSA_P384_SHA384_FIXED_SIGNING, &claims);
    let unknown = json!({"kty": "oct", "k": "c2VjcmV0"});
    let for_secrecy = json!({"kty": "RSA", "use": "enc", "kid": "enc", "n": rsa["n"], "e": rsa["e"]});
    issuer.publish(vec![unknown, json!(7), for_secrecy, rsa, p256, p384]);
    let provider = provider(&issuer);
    for token in [
        rsa_token(&pair, &json!({"alg": "RS256", "kid": "rsa"}), &claims, &RSA_PKCS1_SHA256),
        rsa_token(&pair, &json!({"alg": "PS512", "kid": "rsa"}), &claims, &RSA_PSS_SHA512),
        // Without a name every key that signs so is tried.
        rsa_token(&pair, &json!({"alg": "RS256"}), &claims, &RSA_PKCS1_SHA256),
        by_p256,
        by_p384,
    ] {
        provider.verify(&token).await.expect("it counts");
    }
    let confused = rsa_token(&pair, &json!({"alg": "PS256", "kid": "rsa"}), &claims, &RSA_PKCS1_SHA256);
    assert!(refusal(&provider, &confused).await.contains("signature"));
    let secrecy = rsa_token(&pair, &json!({"alg": "RS256", "kid": "enc"}), &claims, &RSA_PKCS1_SHA256);
    assert!(refusal(&provider, &secrecy).await.contains("does not publish"));
}

#[tokio::test]
async fn new_keys_are_noticed_and_the_provider_is_not_asked_again_and_again() {
    let (old, new) = (Signer::new("old"), Signer::new("new"));
    let issuer = Issuer::start(vec![old.published()]);
    let provider = provider(&issuer);
    let claims = issuer.claims(AUDIENCE, json!({}));
    provider.verify(&old.token(&claims)).await.expect("it counts");
    for _ in 0..5 {
        assert!(refusal(&provider, &new.token(&claims)).await.contains("does not publish"));
        provider.verify(&old.token(&claims)).await.expect("it counts");
    }
    assert_eq!(issuer.asked(), 1);

    issuer.publish(vec![new.published()]);
    later(11).await;
    provider.verify(&new.token(&claims)).await.expect("it counts now");
    assert_eq!(issuer.asked(), 2);
    assert!(refusal(&provider, &old.token(&claims)).await.contains("does not publish"));
}

#[tokio::test]
async fn a_provider_that_does_not_answer_is_no_refusal() {
    let signer = Signer::new("one");
    let issuer = Issuer::start(vec![signer.published()]);
    let provider = provider(&issuer);
    let token = signer.token(&issuer.claims(AUDIENCE, json!({})));
    issuer.be_down(true);
    let error = provider.verify(&token).await.expect_err("nobody knows");
    assert!(matches!(&error, Error::Unavailable(why) if why.contains("status 503")), "{error}");

    issuer.be_down(false);
    later(11).await;
    provider.verify(&token).await.expect("it counts");

    // Keys are used for a day without the provider.
    issuer.be_down(true);
    later(2 * 3600).await;
    provider.verify(&token).await.expect("it still counts");
    later(24 * 3600).await;
    assert!(matches!(provider.verify(&token).await, Err(Error::Unavailable(_))));
}

#[tokio::test]
async fn a_provider_that_is_somebody_else_is_not_asked_for_keys() {
    let signer = Signer::new("one");
    let issuer = Issuer::start(vec![signer.published()]);
    issuer.claim_to_be("https://elsewhere.example.com");
    let error = provider(&issuer).look_up().await.expect_err("it is somebody else");
    assert!(error.to_string().contains("is of 'https://elsewhere.example.com'"), "{error}");
    assert_eq!(issuer.asked(), 0);
}

#[tokio::test]
async fn an_issuer_in_the_clear_is_refused_unless_it_is_here() {
    for (issuer, is_good) in [
        ("https://id.example.com/realms/main", true),
        ("http://localhost:8080", true),
        ("http://[::1]:8080", true),
        ("http://id.example.com", false),
        ("ftp://id.example.com", false),
        ("id.example.com", false),
    ] {
        let settings = Settings { issuer: issuer.to_owned(), audience: AUDIENCE.to_owned() };
        let provider = Provider::new(settings, client());
        assert_eq!(provider.is_ok(), is_good, "{issuer}");
    }
}
