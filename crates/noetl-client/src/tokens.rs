//! API tokens.

use noetl_api::tokens::{TokenCreated, TokenList, TokenRequest, TokenRevoked};

use crate::call::Repeat;
use crate::{Client, Error};

impl Client {
    pub async fn create_token(&self, request: &TokenRequest) -> Result<TokenCreated, Error> {
        self.post("/api/tokens", request, Repeat::Harmful).await
    }

    pub async fn list_tokens(&self) -> Result<TokenList, Error> {
        self.get("/api/tokens").await
    }

    pub async fn revoke_token(&self, id: i64) -> Result<TokenRevoked, Error> {
        self.delete(&format!("/api/tokens/{id}"), Repeat::Harmful).await
    }
}
