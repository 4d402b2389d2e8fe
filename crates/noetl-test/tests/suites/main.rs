//! Test files against playbooks, as data: what is written in, what is said about it out.

mod documents;
mod expectations;
mod mocks;
mod support;
mod time;
